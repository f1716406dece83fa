"""The words of a language, by lists of those that films and books use."""

import gzip
import json
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatplatform.call_once import call_once

# So many of the commonest words say nothing about a topic.
_COMMON = 1_000


class _List(NamedTuple):
    # Sorted hashes: some MB less than the words themselves.
    hashes: NDArray[np.int64]
    common: frozenset[str]

    def __contains__(self, word: object) -> bool:
        value = hash(word)
        place = int(np.searchsorted(self.hashes, value))
        return place < len(self.hashes) and int(self.hashes[place]) == value


def _loader(language: str) -> call_once[_List]:
    @call_once
    def load() -> _List:
        # Takes 0.1 to 0.7 seconds, and a few MB stay.
        path = resources.files("spellchecker") / "resources" / f"{language}.json.gz"
        times: dict[str, int] = json.loads(gzip.decompress(path.read_bytes()))
        hashes = np.fromiter(map(hash, times), np.int64, len(times))
        common = sorted(times, key=lambda word: -times[word])[:_COMMON]
        return _List(np.sort(hashes), frozenset(common))

    return load


_LISTS = {code: _loader(code) for code in ("ar", "de", "en", "es", "fr", "it", "nl", "pt", "ru")}
LANGUAGES = frozenset(_LISTS)


def is_word(word: str, language: str) -> bool:
    """Whether the language has the word; False for a language without a list."""
    return language in _LISTS and word.lower() in _LISTS[language]()


def is_telling(word: str, language: str) -> bool:
    """Whether a word says what a text is about: it is none of the commonest of its language.

    False for a language without a list.
    """
    return language in _LISTS and word.lower() not in _LISTS[language]().common
