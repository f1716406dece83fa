"""Reads the tables of a PDF page whose cells have rules on all four sides."""

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bots.ingest.extraction.document import table_lines
from bots.ingest.extraction.pdf_layout import ALIGNED, MAX_RULE, MIN_RULE, Line, Rules

# Each cell may be compared with every other; on a page with more cells, tables are ignored.
_MAX_CELLS = 1_000


class _Cell(NamedTuple):
    """The rules around a cell of a table."""

    left: float
    bottom: float
    right: float
    top: float

    def touches(self, other: "_Cell") -> bool:
        return (
            self.left < other.right + MAX_RULE
            and other.left < self.right + MAX_RULE
            and self.bottom < other.top + MAX_RULE
            and other.bottom < self.top + MAX_RULE
        )


def with_rows(lines: Sequence[Line], drawn: Rules) -> list[Line]:
    """Replace the lines in each row of the ruled tables with one line."""
    cells: dict[_Cell, list[Line]] = {}
    for line in lines if drawn.upright else ():
        cell = _cell_of(line, drawn)
        if cell:
            cells.setdefault(cell, []).append(line)
    found: list[Line] = []
    taken = set[int]()
    for table in _tables(cells) if len(cells) <= _MAX_CELLS else ():
        rows = _rows({cell: cells[cell] for cell in table})
        if rows:
            found += rows
            taken |= {id(line) for cell in table for line in cells[cell]}
    return [*(line for line in lines if id(line) not in taken), *found]


def _cell_of(line: Line, drawn: Rules) -> _Cell | None:
    """The cell around a piece; None if it lacks a rule on one of its four sides."""
    xs = [x for x, low, high in drawn.upright if low <= line.middle <= high]
    left = max((x for x in xs if x <= line.x + ALIGNED), default=None)
    right = min((x for x in xs if x >= line.end - ALIGNED), default=None)
    if left is None or right is None:
        return None
    # A rule that begins further right underlines a text, or belongs to the next cell.
    ys = [y for y, low, high in drawn.level if low <= left + MAX_RULE and high >= left + MIN_RULE]
    bottom = max((y for y in ys if y < line.middle), default=None)
    top = min((y for y in ys if y > line.middle), default=None)
    return None if bottom is None or top is None else _Cell(left, bottom, right, top)


def _tables(cells: Iterable[_Cell]) -> Iterator[list[_Cell]]:
    """The groups of cells that touch each other."""
    others = set(cells)
    while others:
        table = [others.pop()]
        for cell in table:  # grows in the loop
            near = set(filter(cell.touches, others))
            table += near
            others -= near
        yield table


def _rows(cells: Mapping[_Cell, Sequence[Line]]) -> list[Line]:
    """The rows of a table; a cell that spans rows or columns is repeated in each.

    A single row or column is a frame around text, which has no rows.
    """
    lefts = _edges(cell.left for cell in cells)
    tops = _edges(cell.top for cell in cells)
    if min(len(lefts), len(tops)) < 2:
        return []
    right = max(cell.right for cell in cells)
    rows: list[dict[int, str]] = [{} for _ in tops]
    firsts: list[list[Line]] = [[] for _ in tops]
    for cell, parts in sorted(cells.items()):
        left, top = bisect(lefts, cell.left) - 1, bisect(tops, cell.top) - 1
        columns = range(left, max(left + 1, bisect(lefts, cell.right - MAX_RULE)))
        text = " ".join(part.text.strip() for part in parts)
        for row in range(min(top, bisect(tops, cell.bottom + MAX_RULE)), top + 1):
            # A cell that spans all columns is written once.
            for column in columns if len(columns) < len(lefts) else columns[:1]:
                rows[row][column] = f"{rows[row].get(column, '')} {text}".strip()
        firsts[top] += parts
    texts = table_lines(rows[::-1])
    return [
        Line(
            text,
            lefts[0],
            max(part.y for part in parts),
            min(part.size for part in parts),
            right,
            is_row=True,
        )
        for parts, text in zip(firsts, reversed(texts), strict=False)
    ]


def _edges(positions: Iterable[float]) -> list[float]:
    """The distinct positions in order; positions within MAX_RULE count as one."""
    found: list[float] = []
    for position in sorted(positions):
        if not found or position - found[-1] > MAX_RULE:
            found.append(position)
    return found
