"""Reads OpenDocument texts, EPUB books and emails."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from email import message_from_bytes, policy
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from bots.ingest.extraction import encodings, html, office, text_headings
from bots.ingest.extraction.document import (
    STRUCK,
    Content,
    ExtractError,
    SectionBuilder,
    clean,
    remove_strikethrough,
    table_lines,
    warning_line,
)
from bots.ingest.extraction.office import attribute, name_of

# Elements whose text is not shown: deleted text, comments, forms, declarations, embedded objects.
_UNSEEN = frozenset({"tracked-changes", "annotation", "forms", "sequence-decls", "object"})
_SPACES = {"s": " ", "tab": " ", "line-break": "\n"}
# The maximum number of columns that a cell spans, or in which it is repeated.
_MAX_REPEATED = 60
# The maximum number of pages that are read from a book.
_MAX_PARTS = 2_000
_HEAD_BYTES = 1_024
_POINTS = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)pt")
_GROUNDS = frozenset({"table-cell", "text-box"})
_PAPER, _FILLS = frozenset({"transparent", "#ffffff"}), frozenset({"gradient", "bitmap", "hatch"})


def read_odt(path: Path) -> Content:
    with zipfile.ZipFile(path) as archive:
        office.check_zip(archive, "content.xml", office.MAX_XML_BYTES)
        root = office.parsed(archive, "content.xml")
        reader = _OpenText([root, office.parsed(archive, "styles.xml")])
        sections = SectionBuilder()
        body = root.find("{*}body/{*}text")
        if body is not None:
            reader.add_blocks(body, sections)
        meta = office.parsed(archive, "meta.xml")
        title = "" if meta is None else (meta.findtext(".//{*}title") or "").strip()
        return Content(title, sections.build())


class _Look(NamedTuple):
    """How text looks; a value is "" or None if no style sets it."""

    colour: str = ""
    points: float | None = None
    has_ground: bool = False


class _OpenText:
    def __init__(self, parts: list[Any]) -> None:
        self._styles = {
            attribute(style, "name"): style
            for part in parts
            if part is not None
            for style in part.iter("{*}style")
        }
        layouts = (part.iter("{*}page-layout-properties") for part in parts if part is not None)
        self._has_dark_page = any(map(_has_ground, chain.from_iterable(layouts)))

    def _styles_of(self, element: Any) -> Iterator[Any]:
        """Yield the style of an element and the styles that it inherits from."""
        style, seen = self._styles.get(attribute(element, "style-name")), set[int]()
        while style is not None and id(style) not in seen:
            seen.add(id(style))
            yield style
            style = self._styles.get(attribute(style, "parent-style-name"))

    def _shown_as(self, element: Any) -> str | None:
        """STRUCK for an element that is struck out, "" for a hidden one; None for all others."""
        if attribute(element, "display") in {"none", "condition"}:
            return ""
        for style in self._styles_of(element):
            for properties in style.iterfind("{*}text-properties"):
                if attribute(properties, "display") == "none":
                    return ""
                if attribute(properties, "text-line-through-style", "none") != "none":
                    return STRUCK
        return None

    def _look(self, element: Any, above: _Look) -> _Look:
        """How the text of an element looks, if the text around it looks like `above`."""
        properties = [item for style in self._styles_of(element) for item in style]
        sizes = (_POINTS.fullmatch(attribute(item, "font-size", "")) for item in properties)
        colours = (_colour(item) for item in properties)
        return _Look(
            next(filter(None, colours), above.colour),
            next((float(size[1]) for size in sizes if size), above.points),
            above.has_ground or any(map(_has_ground, properties)),
        )

    def add_blocks(self, container: Any, sections: SectionBuilder, mark: str = "") -> None:
        """Add the paragraphs, lists and tables inside an element."""
        for child in container:
            name = name_of(child)
            if not name or name in _UNSEEN or self._shown_as(child) is not None:
                continue
            if name == "h":
                sections.start_section(self._text(child))
            elif name == "p":
                text = self._text(child).strip()
                sections.add(mark + text if text else "", glue="\n" if mark else "\n\n")
            elif name == "table":
                sections.add("\n".join(table_lines(list(self._rows(child)))))
            elif name != "table-of-content":
                self.add_blocks(child, sections, "- " if name == "list-item" else mark)

    def _text(self, paragraph: Any) -> str:
        # Cells, text boxes and pages may have a dark background.
        around = [*paragraph.iterancestors()]
        has_ground = self._has_dark_page or any(name_of(item) in _GROUNDS for item in around)
        sections = (self._look(item, _Look()) for item in around if name_of(item) == "section")
        above = _Look(has_ground=has_ground or any(look.has_ground for look in sections))
        return remove_strikethrough("".join(self._inline(paragraph, self._look(paragraph, above))))

    def _inline(self, element: Any, look: _Look) -> Iterator[str]:
        is_seen = not office.is_unreadable(look.colour, look.points, has_ground=look.has_ground)
        yield (element.text or "") if is_seen else ""
        for child in element:
            name = name_of(child)
            if name in _SPACES:
                yield _SPACES[name]
            elif name == "note":
                notes = (self._text(line) for line in child.iterfind("{*}note-body/{*}p"))
                yield f" ({' '.join(notes)})"
            elif name and name not in _UNSEEN:
                instead = self._shown_as(child)
                inner = self._inline(child, self._look(child, look))
                yield from inner if instead is None else [instead]
            yield (child.tail or "") if is_seen else ""

    def _rows(self, table: Any) -> Iterator[dict[int, str]]:
        for row in table.iter("{*}table-row"):
            if attribute(row, "visibility", "visible") != "visible":
                continue
            cells: dict[int, str] = {}
            column = 0
            for cell in row:
                text = " ".join(self._text(line) for line in cell.iter("{*}p")).strip()
                spans = attribute(cell, "number-columns-spanned", "1")
                repeats = attribute(cell, "number-columns-repeated", "1")
                for covered in range(min(int(spans), _MAX_REPEATED) if text else 0):
                    cells[column + covered] = text
                column += min(int(repeats), _MAX_REPEATED)
            if cells:
                yield cells


def _colour(properties: Any) -> str:
    is_automatic = attribute(properties, "use-window-font-color") == "true"
    return "automatic" if is_automatic else attribute(properties, "color", "")


def _has_ground(properties: Any) -> bool:
    """Whether these properties give text a colour or picture as its background."""
    colour = attribute(properties, "background-color", "transparent").lower()
    return colour not in _PAPER or attribute(properties, "fill") in _FILLS


def read_epub(path: Path) -> Content:
    """Read the pages of a book in reading order."""
    with zipfile.ZipFile(path) as archive:
        office.check_zip(archive, "META-INF/container.xml", office.MAX_XML_BYTES)
        root = office.parsed(archive, "META-INF/container.xml").find(".//{*}rootfile")
        book_part = "" if root is None else root.get("full-path", "")
        book = office.parsed(archive, book_part)
        if book is None:
            raise ExtractError("malformed", "The e-book's list of pages is missing.")
        items = {item.get("id"): item.get("href", "") for item in book.iterfind(".//{*}item")}
        title = (book.findtext(".//{*}metadata/{*}title") or "").strip()
        sections = []
        for number, item in enumerate(book.iterfind(".//{*}itemref")):
            href = items.get(item.get("idref"), "").partition("#")[0]
            part = posixpath.normpath(posixpath.join(posixpath.dirname(book_part), href))
            if number >= _MAX_PARTS or item.get("linear") == "no" or part not in archive.namelist():
                continue
            if archive.getinfo(part).file_size > office.MAX_XML_BYTES:
                raise ExtractError("too_large", "The document is too large when unpacked.")
            data = archive.read(part)
            if b"\x00" in data[:_HEAD_BYTES]:
                raise ExtractError("encrypted", "The e-book is protected.")
            tree = html.visible_tree(clean(data.decode("utf-8", "replace")))
            sections += html.sections(html.join_labels(html.blocks_of(tree)), title)
        return Content(title, sections)


def read_mail(path: Path) -> Content:
    """Read the subject and the text of an email, without its attachments."""
    mail: Any = message_from_bytes(path.read_bytes(), policy=policy.default)
    body = mail.get_body(("html", "plain"))
    attached = sum(1 for _ in mail.iter_attachments())
    warning = warning_line("Attachments, which were left out", attached)
    title = " ".join(str(mail["subject"] or "").split())
    if body is None:
        return Content(title, [], warning)
    text = clean(encodings.decode(body.get_payload(decode=True), body.get_content_charset() or ""))
    if body.get_content_type() == "text/plain":
        return Content(title, text_headings.sections(text), warning)
    blocks = html.join_labels(html.blocks_of(html.visible_tree(text)))
    return Content(title, html.sections(blocks, title), warning)
