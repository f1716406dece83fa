"""Checks whether the facts of an answer occur in its sources."""

import re
from collections.abc import Iterable

from bots.engine import verifiable_facts
from bots.engine.types import Snippet
from bots.language.normalization import fold, tokens

# Words that share this many first letters count as forms of one word: return, returned.
_STEM_LETTERS = 5
# Shorter ASCII words are ignored, since they carry little meaning.
_MIN_LETTERS = 3
# A sentence with fewer words says too little to be matched to a source.
_MIN_WORDS = 2
# Digits with the characters that group them.
_DIGITS = re.compile(r"\d(?:[ ()/.,'’-]{0,2}\d)*")


class SourceCheck:
    """Looks up facts and words in the texts of some sources."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = verifiable_facts.readable("\n".join(texts)).lower()
        self._figures = verifiable_facts.figures_of(self._text)
        self._digits = set(map(verifiable_facts.digits_of, _DIGITS.findall(self._text)))
        self._words = _words(self._text)

    @classmethod
    def of_snippets(cls, snippets: Iterable[Snippet], *other_texts: str) -> "SourceCheck":
        """A check against other texts and snippets, including their titles, headings and URLs."""
        texts = (f"{s.title}\n{s.heading}\n{s.url or ''}\n{s.text}" for s in snippets)
        return cls([*texts, *other_texts])

    def unsupported_facts(self, text: str) -> list[str]:
        """The links, addresses, telephone numbers and figures that occur in no source."""
        found = verifiable_facts.facts_of(text)
        return sorted(
            {address for address in found.addresses if not self._has_address(address)}
            | {phone for phone in found.phones if not any(phone in digit for digit in self._digits)}
            | (found.figures - self._figures - self._digits)
        )

    def facts_supported(self, text: str) -> bool:
        """Whether every fact of a text occurs in the sources."""
        return not self.unsupported_facts(text)

    def supports(self, sentence: str) -> bool:
        """Whether the sources contain all words and facts of a sentence.

        False if the sentence has fewer than two words to compare.
        """
        words = _words(sentence)
        return len(words) >= _MIN_WORDS and words <= self._words and self.facts_supported(sentence)

    def mostly_supports(self, sentence: str) -> bool:
        """Whether the sources contain all facts and at least half of the words of a sentence."""
        words = _words(sentence)
        return 0 < len(words) <= 2 * self.shared_words(sentence) and self.facts_supported(sentence)

    def shared_words(self, text: str) -> int:
        """The number of different words of a text that occur in the sources."""
        return len(_words(text) & self._words)

    def _has_address(self, address: str) -> bool:
        # A text may name just the host of "https://shop.example/returns".
        whole = rf"(?<![\w.-]){re.escape(address)}(?![\w-]|\.\w)"
        return bool(re.search(whole, self._text))


def _words(text: str) -> set[str]:
    """The stems of a text's words, except short ASCII words.

    In scripts without spaces, pairs of characters count as words.
    """
    words = tokens(fold(verifiable_facts.readable(text)), language="")
    long = (word for word in words if len(word) >= _MIN_LETTERS or not word.isascii())
    return {word[:_STEM_LETTERS] for word in long}
