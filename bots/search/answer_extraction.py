"""Quotes the sentences of the found passages that answer best, with their sources."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

import numpy as np

from bots.ingest import chunking
from bots.language import detection
from bots.language.normalization import QUESTION_MARKS
from bots.language.phrasebook import base_of
from bots.search import hybrid_index, table_rows
from bots.search.hybrid_index import Hit, IndexedPassage, SearchResult
from bots.search.question_splitting import Part

MAX_WORDS = 80
# The maximum number of words of the best quote, and of each other quote, if all quotes together
# exceed MAX_WORDS.
BEST_WORDS, OTHER_WORDS = 60, 30
# The maximum number of words of a quote that continues to the end of a list.
LIST_WORDS = chunking.MAX_WORDS
TOP_HITS = 3
MAX_QUOTES = 3
# A sentence shorter than this says too little to be quoted as an answer.
MIN_SENTENCE_WORDS = 3
# The weights in a sentence's score: of its cosine with the question, its coverage of the question's
# words, its passage's score, and its passage's rank, which is subtracted.
_COSINE, _COVER, _SCORE, _RANK = 4.0, 0.5, 0.3, 0.04
# How far another passage may score below the best sentence and still be cited, or even quoted. If
# only quoted passages were cited, 1 to 4 more questions in 100 would lack the right source
# (`bench/answer_quality.py`).
_CITATION_MARGIN, _SECOND_QUOTE_MARGIN = 0.35, 0.08
# How far a sentence of an important document may score below the best and still be the answer. A
# correction and the text that it corrects differ by less; texts on two topics differ by more.
_IMPORTANCE_MARGIN = 0.25

# How far a sentence may score below the best one and still be quoted with it.
_QUOTE_MARGIN = 0.12

# Matches bullets and table bars around a line.
_DEBRIS = re.compile(r"^(?:[-*•–·▪◦#>|]+|\(?\d{1,2}[.)]|[a-zA-Z][.)])\s+|(?<!\s)\s++[|•*#]++$")
# Matches a table row written as one line: "- Weight: up to 2 kg, Price: 4.50 euros".
_ROW = re.compile(rf"- {chunking.LABEL}.*, {chunking.LABEL}")
# Matches the beginning of a numbered line. Numbered lines are steps, of which one alone misleads.
_STEP = re.compile(r"\s*\(?\d{1,3}[.)]\s")
# Matches the beginning of a command's option, which a description follows.
_OPTION = re.compile(r"--?[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Citation:
    """A source of an answer, and the words in it that support the answer."""

    document_id: int
    title: str
    url: str | None
    page: int | None
    quote: str
    # The heading of the section; None if it has no heading.
    section: str | None = None
    # The number with which the answer's text cites the source, such as 1 for [1]; None if the text
    # has no citations.
    number: int | None = None


def section_of(heading: str, title: str) -> str | None:
    """The innermost heading of a passage; None if there is none, or if it repeats the title."""
    innermost = heading.rpartition(" > ")[2].strip()
    return innermost if innermost and innermost != title else None


@dataclass(frozen=True)
class Extract:
    """A quotation with its sources: about 80 words per question, more to complete a list."""

    text: str
    citations: tuple[Citation, ...]
    # Whether the quoted text is in another language than the question.
    is_foreign: bool = False


@dataclass(frozen=True)
class _Candidate:
    score: float
    hit: Hit
    position: int

    @property
    def passage(self) -> IndexedPassage:
        return self.hit.passage

    @property
    def sentence(self) -> str:
        return self.passage.sentences[self.position]


def extract_all(
    parts: Sequence[Part], *, language: str, threshold: float, unknown: Callable[[], str] = str
) -> Extract | None:
    """Quote an answer to each question of a message; None if no question has one.

    `unknown` returns the sentence for a question without an answer; `{question}` is replaced by its
    text.
    """
    found = [
        extract(part.text, language=language, result=part.result, threshold=threshold)
        for part in parts
    ]
    if not any(found):
        return None
    texts = [
        quoted.text if quoted else unknown().replace("{question}", part.text)
        for part, quoted in zip(parts, found, strict=True)
    ]
    citations = (citation for quoted in found if quoted for citation in quoted.citations)
    return Extract(
        _without_repeats(filter(None, texts)),
        tuple(dict.fromkeys(citations)),
        is_foreign=any(quoted.is_foreign for quoted in found if quoted),
    )


def extract(
    question: str, *, language: str, result: SearchResult | None, threshold: float
) -> Extract | None:
    """Quote the best sentence and its neighbors.

    Returns None if the confidence is below `threshold` (0..1), or if no sentence can be quoted.
    Passages that score nearly as well are cited too, and quoted if the scores hardly differ. If a
    passage of an important document scores nearly as well as the best passage, only important
    passages count, since they may correct the others.
    """
    if result is None or not question.strip() or result.confidence < threshold:
        return None
    candidates = [
        candidate
        for rank, hit in enumerate(_considered(result.hits))
        for candidate in _candidates(hit, min(rank, TOP_HITS), result)
    ]
    if not candidates:
        return None
    ranked = _preferred(_best_of_each(candidates))
    best = ranked[0]
    cited = [
        (candidate, _citation(candidate, _positions_like(candidate, candidates)))
        for candidate in ranked
        if best.score - candidate.score <= _CITATION_MARGIN
    ]
    text = _without_repeats(_quoted([(candidate, citation.quote) for candidate, citation in cited]))
    hits = [candidate.hit for candidate, _ in cited]
    passages = [part for hit in hits for part in (hit.preceding, hit.passage, hit.following)]
    text = table_rows.readable(text, (part.text for part in passages if part))
    is_foreign = (
        result.features.is_cross_language
        and not best.passage.answers
        and _language_of(text, best.passage, expected=base_of(language)) != base_of(language)
    )
    return Extract(text, tuple(citation for _, citation in cited), is_foreign)


def _language_of(text: str, passage: IndexedPassage, *, expected: str) -> str:
    """The language of a quote; the passage's language if the quote is too short to tell."""
    return detection.recognize(text, expected=(expected,)) or passage.language


def _quoted(quotes: Sequence[tuple[_Candidate, str]]) -> list[str]:
    """Choose the best quote, one that is hardly worse, and short quotes that score nearly as well.

    If the quotes are too long together, each is cut to its best sentence and the sentences around
    it. Quotes from the same section are kept together, in document order.
    """
    best = quotes[0][0]
    quoted = {quotes[0][1]: best}
    words = chunking.count_words(quotes[0][1])
    for candidate, quote in quotes[1:]:
        gap = best.score - candidate.score
        words += chunking.count_words(quote)
        is_like = words <= MAX_WORDS and gap <= _QUOTE_MARGIN and len(quoted) < MAX_QUOTES
        is_second = gap <= _SECOND_QUOTE_MARGIN and len(quoted) == 1
        is_quoted = any(candidate.sentence in text for text in quoted)
        if (is_like or is_second) and not is_quoted:
            quoted[quote] = candidate
    if len(quoted) > 1 and sum(map(chunking.count_words, quoted)) > MAX_WORDS:
        is_list = any(map(_is_item, quotes[0][1].split("\n")))
        of_best = LIST_WORDS if is_list else BEST_WORDS
        quoted = {
            _cut(quote, candidate, of_best if candidate is best else OTHER_WORDS): candidate
            for quote, candidate in quoted.items()
        }
    ranks: dict[Any, int] = {}
    for rank, candidate in enumerate(quoted.values()):
        ranks.setdefault(_section(candidate.passage), rank)

    def order(quote: str) -> tuple[int, int]:
        passage = quoted[quote].passage
        return ranks[_section(passage)], _position_of(passage)

    return sorted(quoted, key=order)


def _cut(quote: str, candidate: _Candidate, limit: int) -> str:
    """Shorten a quote that shares the reply with others; a written answer stays whole."""
    passage = candidate.passage
    if passage.answers or chunking.count_words(quote) <= limit:
        return quote
    around = _run(passage.sentences, candidate.position, limit)
    return _trimmed(_between(passage, *around))


def _without_repeats(texts: Iterable[str]) -> str:
    """Join the texts, leaving out repeated paragraphs."""
    paragraphs: list[str] = []
    for text in texts:
        paragraphs += [paragraph for paragraph in text.split("\n\n") if paragraph not in paragraphs]
    return "\n\n".join(paragraphs)


def _section(passage: IndexedPassage) -> Any:
    """A key that is equal for passages of a section; each spreadsheet row has its own key."""
    is_alone = chunking.is_row(passage.text) or not passage.heading
    return passage.id if is_alone else (passage.document_id, passage.heading)


def _position_of(passage: IndexedPassage) -> int:
    return passage.id if passage.position is None else passage.position


def _considered(hits: Sequence[Hit]) -> list[Hit]:
    """The first hits, and all hits of important documents."""
    return [hit for rank, hit in enumerate(hits) if rank < TOP_HITS or hit.passage.is_important]


def _preferred(ranked: list[_Candidate]) -> list[_Candidate]:
    """Keep only the preferred written answer, if there is one.

    Otherwise keep only the important passages, if the best of them scores nearly as well as the
    best of all.
    """
    written = [candidate for candidate in ranked if candidate.hit.is_preferred]
    if written:
        return written
    min_score = ranked[0].score - _IMPORTANCE_MARGIN
    important = [candidate for candidate in ranked if candidate.passage.is_important]
    return important if important and important[0].score >= min_score else ranked


def _best_of_each(candidates: list[_Candidate]) -> list[_Candidate]:
    """The best sentence of each passage, best first."""
    best: dict[int, _Candidate] = {}
    for candidate in sorted(candidates, key=lambda candidate: -candidate.score):
        best.setdefault(candidate.passage.id, candidate)
    return list(best.values())


def _positions_like(best: _Candidate, candidates: list[_Candidate]) -> list[int]:
    """The positions of a passage's best sentence and of the sentences that score nearly as well."""
    others = [
        candidate.position
        for candidate in candidates
        if candidate.passage.id == best.passage.id
        and candidate.position != best.position
        and best.score - candidate.score <= _QUOTE_MARGIN
    ]
    return [best.position, *others]


def _citation(candidate: _Candidate, positions: list[int]) -> Citation:
    passage = candidate.passage
    quote = _entries(passage, positions)
    if quote is None:
        is_written = bool(passage.answers)
        quote = passage.text if is_written else _trimmed(_quote(candidate.hit, candidate.position))
    option = passage.heading.rpartition(" > ")[2]
    if _OPTION.match(option):
        quote = f"{option}\n{quote}"  # a description is useless without the option's name
    section = section_of(passage.heading, passage.title)
    return Citation(passage.document_id, passage.title, passage.url, passage.page, quote, section)


def _candidates(hit: Hit, rank: int, result: SearchResult) -> list[_Candidate]:
    passage = hit.passage
    cosines = np.zeros(len(passage.sentences), dtype=np.float32)
    # The encoder hardly understands Vietnamese without diacritics.
    is_readable = not result.features.is_folded
    if (
        is_readable
        and result.vector is not None
        and len(passage.sentence_vectors) == len(passage.sentences)
    ):
        cosines = passage.sentence_vectors @ result.vector
    is_row = chunking.is_row(passage.text)  # the cells of a row are one answer
    if (is_row or passage.answers) and is_readable:
        # The sentences of a written answer have no vectors: they are quoted together.
        cosines = np.maximum(cosines, hit.cosine)
    candidates: list[_Candidate] = []
    for position, sentence in enumerate(passage.sentences):
        if not is_row and not _is_quotable(passage, position):
            continue
        headed = f"{passage.heading}\n{passage.text if is_row else sentence}"
        cover = hybrid_index.coverage(
            result.weights, result.terms_of(headed, language=passage.language)
        )
        score = _COSINE * float(cosines[position]) + _COVER * cover
        score += _SCORE * hit.score - _RANK * rank
        candidates.append(_Candidate(score, hit, position))
    return candidates


def _is_quotable(passage: IndexedPassage, position: int) -> bool:
    is_last = position == len(passage.sentences) - 1
    is_question = passage.sentences[position].rstrip().endswith(QUESTION_MARKS)
    if is_question and is_last and not passage.answers:
        return False  # a question does not answer itself
    is_only = len(passage.sentences) == 1
    return (
        is_only
        or _is_item(passage.sentences[position])
        or _is_long_enough(passage.sentences[position])
    )


def _is_long_enough(text: str) -> bool:
    """Whether a text has enough words to be quoted alone.

    Scripts without spaces have few words however much they say.
    """
    text = _trimmed(text)
    return len(text.split()) >= MIN_SENTENCE_WORDS or not text.isascii()


def _trimmed(text: str) -> str:
    """Strip the bullet and table bars from a single line; leave several lines as they are."""
    text = text.strip()
    return text if "\n" in text else _DEBRIS.sub("", text).strip()


def _entries(passage: IndexedPassage, positions: list[int]) -> str | None:
    """The rows, options or items that contain these sentences, after the list's introduction.

    A customer who asks for one price does not want the whole price list. None if the passage has no
    list, if its best sentence is outside the list, if the list is of numbered steps or of names,
    or if the question seems to ask for several items.
    """
    if chunking.is_row(passage.text):
        return passage.text
    lines = passage.text.split("\n")
    starts = [n for n, line in enumerate(lines) if _ROW.match(line) or _OPTION.match(line)]
    is_of_items = len(starts) < 2
    if is_of_items:
        starts = [n for n, line in enumerate(lines) if _is_item(line)]
    if len(starts) < 2 or all(_STEP.match(lines[start]) for start in starts):
        return None
    # The score of a mere name depends more on the name's length than on the question.
    if is_of_items and not all(_is_long_enough(lines[start]) for start in starts):
        return None
    ends = [_end_of_entry(lines, start, end) for start, end in pairwise([*starts, len(lines)])]
    asked = [_line_of(passage, position) for position in positions]
    chosen = [
        (start, end)
        for start, end in zip(starts, ends, strict=True)
        if any(start <= number < end for number in asked)
    ]
    if not any(start <= asked[0] < end for start, end in chosen):
        return None
    if is_of_items and (len(chosen) > 1 or min(asked) < starts[0]):
        return None
    before = [line for line in lines[: starts[0]] if line][-1:]
    announced = [line for line in before if line.endswith(chunking.LEAD_INS)]
    texts = ["\n".join(lines[start:end]).strip() for start, end in chosen]
    return _shortened("\n".join(announced + texts))


def _end_of_entry(lines: Sequence[str], start: int, end: int) -> int:
    """The index of the line after an entry; a row has one line, an item ends with its paragraph,
    and an option reaches to `end`."""
    if _ROW.match(lines[start]) or _OPTION.match(lines[start]):
        return start + 1 if _ROW.match(lines[start]) else end
    return start + len(list(takewhile(str.strip, lines[start:end])))


def _line_of(passage: IndexedPassage, position: int) -> int:
    """The number of the line in which a sentence of a passage begins."""
    start = 0
    for sentence in passage.sentences[:position]:
        start = max(passage.text.find(sentence, start), start) + len(sentence)
    found = passage.text.find(passage.sentences[position], start)
    return passage.text.count("\n", 0, max(found, start))


def _quote(hit: Hit, best: int) -> str:
    """Quote a short passage with its neighbors, or the best part of a long passage.

    The following passage is added before the preceding one, since exceptions and prices tend to
    come later. A list is quoted to its end.
    """
    passage = hit.passage
    if chunking.count_words(passage.text) > MAX_WORDS:
        quote = _between(passage, *_run(passage.sentences, best))
        above, _, after = passage.text.partition(quote)
        start = _start_of_list(above, quote)
        rest = _rest_of_list(start + quote, after + _text_after(passage, hit.following))
        return start + quote + rest if start or rest else _shortened(quote)
    quote, after = passage.text, _text_after(passage, hit.following)
    is_short = chunking.count_words(quote + after) <= MAX_WORDS
    quote += after if is_short else _rest_of_list(quote, after)
    before = hit.preceding
    if before and before.sentences[-1] != passage.sentences[0]:
        is_one_list = _is_open(before.text) and _is_item(passage.text)
        longer = f"{before.text}\n\n{quote}"
        if chunking.count_words(longer) <= (LIST_WORDS if is_one_list else MAX_WORDS):
            quote = longer
    return quote


def _text_after(passage: IndexedPassage, following: IndexedPassage | None) -> str:
    """The text of the following passage without a repeated sentence; "" if none follows."""
    if following is None:
        return ""
    if following.sentences[0] == passage.sentences[-1]:
        return following.text.removeprefix(following.sentences[0])
    return f"\n\n{following.text}"


def _start_of_list(before: str, quote: str) -> str:
    """The items before a quote that begins with a numbered item; "" if there are none."""
    start = ""
    for line in reversed(before.splitlines(keepends=True)):
        if not _STEP.match(quote) or (line.strip() and not _STEP.match(line)):
            break
        start = line + start
    return start.lstrip()


def _rest_of_list(quote: str, after: str) -> str:
    """The rest of a list that the quote cuts off; "" if there is none. Half a list would mislead.

    The rest completes the last item, and adds further items as long as they fit in `LIST_WORDS`.
    """
    if not _is_open(quote):
        return ""
    lines, last = after.split("\n"), 0
    for number, line in enumerate(lines[1:], 1):
        if line.strip() and not _is_item(line):
            break
        last = number if line.strip() else last
    while last and chunking.count_words(quote + "\n".join(lines[: last + 1])) > LIST_WORDS:
        last -= 1
    return "\n".join(lines[: last + 1]).rstrip()


def _is_open(text: str) -> bool:
    """Whether a text ends within a list or a sentence, or introduces a list: "You need:"."""
    announces = text.endswith(chunking.LEAD_INS) or not chunking.LINE_ENDS.search(text)
    return announces or _is_item(text.rpartition("\n")[2])


def _is_item(line: str) -> bool:
    """Whether a line begins like a list item; rows of a table do not count."""
    return bool(chunking.BULLET.match(line)) and not _ROW.match(line)


def _run(sentences: Sequence[str], best: int, max_words: int = MAX_WORDS) -> tuple[int, int]:
    """The positions of the first and the last sentence of the quote around the best sentence."""
    first = last = best
    left = max_words - chunking.count_words(sentences[best])
    ended: set[int] = set()
    # Add two following sentences for each preceding one, which may say what "it" is.
    for step in (1, -1, 1) * len(sentences):
        position = last + 1 if step > 0 else first - 1
        if step in ended or not 0 <= position < len(sentences):
            continue
        words = chunking.count_words(sentences[position])
        if words > left:
            ended.add(step)
            continue
        left -= words
        first, last = min(first, position), max(last, position)
    # A trailing question is not part of the answer.
    while last > best and sentences[last].rstrip().endswith(QUESTION_MARKS):
        last -= 1
    return first, last


def _between(passage: IndexedPassage, first: int, last: int) -> str:
    """The text of the passage from one sentence to another, line breaks included."""
    start = 0
    for sentence in passage.sentences[:first]:
        start = max(passage.text.find(sentence, start), start) + len(sentence)
    end = start
    for sentence in passage.sentences[first : last + 1]:
        end = max(passage.text.find(sentence, end), end) + len(sentence)
    return passage.text[start:end].strip()


def _shortened(text: str) -> str:
    if chunking.count_words(text) <= MAX_WORDS:
        return text
    words = text.split(" ")
    return " ".join(words[:MAX_WORDS])
