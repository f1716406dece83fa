"""Writes table rows with bars, such as "Oolong | 12.00", so that customers can read them."""

import re
from collections.abc import Iterable

_BULLET = re.compile(r"\s*+- ")
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
# A cell with a figure and at most a unit or a currency, such as "12.00", "€ 9" or "100 g".
_FIGURE = re.compile(r"\W*+(?:[^\W\d_]{1,4}\W*+)?\d[\d.,:\s–-]*+\W*+(?:[^\W\d_]{1,6}\W*+)?")


def readable(text: str, passages: Iterable[str]) -> str:
    """The text with the table rows of the passages written as "Tea: Oolong, Price: 12.00" or,
    where a passage does not name the columns, as "Oolong: 12.00"."""
    if " | " not in text:
        return text
    rows: dict[str, list[str]] = {}
    for passage in passages:
        _add_rows(passage.split("\n"), rows)
    lines = text.split("\n")
    used = {tuple(rows[_bare(line)]) for line in lines if rows.get(_bare(line))}
    return "\n".join(
        _written(line, rows[_bare(line)]) if _bare(line) in rows else line
        for line in lines
        if tuple(_cells(line)) not in used
    )


def _add_rows(lines: Iterable[str], rows: dict[str, list[str]]) -> None:
    """Add the rows of tables, each with the names of its columns, or with none.

    Where no row above names the columns, only list items are rows: bars alone may be code.
    """
    header: list[str] = []
    for line in lines:
        cells = _cells(line)
        is_new = len(cells) != len(header)
        header = cells if is_new else header
        if cells and not is_new and _are_names(header, cells):
            rows[_bare(line)] = header
        elif cells and _BULLET.match(line):
            rows[_bare(line)] = []


def _are_names(header: list[str], cells: list[str]) -> bool:
    """Whether a table's first row names the columns of a later row, which ends with a figure."""
    name, last = header[-1], cells[-1]
    is_below = not _LETTER.search(last) or not _FIGURE.fullmatch(name)
    is_distinct = len(set(header)) == len(header) and not _DIGIT.search(header[0])
    is_named = is_distinct and all(map(_LETTER.search, header))
    return is_named and is_below and bool(_FIGURE.fullmatch(last))


def _written(line: str, names: list[str]) -> str:
    bullet = _BULLET.match(line)
    start, cells = bullet.group() if bullet else "", _cells(line)
    # A dash stands for an empty cell.
    if names:
        pairs = zip(names, cells, strict=True)
        return start + ", ".join(f"{name}: {cell}" for name, cell in pairs if cell not in {"", "–"})
    shown = [cell for cell in cells if cell not in {"", "–"}]
    return start + (": " if len(shown) == 2 else ", ").join(shown)


def _cells(line: str) -> list[str]:
    """The cells of a line with bars; none for another line."""
    return [cell.strip() for cell in _bare(line).split("|")] if " | " in line else []


def _bare(line: str) -> str:
    """A line without its bullet and the bars around it."""
    return _BULLET.sub("", line, count=1).strip("| ")
