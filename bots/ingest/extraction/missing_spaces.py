"""Recognizes text whose words are not separated, as in a PDF that draws no spaces."""

import re
from collections.abc import Iterator

from bots.language import known_words
from bots.language.normalization import UNSPACED

# A text is judged in windows of this many letters, so that a single paragraph is noticed.
_WINDOW = 150
# A text of fewer letters than _MIN_LETTERS is not judged, since it may be a title of one long word.
# The exception is a text of at least _MIN_MARKED letters, half of which are in long tokens with
# marks inside.
_MIN_LETTERS, _MIN_MARKED = 70, 20
# Pairs of a share and a limit. If at least this share of the letters is in long tokens with marks
# inside, the mean length of words, weighted by their letters, may be at most this limit. The mean
# is 6 to 11 in running text, and 28 in lists of German words.
_LIMITS = ((0.6, 9), (0.25, 13), (0.0, 36))
# A word of at least 20 letters is glued if it is not known and splits into at least this many known
# words. Only pages of English are judged so: most of their words are known, and few are compounds.
_MIN_GLUED, _MIN_KNOWN_SHARE = 5, 0.7
# So many words of a page tell whether it is in English.
_MAX_JUDGED = 200
_LONG_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{20,44}(?![^\W\d_])")
# A shorter token may well contain a mark: "e.g.", "YouTube".
_LONG = 20
# The longest words in use have fewer letters, even in German and Finnish.
_TOO_LONG = 45
_MARK = re.compile(r"[^\W\d_][\d.,;!?)»”\"]+[^\W\d_]|[a-zß-ÿа-я][A-ZÀ-ÞА-Я]")
# Matches the end of a sentence or clause, and the next one without a space before it.
_JOINED = re.compile(r"[^\W\d_]{3}[.,;!?)][^\W\d_]{3}")
# URLs, mail addresses and code have no spaces.
_CODE = re.compile(r"[@_\\=#&%|~<>{}\[\]+*]|://|www\.|\w\.[a-zà-ÿ]")
# Matches where words may follow each other without a space: at marks, and at capitals in names.
_BREAK = re.compile(r"[-–—/,;:.!?()]|(?<=[a-zß-ÿа-я])(?=[A-ZÀ-ÞА-Я])")


def lacks_spaces(text: str) -> bool:
    """Whether a text lacks spaces: its words are too long for any language that has spaces."""
    words = list(_words(text))
    needed = min(_WINDOW, max(sum(length for length, _ in words), _MIN_LETTERS))
    first = letters = squares = marked = 0
    for length, is_marked in words:
        letters, squares = letters + length, squares + length**2
        marked += length * is_marked
        while letters - words[first][0] >= _WINDOW:
            length, is_marked = words[first]
            letters, squares = letters - length, squares - length**2
            marked -= length * is_marked
            first += 1
        limit = next(limit for part, limit in _LIMITS if marked >= part * letters)
        if letters >= needed and squares > limit * letters:
            return True
    is_marked = _MIN_MARKED <= letters < _MIN_LETTERS and 2 * marked >= letters
    return is_marked and squares > _LIMITS[0][1] * letters


def is_glued(line: str) -> bool:
    """Whether a single line lacks spaces: it has a word that is too long, or a mark inside one.

    Names in code, such as "createConversationSummary", are not glued words.
    """
    if any(length >= _TOO_LONG for length, _ in _words(line)):
        return True
    return bool(_JOINED.search(line)) and lacks_spaces(line)


def glued_words(text: str) -> set[str]:
    """The words of a text that are several words without spaces between them."""
    found = {word for token in text.split() if not _CODE.search(token)
             for word in _LONG_WORD.findall(token) if word[1:].islower()}  # fmt: skip
    if not found:
        return set()
    others = [word for word in text.split() if word.isalpha()][:_MAX_JUDGED]
    known = sum(known_words.is_word(word, "en") for word in others)
    if known < _MIN_KNOWN_SHARE * len(others):
        return set()
    # The pieces of a chemical name are shorter than words.
    return {word for word in found if _MIN_GLUED <= _known_words_in(word) <= len(word) / 3}


def _known_words_in(text: str) -> int:
    """The smallest number of English words of which a text consists; 0 if there is none."""
    counts = {0: 0}
    for end in range(1, len(text) + 1):
        found = [
            counts[start] + 1
            for start in range(max(0, end - _LONG), end)
            if start in counts
            and (end - start > 1 or text[start] in "aAI")
            and known_words.is_word(text[start:end], "en")
        ]
        if found:
            counts[end] = min(found)
    return counts.get(len(text), 0)


def _words(text: str) -> Iterator[tuple[int, bool]]:
    """Yield the number of letters of each word, and whether its token is long and has marks."""
    for token in text.split():
        if token.isascii() and token.isalpha() and len(token) < _LONG:
            yield len(token), False
        elif not (_CODE.search(token) or UNSPACED.search(token)):
            lengths = [sum(map(str.isalpha, word)) for word in _BREAK.split(token)]
            is_marked = sum(lengths) >= _LONG and bool(_MARK.search(token))
            yield from ((length, is_marked) for length in lengths)
