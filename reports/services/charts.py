"""Charts as plain numbers, which a template draws without scripts."""

from collections.abc import Sequence
from dataclasses import dataclass

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

    `names` labels the first, middle and last bar; `highest` is the largest value.
    """

    bars: list[Bar]
    highest: int
    names: list[str]


@dataclass(frozen=True)
class Column:
    """The values of a bar."""

    name: str
    value: int
    part: int
    path: str


def points(values: Sequence[float], *, width: int = 100, height: int = 24) -> str:
    """The points of an SVG polyline through the values; empty if all are zero."""
    if not any(values) or len(values) < 2:
        return ""
    step, highest = width / (len(values) - 1), max(values)
    return " ".join(
        f"{place * step:.1f},{height - 1 - value / highest * (height - 2):.1f}"
        for place, value in enumerate(values)
    )


def chart(columns: Sequence[Column], *, noun: str, part: str) -> Chart:
    """A chart of the columns, scaled so that the highest fills its height."""
    highest = max([1, *(column.value for column in columns)])
    step, scale = WIDTH / max(len(columns), 1), HEIGHT / highest
    bars = [
        Bar(
            label=f"{column.name}: {column.value:,} {noun}, {column.part:,} {part}",
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
    shown = sorted({0, len(columns) // 2, len(columns) - 1}) if columns else []
    return Chart(bars, highest, [columns[number].name for number in shown])
