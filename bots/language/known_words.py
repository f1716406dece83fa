"""Tells whether a word exists in a language, by lists of words from films and books."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable

from chatplatform.call_once import call_once


class _WordList:
    """The words as sorted hashes, which take less memory than the words themselves."""

    def __init__(self, words: Iterable[str]) -> None:
        self._hashes = array("q", sorted(map(hash, words)))

    def __contains__(self, word: str) -> bool:
        value = hash(word)
        index = bisect_left(self._hashes, value)
        return index < len(self._hashes) and self._hashes[index] == value


def _loader(language: str) -> call_once[_WordList]:
    @call_once
    def load() -> _WordList:
        # Loading takes 0.1 to 0.7 seconds, and the list takes a few MB.
        from spellchecker import SpellChecker  # noqa: PLC0415 - few processes need it

        return _WordList(SpellChecker(language=language).word_frequency.dictionary)

    return load


_LISTS = {code: _loader(code) for code in ("ar", "de", "en", "es", "fr", "it", "nl", "pt", "ru")}
LANGUAGES = frozenset(_LISTS)


def is_word(word: str, language: str) -> bool:
    """Whether the word exists in the language; False for a language without a list."""
    return language in _LISTS and word.lower() in _LISTS[language]()
