"""Cut an extracted document into pieces that the encoder and a customer can take in."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from bots.knowledge.extract import ExtractedText, Section

MAX_WORDS = 220
MAX_CHARACTERS = 1_600
MAX_HEADING_CHARACTERS = 200
# A piece that holds this much ends at the next paragraph: a paragraph more would blur its meaning.
TARGET_WORDS = 50
# A longer sentence is not repeated at the start of the next piece.
MAX_OVERLAP_WORDS = 60

# Scripts that write no spaces between words; two characters are taken for a word.
_DENSE = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
_BULLET = re.compile(r"^\s*(?:[-*•–·▪◦]|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s+")
_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s)|[。！？]["'”’」』）]*""")
_LINE_ENDS = re.compile(r"""[.!?…:;。！？：；]["'”’»)\]]*$""")
_ABBREVIATIONS = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "sr",
        "jr",
        "st",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "cf",
        "al",
        "fig",
        "no",
        "vol",
        "pp",
        "p",
        "inc",
        "ltd",
        "co",
        "corp",
        "dept",
        "est",
        "approx",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "a.m",
        "p.m",
        "u.s",
        "u.k",
        "tp",
        "q",
        "ths",
        "ts",
        "gs",
        "pgs",
        "bs",
        "ks",
        "cn",
        "tt",
        "tx",
        "h",
        "đ",
    ]
)
# A line shorter than this was ended by its author and not by the width of the page.
_SOFT_LINE_CHARACTERS = 45


@dataclass(frozen=True)
class Piece:
    """One stretch of a document; `embedded` is what its vector is made of."""

    position: int
    heading: str
    page: int | None
    text: str
    sentences: tuple[str, ...]

    @property
    def embedded(self) -> str:
        return f"{self.heading}\n{self.text}" if self.heading else self.text


@dataclass(frozen=True)
class _Sentence:
    text: str
    page: int | None
    words: int
    glue: str  # what stands between this one and the one before: "", " ", "\n" or "\n\n"


def count_words(text: str) -> int:
    """Words in `text`; two characters of a script without spaces count as one."""
    dense = len(_DENSE.findall(text))
    if not dense:
        return len(text.split())
    return len(_DENSE.sub(" ", text).split()) + (dense + 1) // 2


def split_sentences(text: str) -> list[str]:
    """Sentences of one paragraph; list items and lines that stand alone are sentences."""
    return [sentence for line in _lines(text) for sentence in _split_line(line)]


def _lines(paragraph: str) -> Iterator[str]:
    """Undo the wrapping of a fixed width; keep line ends that mean something."""
    held = ""
    for line in (part.strip() for part in paragraph.split("\n")):
        if not line:
            continue
        if held and _is_wrapped(held, line):
            held = f"{held} {line}"
            continue
        if held:
            yield " ".join(held.split())
        held = line
    if held:
        yield " ".join(held.split())


def _is_wrapped(line: str, following: str) -> bool:
    if _BULLET.match(following):
        return False
    if following[0].islower():
        return True
    return len(line) >= _SOFT_LINE_CHARACTERS and not line.endswith((":", "|"))


def _split_line(line: str) -> Iterator[str]:
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
        # "Really?" she asked: a small letter carries the sentence on.
        return not rest[:1].islower()
    before = line[start : match.start()].split()
    last = before[-1].lstrip("(\"'“‘[").lower() if before else ""
    if not before or (len(before) == 1 and (last.isdigit() or len(last) == 1)):
        return False  # "1." or "a." that opens a list item
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha()):
        return False
    return not rest[:1].islower()


def _fits(words: int, characters: int) -> bool:
    return words <= MAX_WORDS and characters <= MAX_CHARACTERS


def _cut(sentence: str) -> Iterator[tuple[str, str]]:
    """(glue, part) of a sentence above the limits, cut at spaces where there are any."""
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
    low, high = 1, min(len(sentence), MAX_CHARACTERS)
    while low < high:
        middle = (low + high + 1) // 2
        if count_words(sentence[:middle]) <= MAX_WORDS:
            low = middle
        else:
            high = middle - 1
    space = sentence.rfind(" ", low // 2, low + 1)
    return space if space > 0 else low


def _paragraphs(sections: Iterable[Section]) -> Iterator[tuple[str, int | None]]:
    """Paragraphs with their page; one that runs over the end of a page is put together."""
    held: tuple[str, int | None] | None = None
    for section in sections:
        for position, paragraph in enumerate(re.split(r"\n\s*\n", section.text)):
            if not paragraph.strip():
                continue
            if held and position == 0 and _runs_on(held[0], paragraph):
                held = (f"{held[0].rstrip()}\n{paragraph.lstrip()}", held[1])
                continue
            if held:
                yield held
            held = (paragraph, section.page)
    if held:
        yield held


def _runs_on(before: str, after: str) -> bool:
    return not _LINE_ENDS.search(before.rstrip()) and after.lstrip()[:1].islower()


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
    held: list[_Sentence] = []
    words = characters = 0
    for sentence in sentences:
        full = not _fits(
            words + sentence.words, characters + len(sentence.glue) + len(sentence.text)
        )
        if held and (full or (sentence.glue == "\n\n" and words >= TARGET_WORDS)):
            yield held
            # Between paragraphs nothing is repeated: it would only be quoted under a wrong topic.
            held = _overlap(held[-1], sentence)
            words = sum(one.words for one in held)
            characters = sum(len(one.text) for one in held)
        held.append(sentence)
        words += sentence.words
        characters += len(sentence.glue) + len(sentence.text)
    if held:
        yield held


def _overlap(last: _Sentence, following: _Sentence) -> list[_Sentence]:
    if following.glue == "\n\n" or last.words > MAX_OVERLAP_WORDS:
        return []
    words = last.words + following.words
    return [last] if _fits(words, len(last.text) + len(following.text) + 2) else []


def _joined(sentences: list[_Sentence]) -> str:
    first, *rest = sentences
    return first.text + "".join(one.glue + one.text for one in rest)


def _group(sections: Iterable[Section]) -> Iterator[list[Section]]:
    """Pages under one heading flow into each other; every other section stands alone."""
    for (_, paged), group in groupby(sections, key=lambda one: (one.heading, one.page is not None)):
        if paged:
            yield list(group)
        else:
            yield from ([section] for section in group)


def chunk(extracted: ExtractedText) -> list[Piece]:
    """Pieces of at most 220 words and 1,600 characters, in the order of the document."""
    pieces: list[Piece] = []
    for group in _group(extracted.sections):
        heading = " ".join(group[0].heading.split())[:MAX_HEADING_CHARACTERS]
        for sentences in _pack(_sentences(group)):
            piece = Piece(
                position=len(pieces),
                heading=heading,
                page=sentences[0].page,
                text=_joined(sentences),
                sentences=tuple(one.text for one in sentences),
            )
            pieces.append(piece)
    return pieces
