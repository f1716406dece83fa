"""Bots and their training in the admin."""

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from unfold.decorators import display

from bots import models
from bots.services import documents, web_urls
from bots.shapes.web_url import PageCounts
from chatplatform.admin import ReadOnlyInline, TenantAdmin, in_use, say

COLORS: dict[str, str] = {
    models.DocumentStatus.QUEUED: "info",
    models.DocumentStatus.TRAINING: "warning",
    models.DocumentStatus.TRAINED: "success",
    models.DocumentStatus.FAILED: "danger",
}

CALL_COLORS: dict[str, str] = {
    models.CallStatus.WAITING: "warning",
    models.CallStatus.RUNNING: "info",
    models.CallStatus.SUCCEEDED: "success",
    models.CallStatus.FAILED: "danger",
    models.CallStatus.REFUSED: "danger",
    models.CallStatus.REJECTED: "warning",
}


class TrainedAdmin(TenantAdmin):
    """The columns of rows whose training has a status, a progress and an error."""

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
        return row.error_message or say(row.error_code)


class SampleQuestionInline(ReadOnlyInline):
    """Changed by the API only, which checks duplicates and languages."""

    model = models.SampleQuestion
    fields = ("position", "question", "language")
    ordering = ("position", "id")


@admin.register(models.Bot)
class BotAdmin(TenantAdmin):
    """Changed by the API only, which checks hosts, languages and limits."""

    list_display = (
        "bot_name", "client", "default_language", in_use, "agent_reply", "created_at",
    )  # fmt: skip
    list_filter = ("is_disabled", "agent_reply", "default_language")
    search_fields = ("bot_name", "description", "client__name")
    list_select_related = ("client",)
    inlines = (SampleQuestionInline,)
    fields = (
        "client", "bot_name", "description", "bot_icon", "primary_color", "secondary_color",
        "allowed_domain", "default_language", "languages", "style", "welcome_message", "terms",
        "bot_question", "engaging_message", "attach_enabled", "export_enabled",
        "auto_pop_up", "is_fullscreen", "is_visible", "allow_preview",
        "agent_reply", "delete_available", "is_disabled", "business_hours", "holidays",
        "customer_info_fields", "banner_link", "banner_alt", "banner_valid_from",
        "banner_valid_to", "knowledge_version", "created_at", "updated_at",
    )  # fmt: skip


@admin.register(models.Prompt)
class PromptAdmin(TenantAdmin):
    list_display = ("bot", "version", "is_current", "language", "model", "created_by", "created_at")
    list_filter = ("is_current",)
    search_fields = ("content", "bot__bot_name")
    list_select_related = ("bot", "created_by")


@admin.register(models.Document)
class DocumentAdmin(TrainedAdmin):
    list_display = (
        "file_name", "bot", "shown_status", "shown_progress", "chunk_count", "is_important",
        "valid_to", "shown_error", "created_at",
    )  # fmt: skip
    list_filter = ("status", "is_important", "language")
    search_fields = ("file_name", "title", "sha256", "bot__bot_name")
    list_select_related = ("bot",)
    # The store has no addresses of its own: the link leads to the view below.
    exclude = ("file",)
    readonly_fields = ("original",)
    actions = ("train_again",)

    @display(description="Original")
    def original(self, row: models.Document) -> str:
        link = reverse("admin:bots_document_original", args=[row.pk])
        return format_html('<a class="underline" href="{}">Download</a>', link)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.download)
        own = path("<int:document_id>/original/", view, name="bots_document_original")
        return [own, *super().get_urls()]

    def download(self, request: HttpRequest, document_id: int) -> HttpResponseBase:
        """The document as it came; another client's is not found."""
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


@admin.register(models.Chunk)
class ChunkAdmin(TenantAdmin):
    list_display = ("document", "position", "heading", "page", "language", "opening")
    search_fields = ("text", "heading", "document__file_name")
    list_select_related = ("document",)
    # Vectors are bytes that nobody can read.
    exclude = ("vector", "sentence_vectors")

    @display(description="Text")
    def opening(self, chunk: models.Chunk) -> str:
        return chunk.text[:120]


class PagesOfWebUrl(ReadOnlyInline):
    """The pages of the latest crawl."""

    model = models.WebPage
    fields = readonly_fields = ("url", "shown_status", "shown_reason", "http_status", "fetched_at")
    show_change_link = False
    verbose_name_plural = "Pages of the latest crawl"

    @display(description="Status")
    def shown_status(self, page: models.WebPage) -> str:
        return say(page.shown_status)  # type: ignore[attr-defined]

    @display(description="Reason")
    def shown_reason(self, page: models.WebPage) -> str:
        return say(page.shown_reason)  # type: ignore[attr-defined]

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
    actions = ("crawl_now",)
    inlines = (PagesOfWebUrl,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.WebUrl]:
        return web_urls.with_page_counts(super().get_queryset(request))

    @display(description="Pages")
    def shown_pages(self, web_url: models.WebUrl) -> str:
        counts = {name: getattr(web_url, f"{name}_pages") for name in PageCounts.model_fields}
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "–"

    @admin.action(description="Crawl now", permissions=["train"])
    def crawl_now(self, request: HttpRequest, rows: QuerySet[models.WebUrl]) -> None:
        queued = sum(web_urls.crawl_again(row) for row in rows)
        skipped = len(rows) - queued
        messages.success(request, f"{queued} queued; {skipped} are waiting or crawled already.")


@admin.register(models.FunctionCalling)
class FunctionCallingAdmin(TenantAdmin):
    list_display = ("bot", "is_enabled", "max_calls_per_reply", "updated_at")
    list_filter = ("is_enabled",)
    search_fields = ("bot__bot_name", "client__name")
    list_select_related = ("bot",)


@admin.register(models.Function)
class FunctionAdmin(TenantAdmin):
    """Changed by the API only, which checks addresses, schemas and templates."""

    list_display = ("name", "bot", "method", "url", "requires_approval")
    list_filter = ("method", "requires_approval")
    search_fields = ("name", "url", "bot__bot_name", "client__name")
    list_select_related = ("bot",)
    # Secrets are not shown.
    exclude = ("secret_headers",)


@admin.register(models.FunctionCall)
class FunctionCallAdmin(TenantAdmin):
    """The log of the calls that bots requested."""

    list_display = (
        "function_name", "bot", "shown_status", "http_status", "duration_ms", "requires_approval",
        "decided_by", "error", "created_at",
    )  # fmt: skip
    list_filter = ("status", "requires_approval", "http_status", "created_at")
    search_fields = ("function_name", "bot__bot_name", "conversation_id", "message_id")
    list_select_related = ("bot", "decided_by")
    exclude = ("fingerprint",)
    codes = frozenset({"error"})

    @display(description="Status", ordering="status", label=CALL_COLORS)
    def shown_status(self, call: models.FunctionCall) -> tuple[str, str]:
        return call.status, call.get_status_display()
