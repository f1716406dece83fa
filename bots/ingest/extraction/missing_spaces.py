"""Recognizes lines whose words are not separated, as in a PDF that draws no spaces."""

import re
from collections import Counter

from bots.language import known_words
from bots.language.normalization import UNSPACED

# Frequent words of each language. They distinguish glued words from long words, and identify the
# language of a page: the child process that runs the parsers cannot use the language detector.
_FREQUENT = {
    code: frozenset(listed.split())
    for code, listed in {
        "de": "der die das den dem des und ist sind nicht mit ein eine einen zu zum zur auf für im "
        "von werden wird sie es wenn oder kann um am an bei",
        "en": "the and of to is are for with you your that by at from this on in be can will it "
        "or not has have an as we if",
        "es": "el la los las y de del en un una por con para que es se su al más no lo si o sus "
        "este esta ser son",
        "fr": "le la les des de et du un une est en dans pour au aux vous votre que qui sur par "
        "avec pas ne ce cette il sont",
        "it": "il lo la di da in che è per gli le un una del con non si sono alla al nel della "
        "delle dei se questo",
        "nl": "het de een en van in is niet op te zijn voor met dat aan wordt bij of deze u uw om "
        "kan als naar dit",
        "pt": "o os de do da em um uma não no na dos das ao às para por com que as são se é ou "
        "seu sua este",
        "vi": "và của là không có được cho các người một này để với trong bạn những từ đã khi",
    }.items()
}
# At least this many of them within words identify a language.
_MIN_WITHIN = 3
# Shorter words are not checked: even if they consist of known words, they may be words themselves.
_MIN_LETTERS = 16
# Longer words exist only in languages that write compounds as one word. With marks inside, such as
# commas, they may be a list of words of _MAX_LISTED letters on average. In languages without a list
# of known words, nothing else identifies glued words. Only this many letters are checked.
_MAX_LETTERS, _MAX_LISTED, _COMPOUNDING = 45, 10, frozenset({"de", "nl"})
# Vietnamese words have at most 7 letters. Longer words without accents may be foreign.
_MAX_VIETNAMESE = 12
# A glued word consists of at least this many words, with at least this many letters on average:
# names of chemicals contain shorter words, compounds fewer.
_MIN_WORDS, _MIN_MEAN = 4, 3
# URLs, mail addresses and code have no spaces.
_CODE = re.compile(r"[@_\\=#&%|~<>{}\[\]+*]|://|www\.|\w\.[a-zà-ÿ]")
# Matches where a token is split into words: at a dash, and in "createChat", which is code. German
# nouns begin with a capital even if they are glued to the word before.
_BREAK = re.compile(r"[-–—/]|(?<=[a-zß-ÿа-я])(?=[A-ZÀ-ÞА-Я])")
_GERMAN_BREAK = re.compile(r"[-–—/]")
_NUMBER_WITHIN = re.compile(r"[^\W\d_]\d+[^\W\d_]")
_NO_LETTER = re.compile(r"[\W\d_]+")


def language_of(text: str) -> str:
    """The language of a page by its frequent words; English if it cannot be identified.

    If no frequent word stands alone, they are looked for within words.
    """
    text = text.lower()
    words = Counter(text.split())
    counts = {code: sum(words[word] for word in listed) for code, listed in _FREQUENT.items()}
    fewest = 1
    if not any(counts.values()):
        fewest = _MIN_WITHIN
        counts = {
            code: sum(text.count(word) for word in listed if len(word) > 2)
            for code, listed in _FREQUENT.items()
        }
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] >= fewest else "en"


def is_glued(line: str, language: str) -> bool:
    """Whether a line contains words without spaces between them."""
    split = _GERMAN_BREAK.split if language == "de" else _BREAK.split
    tokens = (token for token in line.split() if len(token) >= _MAX_VIETNAMESE)
    return any(
        _is_glued_word(word, language)
        for token in tokens
        if not (_CODE.search(token) or UNSPACED.search(token))
        for word in split(token)
    )


def _is_glued_word(word: str, language: str) -> bool:
    parts = list(filter(None, _NO_LETTER.split(word)))
    letters = "".join(parts).lower()
    if language == "vi":
        return len(letters) >= _MAX_VIETNAMESE and not letters.isascii()
    if len(letters) > max(_MAX_LETTERS, _MAX_LISTED * len(parts)) and language not in _COMPOUNDING:
        return True
    if len(letters) < _MIN_LETTERS or language not in known_words.LANGUAGES:
        return False
    has_number = _NUMBER_WITHIN.search(word) is not None
    return _is_sentence(letters[:_MAX_LETTERS], language, has_number=has_number)


def _is_sentence(text: str, language: str, *, has_number: bool) -> bool:
    """Whether a text without spaces ("Room12costs89euros") contains as many known words as a
    sentence, with a frequent word or a number among them."""
    # For each position: the minimum number of words and unknown letters before it, and the negative
    # number of frequent words among them.
    best = [(0, -has_number)]
    for end in range(1, len(text) + 1):
        count, frequent = best[end - 1]
        found = [(count + 1, frequent)]
        for start in range(end - 1):
            word = text[start:end]
            if known_words.is_word(word, language):
                count, frequent = best[start]
                found.append((count + 1, frequent - (word in _FREQUENT[language])))
        best.append(min(found))
    count, frequent = best[-1]
    return frequent < 0 and _MIN_WORDS <= count <= len(text) / _MIN_MEAN
