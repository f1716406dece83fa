"""A crawl as a job: pages in, documents queued for training, the outcome of each page kept."""

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

from bots.knowledge import addresses, extract
from bots.knowledge import crawl as walk
from bots.knowledge.crawl import Known, Limits, Outcome, Page
from bots.models import Bot, Document, DocumentStatus, PageStatus, WebPage, WebUrl, WebUrlStatus
from bots.services import bots, training, web_urls
from chatplatform import jobs, media

log = logging.getLogger(__name__)

# Pages of the web that one bot knows, over all its addresses: its index is kept in memory.
MAX_PAGES_OF_BOT = 2_000
# A row at or above it is fetched, and waits for the training of its pages.
FETCHED_PERCENT = 50
# A page that ends so is gone for good: what the bot knew from it goes too. Others may come back.
LASTING = frozenset(
    {"not_found", "robots", "noindex", "other_host", "duplicate", "unsupported_type", "empty"}
)
MESSAGES = {
    "blocked": "The address leads to a place that is not allowed.",
    "other_host": "The page redirects to another host; add that address instead.",
    "too_many_redirects": "The page redirects more than three times, or to itself.",
    "robots": "The site's robots.txt does not allow it to be read.",
    "robots_unreachable": "The site's robots.txt could not be read, so nothing may be.",
    "noindex": "The page asks not to be indexed.",
    "unsupported_type": "The page is of no type that is read.",
    "too_large": "The page is over 2 MB.",
    "not_found": "There is no page at this address.",
    "http_error": "The site answered with an error.",
    "timeout": "The site did not answer in time.",
    "connection_failed": "The site could not be reached.",
    "malformed": "The page could not be read.",
    "empty": "The page holds no text.",
    "bot_limit": f"A bot knows at most {MAX_PAGES_OF_BOT:,} web pages.",
    "no_page_trained": "Pages were fetched, and none could be trained; see their reasons.",
    "interrupted": "The crawl was interrupted too often; it can be started again.",
}
_SUFFIXES = {
    extract.PDF: ".pdf",
    extract.DOCX: ".docx",
    extract.HTML: ".html",
    extract.MARKDOWN: ".md",
    extract.CSV: ".csv",
    extract.PLAIN: ".txt",
}


class Gone(Exception):
    """The address was deleted or changed while it was crawled."""


@dataclass
class _Tally:
    """What a crawl has met so far."""

    kept: int = 0
    seen: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    first_reason: str = ""
    is_whole: bool = True

    def note(self, page: Page, reason: str) -> None:
        """Count a page that was written down."""
        self.seen.add(page.url)
        self.kept += not reason
        if len(self.seen) == 1:
            self.first_reason = reason
        if reason in LASTING:
            self.gone.add(page.url)
        elif reason or len(self.seen) >= Limits.results:
            # What this page leads to was not seen.
            self.is_whole = False


def crawl(web_url_id: int) -> None:
    """Fetch a queued address and what belongs to it, and queue its pages for training.

    May run twice: pages that are there already are unchanged to the second run.
    """
    begun = WebUrl.objects.filter(
        Q(status=WebUrlStatus.QUEUED)
        | Q(status=WebUrlStatus.TRAINING, progress__lt=FETCHED_PERCENT),
        pk=web_url_id,
    ).update(status=WebUrlStatus.TRAINING, progress=0, error_code="", error_message="")
    web_url = WebUrl.objects.filter(pk=web_url_id).first() if begun else None
    if web_url is None:
        log.info("web address %s is gone or crawled already", web_url_id)
        return
    tally = _Tally()
    try:
        for page in _pages(web_url):
            _keep(web_url, page, tally)
        _finish(web_url, tally)
    except Gone:
        log.info("web address %s went away or changed while it was crawled", web_url_id)


def _pages(web_url: WebUrl) -> Iterator[Page]:
    earlier = {
        page.url: page
        for page in WebPage.objects.filter(web_url=web_url).select_related("document")
    }

    def known(url: str) -> Known | None:
        page = earlier.get(url)
        document = page.document if page else None
        if page is None or document is None or document.status == DocumentStatus.FAILED:
            return None
        name = document.file.name or ""
        if not name or not default_storage.exists(name):
            return None
        return Known(
            document.sha256, document.mime_type, page.etag, page.last_modified, lambda: _read(name)
        )

    limits = Limits(
        delay_seconds=settings.CRAWL_DELAY_SECONDS, page_seconds=settings.CRAWL_PAGE_SECONDS
    )
    return walk.crawl(web_url.url, depth=web_url.crawl_depth, limits=limits, known=known)


def _read(name: str) -> bytes:
    with default_storage.open(name) as file:
        data: bytes = file.read()
    return data


# --- one page -----------------------------------------------------------------------------------


def _keep(web_url: WebUrl, page: Page, tally: _Tally) -> None:
    """Write down what became of a page; one with new bytes becomes a document to be trained."""
    stored = ""
    if page.outcome == Outcome.NEW:
        stored = media.store("documents", ContentFile(page.body))
    used = ""
    try:
        with jobs.commit():
            _lock(web_url, page, tally)
            document = _document(web_url, page, stored)
            _record(web_url, page, document, tally)
        used = (document and document.file.name) or ""
    finally:
        # Bytes that are known already, and those of a row that did not come to be.
        if stored and stored != used:
            default_storage.delete(stored)


def _lock(web_url: WebUrl, page: Page, tally: _Tally) -> None:
    """First the bot, then the address: the order in which deleting locks them too."""
    Bot.objects.select_for_update(no_key=True).filter(pk=web_url.bot_id).first()
    done = len(tally.seen) + 1
    percent = min(FETCHED_PERCENT - 1, FETCHED_PERCENT * done // (done + page.left))
    running = _running(web_url).update(
        # More links may come to light than were expected: it never goes back.
        progress=Greatest("progress", Value(percent)),
        page_count=tally.kept,
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


def _document(web_url: WebUrl, page: Page, stored: str) -> Document | None:
    """The page's document; None for a page that is not kept, or finds no room."""
    if page.outcome not in (Outcome.NEW, Outcome.UNCHANGED):
        return None
    document: Document | None = (
        Document.objects.select_for_update(no_key=True)
        .filter(web_url=web_url, url=page.url)
        .first()
    )
    if document is None:
        return _new_document(web_url, page, stored)
    if document.sha256 == page.sha256:
        if document.status == DocumentStatus.FAILED:
            training.retrain(document)
        return document
    return _changed_document(document, page, stored)


def _new_document(web_url: WebUrl, page: Page, stored: str) -> Document | None:
    pages = Document.objects.filter(bot_id=web_url.bot_id, web_url__isnull=False)
    if not stored or pages.count() >= MAX_PAGES_OF_BOT:
        return None
    made = Document.objects.create(
        client_id=web_url.client_id,
        bot_id=web_url.bot_id,
        web_url=web_url,
        url=page.url,
        **_content(page, stored),
    )
    training.enqueue_training(made)
    return made


def _changed_document(document: Document, page: Page, stored: str) -> Document:
    """New bytes for a page that the bot knows: until they are trained, it knows the old ones."""
    old = document.file.name
    for name, value in _content(page, stored).items():
        setattr(document, name, value)
    document.status, document.progress = DocumentStatus.QUEUED, 0
    document.error_code = document.error_message = ""
    document.save()
    training.enqueue_training(document)
    media.remove_later(document.client_id, [old])
    return document


def _content(page: Page, stored: str) -> dict[str, str | int]:
    return {
        "file": stored,
        "file_name": addresses.file_stem(page.url) + _SUFFIXES[page.mime_type],
        "mime_type": page.mime_type,
        "size_bytes": len(page.body),
        "sha256": page.sha256,
    }


def _record(web_url: WebUrl, page: Page, document: Document | None, tally: _Tally) -> None:
    kept = page.outcome in (Outcome.NEW, Outcome.UNCHANGED)
    if page.outcome == Outcome.UNCHANGED and document is None:
        return  # somebody deleted the document while the page was fetched
    reason = "bot_limit" if kept and document is None else page.reason
    WebPage.objects.update_or_create(
        web_url=web_url,
        url=page.url,
        defaults={
            "client_id": web_url.client_id,
            "document": document,
            "depth": page.depth,
            "status": PageStatus.REFUSED if reason == "bot_limit" else _status(page),
            "reason": reason,
            "http_status": page.http_status,
            "etag": page.etag,
            "last_modified": page.last_modified,
            "fetched_at": timezone.now(),
        },
    )
    tally.note(page, reason)


def _status(page: Page) -> PageStatus:
    if page.outcome == Outcome.NEW:
        return PageStatus.TRAINED
    return PageStatus(page.outcome)


# --- the end ------------------------------------------------------------------------------------


def _finish(web_url: WebUrl, tally: _Tally) -> None:
    """The walk is over: forget what is gone, and wait for the training of the rest."""
    if tally.kept:
        _forget(web_url, tally)
    now = timezone.now()
    with jobs.commit():
        ended = _running(web_url).update(
            progress=FETCHED_PERCENT,
            page_count=tally.kept,
            last_fetched_at=now,
            next_fetch_at=_next_fetch(web_url, now),
        )
        if not ended:
            raise Gone
        if tally.kept:
            settle(web_url.pk)
        else:
            # No row at all: a sitemap that lists nothing of this host.
            _fail(web_url.pk, tally.first_reason or "empty")


def _next_fetch(web_url: WebUrl, now: datetime) -> datetime | None:
    # The hours may have been changed while the crawl ran.
    row = WebUrl.objects.filter(pk=web_url.pk).first()
    return web_urls.next_fetch(row, after=now) if row else None


def _forget(web_url: WebUrl, tally: _Tally) -> None:
    """The documents of pages that are gone, and rows that this crawl did not meet."""
    with jobs.commit():
        Bot.objects.select_for_update(no_key=True).filter(pk=web_url.bot_id).first()
        if not _running(web_url).exists():
            raise Gone
        known = Document.objects.filter(web_url=web_url)
        lost = [one for one in known if _is_lost(one.url, web_url, tally)]
        if lost:
            known.filter(pk__in=[one.pk for one in lost]).delete()
            bots.bump_knowledge_version(web_url.bot_id)
            media.remove_later(web_url.client_id, [one.file.name for one in lost])
        unseen = WebPage.objects.filter(web_url=web_url).exclude(url__in=tally.seen)
        unseen.filter(document=None).delete()


def _is_lost(url: str, web_url: WebUrl, tally: _Tally) -> bool:
    if url in tally.gone or not addresses.same_site(url, web_url.url):
        return True
    return tally.is_whole and url not in tally.seen


def settle(web_url_id: int) -> None:
    """Trained, where all its pages' documents are done and one of them is known; else failed."""
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


def abandon(web_url_id: int) -> None:
    """No attempt is left: say so where people look. Runs in the transaction that ends the job."""
    row = WebUrl.objects.filter(pk=web_url_id).first()
    if row is None or row.progress >= FETCHED_PERCENT or web_urls.is_waiting(row):
        return
    if _fail(web_url_id, "interrupted"):
        WebUrl.objects.filter(pk=web_url_id).update(
            next_fetch_at=web_urls.next_fetch(row, after=timezone.now())
        )


def _fail(web_url_id: int, reason: str) -> int:
    return WebUrl.objects.filter(
        pk=web_url_id, status__in=[WebUrlStatus.QUEUED, WebUrlStatus.TRAINING]
    ).update(
        status=WebUrlStatus.FAILED,
        error_code=reason,
        error_message=MESSAGES.get(reason, "Nothing could be learned from this address."),
    )
