"""Create, change and delete a bot's websites, and queue their crawls."""

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case, CharField, Count, Prefetch, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy, gettext_noop

from bots.ingest import url_normalization
from bots.models import Bot, Document, DocumentStatus, PageStatus, WebPage, WebUrl, WebUrlStatus
from bots.schemas.web_url import MAX_SHOWN_PAGES, WebUrlDto
from bots.services import bots
from chatplatform import media
from chatplatform.api.errors import (
    ApiError,
    Invalid,
    NotFound,
    first_or_404,
    require_address,
    require_fields,
)
from chatplatform.jobs import enqueue
from chatplatform.models import Job, JobState
from identity.models import User
from identity.services import audit

MAX_WEB_URLS = 50
FINISHED = (WebUrlStatus.TRAINED, WebUrlStatus.FAILED)
# The maximum number of websites that one run of `crawl_due` queues; the next run queues the rest.
MAX_DUE = 500


class WebUrlLimit(ApiError):
    code, status = "web_url_limit", 409
    detail = format_lazy(
        gettext_lazy("A bot can have up to {count} websites. Delete one first."),
        count=MAX_WEB_URLS,
    )


class WebUrlExists(ApiError):
    code, status = "web_url_exists", 409
    detail = gettext_noop("The bot already has this address. Edit the existing one.")


def _status_conditions(page: str = "") -> dict[str, Q]:
    """The condition for each status that is shown; `page` is the lookup path to a crawled page."""
    stored = Q(**{f"{page}status__in": [PageStatus.TRAINED, PageStatus.UNCHANGED]})
    document = f"{page}document__status"
    waiting = [DocumentStatus.QUEUED, DocumentStatus.TRAINING]
    is_trained = Q(**{document: DocumentStatus.TRAINED})
    return {
        "training": stored & Q(**{f"{document}__in": waiting}),
        "trained": Q(**{f"{page}status": PageStatus.TRAINED}) & is_trained,
        "unchanged": Q(**{f"{page}status": PageStatus.UNCHANGED}) & is_trained,
        "refused": Q(**{f"{page}status": PageStatus.REFUSED}),
        "failed": Q(**{f"{page}status": PageStatus.FAILED})
        | stored & Q(**{document: DocumentStatus.FAILED}),
    }


def with_shown_status(pages: QuerySet[WebPage]) -> QuerySet[WebPage]:
    """Annotate crawled pages with `shown_status` and `shown_reason`, failed and refused first."""
    status = [When(condition, then=Value(name)) for name, condition in _status_conditions().items()]
    reason = When(reason="", document__status=DocumentStatus.FAILED, then="document__error_code")
    # Alphabetical order puts failed and refused before trained, training and unchanged.
    return pages.annotate(
        shown_status=Case(*status, default="status", output_field=CharField()),
        shown_reason=Case(reason, default="reason", output_field=CharField()),
    ).order_by("shown_status", "id")


def with_page_counts(rows: QuerySet[WebUrl]) -> QuerySet[WebUrl]:
    """Annotate websites with the number of their crawled pages in each status."""
    counts = {
        f"{name}_pages": Count("pages", filter=condition)
        for name, condition in _status_conditions("pages__").items()
    }
    return rows.annotate(**counts)


def with_pages(rows: QuerySet[WebUrl]) -> QuerySet[WebUrl]:
    """Websites with the pages and counts that `WebUrlDto.from_row` shows, in two queries."""
    pages = with_shown_status(WebPage.objects.all())[:MAX_SHOWN_PAGES]
    return with_page_counts(rows).prefetch_related(
        Prefetch("pages", queryset=pages, to_attr="shown_pages")
    )


def list_for_bot(bot: Bot) -> QuerySet[WebUrl]:
    """The bot's websites with their crawled pages, unordered."""
    return with_pages(WebUrl.objects.filter(bot=bot))


def create(bot: Bot, *, body: WebUrlDto, by: User | None) -> WebUrlDto:
    """Create a website and queue its crawl; 409 if the bot already has its URL or has reached the
    limit."""
    require_fields(body, "url")
    url = _normalized(body.url)
    with transaction.atomic():
        # The lock keeps concurrent requests within the limit.
        bots.lock(bot)
        existing = WebUrl.objects.filter(bot=bot)
        if existing.filter(url=url).exists():
            raise WebUrlExists
        if existing.count() >= MAX_WEB_URLS:
            raise WebUrlLimit
        row = WebUrl.objects.create(
            client_id=bot.client_id,
            bot=bot,
            url=url,
            crawl_depth=body.crawl_depth,
            refresh_hours=body.refresh_hours,
        )
        _enqueue(row)
        _record(row, "created", by=by, url=row.url)
    return describe(row)


def update(bot: Bot, *, web_url_id: int, body: WebUrlDto, by: User) -> WebUrlDto:
    """Change the fields that the request sets; a new URL or depth starts a crawl at once."""
    changes: dict[str, Any] = body.model_dump(
        include={"url", "crawl_depth", "refresh_hours"} & body.model_fields_set
    )
    if "url" in changes:
        # Resolve the host name before locking, since that may take seconds.
        if not WebUrl.objects.filter(bot=bot, pk=web_url_id).exists():
            raise NotFound
        changes["url"] = _normalized(body.url)
    with transaction.atomic():
        rows = WebUrl.objects.select_for_update(no_key=True).filter(bot=bot, pk=web_url_id)
        row = first_or_404(rows)
        if "url" in changes and WebUrl.objects.filter(bot=bot, url=changes["url"]).exclude(
            pk=row.pk
        ):
            raise WebUrlExists
        scope = {"url": row.url, "crawl_depth": row.crawl_depth}
        scope_changed = any(changes.get(name, value) != value for name, value in scope.items())
        fields = sorted(name for name, value in changes.items() if getattr(row, name) != value)
        _apply(row, changes)
        if fields:
            _record(row, "updated", by=by, fields=fields)
        if scope_changed:
            crawl_again(row, even_if_busy=True)
    return describe(row)


def _apply(row: WebUrl, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(row, name, value)
    if row.status in FINISHED and "refresh_hours" in changes:
        row.next_fetch_at = next_fetch(row)
        changes = {**changes, "next_fetch_at": row.next_fetch_at}
    try:
        with transaction.atomic():
            row.save(update_fields=list(changes))
    except IntegrityError as exc:  # A concurrent request stored the same URL.
        raise WebUrlExists from exc


def describe(row: WebUrl) -> WebUrlDto:
    """A website as a `WebUrlDto`; 404 if it was deleted in the meantime."""
    return WebUrlDto.from_row(first_or_404(with_pages(WebUrl.objects.filter(pk=row.pk))))


def crawl_again(row: WebUrl, *, even_if_busy: bool = False) -> bool:
    """Queue a crawl, and return whether it was queued.

    It is not queued if another crawl is queued or running, unless `even_if_busy` is set.
    """
    with transaction.atomic():
        rows = WebUrl.objects.filter(pk=row.pk)
        if not even_if_busy:
            rows = rows.filter(status__in=FINISHED)
        queued = rows.update(
            status=WebUrlStatus.QUEUED,
            progress=0,
            error_code="",
            error_message="",
            next_fetch_at=None,
        )
        if queued:
            _enqueue(row)
    return bool(queued)


def crawl_due() -> int:
    """Queue the websites that are due and return their number. If it runs twice, no website is
    queued twice."""
    due = WebUrl.objects.filter(next_fetch_at__lte=timezone.now(), status__in=FINISHED)
    return sum(crawl_again(row) for row in due.order_by("next_fetch_at")[:MAX_DUE])


def next_fetch(row: WebUrl, *, after: datetime | None = None) -> datetime | None:
    """When the next automatic crawl of a website is due; None if the website has none."""
    if row.refresh_hours is None:
        return None
    return (after or row.last_fetched_at or timezone.now()) + timedelta(hours=row.refresh_hours)


def delete(bot: Bot, *, web_url_id: int, by: User) -> None:
    """Delete a website with its pages and their documents; a running crawl stops."""
    with transaction.atomic():
        # Lock the bot, then the website, in the same order as crawls.
        bots.lock(bot)
        row = first_or_404(WebUrl.objects.select_for_update().filter(bot=bot, pk=web_url_id))
        documents = Document.objects.filter(web_url=row)
        count, names = documents.count(), bots.file_names(documents)
        _record(row, "deleted", by=by, url=row.url, documents=count)
        row.delete()
        if count:
            bots.bump_knowledge_version(bot.pk)
        media.remove_later(bot.client_id, names)


def _normalized(url: str) -> str:
    """The normalized URL; 422 if the URL is invalid or not allowed."""
    require_address(url, "url", purpose="crawl")
    normalized = url_normalization.normalized(url)
    if normalized is None:
        raise Invalid.field("body", "url", msg=gettext_noop("Must be an http or https address."))
    return normalized


def is_crawl_queued(row: WebUrl) -> bool:
    """Whether a crawl job of the website is queued; a running job does not count."""
    return Job.objects.filter(
        name="bots.crawl_web_url", dedupe_key=f"web_url:{row.pk}", state=JobState.QUEUED
    ).exists()


def _record(row: WebUrl, action: str, *, by: User | None, **changes: Any) -> None:
    audit.record(
        row.client_id, f"web_url.{action}", by=by, subject=f"web_url:{row.pk}", changes=changes
    )


def _enqueue(row: WebUrl) -> None:
    enqueue(
        "bots.crawl_web_url",
        client_id=row.client_id,
        dedupe_key=f"web_url:{row.pk}",
        # Only one worker at a time may crawl a website.
        ordering_key=f"web_url:{row.pk}",
        web_url_id=row.pk,
    )
