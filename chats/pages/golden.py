"""The site's pages for golden questions and their runs."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, gettext_lazy, ngettext

from bots.models import Bot, Document, GoldenOutcome, GoldenQuestion, GoldenRun, GoldenStatus
from bots.schemas.golden import GoldenCollectRequest, GoldenQuestionDto, GoldenRunRequest
from bots.services import bots, golden_questions, golden_runs, publish_gate
from chatplatform.admin_base import (
    TenantAdmin,
    button,
    column,
    confirm_action,
    link,
    progress_bar,
    run_each,
    viewer,
)
from chatplatform.form_fields import ScaledField
from chatplatform.forms import ServiceForm
from chatplatform.templatetags.codes import humanize_code, percent
from chats.services.insight import golden_candidates

_COLORS: dict[str, str] = {
    GoldenStatus.QUEUED: "info",
    GoldenStatus.RUNNING: "warning",
    GoldenStatus.DONE: "success",
    GoldenStatus.FAILED: "danger",
}
_SOURCES = [
    ("asked", gettext_lazy("Most asked questions")),
    ("answers", gettext_lazy("Answers you've written")),
    ("samples", gettext_lazy("Sample questions in the chat")),
]
# The maximum number of documents that a run's page links to.
_SHOWN = 50
_PUBLISH = gettext_lazy("Publish anyway")
_CONFIRM_PUBLISH = gettext_lazy("Some answers got worse. Publish these changes anyway?")


# The maximum number of messages that may follow a question on the form; the API allows more.
_FOLLOW_UPS = 5
_PLACEHOLDERS = {
    "question": gettext_lazy("And for children?"),
    "words": gettext_lazy("free, six"),
    "answer": gettext_lazy("Free up to the age of six"),
}


class BotChoiceForm(ServiceForm):
    bot = forms.TypedChoiceField(label=gettext_lazy("Bot"), coerce=int)


class QuestionForm(BotChoiceForm):
    question = forms.CharField(label=gettext_lazy("Question"), max_length=300)
    expected_source = forms.CharField(
        label=gettext_lazy("Expected source"),
        max_length=300,
        required=False,
        help_text=gettext_lazy(
            "A title, file name, or URL the answer must cite. Leave empty for any source."
        ),
    )
    expected_words = forms.CharField(
        label=gettext_lazy("Expected words"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy(
            "What the answer must include, one per line. Leave empty for any answer."
        ),
    )
    expected_answer = forms.CharField(
        label=gettext_lazy("Expected answer"),
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy(
            "What the right answer says, in your words. If you have a language model, it checks"
            " that the bot's answer means the same. Otherwise, this isn't checked."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for at in range(_FOLLOW_UPS):
            number = {"number": at + 1}
            for part, label, longest in (
                ("question", gettext("Message %(number)s"), 300),
                (
                    "words",
                    gettext(
                        "Expected words in the answer to message %(number)s, separated by commas"
                    ),
                    300,
                ),
                ("answer", gettext("Expected answer to message %(number)s"), 500),
            ):
                attrs = {"aria-label": label % number, "placeholder": _PLACEHOLDERS[part]}
                field = forms.CharField(
                    label=label % number, max_length=longest, required=False,
                    widget=forms.TextInput(attrs=attrs),
                )  # fmt: skip
                self.add_field(f"turn_{at}_{part}", field)

    @property
    def main_fields(self) -> list[Any]:
        """The fields of the form except those of the follow-up messages."""
        return [field for field in self if not field.name.startswith("turn_")]

    @property
    def turn_rows(self) -> list[list[Any]]:
        """The fields of each follow-up message."""
        parts = ("question", "words", "answer")
        return [[self[f"turn_{at}_{part}"] for part in parts] for at in range(_FOLLOW_UPS)]

    @property
    def filled_rows(self) -> int:
        """The number of rows up to the last one with a value."""
        filled = [at for at, row in enumerate(self.turn_rows) if any(cell.value() for cell in row)]
        return filled[-1] + 1 if filled else 0

    def clean(self) -> dict[str, Any]:
        """The values in the form of the API's request body, plus the `bot`."""
        values: dict[str, Any] = super().clean() or {}
        for at in range(_FOLLOW_UPS):
            name = f"turn_{at}_question"
            is_judged = values.get(f"turn_{at}_words") or values.get(f"turn_{at}_answer")
            if is_judged and not values.get(name) and name not in self.errors:
                self.add_error(name, self.fields[name].error_messages["required"])
        turns = [
            {
                "question": values[f"turn_{at}_question"],
                "expected_words": _split(values.get(f"turn_{at}_words", ""), ","),
                "expected_answer": values.get(f"turn_{at}_answer") or None,
            }
            for at in range(_FOLLOW_UPS)
            if values.get(f"turn_{at}_question")
        ]
        fields = {name: value for name, value in values.items() if not name.startswith("turn_")}
        expected_words = _split(fields.get("expected_words", ""), "\n")
        return fields | {"expected_words": expected_words, "turns": turns}


def _split(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]


class CollectForm(BotChoiceForm):
    source = forms.ChoiceField(label=gettext_lazy("Import from"), choices=_SOURCES)


class RunForm(BotChoiceForm):
    threshold = ScaledField(
        unit=0.01, min_value=0, max_value=100, required=False,
        label=gettext_lazy("Minimum confidence (%)"),
        help_text=gettext_lazy(
            "Try a different minimum before you change it. Leave empty to use the current one."
        ),
    )  # fmt: skip


@admin.register(GoldenQuestion)
class GoldenQuestionAdmin(TenantAdmin):
    """The list of golden questions. Its rows are read-only: buttons call the services, which record
    changes in the audit log."""

    intro = gettext_lazy(
        "Questions with the answers you expect. Run a test to see whether your bot still gets them"
        " right."
    )
    list_display = (
        "question", "follow_ups", "bot", "expected_source", "words", "origin", "created_at",
    )  # fmt: skip
    labels: ClassVar = {"origin": gettext_lazy("Origin")}
    list_filter = ("bot", "origin")
    search_fields = ("question", "expected_source", "bot__bot_name")
    audited_as = "bot"
    list_select_related = ("bot",)
    actions = ("delete_questions",)
    actions_list = ("add_question", "take_over", "ask_all")

    @column(gettext_lazy("Follow-ups"))
    def follow_ups(self, row: GoldenQuestion) -> int | str:
        return len(row.turns) or "–"

    @column(gettext_lazy("Expected words"))
    def words(self, row: GoldenQuestion) -> str:
        return ", ".join(row.expected_words) or "–"

    @button(gettext_lazy("New question"), permissions=["teach"], icon="add")
    def add_question(self, request: HttpRequest) -> HttpResponse:
        """The form for a new golden question."""

        def act(bot: Bot, data: dict[str, Any]) -> HttpResponse:
            body = GoldenQuestionDto(**data)
            golden_questions.create(bot, body=body, by=viewer(request))
            messages.success(
                request,
                gettext("Added “%(question)s” to your test questions.")
                % {"question": body.question},
            )
            return redirect("admin:bots_goldenquestion_changelist")

        return self._page(
            request, QuestionForm, act, gettext("New test question"), gettext("Save"),
            template="admin/chats/test_question.html",
        )  # fmt: skip

    @button(gettext_lazy("Import questions"), permissions=["teach"], icon="playlist_add")
    def take_over(self, request: HttpRequest) -> HttpResponse:
        """The form to import golden questions from sample questions, written answers or frequent
        questions."""

        def act(bot: Bot, data: dict[str, Any]) -> HttpResponse:
            body = GoldenCollectRequest(**data)
            added = golden_candidates.collect(bot, body=body, by=viewer(request))
            count = len(added)
            imported = ngettext(
                "%(count)s test question imported.", "%(count)s test questions imported.", count
            )
            messages.success(request, imported % {"count": count})
            return redirect("admin:bots_goldenquestion_changelist")

        return self._page(request, CollectForm, act, gettext("Import questions"), gettext("Import"))

    @button(gettext_lazy("Run test"), permissions=["teach"], icon="play_arrow")
    def ask_all(self, request: HttpRequest) -> HttpResponse:
        """The form to start a run of a bot's golden questions."""

        def act(bot: Bot, data: dict[str, Any]) -> HttpResponse:
            run = golden_runs.start(bot, body=GoldenRunRequest(**data), by=viewer(request))
            return redirect("admin:bots_goldenrun_change", run.pk)

        return self._page(request, RunForm, act, gettext("Run test questions"), gettext("Run test"))

    @admin.action(description=gettext_lazy("Delete"), permissions=["train"])
    @confirm_action(gettext_lazy("Delete these questions? Past test runs will be kept."))
    def delete_questions(self, request: HttpRequest, rows: QuerySet[GoldenQuestion]) -> None:
        by = viewer(request)
        run_each(request, rows, lambda row: golden_questions.delete(row.bot, row.pk, by=by))

    def _page(
        self,
        request: HttpRequest,
        form_class: type[BotChoiceForm],
        act: Any,
        title: str,
        label: str,
        *,
        template: str = "admin/form_page.html",
    ) -> HttpResponse:
        client = viewer(request).client
        # A link to this page may prefill the form.
        form = form_class(request.POST or None, initial=request.GET.dict())
        form.offer("bot", list(bots.names(client).items()))

        def with_bot(data: dict[str, Any]) -> HttpResponse:
            values = {name: value for name, value in data.items() if value != ""}
            response: HttpResponse = act(bots.get(client, values.pop("bot")), {**values})
            return response

        return self.form_page(request, form, with_bot, title=title, button=label, template=template)


class OutcomeFilter(admin.SimpleListFilter):
    """Filters runs by what became of the changes they tested."""

    title, parameter_name = gettext_lazy("changes"), "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(code, humanize_code(code)) for code in (*GoldenOutcome.values, "overtaken")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(shown_outcome=self.value()) if self.value() else queryset


@admin.register(GoldenRun)
class GoldenRunAdmin(TenantAdmin):
    intro = gettext_lazy("Each test run asks your bot every test question.")
    list_display = (
        "bot", "shown_status", "asked", "shown_passed", "shown_broke", "became", "created_at",
    )  # fmt: skip
    list_filter = ("bot", "status", OutcomeFilter)
    search_fields = ("bot__bot_name",)
    list_select_related = ("bot",)
    fields = readonly_fields = (
        "bot", "status", "shown_error", "asked", "became", "shown_tried", "shown_broke",
        "shown_results", "shown_better", "shown_threshold", "created_by", "created_at",
        "finished_at",
    )  # fmt: skip
    actions = ("publish",)
    actions_detail = ("publish_run", "discard_run")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The fields of a run's page, without those that are optional and empty."""
        has_value = {
            "shown_error": obj and obj.error,
            "asked": obj and self.is_under_way(obj),
            "became": obj and obj.shown_outcome,
            "shown_tried": obj and (obj.prompt_id or obj.document_ids),
            "shown_broke": obj and obj.broke,
            "shown_better": obj and obj.better,
            "shown_threshold": obj and obj.threshold is not None,
        }
        return [name for name in self.fields if has_value.get(name, True)]

    def get_queryset(self, request: HttpRequest) -> QuerySet[GoldenRun]:
        return golden_runs.with_outcome(super().get_queryset(request))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """Only a run that holds changes back has buttons. Content can be discarded, instructions
        cannot."""
        run: Any = self.get_object(request, unquote(str(object_id)))
        if run is None or run.shown_outcome != GoldenOutcome.HELD:
            return []
        found = super().get_actions_detail(request, object_id)
        if _held(run).exists():
            return found
        return [item for item in found if not item.action_name.endswith("discard_run")]

    @column(gettext_lazy("Status"), ordering="status", label=_COLORS)
    def shown_status(self, run: GoldenRun) -> tuple[str, str]:
        return run.status, gettext(run.get_status_display())

    def is_under_way(self, run: GoldenRun) -> bool:
        """Whether the run's questions are still being asked."""
        return run.status in {GoldenStatus.QUEUED, GoldenStatus.RUNNING}

    @column(gettext_lazy("Changes"), ordering="outcome")
    def became(self, run: Any) -> str:
        """The outcome of the changes that waited for the run."""
        return humanize_code(run.shown_outcome)

    @column(gettext_lazy("Error"))
    def shown_error(self, run: GoldenRun) -> str:
        text, colon, reason = run.error.partition(": ")
        return f"{gettext(text)}{colon}{reason}"

    @column(gettext_lazy("Minimum confidence"))
    def shown_threshold(self, run: GoldenRun) -> str:
        return percent(run.threshold)

    @column(gettext_lazy("Passed"), ordering="passed")
    def shown_passed(self, run: GoldenRun) -> str:
        """How many of the questions asked so far have passed."""
        counts = {"done": run.passed, "total": len(run.results)}
        return gettext("%(done)s of %(total)s") % counts if run.results else "–"

    @column(gettext_lazy("Progress"))
    def asked(self, run: GoldenRun) -> SafeString:
        return progress_bar(len(run.results), len(run.questions))

    @column(gettext_lazy("Tested changes"))
    def shown_tried(self, run: GoldenRun) -> SafeString | str:
        """Links to what the run tests."""
        return format_html_join(mark_safe("<br>"), "{}", [(item,) for item in _tested(run)]) or "–"

    @column(gettext_lazy("Now failing"))
    def shown_broke(self, run: GoldenRun) -> SafeString | str:
        return format_html_join(mark_safe("<br>"), "{}", [(item,) for item in run.broke])

    @column(gettext_lazy("Now passing"))
    def shown_better(self, run: GoldenRun) -> SafeString | str:
        return format_html_join(mark_safe("<br>"), "{}", [(item,) for item in run.better])

    @column(gettext_lazy("Answers"))
    def shown_results(self, run: GoldenRun) -> SafeString:
        """Each question and its answer; failed questions come first."""
        failed_first = sorted(run.results, key=lambda result: not result["fault"])
        # A question with follow-up messages has a result for each message.
        turns = [turn for result in failed_first for turn in (result.get("turns") or [result])]
        rows = [
            (
                "failed" if result["fault"] else "passed",
                result["question"],
                humanize_code(result["fault"]) if result["fault"] else gettext("Passed"),
                result["answer"],
            )
            for result in turns
        ]
        line = '<p class="golden {}"><b>{}</b> <span>{}</span><br>{}</p>'
        return format_html_join("", line, rows)

    @button(_PUBLISH, url_path="publish", permissions=["train"], icon="publish")
    def publish_run(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Publish what this run holds back, after a confirmation."""
        run: GoldenRun = self.row(request, object_id)

        def act(data: dict[str, Any]) -> HttpResponse:
            golden_runs.publish(run.bot, run.pk, by=viewer(request))
            messages.success(request, gettext("Published."))
            return redirect("admin:bots_goldenrun_change", run.pk)

        return self.confirm_page(
            request, act, title=_PUBLISH, button=_PUBLISH,
            intro=format_html("{}<br>{}", _CONFIRM_PUBLISH, self.shown_tried(run)),
        )  # fmt: skip

    @button(gettext_lazy("Discard"), url_path="discard", permissions=["train"], icon="delete")
    def discard_run(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Discard the changes to content that this run holds back, after a confirmation."""
        run: GoldenRun = self.row(request, object_id)

        def act(data: dict[str, Any]) -> HttpResponse:
            golden_runs.discard(run.bot, run.pk, by=viewer(request))
            messages.success(request, gettext("Discarded."))
            return redirect("admin:bots_goldenrun_change", run.pk)

        return self.confirm_page(
            request, act, title=gettext("Discard changes"), button=gettext("Discard"),
            variant="danger", cancel=reverse("admin:bots_goldenrun_change", args=[run.pk]),
            intro=format_html(
                "{}<br>{}",
                gettext(
                    "New content below will be deleted. Content that's already live will stay as it"
                    " is. This can't be undone."
                ),
                format_html_join(mark_safe("<br>"), "{}", [(str(row),) for row in _held(run)]),
            ),
        )  # fmt: skip

    @admin.action(description=_PUBLISH, permissions=["train"])
    @confirm_action(_CONFIRM_PUBLISH)
    def publish(self, request: HttpRequest, rows: QuerySet[GoldenRun]) -> None:
        by = viewer(request)
        run_each(request, rows, lambda run: golden_runs.publish(run.bot, run.pk, by=by))


def _held(run: GoldenRun) -> QuerySet[Document]:
    """The content that a run holds back."""
    return publish_gate.held().filter(bot=run.bot_id, run_id=run.pk)


def _tested(run: GoldenRun) -> list[str]:
    """Links to what a run tests: its instructions, or its first `_SHOWN` documents.

    The documents are followed by links to other runs that hold back newer changes to them, and by
    the numbers of further and of deleted documents, without links.
    """
    if run.prompt:
        text = gettext("Instructions, version %(version)s") % {"version": run.prompt.version}
        return [link("admin:bots_prompt_change", run.prompt.pk, text)]
    rows = Document.objects.filter(bot=run.bot_id, pk__in=run.document_ids).order_by("id")
    found = list(rows.values_list("pk", "title", "file_name"))
    links: list[str] = [
        link("admin:bots_document_change", pk, title or name) for pk, title, name in found[:_SHOWN]
    ]
    if run.is_publish_gate:
        later = publish_gate.held().filter(bot=run.bot_id, pk__in=run.document_ids)
        runs = later.exclude(run_id=run.pk).values_list("run_id", flat=True)
        text = gettext("Later changes are in another test run")
        links += [link("admin:bots_goldenrun_change", run_id, text) for run_id in sorted(set(runs))]
    if len(found) > _SHOWN:
        links.append(gettext("%(count)s more") % {"count": len(found) - _SHOWN})
    if missing := len(run.document_ids) - len(found):
        deleted = ngettext("%(count)s item deleted since", "%(count)s items deleted since", missing)
        links.append(deleted % {"count": missing})
    return links
