"""Finds the lines, columns and tables of a PDF page by the positions of its text.

A rule is a straight line that a page draws, either level (horizontal) or upright (vertical). A
piece is a part of a line of text: a cell of a table, or the part in one column.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby, pairwise
from statistics import mean, median
from typing import Any

from bots.ingest.extraction.document import STRUCK, table_lines

# In multiples of the font size: the maximum difference in height between two texts of a row, and
# between a cell of one line and a cell of two lines next to it.
SAME_LINE, _BESIDE = 0.4, 0.62
# In multiples of the font size: the minimum gaps between words, between aligned cells, and between
# columns.
_SPACE, _CELL, _GUTTER = 0.15, 0.38, 1.2
# In points: how far the edges of aligned cells may differ.
ALIGNED = 1
# How many rows above and below a cell are compared, and how many of them must share one of its
# edges.
_NEAR, _MIN_ALIGNED = 3, 2
# In points: the maximum width and the minimum length of a rule.
MAX_RULE, MIN_RULE = 3, 8
# The heights between which a rule strikes letters out, in multiples of the font size.
_STRUCK = 0.18, 0.45
# If rules strike out more than this share of a page's letters, they are underlines.
_MAX_STRUCK_SHARE = 0.4
# A page with more rules is a drawing.
_MAX_RULES = 2_000
# A column of text has at least this many lines, of this many characters on average; smaller columns
# are cells of a table.
_MIN_COLUMN_LINES, _MIN_COLUMN_CHARACTERS = 5, 20
# Two evenly spaced columns are paragraphs side by side if each has at least this many lines.
_MIN_PARAGRAPH_LINES = 2
# The rows of a table are more than this many times as far apart as the lines of a cell.
_ROW_STEP = 1.25
# Tables are more than this many times as far apart as the rows of the upper one.
_TABLE_GAP_RATIO = 1.3
# A heading is at least this many times as large as the text.
MIN_HEADING_RATIO = 1.12
# In multiples of the font size: the largest step to the next line of a cell, and to the next row.
_LINE_STEP, _MAX_ROW_STEP = 1.45, 5
# How many rows with a single piece may follow each other inside a table, and how many of them may
# be in its first column.
_MAX_LONE, _MAX_FIRST = 12, 4
# The box of a span is wrong if it is more than this many times as wide as the span's letters.
_MAX_BOX_RATIO = 1.4
_GAP = re.compile(r"(?<=\S) +(?=\S)")
_WORD = re.compile(r"\S+")
# This many spaces separate cells. If a line has only one such gap, the gap needs the second number
# of spaces, since it may be a mistake.
_FILLED, _LONE_GAP = 3, 5
# A single space may separate cells if it is this many times as wide as the page's usual space. In
# a line with more than `_FEW_SPACES` spaces, it must also be this many times as wide as the line's
# narrowest space.
_WIDER, _FEW_SPACES = 1.3, 2
# Matches a cell that cannot be the name of a column.
_NO_NAME = re.compile(r"^\s*[a-z]|\d")
# The maximum number of characters of a list marker, which belongs to the text after it, however
# wide the gap.
_MAX_MARK = 3
# The texts of a row of a table, by column.
_Cells = dict[int, str]
_CLOSING = frozenset(")]%,.;:°")
_MARK = re.compile(r"\s*(?:[^\w\s]|\(?\w{1,3}[.)])\s*")


@dataclass(frozen=True)
class Line:
    """A piece of text, with its position in points, as if it were upright.

    `x` and `end` are its left and right edge, from the left of the page. `y` is its lower edge,
    from the bottom. `size` is the font size. `is_row` tells whether it is a whole row of a table.
    """

    text: str
    x: float
    y: float
    size: float
    end: float
    is_row: bool = False

    @property
    def middle(self) -> float:
        """The height of the middle of its letters."""
        return self.y + self.size / 3

    def with_text(self, text: str) -> "Line":
        return replace(self, text=text)


# A level rule: its y, and the x of both ends.
Level = tuple[float, float, float]


@dataclass(frozen=True)
class Rules:
    """The rules of a page, which may separate the cells of a table.

    An upright rule is given by its x and the y of both ends, a level rule by its y and the x of
    both ends.
    """

    upright: tuple[tuple[float, float, float], ...] = ()
    level: tuple[tuple[float, float, float], ...] = ()
    # Level rules that are drawn alone: they are not edges of boxes or letters.
    thin: tuple[tuple[float, float, float], ...] = ()
    # Bars over words of a line, given by their middle like level rules.
    bars: tuple[Level, ...] = ()

    def unstruck(self, line: Line, widths: Sequence[float]) -> str:
        """The text of a line with STRUCK for each letter that a rule or a bar hides."""
        low, high = (line.y + part * line.size for part in _STRUCK)
        crossing = [
            (start, end)
            for y, start, end in (*self.thin, *self.bars)
            if low < y < high and line.x - line.size < start and end < line.end + line.size
        ]
        if not crossing:
            return line.text
        middles = (left + width / 2 for left, width in zip(
            accumulate(widths, initial=line.x), widths, strict=False))  # fmt: skip
        return "".join(
            STRUCK if any(start < middle < end for start, end in crossing) else letter
            for letter, middle in zip(line.text, middles, strict=True)
        )

    def separate(self, left: Line, right: Line) -> bool:
        """Whether an upright rule is between two pieces of a row."""
        return any(
            left.end - ALIGNED <= x <= right.x + ALIGNED and low <= left.middle <= high
            for x, low, high in self.upright
        )

    def above(self, line: Line) -> int:
        """The number of level rules above a line."""
        return sum(y > line.middle and low <= line.x <= high for y, low, high in self.level)


def rules(paths: Iterable[Any]) -> Rules:
    """The rules among the lines and rectangles that a page draws."""
    upright, level, thin = (set[tuple[float, float, float]]() for _ in range(3))
    for path in paths:
        boxes = list(_boxes(path["operations"]))
        for x, y, width, height in boxes:
            if height <= MAX_RULE < MIN_RULE <= width:
                level.add((y, x, x + width))
            elif width <= MAX_RULE < MIN_RULE <= height:
                upright.add((x, y, y + height))
            elif min(width, height) >= MIN_RULE:
                level |= {(y, x, x + width), (y + height, x, x + width)}
                upright |= {(x, y, y + height), (x + width, y, y + height)}
        if len(boxes) == 1 and boxes[0][3] <= MAX_RULE < boxes[0][2]:
            x, y, width, height = boxes[0]
            thin.add((y + height / 2, x, x + width))
        if len(upright) + len(level) > _MAX_RULES:
            return Rules()
    return Rules(tuple(upright), tuple(level), tuple(thin))


def _boxes(operations: Iterable[Any]) -> Iterator[tuple[float, float, float, float]]:
    at: tuple[float, float] | None = None
    for item in operations:
        if item["op"] == "rectangle":
            x, y = item["x"], item["y"]
            width, height = item["width"], item["height"]
            yield min(x, x + width), min(y, y + height), abs(width), abs(height)
        elif item["op"] in {"move_to", "line_to"}:
            to = (item["x"], item["y"])
            if at is not None and item["op"] == "line_to":
                x, y = map(min, zip(at, to, strict=True))
                yield x, y, abs(at[0] - to[0]), abs(at[1] - to[1])
            at = to


def pieces(spans: Iterable[Any], drawn: Rules) -> list[Line]:
    """Split the page's lines into pieces, which are returned from the top down.

    Rotated text follows the upright text.
    """
    spans = list(spans)
    usual = _usual_space(spans)
    if _is_underlined(spans, drawn):
        drawn = replace(drawn, thin=())
    turned: dict[int, list[Line]] = {}
    for span in spans:
        turn, line = _upright(span)
        ruled = Rules() if turn else drawn
        widths = _widths(line, span.char_widths)
        line = line.with_text(ruled.unstruck(line, widths))
        if line.text.strip():
            cells = _cells(line, widths, usual, ruled.separate)
            turned.setdefault(turn, []).extend(cells)
    found: list[Line] = []
    for turn in sorted(turned):
        separate = (Rules() if turn else drawn).separate
        rows = [list(_joined(row, separate)) for row in _rows(turned[turn])]
        lines = [
            piece
            for number, row in enumerate(rows)
            for piece in _without_small_gaps(row, rows, number, separate)
        ]
        # Put the text of each direction below the text of the previous directions.
        shift = min((line.y for line in found), default=0) - max(line.y for line in lines)
        found += lines if not found else [replace(line, y=line.y + shift - 99) for line in lines]
    return found


def width_of(span: Any) -> float:
    """The width of an upright span; its box is sometimes many times too wide."""
    width, letters = float(span.bbox[2]), sum(span.char_widths)
    return letters if 0 < letters * _MAX_BOX_RATIO < width else width


def words(span: Any) -> Iterator[tuple[str, float, float]]:
    """Yield each word of an upright span with its left and right edge; nothing if their positions
    are uncertain."""
    turn, line = _upright(span)
    difference = sum(span.char_widths) - (line.end - line.x)
    if turn or len(span.char_widths) != len(line.text) or abs(difference) > ALIGNED:
        return
    edges = list(accumulate(_widths(line, span.char_widths), initial=line.x))
    for word in _WORD.finditer(line.text):
        yield word[0], edges[word.start()], edges[word.end()]


def _upright(span: Any) -> tuple[int, Line]:
    """The rotation of a span in quarter turns, and its line as if it were upright."""
    x, y, width, size = span.bbox
    left, bottom = span.page_bbox[:2]
    if span.bbox == span.page_bbox:
        return 0, Line(span.text, x, y, size, x + width_of(span))
    if left < x - size / 2 and abs(bottom - y) < size / 2:
        return 1, Line(span.text, y, -x, size, y + width)
    if left < x - size / 2:
        return 2, Line(span.text, -x, -y, size, width - x)
    return 3, Line(span.text, -y, x, size, width - y)


def _widths(line: Line, widths: Sequence[float]) -> Sequence[float]:
    """The widths of the letters of a line, which together are as wide as the line."""
    if len(widths) != len(line.text) or sum(widths) <= 0:
        return [(line.end - line.x) / max(len(line.text), 1)] * len(line.text)
    scale = (line.end - line.x) / sum(widths)
    return [width * scale for width in widths]


def _is_underlined(spans: Iterable[Any], drawn: Rules) -> bool:
    """Whether rules cross out so much of a page that they must be misplaced underlines."""
    total = struck = 0
    for span in spans if drawn.thin else ():
        turn, line = _upright(span)
        text = line.text if turn else drawn.unstruck(line, _widths(line, span.char_widths))
        total += len(line.text)
        struck += text.count(STRUCK)
    return struck > _MAX_STRUCK_SHARE * total


def _usual_space(spans: Sequence[Any]) -> float:
    """The usual width of a space, in multiples of the font size."""
    widths = [
        width / span.bbox[3]
        for span in spans
        if span.bbox[3] > 0
        for letter, width in zip(span.text, span.char_widths, strict=False)
        if letter == " "
    ]
    return median(widths) if widths else 0


def _cells(
    line: Line, widths: Sequence[float], usual: float, separate: Callable[[Line, Line], bool]
) -> Iterator[Line]:
    """Split a line into what may be cells.

    They may be separated by a rule, by many spaces, or by a space that is wider than the others.
    """
    positions = list(accumulate(widths, initial=line.x))
    gaps = list(_GAP.finditer(line.text))
    spaces = [positions[gap.end()] - positions[gap.start()] for gap in gaps if len(gap[0]) == 1]
    narrowest = min(spaces, default=0) if len(spaces) > _FEW_SPACES else 0
    wide = max(_CELL * line.size, _WIDER * max(usual * line.size, narrowest))
    filled = sum(len(gap[0]) >= _FILLED for gap in gaps)

    def part(start: int, end: int) -> Line:
        return replace(line, text=line.text[start:end], x=positions[start], end=positions[end])

    start = 0
    for gap in gaps:
        left, right = part(start, gap.start()), part(gap.end(), len(line.text))
        spaces_in_gap = len(gap[0])
        is_filled = spaces_in_gap >= (_FILLED if filled > 1 else _LONE_GAP)
        is_wide = spaces_in_gap == 1 and right.x - left.end >= wide
        if is_filled or is_wide or separate(left, right):
            yield left
            start = gap.end()
    yield part(start, len(line.text))


def _rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Group lines at the same height into rows, from the top, each from left to right.

    A cell of one line may be centered beside a cell of two lines.
    """
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        step = rows[-1][0].y - line.y if rows else 0
        size = max(line.size, rows[-1][0].size) if rows else 0
        is_beside = step < _BESIDE * size and all(
            max(line.x - other.end, other.x - line.end) >= _GUTTER * size
            for other in rows[-1]
            if other.y - line.y >= SAME_LINE * size
        )
        if step < SAME_LINE * size or is_beside:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.x) for row in rows]


def _joined(row: Sequence[Line], separate: Callable[[Line, Line], bool]) -> Iterator[Line]:
    """Join the parts of a row that are closer to each other than the cells of a table."""
    current = row[0]
    for line in row[1:]:
        is_cell = line.x - current.end >= _CELL * max(line.size, current.size)
        if is_cell or separate(current, line):
            yield current
            current = line
        else:
            current = _together(current, line)
    yield current


def _together(left: Line, right: Line) -> Line:
    size = max(left.size, right.size)
    is_apart = right.x - left.end > _SPACE * size
    space = " " if is_apart and not (left.text[-1:] + right.text[:1]).count(" ") else ""
    end = max(left.end, right.end)
    return Line(left.text + space + right.text, left.x, left.y, size, end)


def _without_small_gaps(
    row: Sequence[Line],
    rows: Sequence[Sequence[Line]],
    number: int,
    separate: Callable[[Line, Line], bool],
) -> Iterator[Line]:
    """Join the pieces of a row, except at wide gaps, at rules, and at edges that several nearby
    rows share."""
    current = row[0]
    for left, line in pairwise(row):
        is_wide = line.x - left.end >= _GUTTER * max(left.size, line.size)
        is_cell = separate(left, line) or is_wide
        if not is_cell and not _is_mark(left, line, is_first=left is row[0]):
            above, below = rows[max(0, number - _NEAR) : number][::-1], rows[number + 1 :][:_NEAR]
            is_cell = _aligned(line, above) + _aligned(line, below) >= _MIN_ALIGNED
        if is_cell and not _MARK.fullmatch(current.text):
            yield current
            current = line
        else:
            current = _together(current, line)
    yield current


def _is_mark(left: Line, right: Line, *, is_first: bool) -> bool:
    """Whether the left piece is not a cell, but belongs to the right one.

    It is a list marker or a line number, or the right piece is a closing mark.
    """
    text = left.text.strip()
    if (len(text) == 1 and not text.isdecimal()) or right.text.strip() in _CLOSING:
        return True
    return is_first and len(text) <= _MAX_MARK and right.text.lstrip()[:1].isalpha()


def _aligned(line: Line, rows: Iterable[Sequence[Line]]) -> int:
    """The number of rows with a piece that shares an edge with the piece `line`.

    Counting ends at a row with a piece that crosses the left edge of `line`.
    """
    count = 0
    for row in rows:
        if any(other.x < line.x - ALIGNED and other.end > line.x + ALIGNED for other in row):
            break
        edges = ((other.x - line.x, other.end - line.end) for other in row[1:])
        count += any(min(map(abs, both)) <= ALIGNED for both in edges)
    return count


def in_reading_order(lines: Sequence[Line], drawn: Rules) -> list[Line]:
    """The lines in reading order: the columns from the left, and each table row as one line."""
    gutter = _gutter(lines)
    if gutter is None:
        return list(_with_tables(_rows(lines), drawn))
    # A line across both columns, such as a title, separates the text above it from the text below.
    ordered: list[Line] = []
    part: list[Line] = []
    for row in [*_rows(lines), None]:
        if row is None or any(line.x < gutter < line.end for line in row):
            for is_right in (False, True):
                column = [line for line in part if (line.x >= gutter) is is_right]
                ordered += in_reading_order(column, drawn)
            part = []
            ordered += row or []
        else:
            part += row
    return ordered


def _gutter(lines: Sequence[Line], fewest: int = _MIN_COLUMN_LINES) -> float | None:
    """The left edge of a second column of running text; None if there is none."""
    lines = [line for line in lines if not line.is_row]
    if not lines:
        return None
    left, right = min(line.x for line in lines), max(line.end for line in lines)
    starts: dict[int, list[Line]] = {}
    for line in lines:
        if line.x > left + 0.25 * (right - left):
            starts.setdefault(round(line.x / 4), []).append(line)
    for start, found in sorted(starts.items()):
        if len(found) < fewest:
            continue
        edge = 4.0 * start - 3
        before = [line for line in lines if line.end < edge]
        after = [line for line in lines if line.x >= edge]
        if (
            len(before) >= fewest
            and 4 * len(after) >= len(lines)
            and all(map(_is_running_text, (before, after)))
            and not _has_common_steps(before, after)
        ):
            return edge
    return None


def _is_running_text(lines: Sequence[Line]) -> bool:
    firsts = [line.text.lstrip()[:1] for line in lines]
    continuing = sum(not (first.isupper() or first.isdigit()) for first in firsts)
    is_long = mean(len(line.text) for line in lines) >= _MIN_COLUMN_CHARACTERS
    return is_long and 5 * continuing >= len(lines)


def _has_common_steps(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether both columns have wide gaps at the same heights, as between rows of a table."""
    wide = [_wide_steps(lines) for lines in (left, right)]
    common = [y for y in wide[0] if any(abs(y - other) < left[0].size for other in wide[1])]
    return len(common) >= 3 and 3 * len(common) >= 2 * max(map(len, wide))


def _wide_steps(lines: Sequence[Line]) -> list[float]:
    """The heights of the rows below which the gap is much larger than the smallest gap."""
    rows = _rows(lines)
    steps = [above[0].y - below[0].y for above, below in pairwise(rows)]
    smallest = min(steps, default=0)
    return [row[0].y for row, step in zip(rows, steps, strict=False) if step > _ROW_STEP * smallest]


def _with_tables(rows: Sequence[list[Line]], drawn: Rules) -> Iterator[Line]:
    """The lines of a page, with each table row as one line."""
    position = 0
    while position < len(rows):
        end = _table_end(rows, position)
        table = rows[position:end]
        paragraphs = _paragraphs_beside(table)
        if paragraphs:
            yield from paragraphs
            position = end
            continue
        columns = _columns(table)
        if len(columns) < 2:
            yield _as_line(rows[position])
            position += 1
            continue
        cells = [_in_columns(row, columns) for row in table]
        found = _unwrapped(table, cells, drawn)
        texts = table_lines([cells for _, cells in found])
        for (top, _), text in zip(found[-len(texts) :], texts, strict=True):
            yield replace(top, text=text)
        position = end


def _paragraphs_beside(rows: Sequence[list[Line]]) -> list[Line]:
    """The lines of the rows if these are two paragraphs side by side, not a table; else none."""
    gutter = _gutter(list(chain(*rows)), _MIN_PARAGRAPH_LINES) if len(rows) > 1 else None
    if gutter is None:
        return []
    steps = [above[0].y - below[0].y for above, below in pairwise(rows)]
    columns = [
        [line for row in rows for line in row if (line.x >= gutter) is is_right]
        for is_right in (False, True)
    ]
    is_even = max(steps) <= _ROW_STEP * min(steps)
    begins = all(column[0].text.lstrip()[:1].isupper() for column in columns)
    return [_as_line(row) for column in columns for row in _rows(column)] * (is_even and begins)


def _as_line(row: Sequence[Line]) -> Line:
    text = "   ".join(line.text for line in row)
    return Line(text, row[0].x, row[0].y, max(line.size for line in row), row[-1].end)


def _table_end(rows: Sequence[list[Line]], start: int) -> int:
    """The end of what may be a table that begins at row `start`: the index after its last row.

    Rows of a single piece may be inside the table. Returns `start` if no table begins there.
    """
    # A cell of several lines may begin above the others of its row.
    first = next((row for row in rows[start : start + 2] if len(row) > 1), rows[start])
    is_in_row = first is rows[start] or abs(rows[start][0].x - first[-1].x) <= ALIGNED
    if len(first) < 2 or not is_in_row or any(line.is_row for line in rows[start]):
        return start
    second = first[1].x
    end = start + 1
    in_first = 0
    for position, (above, row) in enumerate(pairwise(rows[start:]), start + 1):
        if above[0].y - row[0].y > _MAX_ROW_STEP * row[0].size:
            break
        if position - end > _MAX_LONE or in_first > _MAX_FIRST:
            break
        is_heading = len(row) == 1 and row[0].size >= MIN_HEADING_RATIO * above[0].size
        if is_heading or any(line.is_row for line in row) or _is_beside(row, rows[start:end]):
            break
        if len(row) > 1:
            if _begins_table(rows[start:end], rows[end - 1 : position + 1]):
                break
            end, in_first = position + 1, 0
        elif row[0].x < second < row[0].end:
            break  # text between two tables
        else:
            in_first += row[0].x < second - ALIGNED
    while end < len(rows) and _continues_cell(rows[end - 1], rows[end]):
        end += 1
    return end


def _begins_table(table: Sequence[list[Line]], following: Sequence[list[Line]]) -> bool:
    """Whether the last of the rows `following` begins a table of its own.

    It does if it is further below the table than the table's rows are apart, and has other columns
    or new column names.
    """
    row = following[-1]
    inside, below = (
        [above[0].y - below[0].y for above, below in pairwise(rows)] for rows in (table, following)
    )
    if not inside or max(below) <= _TABLE_GAP_RATIO * max(inside):
        return False
    above = list(chain(*table))
    is_other = not all(any(_shares_edge(line, cell) for cell in above) for line in row[1:])
    return is_other or (
        len(row) >= max(map(len, table)) and _has_names(row) > _has_names(table[-1])
    )


def _is_beside(row: Sequence[Line], table: Sequence[list[Line]]) -> bool:
    """Whether a piece of a row is to the right of a table."""
    is_begun = len(table) > 1 and not _has_names(table[-1])
    above = list(chain(*table)) if is_begun else []
    right = max((line.end for line in above), default=float("inf"))
    return any(
        line.x + line.end > 2 * right and not any(_shares_edge(line, cell) for cell in above)
        for line in row
    )


def _has_names(row: Sequence[Line]) -> bool:
    """Whether the cells of a row may name columns."""
    return not any(_NO_NAME.search(line.text) for line in row)


def _shares_edge(line: Line, other: Line) -> bool:
    edges = (line.x - other.x, line.end - other.end, (line.x + line.end - other.x - other.end) / 2)
    return min(map(abs, edges)) <= ALIGNED


def _continues_cell(row: Sequence[Line], following: Sequence[Line]) -> bool:
    """Whether the line below the last row of a table continues one of its cells."""
    first = following[0]
    is_near = row[0].y - first.y < _LINE_STEP * first.size
    starts = [line for line in row if abs(line.x - first.x) < first.size]
    return len(following) == 1 and is_near and bool(starts) and first.text[:1].islower()


def _columns(table: Sequence[list[Line]]) -> list[tuple[float, float]]:
    """The left and right edges of the columns, from the rows with the most cells. If there are
    fewer than two columns, `table` is not a table.

    If only one row has the most cells, it is ignored as a mistake, unless it is the first row and
    may name columns that are empty below.
    """
    counts = Counter(len(row) for row in table if len(row) > 1)
    if counts.total() < 2:
        return []
    cell_count = max((count for count, rows in counts.items() if rows > 1), default=max(counts))
    if _has_names(table[0]):
        cell_count = max(cell_count, len(table[0]))
    columns: list[tuple[float, float]] = []
    in_fullest = (line for row in table if len(row) == cell_count for line in row)
    for line in sorted(in_fullest, key=lambda line: line.x):
        if columns and line.x < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], line.end))
        else:
            columns.append((line.x, line.end))
    return columns


_Pieces = dict[int, Line]


def _in_columns(row: Sequence[Line], columns: Sequence[tuple[float, float]]) -> _Pieces:
    cells: _Pieces = {}
    for line in row:
        middle = (line.x + line.end) / 2
        apart = [min(abs(line.x - left), abs(line.end - right), abs(middle - (left + right) / 2))
                 for left, right in columns]  # fmt: skip
        column = apart.index(min(apart))
        text = f"{cells[column].text} {line.text}" if column in cells else line.text
        cells[column] = line.with_text(text)
    return cells


def _unwrapped(
    table: Sequence[list[Line]], cells: Sequence[_Pieces], drawn: Rules
) -> list[tuple[Line, _Cells]]:
    """The rows of a table, whose cells may have several lines each, at different heights.

    Rows are told apart by the rules between them, by the distances between lines, or by lines that
    begin in lower case.
    """
    lines = [(_as_line(row), row_cells) for row, row_cells in zip(table, cells, strict=True)]
    step = _step_in_cells(lines)
    found: list[tuple[Line, _Cells]] = []
    bands = [list(band) for _, band in groupby(lines, key=lambda item: drawn.above(item[0]))]
    for band in bands:
        is_ruled = len(bands) > 1 and (_is_one_row(band) or _has_common_place(band, step))
        groups = [band] if is_ruled else list(_near(band, step))
        for group in groups:
            is_apart = len(bands) > 1 or len(groups) > 1
            is_row = is_apart and (_is_one_row(group) or _has_common_place(group, step))
            found += [_merged(group)] if is_row else _by_letters(group)
    return found


def _step_in_cells(lines: Sequence[tuple[Line, _Pieces]]) -> float:
    """The smallest distance between two lines of one column."""
    latest: dict[int, float] = {}
    steps = []
    for line, cells in lines:
        found = (latest[column] - cell.y for column, cell in cells.items() if column in latest)
        steps += [step for step in found if step > _BESIDE * line.size]
        latest |= {column: cell.y for column, cell in cells.items()}
    return min(steps, default=0)


def _near(
    lines: Sequence[tuple[Line, _Pieces]], step: float
) -> Iterator[list[tuple[Line, _Pieces]]]:
    """Yield groups of lines that are as close to each other as the lines of a cell."""
    group = [lines[0]]
    is_within = step <= _LINE_STEP * lines[0][0].size
    for above, below in pairwise(lines):
        if is_within and above[0].y - below[0].y > _ROW_STEP * step:
            yield group
            group = []
        group.append(below)
    yield group


def _is_one_row(lines: Sequence[tuple[Line, _Pieces]]) -> bool:
    """Whether at most one of the lines looks like a row of its own."""
    begins = (
        len(cells) > 1 and not all(map(_starts_lower_case, cells.values())) for _, cells in lines
    )
    return sum(begins) <= 1


def _has_common_place(lines: Sequence[tuple[Line, _Pieces]], step: float) -> bool:
    """Whether lines look like cells of different lengths that are all at the top, in the middle or
    at the bottom of one row."""
    heights: dict[int, list[float]] = {}
    for _, cells in lines:
        for column, cell in cells.items():
            heights.setdefault(column, []).append(cell.y)
    size = lines[0][0].size
    is_whole = step <= _LINE_STEP * size and all(
        above - below <= _ROW_STEP * step
        for column in heights.values()
        for above, below in pairwise(column)
    )
    lengths = {len(column) for column in heights.values()}
    places = zip(*((column[0], column[-1], (column[0] + column[-1]) / 2)
                   for column in heights.values()), strict=True)  # fmt: skip
    return (
        is_whole
        and len(lengths) > 1
        and any(max(place) - min(place) <= SAME_LINE * size for place in places)
    )


def _starts_lower_case(cell: Line) -> bool:
    return cell.text[:1].islower()


def _merged(lines: Sequence[tuple[Line, _Pieces]]) -> tuple[Line, _Cells]:
    merged: _Cells = {}
    for _, cells in lines:
        for column, cell in cells.items():
            merged[column] = f"{merged[column]} {cell.text}" if column in merged else cell.text
    return lines[0][0], dict(sorted(merged.items()))


def _by_letters(lines: Sequence[tuple[Line, _Pieces]]) -> Iterator[tuple[Line, _Cells]]:
    """Yield the rows of evenly spaced lines. A line that begins in lower case continues a cell."""
    group = [lines[0]]
    for line, cells in lines[1:]:
        above = _merged(group)[1]
        is_part = 0 not in cells or list(cells) == [0]
        is_rest = is_part and all(map(_starts_lower_case, cells.values()))
        ends_name = list(above) == [0] and 0 in cells and _starts_lower_case(cells[0])
        if not (is_rest or ends_name):
            yield _merged(group)
            group = []
        group.append((line, cells))
    yield _merged(group)
