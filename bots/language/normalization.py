"""Normalizes texts into words for matching, and into keys for recognizing equal questions."""

import re
import unicodedata
from typing import Literal

from bots.language import language_data

QUESTION_MARKS = ("?", "？", "؟")
_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
# Matches a letter of a script without spaces between words: Thai, Lao, Burmese, Khmer, Kana, Han.
UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
_UNSPACED_RUN = re.compile(f"{UNSPACED.pattern}+")
# No language puts more combining marks on one letter.
_MAX_MARKS = 30
_EXCESSIVE_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_MAX_MARKS + 1},}}")
_Form = Literal["NFC", "NFD", "NFKC"]


def normalize(form: _Form, text: str) -> str:
    """Normalize a text to a Unicode form, in limited time and length.

    Only the first 30 combining marks in a row are kept, since sorting marks takes quadratic time.
    NFKC may expand a character to 18 characters, so its result is cut to about twice the length.
    """
    if text.isascii():
        return text
    ordered = unicodedata.normalize(form, _EXCESSIVE_MARKS.sub(_with_fewer_marks, text))  # noqa: TID251
    return ordered[: 2 * len(text) + 40] if form == "NFKC" else ordered


def _with_fewer_marks(run: re.Match[str]) -> str:
    kept, marks = list[str](), 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= _MAX_MARKS:
            kept.append(char)
    return "".join(kept)


def fold(text: str) -> str:
    """Lower-case a text and remove diacritics, which are often left out when typing Vietnamese."""
    if text.isascii():
        return text.lower()
    plain = normalize("NFD", text.lower().replace("đ", "d").replace("Đ", "d"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _stem(word: str) -> str:
    """An English word without plural endings, -ing, -ed and a final e."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    for suffix in ("ing", "ed"):
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) >= 3 and re.search("[aeiouy]", stem):
            doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls"
            return (stem[:-1] if doubled else stem).removesuffix("e")
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word


def tokens(text: str, *, language: str) -> list[str]:
    """The words of a text for matching; in scripts without spaces, pairs of characters.

    In English, words are reduced to their stems.
    """
    result: list[str] = []
    text = normalize("NFC", text.lower())
    for run in _UNSPACED_RUN.findall(text):
        result += [run[start : start + 2] for start in range(max(1, len(run) - 1))]
    words = _TOKEN.findall(_UNSPACED_RUN.sub(" ", text))
    result += (
        [_stem(word.removesuffix("'s").removesuffix("’s")) for word in words]
        if language == "en"
        else words
    )
    return result


# Words that do not change what a question asks, in the form that keys compare. They must not
# include question words, negations, or words that reverse a question, such as "to" and "from".
_FILLER_WORDS = " ".join(language_data.words("search", "filler"))
_FILLER_KEYS = frozenset(tokens(f"{_FILLER_WORDS} {fold(_FILLER_WORDS)}", language="en"))


def same_question_key(question: str) -> str:
    """A key that is equal for questions that differ only in filler words, endings, case or order.

    It is empty if the question has only filler words.
    """
    return " ".join(sorted(set(tokens(question, language="en")) - _FILLER_KEYS))
