"""The embedded engine: without a model server it quotes the best sentences of the documents."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bots.engine import Capability
from bots.engine.text_tasks import Draft, Task, Written
from bots.engine.tools import Toolbox
from bots.engine.types import Answer, Citation, EngineUnavailable, Question, Refused
from bots.knowledge import chunking, search
from bots.knowledge.search import Hit, IndexedChunk, SearchResult

MAX_WORDS = 80
TOP_HITS = 3
# A sentence shorter than this says too little to be quoted as an answer.
MIN_SENTENCE_WORDS = 3
_COSINE, _COVER, _RANK = 4.0, 0.5, 0.08
# How far below the best sentence's score another passage's may be to be cited, and to be quoted.
_NEARLY_AS_GOOD, _HARDLY_WORSE = 0.35, 0.08
# How far below the best an important document's sentence may be and still be the answer: its text
# and an older one that contradicts it differ by less, two topics by more.
_WINS_BY_IMPORTANCE = 0.25

_DEBRIS = re.compile(r"^(?:[-*•–·▪◦#>|]+|\(?\d{1,2}[.)]|[a-zA-Z][.)])\s+|\s+[|•*#]+$")


@dataclass(frozen=True)
class Extract:
    """Some 80 words of the best source, seldom of two; the sources, best first."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class _Candidate:
    score: float
    chunk: IndexedChunk
    position: int


class EmbeddedEngine:
    """Quotes and cites; composes no sentence, calls no function and writes no text."""

    name = "embedded"
    capabilities: frozenset[Capability] = frozenset()
    price = 0  # it counts no tokens

    def answer(
        self,
        question: Question,
        *,
        on_delta: Callable[[str], None],
        deadline_seconds: float = 0,
        toolbox: Toolbox | None = None,
    ) -> Answer:
        """The best sentences of the search result; raises Refused if none can be quoted."""
        quoted = extract(
            question.text, language=question.language, result=question.search_result, threshold=0
        )
        if quoted is None:
            raise Refused("No document holds a sentence that answers.")
        for sentence in chunking.split_sentences(quoted.text):
            on_delta(f"{sentence} ")
        return Answer(quoted.text, quoted.citations, model="extractive")

    def complete(self, task: Task[Draft], *, deadline_seconds: float) -> Written[Draft]:
        """Refuses: a text must be written by a model."""
        raise EngineUnavailable("The embedded engine writes no texts.")


def extract(
    question: str, *, language: str, result: SearchResult | None, threshold: float
) -> Extract | None:
    """The best sentence and its neighbours; None if the gate is below `threshold` (0..1).

    Another passage that says nearly as much is cited as well, and quoted if the two can hardly
    be told apart. A passage of an important document that is nearly the best stands alone: the
    passages beside it may be the ones that it corrects.
    """
    if result is None or not question.strip() or result.gate < threshold:
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
        _citation(candidate)
        for candidate in ranked
        if best.score - candidate.score <= _NEARLY_AS_GOOD
    ]
    quoted = [
        citation.quote
        for candidate, citation in zip(ranked, cited, strict=False)
        if best.score - candidate.score <= _HARDLY_WORSE
    ]
    return Extract(text="\n\n".join(dict.fromkeys(quoted[:2])), citations=tuple(cited))


def _considered(hits: Sequence[Hit]) -> list[Hit]:
    """The first hits, and those of important documents wherever they stand."""
    return [hit for rank, hit in enumerate(hits) if rank < TOP_HITS or hit.chunk.is_important]


def _preferred(ranked: list[_Candidate]) -> list[_Candidate]:
    """Important passages alone, if one of them is nearly as good as the best of all."""
    least = ranked[0].score - _WINS_BY_IMPORTANCE
    important = [candidate for candidate in ranked if candidate.chunk.is_important]
    return important if important and important[0].score >= least else ranked


def _best_of_each(candidates: list[_Candidate]) -> list[_Candidate]:
    """The best sentence of each passage, best first."""
    best: dict[int, _Candidate] = {}
    for candidate in sorted(candidates, key=lambda candidate: -candidate.score):
        best.setdefault(candidate.chunk.id, candidate)
    return list(best.values())


def _citation(candidate: _Candidate) -> Citation:
    chunk = candidate.chunk
    quote = _quote(chunk, candidate.position)
    return Citation(chunk.document_id, chunk.title, chunk.url, chunk.page, quote)


def _candidates(hit: Hit, rank: int, result: SearchResult) -> list[_Candidate]:
    chunk = hit.chunk
    cosines = np.zeros(len(chunk.sentences), dtype=np.float32)
    if result.vector is not None and len(chunk.sentence_vectors) == len(chunk.sentences):
        cosines = chunk.sentence_vectors @ result.vector
    candidates: list[_Candidate] = []
    for position, sentence in enumerate(chunk.sentences):
        if not _is_quotable(sentence, is_only=len(chunk.sentences) == 1):
            continue
        cover = search.coverage(result.weights, result.terms_of(sentence, language=chunk.language))
        score = _COSINE * float(cosines[position]) + _COVER * cover - _RANK * rank
        candidates.append(_Candidate(score, chunk, position))
    return candidates


def _is_quotable(sentence: str, *, is_only: bool) -> bool:
    words = _trimmed(sentence).split()
    # Scripts without spaces have few words however much they say.
    return is_only or len(words) >= MIN_SENTENCE_WORDS or not sentence.isascii()


def _trimmed(sentence: str) -> str:
    return _DEBRIS.sub("", sentence.strip()).strip()


def _quote(chunk: IndexedChunk, best: int) -> str:
    """The best sentence with a neighbour on each side, up to 80 words; a written answer whole."""
    if chunk.answers:
        return chunk.text
    sentences = chunk.sentences
    order = [best, best + 1, best - 1]
    if sentences[best].rstrip().endswith(("?", "？", ":", "：")):
        order = [best, best + 1, best + 2]  # a question or a lead-in is answered by what follows
    taken: set[int] = set()
    words = 0
    for position in order:
        if not 0 <= position < len(sentences) or not _is_near(chunk, best, position):
            continue
        length = len(sentences[position].split())
        if taken and words + length > MAX_WORDS:
            continue
        taken.add(position)
        words += length
    run = [position for position in sorted(taken) if _is_joined(position, best, taken)]
    text = " ".join(_trimmed(sentences[position]) for position in run)
    return _shortened(text)


def _is_joined(position: int, best: int, taken: set[int]) -> bool:
    return set(range(min(position, best), max(position, best) + 1)) <= taken


def _is_near(chunk: IndexedChunk, best: int, position: int) -> bool:
    """Neighbours across a blank line are another topic, unless they answer a question."""
    if position == best:
        return True
    if position > best and chunk.sentences[best].rstrip().endswith(("?", "？", ":", "：")):
        return True
    low, high = sorted((best, position))
    for first, second in pairwise(chunk.sentences[low : high + 1]):
        if f"{first}\n\n{second}" in chunk.text:
            return False
    return position > best or not chunk.sentences[position].rstrip().endswith((":", "?"))


def _shortened(text: str) -> str:
    words = text.split()
    return text if len(words) <= MAX_WORDS else " ".join(words[:MAX_WORDS])
