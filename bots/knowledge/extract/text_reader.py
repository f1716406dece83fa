"""Text out of plain text files."""

import re
from pathlib import Path

from bots.knowledge.extract.detection import decode
from bots.knowledge.extract.document import (
    Section,
    SectionBuilder,
    TitleAndSections,
    clean,
    join_broken_words,
)

_NUMBERED = re.compile(r"^(?:[IVX]{1,5}|\d{1,2}(?:\.\d{1,2})*)[.)]?\s+\w")


def read(path: Path) -> TitleAndSections:
    text = clean(decode(path.read_bytes()))
    return "", plain_sections(join_broken_words(text))


def plain_sections(text: str) -> list[Section]:
    sections = SectionBuilder()
    for paragraph in re.split(r"\n\s*\n", text):
        first, _, rest = paragraph.partition("\n")
        underline, _, below = rest.partition("\n")
        if first.strip() and re.fullmatch(r"\s*([=\-~])\1{2,}\s*", underline):
            first, rest = first.strip(), below
        elif not _is_plain_heading(first.rstrip(), is_alone=not rest.strip()):
            sections.add(paragraph)
            continue
        sections.start_section(first.strip())
        sections.add(rest)
    return sections.build()


def _is_plain_heading(line: str, *, is_alone: bool) -> bool:
    """Whether a line is in capitals, as in manual pages, or numbered and alone."""
    if not line or len(line) > 80 or line[0].isspace() or line.endswith((".", ",", ";")):
        return False
    letters = [letter for letter in line if letter.isalpha()]
    if len(letters) >= 3 and all(letter.isupper() for letter in letters):
        return True
    return is_alone and bool(_NUMBERED.match(line))
