"""Conversations in the admin site: read here, changed by services alone."""

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline

from chats.models import Conversation, Customer, Feedback, Message, Summary, SummaryJob


class ReadOnly(ModelAdmin):
    """Rows that services write: looked at, never edited by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class Transcript(TabularInline):
    model = Message
    fields = ["seq", "sender_type", "said", "created_at", "status"]
    readonly_fields = ("seq", "sender_type", "said", "created_at", "status")
    ordering = ["seq"]
    extra = 0
    can_delete = False

    @admin.display(description="Text")
    def said(self, message: Message) -> str:
        return " ".join(piece.get("text") or "" for piece in message.content)

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(ReadOnly):
    list_display = [
        "chat_code", "client", "bot", "customer", "status", "assign_type", "handoff_reason",
        "message_count", "last_message_at",
    ]  # fmt: skip
    list_filter = ["status", "assign_type", "channel", "handoff_reason", "bot"]
    list_select_related = ["client", "bot", "customer"]
    search_fields = ["chat_code", "customer__name", "customer__email", "customer__external_id"]
    ordering = ["-last_message_at", "-id"]
    inlines = [Transcript]


@admin.register(Customer)
class CustomerAdmin(ReadOnly):
    list_display = ["id", "name", "email", "external_id", "client", "created_at"]
    list_select_related = ["client"]
    search_fields = ["name", "email", "external_id"]
    ordering = ["-id"]


@admin.register(Feedback)
class FeedbackAdmin(ReadOnly):
    list_display = ["created_at", "client", "conversation", "rating", "resolved", "comment"]
    list_filter = ["rating", "resolved", "conversation__bot"]
    list_select_related = ["client", "conversation"]
    search_fields = ["comment", "conversation__chat_code"]
    ordering = ["-id"]


@admin.register(Summary)
class SummaryAdmin(ReadOnly):
    list_display = ["created_at", "client", "conversation", "engine", "language", "message_count"]
    list_filter = ["engine", "language"]
    list_select_related = ["client", "conversation"]
    search_fields = ["conversation__chat_code", "customer_intent"]
    ordering = ["-id"]


@admin.register(SummaryJob)
class SummaryJobAdmin(ReadOnly):
    list_display = ["created_at", "client", "bot", "status", "total", "done", "failed"]
    list_filter = ["status"]
    list_select_related = ["client", "bot"]
    ordering = ["-id"]
