"""Conversations in the admin site: read-only; services change them."""

from django.contrib import admin

from chatplatform.admin import ReadOnlyAdmin, ReadOnlyInline
from chats.models import Conversation, Customer, Feedback, Message, Summary, SummaryJob


class Transcript(ReadOnlyInline):
    model = Message
    fields = ["seq", "sender_type", "text", "created_at", "status"]
    readonly_fields = ("seq", "sender_type", "text", "created_at", "status")
    ordering = ["seq"]


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = [
        "chat_code", "client", "bot", "customer", "status", "assign_type", "handoff_reason",
        "message_count", "last_message_at",
    ]  # fmt: skip
    list_filter = ["status", "assign_type", "channel", "is_preview", "handoff_reason", "bot"]
    list_select_related = ["client", "bot", "customer"]
    search_fields = ["chat_code", "customer__name", "customer__email", "customer__external_id"]
    ordering = ["-last_message_at", "-id"]
    inlines = [Transcript]


@admin.register(Customer)
class CustomerAdmin(ReadOnlyAdmin):
    list_display = ["id", "name", "email", "external_id", "client", "created_at"]
    list_select_related = ["client"]
    search_fields = ["name", "email", "external_id"]


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    list_display = [
        "created_at", "client", "conversation", "rating", "thumb", "reason", "resolved", "comment",
    ]  # fmt: skip
    list_filter = ["rating", "thumb", "reason", "resolved", "conversation__bot"]
    list_select_related = ["client", "conversation"]
    search_fields = ["comment", "conversation__chat_code"]


@admin.register(Summary)
class SummaryAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "client", "conversation", "engine", "language", "message_count"]
    list_filter = ["engine", "language"]
    list_select_related = ["client", "conversation"]
    search_fields = ["conversation__chat_code", "customer_intent"]


@admin.register(SummaryJob)
class SummaryJobAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "client", "bot", "status", "total", "done", "failed"]
    list_filter = ["status"]
    list_select_related = ["client", "bot"]
