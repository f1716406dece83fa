"""The readers of Office files: zip archives of XML parts (ECMA-376)."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bots.knowledge.extract.document import (
    MAX_ROWS,
    ExtractError,
    Section,
    TitleAndSections,
    check_length,
    headed_row,
    labelled_row,
)

# An archive is judged by its directory, before anything is unpacked.
MAX_ZIP_ENTRIES = 2_000
MAX_ZIP_BYTES = 100 * 2**20
# Of one part that is loaded as a whole, which takes up to 100 times its size; the parts of a
# workbook are read as a stream.
MAX_XML_BYTES = 8 * 2**20
MAX_STREAMED_BYTES = 64 * 2**20
MAX_SLIDES = 2_000

# What a number format says: a date, a time, a share, or a unit beside the digits.
_LITERAL = re.compile(r'"([^"]*)"|\[\$([^\]-]*)[^\]]*\]|([€$£¥₫])|\\?(\s)|\\.|\[[^\]]*\]|[_*].')
_DATE_LETTERS, _TIME_LETTERS = frozenset("yd"), frozenset("hs")
_BUILT_IN_FORMATS = {
    **dict.fromkeys((9, 10), "0%"),
    **dict.fromkeys((14, 15, 16, 17), "yyyy-mm-dd"),
    **dict.fromkeys((18, 19, 20, 21), "hh:mm"),
    22: "yyyy-mm-dd hh:mm",
}
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001
# The last day that a date may name, 9999-12-31.
_LAST_DAY = 2_958_465


def check_zip(archive: zipfile.ZipFile, main_part: str, max_part: int) -> None:
    entries = archive.infolist()
    if main_part not in {entry.filename for entry in entries}:
        raise ExtractError("unsupported_type", f"The archive holds no {main_part}.")
    if any(entry.flag_bits & 1 for entry in entries):
        raise ExtractError("encrypted", "The document is protected by a password.")
    parts = [entry.file_size for entry in entries if entry.filename.endswith((".xml", ".rels"))]
    if (
        len(entries) > MAX_ZIP_ENTRIES
        or sum(entry.file_size for entry in entries) > MAX_ZIP_BYTES
        or max(parts) > max_part
    ):
        raise ExtractError("too_large", "The document unpacks to too much data.")


def parsed(archive: zipfile.ZipFile, part: str) -> Any:
    """The root of a part; None if the archive has no such part."""
    from lxml import etree  # noqa: PLC0415  parsers are loaded in the child only

    if part not in archive.namelist():
        return None
    if archive.getinfo(part).file_size > MAX_XML_BYTES:
        raise ExtractError("too_large", "The document unpacks to too much data.")
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.fromstring(archive.read(part), parser)


def _streamed(archive: zipfile.ZipFile, part: str, tag: str) -> Iterator[Any]:
    """The elements of a part with this name, one at a time; none if there is no such part."""
    from lxml import etree  # noqa: PLC0415  parsers are loaded in the child only

    if part not in archive.namelist():
        return
    with archive.open(part) as file:
        for _, element in etree.iterparse(
            file, tag=f"{{*}}{tag}", resolve_entities=False, no_network=True
        ):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def title_of(archive: zipfile.ZipFile) -> str:
    properties = parsed(archive, "docProps/core.xml")
    return "" if properties is None else (properties.findtext("{*}title") or "").strip()


def _listed_parts(archive: zipfile.ZipFile, part: str, root: Any, tag: str) -> list[Any]:
    """(element, name of its part) for each element of a list that names parts by relations."""
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


def read_xlsx(path: Path) -> TitleAndSections:
    """A section for each row, headed by its sheet; hidden sheets are not read."""
    with zipfile.ZipFile(path) as archive:
        check_zip(archive, "xl/workbook.xml", MAX_STREAMED_BYTES)
        workbook = parsed(archive, "xl/workbook.xml")
        properties = workbook.find("{*}workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        cells = _Cells(
            strings=[
                "".join(_texts(item)) for item in _streamed(archive, "xl/sharedStrings.xml", "si")
            ],
            formats=_cell_formats(archive),
            epoch=_EPOCH_1904 if is_1904 else _EPOCH,
        )
        sections: list[Section] = []
        characters = 0
        for sheet, part in _listed_parts(archive, "xl/workbook.xml", workbook, "sheet"):
            if sheet.get("state", "visible") == "visible":
                for section in _table(sheet.get("name", ""), cells.rows(archive, part)):
                    sections.append(section)
                    characters += len(section.text)
                    check_length(characters)
                    if len(sections) > MAX_ROWS:
                        raise ExtractError("too_large", f"There are more than {MAX_ROWS} rows.")
        return title_of(archive), sections


def _texts(item: Any) -> Iterator[str]:
    """The runs of a text, without the reading aids of East Asian words."""
    for path in ("{*}t", "{*}r/{*}t"):
        yield from (part.text or "" for part in item.iterfind(path))


def _cell_formats(archive: zipfile.ZipFile) -> list[str]:
    """The number format of each cell style, by its position."""
    styles = parsed(archive, "xl/styles.xml")
    if styles is None:
        return []
    codes = dict(_BUILT_IN_FORMATS)
    for number_format in styles.iterfind("{*}numFmts/{*}numFmt"):
        codes[int(number_format.get("numFmtId"))] = number_format.get("formatCode") or ""
    return [
        codes.get(int(style.get("numFmtId") or 0), "")
        for style in styles.iterfind("{*}cellXfs/{*}xf")
    ]


class _Cells:
    """The cells of a workbook as they are shown."""

    def __init__(self, strings: list[str], formats: list[str], epoch: datetime) -> None:
        self._strings = strings
        self._formats = formats
        self._epoch = epoch

    def rows(self, archive: zipfile.ZipFile, part: str) -> Iterator[tuple[dict[int, str], bool]]:
        """The filled cells of each row by column, and whether all of them are words."""
        for row in _streamed(archive, part, "row"):
            values: dict[int, str] = {}
            all_words = True
            for cell in row.iterfind("{*}c"):
                column = _column(cell.get("r")) or max(values, default=0) + 1
                text = " ".join(self._text(cell).split())
                if text:
                    values[column] = text
                    all_words &= cell.get("t") in {"s", "str", "inlineStr"}
            if values:
                yield values, all_words

    def _text(self, cell: Any) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return "".join(text for item in cell.iterfind("{*}is") for text in _texts(item))
        value = cell.findtext("{*}v") or ""
        if kind == "s":
            return self._strings[int(value)] if value else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind == "e":
            return ""
        if kind != "n" or not value:
            return value
        style = int(cell.get("s") or 0)
        return self._number(value, self._formats[style] if style < len(self._formats) else "")

    def _number(self, value: str, code: str) -> str:
        number = float(value)
        if not abs(number) < 1e15:
            return value
        shown = code.split(";")[0]
        letters = frozenset(_LITERAL.sub("", shown).lower())
        if letters & (_DATE_LETTERS | _TIME_LETTERS) and 0 <= number <= _LAST_DAY:
            moment = self._epoch + timedelta(minutes=round(number * 1_440))
            date = f"{moment:%Y-%m-%d}" if letters & _DATE_LETTERS else ""
            return f"{date} {moment:%H:%M}" if letters & _TIME_LETTERS else date
        if "%" in letters:
            return f"{_plain(number * 100)}%"
        before, after = _units(shown)
        return f"{before}{_as_shown(number, shown)}{after}"


def _column(reference: str | None) -> int:
    """The number of a cell's column, from 1: 28 for "AB7"; 0 if it is not named."""
    number = 0
    for letter in reference or "":
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
    return number


def _plain(number: float) -> str:
    """Without the noise of binary fractions: 19.99 is stored as 19.989999999999998."""
    number = round(number, 10)
    return str(int(number)) if number.is_integer() else f"{number:.10f}".rstrip("0")


def _as_shown(number: float, code: str) -> str:
    """With the zeros of a format: 29.9 is a price of 29.90."""
    places = re.search(r"\.(0+)", _LITERAL.sub("", code))
    whole, _, decimals = _plain(number).partition(".")
    decimals = decimals.ljust(len(places[1]), "0") if places else decimals
    return f"{whole}.{decimals}" if decimals else whole


def _units(code: str) -> tuple[str, str]:
    """What a number format writes before and after the digits, such as a currency."""
    digit = re.search(r"[0#?]", _LITERAL.sub(lambda match: " " * len(match[0]), code))
    before, after = "", ""
    for match in _LITERAL.finditer(code) if digit else ():
        text = match[1] or match[2] or match[3] or match[4] or ""
        if digit and match.start() < digit.start():
            before += text
        else:
            after += text
    return before, after


def _table(name: str, rows: Iterator[tuple[dict[int, str], bool]]) -> Iterator[Section]:
    """Lone cells above a table are text; the first row of several words names its columns."""
    header: dict[int, str] | None = None
    for values, all_words in rows:
        if header is None and len(values) > 1:
            header = values if all_words else {}
            if all_words:
                continue
        yield Section(headed_row(name, header or {}, values), labelled_row(header or {}, values))


def read_pptx(path: Path) -> TitleAndSections:
    """A section for each slide, headed by its title; no hidden slides, no speaker notes."""
    with zipfile.ZipFile(path) as archive:
        check_zip(archive, "ppt/presentation.xml", MAX_XML_BYTES)
        part = "ppt/presentation.xml"
        slides = _listed_parts(archive, part, parsed(archive, part), "sldId")
        if len(slides) > MAX_SLIDES:
            raise ExtractError("too_large", f"The document has more than {MAX_SLIDES} slides.")
        sections = []
        for number, (_, slide) in enumerate(slides, 1):
            root = parsed(archive, slide)
            if root is not None and root.get("show") not in {"0", "false"}:
                sections.append(_slide(root, number))
        return title_of(archive), sections


def _slide(root: Any, number: int) -> Section:
    # An older program's version of what stands beside it.
    for fallback in list(root.iter("{*}Fallback")):
        fallback.getparent().remove(fallback)
    title, texts = "", []
    for shape in root.iter("{*}sp", "{*}tbl"):
        if shape.tag.endswith("}tbl"):
            rows = (map(_cell_text, row.iterfind("{*}tc")) for row in shape.iterfind("{*}tr"))
            texts.append("\n".join(" | ".join(filter(None, row)) for row in rows))
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


def _cell_text(cell: Any) -> str:
    return " ".join(filter(None, map(_line, cell.iterfind("{*}txBody/{*}p"))))


def _line(paragraph: Any) -> str:
    """A paragraph without its line breaks."""
    pieces = paragraph.iter("{*}t", "{*}br")
    return " ".join("".join(piece.text or " " for piece in pieces).split())
