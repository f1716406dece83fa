"""Text out of PDF files."""

import re
from pathlib import Path
from typing import Any

from bots.knowledge.extract.document import (
    ExtractError,
    Section,
    TitleAndSections,
    check_length,
    clean,
    join_broken_words,
)

MAX_PAGES = 2_000


def read(path: Path) -> TitleAndSections:
    import pypdf  # noqa: PLC0415  parsers are loaded in the child only
    from pypdf import errors  # noqa: PLC0415

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ExtractError("encrypted", "The PDF is protected by a password.")
        if len(reader.pages) > MAX_PAGES:
            raise ExtractError("too_large", f"The PDF has more than {MAX_PAGES} pages.")
        pages = _pdf_pages(reader)
        title = str((reader.metadata and reader.metadata.title) or "")
    except errors.LimitReachedError as error:
        raise ExtractError("too_large", "The PDF unpacks to too much data.") from error
    except errors.FileNotDecryptedError as error:
        raise ExtractError("encrypted", "The PDF is protected by a password.") from error
    pages = _without_running_lines(pages)
    return title, [
        Section("", _join_hyphenated(text), number) for number, text in enumerate(pages, 1)
    ]


def _pdf_pages(reader: Any) -> list[str]:
    pages: list[str] = []
    total = 0
    for page in reader.pages:
        pages.append(clean(page.extract_text() or ""))
        total += len(pages[-1])
        check_length(total)
    return pages


def _without_running_lines(pages: list[str]) -> list[str]:
    """Drop first and last lines that most pages share, whatever numbers they contain."""
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


def _join_hyphenated(text: str) -> str:
    text = join_broken_words(text)
    return re.sub(r"([a-zà-ỹ]{2})-\n[ ]*([a-zà-ỹ]{2})", r"\1\2", text)
