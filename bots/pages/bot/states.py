"""Describes the state of a bot's content in words."""

from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from bots.forms import first_day, last_day
from bots.models import Document, DocumentStage, DocumentStatus, GoldenOutcome, WebUrl
from bots.schemas.web_url import PageCounts
from chatplatform.templatetags.codes import error_text, stored_text
from chatplatform.templatetags.dates import full_day

# The label and color for each status of a document or website.
_STATES: dict[str, tuple[Any, str]] = {
    DocumentStatus.QUEUED: (gettext_lazy("Queued"), "info"),
    DocumentStatus.TRAINING: (gettext_lazy("Reading"), "warning"),
    DocumentStatus.TRAINED: (gettext_lazy("Ready"), "success"),
    DocumentStatus.FAILED: (gettext_lazy("Couldn't be read"), "danger"),
}
COLORS = {status: color for status, (_, color) in _STATES.items()}
# Stages of training in words; from the third stage on, the bot can use the document.
_STAGES = {
    DocumentStage.WAITING: gettext_lazy("queued"),
    DocumentStage.READING: gettext_lazy("reading"),
    DocumentStage.PASSAGES: gettext_lazy("in use, search is still improving"),
    DocumentStage.SENTENCES: gettext_lazy("in use, quotes are still improving"),
    DocumentStage.COMPLETE: gettext_lazy("complete"),
}
_LONG_TRAINING = timedelta(minutes=2)
# Stages in which the bot still uses the passages of the previous version, if there is one.
_UNREAD = frozenset({DocumentStage.WAITING, DocumentStage.READING})
_BUSY = frozenset({DocumentStatus.QUEUED, DocumentStatus.TRAINING})


def is_busy(row: Any) -> bool:
    """Whether the state of a document or website will soon change without anyone's action."""
    is_being_tested = bool(getattr(row, "run_id", None)) and row.run_outcome != GoldenOutcome.HELD
    return row.status in _BUSY or is_being_tested


def is_being_replaced(row: Document) -> bool:
    """Whether the text that the bot uses will soon be replaced by a new version."""
    return is_busy(row) and (row.draft is not None or row.stage in _UNREAD)


def label(row: Any) -> tuple[str, str]:
    """The state of a document or website in a few words, and its color."""
    if getattr(row, "run_id", None):
        is_held = row.run_outcome == GoldenOutcome.HELD
        return (gettext("On hold"), "danger") if is_held else (gettext("Being tested"), "info")
    if row.status == DocumentStatus.TRAINED and isinstance(row, Document):
        now = timezone.now()
        if row.valid_from and row.valid_from > now:
            return gettext("Scheduled"), "info"
        if row.valid_to and row.valid_to <= now:
            return gettext("Expired"), "warning"
    text, color = _STATES[row.status]
    return str(text), color


def details(row: Any) -> SafeString | str:
    """More about the state of a document or website, such as its error, its progress or a held-back
    change; may be empty."""
    parts: list[Any] = []
    if row.status == DocumentStatus.FAILED:
        parts.append(error_text(row.error_message, row.error_code))
    elif row.status == DocumentStatus.TRAINING:
        parts.append(f"{row.progress}%" if isinstance(row, WebUrl) else stage_text(row))
    elif row.status == DocumentStatus.TRAINED:
        parts.append(crawl_text(row) if isinstance(row, WebUrl) else stored_text(row.warning))
    if isinstance(row, Document) and (row.valid_from or row.valid_to):
        parts.append(_validity(row))
    if getattr(row, "run_id", None):
        parts.append(held_text(row))
    if isinstance(row, Document) and row.draft is not None:
        parts.append(_draft_text(row))
    return format_html_join(" · ", "{}", ((part,) for part in parts if part))


def _validity(row: Document) -> str:
    days = first_day(row.valid_from, row.bot), last_day(row.valid_to, row.bot)
    first, last = (full_day(day) if day else "" for day in days)
    if first and last:
        return gettext("Valid %(first)s to %(last)s") % {"first": first, "last": last}
    if first:
        return gettext("Valid from %(day)s") % {"day": first}
    return gettext("Valid until %(day)s") % {"day": last}


def _draft_text(row: Document) -> str:
    if row.draft and row.draft.get("is_deleted"):
        return gettext("Not deleted yet: the bot still uses it")
    return gettext("Your changes aren't live yet: the bot still uses the old version")


def held_text(document: Any) -> SafeString:
    """A link to a document's golden run, which says whether the document is held back or still
    being tested."""
    is_held = document.run_outcome == GoldenOutcome.HELD
    return format_html(
        '<a class="underline" href="{}">{}</a>',
        reverse("admin:bots_goldenrun_change", args=[document.run_id]),
        gettext("On hold: a test question failed")
        if is_held
        else gettext("Running test questions"),
    )


def stage_text(row: Document) -> str:
    """The stage and percentage of a document's training; after two minutes, also the minutes it has
    taken so far."""
    text = f"{_STAGES[DocumentStage(row.stage)]} ({row.progress}%)"
    took = timezone.now() - row.started_at if row.started_at else timedelta(0)
    is_running = row.status == DocumentStatus.TRAINING
    if not is_running or took < _LONG_TRAINING:
        return text
    minutes = int(took.total_seconds() // 60)
    long = gettext("long document, %(minutes)s minutes so far") % {"minutes": minutes}
    return f"{text}, {long}"


def crawl_text(web_url: Any) -> str:
    """The pages of the latest crawl, such as "12 pages · 2 couldn't be read"."""
    counts = {name: getattr(web_url, f"{name}_pages") for name in PageCounts.model_fields}
    good = counts["trained"] + counts["unchanged"] + counts["training"]
    parts = [ngettext("%(count)s page", "%(count)s pages", good) % {"count": good}]
    if counts["failed"]:
        parts.append(gettext("%(count)s couldn't be read") % {"count": counts["failed"]})
    if counts["refused"]:
        parts.append(gettext("%(count)s skipped") % {"count": counts["refused"]})
    return " · ".join(parts)
