"""Admin pages of bots and their content: set up, view, train again, delete."""

from datetime import timedelta
from typing import Any, ClassVar, cast

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.clickjacking import xframe_options_sameorigin
from unfold.decorators import display

from bots import forms, models
from bots.pages import functions, language_models
from bots.services import bots, documents, prompt_versions, publish_gate, web_urls
from bots.shapes.bot import BotDto
from bots.shapes.web_url import PageCounts
from chatplatform.admin_base import (
    ReadOnlyInline,
    TenantAdmin,
    button,
    confirm_action,
    each,
    in_use,
    viewer,
)
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import ServiceForm
from chatplatform.templatetags.codes import humanize_code
from identity.models import ApiKey, KeyScope

# Imported because they register themselves.
__all__ = ["functions", "language_models"]

COLORS: dict[str, str] = {
    models.DocumentStatus.QUEUED: "info",
    models.DocumentStatus.TRAINING: "warning",
    models.DocumentStatus.TRAINED: "success",
    models.DocumentStatus.FAILED: "danger",
}
# The set-up page shows only the newest documents; the list page has all.
_SOURCES_SHOWN = 50


class TrainedAdmin(TenantAdmin):
    """Shared columns of documents and web addresses: status, progress and error of the training."""

    codes = frozenset({"error_code"})

    @display(description="Status", ordering="status", label=COLORS)
    def shown_status(self, row: models.Document | models.WebUrl) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="Progress", ordering="progress")
    def shown_progress(self, row: models.Document | models.WebUrl) -> str:
        return format_html(
            '<progress value="{}" max="100" aria-label="Progress">{} %</progress> {} %',
            *[row.progress] * 3,
        )

    @display(description="Error")
    def shown_error(self, row: models.Document | models.WebUrl) -> str:
        return row.error_message or humanize_code(row.error_code)


class SampleQuestionInline(ReadOnlyInline):
    """Read-only here: the API checks duplicates and languages."""

    model = models.SampleQuestion
    fields = ("position", "question", "language")
    ordering = ("position", "id")


@admin.register(models.Bot)
class BotAdmin(TenantAdmin):
    """Bots; the set-up page changes them through services, which check hosts, languages and
    limits.
    """

    actions = ("disable", "enable", "delete_bots")
    actions_list = ("new_bot",)
    actions_detail = ("set_up",)
    list_display = (
        "bot_name", "client", "default_language", in_use, "agent_reply", "created_at",
    )  # fmt: skip
    list_filter = ("is_disabled", "agent_reply", "default_language")
    search_fields = ("bot_name", "description", "client__name")
    list_select_related = ("client",)
    inlines = (SampleQuestionInline,)
    labels: ClassVar = {"allowed_domain": "Allowed websites"}
    fields = (
        "client", "bot_name", "description", "bot_icon", "primary_color", "secondary_color",
        "allowed_domain", "default_language", "languages", "style", "welcome_message", "terms",
        "bot_question", "engaging_message", "attach_enabled", "export_enabled",
        "auto_pop_up", "is_fullscreen", "is_visible", "allow_preview", "hold_back_worse",
        "agent_reply", "delete_available", "is_disabled", "business_hours", "holidays",
        "customer_info_fields", "banner_link", "banner_alt", "banner_valid_from",
        "banner_valid_to", "knowledge_version", "created_at", "updated_at",
    )  # fmt: skip

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.look)
        return [path("<int:bot_id>/look/", view, name="bots_bot_look"), *super().get_urls()]

    @button("New bot", permissions=["create"], icon="add")
    def new_bot(self, request: HttpRequest) -> HttpResponse:
        """Create a bot from its name and continue on the set-up page."""
        client = viewer(request).client

        def act(data: dict[str, Any]) -> HttpResponse:
            made = bots.create(client, body=BotDto(**data), by=viewer(request))
            return redirect("admin:bots_bot_set_up", made.id)

        form = forms.NewBotForm(request.POST or None)
        return self.form_page(request, form, act, title="New bot", button="Create the bot")

    @calls_out
    @button("Set up", url_path="set-up", permissions=["train"], icon="tune")
    def set_up(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """All that a new bot needs on one screen: content, look, a preview, the script tag."""
        bot: models.Bot = self.row(request, object_id)
        steps = forms.TEACH | (forms.SHOW if self.has_manage_permission(request) else {})
        chosen = request.POST.get("form")
        bound: dict[str, Any] = {}
        if chosen in steps:
            step = steps[chosen]
            form = bound[chosen] = self._form(bot, chosen, step, request)
            done = form.carry_out(lambda data: [step.act(bot, data, viewer(request))])
            if done:
                messages.success(request, step.done, extra_tags=chosen)
                for item in getattr(done[0], "refused", ()):
                    reason = f"Left out: {item.file_name}: {item.message}"
                    messages.error(request, reason, extra_tags=chosen)
                return redirect(f"{request.path}#{chosen}")
        shown = {name: bound.get(name) or self._form(bot, name, steps[name]) for name in steps}
        return self._set_up_page(request, bot, shown)

    @xframe_options_sameorigin
    def look(self, request: HttpRequest, bot_id: int) -> HttpResponse:
        """The preview beside the form of the look: the widget's style with the form's values."""
        bot = self.row(request, bot_id)
        return self.page(request, "admin/bots/look.html", "Look", bot=bot)

    @admin.action(description="Disable", permissions=["manage"])
    @confirm_action(
        "Disable these bots? People answer their chats then, until they are enabled again."
    )
    def disable(self, request: HttpRequest, rows: QuerySet[models.Bot]) -> None:
        by = viewer(request)
        each(request, rows, lambda bot: bots.toggle_disabled(bot, is_disabled=True, by=by))

    @admin.action(description="Enable", permissions=["manage"])
    def enable(self, request: HttpRequest, rows: QuerySet[models.Bot]) -> None:
        by = viewer(request)
        each(request, rows, lambda bot: bots.toggle_disabled(bot, is_disabled=False, by=by))

    @admin.action(description="Delete", permissions=["manage"])
    @confirm_action(
        "Delete these bots with their documents, and revoke their keys? Nobody can undo it."
    )
    def delete_bots(self, request: HttpRequest, rows: QuerySet[models.Bot]) -> None:
        each(request, rows, lambda bot: bots.delete(bot, by=viewer(request)))

    def _form(
        self, bot: models.Bot, name: str, step: forms.Step, request: HttpRequest | None = None
    ) -> Any:
        """The form of a step, bound to the request if there is one."""
        prompt = prompt_versions.find_current(bot.pk) if name == "prompt" else None
        initial = {
            "allowed_domain": bot.allowed_domain,
            "hold_back_worse": bot.hold_back_worse,
            "content": prompt.content if prompt else "",
            **forms.look_of(bot),
        }
        sent = (request.POST, request.FILES) if request else ()
        return step.form(*sent, initial=initial, auto_id=f"{name}_%s")

    def _set_up_page(
        self, request: HttpRequest, bot: models.Bot, shown: dict[str, Any]
    ) -> HttpResponse:
        written = models.Document.objects.filter(bot=bot, web_url=None).order_by("-id")
        pages = web_urls.list_for_bot(bot).order_by("-id")
        sources: list[Any] = [*pages, *written[:_SOURCES_SHOWN]]
        held = list(publish_gate.held().filter(bot=bot).only("web_url"))
        waiting = {models.DocumentStatus.QUEUED, models.DocumentStatus.TRAINING}
        keys = ApiKey.objects.filter(bot_id=bot.pk, scope=KeyScope.PUBLIC, revoked_at=None)
        keys = keys.exclude(expires_at__lte=timezone.now())
        return self.page(
            request, "admin/bots/set_up.html", f"Set up {bot.bot_name}",
            bot=bot,
            teach=[
                (name, step, shown[name])
                for name, step in {**forms.TEACH, "hold": forms.SHOW["hold"]}.items()
                if name in shown
            ],
            look=shown.get("look"),
            has_docs=settings.API_DOCS,
            hosts=shown.get("hosts"),
            key_form=shown.get("key"),
            sources=[(_source_name(row), *_source_state(row, held)) for row in sources],
            is_busy=any(row.status in waiting for row in sources)
            or any(row.run_outcome != models.GoldenOutcome.HELD for row in held),
            done=[message.extra_tags for message in messages.get_messages(request)],
            may_try=viewer(request).client_id is not None,
            is_trained=any(_is_known(row) for row in sources),
            loader=request.build_absolute_uri("/widget/v1/loader.js"),
            key=keys.order_by("-id").first(),
        )  # fmt: skip


def _source_name(row: models.Document | models.WebUrl) -> str:
    return row.url if isinstance(row, models.WebUrl) else row.title or row.file_name


def _source_state(
    row: models.Document | models.WebUrl, held: list[Any]
) -> tuple[str, str, SafeString | str]:
    """The state of a source, its colour and a sentence; `held`: the documents held back.

    A web address shows the state of its first crawled page that is held back.
    """
    is_page = isinstance(row, models.WebUrl)
    own = [item for item in held if row.pk == (item.web_url_id if is_page else item.pk)]
    if not own:
        return row.get_status_display(), COLORS[row.status], _source_words(row)
    is_held = own[0].run_outcome == models.GoldenOutcome.HELD
    state, color = (gettext("Held back"), "danger") if is_held else (gettext("On trial"), "info")
    return state, color, format_html("{} · {}", _source_words(row), _held_words(own[0]))


def _held_words(document: Any) -> SafeString:
    """Whether a document is held back or still being tested, with a link to its golden run."""
    is_held = document.run_outcome == models.GoldenOutcome.HELD
    return format_html(
        '<a class="underline" href="{}">{}</a>',
        reverse("admin:bots_goldenrun_change", args=[document.run_id]),
        gettext("Held back by its golden run")
        if is_held
        else gettext("Being tried by its golden run"),
    )


def _source_words(row: models.Document | models.WebUrl) -> str:
    """The result or the progress of a source's training, in words."""
    if row.status == models.DocumentStatus.FAILED:
        return row.error_message or humanize_code(row.error_code)
    if row.status != models.DocumentStatus.TRAINED:
        return _stage_words(row) if isinstance(row, models.Document) else f"{row.progress} %"
    if isinstance(row, models.WebUrl):
        return _page_words(row)
    passages = "1 passage" if row.chunk_count == 1 else f"{row.chunk_count} passages"
    return f"{passages}. {row.warning}" if row.warning else passages


def _is_known(row: models.Document | models.WebUrl) -> bool:
    """Whether the bot answers from a source."""
    if isinstance(row, models.WebUrl):
        return row.status == models.DocumentStatus.TRAINED
    return row.is_answering


# Stages of training in words; the bot answers from a document from the third stage on.
_STAGES = {
    models.DocumentStage.WAITING: gettext_lazy("waits for its turn"),
    models.DocumentStage.READING: gettext_lazy("is being read"),
    models.DocumentStage.PASSAGES: gettext_lazy("answers by its words; finer search is being made"),
    models.DocumentStage.SENTENCES: gettext_lazy("answers; finer quotes are being made"),
    models.DocumentStage.COMPLETE: gettext_lazy("complete"),
}
_LONG = timedelta(minutes=2)


def _stage_words(row: models.Document) -> str:
    """The progress of a document's training, with the minutes so far if it takes long."""
    words = f"{_STAGES[models.DocumentStage(row.stage)]} ({row.progress} %)"
    took = timezone.now() - row.started_at if row.started_at else timedelta(0)
    is_running = row.status == models.DocumentStatus.TRAINING
    if not is_running or took < _LONG:
        return words
    minutes = int(took.total_seconds() // 60)
    long = gettext("a long document: %(minutes)s minutes so far") % {"minutes": minutes}
    return f"{words}, {long}"


def _page_words(web_url: models.WebUrl) -> str:
    counts = {name: getattr(web_url, f"{name}_pages") for name in PageCounts.model_fields}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "–"


@admin.register(models.Prompt)
class PromptAdmin(TenantAdmin):
    list_display = ("bot", "version", "is_current", "language", "model", "created_by", "created_at")
    list_filter = ("is_current",)
    search_fields = ("content", "bot__bot_name")
    list_select_related = ("bot", "created_by")
    actions = ("restore",)

    @admin.action(description="Make current again", permissions=["train"])
    @confirm_action("Make these versions current again? Each is stored as a new version.")
    def restore(self, request: HttpRequest, rows: QuerySet[models.Prompt]) -> None:
        by = viewer(request)
        each(
            request, rows, lambda row: prompt_versions.restore(row.bot, version=row.version, by=by)
        )


@admin.register(models.Document)
class DocumentAdmin(TrainedAdmin):
    list_display = (
        "file_name", "bot", "shown_status", "shown_progress", "chunk_count", "is_important",
        "valid_to", "shown_problem", "created_at",
    )  # fmt: skip
    list_filter = ("status", "pending_review", "is_important", "language")
    more_columns = ("title", "language", "size_bytes", "valid_from")
    labels: ClassVar = {"chunk_count": "Passages", "sha256": "Fingerprint (SHA-256)"}
    search_fields = ("file_name", "title", "sha256", "bot__bot_name")
    list_select_related = ("bot",)
    # The media store has no URLs: `original` links to the view below.
    exclude = ("file", "pending_review")
    readonly_fields = ("golden_run", "original")
    actions = ("train_again", "delete_documents")
    actions_detail: Any = ("delete_document",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return publish_gate.with_run(super().get_queryset(request), document="pk")

    @display(description="Progress", ordering="progress")
    def shown_progress(self, row: Any) -> str:
        if row.status == models.DocumentStatus.TRAINING:
            return _stage_words(row)
        if row.run_id:
            return _held_words(row)
        return str(super().shown_progress(row))

    @display(description="Problem")
    def shown_problem(self, row: models.Document) -> str:
        return self.shown_error(row) if row.error_code else row.warning

    @display(description=cast("str", gettext_lazy("Golden run")))
    def golden_run(self, row: Any) -> SafeString | str:
        """The golden run that decides about the document, if it is held back."""
        return _held_words(row) if row.run_id else "–"

    @display(description="Original")
    def original(self, row: models.Document) -> str:
        link = reverse("admin:bots_document_original", args=[row.pk])
        return format_html('<a class="underline" href="{}">Download</a>', link)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.download)
        own = path("<int:document_id>/original/", view, name="bots_document_original")
        return [own, *super().get_urls()]

    def download(self, request: HttpRequest, document_id: int) -> HttpResponseBase:
        """The original document; 404 for another client's."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = get_object_or_404(self.get_queryset(request), pk=document_id)
        try:
            return documents.original_response(row)
        except documents.FileMissing as exc:
            messages.error(request, str(exc))
            return redirect("admin:bots_document_change", row.pk)

    @admin.action(description="Train again", permissions=["train"])
    def train_again(self, request: HttpRequest, rows: QuerySet[models.Document]) -> None:
        queued = sum(documents.retrain(row) for row in rows)
        skipped = rows.count() - queued
        messages.success(request, f"{queued} queued; {skipped} are waiting or in training already.")

    @admin.action(description="Delete", permissions=["train"])
    @confirm_action("Delete these documents, and all that bots know from them? Nobody can undo it.")
    def delete_documents(self, request: HttpRequest, rows: QuerySet[models.Document]) -> None:
        by = viewer(request)
        each(request, rows, lambda row: documents.delete(row.bot, document_id=row.pk, by=by))

    @button("Delete", url_path="remove", permissions=["train"], icon="delete")
    def delete_document(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Delete this document, after a confirmation."""
        row: models.Document = self.row(request, object_id)

        def act(data: dict[str, Any]) -> HttpResponse:
            documents.delete(row.bot, document_id=row.pk, by=viewer(request))
            messages.success(request, f"{row} is deleted.")
            return redirect("admin:bots_document_changelist")

        return self.form_page(
            request, ServiceForm(request.POST if request.method == "POST" else None), act,
            title=f"Delete {row}?",
            button="Delete",
            intro="All that bots know from it is gone with it. Nobody can undo it.",
        )  # fmt: skip


@admin.register(models.Chunk)
class ChunkAdmin(TenantAdmin):
    list_display = ("document", "position", "heading", "page", "language", "opening")
    search_fields = ("text", "heading", "document__file_name")
    list_select_related = ("document",)
    # The vectors are binary.
    exclude = ("vector", "sentence_vectors")

    @display(description="Text")
    def opening(self, chunk: models.Chunk) -> str:
        return chunk.text[:120]


class PagesOfWebUrl(ReadOnlyInline):
    """The crawled pages of the latest crawl."""

    model = models.WebPage
    fields = readonly_fields = ("url", "shown_status", "shown_reason", "http_status", "fetched_at")
    show_change_link = False
    verbose_name_plural = "Pages of the latest crawl"

    @display(description="Status")
    def shown_status(self, page: models.WebPage) -> str:
        return humanize_code(page.shown_status)  # type: ignore[attr-defined]

    @display(description="Reason")
    def shown_reason(self, page: models.WebPage) -> str:
        return humanize_code(page.shown_reason)  # type: ignore[attr-defined]

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.WebPage]:
        return web_urls.with_shown_status(super().get_queryset(request))


@admin.register(models.WebUrl)
class WebUrlAdmin(TrainedAdmin):
    list_display = (
        "url", "bot", "crawl_depth", "shown_status", "shown_progress", "shown_pages",
        "shown_error", "last_fetched_at", "next_fetch_at",
    )  # fmt: skip
    list_filter = ("status", "crawl_depth")
    search_fields = ("url", "bot__bot_name")
    list_select_related = ("bot",)
    actions = ("crawl_now", "delete_addresses")
    inlines = (PagesOfWebUrl,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.WebUrl]:
        return web_urls.with_page_counts(super().get_queryset(request))

    @display(description="Pages")
    def shown_pages(self, web_url: models.WebUrl) -> str:
        return _page_words(web_url)

    @admin.action(description="Crawl now", permissions=["train"])
    def crawl_now(self, request: HttpRequest, rows: QuerySet[models.WebUrl]) -> None:
        queued = sum(web_urls.crawl_again(row) for row in rows)
        skipped = len(rows) - queued
        messages.success(request, f"{queued} queued; {skipped} are waiting or crawled already.")

    @admin.action(description="Delete", permissions=["train"])
    @confirm_action("Delete these addresses, and all that bots know from their pages?")
    def delete_addresses(self, request: HttpRequest, rows: QuerySet[models.WebUrl]) -> None:
        by = viewer(request)
        each(request, rows, lambda row: web_urls.delete(row.bot, web_url_id=row.pk, by=by))
