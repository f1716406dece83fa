"""Recognizes text whose words are not separated, as in a PDF that draws no spaces."""

import re
from collections import Counter
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
# words. Only pages most of whose words are known are judged so, in languages with few compounds.
_MIN_GLUED, _MIN_KNOWN_SHARE = 5, 0.7
# So many words of a page tell its language.
_MAX_JUDGED = 200
# Words that are frequent in one language only tell the language of a page. The language detector
# cannot be used here: parsers run in a child process, in which it cannot unpack its model.
_FREQUENT = {
    "de": frozenset("der die das und den ist nicht mit ein eine zu auf für im werden".split()),  # noqa: SIM905 - readable
    "en": frozenset("the and of to is for are with you your that by at from this".split()),  # noqa: SIM905 - readable
    "es": frozenset("el los las y del una por con para es se su al más lo".split()),  # noqa: SIM905 - readable
    "fr": frozenset("le les des et du une est dans pour au vous sur par avec pas".split()),  # noqa: SIM905 - readable
    "it": frozenset("il di che è per gli della un del con sono alla nel delle i".split()),  # noqa: SIM905 - readable
    "nl": frozenset("het een en van de niet op te zijn voor met dat aan wordt bij".split()),  # noqa: SIM905 - readable
    "pt": frozenset("o os e do da uma não em dos ao para as na no são".split()),  # noqa: SIM905 - readable
}
# The words of one letter in the languages whose pages are judged.
_LETTERS = {"en": "aAI", "es": "aeouyAEY", "fr": "aàyAÀ", "it": "aeèioAEÈI", "pt": "aàeéoAÀEÉO"}
# In these languages a word of _TOO_LONG letters counts as one if it is not known to be several.
# The lists of other languages know too few words.
_WELL_KNOWN = frozenset({"de", "en", "fr"})
# A German word, which may be a compound, is several if these have at most this many letters on
# average.
_MEAN_LETTERS = 6
_LONG_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{20,99}(?![^\W\d_])")
# A line with a word that is too long has its other spaces if it has at least this many other words
# and these are not long.
_MIN_OTHERS, _MAX_MEAN = 3, 12
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


def language_of(text: str) -> str:
    """The language of a page by its frequent words; "" if it has none of them."""
    words = Counter(text.lower().split())
    counts = {code: sum(words[word] for word in listed) for code, listed in _FREQUENT.items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] else ""


def is_glued(line: str, language: str = "") -> bool:
    """Whether a single line lacks spaces: it has a word that is too long, or a mark inside one.

    Names in code, such as "createConversationSummary", are not glued words. A long word in a line
    that has spaces is one only if it is not known to be several words.
    """
    if any(length >= _TOO_LONG for length, _ in _words(line)):
        word = _long_word_among_others(line) if language in _WELL_KNOWN else ""
        return not word or _is_glued_word(word, language)
    return bool(_JOINED.search(line)) and lacks_spaces(line)


def _long_word_among_others(line: str) -> str:
    """The only word of a line that is too long; "" if there are more or the line lacks spaces."""
    lengths = [length for length, _ in _words(line) if length]
    others = [length for length in lengths if length < _TOO_LONG]
    has_spaces = len(others) >= _MIN_OTHERS and sum(others) <= _MAX_MEAN * len(others)
    words = [word for word in _long_words(line) if len(word) >= _TOO_LONG]
    return words[0] if words and has_spaces and len(lengths) == len(others) + 1 else ""


def glued_words(text: str, language: str) -> set[str]:
    """The words of a text that are several words without spaces between them."""
    found = _long_words(text) if language in _LETTERS else set()
    if not found:
        return set()
    others = [word for word in text.split() if word.isalpha()][:_MAX_JUDGED]
    known = sum(known_words.is_word(word, language) for word in others)
    if known < _MIN_KNOWN_SHARE * len(others):
        return set()
    return {word for word in found if _is_glued_word(word, language)}


def _long_words(text: str) -> set[str]:
    return {word for token in text.split() if len(token) >= _LONG and not _CODE.search(token)
            for word in _LONG_WORD.findall(token) if word[1:].islower()}  # fmt: skip


def _is_glued_word(word: str, language: str) -> bool:
    count = _known_words_in(word, language)
    fewest = len(word) / _MEAN_LETTERS if language == "de" else _MIN_GLUED
    # The pieces of a chemical name are shorter than words.
    return fewest <= count <= len(word) / 3


def _known_words_in(text: str, language: str) -> int:
    """The smallest number of known words of which a text consists; 0 if there is none."""
    letters = _LETTERS.get(language, "")
    counts = {0: 0}
    for end in range(1, len(text) + 1):
        found = [
            counts[start] + 1
            for start in range(max(0, end - _LONG), end)
            if start in counts
            and (end - start > 1 or text[start] in letters)
            and known_words.is_word(text[start:end], language)
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
