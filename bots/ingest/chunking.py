"""Cuts a document into pieces: the passages that the search finds and replies quote."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from bots.ingest.extraction.document import CODE_LINE, ExtractedText, Section
from bots.language import language_data
from bots.language.normalization import UNSPACED

MAX_WORDS = 220
MAX_CHARACTERS = 1_600
MAX_HEADING_CHARACTERS = 200
# A piece of at least this length ends with the paragraph: more text would blur its meaning.
TARGET_WORDS = 50
# A shorter piece is joined to its neighbor if possible: it says so little by itself that its
# vector is close to the vector of any question.
_MIN_WORDS = 25
# A longer sentence is not repeated at the start of the next piece.
MAX_OVERLAP_WORDS = 60

# Matches a cell with its label: the label, the colon and the first character of the value.
LABEL = r"[^\s:,][^:,\n]{0,60}: \S"

# Matches the beginning of a list item.
BULLET = re.compile(r"^\s*(?:[-*•–·▪◦]|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s+")
# Like LABEL, but without a full stop in the label.
_LABEL = re.compile(r"[^\s:,.][^:,.\n]{0,60}: \S")
# Matches a piece that is a row of a spreadsheet, with one line for each cell.
_SHEET_ROW = re.compile(rf"{LABEL}.*(?:\n{LABEL}.*)+")
_END = re.compile(r"""(?<![.!?…])[.!?…]++["'”’»)\]]*+(?=\s)|[。！？]["'”’」』）]*""")
LINE_ENDS = re.compile(r"""[.!?…:;。！？：；]["'”’»)\]]*$""")
_ABBREVIATIONS = frozenset(language_data.words("sentences", "abbreviations"))
# A text that ends like this introduces what follows it.
LEAD_INS = (":", "：")
# A longer line may have been wrapped at a fixed width; a shorter one was ended by its author.
_SOFT_LINE_CHARACTERS = 45


@dataclass(frozen=True)
class Piece:
    """One piece of a document; its vector is computed from `embedded`."""

    position: int
    heading: str
    page: int | None
    text: str
    sentences: tuple[str, ...]

    @property
    def embedded(self) -> str:
        return embedded(self.heading, self.text)

    @property
    def content_hash(self) -> str:
        """A hash that is equal only for pieces with the same vectors."""
        content = "\0".join((self.embedded, *self.sentences))
        return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()


def embedded(heading: str, text: str) -> str:
    """The text from which the vector of a piece is computed."""
    return f"{heading}\n{text}" if heading else text


@dataclass(frozen=True)
class _Sentence:
    text: str
    page: int | None
    words: int
    glue: str  # separates it from the previous sentence: "", " ", "\n" or "\n\n"


def count_words(text: str) -> int:
    """The number of words; two characters of a script without spaces count as one word."""
    unspaced = len(UNSPACED.findall(text))
    if not unspaced:
        return len(text.split())
    return len(UNSPACED.sub(" ", text).split()) + (unspaced + 1) // 2


def is_row(text: str) -> bool:
    """Whether a passage is a row of a spreadsheet."""
    return bool(_SHEET_ROW.fullmatch(text))


def split_sentences(text: str) -> list[str]:
    """The sentences of one paragraph; list items and separate lines count as sentences."""
    return [sentence for line in _lines(text) for sentence in _split_line(line)]


def _lines(paragraph: str) -> Iterator[str]:
    """Join lines that were wrapped at a fixed width; keep other line ends."""
    current = ""
    for line in (part.strip(" \t") for part in paragraph.split("\n")):
        if not line:
            continue
        if CODE_LINE in line:
            if current:
                yield " ".join(current.split())
            yield line
            current = ""
            continue
        if current and _is_wrapped(current, line):
            current = f"{current} {line}"
            continue
        if current:
            yield " ".join(current.split())
        current = line
    if current:
        yield " ".join(current.split())


def _is_wrapped(line: str, following: str) -> bool:
    if BULLET.match(following) or (_LABEL.match(line) and _LABEL.match(following)):
        return False
    if following[0].islower():
        return True
    return len(line) >= _SOFT_LINE_CHARACTERS and not line.endswith((":", "|"))


def _split_line(line: str) -> Iterator[str]:
    if CODE_LINE in line:
        yield line
        return
    start = 0
    for match in _END.finditer(line):
        if _is_end(line, start, match):
            yield line[start : match.end()].strip()
            start = match.end()
    if line[start:].strip():
        yield line[start:].strip()


def _is_end(line: str, start: int, match: re.Match[str]) -> bool:
    if match.group()[0] in "。！？":
        return True
    rest = line[match.end() :].lstrip()
    if match.group()[0] != ".":
        # In `"Really?" she asked` the lower-case letter continues the sentence.
        return not rest[:1].islower()
    before = line[start : match.start()].split()
    last = before[-1].lstrip("(\"'“‘[").lower() if before else ""
    if not before or (len(before) == 1 and (last.isdigit() or len(last) == 1)):
        return False  # "1." or "a." starts a list item.
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha()):
        return False
    return not rest[:1].islower()


def _fits(words: int, characters: int) -> bool:
    return words <= MAX_WORDS and characters <= MAX_CHARACTERS


def _cut(sentence: str) -> Iterator[tuple[str, str]]:
    """Cut a sentence into parts within the limits, at spaces if possible.

    Yields (glue, part); the glue separates the part from the previous part.
    """
    glue = ""
    while not _fits(count_words(sentence), len(sentence)):
        end = _cut_position(sentence)
        yield glue, sentence[:end].rstrip()
        rest = sentence[end:]
        glue = " " if rest[:1].isspace() or sentence[end - 1].isspace() else ""
        sentence = rest.strip()
    if sentence:
        yield glue, sentence


def _cut_position(sentence: str) -> int:
    cuts = range(1, min(len(sentence), MAX_CHARACTERS) + 1)
    fit = bisect_right(cuts, MAX_WORDS, key=lambda cut: count_words(sentence[:cut])) or 1
    space = sentence.rfind(" ", fit // 2, fit + 1)
    return space if space > 0 else fit


def _paragraphs(sections: Iterable[Section]) -> Iterator[tuple[str, int | None]]:
    """Yield each paragraph with its page.

    A paragraph that continues in the next section is joined, with the page on which it begins.
    """
    current: tuple[str, int | None] | None = None
    for section in sections:
        for position, paragraph in enumerate(re.split(r"\n\s*\n", section.text)):
            if not paragraph.strip():
                continue
            if current and position == 0 and _continues(current[0], paragraph):
                current = (f"{current[0].rstrip()}\n{paragraph.lstrip()}", current[1])
                continue
            if current:
                yield current
            current = (paragraph, section.page)
    if current:
        yield current


def _continues(before: str, after: str) -> bool:
    return not LINE_ENDS.search(before.rstrip()) and after.lstrip()[:1].islower()


def _sentences(sections: Iterable[Section]) -> Iterator[_Sentence]:
    for paragraph, page in _paragraphs(sections):
        glue = "\n\n"
        for line in _lines(paragraph):
            for sentence in _split_line(line):
                for index, (inner, part) in enumerate(_cut(sentence)):
                    yield _Sentence(part, page, count_words(part), inner if index else glue)
                glue = " "
            glue = "\n"


def _pack(sentences: Iterable[_Sentence]) -> Iterator[list[_Sentence]]:
    current: list[_Sentence] = []
    words = characters = 0
    for sentence in sentences:
        full = not _fits(
            words + sentence.words, characters + len(sentence.glue) + len(sentence.text)
        )
        is_break = sentence.glue == "\n\n" and words >= TARGET_WORDS
        if current and (full or (is_break and not current[-1].text.endswith(LEAD_INS))):
            yield current
            # If the next piece begins a new paragraph, it repeats no sentence of this piece, which
            # might be quoted for the wrong topic.
            current = _overlap(current[-1], sentence)
            words = sum(part.words for part in current)
            characters = sum(len(part.text) for part in current)
        current.append(sentence)
        words += sentence.words
        characters += len(sentence.glue) + len(sentence.text)
    if current:
        yield current


def _join_short(parts: Iterable[list[_Sentence]]) -> list[list[_Sentence]]:
    """Join each short piece to a neighbor, if the two fit into one piece."""
    joined: list[list[_Sentence]] = []
    for part in parts:
        if joined and min(map(_words, (part, joined[-1]))) < _MIN_WORDS:
            added = part[1:] if part[0] is joined[-1][-1] else part
            both = [*joined[-1], *added]
            if _fits(_words(both), sum(len(item.glue) + len(item.text) for item in both)):
                joined[-1] = both
                continue
        joined.append(part)
    return joined


def _words(sentences: Iterable[_Sentence]) -> int:
    return sum(sentence.words for sentence in sentences)


def _overlap(last: _Sentence, following: _Sentence) -> list[_Sentence]:
    if following.glue == "\n\n" or last.words > MAX_OVERLAP_WORDS:
        return []
    words = last.words + following.words
    return [last] if _fits(words, len(last.text) + len(following.text) + 2) else []


def _joined(sentences: list[_Sentence]) -> str:
    first, *rest = sentences
    return first.text + "".join(sentence.glue + sentence.text for sentence in rest)


def _group(sections: Iterable[Section]) -> Iterator[list[Section]]:
    """Group consecutive pages or slides under the same heading; other sections stay single."""
    for (_, paged), group in groupby(
        sections, key=lambda section: (section.heading, section.page is not None)
    ):
        if paged:
            yield list(group)
        else:
            yield from ([section] for section in group)


def chunk_whole_sections(text: ExtractedText) -> list[Piece]:
    """Make each section a piece with a single sentence, so that it is quoted as a whole."""
    return [
        Piece(position, section.heading, section.page, section.text, (section.text,))
        for position, section in enumerate(text.sections)
        if section.text
    ]


def chunk(text: ExtractedText) -> list[Piece]:
    """Cut a document into pieces of at most 220 words and 1,600 characters, in document order."""
    pieces: list[Piece] = []
    for group in _group(text.sections):
        heading = " ".join(group[0].heading.split())[:MAX_HEADING_CHARACTERS]
        for sentences in _join_short(_pack(_sentences(group))):
            piece = Piece(
                position=len(pieces),
                heading=heading,
                page=sentences[0].page,
                text=_joined(sentences).replace(CODE_LINE, "\n"),
                sentences=tuple(part.text.replace(CODE_LINE, "\n") for part in sentences),
            )
            pieces.append(piece)
    return pieces
