"""The site's pages for unanswered questions: list and answer them, and ask the bot again."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from unfold.enums import ActionVariant

from bots.models import GoldenOutcome
from bots.services import publish_gate
from bots.services.written_sources import SourceExists
from chatplatform.admin_base import TenantAdmin, button, column, link, viewer
from chatplatform.templatetags.codes import humanize_code
from chats.models import GroupStatus, QuestionGroup
from chats.pages import names, written_answers
from chats.pages.question_forms import AnswerForm
from chats.services.insight import question_groups, taught_answers
from identity.models import User

# The maximum number of conversations on a group's page.
_MAX_SHOWN = 50
_CHAT = "admin:chats_conversation_change"
_COLORS: dict[str, str] = {
    GroupStatus.OPEN: "warning",
    GroupStatus.LEARNING: "info",
    GroupStatus.ANSWERED: "success",
    GoldenOutcome.HELD: "danger",
}


class AnsweredFilter(admin.SimpleListFilter):
    """Filters by status; leaves out answered questions by default."""

    title, parameter_name = gettext_lazy("status"), "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            (GroupStatus.OPEN, gettext_lazy("Open")),
            (GroupStatus.LEARNING, gettext_lazy("Learning")),
            (GroupStatus.ANSWERED, gettext_lazy("Answered")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value():
            return queryset.filter(status=self.value())
        return queryset.exclude(status=GroupStatus.ANSWERED)


@admin.register(QuestionGroup)
class QuestionGroupAdmin(TenantAdmin):
    """The list of groups of unanswered questions. Its rows are read-only: buttons call the
    services."""

    list_display = ("shown_question", "count", "bot", "latest_at", "shown_status", "next_step")
    list_filter = (AnsweredFilter, ("latest_at", admin.DateFieldListFilter), "bot")
    search_fields = ("questions__message__text",)
    list_select_related = ("bot",)
    ordering = ("-count", "-id")
    fields = readonly_fields = (
        "shown_question", "count", "bot", "latest_at", "state", "document",
        "shown_answer", "asked_again_at", "chats",
    )  # fmt: skip
    actions_list = ("by_time",)
    actions_detail = ("add_answer", "ask_again")

    def _is_useful_column(self, request: HttpRequest, name: Any) -> bool:
        """Whether to show a column. Only people who may train bots see `next_step`."""
        may_show = name != "next_step" or self.has_train_permission(request)
        return may_show and super()._is_useful_column(request, name)

    def get_actions_list(self, request: HttpRequest) -> Any:
        """The buttons above the list, none of which is its primary action: that is to answer."""
        buttons = super().get_actions_list(request)
        for item in buttons:
            item.variant = ActionVariant.DEFAULT
        return buttons

    def get_queryset(self, request: HttpRequest) -> QuerySet[QuestionGroup]:
        rows = question_groups.with_question(super().get_queryset(request))
        return publish_gate.with_run(rows, document="document")

    @column(gettext_lazy("Question"))
    def shown_question(self, row: Any) -> str:
        return str(row.question)[:300]

    @column(gettext_lazy("Status"), ordering="status", label=_COLORS)
    def shown_status(self, row: Any) -> tuple[str, str]:
        if row.status != GroupStatus.LEARNING or row.run_id is None:
            return row.status, gettext(row.get_status_display())
        if row.run_outcome == GoldenOutcome.HELD:
            return row.run_outcome, gettext("On hold: a test question failed")
        return row.status, gettext("Running test questions")

    @column(gettext_lazy("Status"))
    def state(self, row: Any) -> SafeString | str:
        """The status. If a golden run is testing the answer or holds it back, the status links to
        that run."""
        text: str = self.shown_status(row)[1]
        if row.status != GroupStatus.LEARNING or row.run_id is None:
            return text
        return link("admin:bots_goldenrun_change", row.run_id, text)

    @column("")
    def next_step(self, row: QuestionGroup) -> SafeString | str:
        if row.status != GroupStatus.OPEN:
            return ""
        return link("admin:chats_questiongroup_add_answer", row.pk, gettext("Write answer"))

    @column(gettext_lazy("What the bot says now"))
    def shown_answer(self, row: QuestionGroup) -> str:
        if row.answer:
            return f"{row.answer} ({', '.join(row.sources)})" if row.sources else row.answer
        # While the bot is learning the answer, an earlier fault is out of date.
        return humanize_code(row.fault) if row.fault and row.status != GroupStatus.LEARNING else "–"

    @column(gettext_lazy("Conversations"))
    def chats(self, row: QuestionGroup) -> SafeString:
        shown = question_groups.questions_of(row).order_by("-id")[:_MAX_SHOWN]
        lines = []
        for message in (item.message for item in shown):
            name = names.chat_customer_name(message.conversation)
            lines.append((link(_CHAT, message.conversation_id, name), message.text[:300]))
        return format_html_join("", "<p>{}: {}</p>", lines)

    def is_under_way(self, row: Any) -> bool:
        """Whether the group's answer is being learned or tested."""
        is_held = row.run_outcome == GoldenOutcome.HELD
        return row.status == GroupStatus.LEARNING and not is_held

    @button(
        gettext_lazy("Write answer"),
        url_path="answer",
        permissions=["train"],
        icon="edit",
    )
    def add_answer(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form for the right answer. The bot is asked again once it has learned the answer."""
        group: QuestionGroup = self.row(request, object_id)
        form = AnswerForm(request.POST or None, initial=self._initial(group))

        def act(data: dict[str, Any]) -> HttpResponse:
            try:
                answered = self._add(group, data, by=viewer(request))
            except SourceExists as exc:
                # If the bot can answer by now, asking it again takes the question off the list.
                taught_answers.request_again(group)
                raise written_answers.source_exists_error(exc) from exc
            messages.success(
                request,
                gettext("Saved. We'll ask the bot again once it has learned the answer."),
            )
            if answered.document:
                written_answers.warn_about_conflicts(request, answered.document)
            return redirect("admin:chats_questiongroup_change", group.pk)

        title = gettext("Write answer")
        return self.form_page(request, form, act, title=title, button=gettext("Save answer"))

    @transaction.atomic
    def _add(self, group: QuestionGroup, data: dict[str, Any], *, by: User) -> QuestionGroup:
        given = {name: data[name] for name in ("question", "answer")}
        answered = taught_answers.add_answer(group, **given, by=by)
        if answered.document:
            written_answers.set_last_day(answered.document, data["valid_until"], by=by)
        return answered

    def _initial(self, group: QuestionGroup) -> dict[str, Any]:
        """The values that the form begins with: the question or, if the bot answers it from a
        written answer and misses another wording of it, that wording and the same answer."""
        is_missed = group.status == GroupStatus.OPEN and group.answer and group.sources
        source = group.sources[0] if is_missed else ""
        found = written_answers.existing(group.bot, source) if source else None
        if found is None:
            return {"question": self.shown_question(group)}
        latest = question_groups.questions_of(group).order_by("-id").first()
        wording = latest.message.text if latest else ""
        return written_answers.initial(group.bot, source) | {
            "question": written_answers.one_line(wording), "edits": None,
        }  # fmt: skip

    @button(gettext_lazy("Ask again"), url_path="ask", permissions=["train"], icon="replay")
    def ask_again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask the bot the question again, after a confirmation."""
        group: QuestionGroup = self.row(request, object_id)

        def act(data: dict[str, Any]) -> HttpResponse:
            taught_answers.request_again(group)
            messages.success(request, gettext("Asking the bot again."))
            return redirect("admin:chats_questiongroup_change", group.pk)

        return self.confirm_page(
            request, act, title=gettext("Ask %(bot)s again") % {"bot": group.bot},
            button=gettext("Ask again"), intro=self.shown_question(group),
        )  # fmt: skip

    @button(gettext_lazy("Sort by date"), permissions=["view"], icon="schedule")
    def by_time(self, request: HttpRequest) -> HttpResponse:
        """Go to the list of single questions, which has the newest first."""
        return redirect("admin:chats_unanswered")
