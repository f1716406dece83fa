"""Corrects typing errors in a question, using the words of a bot's documents."""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bots.language import embedding

_WORD = re.compile(r"[^\W\d_]+")
# Longer questions are not corrected: they are clear despite typing errors, and each unknown word
# takes time.
MAX_WORDS = 60
# Shorter words are not corrected, since too many words are similar to them.
MIN_LETTERS = 3
# A word of this length or more may have two errors.
_TWO_ERRORS = 8


class SpellCorrector:
    """Corrects words to the spelling of similar words in a bot's documents."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = Counter(word for text in texts for word in _WORD.findall(text.lower()))
        self._by_first: dict[str, list[str]] = {}
        for word in self._counts:
            if len(word) >= MIN_LETTERS:
                self._by_first.setdefault(word[0], []).append(word)

    def corrected(
        self, text: str, *, is_known: Callable[[str], bool], fits: Callable[[str, str], int]
    ) -> str:
        """Replace unknown words of a text with the likeliest words of the documents.

        `fits(word, text)` says how well a word goes with the words of a text. A word that is a
        single token of the encoder counts as correct. Each unknown word takes about a millisecond.
        """
        if len(_WORD.findall(text)) > MAX_WORDS:
            return text

        def replaced(match: re.Match[str]) -> str:
            word = match[0].lower()
            if len(word) < MIN_LETTERS or word in self._counts or is_known(word):
                return match[0]
            if embedding.is_word(word):
                return match[0]
            similar = self._similar(word)
            if not similar:
                return match[0]
            return min(
                similar,
                key=lambda other: (-fits(other[0], text), other[1], -self._counts[other[0]]),
            )[0]

        return _WORD.sub(replaced, text)

    def _similar(self, word: str) -> list[tuple[str, int]]:
        """Similar words with the same first letter, each with its number of errors."""
        allowed = 2 if len(word) >= _TWO_ERRORS else 1
        words = self._by_first.get(word[0], ())
        # The distance counts letters that are left out, added, wrong or swapped.
        found = process.extract_iter(word, words, scorer=OSA.distance, score_cutoff=allowed)
        return [(other, count) for other, count, _ in found]
