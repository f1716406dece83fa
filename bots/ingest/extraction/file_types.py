"""Detects the types of files by their content and name."""

import re
from pathlib import Path

from bots.ingest.extraction import encodings
from bots.ingest.extraction.document import ExtractError

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
HTML = "text/html"
MARKDOWN = "text/markdown"
PLAIN = "text/plain"
CSV = "text/csv"
MAIL = "message/rfc822"
# In files of these types, each row becomes a passage.
TABLES = frozenset({XLSX, CSV})
# The number of bytes from the beginning of a file that `sniff` needs.
SNIFF_BYTES = 8_192

_EXTENSIONS = {
    "pdf": PDF, "docx": DOCX, "xlsx": XLSX, "pptx": PPTX, "odt": ODT, "epub": EPUB, "eml": MAIL,
    "html": HTML, "htm": HTML, "xhtml": HTML, "md": MARKDOWN, "markdown": MARKDOWN, "txt": PLAIN,
    "text": PLAIN, "csv": CSV,
}  # fmt: skip
MIME_TYPES = tuple(sorted(set(_EXTENSIONS.values())))
# For each type, the folder in the archive that contains the document itself.
_OFFICE = {DOCX: b"word/", XLSX: b"xl/", PPTX: b"ppt/"}
# Types that the first entry of their archive names.
_NAMED = (ODT, EPUB)
_NAME_BYTES = 128
_HEADER = re.compile(r"(?:[\w-]+:[^\n]*\r?\n(?:[ \t][^\n]*\n)*)+", re.ASCII)
# A password-protected Office file is wrapped in a container of the older format.
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_HTML_DOCUMENT = re.compile(
    r"^\s*(?:<\?xml[^>]*>\s*)?(?><!--.*?-->\s*)*+<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_XML = re.compile(r"^\s*(?:<\?xml|<svg\b|<!doctype\s+(?!html))", re.IGNORECASE)
_TAG = re.compile(
    r"<(?:head|body|div|p|h[1-6]|ul|ol|table|article|main|section|span|br|a)\b[^<]*>", re.IGNORECASE
)
# The first bytes of binary formats that could be mistaken for text.
_BINARY = (
    b"MZ", b"\x7fELF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"Rar!", b"\x1f\x8b",
    b"7z\xbc\xaf", b"BM6", _OLD_OFFICE, b"{\\rtf", b"%!PS", b"PK",
)  # fmt: skip


def extension_of(mime_type: str) -> str:
    """The usual extension of files of a type."""
    return next(name for name, known in _EXTENSIONS.items() if known == mime_type)


def sniff(head: bytes, file_name: str) -> str:
    """Detect the MIME type of a file by its first 8 KB.

    The extension decides only if the content fits several types. Raises ExtractError if the type is
    not supported or does not match the extension, if the file is empty, or if it is a
    password-protected Office file.
    """
    extension = Path(file_name.replace("\x00", "")).suffix.lower().lstrip(".")
    named = _EXTENSIONS.get(extension)
    if extension and named is None:
        raise ExtractError("unsupported_type", "This file type isn't supported.")
    if not head.strip():
        raise ExtractError("empty", "The file is empty.")
    if named in _OFFICE and head.startswith(_OLD_OFFICE):
        raise ExtractError("encrypted", "Remove the password and save the file again.")
    detected = _content_type(head[:SNIFF_BYTES], named)
    if named is None or detected == named:
        return detected
    if detected == PLAIN and named in (MARKDOWN, CSV):
        return named
    if detected == PLAIN and named == MAIL and _HEADER.match(encodings.rough(head)):
        return MAIL
    # A Markdown, text or CSV file may start with a tag, but not with a whole HTML page.
    if (
        detected == HTML
        and named != HTML
        and not _HTML_DOCUMENT.match(encodings.rough(head[:SNIFF_BYTES]))
    ):
        return named if named in (MARKDOWN, PLAIN, CSV) else _mismatch()
    return _mismatch()


def _mismatch() -> str:
    raise ExtractError("unsupported_type", "The file's content doesn't match its extension.")


def _content_type(head: bytes, named: str | None) -> str:
    if head.lstrip().startswith(b"%PDF-"):
        return PDF
    if head.startswith(b"PK\x03\x04"):
        for mime_type in _NAMED:
            if f"mimetype{mime_type}PK".encode() in head[:_NAME_BYTES]:
                return mime_type
        found = [mime_type for mime_type, folder in _OFFICE.items() if folder in head]
        if not found and b"[Content_Types].xml" in head:
            found = list(_OFFICE)
        if found:  # If several types fit, the extension decides; the reader checks it.
            return named if named in found else found[0]
    if head.startswith(_BINARY) or not _looks_like_text(head):
        raise ExtractError("unsupported_type", "This file type isn't supported.")
    text = encodings.rough(head)
    if _HTML_DOCUMENT.match(text):
        return HTML
    if _OTHER_XML.match(text):
        raise ExtractError("unsupported_type", "XML files aren't supported.")
    return HTML if text.lstrip().startswith("<") and _TAG.search(text) else PLAIN


def _looks_like_text(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13, 27) for byte in head)
    if b"\x00" in head:
        return encodings.utf16_without_mark(head) is not None
    # Text has no control characters in any encoding; in compressed data they are one byte in ten.
    return controls * 100 < len(head)
