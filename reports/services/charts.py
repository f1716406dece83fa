"""Charts as plain numbers, which a template draws without scripts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from reports.services import formatting
from reports.shapes.overview import PartFigures

WIDTH, HEIGHT = 960, 200
_GAP = 0.2


@dataclass(frozen=True)
class Bar:
    """A bar as drawn; its lower part has another colour."""

    label: str
    path: str
    x: float
    width: float
    y: float
    height: float
    part_y: float
    part_height: float


@dataclass(frozen=True)
class Chart:
    """Bars side by side.

    `names` labels the first, middle and last bar, `highest` the largest value, `unit` the heights
    and `axis` the bars.
    """

    bars: list[Bar]
    highest: str
    names: list[str]
    unit: str
    axis: str
    # The label of the bars' lower parts, if they have any.
    part: str


@dataclass(frozen=True)
class Column:
    """The values of a bar."""

    name: str
    value: float
    part: int = 0
    path: str = ""


def points(values: Sequence[float], *, width: int = 100, height: int = 24) -> str:
    """The points of an SVG polyline through the values; empty if all are zero."""
    if not any(values) or len(values) < 2:
        return ""
    step, highest = width / (len(values) - 1), max(values)
    return " ".join(
        f"{place * step:.1f},{height - 1 - value / highest * (height - 2):.1f}"
        for place, value in enumerate(values)
    )


def conversations(rows: Iterable[tuple[str, PartFigures, str]], *, axis: str) -> Chart:
    """A chart of conversations, and of those that the bot resolved, each bar with its link."""
    columns = [Column(name, row.chats, row.bot_resolved, path) for name, row, path in rows]
    return chart(
        columns, unit=gettext("Conversations"), axis=axis, part=gettext("Resolved by the bot"),
        shown=formatting.number,
    )  # fmt: skip


def chart(
    columns: Sequence[Column], *, unit: str, axis: str, part: str = "",
    shown: Callable[[float], str] = str,
) -> Chart:  # fmt: skip
    """A chart of the columns, scaled so that the highest fills its height. `part` labels their
    lower parts, `shown` formats a value."""
    highest = max([column.value for column in columns], default=0) or 1
    step, scale = WIDTH / max(len(columns), 1), HEIGHT / highest
    bars = [
        Bar(
            label=f"{column.name}: {shown(column.value)} {unit.lower()}"
            + (f", {shown(column.part)} {part.lower()}" if part else ""),
            path=column.path,
            x=round((number + _GAP / 2) * step, 2),
            width=round(step * (1 - _GAP), 2),
            y=round(HEIGHT - column.value * scale, 2),
            height=round(column.value * scale, 2),
            part_y=round(HEIGHT - column.part * scale, 2),
            part_height=round(column.part * scale, 2),
        )
        for number, column in enumerate(columns)
    ]
    named = sorted({0, len(columns) // 2, len(columns) - 1}) if columns else []
    names = [columns[number].name for number in named]
    return Chart(bars, shown(highest), names, unit, axis, part)
