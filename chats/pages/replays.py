"""Replays in the site: a day's replies made again, what was gained and what was lost."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from unfold.decorators import display

from bots.services import bots
from chatplatform.admin_base import TenantAdmin, button, viewer
from chatplatform.forms import ServiceForm
from chats.models import Replay, ReplayChange, ReplayStatus
from chats.services.reply import replays
from chats.shapes.replay import ReplayRequest

# Replies of each kind that a page shows.
_SHOWN = 50
_COLORS: dict[str, str] = {
    ReplayStatus.QUEUED: "info",
    ReplayStatus.RUNNING: "warning",
    ReplayStatus.DONE: "success",
    ReplayStatus.FAILED: "danger",
}


class ReplayForm(ServiceForm):
    bot = forms.TypedChoiceField(label=gettext_lazy("Bot"), coerce=int)
    day = forms.DateField(label=gettext_lazy("Day"), widget=forms.TextInput(attrs={"type": "date"}))


@admin.register(Replay)
class ReplayAdmin(TenantAdmin):
    list_display = ("day", "bot", "shown_status", "progress", "gained", "lost", "created_at")
    list_filter = ("bot", "status")
    search_fields = ("bot__bot_name",)
    list_select_related = ("bot",)
    fields = readonly_fields = (
        "day", "bot", "status", "error", "progress", "gained", "lost", "answered",
        "unanswered", "with_calls", "would_be_answered", "would_not_be", "created_by",
        "created_at", "finished_at",
    )  # fmt: skip
    actions_list = ("replay_day",)

    @display(description="Status", ordering="status", label=_COLORS)
    def shown_status(self, row: Replay) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="Made again")
    def progress(self, row: Replay) -> str:
        total = len(row.message_ids)
        said = gettext("%(done)s of %(total)s") % {"done": row.done, "total": total}
        return said + (gettext(", the day held more") if row.is_cut else "")

    @display(description="Would be answered today")
    def would_be_answered(self, row: Replay) -> SafeString | str:
        return self._replies(row, ReplayChange.GAINED)

    @display(description="Would not be answered any more")
    def would_not_be(self, row: Replay) -> SafeString | str:
        return self._replies(row, ReplayChange.LOST)

    def _replies(self, row: Replay, change: ReplayChange) -> SafeString | str:
        shown = replays.replies_of(row, change=change).order_by("id")[:_SHOWN]
        lines = [
            (
                one.message.in_reply_to.text[:300] if one.message.in_reply_to else "",
                reverse("admin:chats_conversation_change", args=[one.message.conversation_id]),
                one.message.conversation.chat_code,
                one.message.text[:300],
                one.text[:300],
            )
            for one in shown
        ]
        line = '<p><b>{}</b> <a class="underline" href="{}">{}</a><br>{}<br>→ {}</p>'
        return format_html_join("", line, lines) or "–"

    def change_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The page of a replay that is not over looks again by itself."""
        reply: HttpResponse = super().change_view(request, *args, **kwargs)
        row = getattr(reply, "context_data", {}).get("original")
        if row and row.status in {ReplayStatus.QUEUED, ReplayStatus.RUNNING}:
            reply["Refresh"] = "3"
        return reply

    @button("Replay a day", permissions=["teach"], icon="replay")
    def replay_day(self, request: HttpRequest) -> HttpResponse:
        """A day's replies, made again."""
        client = viewer(request).client
        form = ReplayForm(request.POST or None)
        form.offer("bot", list(bots.names(client).items()))

        def act(data: dict[str, Any]) -> HttpResponse:
            bot, body = bots.get(client, data["bot"]), ReplayRequest(day=data["day"])
            replay = replays.start(bot, day=body.day, limit=body.limit, by=viewer(request))
            return redirect("admin:chats_replay_change", replay.pk)

        return self.form_page(
            request, form, act,
            title=gettext("Replay a day"),
            button=gettext("Make the replies again"),
            intro=gettext(
                "What would the bot say today? No customer notices. A model's tokens are paid."
            ),
        )  # fmt: skip

    def has_teach_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What a client's trainers, owners and admins may."""
        return viewer(request).client_id is not None and self.has_train_permission(request)
