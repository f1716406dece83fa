"""Conversations in the admin site: read-only; services change them."""

from typing import Any

from django.contrib import admin
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import JSONObject
from django.http import HttpRequest
from django.template.loader import render_to_string
from unfold.decorators import display

from bots.models import FunctionCall
from chatplatform.admin import ReadOnlyInline, TenantAdmin, say
from chats.models import Conversation, Customer, Feedback, Message, Summary, SummaryJob
from chats.services.desk import inbox
from chats.shapes import message as message_shapes

HANDOFF_REASONS = (
    "no_answer", "customer_asked", "engine_failed", "bot_disabled", "agents_reply", "staff_request",
    "agent_silent", "credits_used_up", "agent_gone", "files_only", "approval_needed",
    "answered_elsewhere",
)  # fmt: skip


class Transcript(ReadOnlyInline):
    """What was said, by whom, and what it rests on; notes are unmistakable."""

    model = Message
    fields = readonly_fields = ("seq", "author", "said", "created_at", "arrival")
    ordering = ("seq",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """With the calls that a bot requested for the answer to each message."""
        calls = FunctionCall.objects.filter(
            conversation_id=OuterRef("conversation_id"), message_id=OuterRef("pk")
        ).order_by("id")
        shown = JSONObject(function_name="function_name", status="status", error="error")
        rows: QuerySet[Message] = super().get_queryset(request)
        return rows.annotate(calls=ArraySubquery(calls.values(call=shown)))

    @display(description="From")
    def author(self, row: Message) -> str:
        side = row.get_sender_type_display()
        return f"{row.sender_name} ({side.lower()})" if row.sender_name else side

    @display(description="Said")
    def said(self, row: Any) -> str:
        message = message_shapes.Message.from_row(row)
        return render_to_string(
            "admin/chats/message.html", {"message": message, "calls": row.calls}
        )

    @display(description="Status")
    def arrival(self, row: Message) -> str:
        if row.is_note:
            return "Never sent to the customer"
        return f"{row.get_status_display()}: {row.error}" if row.error else row.get_status_display()


class HandoffFilter(admin.SimpleListFilter):
    """By why the bot handed over; a list of what there is would read the whole table."""

    title, parameter_name = "handoff reason", "handoff_reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, say(code)) for code in HANDOFF_REASONS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(handoff_reason=self.value()) if self.value() else queryset


@admin.register(Conversation)
class ConversationAdmin(TenantAdmin):
    list_display = [
        "chat_code", "client", "bot", "customer", "status", "assign_type", "handoff_reason",
        "message_count", "last_message_at",
    ]  # fmt: skip
    list_filter = ["status", "assign_type", "channel", "is_preview", HandoffFilter, "bot"]
    codes = frozenset({"handoff_reason", "sentiment"})
    list_select_related = ["client", "bot", "customer"]
    search_fields = ["chat_code", "customer__name", "customer__email", "customer__external_id"]
    ordering = ["-last_message_at", "-id"]
    inlines = [Transcript]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """As the API searches, words of messages included; across clients by the columns alone."""
        user: Any = request.user
        if not search_term or user.client is None:
            return super().get_search_results(request, queryset, search_term)
        return queryset.filter(pk__in=inbox.search(user.client, search_term)), False


@admin.register(Customer)
class CustomerAdmin(TenantAdmin):
    list_display = ["id", "name", "email", "external_id", "client", "created_at"]
    list_select_related = ["client"]
    search_fields = ["name", "email", "external_id"]


@admin.register(Feedback)
class FeedbackAdmin(TenantAdmin):
    list_display = [
        "created_at", "client", "conversation", "rating", "thumb", "reason", "resolved", "comment",
    ]  # fmt: skip
    list_filter = ["rating", "thumb", "resolved", "conversation__bot"]
    codes = frozenset({"reason"})
    list_select_related = ["client", "conversation"]
    search_fields = ["comment", "conversation__chat_code"]


@admin.register(Summary)
class SummaryAdmin(TenantAdmin):
    list_display = ["created_at", "client", "conversation", "engine", "language", "message_count"]
    list_select_related = ["client", "conversation"]
    search_fields = ["conversation__chat_code", "customer_intent"]


@admin.register(SummaryJob)
class SummaryJobAdmin(TenantAdmin):
    list_display = ["created_at", "client", "bot", "status", "total", "done", "failed"]
    list_filter = ["status"]
    list_select_related = ["client", "bot"]
