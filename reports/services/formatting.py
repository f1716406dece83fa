"""Figures as people read them."""

from django.utils.translation import gettext


def duration(seconds: float | None) -> str:
    """In the largest unit that says enough."""
    if seconds is None:
        return "–"
    for size, unit in ((86_400, gettext("days")), (3600, gettext("h")), (60, gettext("min"))):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} {gettext('s')}"


def share(part: int, of: int) -> str:
    """So many of a hundred."""
    return f"{100 * part / of:.0f} %" if of else "–"


def in_words(code: object) -> str:
    """A code of the API, such as `no_answer`, in words; a handover has one word on every page."""
    words = str(code).replace("_", " ").replace("handed off", "handed over")
    return words.replace("handoff", "handover").capitalize()
