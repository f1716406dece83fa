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
        return f"{days} {gettext('days')}"
    if hours >= 2:
        rest = f" {minutes % 60} {gettext('min')}" if minutes % 60 else ""
        return f"{hours} {gettext('h')}{rest}"
    return f"{minutes} {gettext('min')}" if minutes >= 2 else f"{int(seconds)} {gettext('s')}"


def share(part: int, of: int) -> str:
    """A part as a percentage."""
    return f"{100 * part / of:.0f} %" if of else "–"


def in_words(code: object) -> str:
    """A code of the API, such as `no_answer`, in words; a handoff is always called handover."""
    words = str(code).replace("_", " ").replace("handed off", "handed over")
    return words.replace("handoff", "handover").capitalize()
