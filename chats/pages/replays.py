"""The site's pages for replays."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from bots.services import bots
from chatplatform.admin_base import TenantAdmin, button, column, progress_bar, viewer
from chatplatform.forms import ServiceForm
from chats.models import Replay, ReplayChange, ReplayStatus
from chats.schemas.replay import ReplayedReplyDto, ReplayRequest
from chats.services.reply import replays

# The maximum number of replies of each kind on a page.
_SHOWN = 50
# The maximum length of a golden question and of its expected source, in characters.
_MAX_CHARS = 300
_COLORS: dict[str, str] = {
    ReplayStatus.QUEUED: "info",
    ReplayStatus.RUNNING: "warning",
    ReplayStatus.DONE: "success",
    ReplayStatus.FAILED: "danger",
}


class ReplayForm(ServiceForm):
    bot = forms.TypedChoiceField(label=gettext_lazy("Bot"), coerce=int)
    day = forms.DateField(label=gettext_lazy("Day"), widget=forms.TextInput(attrs={"type": "date"}))


def _count(name: str, title: Any) -> Any:
    """A column with one of a replay's counts."""

    @column(title, ordering=name)
    def shown(row: Replay) -> int:
        return int(getattr(row, name))

    return shown


_GAINED = _count("gained", gettext_lazy("Newly answered"))
_LOST = _count("lost", gettext_lazy("No longer answered"))
_CHANGED = _count("changed", gettext_lazy("Different source"))


@admin.register(Replay)
class ReplayAdmin(TenantAdmin):
    intro = gettext_lazy("A replay asks your bot past questions again, to compare its answers.")
    list_display = (
        "day", "bot", "shown_status", "progress", _GAINED, _LOST, _CHANGED, "created_at",
    )  # fmt: skip
    list_filter = ("bot", "status")
    search_fields = ("bot__bot_name",)
    list_select_related = ("bot",)
    fields = readonly_fields = (
        "day", "bot", "status", "shown_error", "progress", _GAINED, _LOST, _CHANGED,
        _count("answered", gettext_lazy("Answered both times")),
        _count("unanswered", gettext_lazy("Unanswered both times")),
        _count("with_calls", gettext_lazy("Skipped (used a function)")),
        "created_by", "created_at", "finished_at",
    )  # fmt: skip
    actions_list = ("replay_day",)
    change_form_after_template: Any = "admin/chats/replayed.html"

    @column(gettext_lazy("Status"), ordering="status", label=_COLORS)
    def shown_status(self, row: Replay) -> tuple[str, str]:
        return row.status, gettext(row.get_status_display())

    @column(gettext_lazy("Error"))
    def shown_error(self, row: Replay) -> str:
        return gettext(row.error) if row.error else "–"

    @column(gettext_lazy("Progress"))
    def progress(self, row: Replay) -> SafeString:
        more = gettext(" (first of the day)") if row.is_cut else ""
        return format_html("{}{}", progress_bar(row.done, len(row.message_ids)), more)

    def is_under_way(self, row: Replay) -> bool:
        """Whether replies are still being replayed."""
        return row.status in {ReplayStatus.QUEUED, ReplayStatus.RUNNING}

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """A replay's page, with the changed replies next to the originals."""
        row = self.row(request, object_id)
        shown = (ReplayChange.GAINED, ReplayChange.LOST, ReplayChange.CHANGED)
        context = {
            "replayed": [_shown(request, row, change) for change in shown],
            "may_teach": self.has_teach_permission(request),
        }
        return super().change_view(request, object_id, form_url, context)

    @button(gettext_lazy("Replay a day"), permissions=["teach"], icon="replay")
    def replay_day(self, request: HttpRequest) -> HttpResponse:
        """The form to start a replay of a day."""
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
            button=gettext("Run replay"),
            intro=gettext(
                "See how the bot would answer today. Customers won't notice. Answers from a"
                " language model use credits."
            ),
        )  # fmt: skip


def _shown(request: HttpRequest, row: Replay, change: ReplayChange) -> dict[str, Any]:
    """The template's values for the replies with this change, after the one whose id is in the
    query string, if any."""
    rows, after = replays.replies_of(row, change=change).order_by("id"), request.GET.get(change, "")
    found = list((rows.filter(pk__gt=after) if after.isdecimal() else rows)[: _SHOWN + 1])
    turns = [ReplayedReplyDto.from_row(item) for item in found[:_SHOWN]]
    return {
        "change": change,
        "turns": [(turn, _golden_form(row, turn)) for turn in turns],
        "next": found[_SHOWN - 1].pk if len(found) > _SHOWN else None,
    }


def _golden_form(row: Replay, turn: ReplayedReplyDto) -> str:
    """The link to the form that adds the question as a golden question. The expected source is that
    of today's reply or, if the answer was lost, of the original."""
    answer = turn.then if turn.change == ReplayChange.LOST else turn.today
    asked = {"bot": row.bot_id, "question": " ".join(turn.question.split())[:_MAX_CHARS]}
    source = {"expected_source": answer.sources[0][:_MAX_CHARS]} if answer.sources else {}
    return f"{reverse('admin:bots_goldenquestion_add_question')}?{urlencode(asked | source)}"
