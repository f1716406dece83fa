"""Answers without a model server: the best sentences of the sources, quoted and cited."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bots.knowledge import search
from bots.knowledge.search import Found, Hit, IndexedChunk

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
class Cited:
    chunk_id: int
    document_id: int
    title: str
    url: str | None
    page: int | None
    quote: str


@dataclass(frozen=True)
class Extractive:
    """Some 80 words of the best source, seldom of two, and where they stand, best first."""

    text: str
    citations: tuple[Cited, ...]


@dataclass(frozen=True)
class _Candidate:
    score: float
    chunk: IndexedChunk
    position: int


def answer(question: str, *, language: str, found: Found, threshold: float) -> Extractive | None:
    """The best sentence and its neighbours; None where the gate is below `threshold` (0..1).

    Where another passage says nearly as much, it is cited as well, so that the reader sees both;
    where the two can hardly be told apart, both are quoted. A passage of an important document
    that is nearly the best stands alone: what lies beside it may be what it corrects.
    """
    if not question.strip() or found.gate < threshold:
        return None
    candidates = [
        candidate
        for rank, hit in enumerate(_considered(found.hits))
        for candidate in _candidates(hit, min(rank, TOP_HITS), found)
    ]
    if not candidates:
        return None
    ranked = _preferred(_best_of_each(candidates))
    best = ranked[0]
    cited = [_cited(one) for one in ranked if best.score - one.score <= _NEARLY_AS_GOOD]
    quoted = [
        one.quote
        for candidate, one in zip(ranked, cited, strict=False)
        if best.score - candidate.score <= _HARDLY_WORSE
    ]
    return Extractive(text="\n\n".join(dict.fromkeys(quoted[:2])), citations=tuple(cited))


def _considered(hits: Sequence[Hit]) -> list[Hit]:
    """The first hits, and those of important documents wherever they stand."""
    return [hit for rank, hit in enumerate(hits) if rank < TOP_HITS or hit.chunk.is_important]


def _preferred(ranked: list[_Candidate]) -> list[_Candidate]:
    """Important passages alone, where one of them is nearly as good as the best of all."""
    least = ranked[0].score - _WINS_BY_IMPORTANCE
    important = [one for one in ranked if one.chunk.is_important]
    return important if important and important[0].score >= least else ranked


def _best_of_each(candidates: list[_Candidate]) -> list[_Candidate]:
    """The best sentence of each passage, best first."""
    best: dict[int, _Candidate] = {}
    for one in sorted(candidates, key=lambda one: -one.score):
        best.setdefault(one.chunk.id, one)
    return list(best.values())


def _cited(one: _Candidate) -> Cited:
    chunk = one.chunk
    quote = _quote(chunk, one.position)
    return Cited(chunk.id, chunk.document_id, chunk.title, chunk.url, chunk.page, quote)


def _candidates(hit: Hit, rank: int, found: Found) -> list[_Candidate]:
    chunk = hit.chunk
    cosines = np.zeros(len(chunk.sentences), dtype=np.float32)
    if found.vector is not None and len(chunk.sentence_vectors) == len(chunk.sentences):
        cosines = chunk.sentence_vectors @ found.vector
    candidates: list[_Candidate] = []
    for position, sentence in enumerate(chunk.sentences):
        if not _says_something(sentence, is_only=len(chunk.sentences) == 1):
            continue
        cover = search.coverage(found.weights, found.terms_of(sentence, language=chunk.language))
        score = _COSINE * float(cosines[position]) + _COVER * cover - _RANK * rank
        candidates.append(_Candidate(score, chunk, position))
    return candidates


def _says_something(sentence: str, *, is_only: bool) -> bool:
    words = _trimmed(sentence).split()
    # Scripts without spaces have few words however much they say.
    return is_only or len(words) >= MIN_SENTENCE_WORDS or not sentence.isascii()


def _trimmed(sentence: str) -> str:
    return _DEBRIS.sub("", sentence.strip()).strip()


def _quote(chunk: IndexedChunk, best: int) -> str:
    """Best sentence with one neighbour on each side, as far as 80 words go."""
    sentences = chunk.sentences
    order = [best, best + 1, best - 1]
    if sentences[best].rstrip().endswith(("?", "？", ":", "：")):
        order = [best, best + 1, best + 2]  # what asks or announces is answered by what follows
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


# --- before any search --------------------------------------------------------------------------

_SMALL_TALK = (
    (
        "greeting",
        r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)"
        r"|(?:xin )?chao|alo|a lo|chao buoi (?:sang|trua|chieu|toi))",
    ),
    (
        "thanks",
        r"(?:(?:many )?thanks|thank (?:you|u)|thankyou|thx|ty|cheers|much appreciated"
        r"|(?:xin |toi |minh |em )?cam on|da cam on|tks)",
    ),
    (
        "goodbye",
        r"(?:good ?bye|bye|bye bye|see (?:you|ya)|good ?night|tam biet|hen gap lai)",
    ),
)
# What may follow without turning small talk into a question.
_TAIL = (
    r"(?: (?:there|all|team|everyone|again|so much|very much|a lot|for (?:your|the) help|later"
    r"|soon|friend|ban|shop|shop oi|anh|chi|em|moi nguoi|ad|admin|nhieu|rat nhieu|nhe|nha|a|cac ban"
    r"|you|and|ok|okay))*"
)
_SMALL = tuple(
    (kind, re.compile(rf"(?:ok |okay |da |great |oh )?{opening}{_TAIL}"))
    for kind, opening in _SMALL_TALK
)
_PERSON_EN = (
    r"(?:a |an |the |some |your |real |live |actual |human |support |customer |service )*"
    r"(?:human|person|people|agent|representative|operator|someone|somebody|staff|employee|manager"
    r"|being)"
)
_PERSON_VI = (
    r"(?:mot |ban |anh |chi |voi |cho |ben )*(?:nhan vien|nguoi that|tu van vien|nguoi ho tro"
    r"|tong dai vien|con nguoi|quan ly|nguoi tu van)"
)
_PERSON = re.compile(
    rf"\b(?:(?:talk|speak|chat|connect(?: me)?|transfer(?: me)?|put me through) (?:to|with)"
    rf"|get me|i (?:want|need|would like)|give me|contact) {_PERSON_EN}\b"
    rf"|^(?:{_PERSON_EN})(?: please)?$"
    r"|\b(?:real|live|human) (?:person|human|agent|being|operator|support)\b"
    rf"|\b(?:gap|noi chuyen(?: voi)?|trao doi(?: voi)?|lien he(?: voi)?|ket noi(?: toi)?(?: voi)?"
    rf"|chuyen(?: toi)?(?: sang| cho| den)?|can|muon|goi) {_PERSON_VI}\b"
    rf"|^{_PERSON_VI}$"
)
# "Not" in front turns the wish around; "are you a real person" asks about the bot.
_NO_PERSON = re.compile(
    r"\b(?:don'?t|do not|not|no|without|khong|dung) (?:\w+ ){0,6}(?:human|person|agent|nhan vien"
    r"|nguoi that)\b|\bare you\b|\bban la\b"
)
_MAX_WISH_CHARACTERS = 300


def _plain(text: str) -> str:
    """Folded words with single spaces, for the tables above."""
    words = re.sub(r"[^\w' ]+", " ", search.fold(text[:_MAX_WISH_CHARACTERS]))
    return " ".join(words.split())


def small_talk(text: str) -> str | None:
    """'greeting', 'thanks' or 'goodbye' where the message is nothing more (en, vi)."""
    plain = _plain(text)
    return next((kind for kind, pattern in _SMALL if pattern.fullmatch(plain)), None)


def asks_for_person(text: str) -> bool:
    """Whether the message asks to be handed to a human being (en, vi)."""
    plain = _plain(text)
    return bool(_PERSON.search(plain)) and not _NO_PERSON.search(plain)
