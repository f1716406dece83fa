"""The site's pages about conversations, customers, ratings and summaries."""

import uuid
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import Coalesce, JSONObject
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from unfold.decorators import display

from bots.models import FunctionCall
from bots.services import bots, written_sources
from bots.shapes.written import MAX_QUESTION, QuestionAnswerDto
from chatplatform import admin_lists, media, navigation
from chatplatform.admin_base import (
    ReadOnlyInline,
    TenantAdmin,
    button,
    confirm_action,
    each,
    viewer,
)
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.templatetags.codes import humanize_code
from chats.forms import AnswerForm, AskForm
from chats.models import (
    NO_ANSWER,
    AssignType,
    Conversation,
    Customer,
    Feedback,
    Message,
    SenderType,
    Summary,
    SummaryJob,
)
from chats.pages import golden, questions, replays
from chats.pages.list_filters import (
    AnsweredByFilter,
    BeganFilter,
    GivenFilter,
    HandoffFilter,
    RatedChatBeganFilter,
    RatedFilter,
    StarsFilter,
    WaitingFilter,
)
from chats.services.core import reply_policy
from chats.services.data_exchange import bot_previews, erasing, exporting
from chats.services.desk import customer_records, inbox
from chats.services.insight import question_groups, unanswered_questions
from chats.services.reply import incoming, reply_replay
from chats.shapes import message as message_shapes
from chats.shapes.bot_preview import GenerateChatRequest
from chats.shapes.replay import ReplayedTurn
from identity.auth import Principal

# Imported so that they register their pages.
__all__ = ["golden", "questions", "replays"]

_ACTIVITY = Coalesce("last_message_at", "created_at")


class Transcript(ReadOnlyInline):
    """The messages with their senders and sources; notes are clearly marked."""

    model = Message
    fields = readonly_fields = ("seq", "author", "body", "created_at", "arrival")
    ordering = ("seq",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """The messages, with the function calls that the bot requested to answer each."""
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
    def body(self, row: Any) -> str:
        message = message_shapes.Message.from_row(row)
        why = reverse("admin:chats_why", args=[row.conversation_id, row.pk]) if row.receipt else ""
        context = {"message": message, "calls": row.calls, "why": why}
        return render_to_string("admin/chats/message.html", context)

    @display(description="Status")
    def arrival(self, row: Message) -> str:
        if row.is_note:
            return "Never sent to the customer"
        return f"{row.get_status_display()}: {row.error}" if row.error else row.get_status_display()


class ListsWithoutPreviews(TenantAdmin):
    """Lists, searches and choices leave out the team's previews; detail pages show them."""

    preview_path = "conversation__is_preview"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        is_page_of_row = request.resolver_match and request.resolver_match.kwargs
        return rows if is_page_of_row else self.listed(rows)

    def listed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(**{self.preview_path: False})


@admin.register(Conversation)
class ConversationAdmin(ListsWithoutPreviews):
    list_display = [
        "chat_code", "client", "bot", "customer", "status", "assign_type", "handoff_reason",
        "message_count", "last_message_at",
    ]  # fmt: skip
    list_filter = [
        "status", "assign_type", WaitingFilter, BeganFilter, AnsweredByFilter, HandoffFilter,
        "channel", "bot",
    ]  # fmt: skip
    preview_path = "is_preview"
    codes = frozenset({"handoff_reason", "sentiment"})
    more_columns = ("channel", "language", "sentiment", "created_at", "ended_at")
    linked_by = frozenset({"sentiment"})
    list_select_related = ["client", "bot", "customer"]
    search_fields = ["=chat_code", "customer__name", "customer__email", "customer__external_id"]
    inlines = [Transcript]

    def get_ordering(self, request: HttpRequest) -> Any:
        """Latest activity first for one client, which has an index for it; else newest first."""
        is_of_one = viewer(request).client_id or navigation.chosen_client(request)
        return [_ACTIVITY.desc(), "-id"] if is_of_one else ["-id"]

    def get_urls(self) -> list[URLPattern]:
        own = [
            path("try/<int:bot_id>/", self.try_bot, name="chats_try_bot"),
            path("try/<int:bot_id>/<uuid:chat_id>/", self.try_bot, name="chats_tried_bot"),
            path("unanswered/", self.unanswered, name="chats_unanswered"),
            path("unanswered/<uuid:message_id>/", self.answer, name="chats_answer"),
            path("<uuid:chat_id>/why/<uuid:message_id>/", self.why, name="chats_why"),
            path("<uuid:chat_id>/why/<uuid:message_id>/again/", self.again, name="chats_again"),
        ]
        for item in own:
            item.callback = self.admin_site.admin_view(item.callback)
        return own + super().get_urls()

    def try_bot(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID | None = None
    ) -> HttpResponse:
        """A preview with a bot: its answers, their sources, and why it gave them."""
        by = viewer(request)
        if by.client is None or not self.has_try_permission(request):
            raise PermissionDenied
        bot = bots.get(by.client, bot_id)
        previews = Conversation.objects.for_client(by.client).filter(bot=bot, is_preview=True)
        chat = get_object_or_404(previews, pk=chat_id) if chat_id else None

        def ask(data: dict[str, Any]) -> HttpResponse:
            lines = [{"role": "user", "content": data["question"]}]
            body = GenerateChatRequest.model_validate({"messages": lines})
            message = (
                bot_previews.continue_chat(chat, body)
                if chat
                else bot_previews.open_preview(by.client, bot_id, body, by=by)
            )
            return redirect("admin:chats_tried_bot", bot_id, message.conversation_id)

        form = AskForm(request.POST or None, initial={"question": request.GET.get("question", "")})
        done = form.carry_out(ask) if form.is_bound else None
        return done or self.page(
            request, "admin/chats/try_bot.html", f"Try {bot.bot_name}",
            bot=bot, form=form, chat=chat, may_teach=self.has_train_permission(request),
            **(_tried(chat) if chat else {}),
        )  # fmt: skip

    def why(self, request: HttpRequest, chat_id: uuid.UUID, message_id: uuid.UUID) -> HttpResponse:
        """The page that explains a bot's message."""
        chat = self.row(request, chat_id)
        message = get_object_or_404(Message, conversation=chat, pk=message_id)
        return self.page(
            request, "admin/chats/why.html", f"Why the bot said this in {chat}",
            chat=chat,
            message=message,
            receipt=inbox.receipt(chat, message_id),
            may_correct=message.in_reply_to_id and self.has_train_permission(request),
            may_replay=message.in_reply_to_id
            and (message.receipt or {}).get("decision") in reply_replay.ASKED_ENGINE,
        )  # fmt: skip

    @calls_out
    def again(
        self, request: HttpRequest, chat_id: uuid.UUID, message_id: uuid.UUID
    ) -> HttpResponse:
        """A reply next to the bot's reply today. A model's tokens are charged."""
        chat = self.row(request, chat_id)
        if not self.has_train_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return redirect("admin:chats_why", chat_id, message_id)
        try:
            reply = reply_replay.get(chat, message_id)
            made = reply_replay.made_again(reply, reference=f"replay:{uuid.uuid4()}")
        except ApiError as exc:
            messages.error(request, str(exc))
            return redirect("admin:chats_why", chat_id, message_id)
        return self.page(
            request, "admin/chats/again.html", gettext("What the bot says today"),
            chat=chat, turn=ReplayedTurn.of(reply, made),
        )  # fmt: skip

    def unanswered(self, request: HttpRequest) -> HttpResponse:
        """The single unanswered questions, newest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = question_groups.replies_without_answer(self._messages(request)).order_by("-id")
        with suppress(ValueError):
            rows = rows.filter(pk__lt=uuid.UUID(request.GET.get("before", "")))
        rows = rows.select_related("in_reply_to", "conversation__bot", "conversation__customer")
        found = list(rows[: self.list_per_page + 1])
        return self.page(
            request, "admin/chats/unanswered.html", "Questions without an answer",
            found=found[: self.list_per_page],
            older=found[self.list_per_page - 1].pk if len(found) > self.list_per_page else None,
            may_answer=self.has_train_permission(request),
        )  # fmt: skip

    def answer(self, request: HttpRequest, message_id: uuid.UUID) -> HttpResponse:
        """Write the right answer to a question; then the bot can be asked again."""
        if not self.has_train_permission(request):
            raise PermissionDenied
        rows = self._messages(request).filter(in_reply_to__isnull=False, receipt__isnull=False)
        rows = rows.select_related("conversation__bot", "in_reply_to")
        message: Message = get_object_or_404(rows, pk=message_id)
        bot, asked = message.conversation.bot, message.in_reply_to
        assert asked, "the rows are replies"

        def act(data: dict[str, Any]) -> HttpResponse:
            body = QuestionAnswerDto(**data)
            document = written_sources.create(bot, body=body, by=viewer(request))
            unanswered_questions.note_answer(asked, document)
            messages.success(request, f"{bot} learns it now. In a moment, ask again:")
            if viewer(request).client_id != bot.client_id:
                return redirect("admin:chats_unanswered")
            query = urlencode({"question": data["question"]})
            return redirect(f"{reverse('admin:chats_try_bot', args=[bot.pk])}?{query}")

        question = " ".join(asked.text.split())[:MAX_QUESTION]
        form = AnswerForm(request.POST or None, initial={"question": question})
        title = f"Write an answer for {bot}"
        return self.form_page(request, form, act, title=title, button="Save the answer")

    def _messages(self, request: HttpRequest) -> QuerySet[Message]:
        """The messages that the viewer may see."""
        by = viewer(request)
        if by.is_superuser:
            chosen = navigation.chosen_client(request)
            return Message.objects.filter(client_id=chosen) if chosen else Message.objects.all()
        return Message.objects.for_client(by.client)

    def has_try_permission(self, request: HttpRequest) -> bool:
        """Everybody except viewers may try a bot."""
        return bool(viewer(request).role != "viewer")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search as the API does, messages included; across clients, only in the columns."""
        user: Any = request.user
        if not search_term or user.client is None:
            return super().get_search_results(request, queryset, search_term)
        admin_lists.words_of(search_term)
        return queryset.filter(pk__in=inbox.search(user.client, search_term)), False


def _tried(chat: Conversation) -> dict[str, Any]:
    """The messages of a preview, and whether an answer is still being made."""
    rows = list(inbox.transcript(chat).order_by("seq"))
    answers = [row for row in rows if row.receipt and row.sender_type != SenderType.CUSTOMER]
    receipt = inbox.receipt(chat, answers[-1].pk) if answers else None
    asked = rows[-1] if rows and rows[-1].sender_type == SenderType.CUSTOMER else None
    return {
        "lines": [(row, message_shapes.Message.from_row(row)) for row in rows],
        "is_busy": asked is not None and incoming.outcome(asked)["status"] == "pending",
        "may_ask": reply_policy.bot_may_reply(chat) is not None,
        "answer": answers[-1] if answers else None,
        "handed_over": chat.assign_type != AssignType.BOT and humanize_code(chat.handoff_reason),
        "receipt": receipt,
        "has_no_answer": receipt is not None and receipt.decision in NO_ANSWER,
    }


@admin.register(Customer)
class CustomerAdmin(ListsWithoutPreviews):
    list_display = ["id", "name", "email", "external_id", "client", "created_at"]
    more_columns = ("phone",)
    list_select_related = ["client"]
    search_fields = ["name", "email", "external_id"]
    actions = ["erase"]
    actions_detail = ["export"]  # type: ignore[assignment] # Unfold's default is its type

    def listed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return customer_records.without_staff(rows)

    @button("Export", url_path="export", permissions=["manage"], icon="download", is_recorded=True)
    def export(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Everything stored about the customer, to hand to them."""
        row = self.row(request, object_id)
        caller = Principal(row.client, user=viewer(request))
        return media.file_response(
            exporting.write_customer(caller, row.pk),
            mime_type="application/zip",
            cache_control="no-store",
            download_as=f"customer-{row.pk}.zip",
        )

    @admin.action(description="Erase", permissions=["manage"])
    @confirm_action(
        "Erase these customers, with all their chats, messages and files? Nobody can undo it."
    )
    def erase(self, request: HttpRequest, rows: QuerySet[Customer]) -> None:
        by = viewer(request)
        each(request, rows, lambda row: erasing.ask(Principal(row.client, user=by), row.pk))


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
