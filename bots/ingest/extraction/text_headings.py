"""Recognizes headings in plain text by capitals, numbers, rules and indentation."""

import re
from collections import deque
from collections.abc import Iterable
from itertools import dropwhile

from bots.ingest.extraction.document import Section, SectionBuilder
from bots.language import language_data
from bots.language.normalization import QUESTION_MARKS

_NUMBERED = re.compile(r"^(?:[IVX]{1,5}|\d{1,2}(?:\.\d{1,2})*)[.)]?\s+\w")
# The article of a law: "Article 25.", "§ 3 Fees", "Article 5. The permit is valid for a year."
_ARTICLE = re.compile(
    rf"({language_data.numbered('headings', 'articles')}(?![\w-]))([.:)]?)\s*(.*)", re.IGNORECASE
)
_ENDS = re.compile(r"[.:;!?]$")
_ITEM = re.compile(r"\s*(?:[-*•–·▪◦]|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s")
_BULLET = re.compile(r"^[-*•–]\s+")
# Matches a label such as "Q:" at the beginning of a line. The line is not a heading: indented lines
# below it continue its text.
_QA_LABEL = re.compile(rf"\s*{language_data.pattern('headings', 'no_headings')}\s*[:.]\s")
_RULE = re.compile(r"\s*([^\w\s])\1{4,}\s*")
# The header or footer of a manual page: "GREP(1)      User Commands      GREP(1)".
_OF_MANUAL = re.compile(r"\S+(?: \S+)* {3,}\S.*(?<! ) {3,}+[\w.+-]++\(\d\w*\)\s*")
_UNDERLINE = re.compile(r"\s*([=\-~])\1{2,}\s*")
_MAX_HEADING = 80
# A line that is indented by this many spaces counts as centered.
_CENTERED_INDENT = 10
_TITLE_WORDS = 4
# In a title, only words up to this length may begin in lower case.
_SMALL_WORD, _MAX_TITLE_WORDS = 4, 10
# A side heading must have at least this many words below it: fewer words are an example.
_MIN_WORDS_BELOW = 5
_NUMBER = re.compile(r"\s*(\d{1,3}(?:\.\d{1,2})*)[.)]?\s")
# The prompts at the beginning of a line in a shell.
_PROMPT = ("$ ", "% ", "# ", "> ")


def sections(text: str) -> list[Section]:
    """The paragraphs of a plain text, under the headings that can be recognized."""
    outline = _Outline()
    outline.read(text)
    return outline.found.build()


def paged_sections(pages: Iterable[str]) -> list[Section]:
    """Like `sections`, for a text in pages, which are numbered from 1."""
    outline = _Outline()
    for number, text in enumerate(pages, 1):
        outline.found.start_page(number)
        outline.read(text)
    return outline.found.build()


class _Outline:
    """Reads plain texts; holds the sections found so far and the headings above the next line."""

    def __init__(self) -> None:
        self.found = SectionBuilder()
        self._above = ""
        # The indentation of the side heading above the next paragraph; None if there is none. A
        # side heading is the heading of all paragraphs below it that are indented further.
        self._heads_until: int | None = None
        # Whether the latest heading is a question and nothing below it has been read yet.
        self._is_asked = False

    def read(self, text: str) -> None:
        apart = map(_without_rules, re.split(r"\n\s*\n", text))
        paragraphs = deque(part for whole in apart for part in _by_article(whole) if part.strip())
        while paragraphs:
            paragraph = paragraphs.popleft()
            heading, rest = _heading(paragraph)
            if heading:
                self._above, self._heads_until = heading, None
                self._start(heading)
                # The next line may be a side heading.
                paragraphs.extendleft([rest] if rest.strip() else [])
            else:
                self._read_paragraph(paragraph, paragraphs[0] if paragraphs else "")

    def _start(self, heading: str) -> None:
        self.found.start_section(heading)
        self._is_asked = heading.endswith(QUESTION_MARKS)

    def _read_paragraph(self, paragraph: str, following: str) -> None:
        # The text directly below a question is its answer.
        heading, rest = ("", paragraph) if self._is_asked else _side_heading(paragraph, following)
        if heading:
            self._heads_until = _indent(paragraph)
            inner, below = _side_heading(rest, "") if rest else ("", "")
            if inner:
                # The heading of a group of options is directly above the first option.
                self._heads_until, heading, rest = _indent(rest), inner, below
            if _level(heading) is not None and _level(heading) == _level(self._above):
                self._above = heading
            is_below = self._above not in {"", heading}
            self._start(f"{self._above} > {heading}" if is_below else heading)
        elif self._heads_until is not None and _indent(paragraph) <= self._heads_until:
            self._heads_until = None
            self.found.start_section(self._above)
        self.found.add(rest)
        self._is_asked &= not rest.strip()


def _level(heading: str) -> int | None:
    """How deep a heading is by its number: 1 for "2.1. Grants"; None if it has no number."""
    number = _NUMBER.match(heading)
    return number[1].count(".") if number else None


def _without_rules(paragraph: str) -> str:
    """Remove horizontal rules at the top, and headers and footers of manual pages."""
    lines = paragraph.expandtabs(8).split("\n")
    lines = [line for line in lines if not _OF_MANUAL.fullmatch(line)]
    return "\n".join(dropwhile(_RULE.fullmatch, lines))


def _by_article(paragraph: str) -> list[str]:
    """Split a paragraph before each line that begins an article of a law."""
    parts: list[list[str]] = [[]]
    for line in paragraph.split("\n"):
        before = parts[-1][-1].rstrip() if parts[-1] else ""
        # Within a sentence, an article is only mentioned.
        is_new = _ENDS.search(before) or _article(before)[0] or _is_in_capitals(before)
        if parts[-1] and is_new and _article(line)[0]:
            parts.append([])
        parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def _article(line: str) -> tuple[str, str]:
    """Split a line that begins an article of a law into the heading and the rest; for other lines,
    the heading is empty."""
    found = _ARTICLE.fullmatch(line.strip())
    if not found:
        return "", line
    number, end, text = found.groups()
    is_title = len(text) <= _MAX_HEADING and not _ENDS.search(text)
    if not text or (is_title and not text[0].islower()):
        return line.strip().rstrip(".:"), ""
    return (number, text) if end and not text[0].islower() else ("", line)


def _heading(paragraph: str) -> tuple[str, str]:
    """Split a paragraph into its heading and the rest; the heading is empty if there is none."""
    first, _, rest = paragraph.partition("\n")
    article, text = _article(first)
    if article:
        return article, f"{text}\n{rest}" if text else rest
    underline, _, below = rest.partition("\n")
    if first.strip() and _UNDERLINE.fullmatch(underline) and not first.rstrip().endswith("."):
        return first.strip(" =*#"), below
    is_alone = not rest.strip()
    if _is_in_capitals(underline):
        return "", paragraph  # if the second line is in capitals, the first is text too
    if is_alone and _is_numbered_title(first):
        return first.strip(), ""
    if _is_heading(first.rstrip(), is_alone=is_alone):
        return first.strip(), rest
    if is_alone and _is_short_title(first):
        return first.strip(), ""
    if is_alone and _indent(first) >= _CENTERED_INDENT and _is_title(first.strip()):
        return " ".join(first.split()), ""
    return "", paragraph


def _is_heading(line: str, *, is_alone: bool) -> bool:
    """Whether a line is a heading: it is in capitals, as in manual pages, or it is numbered and the
    only line of its paragraph."""
    if not line or len(line) > _MAX_HEADING or line[0].isspace() or line.endswith((".", ",", ";")):
        return False
    # "7. The Government shall publish:" introduces what follows.
    is_title = not line.endswith(":") and len(line.split()) <= _MAX_TITLE_WORDS
    return _is_in_capitals(line) or (is_alone and is_title and bool(_NUMBERED.match(line)))


def _is_numbered_title(line: str) -> bool:
    """Whether a line is a title such as "5. Conveying Modified Source Versions."."""
    words = line.split()
    long = [word for word in words[1:] if len(word) > _SMALL_WORD]
    is_short = len(words) <= _MAX_TITLE_WORDS and len(line) <= _MAX_HEADING
    is_numbered = bool(_NUMBERED.match(line)) and not line.rstrip().endswith((",", ";", "?"))
    return is_short and is_numbered and bool(long) and all(word[0].isupper() for word in long)


def _is_short_title(line: str) -> bool:
    """Whether a line is a few words without punctuation at the end, such as "Delivery"."""
    is_short = len(line.split()) <= _TITLE_WORDS and len(line) <= _MAX_HEADING
    return is_short and line[:1].isupper() and line.rstrip()[-1:].isalpha()


def _is_title(line: str) -> bool:
    is_short = len(line) <= _MAX_HEADING and not line.endswith((".", ",", ";", "*"))
    return is_short and _is_in_capitals(line.partition(":")[2] or line)


def _is_in_capitals(line: str) -> bool:
    letters = [letter for letter in line if letter.isalpha()]
    return len(letters) >= 3 and all(letter.isupper() for letter in letters)


def _side_heading(paragraph: str, following: str) -> tuple[str, str]:
    """Split a paragraph into a side heading, which has indented text below it, and the rest.

    The heading is empty if there is none. The options of a manual page are side headings.
    """
    lines = paragraph.split("\n")
    margin = _indent(lines[0])
    count = next((n for n, line in enumerate(lines) if _indent(line) > margin + 1), len(lines))
    head = " ".join(" ".join(lines[:count]).split())
    rest = "\n".join(lines[count:])
    if rest and any(_indent(line) <= margin + 1 for line in lines[count:]):
        return "", paragraph
    below = rest or (following if _indent(following) > margin + 1 else "")
    is_head = len(head) <= 2 * _MAX_HEADING and not head.endswith((",", ":", ";", "\\"))
    if rest and (_ITEM.match(lines[0]) or below.lstrip()[:1].islower()):
        is_head = False
    if not rest and (count > 2 or (head.endswith(".") and not _ITEM.match(head))):
        is_head = False
    if _QA_LABEL.match(lines[0]) or head.startswith(_PROMPT):
        is_head = False
    if not is_head or _ITEM.match(below) or len(below.split()) < _MIN_WORDS_BELOW:
        return "", paragraph
    return _BULLET.sub("", head), rest


def _indent(paragraph: str) -> int:
    line = paragraph.expandtabs(8)
    return len(line) - len(line.lstrip(" "))
