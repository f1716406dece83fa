"""Extracts the text of uploaded files and crawled pages.

`extract_in_child` reads a file in a child process with limits, since files may be hostile; only
that process loads parsers. `file_types` detects the type of a file, and `readers` has a reader for
each type.
"""

import json
from dataclasses import replace
from pathlib import Path

from bots.ingest import child_process
from bots.ingest.extraction import file_types, ocr, question_headings, text_headings
from bots.ingest.extraction.document import (
    ExtractedText,
    ExtractError,
    Section,
    check_length,
    clean,
    warning_line,
)
from bots.ingest.extraction.readers import READERS
from bots.language import detection

MAX_FILE_BYTES = 26_214_400
# The limits of CPU time and memory for reading one file; character recognition needs higher limits.
_SECONDS, _MEMORY_MB = (ocr.SECONDS, ocr.MEMORY_MB) if ocr.is_installed() else (60, 512)
# The child process may run for this many times its limit of CPU time, but for at most this many
# seconds. Training has the lowest priority, so on a busy machine reading a file takes far longer
# than its CPU time.
_WALL_TIME_FACTOR, _MAX_WALL_SECONDS = 5, 500


def extract_in_child(
    path: Path,
    *,
    file_name: str,
    default_language: str = "en",
    timeout_seconds: float = _SECONDS,
    memory_mb: int = _MEMORY_MB,
) -> ExtractedText:
    """Like `extract`, but in a child process whose CPU time and memory are limited."""
    try:
        finished = child_process.run(
            "bots.ingest.extraction",
            str(path.resolve()),
            file_name,
            str(memory_mb),
            str(max(1, int(timeout_seconds))),
            timeout_seconds=min(_WALL_TIME_FACTOR * timeout_seconds, _MAX_WALL_SECONDS),
        )
    except child_process.TimedOut:
        raise ExtractError("timeout", "The file took too long to read.") from None
    except child_process.OutputTooLarge:
        raise ExtractError("too_large", "The file has too much text.") from None
    # The language is not detected in the child process, which may not write files: the detector
    # unpacks its model into a file.
    return _with_language(_parse_output(finished), default_language)


def _parse_output(finished: child_process.Finished) -> ExtractedText:
    try:
        data = json.loads(finished.output)
    except ValueError:
        if finished.timed_out:
            raise ExtractError("timeout", "The file took too long to read.") from None
        raise ExtractError("too_large", "The file took too much memory to read.") from None
    if "code" in data:
        raise ExtractError(**data)
    sections = tuple(Section(**section) for section in data.pop("sections"))
    return ExtractedText(sections=sections, **data)


def extract(path: Path, *, file_name: str, default_language: str = "en") -> ExtractedText:
    """Read the title, sections and language of a file in this process; raises ExtractError."""
    return _with_language(read(path, file_name), default_language)


def from_text(title: str, text: str, *, default_language: str) -> ExtractedText:
    """Read a text that a client wrote. It needs no parser and therefore no child process."""
    sections = tuple(question_headings.as_headings(text_headings.sections(clean(text))))
    return _with_language(ExtractedText(title, file_types.PLAIN, sections, ""), default_language)


def from_pair(question: str, answer: str, *, default_language: str) -> ExtractedText:
    """Turn a question and its answer into one section, with the question as its heading."""
    sections = (Section(question, clean(answer)),)
    language_ = detection.detect(f"{question}\n{answer}", default=default_language)
    return ExtractedText(question, file_types.PLAIN, sections, language_)


def _with_language(text: ExtractedText, default: str) -> ExtractedText:
    sample = "\n".join(section.text[:500] for section in text.sections[:20])
    return replace(text, language=detection.detect(sample, default=default))


def read(path: Path, file_name: str) -> ExtractedText:
    """Read the title and sections of a file of at most 25 MB; the language is left empty.

    Raises ExtractError or MemoryError.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES >> 20} MB"
        raise ExtractError("too_large", "The file is larger than the limit", limit)
    with path.open("rb") as file:
        mime_type = file_types.sniff(file.read(file_types.SNIFF_BYTES), file_name)
    try:
        title, sections, warning = READERS[mime_type](path)
    except (ExtractError, MemoryError):
        raise
    # A parser may raise any kind of error on a hostile file.
    except Exception as error:
        raise ExtractError(
            "malformed", "The file can't be read. It's damaged or its extension is wrong."
        ) from error
    sections = [
        Section(clean(section.heading), clean(section.text), section.page)
        for section in sections
        if section.text.strip()
    ]
    if mime_type not in file_types.TABLES:
        sections = question_headings.as_headings(sections)
    check_length(sum(len(section.text) for section in sections))
    if not any(letter.isalnum() for section in sections for letter in section.text):
        raise ExtractError("empty", "The file has no text.")
    undecoded = sum(section.text.count("\ufffd") for section in sections)
    undecoded_line = warning_line("Characters that can't be decoded", undecoded)
    return ExtractedText(
        title=clean(title)[:300].strip() or Path(file_name).stem[:300],
        mime_type=mime_type,
        sections=tuple(sections),
        language="",
        warning="\n".join(filter(None, [warning, undecoded_line])),
    )
