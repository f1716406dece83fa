"""Formats figures for people."""

from django.utils.formats import number_format
from django.utils.translation import gettext


def number(value: float, places: int | None = None) -> str:
    """The number as written in the reader's language."""
    return number_format(value, places, use_l10n=True, force_grouping=True)


def duration(seconds: float | None) -> str:
    """A duration in whole units of a suitable size, rounded down; hours with minutes."""
    if seconds is None:
        return "–"
    days, hours, minutes = (int(seconds // size) for size in (86_400, 3600, 60))
    if days >= 2:
        return gettext("{n} days").format(n=days)
    if hours >= 2:
        whole, rest = gettext("{n} h").format(n=hours), gettext("{n} min").format(n=minutes % 60)
        return f"{whole} {rest}" if minutes % 60 else whole
    if minutes >= 2:
        return gettext("{n} min").format(n=minutes)
    return gettext("{n} s").format(n=int(seconds))


def share(part: int, of: int) -> str:
    """A part as a percentage."""
    return f"{100 * part / of:.0f} %" if of else "–"


def in_words(code: object) -> str:
    """A code of the API, such as `no_answer`, in words; a handoff is always called handover."""
    words = str(code).replace("_", " ").replace("handed off", "handed over")
    return words.replace("handoff", "handover").capitalize()
