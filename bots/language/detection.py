"""Detects the language of a text, among the twenty languages that have a lexicon."""

import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bots.language import language_data, phrasebook
from chatplatform.call_once import call_once

LANGUAGES = list(language_data.LEXICONS)
MIN_WORDS = 3
# The minimum probability of a language: in general, and if the language is expected.
MIN_PROBABILITY, MIN_EXPECTED_PROBABILITY = 0.6, 0.2
# More text does not improve the guess and costs time.
MAX_CHARACTERS = 4_000
# With this many Chinese characters and no kana, a text is Chinese even if Japanese is expected.
_MIN_CHINESE = 12

# The minimum number of words for a certain guess, except in scripts without capitals.
_MIN_SURE_WORDS = 5
# Pairs of languages that are easily mistaken for each other.
_CONFUSABLE = ({"id", "ms"}, {"ru", "uk"}, {"ja", "zh"})

# Letters that only Vietnamese has among the twenty languages.
_VIETNAMESE = re.compile(r"[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
# A text is in one of these languages if at least a fifth of its letters are in that language's
# script.
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("ar", re.compile(r"[\u0620-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
)
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_UKRAINIAN, _RUSSIAN = re.compile("[іїєґ]", re.IGNORECASE), re.compile("[ыэъё]", re.IGNORECASE)


@call_once
def _identifier() -> Any:
    # Takes half a second and 30 MB, so it is loaded on first use. The package has no types.
    langid = importlib.import_module("py3langid.langid")
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    identifier.set_languages(LANGUAGES)
    return identifier


@dataclass(frozen=True)
class Guess:
    """The possible languages of a text, and the one to assume if none of them is expected."""

    candidates: tuple[str, ...] = ()
    otherwise: str | None = None

    def among(self, expected: Iterable[str]) -> str | None:
        """The first expected language among the candidates, else `otherwise`.

        The database function `chats_receive_message` does the same for the languages of a
        conversation.
        """
        return _first(map(phrasebook.base_of, expected), self.candidates) or self.otherwise


def detect(text: str, *, default: str, offered: Sequence[str] = ()) -> str:
    """The ISO 639-1 code of the text's language; `default` if it is not certain enough.

    `offered` are other likely languages.
    """
    return recognize(text, expected=(default, *offered)) or default


def recognize(text: str, *, expected: Sequence[str] = ()) -> str | None:
    """The ISO 639-1 code of the text's language; None if it is not certain enough.

    `expected` lists the likely languages, the likeliest first; it decides between languages that
    share a word such as "hallo".
    """
    return guess(text).among(expected)


def is_certainly_other(text: str, language: str) -> bool:
    """Whether a text is certainly not in `language`, a code such as "vi".

    The language of a text of few words is certain only in scripts without capitals.
    """
    if language not in LANGUAGES:
        return False
    found, words = recognize(text, expected=(language,)), text.split()
    count = sum(any(map(str.isalpha, word)) for word in words)  # figures do not show a language
    is_long = count >= _MIN_SURE_WORDS or has_dense_words(words)
    return found not in {None, language} and {found, language} not in _CONFUSABLE and is_long


def has_dense_words(words: Iterable[str]) -> bool:
    """Whether any of the words is in a script without capitals."""
    return any(len(word) > 1 and word.isalpha() and word.lower() == word.upper() for word in words)


def guess(text: str) -> Guess:
    """The possible languages of a text, judged without its context."""
    return _guessed(text[:MAX_CHARACTERS])


@lru_cache(maxsize=1_000)  # the same passages are quoted again and again
def _guessed(text: str) -> Guess:
    words = _WORD.findall(text)
    if not words:
        return Guess()
    by_letters = _by_letters(text, words)
    if by_letters:
        return Guess(by_letters, by_letters[0])
    spoken = phrasebook.languages_of(text)
    if spoken:
        return Guess(tuple(spoken), _first(_ranked(text), spoken) if spoken[1:] else spoken[0])
    is_cyrillic = not text.isascii() and len(_CYRILLIC.findall(text)) * 2 >= sum(map(len, words))
    if len(words) < MIN_WORDS and not is_cyrillic:
        return Guess()
    ranked = _ranked(text)
    likely = tuple(code for code, share in ranked.items() if share >= MIN_EXPECTED_PROBABILITY)
    best, share = next(iter(ranked.items()))
    # A text in Cyrillic letters must be Russian or Ukrainian, so the likelier one is assumed.
    return Guess(likely, best if share >= MIN_PROBABILITY or is_cyrillic else None)


def _ranked(text: str) -> dict[str, float]:
    """The probability of each language, the likeliest first."""
    ranked = _identifier().rank(text.encode("utf-8", "ignore").decode())
    return {str(code): float(share) for code, share in ranked}


def _by_letters(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """The language that the script or letters prove; empty if they prove none.

    The result is two languages for a few Chinese characters, which may be Chinese or Japanese.
    """
    if text.isascii():
        return ()
    letters = sum(map(len, words))
    for code, script in _SCRIPTS:
        count = len(script.findall(text))
        if count * 5 >= letters:
            return ("zh", "ja") if code == "zh" and count < _MIN_CHINESE else (code,)
    if len(_CYRILLIC.findall(text)) * 2 >= letters:
        is_ukrainian, is_russian = _UKRAINIAN.search(text), _RUSSIAN.search(text)
        if bool(is_ukrainian) != bool(is_russian):
            return ("uk",) if is_ukrainian else ("ru",)
    marked = sum(1 for word in words if _VIETNAMESE.search(word))
    return ("vi",) if marked * 4 >= len(words) else ()


def _first(codes: Iterable[str], among: Iterable[str]) -> str | None:
    allowed = set(among)
    return next((code for code in codes if code in allowed), None)
