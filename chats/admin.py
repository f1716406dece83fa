"""The site's pages about conversations, customers, ratings and summaries."""

from django.contrib import admin

from chatplatform.admin_base import TenantAdmin
from chats.models import Feedback, Summary, SummaryJob
from chats.pages import conversations, customers, golden, questions, replays
from chats.pages.list_filters import (
    GivenFilter,
    ListsWithoutPreviews,
    RatedChatBeganFilter,
    RatedFilter,
    StarsFilter,
)

# Imported so that they register their pages.
__all__ = ["conversations", "customers", "golden", "questions", "replays"]


@admin.register(Feedback)
class FeedbackAdmin(ListsWithoutPreviews):
    list_display = [
        "created_at", "client", "conversation", "rating", "thumb", "reason", "resolved", "comment",
    ]  # fmt: skip
    list_filter = [
        StarsFilter, RatedFilter, GivenFilter, RatedChatBeganFilter, "thumb", "resolved",
        "conversation__bot",
    ]  # fmt: skip
    codes = frozenset({"reason"})
    list_select_related = ["client", "conversation"]
    search_fields = ["comment", "=conversation__chat_code"]


@admin.register(Summary)
class SummaryAdmin(ListsWithoutPreviews):
    list_display = ["created_at", "client", "conversation", "engine", "language", "message_count"]
    list_select_related = ["client", "conversation"]
    search_fields = ["=conversation__chat_code", "customer_intent"]


@admin.register(SummaryJob)
class SummaryJobAdmin(TenantAdmin):
    list_display = ["created_at", "client", "bot", "status", "total", "done", "failed"]
    list_filter = ["status"]
    list_select_related = ["client", "bot"]
