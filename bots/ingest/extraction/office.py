"""Reads spreadsheets and presentations, which are zip archives of XML parts (ECMA-376)."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from bots.ingest.extraction import number_formats
from bots.ingest.extraction.document import (
    MAX_ROWS,
    STRUCK,
    Content,
    ExtractError,
    Section,
    check_length,
    headed_row,
    labeled_row,
    names_below,
    remove_strikethrough,
    table_lines,
    warning_line,
)

# These limits are checked in the archive's directory, before anything is unpacked.
MAX_ZIP_ENTRIES = 2_000
MAX_ZIP_BYTES = 100 * 2**20
# The maximum size of one part, in bytes. A part that is loaded as a whole takes up to 100 times its
# size in memory, so the large parts of a workbook are streamed.
MAX_XML_BYTES = 8 * 2**20
MAX_STREAMED_BYTES = 64 * 2**20
MAX_SLIDES = 2_000

# The maximum number of columns that a merged cell fills to the right of its first column.
_MAX_MERGED_COLUMNS = 60
# A sheet with more merged cells is a drawing, not a table.
_MAX_MERGED = 1_000
# The maximum number of columns of a sheet.
_MAX_COLUMNS = 16_384
# Text of this size or less is too small to read.
_TINY_POINTS = 1.5
# XML values that mean false.
OFF = frozenset({"0", "false", "off"})
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\b[^<>]*?\bref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
_YEARS = range(1900, 2101)
_DIGIT = re.compile(r"\d")


def check_zip(archive: zipfile.ZipFile, main_part: str, max_part: int) -> None:
    entries = archive.infolist()
    if main_part not in {entry.filename for entry in entries}:
        raise ExtractError(
            "unsupported_type", "The file can't be read. It's damaged or its extension is wrong."
        )
    if any(entry.flag_bits & 1 for entry in entries):
        raise ExtractError("encrypted", "The document is password-protected.")
    parts = [entry.file_size for entry in entries if entry.filename.endswith((".xml", ".rels"))]
    if (
        len(entries) > MAX_ZIP_ENTRIES
        or sum(entry.file_size for entry in entries) > MAX_ZIP_BYTES
        or max(parts) > max_part
    ):
        raise ExtractError("too_large", "The document is too large when unpacked.")


def parsed(archive: zipfile.ZipFile, part: str) -> Any:
    """The root element of a part; None if the archive has no such part."""
    from lxml import etree  # noqa: PLC0415  only the child process loads parsers

    if part not in archive.namelist():
        return None
    if archive.getinfo(part).file_size > MAX_XML_BYTES:
        raise ExtractError("too_large", "The document is too large when unpacked.")
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.fromstring(archive.read(part), parser)


def _streamed(archive: zipfile.ZipFile, part: str, *tags: str) -> Iterator[Any]:
    """Yield the elements of a part with these names, or nothing if there is no such part.

    Each element is emptied before the next one is read.
    """
    from lxml import etree  # noqa: PLC0415  only the child process loads parsers

    if part not in archive.namelist():
        return
    with archive.open(part) as file:
        for _, element in etree.iterparse(
            file,
            tag=[f"{{*}}{tag}" for tag in tags],
            resolve_entities=False,
            no_network=True,
        ):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def name_of(element: Any) -> str:
    """The name of an element without its namespace; "" for comments."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Any, name: str, default: str | None = None) -> Any:
    """The value of an attribute in any namespace; `default` if there is no such attribute."""
    found = (value for key, value in element.attrib.items() if key.rpartition("}")[2] == name)
    return next(found, default)


def is_unreadable(colour: str, points: float | None, *, has_ground: bool) -> bool:
    """Whether text is too small to read, or is white without a background of its own."""
    is_tiny = points is not None and points <= _TINY_POINTS
    return is_tiny or (not has_ground and colour.lstrip("#").upper() == "FFFFFF")


def title_of(archive: zipfile.ZipFile) -> str:
    properties = parsed(archive, "docProps/core.xml")
    return "" if properties is None else (properties.findtext("{*}title") or "").strip()


def _listed_parts(archive: zipfile.ZipFile, part: str, root: Any, tag: str) -> list[Any]:
    """The elements with this tag, each with the name of the part to which it refers."""
    folder, name = posixpath.split(part)
    relations = parsed(archive, f"{folder}/_rels/{name}.rels")
    targets = {
        relation.get("Id"): posixpath.normpath(posixpath.join(f"/{folder}", relation.get("Target")))
        for relation in ([] if relations is None else relations)
        if relation.get("Target")
    }
    listed = []
    for element in root.iter(f"{{*}}{tag}"):
        ids = [value for key, value in element.attrib.items() if key.endswith("}id")]
        if ids and ids[0] in targets:
            listed.append((element, targets[ids[0]].lstrip("/")))
    return listed


def read_xlsx(path: Path) -> Content:
    """Read each row as a section under the name of its sheet; hidden sheets are skipped."""
    with zipfile.ZipFile(path) as archive:
        check_zip(archive, "xl/workbook.xml", MAX_STREAMED_BYTES)
        workbook = parsed(archive, "xl/workbook.xml")
        properties = workbook.find("{*}workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        cells = _Cells(
            strings=[_rich_text(item) for item in _streamed(archive, "xl/sharedStrings.xml", "si")],
            formats=_cell_formats(archive),
            epoch=number_formats.EPOCH_1904 if is_1904 else number_formats.EPOCH,
        )
        sections: list[Section] = []
        characters = 0
        hidden = []
        sheets = _listed_parts(archive, "xl/workbook.xml", workbook, "sheet")
        for sheet, part in sheets:
            if sheet.get("state", "visible") != "visible":
                hidden.append(sheet.get("name", ""))
            else:
                for section in table(sheet.get("name", ""), cells.rows(archive, part)):
                    sections.append(section)
                    characters += len(section.text)
                    check_length(characters)
                    if len(sections) > MAX_ROWS:
                        raise ExtractError(
                            "too_large", "The table has more rows than the limit", MAX_ROWS
                        )
        named = hidden and f"{', '.join(hidden)} ({len(hidden)}/{len(sheets)})"
        warning = warning_line("Hidden sheets, which were left out", named or "")
        return Content(title_of(archive), sections, warning)


def _rich_text(item: Any) -> str:
    """The text of an item, without struck-out parts and phonetic guides of East Asian words."""
    text = ""
    for run in item.iterfind("{*}r"):
        is_struck = _is_struck(run.find("{*}rPr"))
        text += STRUCK if is_struck else "".join(part.text or "" for part in run.iterfind("{*}t"))
    return remove_strikethrough(text + "".join(part.text or "" for part in item.iterfind("{*}t")))


def _is_struck(font: Any) -> bool:
    strike = None if font is None else font.find("{*}strike")
    return strike is not None and strike.get("val") not in OFF


def _is_white(font: Any) -> bool:
    colour = font.find("{*}color")
    return colour is not None and (
        colour.get("rgb", "").upper() == "FFFFFFFF" or colour.get("theme") == "0"
    )


def _cell_formats(archive: zipfile.ZipFile) -> list[str]:
    """The number format of each cell style; HIDDEN for styles with struck-out or white text."""
    styles = parsed(archive, "xl/styles.xml")
    if styles is None:
        return []
    codes = dict(number_formats.BUILT_IN)
    for number_format in styles.iterfind("{*}numFmts/{*}numFmt"):
        code = number_format.get("formatCode") or ""
        codes[int(number_format.get("numFmtId"))] = code[: number_formats.MAX_CHARACTERS]
    fonts = [*styles.iterfind("{*}fonts/{*}font")]
    fills = [*styles.iterfind("{*}fills/{*}fill/{*}patternFill")]

    def hides(style: Any) -> bool:
        font = fonts[int(style.get("fontId") or 0) :][:1]
        fill = fills[int(style.get("fillId") or 0) :][:1]
        is_plain = all(item.get("patternType", "none") == "none" for item in fill)
        return any(_is_struck(item) or (is_plain and _is_white(item)) for item in font)

    return [
        number_formats.HIDDEN if hides(style) else codes.get(int(style.get("numFmtId") or 0), "")
        for style in styles.iterfind("{*}cellXfs/{*}xf")
    ]


@dataclass
class _Merged:
    """A merged cell; its text is stored in its first row and column."""

    top: int
    bottom: int
    left: int
    right: int
    text: str = ""


@dataclass
class Row:
    """The filled cells of a row by column. If all of them are words or years, the row may name the
    columns (`is_header`)."""

    values: dict[int, str]
    is_header: bool = True
    words: int = 0
    # Whether a cell spans several columns, as the name of a group of columns does.
    is_group: bool = False

    def add(self, column: int, text: str, *, is_word: bool) -> None:
        self.values[column] = text
        if not is_word and not (text.isdecimal() and int(text) in _YEARS):
            self.is_header = False
        self.words += is_word

    @property
    def is_named(self) -> bool:
        """Whether the row certainly names columns: none of its words contains a digit."""
        words = (word for word in self.values.values() if not word.isdecimal())
        return self.is_header and self.words > 0 and not any(map(_DIGIT.search, words))

    def fill(self, number: int, merged: list[_Merged]) -> None:
        """Copy the text of merged cells to all columns that they cover in this row.

        A merged cell that is the only filled cell of the row is not copied.
        """
        for cell in merged:
            if not cell.top <= number <= cell.bottom:
                continue
            if number == cell.top:
                cell.text = self.values.get(cell.left, "")
            has_others = bool(self.values.keys() - {cell.left})
            if cell.text and has_others:
                self.values |= dict.fromkeys(range(cell.left, cell.right + 1), cell.text)
                self.is_group |= number == cell.top and cell.right > cell.left


def _merged_cells(archive: zipfile.ZipFile, part: str) -> list[_Merged]:
    """The merged cells of a sheet; none if it has so many that it is a drawing, not a table.

    They are read before the rows, although they follow the rows in the sheet.
    """
    found: list[_Merged] = []
    rest = b""
    with archive.open(part) as file:
        while block := file.read(2**20):
            for left, top, right, bottom in _MERGED.findall(rest + block):
                first = _column(left.decode())
                last = min(_column(right.decode()), first + _MAX_MERGED_COLUMNS)
                found.append(_Merged(int(top), int(bottom), first, last))
            cut = (rest + block).rfind(b"<")
            rest = (rest + block)[cut:] if cut >= 0 else b""
            if len(found) > _MAX_MERGED or len(rest) > 2**20:
                return []
    return found


def _is_hidden(element: Any, size: str, *, default: bool = False) -> bool:
    """Whether a row or column is hidden, or its height or width is 0."""
    hidden = element.get("hidden")
    by_size = element.get(size) is not None and float(element.get(size)) == 0
    return (default if hidden is None else hidden not in OFF) or by_size


class _Cells:
    """Reads the cells of a workbook as they are shown."""

    def __init__(self, strings: list[str], formats: list[str], epoch: datetime) -> None:
        self._strings = strings
        self._formats = formats
        self._epoch = epoch

    def rows(self, archive: zipfile.ZipFile, part: str) -> Iterator[Row]:
        """The visible rows with their filled cells."""
        merged = _merged_cells(archive, part)
        hidden: set[int] = set()
        number, is_hidden_by_default = 0, False
        for element in _streamed(archive, part, "sheetFormatPr", "col", "row"):
            if element.tag.endswith("}sheetFormatPr"):
                is_hidden_by_default = element.get("zeroHeight", "0") not in OFF
            elif element.tag.endswith("}col"):
                if _is_hidden(element, "width"):
                    last = min(int(element.get("max") or 0), _MAX_COLUMNS)
                    hidden.update(range(int(element.get("min") or 0), last + 1))
            else:
                number = int(element.get("r") or number + 1)
                row = self._row(element, hidden)
                row.fill(number, merged)
                is_shown = not _is_hidden(element, "ht", default=is_hidden_by_default)
                if row.values and is_shown:
                    yield row

    def _row(self, element: Any, hidden: set[int]) -> Row:
        row = Row({})
        column = 0
        for cell in element.iterfind("{*}c"):
            column = _column(cell.get("r")) or column + 1
            text = "" if column in hidden else " ".join(self._text(cell).split())
            if text:
                row.add(column, text, is_word=cell.get("t") in {"s", "str", "inlineStr"})
        return row

    def _text(self, cell: Any) -> str:
        kind = cell.get("t", "n")
        style = int(cell.get("s") or 0)
        code = self._formats[style] if style < len(self._formats) else ""
        if code == number_formats.HIDDEN:
            return ""
        if kind == "inlineStr":
            return "".join(map(_rich_text, cell.iterfind("{*}is")))
        value = cell.findtext("{*}v") or ""
        if kind == "s":
            return self._strings[int(value)] if value else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind == "e":
            return ""
        if kind != "n" or not value:
            return value
        return number_formats.format_number(value, code, self._epoch)


def _column(reference: str | None) -> int:
    """The number of a cell's column, from 1: 28 for "AB7"; 0 if there is no reference."""
    number = 0
    for letter in reference or "":
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
    return number


def table(name: str, rows: Iterator[Row]) -> Iterator[Section]:
    """Yield a section for each row of a sheet, except rows that name columns.

    The first row with several cells names the columns if its cells are words or years. If it names
    groups of columns, the next row of words or years names the columns. Above the names, a row with
    a single cell is text, and so is a row with fewer cells than there are names in the next row.
    """
    header: dict[int, str] | None = None
    is_group = False
    for row, following in pairwise(chain(rows, [Row({})])):
        values = row.values
        is_header = row.is_header and row.words > 0
        names = following.values
        is_above = is_header and following.is_named and len(names) > len(values) > 1
        is_short = is_above and min(values) == min(names)
        # The names of groups begin to the right of the first column, and below each group the same
        # column names are repeated.
        if is_above and not is_short and len({*names.values()}) < len(names):
            row.is_group = True
            values = _filled(values, names)
        if header is None and len(values) > 1 and (row.is_group or not is_short):
            header, is_group = (values, row.is_group) if is_header else ({}, False)
            if is_header:
                continue
        elif header and is_group and is_header:
            header, is_group = names_below(header, values), False
            continue
        is_group = False
        yield Section(headed_row(name, header or {}, values), labeled_row(header or {}, values))


def _filled(groups: dict[int, str], names: dict[int, str]) -> dict[int, str]:
    """The group name of each column; the sheet has it only above the group's first column."""
    filled: dict[int, str] = {}
    for column in sorted(groups.keys() | names.keys()):
        above = groups.get(column) or filled.get(column - 1, "")
        if above:
            filled[column] = above
    return filled


def read_pptx(path: Path) -> Content:
    """Read each slide as a section under its title; hidden slides and notes are left out."""
    with zipfile.ZipFile(path) as archive:
        check_zip(archive, "ppt/presentation.xml", MAX_XML_BYTES)
        part = "ppt/presentation.xml"
        slides = _listed_parts(archive, part, parsed(archive, part), "sldId")
        if len(slides) > MAX_SLIDES:
            raise ExtractError(
                "too_large", "The document has more slides than the limit", MAX_SLIDES
            )
        sections = []
        for number, (_, slide) in enumerate(slides, 1):
            root = parsed(archive, slide)
            if root is not None and root.get("show") not in {"0", "false"}:
                sections.append(_slide(root, number))
        return Content(title_of(archive), sections)


def _slide(root: Any, number: int) -> Section:
    # A fallback repeats the content of a sibling element for older programs.
    for fallback in list(root.iter("{*}Fallback")):
        fallback.getparent().remove(fallback)
    title, texts = "", []
    for shape in root.iter("{*}sp", "{*}tbl"):
        if shape.tag.endswith("}tbl"):
            texts.append("\n".join(table_lines(_slide_rows(shape))))
            continue
        lines = [line for line in map(_line, shape.iterfind("{*}txBody/{*}p")) if line]
        kind = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
        kind = "" if kind is None else kind.get("type", "")
        if kind in {"title", "ctrTitle"} and not title:
            title = " ".join(lines)
        elif kind not in {"dt", "ftr", "sldNum"}:
            mark = "- " if len(lines) > 1 else ""
            texts.append("\n".join(f"{mark}{line}" for line in lines))
    text = "\n\n".join(filter(None, texts))
    return Section(title if text else "", text or title, number)


def _slide_rows(table: Any) -> list[dict[int, str]]:
    """The rows of a table by column; a merged cell fills all cells that it covers."""
    rows: list[dict[int, str]] = []
    for row in table.iterfind("{*}tr"):
        cells: dict[int, str] = {}
        for column, cell in enumerate(row.iterfind("{*}tc")):
            text = " ".join(filter(None, map(_line, cell.iterfind("{*}txBody/{*}p"))))
            if cell.get("hMerge", "0") not in OFF:
                text = cells.get(column - 1, "")
            elif cell.get("vMerge", "0") not in OFF and rows:
                text = rows[-1].get(column, "")
            if text:
                cells[column] = text
        rows.append(cells)
    return rows


def _line(paragraph: Any) -> str:
    """The text of a paragraph in one line."""
    pieces = paragraph.iter("{*}t", "{*}br")
    texts = (STRUCK if _is_struck_run(piece) else piece.text or " " for piece in pieces)
    return remove_strikethrough(" ".join("".join(texts).split()))


def _is_struck_run(text: Any) -> bool:
    look = text.getparent().find("{*}rPr")
    return look is not None and look.get("strike", "noStrike") != "noStrike"
