"""The crawl job: fetches the pages of a website and queues them for training."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.translation import gettext_noop

from bots.ingest import crawler, url_normalization
from bots.ingest.crawler import KnownPage, Limits, Outcome, Page
from bots.ingest.extraction import file_types
from bots.models import Bot, Document, DocumentStatus, PageStatus, WebPage, WebUrl, WebUrlStatus
from bots.services import bots, document_changes, documents, publish_gate, web_urls
from chatplatform import jobs, media
from chatplatform.media_stores import FilesUnavailable

log = logging.getLogger(__name__)

# The maximum number of crawled pages per bot, over all of its websites.
MAX_PAGES_OF_BOT = 2_000
# The progress, in percent, when all pages are fetched and only their training is left.
FETCHED_PERCENT = 50
# Reasons that mean a page is permanently gone, so its document is deleted. Other reasons may be
# temporary.
PERMANENT_REASONS = frozenset(
    {"not_found", "robots", "noindex", "other_host", "duplicate", "unsupported_type", "empty"}
)
MESSAGES = {
    "blocked": gettext_noop("This address isn't allowed."),
    "other_host": gettext_noop("The page redirects to another website. Add that address instead."),
    "too_many_redirects": gettext_noop("The page redirects too many times."),
    "robots": gettext_noop("The site's robots.txt doesn't allow reading this page."),
    "robots_unreachable": gettext_noop(
        "The site's robots.txt couldn't be read, so its pages were skipped."
    ),
    "noindex": gettext_noop("The page asks not to be indexed."),
    "unsupported_type": gettext_noop("Pages of this type aren't supported."),
    "too_large": gettext_noop("The page is larger than the limit")
    + f": {Limits.page_bytes // 1_000_000} MB.",
    "not_found": gettext_noop("There's no page at this address."),
    "http_error": gettext_noop("The site returned an error."),
    "timeout": gettext_noop("The site didn't respond in time."),
    "connection_failed": gettext_noop("The site couldn't be reached."),
    "malformed": gettext_noop("The page couldn't be read."),
    "empty": gettext_noop("The page has no text."),
    "bot_limit": gettext_noop("The bot has reached its limit of web pages")
    + f": {MAX_PAGES_OF_BOT:,}.",
    "no_page_trained": gettext_noop(
        "None of the pages could be used. See the reason for each page."
    ),
    "interrupted": gettext_noop("Reading was interrupted too many times. Try again."),
    FilesUnavailable.code: gettext_noop(
        "File storage was unavailable for over an hour. Try again."
    ),
}


class Gone(Exception):
    """The website was deleted or changed during the crawl."""


@dataclass
class _Tally:
    """What a crawl has found so far."""

    stored: int = 0
    seen: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    first_reason: str = ""
    is_complete: bool = True

    def add(self, page: Page, reason: str) -> None:
        """Count a page; `reason` is empty if it was stored."""
        self.seen.add(page.url)
        self.stored += not reason
        if len(self.seen) == 1:
            self.first_reason = reason
        if reason in PERMANENT_REASONS:
            self.gone.add(page.url)
        elif reason or len(self.seen) >= Limits.results:
            # Pages linked from this page, or beyond the limit, may have been missed.
            self.is_complete = False


def crawl(web_url_id: int) -> None:
    """Fetch the pages of a queued website and queue them for training.

    Safe to run twice: the second run finds the first run's pages unchanged.
    """
    started = WebUrl.objects.filter(
        Q(status=WebUrlStatus.QUEUED)
        | Q(status=WebUrlStatus.TRAINING, progress__lt=FETCHED_PERCENT),
        pk=web_url_id,
    ).update(status=WebUrlStatus.TRAINING, progress=0, error_code="", error_message="")
    web_url = WebUrl.objects.filter(pk=web_url_id).first() if started else None
    if web_url is None:
        log.info("web address %s is gone or crawled already", web_url_id)
        return
    media.check_store()  # Do not fetch pages that could not be stored.
    tally = _Tally()
    try:
        for page in _pages(web_url):
            _store_page(web_url, page, tally)
        _finish(web_url, tally)
    except Gone:
        log.info("web address %s was deleted or changed while it was crawled", web_url_id)


def _pages(web_url: WebUrl) -> Iterator[Page]:
    rows = {
        page.url: page
        for page in WebPage.objects.filter(web_url=web_url).select_related("document")
    }

    def known_page(url: str) -> KnownPage | None:
        page = rows.get(url)
        document = page.document if page else None
        if page is None or document is None or document.status == DocumentStatus.FAILED:
            return None
        document = document.drafted()
        name = _stored_file(document)
        if not name:
            return None
        return KnownPage(
            document.sha256, document.mime_type, page.etag, page.last_modified, lambda: _read(name)
        )

    limits = Limits(
        delay_seconds=settings.CRAWL_DELAY_SECONDS, page_seconds=settings.CRAWL_PAGE_SECONDS
    )
    return crawler.crawl(
        web_url.url, depth=web_url.crawl_depth, limits=limits, known_page=known_page
    )


def _stored_file(document: Document) -> str:
    """The name of a page's file; empty if the file is lost."""
    name = document.file.name or ""
    return name if name and default_storage.exists(name) else ""


def _read(name: str) -> bytes:
    with default_storage.open(name) as file:
        data: bytes = file.read()
    return data


# --- one page -----------------------------------------------------------------------------------


def _store_page(web_url: WebUrl, page: Page, tally: _Tally) -> None:
    """Record a page's outcome and queue new content as a document for training."""
    stored = ""
    if page.outcome == Outcome.NEW:
        stored = media.store("documents", ContentFile(page.body))
    referenced: set[str | None] = set()
    try:
        with jobs.commit():
            _lock_and_report(web_url, page, tally)
            document = _upsert_document(web_url, page, stored)
            _record_outcome(web_url, page, document, tally)
        referenced = {document.file.name, document.draft_file.name} if document else set()
    finally:
        # No document references the file, for example because the transaction failed.
        if stored and stored not in referenced:
            default_storage.delete(stored)


def _lock_and_report(web_url: WebUrl, page: Page, tally: _Tally) -> None:
    """Lock the bot, then the website, in the same order as deletions do; report the progress.

    Raises Gone if the website was deleted or changed.
    """
    Bot.objects.select_for_update(no_key=True).filter(pk=web_url.bot_id).first()
    done = len(tally.seen) + 1
    percent = min(FETCHED_PERCENT - 1, FETCHED_PERCENT * done // (done + page.left))
    running = _running(web_url).update(
        # New links may lower the percentage; the shown progress never decreases.
        progress=Greatest("progress", Value(percent)),
        page_count=tally.stored,
    )
    if not running:
        raise Gone
    jobs.report_progress(percent)


def _running(web_url: WebUrl) -> QuerySet[WebUrl]:
    return WebUrl.objects.filter(
        pk=web_url.pk,
        url=web_url.url,
        crawl_depth=web_url.crawl_depth,
        status=WebUrlStatus.TRAINING,
        progress__lt=FETCHED_PERCENT,
    )


def _upsert_document(web_url: WebUrl, page: Page, stored: str) -> Document | None:
    """Create or update the page's document; None if there is no content to store, or if a new page
    would exceed the bot's limit."""
    if page.outcome not in (Outcome.NEW, Outcome.UNCHANGED):
        return None
    document: Document | None = (
        Document.objects.select_for_update(no_key=True)
        .filter(web_url=web_url, url=page.url)
        .first()
    )
    if document is None:
        return _create_document(web_url, page, stored)
    is_as_before = document.sha256 == page.sha256
    if document.draft == document_changes.DELETION or (
        is_as_before and document_changes.has_text(document.draft)
    ):
        # The page exists again, or has the content from before the held-back change.
        documents.discard_change(document, by=None)
        document.refresh_from_db()
    drafted = document.drafted()
    if drafted.sha256 == page.sha256:
        if stored and not _stored_file(drafted):
            # The file was lost; the same content is stored again.
            name = "draft_file" if document.draft_file else "file"
            setattr(document, name, stored)
            document.save(update_fields=[name])
        if document.status == DocumentStatus.FAILED:
            documents.retrain(document)
        return document
    return _replace_content(document, page, stored)


def _create_document(web_url: WebUrl, page: Page, stored: str) -> Document | None:
    pages = Document.objects.filter(bot_id=web_url.bot_id, web_url__isnull=False)
    if not stored or pages.count() >= MAX_PAGES_OF_BOT:
        return None
    document = Document.objects.create(
        client_id=web_url.client_id,
        bot_id=web_url.bot_id,
        web_url=web_url,
        url=page.url,
        **_content(page, stored),
    )
    documents.enqueue_training(document)
    return document


def _replace_content(document: Document, page: Page, stored: str) -> Document:
    """Queue a page's new content for training. The bot uses the old passages until the new content
    is trained, and longer if the change is held back."""
    document_changes.change(document, _content(page, stored), **documents.QUEUED)
    document.refresh_from_db()
    documents.enqueue_training(document)
    return document


def _content(page: Page, stored: str) -> dict[str, str | int]:
    extension = file_types.extension_of(page.mime_type)
    return {
        "file": stored,
        "file_name": f"{url_normalization.file_stem(page.url)}.{extension}",
        "mime_type": page.mime_type,
        "size_bytes": len(page.body),
        "sha256": page.sha256,
    }


def _record_outcome(web_url: WebUrl, page: Page, document: Document | None, tally: _Tally) -> None:
    if page.outcome == Outcome.UNCHANGED and document is None:
        return  # The document was deleted while the page was fetched.
    reason, status = page.reason, str(page.outcome)
    if page.outcome == Outcome.NEW:
        status = PageStatus.TRAINED if document else PageStatus.REFUSED
        reason = "" if document else "bot_limit"
    WebPage.objects.update_or_create(
        web_url=web_url,
        url=page.url,
        defaults={
            "client_id": web_url.client_id,
            "document": document,
            "depth": page.depth,
            "status": status,
            "reason": reason,
            "http_status": page.http_status,
            "etag": page.etag,
            "last_modified": page.last_modified,
            "fetched_at": timezone.now(),
        },
    )
    tally.add(page, reason)


# --- the end of a crawl -------------------------------------------------------------------------


def _finish(web_url: WebUrl, tally: _Tally) -> None:
    """Finish the crawl: delete lost pages, and derive the website's status from its documents.

    If no page was stored, nothing is deleted and the crawl fails. Raises Gone.
    """
    if tally.stored:
        _delete_lost_pages(web_url, tally)
    now = timezone.now()
    with jobs.commit():
        ended = _running(web_url).update(
            progress=FETCHED_PERCENT,
            page_count=tally.stored,
            last_fetched_at=now,
            next_fetch_at=_next_fetch(web_url, now),
        )
        if not ended:
            raise Gone
        if tally.stored:
            update_status(web_url.pk)
        else:
            # `empty`: no page was found, for example because the sitemap lists only pages of
            # another host.
            _fail(web_url.pk, tally.first_reason or "empty")


def _next_fetch(web_url: WebUrl, now: datetime) -> datetime | None:
    # Read the row again, since the interval may have changed during the crawl.
    row = WebUrl.objects.filter(pk=web_url.pk).first()
    return web_urls.next_fetch(row, after=now) if row else None


def _delete_lost_pages(web_url: WebUrl, tally: _Tally) -> None:
    """Delete the documents of lost pages, or hold back their deletion; delete the rows of pages
    that were not seen in this crawl and have no document."""
    with jobs.commit():
        Bot.objects.select_for_update(no_key=True).filter(pk=web_url.bot_id).first()
        if not _running(web_url).exists():
            raise Gone
        rows = Document.objects.select_related("bot").filter(web_url=web_url)
        lost_ids = [
            document.pk
            for document in rows
            if _is_lost(document.url, web_url, tally) and not _hold_deletion(document)
        ]
        if lost_ids:
            deleted = Document.objects.filter(pk__in=lost_ids)
            media.remove_later(web_url.client_id, bots.file_names(deleted))
            deleted.delete()
            bots.bump_knowledge_version(web_url.bot_id)
        unseen = WebPage.objects.filter(web_url=web_url).exclude(url__in=tally.seen)
        unseen.filter(document=None).delete()


def _hold_deletion(document: Document) -> bool:
    """Hold back a document's deletion if its bot holds back changes; return whether it is held."""
    if not publish_gate.holds_change(document):
        return False
    if document.draft != document_changes.DELETION:
        document_changes.hold_deletion(document)
    return True


def _is_lost(url: str, web_url: WebUrl, tally: _Tally) -> bool:
    """Whether a page is gone, is on another site, or was not found by a complete crawl."""
    if url in tally.gone or not url_normalization.same_site(url, web_url.url):
        return True
    return tally.is_complete and url not in tally.seen


def update_status(web_url_id: int) -> None:
    """Derive the progress and status of a fetched website from its documents.

    When the training of all documents has ended, the website is trained if at least one document
    is, else failed.
    """
    with jobs.commit():
        web_url = (
            WebUrl.objects.select_for_update(no_key=True)
            .filter(pk=web_url_id, status=WebUrlStatus.TRAINING, progress__gte=FETCHED_PERCENT)
            .first()
        )
        if web_url is None:
            return
        states = list(Document.objects.filter(web_url=web_url).values_list("status", flat=True))
        done = sum(state in (DocumentStatus.TRAINED, DocumentStatus.FAILED) for state in states)
        if done < len(states):
            web_url.progress = FETCHED_PERCENT + (99 - FETCHED_PERCENT) * done // len(states)
        elif DocumentStatus.TRAINED in states:
            web_url.status, web_url.progress = WebUrlStatus.TRAINED, 100
        else:
            _fail(web_url.pk, "no_page_trained")
            return
        web_url.save(update_fields=["status", "progress"])


def fail_interrupted(*, web_url_id: int, cause: FilesUnavailable | None = None) -> None:
    """Mark a crawl as failed after its job's last attempt, in the job's final transaction."""
    row = WebUrl.objects.filter(pk=web_url_id).first()
    if row is None or row.progress >= FETCHED_PERCENT or web_urls.is_crawl_queued(row):
        return
    if _fail(web_url_id, cause.code if cause else "interrupted"):
        WebUrl.objects.filter(pk=web_url_id).update(
            next_fetch_at=web_urls.next_fetch(row, after=timezone.now())
        )


def _fail(web_url_id: int, reason: str) -> int:
    return WebUrl.objects.filter(
        pk=web_url_id, status__in=[WebUrlStatus.QUEUED, WebUrlStatus.TRAINING]
    ).update(
        status=WebUrlStatus.FAILED,
        error_code=reason,
        error_message=MESSAGES.get(reason, gettext_noop("The page couldn't be used.")),
    )
