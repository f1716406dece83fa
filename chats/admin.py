"""Admin pages of ratings and summaries; importing this module registers the app's other pages."""

from typing import Any, ClassVar

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from chatplatform.admin_base import TenantAdmin, column, link
from chats.models import Feedback, Summary, SummaryJob, Thumb
from chats.pages import conversations, customers, golden, names, question_groups, replays
from chats.pages.list_filters import (
    ListsWithoutPreviews,
    RatedAtFilter,
    RatedChatStartedFilter,
    RatingTargetFilter,
    StarsFilter,
)

# Imported so that they register their pages.
__all__ = ["conversations", "customers", "golden", "question_groups", "replays"]


class ConversationRowsAdmin(ListsWithoutPreviews):
    """Lists of rows that belong to a conversation, with a column that links to it."""

    list_select_related: ClassVar[Any] = ("client", "conversation__customer")

    @column(gettext_lazy("Conversation"))
    def who(self, row: Any) -> SafeString:
        chat = row.conversation
        return link("admin:chats_conversation_change", chat.pk, names.chat_customer_name(chat))


@admin.register(Feedback)
class FeedbackAdmin(ConversationRowsAdmin):
    list_display = (
        "stars", "comment", "who", "reason", "resolved", "created_at", "client",
    )  # fmt: skip
    more_columns = ("rating", "thumb", "conversation")
    list_filter = (
        StarsFilter, RatingTargetFilter, RatedAtFilter, RatedChatStartedFilter, "thumb", "resolved",
        "conversation__bot",
    )  # fmt: skip
    codes = frozenset({"reason"})
    labels: ClassVar = {"thumb": gettext_lazy("Rating of a message")}
    search_fields = ("comment", "=conversation__chat_code")

    @column(gettext_lazy("Rating"), ordering="rating")
    def stars(self, row: Feedback) -> str:
        if row.rating:
            return f"{row.rating}/5 {'★' * row.rating}"
        return gettext("Thumbs up") if row.thumb == Thumb.UP else gettext("Thumbs down")


@admin.register(Summary)
class SummaryAdmin(ConversationRowsAdmin):
    list_display = ("who", "customer_intent", "resolution", "created_at", "client")
    more_columns = ("engine", "language", "message_count", "conversation")
    labels: ClassVar = {"engine": gettext_lazy("Written by")}
    search_fields = ("=conversation__chat_code", "customer_intent")


@admin.register(SummaryJob)
class SummaryJobAdmin(TenantAdmin):
    list_display = ["created_at", "client", "bot", "status", "total", "done", "failed"]
    list_filter = ["status"]
    list_select_related = ["client", "bot"]
