"""Formats figures and other values of reports for people."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext, gettext_noop

from chatplatform import form_fields
from chatplatform.templatetags.codes import humanize_code, percent
from chatplatform.templatetags.dates import short_day
from chats.pages import names

# The headings of groupings, metrics and columns.
_LABELS = {
    "chats": gettext_noop("Conversations"), "messages": gettext_noop("Messages"),
    "customers": gettext_noop("Customers"), "credits_used": gettext_noop("Credits"),
    "bot_resolved": gettext_noop("Resolved by the bot"), "handed_off": gettext_noop("Handed over"),
    "bot_resolved_share": gettext_noop("Bot resolution rate"),
    "ended": gettext_noop("Ended"), "open": gettext_noop("Open"),
    "first_response_p50": gettext_noop("First response (median)"),
    "first_response_p90": gettext_noop("First response (90th percentile)"),
    "first_response_mean": gettext_noop("First response (average)"),
    "person_response_p50": gettext_noop("First human response (median)"),
    "person_response_p90": gettext_noop("First human response (90th percentile)"),
    "person_response_mean": gettext_noop("First human response (average)"),
    "resolution_p50": gettext_noop("Conversation duration (median)"),
    "resolution_p90": gettext_noop("Conversation duration (90th percentile)"),
    "resolution_mean": gettext_noop("Conversation duration (average)"),
    "rating_mean": gettext_noop("Rating (average)"), "rating_count": gettext_noop("Ratings"),
    "sentiment_positive": gettext_noop("Positive sentiment"),
    "sentiment_neutral": gettext_noop("Neutral sentiment"),
    "sentiment_negative": gettext_noop("Negative sentiment"),
    "day": gettext_noop("Day"), "week": gettext_noop("Week"), "month": gettext_noop("Month"),
    "hour": gettext_noop("Hour"), "weekday": gettext_noop("Weekday"),
    "bot": gettext_noop("Bot"), "bot_name": gettext_noop("Bot"),
    "agent": gettext_noop("Agent"), "agent_name": gettext_noop("Agent"),
    "channel": gettext_noop("Channel"), "tag": gettext_noop("Tag"),
    "sentiment": gettext_noop("Sentiment"), "language": gettext_noop("Language"),
    "country": gettext_noop("Country"),
    "handoff_reason": gettext_noop("Handover reason"),
    "price_category": gettext_noop("Price category"),
    "charged_messages": gettext_noop("Billed messages"),
    "message_cost": gettext_noop("Messaging costs"),
    "created_at": gettext_noop("Started"),
}  # fmt: skip
_IN_SECONDS = ("first_response", "bot_response", "person_response", "resolution")
_UNITS = {"credits_used": "credits", "rating_mean": "stars", "rating": "stars"}
_CODES = {"handoff_reason", "status", "ended_by", "sentiment", "price_category"}


def label(name: str) -> str:
    """The heading of a grouping, metric or column in English, for `gettext`; the name itself if it
    has no heading."""
    return _LABELS.get(name, name)


def unit_of(name: str) -> str:
    """The unit of a metric: `seconds`, `credits`, `stars`, `share`, or empty for all others."""
    if name.startswith(_IN_SECONDS):
        return "seconds"
    return "share" if name.endswith("_share") else _UNITS.get(name, "")


def format_value(name: str, value: Any) -> str:
    """A value of a report's column as text for people."""
    unit = unit_of(name)
    if value is None or value == []:
        return gettext("Unassigned") if name == "agent_name" else "–"
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list):
        return ", ".join(value)
    if unit in _IN_UNITS:
        return _IN_UNITS[unit](value)
    if name in _IN_WORDS:
        return _IN_WORDS[name](value)
    if name in _CODES:
        return humanize_code(value)
    if name == "message_cost":
        # One message may cost less than a cent.
        return number(value, 4 if 0 < value < 1 else 2)
    return number(value) if isinstance(value, (int, float)) else str(value)


def number(value: float, places: int | None = None) -> str:
    """A number as it is written in the reader's language."""
    return number_format(value, places, use_l10n=True, force_grouping=True)


def duration(seconds: float | None, *, is_exact: bool = False) -> str:
    """A duration in whole seconds, minutes, hours or days, rounded down. Hours are followed by
    minutes and, in an exact duration, minutes by seconds."""
    if seconds is None:
        return "–"
    days, hours, minutes = (int(seconds // size) for size in (86_400, 3600, 60))
    if days >= 2:
        return gettext("{n} days").format(n=days)
    if hours >= 2:
        whole, rest = gettext("{n} h").format(n=hours), gettext("{n} min").format(n=minutes % 60)
        return f"{whole} {rest}" if minutes % 60 else whole
    if minutes >= 2:
        whole, left = gettext("{n} min").format(n=minutes), int(seconds % 60)
        return f"{whole} {gettext('{n} s').format(n=left)}" if is_exact and left else whole
    return gettext("{n} s").format(n=int(seconds))


def share(part: int, of: int) -> float | None:
    """A part as a share, 0..1; None if the whole is 0."""
    return part / of if of else None


def day(value: str | date) -> str:
    """A day, such as "5 Nov"; with its year if it is not this year."""
    return short_day(date.fromisoformat(value) if isinstance(value, str) else value)


def _date_and_time(value: str) -> str:
    at = timezone.localtime(datetime.fromisoformat(value))
    return f"{day(at.date())} {at:%H:%M}"


_IN_UNITS: dict[str, Callable[[Any], str]] = {
    "seconds": duration,
    "share": percent,
    "stars": lambda value: number(value, 1).removesuffix(".0").removesuffix(",0"),
}
_IN_WORDS: dict[str, Callable[[Any], str]] = {
    "weekday": lambda value: str(WEEKDAYS[value - 1]),
    "hour": lambda value: f"{value}:00",
    "day": day,
    "week": day,
    "month": lambda value: date_format(date.fromisoformat(value), "F Y"),
    "created_at": _date_and_time,
    "ended_at": _date_and_time,
    "channel": names.channel_name,
    "language": form_fields.language_name,
}
