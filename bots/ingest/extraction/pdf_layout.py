"""Finds the lines, columns and tables of a PDF page by the positions of its text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean
from typing import Any

from bots.ingest.extraction.document import table_lines

# In multiples of the font size: the height of a line, and the gaps between words and columns.
SAME_LINE, _SPACE, _GUTTER = 0.4, 0.15, 1.2
# A column of text has at least this many lines, of this many characters on average; columns with
# less are cells of a table.
_MIN_COLUMN_LINES, _MIN_COLUMN_CHARACTERS = 5, 20
# The rows of a table are more than this many times as far apart as the lines of a cell.
_ROW_STEP = 1.25
# In multiples of the font size: the largest step to the next line of a cell, and to the next row.
_LINE_STEP, _MAX_ROW_STEP = 1.5, 5
# How many rows with a single piece may follow each other inside a table.
_MAX_LONE = 4
# A gap between cells that is filled with spaces; a single one in a line is wider than a mistake.
_FILLED_GAP, _LONE_GAP = re.compile(r"(?<=\S) {3,}(?=\S)"), 5
# A cell that is not the name of a column.
_NO_NAME = re.compile(r"^\s*[a-z]|\d")
# A list marker, which belongs to the text after it however wide the gap.
_MARK = re.compile(r"\s*(?:[^\w\s]|\(?\w{1,3}[.)])\s*")


@dataclass(frozen=True)
class Line:
    """A piece of text; `x` and `y` count from the lower left corner, as if it were upright."""

    text: str
    x: float
    y: float
    size: float
    end: float

    def with_text(self, text: str) -> "Line":
        return replace(self, text=text)


def pieces(spans: Iterable[Any]) -> list[Line]:
    """Split the page's lines at wide gaps; the pieces come from the top down.

    Rotated text follows the upright text.
    """
    turned: dict[int, list[Line]] = {}
    for span in spans:
        turn, line = _upright(span)
        if line.text.strip():
            turned.setdefault(turn, []).extend(_cells(line))
    found: list[Line] = []
    for turn in sorted(turned):
        lines = [piece for row in _rows(turned[turn]) for piece in _joined(row)]
        # Put the text of each direction below that of the others.
        shift = min((line.y for line in found), default=0) - max(line.y for line in lines)
        found += lines if not found else [replace(line, y=line.y + shift - 99) for line in lines]
    return found


def _upright(span: Any) -> tuple[int, Line]:
    """The rotation of a span in quarter turns, and its line as if it were upright."""
    x, y, width, size = span.bbox
    left, bottom = span.page_bbox[:2]
    if span.bbox == span.page_bbox:
        return 0, Line(span.text, x, y, size, x + width)
    if left < x - size / 2 and abs(bottom - y) < size / 2:
        return 1, Line(span.text, y, -x, size, y + width)
    if left < x - size / 2:
        return 2, Line(span.text, -x, -y, size, width - x)
    return 3, Line(span.text, -y, x, size, width - y)


def _cells(line: Line) -> Iterator[Line]:
    """Split a line at wide gaps that are filled with spaces, as in a typewriter's table."""
    width = (line.end - line.x) / max(len(line.text), 1)
    gaps = list(_FILLED_GAP.finditer(line.text))
    start = 0
    for gap in [*(gap for gap in gaps if len(gaps) > 1 or len(gap[0]) >= _LONE_GAP), None]:
        end = gap.start() if gap else len(line.text)
        x = line.x + width * start
        yield replace(line, text=line.text[start:end], x=x, end=line.x + width * end)
        start = gap.end() if gap else end


def _rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Group lines at the same height into rows, from the top, each from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        if rows and rows[-1][0].y - line.y < SAME_LINE * max(line.size, rows[-1][0].size):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.x) for row in rows]


def _joined(row: Sequence[Line]) -> Iterator[Line]:
    """Join the parts of a row into pieces, which wide gaps separate."""
    current = row[0]
    for line in row[1:]:
        size = max(line.size, current.size)
        gap = line.x - current.end
        if gap >= _GUTTER * size and not _MARK.fullmatch(current.text):
            yield current
            current = line
            continue
        is_apart = gap > _SPACE * size and not (current.text[-1:] + line.text[:1]).count(" ")
        text = f"{current.text} {line.text}" if is_apart else current.text + line.text
        end = max(current.end, line.end)
        current = Line(text, current.x, current.y, size, end)
    yield current


def in_reading_order(lines: Sequence[Line]) -> list[Line]:
    """The lines in reading order: the left column first, and each table row as one line."""
    gutter = _gutter(lines)
    if gutter is None:
        return list(_with_tables(_rows(lines)))
    # A line across both columns, such as a title, separates the text above it from that below.
    ordered: list[Line] = []
    part: list[Line] = []
    for row in [*_rows(lines), None]:
        if row is None or any(line.x < gutter < line.end for line in row):
            for is_right in (False, True):
                column = [line for line in part if (line.x >= gutter) is is_right]
                ordered += _with_tables(_rows(column))
            part = []
            ordered += row or []
        else:
            part += row
    return ordered


def _gutter(lines: Sequence[Line]) -> float | None:
    """The left edge of a page's second column of running text; None if there is none."""
    if not lines:
        return None
    left, right = min(line.x for line in lines), max(line.end for line in lines)
    starts: dict[int, list[Line]] = {}
    for line in lines:
        if line.x > left + 0.35 * (right - left):
            starts.setdefault(round(line.x / 4), []).append(line)
    for start, found in sorted(starts.items()):
        if len(found) < _MIN_COLUMN_LINES:
            continue
        edge = 4.0 * start - 3
        before = [line for line in lines if line.end < edge]
        after = [line for line in lines if line.x >= edge]
        if (
            len(before) >= _MIN_COLUMN_LINES
            and 4 * len(after) >= len(lines)
            and all(map(_is_running_text, (before, after)))
            and not _has_common_steps(before, after)
        ):
            return edge
    return None


def _is_running_text(lines: Sequence[Line]) -> bool:
    firsts = [line.text.lstrip()[:1] for line in lines]
    going_on = sum(not (first.isupper() or first.isdigit()) for first in firsts)
    is_long = mean(len(line.text) for line in lines) >= _MIN_COLUMN_CHARACTERS
    return is_long and 5 * going_on >= len(lines)


def _has_common_steps(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether both columns have wide steps at the same heights, like the rows of a table."""
    wide = [_wide_steps(lines) for lines in (left, right)]
    common = [y for y in wide[0] if any(abs(y - other) < left[0].size for other in wide[1])]
    return len(common) >= 3 and 3 * len(common) >= 2 * max(map(len, wide))


def _wide_steps(lines: Sequence[Line]) -> list[float]:
    """The heights of the rows followed by a step much larger than the smallest."""
    rows = _rows(lines)
    steps = [above[0].y - below[0].y for above, below in pairwise(rows)]
    least = min(steps, default=0)
    return [row[0].y for row, step in zip(rows, steps, strict=False) if step > _ROW_STEP * least]


def _with_tables(rows: Sequence[list[Line]]) -> Iterator[Line]:
    """The lines of a page, with each table row as one line."""
    position = 0
    while position < len(rows):
        end = _table_end(rows, position)
        table = rows[position:end]
        columns = _columns(table)
        if len(columns) < 2:
            yield _as_line(rows[position])
            position += 1
            continue
        cells = [_in_columns(row, columns) for row in table]
        found = _unwrapped(table, cells)
        texts = table_lines([cells for _, cells in found])
        for (top, _), text in zip(found[-len(texts) :], texts, strict=True):
            yield replace(top, text=text)
        position = end


def _as_line(row: Sequence[Line]) -> Line:
    text = "   ".join(line.text for line in row)
    return Line(text, row[0].x, row[0].y, max(line.size for line in row), row[-1].end)


def _table_end(rows: Sequence[list[Line]], start: int) -> int:
    """The end of the rows that may be a table; rows of a single piece may be inside it."""
    if len(rows[start]) < 2:
        return start
    second = rows[start][1].x
    end = start + 1
    for position, (above, row) in enumerate(pairwise(rows[start:]), start + 1):
        if above[0].y - row[0].y > _MAX_ROW_STEP * row[0].size or position - end > _MAX_LONE:
            break
        if len(row) > 1:
            end = position + 1
        elif row[0].x < second < row[0].end:
            break  # text between two tables
    return end + (end < len(rows) and _is_rest(rows[end - 1], rows[end]))


def _is_rest(row: Sequence[Line], following: Sequence[Line]) -> bool:
    """Whether the line below the last row of a table continues one of its cells."""
    first = following[0]
    is_near = row[0].y - first.y < _LINE_STEP * first.size
    starts = [line for line in row if abs(line.x - first.x) < first.size]
    return len(following) == 1 and is_near and bool(starts) and first.text[:1].islower()


def _columns(table: Sequence[list[Line]]) -> list[tuple[float, float]]:
    """The columns of a table, by its fullest rows; fewer than two if it is not a table.

    A single row with more cells is a mistake, unless it names columns that are empty below.
    """
    counts = Counter(len(row) for row in table if len(row) > 1)
    if counts.total() < 2:
        return []
    most = max((count for count, rows in counts.items() if rows > 1), default=max(counts))
    if not any(map(_NO_NAME.search, (line.text for line in table[0]))):
        most = max(most, len(table[0]))
    columns: list[tuple[float, float]] = []
    longest = (line for row in table if len(row) == most for line in row)
    for line in sorted(longest, key=lambda line: line.x):
        if columns and line.x < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], line.end))
        else:
            columns.append((line.x, line.end))
    return columns


def _in_columns(row: Sequence[Line], columns: Sequence[tuple[float, float]]) -> dict[int, str]:
    cells: dict[int, str] = {}
    for line in row:
        middle = (line.x + line.end) / 2
        apart = [min(abs(line.x - left), abs(line.end - right), abs(middle - (left + right) / 2))
                 for left, right in columns]  # fmt: skip
        column = apart.index(min(apart))
        cells[column] = f"{cells[column]} {line.text}" if column in cells else line.text
    return cells


def _unwrapped(
    table: Sequence[list[Line]], cells: Sequence[dict[int, str]]
) -> list[tuple[Line, dict[int, str]]]:
    """The rows of a table; further lines of a cell are joined to the cell."""
    steps = [above[0].y - below[0].y for above, below in pairwise(table)]
    near = _ROW_STEP * min(steps, default=0)
    # If most rows are far apart, lines that are close together belong to one row.
    is_spaced = sum(step > near for step in steps) * 2 >= len(steps)
    columns = max(map(max, cells)) + 1
    found = [(_as_line(table[0]), dict(cells[0]))]
    for row, step, more in zip(table[1:], steps, cells[1:], strict=True):
        goes_on = 0 not in more or list(more) == [0]
        is_small = all(text[:1].islower() for text in more.values())
        if step <= near and len(more) < columns and (is_spaced or (goes_on and is_small)):
            for column, text in more.items():
                above = found[-1][1].get(column, "")
                found[-1][1][column] = f"{above} {text}" if above else text
        else:
            found.append((_as_line(row), dict(more)))
    return found
