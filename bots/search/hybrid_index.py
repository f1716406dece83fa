"""A bot's in-memory index for searching by words and meaning, with a confidence in each result.

The specific part of a question is its vector minus half of what all questions have in common
(`SearchEncoder.without_common_part`).
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.ingest import chunking
from bots.language import known_words, language_data, quantity_matching
from bots.language.embedding import PACKAGED, ConfidenceWeights, SearchEncoder, Vectors
from bots.language.normalization import fold, same_question_key, tokens
from bots.search.bm25_index import STOP_FORMS, STOP_WEIGHT, WordIndex
from bots.search.spelling import SpellCorrector

WORD_SHARE = 0.3
MEANING_SHARE = 0.7
# Fewer passages than MAX_PASSAGES_OF_ONE_TOPIC, most of them from one document, are often about one
# topic. Then all are close to a good question, and the best one need not stand out. Passages of
# several documents are about several topics, and a passage that does not stand out is unlikely to
# answer. Among fewer than MIN_PASSAGES_OF_TOPICS passages, standing out says little.
MAX_PASSAGES_OF_ONE_TOPIC, MIN_PASSAGES_OF_TOPICS = 100, 4
# Passages with fewer words, such as titles, do not count as answers to questions in another
# language.
MIN_FOREIGN_WORDS = 4
# Passages with at most this many words are single facts. They are closer than longer passages to
# questions in another language that they do not answer, so the penalty is subtracted from their
# nearness.
MAX_FACT_WORDS, FACT_PENALTY = 15, 0.022
# Passages with more words often have several topics. If the question is in another language, a
# passage's best sentence counts too; its share grows with the length of the passage, up to
# SENTENCE_SHARE.
MAX_TOPIC_WORDS = 20
SENTENCE_SHARE = 0.5
# The number of nearest passages in another language whose sentences are compared.
SENTENCE_CANDIDATES = 10
# The best passages of up to this many important documents, nearest first, are added to the hits.
MAX_IMPORTANT_HITS = 5
# How far an important passage may score below the best passage (0..1) and still rank before it.
# Texts that contradict each other differ by less, texts on different topics by more.
IMPORTANT_MARGIN = 0.2
# A written answer is preferred to the best passage, since its author knows what the documents say.
# Its score and its coverage of the question's words may be lower by at most these amounts.
# Fitted on 16 of 32 answers and 17 of 34 neighboring questions (bench/answers/corrected_answers).
ANSWER_MARGIN, ANSWER_COVERAGE_MARGIN = 0.12, 0.35
# A passage without a vector is a hit if it covers this share of the question's words, by weight.
MIN_WORD_COVER = 0.6
# Added to the score of a table row whose amount fits the question.
ROW_BONUS = 0.35
# At this confidence or above, a passage in another language is likely to answer.
MIN_FOREIGN_CONFIDENCE = 0.4
_WORD = re.compile(r"\w+")
# The words for prices, by language.
_PRICE = tuple(language_data.by_language("amounts", "price").values())
# The default confidence threshold; a client's `answer_threshold` can make bots answer more or less.
DEFAULT_THRESHOLD = 0.77


@dataclass(frozen=True, eq=False)
class IndexedPassage:
    """A passage with its vectors; until they are computed (size 0), only words find it."""

    id: int
    document_id: int
    title: str
    url: str | None
    heading: str
    page: int | None
    text: str
    language: str
    vector: Vectors
    sentences: tuple[str, ...]
    sentence_vectors: Vectors
    # The question that the client wrote this text to answer; empty for an ordinary passage.
    answers: str = ""
    is_important: bool = False
    # The day from which its document is valid, such as 2026-11-21; empty if it has no start date.
    dated: str = ""
    # Its position in the document; None if the index receives the passages in document order.
    position: int | None = None
    # The stored result of `words_of`; None if it must be computed from the text.
    words: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Hit:
    """A passage that was found; its `score` 0..1 is relative to this search.

    `coverage` is the share of the question's words that the passage contains, weighted so that rare
    words count most. `cosine` compares it with the question's specific part. `preceding` and
    `following` are its neighbors under the same heading. `is_preferred`: it is a written answer
    that replaces passages with similar scores.
    """

    passage: IndexedPassage
    score: float
    cosine: float
    coverage: float
    preceding: IndexedPassage | None = None
    following: IndexedPassage | None = None
    is_preferred: bool = False


@dataclass(frozen=True)
class Features:
    """Features of the best passage, from which the confidence is computed.

    `nearness` is the cosine with the question's specific part; if the passage is in another
    language, with the question minus all that questions have in common. `above_next` is the lead
    over the next passages; long passages in another language are compared by sentences.
    """

    above_next: float
    coverage: float
    nearness: float
    is_cross_language: bool
    is_folded: bool
    passages: int
    # Whether most of these passages are from one document.
    is_one_document: bool = True


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The hits, best first, but important passages with nearly the best score come before others.

    `confidence` is the probability that the best hit answers the question. `vector` is the
    question's specific part, with which sentences are compared.
    """

    hits: tuple[Hit, ...]
    confidence: float
    features: Features
    vector: Vectors | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    is_folded: bool = False

    def reaches(self, threshold: float) -> bool:
        """Whether there are hits and the confidence is at least `threshold`."""
        return bool(self.hits) and self.confidence >= threshold

    def terms_of(self, text: str, *, language: str) -> list[str]:
        """The words of a text in the form that `weights` uses."""
        return (
            tokens(fold(text), language="") if self.is_folded else tokens(text, language=language)
        )


def coverage(weights: Mapping[str, float], words: Iterable[str]) -> float:
    """The share (0..1) of the question's total weight that `words` cover."""
    total = sum(weights.values())
    present = set(words)
    return sum(value for word, value in weights.items() if word in present) / total if total else 0


class _Near(NamedTuple):
    """The cosines of all passages with a question (`all`) and with its specific part (`own`).

    Both are None if there are no vectors.

    `fair_all` and `fair_own` are these cosines, corrected as if all passages were in the question's
    language: texts in one language are closer to each other than to texts in another, regardless of
    topic. Passages in another language are ordered by their cosine plus `lift`: in effect, by the
    cosine with the question's specific part, raised if a sentence is close.

    `topics` maps the nearest passages in another language to their cosines with the question minus
    all that questions have in common. A short passage has one cosine, a long passage has one for
    each sentence.
    """

    all: Vectors | None
    own: Vectors | None
    fair_all: Vectors | None
    fair_own: Vectors | None
    lift: Vectors
    topics: Mapping[int, Vectors]

    def without(self, numbers: list[int]) -> "_Near":
        """A copy in which the passages with these indexes have the lowest cosines."""
        if not numbers:
            return self
        return self._replace(
            all=_lowest(self.all, numbers),
            own=_lowest(self.own, numbers),
            fair_all=_lowest(self.fair_all, numbers),
            fair_own=_lowest(self.fair_own, numbers),
            topics={n: near for n, near in self.topics.items() if n not in numbers},
        )


def _lowest(cosines: Vectors | None, numbers: list[int]) -> Vectors | None:
    if cosines is None:
        return None
    lowered = cosines.copy()
    lowered[numbers] = cosines.min()
    return lowered


class _Pair(NamedTuple):
    """The words of a question that has a written answer.

    `about` are the words that name its subject: names, numbers, and words that are also in the
    answer.
    """

    words: frozenset[str]
    about: frozenset[str]
    # The names and numbers of the question; none in German, which writes all nouns like names.
    named: frozenset[str]

    @classmethod
    def of(cls, passage: IndexedPassage) -> "_Pair":
        words, named = _words_and_names(passage.answers)
        about = words.intersection(tokens(passage.text, language="en")) | named
        return cls(words, about, named if passage.language != "de" else frozenset())

    def is_off_topic(self, asked: frozenset[str], named: frozenset[str]) -> bool:
        """Whether a question with the words `asked` and the names `named` is about something else.

        It is if both questions contain names but none in common, or if they differ in exactly one
        word, which names this question's subject.
        """
        if self.named and named and self.named.isdisjoint(named):
            return True
        missing = self.words - asked
        return (
            len(missing) == len(asked - self.words) == 1
            and missing <= self.about
            and not self.words.isdisjoint(asked)
        )


def _words_and_names(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a question without filler words, and those of them that are names or numbers."""
    words = frozenset(same_question_key(question).split())
    others = _WORD.findall(question)[1:]
    named = " ".join(word for word in others if word[0].isupper() or word[0].isdigit())
    return words, words.intersection(tokens(named, language="en"))


class _Found(NamedTuple):
    """The result of a search with one word index: the question's word weights, and scores."""

    words: WordIndex
    weights: dict[str, float]
    cover: Vectors
    scores: Vectors
    # The index of the best passage.
    best: int


def _scaled(values: Vectors) -> Vectors:
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, value))))


def words_of(passage: IndexedPassage) -> list[str]:
    """The words by which a passage is found."""
    return tokens(_searchable_text(passage), language=passage.language)


def _searchable_text(passage: IndexedPassage) -> str:
    whole = f"{passage.title}\n{passage.heading}\n{passage.text}"
    if passage.vector.size or not chunking.is_row(passage.text):
        return whole
    # A row without a vector is found only by its words, but customers rarely use the name of the
    # price column, so other words for prices are added.
    labels = set(_WORD.findall(passage.text.lower()))
    return "\n".join([whole, *(" ".join(words) for words in _PRICE if labels & {*words})])


class Index:
    """An immutable index; when a document changes, a new index is built."""

    def __init__(
        self, passages: Sequence[IndexedPassage], encoder: SearchEncoder = PACKAGED
    ) -> None:
        self.passages = tuple(passages)
        self._encoder = encoder
        self._words = WordIndex(
            [
                words_of(passage) if passage.words is None else passage.words
                for passage in self.passages
            ]
        )
        # A second word index, for Vietnamese typed without diacritics.
        self._folded = (
            WordIndex(
                [tokens(fold(_searchable_text(passage)), language="") for passage in self.passages]
            )
            if any(passage.language == "vi" for passage in self.passages)
            else None
        )
        self._languages = np.array([passage.language for passage in self.passages])
        self._distinct_languages, self._language_numbers = np.unique(
            self._languages, return_inverse=True
        )
        # Titles and names may be close to questions in another language by chance.
        self._is_text = np.array(
            [
                len(passage.text.split()) >= MIN_FOREIGN_WORDS or not passage.text.isascii()
                for passage in self.passages
            ],
            dtype=bool,
        )
        # For each passage, the number of its document.
        ids = [passage.document_id for passage in self.passages]
        self._documents = np.unique(ids, return_inverse=True)[1]
        self._is_important = np.array(
            [passage.is_important for passage in self.passages], dtype=bool
        )
        self._has_vector = np.array(
            [passage.vector.size > 0 for passage in self.passages], dtype=bool
        )
        self._vectors = self._matrix()
        self._answers = self._written_answers()
        self._pairs = {
            n: _Pair.of(passage) for n, passage in enumerate(self.passages) if passage.answers
        }

    @cached_property
    def _spell_corrector(self) -> SpellCorrector:
        """Corrects typing errors; built for the first question."""
        return SpellCorrector(f"{passage.heading}\n{passage.text}" for passage in self.passages)

    @cached_property
    def _folded_spell_corrector(self) -> SpellCorrector:
        return SpellCorrector(
            fold(f"{passage.heading}\n{passage.text}") for passage in self.passages
        )

    @cached_property
    def _vietnamese(self) -> frozenset[str]:
        """The words of the Vietnamese documents, without diacritics."""
        texts = (passage.text for passage in self.passages if passage.language == "vi")
        return frozenset(word for text in texts for word in tokens(fold(text), language=""))

    @cached_property
    def _amounts(self) -> list[quantity_matching.Amounts]:
        """The amounts in table rows; other passages have none."""
        return [
            quantity_matching.amounts(passage.text) if chunking.is_row(passage.text) else {}
            for passage in self.passages
        ]

    def _written_answers(self) -> dict[str, int]:
        """Map the key of each question with a written answer to the answer's index; of several
        answers with one key, the last counts."""
        pairs = [(passage.answers, number) for number, passage in enumerate(self.passages)]
        # Vietnamese is often typed without diacritics; a match that includes them is preferred.
        folded = {same_question_key(fold(question)): number for question, number in pairs}
        answers = folded | {same_question_key(question): number for question, number in pairs}
        answers.pop("", None)
        return answers

    def _matrix(self) -> Vectors | None:
        """The vectors of all passages, zeros where one is missing; None if no passage has one."""
        if not self._has_vector.any():
            return None
        size = max(passage.vector.size for passage in self.passages)
        missing = np.zeros(size, dtype=np.float32)
        vectors = [passage.vector if passage.vector.size else missing for passage in self.passages]
        return np.ascontiguousarray(np.stack(vectors), dtype=np.float32)

    def search(
        self,
        question: str,
        *,
        language: str,
        limit: int = 5,
        vector: Vectors | None = None,
        leave_out: Callable[[IndexedPassage], bool] | None = None,
    ) -> SearchResult:
        """Find the `limit` best passages, and up to `MAX_IMPORTANT_HITS` of important documents.

        A written answer to exactly this question is the only hit. Passages for which `leave_out` is
        true are not found. The search takes 2 ms for 10,000 passages, plus
        6-12 ms to encode the question unless its `vector` is given.
        """
        asked = question
        if same_question_key(question) not in self._answers:
            question = self.corrected(question, language=language)
        language = self.language_of(question, detected=language)
        if self._vectors is None:
            vector = None
        elif vector is None or question != asked:
            vector = self._encoder.query(question)
        return self.search_vector(
            question, vector, language=language, limit=limit, leave_out=leave_out
        )

    def corrected(self, question: str, *, language: str) -> str:
        """Correct typing errors in the question, using the words of the documents.

        A word that exists in the question's language is never an error.
        """
        if not self.passages:
            return question
        index = self._index_for(question)
        is_folded = index is self._folded
        corrector = self._folded_spell_corrector if is_folded else self._spell_corrector

        def is_known(word: str) -> bool:
            forms = (part for code in ("", "en") for part in tokens(word, language=code))
            return any(form in index for form in forms) or known_words.is_word(word, language)

        def fits(word: str, text: str) -> int:
            both = (set(tokens(word, language=c) + tokens(text, language=c)) for c in ("", "en"))
            return max(index.max_co_occurrence(words) for words in both)

        return corrector.corrected(question, is_known=is_known, fits=fits)

    def language_of(self, question: str, *, detected: str) -> str:
        """The detected language, or Vietnamese if the question is Vietnamese without diacritics."""
        if detected == "vi" or self._folded is None or fold(question) != question.lower():
            return detected
        words = tokens(question, language="")
        known = sum(word in self._vietnamese for word in words)
        return "vi" if len(words) > 2 and known >= 0.75 * len(words) else detected

    def search_vector(
        self,
        question: str,
        vector: Vectors | None,
        *,
        language: str,
        limit: int = 5,
        leave_out: Callable[[IndexedPassage], bool] | None = None,
    ) -> SearchResult:
        """Like `search`, without spelling correction; if `vector` is None, by words only."""
        if not self.passages:
            return SearchResult(
                (), 0.0, Features(0, 0, 0, is_cross_language=False, is_folded=False, passages=0)
            )
        own = (
            None if vector is None else self._encoder.without_common_part(vector, language=language)
        )
        others = self._off_topic_pairs(question)
        written = self._answers.get(same_question_key(question))
        left_out = set[int]()
        if leave_out:
            left_out = {n for n, passage in enumerate(self.passages) if leave_out(passage)}
            others = sorted(left_out.union(others))
            written = None if written in left_out else written
        near = self._near(vector, own, language).without(others)
        found = self._find(self._index_for(question), question, near, language, others)
        if found.words is self._folded and self.passages[found.best].language == language != "vi":
            # The question is not Vietnamese, but in a language without diacritics.
            found = self._find(self._words, question, near, language, others)
        words, weights, cover, scores, best = found
        has_vectors = near.own is not None and bool(self._has_vector[best])
        replacement = self._preferred(found, language) if has_vectors else None
        preferred = replacement[0] if replacement else None
        is_folded = words is self._folded
        features = self._features(near, found, language, folded=is_folded, replacement=replacement)
        confidence = _confidence(
            features, self._encoder.confidence_weights, has_vectors=has_vectors
        )
        chosen = [written] if written is not None else self._chosen(scores, limit)
        if preferred is not None and written is None:
            chosen = [preferred, *(number for number in chosen if number != preferred)]
        hits = tuple(
            Hit(
                passage=self.passages[number],
                score=max(0.0, float(scores[number])),
                cosine=float(near.own[number]) if near.own is not None else 0.0,
                coverage=float(cover[number]),
                preceding=self._neighbor(number, -1),
                following=self._neighbor(number, +1),
                is_preferred=number == preferred,
            )
            for number in chosen
            if number not in left_out
        )
        if written is not None:
            confidence = 1.0
        return SearchResult(hits, confidence, features, own, weights, is_folded=is_folded)

    def _near(self, vector: Vectors | None, own: Vectors | None, language: str) -> _Near:
        lift = np.zeros(len(self.passages), dtype=np.float32)
        all_near, own_near = self._cosines(vector), self._cosines(own)
        if vector is None or own is None or all_near is None or own_near is None:
            return _Near(None, None, None, None, lift, {})
        near = _Near(all_near, own_near, all_near, own_near, lift, {})
        if (self._distinct_languages != language).any():
            offsets = np.stack(
                [
                    self._encoder.language_offset(language, str(code))
                    for code in self._distinct_languages
                ]
            )
            near = near._replace(
                fair_all=all_near + (offsets @ vector)[self._language_numbers],
                fair_own=own_near + (offsets @ own)[self._language_numbers],
            )
        foreign = np.flatnonzero((self._languages != language) & self._is_text & self._has_vector)
        topics: dict[int, Vectors] = {}
        for number in foreign[np.argsort(-own_near[foreign])[:SENTENCE_CANDIDATES]].tolist():
            passage = self.passages[number]
            is_long = bool(_sentence_share(passage))
            vectors = passage.sentence_vectors if is_long else passage.vector[np.newaxis]
            nearer = _sentence_share(passage) * ((vectors @ own).max() - own_near[number])
            lift[number] = own_near[number] + nearer - all_near[number]
            topics[number] = vectors @ (2 * own - vector)
        if topics:
            lift[list(set(range(len(lift))) - topics.keys())] = lift[[*topics]].min()
        return near._replace(topics=topics)

    def _cosines(self, vector: Vectors | None) -> Vectors | None:
        """The cosines of all passages with `vector`; None if there are no vectors.

        Passages that have no vector get the lowest cosine.
        """
        if self._vectors is None or vector is None:
            return None
        cosines: Vectors = self._vectors @ vector
        if not self._has_vector.all():
            cosines[~self._has_vector] = cosines[self._has_vector].min()
        return cosines

    def _neighbor(self, number: int, step: int) -> IndexedPassage | None:
        if not 0 <= number + step < len(self.passages):
            return None
        passage, beside = self.passages[number], self.passages[number + step]
        is_same = passage.document_id == beside.document_id and passage.heading == beside.heading
        if passage.position is not None and beside.position is not None:
            is_same &= beside.position - passage.position == step
        return beside if is_same and passage.heading else None

    def _index_for(self, question: str) -> WordIndex:
        """The word index without diacritics, if there is one and the question contains none;
        otherwise the one with diacritics."""
        if self._folded is not None and fold(question) == question.lower():
            return self._folded
        return self._words

    def _off_topic_pairs(self, question: str) -> list[int]:
        """The indexes of answers about something else: dogs if the question is about cats."""
        if not self._pairs:
            return []
        asked, named = _words_and_names(question)
        return [n for n, pair in self._pairs.items() if pair.is_off_topic(asked, named)]

    def _find(
        self, words: WordIndex, question: str, near: _Near, language: str, others: list[int]
    ) -> _Found:
        """Score all passages, except `others`, by the words of one index and by meaning."""
        terms = tokens(question, language="" if words is self._folded else language)
        weights = words.weights(terms)
        cover = words.cover(weights)
        if not self._has_vector.all():
            # For passages that are found only by words, no form of a common word may weigh as much
            # as a rare word.
            light = {
                word: STOP_WEIGHT if word in STOP_FORMS else weight
                for word, weight in weights.items()
            }
            cover = np.where(self._has_vector, cover, words.cover(light)).astype(np.float32)
        is_folded = words is self._folded and language == "vi"
        scores = self._combined(words.scores(terms), near, cover, language, is_folded=is_folded)
        cover[others] = scores[others] = 0
        fitting = quantity_matching.fitting(question, self._amounts)
        fitting[others] = 0
        if fitting.any():
            scores = _scaled(scores + ROW_BONUS * fitting)
        best = int(scores.argmax())
        return _Found(words, weights, cover, scores, best)

    def _preferred(self, found: _Found, language: str) -> tuple[int, int] | None:
        """The indexes of the written answer that replaces the best passage, and of that passage;
        None if there is no such answer."""
        if not self._pairs:
            return None
        is_pair = np.zeros(len(self.passages), dtype=bool)
        is_pair[[*self._pairs]] = True
        is_usable = ~self._are_foreign(language, found.cover) & self._has_vector
        scores = np.where(is_pair & is_usable, found.scores, -1)
        pair = int(scores.argmax())
        if is_pair.all() or scores[pair] <= 0:
            return None
        important = found.scores[self._is_important & ~is_pair]
        if (important >= found.scores[pair] - IMPORTANT_MARGIN).any():
            # The important document may be newer.
            return None
        passage = int(np.where(is_pair, -1, found.scores).argmax())
        is_near = found.scores[pair] >= found.scores[passage] - ANSWER_MARGIN
        covers = found.cover[pair] >= found.cover[passage] - ANSWER_COVERAGE_MARGIN
        return (pair, passage) if is_near and covers else None

    def _are_foreign(self, language: str, cover: Vectors) -> NDArray[np.bool_]:
        # Language detection errs on short questions, so a passage that shares rare words with the
        # question counts as a passage in its language.
        foreign: NDArray[np.bool_] = (self._languages != language) & (cover < 0.5)
        return foreign

    def _combined(
        self,
        words: Vectors,
        near: _Near,
        cover: Vectors,
        language: str,
        *,
        is_folded: bool,
    ) -> Vectors:
        if near.fair_all is None or near.fair_own is None:
            return _scaled(words)
        # The encoder hardly understands Vietnamese without diacritics, so words count more.
        share = MEANING_SHARE if is_folded else WORD_SHARE
        mixed = share * _scaled(words) + (1 - share) * _scaled(near.fair_own)
        # Two languages share words by chance, so only meaning counts.
        is_foreign = self._are_foreign(language, cover)
        # The lift orders passages in other languages, but raises none of them above passages in the
        # question's language.
        lift = np.where(is_foreign, near.lift - near.lift.max(), 0)
        lift /= float(np.ptp(near.fair_all)) or 1.0
        meaning = _scaled(near.fair_all) + lift
        meaning = np.where(self._is_text, meaning, np.minimum(meaning.min(), 0))
        scores = np.where(is_foreign, meaning, mixed).astype(np.float32)
        if not self._has_vector.all():
            # A passage without a vector is scored by words if it covers enough of the question's.
            by_words = _scaled(words) * (cover >= MIN_WORD_COVER)
            scores = np.where(self._has_vector, scores, by_words).astype(np.float32)
        return scores

    def _features(
        self,
        near: _Near,
        found: _Found,
        language: str,
        *,
        folded: bool,
        replacement: tuple[int, int] | None,
    ) -> Features:
        cover, best = found.cover, found.best
        is_cross = bool(self._are_foreign(language, cover)[best])
        # Only passages in one language are compared: they are closer to each other than to others.
        peers = self._languages == self.passages[best].language
        if self._has_vector[best]:
            peers &= self._has_vector
        nearness, above_next = (
            _cross_language_nearness(near, self.passages[best], best)
            if is_cross
            else _same_language_nearness(near, peers, replacement)
        )
        return Features(
            above_next=above_next,
            coverage=float(cover.max() if self._has_vector[best] else cover[best]),
            nearness=nearness,
            is_cross_language=is_cross,
            is_folded=folded and (language == "vi" or not is_cross),
            passages=int(peers.sum()),
            is_one_document=2 * int(np.bincount(self._documents[peers]).max()) > peers.sum(),
        )

    def _chosen(self, scores: Vectors, limit: int) -> list[int]:
        """The indexes of the hits, in the order in which an engine reads them.

        The best passages of important documents are always added, and come first if they score
        nearly as well as the best.
        """
        if limit < 1:
            return []
        ordered = np.argsort(-scores, kind="stable")
        important = ordered[self._is_important[ordered]].tolist()
        chosen = {*ordered[:limit].tolist(), *self._nearest_important(important)}
        near = float(scores[ordered[0]]) - IMPORTANT_MARGIN
        first = {
            number
            for number in chosen
            if self.passages[number].is_important and scores[number] >= near
        }
        return sorted(
            chosen, key=lambda number: (number not in first, -float(scores[number]), number)
        )

    def _nearest_important(self, ordered: Sequence[int]) -> list[int]:
        """The index of the best passage of each of the nearest important documents."""
        best: dict[int, int] = {}
        for number in ordered:
            best.setdefault(self.passages[number].document_id, number)
            if len(best) == MAX_IMPORTANT_HITS:
                break
        return list(best.values())


def _sentence_share(passage: IndexedPassage) -> float:
    """The weight of a passage's best sentence; 0 for a short passage."""
    words = max(chunking.count_words(passage.text), MAX_TOPIC_WORDS)
    has_sentences = passage.sentence_vectors.size > 0
    return SENTENCE_SHARE * (1 - MAX_TOPIC_WORDS / words) if has_sentences else 0.0


def _same_language_nearness(
    near: _Near, peers: NDArray[np.bool_], replacement: tuple[int, int] | None
) -> tuple[float, float]:
    """How near the best of the passages `peers` is, and its lead over the next ones.

    `replacement`: a written answer and the passage that it replaces; they count as one passage.
    """
    if near.all is None or near.own is None:
        return 0.0, 0.0
    counted = peers.copy()
    if replacement:
        counted[min(replacement, key=near.all.__getitem__)] = False
    ordered = np.sort(near.all[counted])[::-1]
    above_next = ordered[0] - ordered[1:10].mean() if ordered.size > 1 else 0.0
    return float(near.own[peers].max()), float(above_next)


def _cross_language_nearness(
    near: _Near, passage: IndexedPassage, best: int
) -> tuple[float, float]:
    """Like `_same_language_nearness`, for a best passage that is not in the question's language.

    What all questions in a language have in common is left out, since it would outweigh the
    specific part.
    """
    if near.all is None or near.own is None or best not in near.topics:
        return 0.0, 0.0
    cosine, topic = 2 * near.own[best] - near.all[best], near.topics[best].max()
    share = _sentence_share(passage)
    following = np.sort(np.concatenate([*near.topics.values()]))[::-1][1:10]
    above_next = topic - following.mean() if following.size else 0.0
    nearness = float(cosine + share * (topic - cosine))
    is_fact = chunking.count_words(passage.text) <= MAX_FACT_WORDS
    return nearness - FACT_PENALTY * is_fact, float(above_next)


def _confidence(features: Features, by_kind: ConfidenceWeights, *, has_vectors: bool) -> float:
    """The probability that the best passage answers, on the scale of `DEFAULT_THRESHOLD`."""
    if not has_vectors:
        # This is cautious: without vectors, questions on other topics must not be answered.
        return _logistic(8.0 * (features.coverage - MIN_WORD_COVER) + 1.21)
    if features.is_folded:
        # The encoder hardly understands Vietnamese without diacritics, so only words count.
        return _logistic(9.0 * features.coverage - 2.8)
    weights = getattr(by_kind, kind_of(features))
    return _logistic(
        weights.nearness * features.nearness
        + weights.coverage * features.coverage
        + weights.above_next * features.above_next
        + weights.constant
    )


def kind_of(features: Features) -> Literal["few", "many", "foreign"]:
    """The part of an encoder's `ConfidenceWeights` that applies to these features."""
    if features.is_cross_language:
        return "foreign"
    if features.passages < MIN_PASSAGES_OF_TOPICS:
        return "few"
    is_few = features.passages < MAX_PASSAGES_OF_ONE_TOPIC
    return "few" if is_few and features.is_one_document else "many"
