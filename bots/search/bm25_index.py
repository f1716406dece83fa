"""Word search by BM25, and the weights of a question's words."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import numpy as np

from bots.language import language_data
from bots.language.embedding import Vectors
from bots.language.normalization import tokens

# BM25's usual parameters for saturation and length normalization.
_K1, _B = 1.2, 0.75

# Common words of questions; sharing them says nothing about the topic.
STOP = frozenset(language_data.words("search", "stop"))
# The same words with the forms in which English words are compared, such as "doe" for "does".
STOP_FORMS = STOP | {*tokens(" ".join(STOP), language="en")}
STOP_WEIGHT = 0.1
# The minimum weight of other words: the words of a document's topic are frequent in it, and still
# show that a text is on topic.
_MIN_WEIGHT = 1.0


class WordIndex:
    """A BM25 index of passages, each given as its words."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._count = len(documents)
        lengths = np.array([len(document) for document in documents], dtype=np.float32)
        mean = float(lengths.mean()) if self._count else 1.0
        norms = _K1 * (1 - _B + _B * lengths / max(mean, 1.0))
        postings: dict[str, list[tuple[int, int]]] = {}
        for number, document in enumerate(documents):
            for word, times in Counter(document).items():
                postings.setdefault(word, []).append((number, times))
        # One array for all words, since one array per word would take ten times the memory.
        entries = [entry for found in postings.values() for entry in found]
        self._numbers = np.array([number for number, _ in entries], dtype=np.int32)
        times_in = np.array([times for _, times in entries], dtype=np.float32)
        rarities = [self.rarity(len(found)) for found in postings.values() for _ in found]
        weights = np.array(rarities) * times_in * (_K1 + 1) / (times_in + norms[self._numbers])
        self._weights = weights.astype(np.float32)
        ends = accumulate(len(found) for found in postings.values())
        self._postings = {
            word: slice(end - len(found), end)
            for (word, found), end in zip(postings.items(), ends, strict=True)
        }

    def __contains__(self, word: str) -> bool:
        return word in self._postings

    def max_co_occurrence(self, words: Iterable[str]) -> int:
        """The largest number of these words that one passage contains; common words don't count."""
        passages = Counter(
            int(number)
            for word in words
            if word in self._postings and word not in STOP
            for number in self._numbers[self._postings[word]]
        )
        return max(passages.values(), default=0)

    def rarity(self, document_count: int) -> float:
        return math.log(1 + (self._count - document_count + 0.5) / (document_count + 0.5))

    def scores(self, question: Iterable[str]) -> Vectors:
        scores = np.zeros(self._count, dtype=np.float32)
        for word in set(question):
            if word in self._postings:
                at = self._postings[word]
                scores[self._numbers[at]] += self._weights[at] * (
                    STOP_WEIGHT if word in STOP else 1
                )
        return scores

    def weights(self, question: Iterable[str]) -> dict[str, float]:
        """The weight of each word of a question by its rarity; common words weigh little."""
        weights: dict[str, float] = {}
        for word in set(question):
            at = self._postings.get(word, slice(0, 0))
            document_count = at.stop - at.start
            rarity = max(self.rarity(document_count), _MIN_WEIGHT)
            weights[word] = STOP_WEIGHT if word in STOP else rarity
        return weights

    def cover(self, weights: Mapping[str, float]) -> Vectors:
        """For each passage, the share 0..1 of the question's weight that its words cover."""
        cover = np.zeros(self._count)
        for word, weight in weights.items():
            cover[self._numbers[self._postings.get(word, slice(0, 0))]] += weight
        return (cover / (sum(weights.values()) or 1)).astype(np.float32)
