"""Figures as cards: a value, its change from the period before, and a sparkline."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from reports.services import charts, formatting

# The prefixes of metrics that are better if they are lower, and of metrics that are better if they
# are higher. Other metrics are neutral.
_LOWER_IS_BETTER = (
    "handed_off",
    "sentiment_negative",
    "first_",
    "bot_response",
    "person_",
    "resolution",
)
_HIGHER_IS_BETTER = ("bot_resolved", "sentiment_positive", "rating_mean")


@dataclass(frozen=True)
class KpiCard:
    """A card with a figure; `note` compares or explains the figure, and `path` is its link."""

    title: str
    value: str
    note: str = ""
    path: str = ""
    # The change from the period before, such as "+12%", and whether it is good; None: neither good
    # nor bad.
    change: str = ""
    is_better: bool | None = None
    # The values of the sparkline, one per day.
    days: Sequence[float] = field(default_factory=list)

    @property
    def line(self) -> str:
        """The points of the sparkline, which is 100 wide and 24 high; empty if there is nothing to
        show."""
        return charts.points(self.days)


def compared(name: str, now: Any, before: Any, *, path: str = "", **other: object) -> KpiCard:
    """The card of a metric, with its change from the period before. `other` sets or replaces fields
    of the card."""
    # The change is computed from values rounded as they are shown. Durations are rounded to seconds
    # here, but shown rounded down to minutes, hours or days.
    places = {"share": 2, "stars": 1}.get(formatting.unit_of(name), 0)
    is_known = now is not None and before is not None
    gain = round(round(now, places) - round(before, places), places) if is_known else 0
    value, value_before = (formatting.format_value(name, one) for one in (now, before))
    # What reads the same is no change.
    gain = gain if value != value_before else 0
    is_judged = gain and name.startswith(_LOWER_IS_BETTER + _HIGHER_IS_BETTER)
    is_better = (gain > 0) != name.startswith(_LOWER_IS_BETTER) if is_judged else None
    text = gettext("was {value}")
    fields = {
        "title": gettext(formatting.label(name)),
        "value": value,
        "note": "" if before is None else text.format(value=value_before),
        "path": path,
        "change": _change(name, gain, before) if gain else "",
        "is_better": is_better,
    }
    return KpiCard(**fields | other)  # type: ignore[arg-type]


def _change(name: str, gain: float, before: float) -> str:
    unit = formatting.unit_of(name)
    if unit == "share":
        return gettext("{points} points").format(points=f"{100 * gain:+.0f}")
    if unit == "stars":
        return f"{gain:+.1f}"
    if unit == "seconds":
        text = gettext("{value} faster") if gain < 0 else gettext("{value} slower")
        # Changes of a minute or more are shown in minutes or hours, because "91 s" next to "2 min"
        # would be hard to compare.
        size = 60 if abs(gain) >= 60 else 1
        whole = formatting.duration(abs(gain)) if abs(gain) >= 7200 else ""
        unit_text = gettext("{n} min") if size == 60 else gettext("{n} s")
        return text.format(value=whole or unit_text.format(n=round(abs(gain) / size)))
    if not before:
        return ""
    return gettext("more than 10×") if gain > 9 * before else f"{100 * gain / before:+.0f}%"
