"""Whether the sources of an answer hold its facts, as far as that can be looked up."""

import re
from collections.abc import Iterable

from bots.engine import facts
from bots.knowledge.words import fold, tokens

# Words that begin alike are forms of one: return, returned, returning.
_STEM_LETTERS = 5
# Shorter words of the Latin alphabet say little.
_MIN_LETTERS = 3
# With fewer words a sentence says too little to be found in a source.
_MIN_WORDS = 2
# Digits with whatever groups them.
_DIGITS = re.compile(r"\d(?:[ ()/.,'’-]{0,2}\d)*")


class SourceCheck:
    """Looks up facts in the texts of some sources."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = facts.readable("\n".join(texts)).lower()
        self._figures = facts.figures_of(self._text)
        self._digits = set(map(facts.digits_of, _DIGITS.findall(self._text)))
        self._words = _words(self._text)

    def unsupported_facts(self, text: str) -> list[str]:
        """The links, addresses, telephone numbers and figures of a text that no source has."""
        told = facts.facts_of(text)
        return sorted(
            {address for address in told.addresses if not self._has_address(address)}
            | {phone for phone in told.phones if not any(phone in digit for digit in self._digits)}
            | (told.figures - self._figures - self._digits)
        )

    def facts_supported(self, text: str) -> bool:
        """Whether the sources have every fact of a text."""
        return not self.unsupported_facts(text)

    def holds(self, sentence: str) -> bool:
        """Whether the sources have every word and fact of a sentence that says something."""
        words = _words(sentence)
        return len(words) >= _MIN_WORDS and words <= self._words and self.facts_supported(sentence)

    def shared_words(self, text: str) -> int:
        """How many words of a text the sources have."""
        return len(_words(text) & self._words)

    def _has_address(self, address: str) -> bool:
        # Of "https://shop.example/returns" a text may name the host alone.
        whole = rf"(?<![\w.-]){re.escape(address)}(?![\w-]|\.\w)"
        return bool(re.search(whole, self._text))


def _words(text: str) -> set[str]:
    """The stems of a text's words; of a script without spaces, pairs of its characters."""
    words = tokens(fold(facts.readable(text)), language="")
    long = (word for word in words if len(word) >= _MIN_LETTERS or not word.isascii())
    return {word[:_STEM_LETTERS] for word in long}
