"""Recognizes text whose words are not separated, as in a PDF that draws no spaces."""

import re
from collections.abc import Iterator

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


def _words(text: str) -> Iterator[tuple[int, bool]]:
    """Yield the number of letters of each word, and whether its token is long and has marks."""
    for token in text.split():
        if token.isascii() and token.isalpha() and len(token) < _LONG:
            yield len(token), False
        elif not (_CODE.search(token) or UNSPACED.search(token)):
            lengths = [sum(map(str.isalpha, word)) for word in _BREAK.split(token)]
            is_marked = sum(lengths) >= _LONG and bool(_MARK.search(token))
            yield from ((length, is_marked) for length in lengths)
