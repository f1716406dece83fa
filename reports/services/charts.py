"""Computes the numbers of charts, from which templates draw SVG without scripts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from reports.schemas.overview import PartFigures
from reports.services import formatting

WIDTH, HEIGHT = 960, 200
_GAP = 0.2


@dataclass(frozen=True)
class Bar:
    """A bar as it is drawn, in the units of the SVG. Its lower part has another color."""

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
    """A chart of bars side by side, and its labels.

    `names` are the names of the first, middle and last bar, and `highest` is the largest value.
    `unit` says what the heights stand for, and `axis` says what the bars stand for.
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
    """The data of a bar: its name, its value, the value of its lower part, and its link."""

    name: str
    value: float
    part: int = 0
    path: str = ""


def points(values: Sequence[float], *, width: int = 100, height: int = 24) -> str:
    """The points of an SVG polyline through the values. Empty if there are fewer than two values or
    all are zero."""
    if not any(values) or len(values) < 2:
        return ""
    step, highest = width / (len(values) - 1), max(values)
    return " ".join(
        f"{index * step:.1f},{height - 1 - value / highest * (height - 2):.1f}"
        for index, value in enumerate(values)
    )


def conversations(rows: Iterable[tuple[str, PartFigures, str]], *, axis: str) -> Chart:
    """A chart of conversations, in which the lower part of each bar shows the conversations that
    the bot resolved. `rows` has the name, the figures and the link of each bar."""
    columns = [Column(name, row.chats, row.bot_resolved, path) for name, row, path in rows]
    return chart(
        columns, unit=gettext("Conversations"), axis=axis, part=gettext("Resolved by the bot"),
        shown=formatting.number,
    )  # fmt: skip


def chart(
    columns: Sequence[Column], *, unit: str, axis: str, part: str = "",
    shown: Callable[[float], str] = str,
) -> Chart:  # fmt: skip
    """A chart of the columns, scaled so that the highest bar has the chart's height. `part` labels
    the lower parts, and `shown` formats a value."""
    highest = max([column.value for column in columns], default=0) or 1
    step, scale = WIDTH / max(len(columns), 1), HEIGHT / highest
    bars = [
        Bar(
            label=f"{column.name}: {shown(column.value)} {unit.lower()}"
            + (f", {shown(column.part)} {part.lower()}" if part else ""),
            path=column.path,
            x=round((index + _GAP / 2) * step, 2),
            width=round(step * (1 - _GAP), 2),
            y=round(HEIGHT - column.value * scale, 2),
            height=round(column.value * scale, 2),
            part_y=round(HEIGHT - column.part * scale, 2),
            part_height=round(column.part * scale, 2),
        )
        for index, column in enumerate(columns)
    ]
    named = sorted({0, len(columns) // 2, len(columns) - 1}) if columns else []
    names = [columns[index].name for index in named]
    return Chart(bars, shown(highest), names, unit, axis, part)
