"""Admin pages for bots, their instructions and their content."""

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.clickjacking import xframe_options_sameorigin

from bots import forms, models
from bots.pages import functions, language_models, mcp_servers
from bots.pages.bot import content, install, settings, states
from bots.schemas.bot import BotDto
from bots.services import bots, documents, prompt_versions, publish_gate, web_urls
from bots.services.website_keys import create_bot
from chatplatform.admin_base import (
    ReadOnlyInline,
    TenantAdmin,
    button,
    column,
    confirm_action,
    in_use,
    link,
    run_each,
    viewer,
)
from chatplatform.admin_lists import AdminChangeList
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.form_fields import language_name
from chatplatform.templatetags.codes import (
    error_text,
    humanize_code,
    stored_text,
    translated_label,
)
from identity.forms import DEFAULT_DAILY_CREDITS

# Imported because they register their own admin pages.
__all__ = ["functions", "language_models", "mcp_servers"]


class TrainedAdmin(TenantAdmin):
    """The columns that the lists of documents and websites share: status, progress and error."""

    codes = frozenset({"error_code"})
    # The service that reads a row again; it returns False if the row is already being read.
    read_again: ClassVar[Any]

    @column(gettext_lazy("Status"), ordering="status", label=states.COLORS)
    def shown_status(self, row: models.Document | models.WebUrl) -> tuple[str, str]:
        return row.status, translated_label(row.get_status_display())

    @column(gettext_lazy("Progress"), ordering="progress")
    def shown_progress(self, row: models.Document | models.WebUrl) -> str:
        return format_html(
            '<progress value="{}" max="100" aria-label="{}"></progress> {}%',
            row.progress,
            gettext("Progress"),
            row.progress,
        )

    @column(gettext_lazy("Error"))
    def shown_error(self, row: models.Document | models.WebUrl) -> str:
        return error_text(row.error_message, row.error_code)

    @admin.action(description=gettext_lazy("Refresh"), permissions=["train"])
    def refresh(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        is_queued = [self.read_again(row) for row in rows]
        queued, skipped = is_queued.count(True), is_queued.count(False)
        text = ngettext("Refreshing %(count)s item.", "Refreshing %(count)s items.", queued)
        messages.success(request, text % {"count": queued})
        if skipped:
            text = ngettext(
                "Skipped %(count)s item that the bot is already reading.",
                "Skipped %(count)s items that the bot is already reading.",
                skipped,
            )
            messages.info(request, text % {"count": skipped})


class SampleQuestionInline(ReadOnlyInline):
    """Read-only because only the bot's pages and the API check languages and duplicates."""

    model = models.SampleQuestion
    fields = ("position", "question", "language")
    ordering = ("position", "id")


class BotChangeList(AdminChangeList):
    """The list of bots; each row links to the bot's content."""

    def url_for_result(self, result: Any) -> str:
        return reverse("admin:bots_bot_content", args=[result.pk])


@admin.register(models.Bot)
class BotAdmin(TenantAdmin):
    """Bots. A bot's own pages change it through services, which check hosts, languages and limits;
    the page with all columns is read-only."""

    actions = ("disable", "enable", "delete_bots")
    actions_list = ("new_bot",)
    actions_detail = ("open",)
    list_display = (
        "bot_name", "client", "main_language", in_use, "answers", "created_at",
    )  # fmt: skip
    list_filter = ("is_disabled", "agent_reply", "default_language")
    search_fields = ("bot_name", "description", "client__name")
    list_select_related = ("client",)
    inlines = (SampleQuestionInline,)
    labels: ClassVar = {"allowed_domain": gettext_lazy("Allowed websites")}
    fields = (
        "client", "bot_name", "description", "avatar", "primary_color", "secondary_color",
        "allowed_domain", "default_language", "languages", "style", "welcome_message", "terms",
        "bot_question", "engaging_message", "engaging_seconds", "engaging_pages",
        "engaging_visitors", "attach_enabled", "export_enabled", "mail_answers",
        "auto_pop_up", "is_fullscreen", "is_visible", "allow_preview", "hold_back_worse",
        "agent_reply", "delete_available", "is_disabled", "business_hours", "holidays",
        "customer_info_fields", "banner_link", "banner_alt", "banner_valid_from",
        "banner_valid_to", "knowledge_version", "created_at", "updated_at",
    )  # fmt: skip
    readonly_fields = ("avatar",)

    @column(gettext_lazy("Language"), ordering="default_language")
    def main_language(self, row: models.Bot) -> str:
        return language_name(row.default_language)

    @column(gettext_lazy("Answers"), ordering="agent_reply")
    def answers(self, row: models.Bot) -> str:
        return gettext("Your team") if row.agent_reply else gettext("The bot")

    @column(gettext_lazy("Avatar URL"))
    def avatar(self, bot: models.Bot) -> SafeString | str:
        """A link to the avatar's current URL, which may differ from its URL at upload time; a dash
        if the bot has no avatar."""
        url = bot.picture_url
        return format_html('<a class="underline" href="{}">{}</a>', url, url) if url else "–"

    def get_urls(self) -> list[URLPattern]:
        """The URLs of the bots' own pages, and the admin's usual URLs."""
        pages: dict[str, tuple[str, Callable[..., HttpResponse]]] = {
            "content": ("content/", content.overview),
            "add_content": ("content/add/<slug:way>/", calls_out(content.add)),
            "document": ("content/<int:document_id>/", content.document),
            "delete_document": ("content/<int:document_id>/delete/", content.delete_document),
            "website": ("content/website/<int:web_url_id>/", calls_out(content.website)),
            "delete_website": ("content/website/<int:web_url_id>/delete/", content.delete_website),
            "look": ("look/", calls_out(settings.look)),
            "behaviour": ("behaviour/", settings.behaviour),
            "install": ("install/", install.overview),
            "identity_secret": ("install/secret/", install.identity_secret),
            "quality": ("quality/", settings.quality),
            "preview": ("preview/", xframe_options_sameorigin(settings.preview)),
        }
        urls = [
            path(f"<int:bot_id>/{rest}", self._of_bot(view), name=f"bots_bot_{name}")
            for name, (rest, view) in pages.items()
        ]
        return [*urls, *super().get_urls()]

    def _of_bot(self, view: Callable[..., HttpResponse]) -> Any:
        """Wrap `view` so that it gets the bot instead of its id; 404 for a bot that the viewer may
        not see."""

        @functools.wraps(view)
        def serve(request: HttpRequest, bot_id: int, **ids: Any) -> HttpResponse:
            if not self.has_view_permission(request):
                raise PermissionDenied
            bot = self.row(request, bot_id)
            return view(self, request, bot, **ids)

        return self.admin_site.admin_view(serve)

    @button(gettext_lazy("New bot"), permissions=["create"], icon="add")
    def new_bot(self, request: HttpRequest) -> HttpResponse:
        """Create a bot from its name and continue with its content."""
        by = viewer(request)

        def act(data: dict[str, Any]) -> HttpResponse:
            bot = create_bot(
                by.client, body=BotDto(**data), daily_credits=DEFAULT_DAILY_CREDITS, by=by
            )
            return redirect("admin:bots_bot_content", bot.id)

        form = forms.NewBotForm(request.POST or None)
        return self.form_page(
            request, form, act, title=gettext("New bot"), button=gettext("Create bot")
        )

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return BotChangeList

    @button(gettext_lazy("Open"), url_path="open", permissions=["view"], icon="tune")
    def open(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Redirect from the page with all columns to the bot's own pages."""
        return redirect("admin:bots_bot_content", self.row(request, object_id).pk)

    @admin.action(description=gettext_lazy("Disable"), permissions=["manage"])
    @confirm_action(
        gettext_lazy(
            "Disable these bots? Your team will answer their conversations until you enable them"
            " again."
        )
    )
    def disable(self, request: HttpRequest, rows: QuerySet[models.Bot]) -> None:
        by = viewer(request)
        run_each(request, rows, lambda bot: bots.set_disabled(bot, is_disabled=True, by=by))

    @admin.action(description=gettext_lazy("Enable"), permissions=["manage"])
    def enable(self, request: HttpRequest, rows: QuerySet[models.Bot]) -> None:
        by = viewer(request)
        run_each(request, rows, lambda bot: bots.set_disabled(bot, is_disabled=False, by=by))

    @admin.action(description=gettext_lazy("Delete"), permissions=["manage"])
    @confirm_action(
        gettext_lazy(
            "Delete these bots and their documents, and revoke their keys? This can't be undone."
        )
    )
    def delete_bots(self, request: HttpRequest, rows: QuerySet[models.Bot]) -> None:
        run_each(request, rows, lambda bot: bots.delete(bot, by=viewer(request)))


@admin.register(models.Prompt)
class PromptAdmin(TenantAdmin):
    list_display = ("bot", "version", "is_current", "language", "model", "created_by", "created_at")
    list_filter = ("is_current",)
    search_fields = ("content", "bot__bot_name")
    list_select_related = ("bot", "created_by")
    actions = ("restore",)

    @admin.action(description=gettext_lazy("Restore"), permissions=["train"])
    @confirm_action(gettext_lazy("Restore these versions? Each will be saved as a new version."))
    def restore(self, request: HttpRequest, rows: QuerySet[models.Prompt]) -> None:
        by = viewer(request)
        run_each(
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
    labels: ClassVar = {
        "chunk_count": gettext_lazy("Passages"),
        "sha256": gettext_lazy("Fingerprint (SHA-256)"),
    }
    search_fields = ("file_name", "title", "sha256", "bot__bot_name")
    list_select_related = ("bot",)
    # Stored files have no public URL: `original` links to the view below.
    exclude = ("file", "pending_review", "draft", "draft_file")
    readonly_fields = ("golden_run", "original")
    actions = ("refresh", "delete_documents")
    read_again = staticmethod(documents.retrain)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return publish_gate.with_run(super().get_queryset(request), document="pk")

    @column(gettext_lazy("Progress"), ordering="progress")
    def shown_progress(self, row: Any) -> str:
        if row.status == models.DocumentStatus.TRAINING:
            return states.stage_text(row)
        if row.run_id:
            return states.held_text(row)
        return str(super().shown_progress(row))

    @column(gettext_lazy("Problem"))
    def shown_problem(self, row: models.Document) -> str:
        return self.shown_error(row) if row.error_code else stored_text(row.warning)

    @column(gettext_lazy("Test run"))
    def golden_run(self, row: Any) -> SafeString | str:
        """A link to the golden run that decides whether the document goes live; a dash if it is
        not held back."""
        return states.held_text(row) if row.run_id else "–"

    @column(gettext_lazy("Original"))
    def original(self, row: models.Document) -> str:
        return link("admin:bots_document_original", row.pk, gettext("Download"))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.download)
        url = path("<int:document_id>/original/", view, name="bots_document_original")
        return [url, *super().get_urls()]

    def download(self, request: HttpRequest, document_id: int) -> HttpResponseBase:
        """Download the original file; 404 if the document belongs to another client."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = get_object_or_404(self.get_queryset(request), pk=document_id)
        try:
            return documents.original_response(row)
        except documents.FileMissing as exc:
            messages.error(request, gettext(str(exc)))
            return redirect("admin:bots_document_change", row.pk)

    @admin.action(description=gettext_lazy("Delete"), permissions=["train"])
    @confirm_action(
        gettext_lazy(
            "Delete these documents and everything bots learned from them? This can't be undone."
        )
    )
    def delete_documents(self, request: HttpRequest, rows: QuerySet[models.Document]) -> None:
        by = viewer(request)
        run_each(request, rows, lambda row: documents.delete(row.bot, document_id=row.pk, by=by))


@admin.register(models.Chunk)
class ChunkAdmin(TenantAdmin):
    list_display = ("document", "position", "heading", "page", "language", "opening")
    search_fields = ("text", "heading", "document__file_name")
    list_select_related = ("document",)
    # The vectors are binary.
    exclude = ("vector", "sentence_vectors")

    @column(gettext_lazy("Text"))
    def opening(self, passage: models.Chunk) -> str:
        return passage.text[:120]


class PagesOfWebUrl(ReadOnlyInline):
    """The pages of a website's latest crawl."""

    model = models.WebPage
    fields = readonly_fields = ("url", "shown_status", "shown_reason", "http_status", "fetched_at")
    show_change_link = False
    verbose_name_plural = gettext_lazy("Pages from the latest crawl")

    @column(gettext_lazy("Status"))
    def shown_status(self, page: models.WebPage) -> str:
        return humanize_code(page.shown_status)  # type: ignore[attr-defined]

    @column(gettext_lazy("Reason"))
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
    actions = ("refresh", "delete_addresses")
    read_again = staticmethod(web_urls.crawl_again)
    inlines = (PagesOfWebUrl,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.WebUrl]:
        return web_urls.with_page_counts(super().get_queryset(request))

    @column(gettext_lazy("Pages"))
    def shown_pages(self, web_url: models.WebUrl) -> str:
        return states.crawl_text(web_url)

    @admin.action(description=gettext_lazy("Delete"), permissions=["train"])
    @confirm_action(
        gettext_lazy("Delete these websites and everything bots learned from their pages?")
    )
    def delete_addresses(self, request: HttpRequest, rows: QuerySet[models.WebUrl]) -> None:
        by = viewer(request)
        run_each(request, rows, lambda row: web_urls.delete(row.bot, web_url_id=row.pk, by=by))
