"""Reads Word files: the visible text of the body, in document order."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bots.ingest.extraction import office
from bots.ingest.extraction.document import (
    STRUCK,
    Content,
    SectionBuilder,
    remove_strikethrough,
    table_lines,
)
from bots.ingest.extraction.office import OFF, attribute, name_of

# Elements with deleted or moved text, or with properties and codes that no program shows. All other
# elements are searched for text.
_UNSEEN = frozenset(
    """
    del moveFrom delText instrText rt Fallback pPr rPr tblPr tblGrid trPr tcPr sdtPr sdtEndPr
    """.split()  # noqa: SIM905 - easier to read
)
_SPACES = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
_BOXES = "txbxContent"
# The properties of hidden text and of struck-out text.
_LOOKS = ("vanish", "strike", "dstrike")
# The maximum number of columns in Word.
_MAX_COLUMNS = 63
# Longer numbers in the file are ignored.
_MAX_DIGITS = 6


def read_docx(path: Path) -> Content:
    with zipfile.ZipFile(path) as archive:
        office.check_zip(archive, "word/document.xml", office.MAX_XML_BYTES)
        body = office.parsed(archive, "word/document.xml").find("{*}body")
        sections = SectionBuilder()
        if body is not None:
            _Reader(archive).add_blocks(body, sections)
        return Content(office.title_of(archive), sections.build())


def _value(element: Any, path: str) -> str | None:
    """The `w:val` of the element at a path; None if there is no such element."""
    found = element.find(path) if element is not None else None
    return None if found is None else (attribute(found, "val") or "")


def _is_on(element: Any, path: str) -> bool | None:
    """Whether a property is on; None if it is not set."""
    value = _value(element, path)
    return None if value is None else value not in OFF


class _Styles:
    """The styles of a document, each of which may be based on another."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        root = office.parsed(archive, "word/styles.xml")
        listed = [] if root is None else root.findall("{*}style")
        self._by_id = {attribute(style, "styleId"): style for style in listed}
        # The style of paragraphs that name no style.
        self._default_style_id = next(
            (attribute(style, "styleId") for style in listed if _is_default_style(style)), None
        )
        defaults = None if root is None else root.find("{*}docDefaults/{*}rPrDefault")
        self._defaults = {} if defaults is None else _looks(defaults)

    def chain(self, style_id: str | None) -> Iterator[Any]:
        seen = set[str | None]()
        while style_id in self._by_id and style_id not in seen:
            seen.add(style_id)
            yield self._by_id[style_id]
            style_id = _value(self._by_id[style_id], "{*}basedOn")

    def names(self, style_id: str | None) -> list[str]:
        return [(_value(style, "{*}name") or "").lower() for style in self.chain(style_id)]

    def list_of(self, properties: Any) -> Any:
        """The element that puts a paragraph with these properties into a list.

        The element belongs to the paragraph itself or to its style. None if the paragraph is not in
        a list.
        """
        styles = self.chain(_value(properties, "{*}pStyle"))
        direct = None if properties is None else properties.find("{*}numPr")
        found = (style.find("{*}pPr/{*}numPr") for style in styles)
        if direct is not None:
            return direct
        return next((element for element in found if element is not None), None)

    def looks(self, style_id: str | None) -> dict[str, bool]:
        """Like `_looks`, for a style with those that it is based on."""
        looks = dict[str, bool]()
        for style in self.chain(style_id):
            looks = _looks(style) | looks
        return looks

    def paragraph_looks(self, style_id: str | None) -> dict[str, bool]:
        """Like `looks`, for a paragraph: the document's defaults count too."""
        return self._defaults | self.looks(style_id or self._default_style_id)


def _is_default_style(style: Any) -> bool:
    is_default = (attribute(style, "default") or "0") not in OFF
    return is_default and attribute(style, "type") == "paragraph"


def _looks(element: Any) -> dict[str, bool]:
    """Those of `_LOOKS` that a run or style sets, and whether they are on."""
    values = {name: _is_on(element, f"{{*}}rPr/{{*}}{name}") for name in _LOOKS}
    return {name: value for name, value in values.items() if value is not None}


class _Numbers:
    """Counts the items of numbered lists."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        root = office.parsed(archive, "word/numbering.xml")
        kinds = {} if root is None else {
            attribute(kind, "abstractNumId"): kind for kind in root.iterfind("{*}abstractNum")
        }  # fmt: skip
        # Maps the id of each list to its counter and its kind.
        self._lists: dict[str | None, tuple[str | None, Any]] = {}
        for item in () if root is None else root.iterfind("{*}num"):
            list_id, kind = attribute(item, "numId"), _value(item, "{*}abstractNumId")
            restarts = item.find("{*}lvlOverride/{*}startOverride") is not None
            self._lists[list_id] = (f"own {list_id}" if restarts else kind, kinds.get(kind))
        self._counts: dict[tuple[str | None, str], int] = {}

    def mark(self, properties: Any) -> str:
        """The mark of an item with these properties: "3. ", or "- " if it has no number."""
        counter, kind = self._lists.get(_value(properties, "{*}numId"), (None, None))
        depth = _value(properties, "{*}ilvl") or "0"
        levels = () if kind is None else kind.iterfind("{*}lvl")
        level = next((item for item in levels if attribute(item, "ilvl") == depth), None)
        if _value(level, "{*}numFmt") != "decimal":
            return "- "
        for key in [key for key in self._counts if key[0] == counter and key[1] > depth]:
            del self._counts[key]
        start = _value(level, "{*}start") or "1"
        first = int(start) if start.isdecimal() and len(start) < _MAX_DIGITS else 1
        number = self._counts.get((counter, depth), first - 1) + 1
        self._counts[counter, depth] = number
        return f"{number}. "


class _Reader:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._styles = _Styles(archive)
        self._numbers = _Numbers(archive)
        # The text boxes of the current paragraph; their text is added after it.
        self._boxes: list[Any] = []
        self._notes: dict[tuple[str, str | None], str] = {}
        for kind in ("footnote", "endnote"):
            root = office.parsed(archive, f"word/{kind}s.xml")
            for note in () if root is None else root.iterfind(f"{{*}}{kind}"):
                if attribute(note, "type") in (None, "normal"):
                    self._notes[f"{kind}Reference", attribute(note, "id")] = self._flat(note)

    def add_blocks(self, container: Any, sections: SectionBuilder) -> None:
        """Add the paragraphs and tables inside an element."""
        for child in container:
            name = name_of(child)
            if name == "p":
                self._add_paragraph(child, sections)
            elif name == "tbl":
                self._add_table(child, sections)
            elif name and name not in _UNSEEN and not _is_left_out(child):
                self.add_blocks(child, sections)

    def _add_paragraph(self, paragraph: Any, sections: SectionBuilder) -> None:
        properties = paragraph.find("{*}pPr")
        style = _value(properties, "{*}pStyle")
        names = self._styles.names(style)
        text = self._text(paragraph).strip()
        boxes, self._boxes = self._boxes, []
        if text and not any(name.startswith("toc ") for name in names):
            if any(name.startswith("heading") or name == "title" for name in names):
                sections.start_section(text)
            else:
                numbered = self._styles.list_of(properties)
                is_item = bool(names) and names[0].startswith("list")
                is_item |= (_value(numbered, "{*}numId") or "0") != "0"
                mark = self._numbers.mark(numbered) if is_item else ""
                sections.add(mark + text, glue="\n" if is_item else "\n\n")
        for box in boxes:
            self.add_blocks(box, sections)

    def _text(self, paragraph: Any) -> str:
        looks = self._styles.paragraph_looks(_value(paragraph, "{*}pPr/{*}pStyle"))
        return remove_strikethrough("".join(self._inline(paragraph, looks)))

    def _inline(self, element: Any, paragraph: dict[str, bool]) -> Iterator[str]:
        """The text of a paragraph or of a part of it, with notes in place of their references."""
        for child in element:
            name = name_of(child)
            looks = paragraph | self._run_looks(child) if name == "r" else {}
            if looks.get("vanish"):
                continue
            if looks.get("strike") or looks.get("dstrike"):
                yield STRUCK
            elif name == "t":
                yield child.text or ""
            elif name in _SPACES:
                yield _SPACES[name]
            elif name.endswith("noteReference"):
                note = self._notes.get((name, attribute(child, "id")))
                yield f" ({note})" if note else ""
            elif name == _BOXES:
                self._boxes.append(child)
            elif name and name not in _UNSEEN and not _is_left_out(child):
                yield from self._inline(child, paragraph)

    def _run_looks(self, run: Any) -> dict[str, bool]:
        if _is_unreadable(run):
            return {"vanish": True}
        return self._styles.looks(_value(run, "{*}rPr/{*}rStyle")) | _looks(run)

    def _flat(self, container: Any) -> str:
        """The text inside an element in one line."""
        sections = SectionBuilder()
        self.add_blocks(container, sections)
        parts = (part for item in sections.build() for part in (item.heading, item.text) if part)
        lines = (line.removeprefix("- ") for part in parts for line in part.split("\n") if line)
        return " ".join(lines)

    def _add_table(self, table: Any, sections: SectionBuilder) -> None:
        if any(self._styles.looks(_value(table, "{*}tblPr/{*}tblStyle")).values()):
            return
        rows = [list(_cells(row)) for row in _below(table, "tr") if not _is_gone(row)]
        columns = max((end for row in rows for _, end, _ in row), default=0)
        if columns <= 1:
            # A table of one column is only a frame around text.
            for _, _, cell in (cell for row in rows for cell in row):
                self.add_blocks(cell, sections)
            return
        texts: list[dict[int, str]] = []
        for row in rows:
            cells: dict[int, str] = {}
            for start, end, cell in row:
                merge = cell.find("{*}tcPr/{*}vMerge")
                continues = merge is not None and attribute(merge, "val") in (None, "continue")
                text = texts[-1].get(start, "") if continues and texts else self._flat(cell)
                is_whole = start == 0 and end >= columns
                if text:
                    cells |= dict.fromkeys(range(start, 1 if is_whole else end), text)
            texts.append(cells)
        sections.add("\n".join(table_lines(texts)))


def _is_unreadable(run: Any) -> bool:
    """Whether the text of a run is white on a white page, or too small to read."""
    look = run.find("{*}rPr")
    size = _value(look, "{*}sz") or ""
    points = int(size) / 2 if size.isdecimal() and len(size) < _MAX_DIGITS else None
    # White text is readable on a dark cell, text box or page.
    around = {name_of(above): above for above in run.iterancestors()}
    paragraph = around["p"].find("{*}pPr/{*}shd") if "p" in around else None
    page = run.getroottree().getroot().find("{*}background")
    own = () if look is None else (look.find("{*}shd"), look.find("{*}highlight"))
    has_ground = any(back is not None for back in (*own, paragraph, page))
    return office.is_unreadable(
        _value(look, "{*}color") or "",
        points,
        has_ground=has_ground or bool(around.keys() & {"tc", _BOXES}),
    )


def _is_left_out(element: Any) -> bool:
    """Whether an element is a placeholder text, a table of contents or a hidden drawing."""
    name = name_of(element)
    if name == "sdt":
        gallery = _value(element, "{*}sdtPr/{*}docPartObj/{*}docPartGallery")
        return gallery == "Table of Contents" or bool(_is_on(element, "{*}sdtPr/{*}showingPlcHdr"))
    hidden = element.find("{*}docPr[@hidden]") if name in {"inline", "anchor"} else None
    return hidden is not None and hidden.get("hidden") not in OFF


def _below(element: Any, name: str) -> Iterator[Any]:
    """The rows of a table or cells of a row, including those inside content controls."""
    for child in element:
        if name_of(child) == name:
            yield child
        elif name_of(child) not in _UNSEEN | {"", "tbl"} and not _is_left_out(child):
            yield from _below(child, name)


def _is_gone(row: Any) -> bool:
    is_deleted = row.find("{*}trPr/{*}del") is not None
    return is_deleted or bool(_is_on(row, "{*}trPr/{*}hidden"))


def _cells(row: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield the first column of each cell of a row, the column after its last, and the cell."""
    start = min(int(_value(row, "{*}trPr/{*}gridBefore") or 0), _MAX_COLUMNS)
    for cell in _below(row, "tc"):
        end = start + max(1, min(int(_value(cell, "{*}tcPr/{*}gridSpan") or 1), _MAX_COLUMNS))
        if cell.find("{*}tcPr/{*}cellDel") is None:
            yield start, end, cell
        start = end
