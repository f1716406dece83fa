"""Plain text: its headings are recognised by capitals, numbers, rules and indentation."""

import re
from collections import deque

from bots.knowledge.extract.document import Section, SectionBuilder

_NUMBERED = re.compile(r"^(?:[IVX]{1,5}|\d{1,2}(?:\.\d{1,2})*)[.)]?\s+\w")
_ITEM = re.compile(r"\s*(?:[-*•–·▪◦]|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s")
_BULLET = re.compile(r"^[-*•–]\s+")
_RULE = re.compile(r"\s*([^\w\s])\1{4,}\s*")
_UNDERLINE = re.compile(r"\s*([=\-~])\1{2,}\s*")
_MAX_HEADING = 80
# A line that begins as far from the margin is in the middle of the page.
_CENTRED = 10
_TITLE_WORDS = 4
# What stands below a line that heads it is a text, and not an example.
_MIN_WORDS_BELOW = 5


def sections(text: str) -> list[Section]:
    """Paragraphs of a plain text, under the headings that can be recognised."""
    found, above = SectionBuilder(), ""
    paragraphs = deque(filter(str.strip, map(_without_rules, re.split(r"\n\s*\n", text))))
    heads_until: int | None = None
    while paragraphs:
        paragraph = paragraphs.popleft()
        heading, rest = _heading(paragraph)
        if heading:
            above, heads_until = heading, None
            found.start_section(heading)
            # The heading may stand right above a line that heads a part.
            paragraphs.extendleft([rest] if rest.strip() else [])
            continue
        heading, rest = _side_heading(paragraph, paragraphs[0] if paragraphs else "")
        if heading:
            heads_until = _indent(paragraph)
            found.start_section(f"{above} > {heading}" if above else heading)
        elif heads_until is not None and _indent(paragraph) <= heads_until:
            heads_until = None
            found.start_section(above)
        found.add(rest)
    return found.build()


def _without_rules(paragraph: str) -> str:
    """Without lines that are drawn above; those below a heading mark it."""
    lines = paragraph.split("\n")
    while lines and _RULE.fullmatch(lines[0]):
        lines.pop(0)
    return "\n".join(lines)


def _heading(paragraph: str) -> tuple[str, str]:
    """A heading and what stands below it in the same paragraph; no heading: an empty one."""
    first, _, rest = paragraph.partition("\n")
    underline, _, below = rest.partition("\n")
    if first.strip() and _UNDERLINE.fullmatch(underline):
        return first.strip(" =*#"), below
    is_alone = not rest.strip()
    if _is_heading(first.rstrip(), is_alone=is_alone):
        return first.strip(), rest
    if is_alone and _is_short_title(first):
        return first.strip(), ""
    if is_alone and _indent(first) >= _CENTRED and _is_title(first.strip()):
        return " ".join(first.split()), ""
    return "", paragraph


def _is_heading(line: str, *, is_alone: bool) -> bool:
    """Whether a line is in capitals, as in manual pages, or numbered and alone."""
    if not line or len(line) > _MAX_HEADING or line[0].isspace() or line.endswith((".", ",", ";")):
        return False
    return _is_in_capitals(line) or (is_alone and bool(_NUMBERED.match(line)))


def _is_short_title(line: str) -> bool:
    """Whether a line alone is a few words without an end, such as "Delivery"."""
    is_short = len(line.split()) <= _TITLE_WORDS and len(line) <= _MAX_HEADING
    return is_short and line[:1].isupper() and line.rstrip()[-1:].isalpha()


def _is_title(line: str) -> bool:
    is_short = len(line) <= _MAX_HEADING and not line.endswith((".", ",", ";", "*"))
    return is_short and _is_in_capitals(line.partition(":")[2] or line)


def _is_in_capitals(line: str) -> bool:
    letters = [letter for letter in line if letter.isalpha()]
    return len(letters) >= 3 and all(letter.isupper() for letter in letters)


def _side_heading(paragraph: str, following: str) -> tuple[str, str]:
    """A line that heads a text that is indented below it, as the options of a manual page do."""
    lines = paragraph.split("\n")
    margin = _indent(lines[0])
    count = next((n for n, line in enumerate(lines) if _indent(line) > margin + 1), len(lines))
    head = " ".join(" ".join(lines[:count]).split())
    rest = "\n".join(lines[count:])
    if rest and any(_indent(line) <= margin + 1 for line in lines[count:]):
        return "", paragraph
    below = rest or (following if _indent(following) > margin + 1 else "")
    is_head = len(head) <= 2 * _MAX_HEADING and not head.endswith((",", ":", ";"))
    if rest and (_ITEM.match(lines[0]) or below.lstrip()[:1].islower()):
        is_head = False
    if not rest and (count > 2 or (head.endswith(".") and not _ITEM.match(head))):
        is_head = False
    if not is_head or _ITEM.match(below) or len(below.split()) < _MIN_WORDS_BELOW:
        return "", paragraph
    return _BULLET.sub("", head), rest


def _indent(paragraph: str) -> int:
    line = paragraph.expandtabs(8)
    return len(line) - len(line.lstrip(" "))
