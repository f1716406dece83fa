"""Text out of Markdown."""

import re
from pathlib import Path

from bots.knowledge.extract.detection import decode
from bots.knowledge.extract.document import Section, SectionBuilder, TitleAndSections, clean

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# `[name]: https://…` defines a link (CommonMark 4.7); readers do not see it.
_LINK_TARGET = re.compile(r"^ {0,3}\[[^\]]+\]:\s*\S+\s*$")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
_TITLE = re.compile(r"^#\s+(.+?)\s*#*$", re.MULTILINE)
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


def read(path: Path) -> TitleAndSections:
    text = clean(decode(path.read_bytes()))
    # A single level-1 heading is the title; of several, none names the whole page.
    titles = _TITLE.findall(text)
    return (_without_markup(titles[0]) if len(titles) == 1 else ""), markdown_sections(text)


def markdown_sections(text: str) -> list[Section]:
    """One section per heading, with its nearest parent: "Returns > Damaged goods"."""
    sections = SectionBuilder()
    parents: dict[int, str] = {}
    is_code = False
    lines: list[str] = []

    def flush() -> None:
        sections.add(_without_markup("\n".join(lines)))
        lines.clear()

    for line in _FRONT_MATTER.sub("", text).split("\n"):
        is_code ^= line.lstrip().startswith(("```", "~~~"))
        match = None if is_code else _HEADING.match(line)
        if not match:
            if not line.lstrip().startswith(("```", "~~~")) and not _LINK_TARGET.match(line):
                lines.append(line)
            continue
        flush()
        level = len(line) - len(line.lstrip("#"))
        heading = _without_markup(match.group(1))
        parents = {key: value for key, value in parents.items() if key < level}
        # A level-1 heading is the title already, so it is not repeated.
        above = parents[max(parents)] if parents and max(parents) > 1 else ""
        parents[level] = heading
        sections.start_section(f"{above} > {heading}" if above else heading)
    flush()
    return sections.build()


def _without_markup(text: str) -> str:
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return clean(text)
