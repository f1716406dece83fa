"""Writes CSV files line by line, with cells that no spreadsheet runs as formulas."""

import csv
import io
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

# A spreadsheet reads a cell that begins with one of these characters as a formula.
_SIGNS = "=+\\-@＝＋－＠"
_FORMULA = re.compile(f"[{_SIGNS}\t\r\n]")
# A spreadsheet that expects semicolons also splits quoted cells, at semicolons and line ends.
_FORMULA_INSIDE = re.compile(rf"(;\s*+|(?<!\s)[^\S\r\n]*+[\r\n]\s*+)(?=[{_SIGNS}])")


def escape_formula(value: Any) -> Any:
    """Escape text so that no spreadsheet reads it as a formula; return other values unchanged."""
    if not isinstance(value, str):
        return value
    inert = _FORMULA_INSIDE.sub(r"\1'", value)
    return f"'{inert}" if _FORMULA.match(inert) else inert


@contextmanager
def temporary_file() -> Iterator[IO[bytes]]:
    """A file to write in the block. The caller closes the file, unless the block raises."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - its reader closes it
    try:
        yield file
    except BaseException:
        file.close()
        raise
    file.seek(0)


def write(
    file: IO[bytes],
    columns: Sequence[str],
    lines: Iterable[Iterable[Any]],
    *,
    encoding: str = "utf-8-sig",
) -> None:
    """Write column names and lines, by default with a byte order mark, which spreadsheets need."""
    text = io.TextIOWrapper(file, encoding, newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    for line in lines:
        writer.writerow([escape_formula(value) for value in line])
    text.detach()
