"""Web addresses that a bot learns from: added, changed, forgotten, read again in time."""

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case, CharField, Count, Prefetch, Q, QuerySet, Value, When
from django.utils import timezone

from bots.knowledge import addresses
from bots.models import Bot, Document, DocumentStatus, PageStatus, WebPage, WebUrl, WebUrlStatus
from bots.services import bots
from bots.shapes.web_url import MAX_SHOWN_PAGES, WebUrlDto
from chatplatform import egress, media
from chatplatform.api.errors import ApiError, Invalid, NotFound
from chatplatform.jobs import enqueue
from chatplatform.models import Job, JobState
from identity.models import User
from identity.services import audit

MAX_WEB_URLS = 50
FINISHED = (WebUrlStatus.TRAINED, WebUrlStatus.FAILED)
# Addresses that one round of the schedule queues; the rest has its turn in the next.
MAX_DUE = 500


class WebUrlLimit(ApiError):
    code, status = "web_url_limit", 409
    detail = f"A bot has at most {MAX_WEB_URLS} web addresses; delete one first."


class WebUrlExists(ApiError):
    code, status = "web_url_exists", 409
    detail = "The bot has this address already; update that one."


# --- read ---------------------------------------------------------------------------------------


def _in_status(page: str = "") -> dict[str, Q]:
    """What pages are shown as, by how their documents are; `page` leads from a row to them."""
    taken = Q(**{f"{page}status__in": [PageStatus.TRAINED, PageStatus.UNCHANGED]})
    document = f"{page}document__status"
    waiting = [DocumentStatus.QUEUED, DocumentStatus.TRAINING]
    learned = Q(**{document: DocumentStatus.TRAINED})
    return {
        "training": taken & Q(**{f"{document}__in": waiting}),
        "trained": Q(**{f"{page}status": PageStatus.TRAINED}) & learned,
        "unchanged": Q(**{f"{page}status": PageStatus.UNCHANGED}) & learned,
        "refused": Q(**{f"{page}status": PageStatus.REFUSED}),
        "failed": Q(**{f"{page}status": PageStatus.FAILED})
        | taken & Q(**{document: DocumentStatus.FAILED}),
    }


def shown(pages: QuerySet[WebPage]) -> QuerySet[WebPage]:
    """Pages with `shown_status` and `shown_reason`, those with a reason first."""
    status = [When(condition, then=Value(name)) for name, condition in _in_status().items()]
    reason = When(reason="", document__status=DocumentStatus.FAILED, then="document__error_code")
    # By the alphabet: failed, refused, trained, training, unchanged.
    return pages.annotate(
        shown_status=Case(*status, default="status", output_field=CharField()),
        shown_reason=Case(reason, default="reason", output_field=CharField()),
    ).order_by("shown_status", "id")


def counted(rows: QuerySet[WebUrl]) -> QuerySet[WebUrl]:
    """Rows with how many pages they have of each status."""
    counts = {
        f"{name}_pages": Count("pages", filter=condition)
        for name, condition in _in_status("pages__").items()
    }
    return rows.annotate(**counts)


def described(rows: QuerySet[WebUrl]) -> QuerySet[WebUrl]:
    """Rows with all that `WebUrlDto.from_row` shows, in two queries however many rows there are."""
    pages = shown(WebPage.objects.all())[:MAX_SHOWN_PAGES]
    return counted(rows).prefetch_related(Prefetch("pages", queryset=pages, to_attr="shown_pages"))


def list_for_bot(bot: Bot) -> QuerySet[WebUrl]:
    """The bot's addresses, described; order and page are the caller's."""
    return described(WebUrl.objects.filter(bot=bot))


# --- write --------------------------------------------------------------------------------------


def add(bot: Bot, *, given: WebUrlDto) -> WebUrlDto:
    """A new address, queued to be crawled; 409 for one too many, or one that is there."""
    if "url" not in given.model_fields_set:
        raise Invalid.field("body", "url", msg="Field required", type="missing")
    url = _checked(given.url)
    with transaction.atomic():
        # Two requests at once must not both find room for the last one.
        bots.lock(bot)
        existing = WebUrl.objects.filter(bot=bot)
        if existing.filter(url=url).exists():
            raise WebUrlExists
        if existing.count() >= MAX_WEB_URLS:
            raise WebUrlLimit
        made = WebUrl.objects.create(
            client_id=bot.client_id,
            bot=bot,
            url=url,
            crawl_depth=given.crawl_depth,
            refresh_hours=given.refresh_hours,
        )
        _enqueue(made)
    return describe(made)


def update(bot: Bot, *, web_url_id: int, given: WebUrlDto) -> WebUrlDto:
    """Change what the request names; another address or depth is crawled at once."""
    changes: dict[str, Any] = given.model_dump(
        include={"url", "crawl_depth", "refresh_hours"} & given.model_fields_set
    )
    if "url" in changes:
        # Before the lock: names are resolved, which may take seconds.
        if not WebUrl.objects.filter(bot=bot, pk=web_url_id).exists():
            raise NotFound
        changes["url"] = _checked(given.url)
    with transaction.atomic():
        row = WebUrl.objects.select_for_update(no_key=True).filter(bot=bot, pk=web_url_id).first()
        if row is None:
            raise NotFound
        if "url" in changes and WebUrl.objects.filter(bot=bot, url=changes["url"]).exclude(
            pk=row.pk
        ):
            raise WebUrlExists
        is_other = any(changes.get(name, was) != was for name, was in _subject(row).items())
        _apply(row, changes)
        if is_other:
            crawl_again(row, even_if_busy=True)
    return describe(row)


def _subject(row: WebUrl) -> dict[str, Any]:
    """What a crawl goes by."""
    return {"url": row.url, "crawl_depth": row.crawl_depth}


def _apply(row: WebUrl, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(row, name, value)
    if row.status in FINISHED and "refresh_hours" in changes:
        row.next_fetch_at = next_fetch(row)
        changes = {**changes, "next_fetch_at": row.next_fetch_at}
    try:
        with transaction.atomic():
            row.save(update_fields=list(changes))
    except IntegrityError as exc:  # the same address was written by another request meanwhile
        raise WebUrlExists from exc


def describe(row: WebUrl) -> WebUrlDto:
    """One address as the API shows it; 404 where it went away meanwhile."""
    found = described(WebUrl.objects.filter(pk=row.pk)).first()
    if found is None:
        raise NotFound
    return WebUrlDto.from_row(found)


def crawl_again(row: WebUrl, *, even_if_busy: bool = False) -> bool:
    """Queue a crawl; False where one is waiting or running (which `even_if_busy` ends)."""
    with transaction.atomic():
        idle = WebUrl.objects.filter(pk=row.pk)
        if not even_if_busy:
            idle = idle.filter(status__in=FINISHED)
        queued = idle.update(
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
    """Queue what is due by the schedule; each once, however often this runs."""
    due = WebUrl.objects.filter(next_fetch_at__lte=timezone.now(), status__in=FINISHED)
    return sum(crawl_again(row) for row in due.order_by("next_fetch_at")[:MAX_DUE])


def next_fetch(row: WebUrl, *, after: datetime | None = None) -> datetime | None:
    """When the schedule reads an address again; None: never."""
    if row.refresh_hours is None:
        return None
    return (after or row.last_fetched_at or timezone.now()) + timedelta(hours=row.refresh_hours)


def delete(bot: Bot, *, web_url_id: int, by: User) -> None:
    """Forget an address and every page that the bot knew from it; a running crawl stops."""
    with transaction.atomic():
        # First the bot, then what hangs on it: the order in which training locks them too.
        bots.lock(bot)
        row = WebUrl.objects.select_for_update().filter(bot=bot, pk=web_url_id).first()
        if row is None:
            raise NotFound
        names = list(Document.objects.filter(web_url=row).values_list("file", flat=True))
        audit.record(
            bot.client_id,
            "web_url.deleted",
            by=by,
            subject=f"web_url:{row.pk}",
            changes={"url": row.url, "documents": len(names)},
        )
        row.delete()
        if names:
            bots.bump_knowledge_version(bot.pk)
        media.remove_later(bot.client_id, names)


def _checked(url: str) -> str:
    """The address normalized; 422 for one that is none, or that we do not go to."""
    try:
        egress.check_url(url, purpose="crawl")
    except egress.Blocked as exc:
        raise Invalid.field("body", "url", msg=egress.REFUSAL) from exc
    found = addresses.normalized(url)
    if found is None:
        raise Invalid.field("body", "url", msg="Must be a http or https address.")
    return found


def is_waiting(row: WebUrl) -> bool:
    """Whether a crawl is queued, beside one that may be running."""
    return Job.objects.filter(
        name="bots.crawl_web_url", dedupe_key=f"web_url:{row.pk}", state=JobState.QUEUED
    ).exists()


def _enqueue(row: WebUrl) -> None:
    enqueue(
        "bots.crawl_web_url",
        client_id=row.client_id,
        dedupe_key=f"web_url:{row.pk}",
        # One crawl an address at a time.
        ordering_key=f"web_url:{row.pk}",
        web_url_id=row.pk,
    )
