"""The site's pages of conversations: the list, and a conversation's own page."""

import uuid
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from chatplatform import admin_lists, navigation
from chatplatform.admin_base import column, viewer
from chatplatform.admin_lists import AdminChangeList
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.form_fields import language_name
from chatplatform.templatetags.dates import when
from chats.models import Conversation, Feedback, Message, SenderType
from chats.pages import names, search_excerpts, transcripts
from chats.pages.bot_test import BotTestPages
from chats.pages.list_filters import (
    AnsweredByFilter,
    HandoffFilter,
    ListsWithoutPreviews,
    StartedFilter,
    WaitingFilter,
)
from chats.pages.single_questions import SingleQuestionPages
from chats.schemas.content_kinds import preview
from chats.schemas.replay import ReplayedTurn
from chats.services.desk import inbox
from chats.services.reply import reply_replay

_ACTIVITY = Coalesce("last_message_at", "created_at")
_COLORS = {
    "queue": "warning", "bot": "info", "agent": "success", "ended": "default",
    "snoozed": "default", "preview": "default",
}  # fmt: skip
# The maximum number of other conversations that a page lists.
_MAX_EARLIER = 5


class ConversationChangeList(AdminChangeList):
    """The rows of the list. Search results come with the excerpt that matches the search."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if self.query:
            self.result_list = list(self.result_list)
            search_excerpts.attach(self.result_list, self.query)


@admin.register(Conversation)
class ConversationAdmin(  # type: ignore[misc] # two of Unfold's own bases differ
    BotTestPages, SingleQuestionPages, ListsWithoutPreviews
):
    """The list of conversations, and a page for each with its messages."""

    list_display = ("who", "last_words", "state", "channel_icon", "client", "bot", "latest_at")
    list_display_links = ("who",)
    list_filter = (
        "status", "assign_type", "priority", WaitingFilter, StartedFilter, AnsweredByFilter,
        HandoffFilter, "channel", "bot",
    )  # fmt: skip
    chat_path = ""
    codes = frozenset({"handoff_reason", "sentiment"})
    labels: ClassVar = {"last_message": gettext_lazy("Latest message")}
    more_columns = (
        "chat_code", "handoff_reason", "message_count", "language", "sentiment", "created_at",
        "ended_at",
    )  # fmt: skip
    linked_by = frozenset({"sentiment"})
    list_select_related = ("client", "bot", "customer", "assignee", "last_message")
    search_fields = ("=chat_code", "customer__name", "customer__email", "customer__external_id")
    change_form_template = "admin/chats/conversation.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return ConversationChangeList

    def get_ordering(self, request: HttpRequest) -> Any:
        """In a list of one client's conversations, for which there is an index, the latest activity
        comes first; otherwise the newest conversation."""
        is_of_one = viewer(request).client_id or navigation.chosen_client(request)
        return [_ACTIVITY.desc(), "-id"] if is_of_one else ["-id"]

    @column(gettext_lazy("Customer"))
    def who(self, row: Conversation) -> str:
        return names.chat_customer_name(row)

    @column(gettext_lazy("Latest message"))
    def last_words(self, row: Any) -> SafeString | str:
        """The latest message or, in search results, the excerpt that matches."""
        found: SafeString | None = getattr(row, "search_excerpt", None)
        if found is not None:
            return found
        text = preview(row.last_message) if row.last_message else ""
        return format_html('<span class="chat-text">{}</span>', " ".join(text.split())[:160])

    @column(gettext_lazy("Status"), label=_COLORS)
    def state(self, row: Conversation) -> tuple[str, str]:
        return names.state_of(row)

    @column(gettext_lazy("Channel"), ordering="channel")
    def channel_icon(self, row: Conversation) -> SafeString:
        name, icon = names.CHANNELS[row.channel]
        return format_html(
            '<span class="chat-channel">'
            '<span class="material-symbols-outlined" aria-hidden="true">{}</span> {}</span>',
            icon,
            gettext(name),
        )

    @column(gettext_lazy("Last activity"), ordering=_ACTIVITY)
    def latest_at(self, row: Conversation) -> SafeString | str:
        return when(row.last_message_at or row.created_at)

    def get_urls(self) -> list[URLPattern]:
        own = [
            *self.test_paths(),
            *self.question_paths(),
            path("<uuid:chat_id>/why/<uuid:message_id>/", self.why, name="chats_why"),
            path("<uuid:chat_id>/why/<uuid:message_id>/again/", self.again, name="chats_again"),
        ]
        for item in own:
            item.callback = self.admin_site.admin_view(item.callback)
        return own + super().get_urls()

    def detail_values(self, request: HttpRequest, chat: Conversation) -> dict[str, Any]:
        """The template's values: the transcript, and what is known about the customer and the
        chat."""
        before = request.GET.get("before", "")
        others = inbox.chats_of(chat.client, type(chat.customer), chat.customer_id)
        others = others.exclude(pk=chat.pk).select_related("last_message").order_by("-id")
        found = list(others[: _MAX_EARLIER + 1])
        ratings = Feedback.objects.for_client(chat.client).filter(conversation=chat)
        color, text = names.state_of(chat)
        by = viewer(request)
        is_own = by.client_id == chat.client_id and not chat.is_preview
        actions = [{
            "title": gettext("Open in inbox"), "link": f"{reverse('admin:desk')}#{chat.pk}",
            "icon": "inbox", "is_primary": True,
        }]  # fmt: skip
        customers: Any = self.admin_site.get_model_admin(type(chat.customer))
        if customers.has_edit_permission(request):
            title, name, icon = (
                (gettext("Unblock"), "unblock", "lock_open") if chat.customer.is_blocked
                else (gettext("Block…"), "block", "block")
            )  # fmt: skip
            link = reverse(f"admin:chats_customer_{name}", args=[chat.customer_id])
            actions.append({"title": title, "link": link, "icon": icon})
        customer = names.chat_customer_name(chat)
        return {
            "title": customer,
            # A card's `title` is its own.
            "customer": customer,
            "actions": actions if is_own else [],
            "blocked": names.block_text(chat.customer),
            "chat": chat,
            "part": transcripts.part_of(
                chat, before=int(before) if before.isdecimal() and len(before) < 9 else None
            ),
            "state": {"text": text, "type": _COLORS[color]},
            "channel": names.channel_name(chat.channel),
            "language": language_name(chat.language),
            "ended_by": names.ended_by(chat),
            "earlier": found[:_MAX_EARLIER],
            "has_more": len(found) > _MAX_EARLIER,
            "rating": ratings.filter(message__isnull=True).first(),
            "may_correct": self.has_train_permission(request),
        }

    def why(self, request: HttpRequest, chat_id: uuid.UUID, message_id: uuid.UUID) -> HttpResponse:
        """The page that explains a bot's message, or why a customer's question got no answer."""
        chat = self.row(request, chat_id)
        message = get_object_or_404(Message, conversation=chat, pk=message_id)
        is_question = message.sender_type == SenderType.CUSTOMER
        return self.page(
            request, "admin/chats/why.html",
            gettext("Why there was no answer") if is_question else gettext("Why the bot said this"),
            chat=chat,
            message=message,
            receipt=inbox.receipt(chat, message_id),
            is_question=is_question,
            may_correct=message.question and self.has_train_permission(request),
            may_replay=not is_question
            and message.in_reply_to_id
            and (message.receipt or {}).get("decision") in reply_replay.ENGINE_DECISIONS,
        )  # fmt: skip

    @calls_out
    def again(
        self, request: HttpRequest, chat_id: uuid.UUID, message_id: uuid.UUID
    ) -> HttpResponse:
        """The page with the original reply next to the reply that the bot would give today. A
        model's tokens are charged."""
        chat = self.row(request, chat_id)
        if not self.has_train_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return redirect("admin:chats_why", chat_id, message_id)
        try:
            reply = reply_replay.get(chat, message_id)
            current = reply_replay.regenerate(reply, reference=f"replay:{uuid.uuid4()}")
        except ApiError as exc:
            messages.error(request, gettext(str(exc)))
            return redirect("admin:chats_why", chat_id, message_id)
        return self.page(
            request, "admin/chats/again.html", gettext("Today's answer"),
            chat=chat, turn=ReplayedTurn.of(reply, current),
        )  # fmt: skip

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search a client's conversations like the API does, including their messages. For platform
        staff, only `search_fields` are searched."""
        user: Any = request.user
        if not search_term or user.client is None:
            return super().get_search_results(request, queryset, search_term)
        admin_lists.words_of(search_term)
        return queryset.filter(pk__in=inbox.search(user.client, search_term)), False
