"""Filters for times and days in the reader's language, such as `{{ row.created_at|when }}`."""

from datetime import date, datetime, timedelta

from django import template
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

register = template.Library()


@register.filter
def when(at: datetime | None, place: str = "") -> SafeString | str:
    """A time in the reader's time zone, such as "Today 19:38" or "25 Nov"; the tooltip has the full
    time. With `place` "inside" it fits into a sentence: "today 19:38".
    """
    if at is None:
        return "–"
    local = timezone.localtime(at)
    full, text = formats.date_format(local, "DATETIME_FORMAT"), _relative(local)
    text = text[0].lower() + text[1:] if place == "inside" else text
    return format_html('<time datetime="{}" title="{}">{}</time>', local.isoformat(), full, text)


def _relative(at: datetime) -> str:
    today = timezone.localdate()
    if at.date() == today:
        return gettext("Today %(time)s") % {"time": f"{at:%H:%M}"}
    if at.date() == today - timedelta(days=1):
        return gettext("Yesterday %(time)s") % {"time": f"{at:%H:%M}"}
    if at.date() == today + timedelta(days=1):
        return gettext("Tomorrow %(time)s") % {"time": f"{at:%H:%M}"}
    return short_day(at.date())


@register.filter(expects_localtime=True)
def short_day(day: date) -> str:
    """A day in the reader's language, such as "25 Nov"; with its year if it is not this year."""
    is_this_year = day.year == timezone.localdate().year
    return formats.date_format(day, gettext("j M")) if is_this_year else full_day(day)


@register.filter(expects_localtime=True)
def full_day(day: date) -> str:
    """A day in the reader's language, with its year: "25 Nov 2026"."""
    return formats.date_format(day, gettext("j M Y"))


def full_time(at: datetime) -> str:
    """A time with its full day: "25 Nov 2026 19:38"."""
    return f"{full_day(at)} {at:%H:%M}"
