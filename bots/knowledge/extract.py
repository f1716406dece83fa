"""Text out of uploaded files and fetched pages, in a child process that hostile ones cannot leave.

Run as a module it prints one file's text as JSON; parsers are loaded only there.
"""

import csv
import importlib
import io
import json
import re
import sys
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bots.knowledge import child, language

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
HTML = "text/html"
MARKDOWN = "text/markdown"
PLAIN = "text/plain"
CSV = "text/csv"

# How much of a file `sniff` wants to see.
SNIFF_BYTES = 8_192
MAX_FILE_BYTES = 26_214_400
# Some 1,300 pieces, half an hour of encoding: more is not one document.
MAX_TEXT_CHARACTERS = 2_000_000
MAX_PDF_PAGES = 2_000
MAX_CSV_ROWS = 20_000
# A DOCX is judged by its zip directory, since loading takes up to 100 times its unpacked size.
MAX_ZIP_ENTRIES = 2_000
MAX_ZIP_BYTES = 100 * 2**20
MAX_XML_BYTES = 8 * 2**20

_EXTENSIONS = {
    "pdf": PDF,
    "docx": DOCX,
    "html": HTML,
    "htm": HTML,
    "xhtml": HTML,
    "md": MARKDOWN,
    "markdown": MARKDOWN,
    "txt": PLAIN,
    "text": PLAIN,
    "csv": CSV,
}
_HTML_DOCUMENT = re.compile(
    r"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_XML = re.compile(r"^\s*(?:<\?xml|<svg\b|<!doctype\s+(?!html))", re.IGNORECASE)
_TAG = re.compile(
    r"<(?:head|body|div|p|h[1-6]|ul|ol|table|article|main|section|span|br|a)\b[^<]*>", re.IGNORECASE
)
# Marks that open binary formats without a NUL byte nearby.
_BINARY = (
    b"MZ",
    b"\x7fELF",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"RIFF",
    b"Rar!",
    b"\x1f\x8b",
    b"7z\xbc\xaf",
    b"BM6",
    b"\xd0\xcf\x11\xe0",
    b"{\\rtf",
    b"%!PS",
    b"PK",
)
# At a line's end these two are always there for the width; a plain "-" may belong to the word.
_SURE_HYPHEN = re.compile(r"(?<=\w)[\u00ad\u2010]\n[ \t]*(?=\w)")
_UNSAFE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\ud800-\udfff]")


@dataclass(frozen=True)
class Section:
    """Text under one heading or on one PDF page; blank lines part its paragraphs."""

    heading: str
    text: str
    page: int | None = None


@dataclass(frozen=True)
class Extracted:
    title: str
    mime_type: str
    sections: tuple[Section, ...]
    language: str


class ExtractError(Exception):
    """`code`: unsupported_type, too_large, encrypted, empty, malformed or timeout."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


# --- what is it ---------------------------------------------------------------------------------


def sniff(head: bytes, file_name: str) -> str:
    """Mime type by the first 8 KB; the name must agree, and only tells text formats apart."""
    extension = Path(file_name.replace("\x00", "")).suffix.lower().lstrip(".")
    named = _EXTENSIONS.get(extension)
    if extension and named is None:
        raise ExtractError("unsupported_type", f"Files of type .{extension[:20]} are not read.")
    if not head.strip():
        raise ExtractError("empty", "The file is empty.")
    found = _content_type(head[:SNIFF_BYTES])
    if named is None or found == named:
        return found
    if found == PLAIN and named in (MARKDOWN, CSV):
        return named
    # A Markdown file may open with a tag, but not be a whole page.
    if found == HTML and named != HTML and not _HTML_DOCUMENT.match(_decode(head[:SNIFF_BYTES])):
        return named if named in (MARKDOWN, PLAIN, CSV) else _mismatch(extension)
    return _mismatch(extension)


def _mismatch(extension: str) -> str:
    raise ExtractError("unsupported_type", f"The content is not that of a .{extension} file.")


def _content_type(head: bytes) -> str:
    if head.lstrip().startswith(b"%PDF-"):
        return PDF
    if head.startswith(b"PK\x03\x04") and (b"[Content_Types].xml" in head or b"word/" in head):
        return DOCX
    if head.startswith(_BINARY) or not _looks_like_text(head):
        raise ExtractError("unsupported_type", "The content is of no supported type.")
    text = _decode(head)
    if _HTML_DOCUMENT.match(text):
        return HTML
    if _OTHER_XML.match(text):
        raise ExtractError("unsupported_type", "XML other than HTML is not read.")
    return HTML if text.lstrip().startswith("<") and _TAG.search(text) else PLAIN


def _looks_like_text(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13, 27) for byte in head)
    if b"\x00" in head:
        return _utf16_without_mark(head) is not None
    if controls:
        return controls * 100 < len(head)
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(head) - 4:  # the head ends inside a character
            return True
        # Western text in one byte per letter is mostly ASCII; compressed data is not.
        high = sum(byte >= 0x80 for byte in head)
        return high * 3 < len(head) and not set(head) & {0x81, 0x8D, 0x8F, 0x90, 0x9D}
    return True


def _utf16_without_mark(data: bytes) -> str | None:
    """The codec of UTF-16 text without a mark: one side of nearly all pairs is zero."""
    sample = data[:SNIFF_BYTES]
    half = len(sample) // 2
    for codec, zeros, letters in (
        ("utf-16-le", sample[1::2], sample[::2]),
        ("utf-16-be", sample[::2], sample[1::2]),
    ):
        if zeros.count(0) * 2 > half and letters.count(0) == 0:
            return codec
    return None


def _decode(data: bytes) -> str:
    """UTF-8, UTF-16, then Windows Western, which always gives something."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if b"\x00" in data and (codec := _utf16_without_mark(data)):
        return data.decode(codec, "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 4:
            return data.decode("utf-8-sig", "replace")
        return data.decode("cp1252", "replace")


def clean(text: str) -> str:
    """NFC without control characters and surrogates; at most one blank line in a row."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n\n")
    text = unicodedata.normalize("NFC", _UNSAFE.sub("", text)).replace("\u00a0", " ")
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


# --- one reader for each type -------------------------------------------------------------------

Parsed = tuple[str, list[Section]]


def _read_pdf(path: Path) -> Parsed:
    import pypdf  # noqa: PLC0415  parsers are loaded in the child only
    from pypdf import errors  # noqa: PLC0415

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ExtractError("encrypted", "The PDF is protected by a password.")
        if len(reader.pages) > MAX_PDF_PAGES:
            raise ExtractError("too_large", f"The PDF has more than {MAX_PDF_PAGES} pages.")
        pages = _pdf_pages(reader)
        title = str((reader.metadata and reader.metadata.title) or "")
    except errors.LimitReachedError as error:
        raise ExtractError("too_large", "The PDF unpacks to too much data.") from error
    except errors.FileNotDecryptedError as error:
        raise ExtractError("encrypted", "The PDF is protected by a password.") from error
    pages = _without_running_lines(pages)
    return title, [Section("", _unhyphenated(text), number) for number, text in enumerate(pages, 1)]


def _pdf_pages(reader: Any) -> list[str]:
    pages: list[str] = []
    total = 0
    for page in reader.pages:
        pages.append(clean(page.extract_text() or ""))
        total += len(pages[-1])
        _check_length(total)
    return pages


def _without_running_lines(pages: list[str]) -> list[str]:
    """Drop the first and last lines that most pages share, figures aside."""
    if len(pages) < 4:
        return pages
    split = [page.split("\n") for page in pages]
    for edge in (0, -1):
        shapes = [re.sub(r"\d+", "#", lines[edge].strip()) if lines else "" for lines in split]
        common = {shape for shape in set(shapes) if shapes.count(shape) * 2 > len(pages)}
        for lines, shape in zip(split, shapes, strict=True):
            if lines and shape in common:
                del lines[edge]
    return ["\n".join(lines).strip("\n") for lines in split]


def _unhyphenated(text: str) -> str:
    text = _SURE_HYPHEN.sub("", text)
    return re.sub(r"([a-zà-ỹ]{2})-\n[ ]*([a-zà-ỹ]{2})", r"\1\2", text)


def _read_docx(path: Path) -> Parsed:
    _check_zip(path)
    import docx  # noqa: PLC0415  parsers are loaded in the child only

    document = docx.Document(str(path))
    sections = _SectionBuilder()
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            sections.add("\n".join(_table_lines(block)))
            continue
        text = block.text.strip()
        if not text:
            continue
        style = (block.style.name or "").lower() if block.style is not None else ""
        if style.startswith("heading") or style == "title":
            sections.head(text)
        else:
            is_item = style.startswith("list")
            sections.add(f"- {text}" if is_item else text, glue="\n" if is_item else "\n\n")
    return document.core_properties.title or "", sections.done()


def _table_lines(table: Any) -> Iterator[str]:
    for row in table.rows:
        cells: list[str] = []
        for cell in row.cells:
            text = " ".join(cell.text.split())
            if text and (not cells or cells[-1] != text):  # a merged cell is listed once a column
                cells.append(text)
        if cells:
            yield " | ".join(cells)


def _check_zip(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    if "word/document.xml" not in {entry.filename for entry in entries}:
        raise ExtractError("unsupported_type", "The archive holds no Word document.")
    if any(entry.flag_bits & 1 for entry in entries):
        raise ExtractError("encrypted", "The document is protected by a password.")
    parts = [e.file_size for e in entries if e.filename.endswith((".xml", ".rels"))]
    if (
        len(entries) > MAX_ZIP_ENTRIES
        or sum(entry.file_size for entry in entries) > MAX_ZIP_BYTES
        or max(parts) > MAX_XML_BYTES
    ):
        raise ExtractError("too_large", "The document unpacks to too much data.")


def _read_html(path: Path) -> Parsed:
    import trafilatura  # noqa: PLC0415  parsers are loaded in the child only

    html: Any = importlib.import_module("lxml.html")  # comes without types

    text = clean(_decode(path.read_bytes()))
    # lxml refuses a str that declares an encoding of its own.
    data = re.sub(r"^\s*<\?xml[^>]*>", "", text).encode()
    tree = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8"))
    title = " ".join((tree.findtext(".//title") or "").split())
    whole = _visible_text(tree)
    main = (
        trafilatura.extract(
            data.decode(),
            output_format="markdown",
            include_comments=False,
            include_tables=True,
            include_links=False,
            include_images=False,
            favor_recall=True,
        )
        or ""
    )
    # On short pages and unusual layouts the article finder keeps too little to be right.
    sections = _markdown_sections(main) if len(main) * 4 >= len(whole) else []
    return title, sections or _plain_sections(whole)


def _visible_text(tree: Any) -> str:
    for element in list(tree.iter("script", "style", "noscript", "template", "nav", "head", "svg")):
        if element.getparent() is not None:
            element.drop_tree()
    for element in tree.iter("p", "div", "li", "tr", "h1", "h2", "h3", "h4", "section", "td", "br"):
        element.tail = "\n" + (element.tail or "")
        if element.tag in ("p", "h1", "h2", "h3", "h4", "tr"):
            element.tail = "\n" + element.tail
    text = "".join(tree.itertext())
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return clean("\n".join(lines))


def _read_markdown(path: Path) -> Parsed:
    text = clean(_decode(path.read_bytes()))
    # One level-1 heading is the page's title; where there are several, none names the whole.
    titles = _MARKDOWN_TITLE.findall(text)
    return (_without_marks(titles[0]) if len(titles) == 1 else ""), _markdown_sections(text)


_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# `[name]: https://…` is where a link leads (CommonMark 4.7), and nothing that a reader sees.
_LINK_TARGET = re.compile(r"^ {0,3}\[[^\]]+\]:\s*\S+\s*$")
_MARKDOWN_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
_MARKDOWN_TITLE = re.compile(r"^#\s+(.+?)\s*#*$", re.MULTILINE)
_INLINE = (
    (re.compile(r"!\[([^\]]*)\]\([^)\s]*[^)]*\)"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
    (re.compile(r"^\s*>\s?", re.MULTILINE), ""),
    (re.compile(r"^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$", re.MULTILINE), ""),
    (re.compile(r"</?[a-zA-Z][^<>\n]*>"), ""),
)


def _markdown_sections(text: str) -> list[Section]:
    """A section per heading; the nearest parent goes before it ("Returns > Damaged goods")."""
    sections = _SectionBuilder()
    parents: dict[int, str] = {}
    is_code = False
    lines: list[str] = []

    def flush() -> None:
        sections.add(_without_marks("\n".join(lines)))
        lines.clear()

    for line in _FRONT_MATTER.sub("", text).split("\n"):
        is_code ^= line.lstrip().startswith(("```", "~~~"))
        found = None if is_code else _MARKDOWN_HEADING.match(line)
        if not found:
            if not line.lstrip().startswith(("```", "~~~")) and not _LINK_TARGET.match(line):
                lines.append(line)
            continue
        flush()
        level = len(line) - len(line.lstrip("#"))
        heading = _without_marks(found.group(1))
        parents = {key: value for key, value in parents.items() if key < level}
        # The page's own title stands in `title`, so a level-1 heading is not repeated.
        above = parents[max(parents)] if parents and max(parents) > 1 else ""
        parents[level] = heading
        sections.head(f"{above} > {heading}" if above else heading)
    flush()
    return sections.done()


def _without_marks(text: str) -> str:
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return clean(text)


def _read_plain(path: Path) -> Parsed:
    text = clean(_decode(path.read_bytes()))
    return "", _plain_sections(_SURE_HYPHEN.sub("", text))


_NUMBERED = re.compile(r"^(?:[IVX]{1,5}|\d{1,2}(?:\.\d{1,2})*)[.)]?\s+\w")


def _plain_sections(text: str) -> list[Section]:
    sections = _SectionBuilder()
    for paragraph in re.split(r"\n\s*\n", text):
        first, _, rest = paragraph.partition("\n")
        underline, _, below = rest.partition("\n")
        if first.strip() and re.fullmatch(r"\s*([=\-~])\1{2,}\s*", underline):
            first, rest = first.strip(), below
        elif not _is_plain_heading(first.rstrip(), is_alone=not rest.strip()):
            sections.add(paragraph)
            continue
        sections.head(first.strip())
        sections.add(rest)
    return sections.done()


def _is_plain_heading(line: str, *, is_alone: bool) -> bool:
    """Capitals at the margin as in manual pages, or a numbered line of its own."""
    if not line or len(line) > 80 or line[0].isspace() or line.endswith((".", ",", ";")):
        return False
    letters = [letter for letter in line if letter.isalpha()]
    if len(letters) >= 3 and all(letter.isupper() for letter in letters):
        return True
    return is_alone and bool(_NUMBERED.match(line))


def _read_csv(path: Path) -> Parsed:
    text = clean(_decode(path.read_bytes()))
    try:
        dialect: Any = csv.Sniffer().sniff(text[:SNIFF_BYTES], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = [row for row in csv.reader(io.StringIO(text), dialect) if any(map(str.strip, row))]
    if len(rows) > MAX_CSV_ROWS:
        raise ExtractError("too_large", f"The table has more than {MAX_CSV_ROWS} rows.")
    if not rows:
        return "", []
    header = [name.strip() for name in rows[0]]
    return "", [Section("", _csv_row(header, row)) for row in rows[1:]]


def _csv_row(header: list[str], row: list[str]) -> str:
    lines: list[str] = []
    for position, value in enumerate(row):
        name = header[position] if position < len(header) else ""
        value = clean(value.strip())
        if value:
            lines.append(f"{name}: {value}" if name else value)
    return "\n".join(lines)


class _SectionBuilder:
    """Collects paragraphs under the latest heading."""

    def __init__(self) -> None:
        self._sections: list[Section] = []
        self._heading = ""
        self._text: list[str] = []
        self._length = 0

    def head(self, heading: str) -> None:
        self._close()
        self._heading = clean(" ".join(heading.split()))

    def add(self, text: str, *, glue: str = "\n\n") -> None:
        if text.strip():
            self._text.append((glue if self._text else "") + text)
            self._length += len(text)
            _check_length(self._length)

    def _close(self) -> None:
        text = clean("".join(self._text))
        if text:
            self._sections.append(Section(self._heading, text))
        self._text.clear()

    def done(self) -> list[Section]:
        self._close()
        return self._sections


def _check_length(characters: int) -> None:
    if characters > MAX_TEXT_CHARACTERS:
        raise ExtractError("too_large", f"The text is above {MAX_TEXT_CHARACTERS} characters.")


_READERS: dict[str, Callable[[Path], Parsed]] = {
    PDF: _read_pdf,
    DOCX: _read_docx,
    HTML: _read_html,
    MARKDOWN: _read_markdown,
    PLAIN: _read_plain,
    CSV: _read_csv,
}


def extract(path: Path, *, file_name: str) -> Extracted:
    """Title, sections and language of a file of at most 25 MB, in this process, without limits."""
    return _with_language(_extract(path, file_name))


def _with_language(extracted: Extracted) -> Extracted:
    sample = "\n".join(one.text[:500] for one in extracted.sections[:20])
    return replace(extracted, language=language.detect(sample, default="en"))


def _extract(path: Path, file_name: str) -> Extracted:
    """The part that meets hostile input; leaves the language open."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ExtractError("too_large", f"The file is above {MAX_FILE_BYTES} bytes.")
    with path.open("rb") as file:
        mime_type = sniff(file.read(SNIFF_BYTES), file_name)
    try:
        title, sections = _READERS[mime_type](path)
    except (ExtractError, MemoryError):
        raise
    # Parsers meet hostile files with every kind of error there is.
    except Exception as error:
        raise ExtractError(
            "malformed", f"The file cannot be read ({type(error).__name__})."
        ) from error
    sections = [
        Section(clean(one.heading), clean(one.text), one.page)
        for one in sections
        if one.text.strip()
    ]
    _check_length(sum(len(one.text) for one in sections))
    if not any(letter.isalnum() for one in sections for letter in one.text):
        raise ExtractError("empty", "The file holds no text.")
    return Extracted(
        title=clean(title)[:300].strip() or Path(file_name).stem[:300],
        mime_type=mime_type,
        sections=tuple(sections),
        language="",
    )


# --- the child and its keeper -------------------------------------------------------------------


def extract_in_child(
    path: Path, *, file_name: str, timeout_seconds: float = 20, memory_mb: int = 512
) -> Extracted:
    """As `extract`, in a process of its own that ends after so many seconds or megabytes."""
    try:
        ended = child.run(
            "bots.knowledge.extract",
            str(path.resolve()),
            file_name,
            str(memory_mb),
            str(max(1, int(timeout_seconds))),
            timeout_seconds=timeout_seconds,
        )
    except child.TookTooLong:
        raise ExtractError("timeout", "Reading the file took too long.") from None
    except child.SaidTooMuch:
        raise ExtractError("too_large", "The file holds too much text.") from None
    # The detector unpacks its model into a file, which the child may not.
    return _with_language(_result(ended))


def _result(ended: child.Ended) -> Extracted:
    try:
        data = json.loads(ended.output)
    except ValueError:
        if ended.ran_out_of_time:
            raise ExtractError("timeout", "Reading the file took too long.") from None
        raise ExtractError("too_large", "The file took too much memory to read.") from None
    if "code" in data:
        raise ExtractError(data["code"], data["message"])
    sections = tuple(Section(**section) for section in data.pop("sections"))
    return Extracted(sections=sections, **data)


def _main(path: str, file_name: str, memory_mb: str, cpu_seconds: str) -> None:
    # Limits come first: from here on nothing that the file does reaches beyond this process.
    child.limit(int(memory_mb), int(cpu_seconds))
    data: dict[str, Any]
    try:
        data = asdict(_extract(Path(path), file_name))
    except ExtractError as error:
        data = {"code": error.code, "message": error.message}
    except (MemoryError, RecursionError):
        data = {"code": "too_large", "message": "The file took too much memory to read."}
    child.say(json.dumps(data, ensure_ascii=False).encode())


if __name__ == "__main__":
    _main(*sys.argv[1:])
