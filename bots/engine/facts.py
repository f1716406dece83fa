"""The facts of a text that can be looked up: links, addresses, telephone numbers and figures."""

import re
import unicodedata
from typing import NamedTuple

from bots.knowledge.words import normalize

# They reverse what follows: a reader sees 49 where the text has 94.
_OVERRIDE = re.compile("[\u202d\u202e]")
# What no reader sees inside a figure or a link: zero-width and direction marks, and what turns a
# digit into a picture.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff\u20e3]")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)*+")
_HANDLE = re.compile(r"(?<!\w)@\w[\w.]*\w")
# These make a link in any case; any other ending only in small letters: "room.The" is none.
_ENDINGS = "com|net|org|info|biz|shop|app|dev|io|ai|co|vn|de|es|fr|uk|ru|cn"
_LINK = re.compile(
    r"\b(?i:[a-z][a-z0-9+.-]{0,15}://|(?:javascript|vbscript|data|mailto|tel):|www\.)[^\s<>\"]+"
    # The target of a link in Markdown or HTML.
    r"|(?:(?<=\]\()|(?<=href=[\"'])|(?<=src=[\"']))[^\s<>\"')]+"
    rf"|(?<![\w-])(?:[\w-]++\.){{1,10}}(?:(?i:{_ENDINGS}|xn--[\w-]++)|[^\W\d_A-Z]{{2,24}})(?![^\W_])"
    r"(?::\d+)?(?:[/?#][^\s<>\"]*)?"
)
_LINK_END = ".,;:!?)]}*'’”»/"
_LINK_START = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//(?:www\.)?|www\.")
# Digits in groups. A date or a figure whose thousands are grouped is no telephone number.
_GROUPED = re.compile(r"(?<![\w.,:])\+?\(?\d(?:(?:[ /-]|\)[ /-]?| ?\()?\d){6,30}(?![\d:%]|[.,]\d)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
# A dot, comma or apostrophe before exactly three digits groups thousands.
_THOUSANDS = re.compile(r"(?<=\d)[.,'’](?=\d{3}(?!\d))")
_FULL_HOUR = re.compile(r"(?<=\d):00\b")
_LIST_NUMBER = re.compile(r"^[^\S\n]*+\d{1,2}[.)](?:\s|\Z)", re.MULTILINE)


class Facts(NamedTuple):
    """The facts of a text, each in the form in which equal ones are equal."""

    # Links, e-mail addresses and handles; a character that reverses what follows is one too.
    addresses: set[str]
    phones: set[str]
    figures: set[str]


def facts_of(text: str) -> Facts:
    """The facts that a text states. The numbers of a list are none."""
    addresses = set(_OVERRIDE.findall(text))
    text = readable(text)
    for pattern in (_EMAIL, _LINK, _HANDLE):
        addresses |= {_address(found) for found in pattern.findall(text)}
        text = pattern.sub(" ", text)
    phones = {digits_of(found) for found in _GROUPED.findall(text) if not _DATE.fullmatch(found)}
    text = _LIST_NUMBER.sub(" ", _GROUPED.sub(_without_phone, text))
    return Facts(addresses - {""}, phones, figures_of(text))


def figures_of(text: str) -> set[str]:
    """All figures of a text, those of its links and telephone numbers too."""
    text = _FULL_HOUR.sub("", _THOUSANDS.sub("", readable(text)))
    return set(map(_figure, _FIGURE.findall(text)))


def readable(text: str) -> str:
    """A text without the characters that hide a fact from a program and not from a reader."""
    return _UNSEEN.sub("", normalize("NFKC", text))


def digits_of(text: str) -> str:
    """The digits of a text, those of any script as 0 to 9."""
    return "".join(str(unicodedata.decimal(sign)) for sign in text if sign.isdecimal())


def _address(found: str) -> str:
    # Paths are case-sensitive, but an address that differs in case alone is not invented.
    found = found.lower().rstrip(_LINK_END)
    return _LINK_START.sub("", found, count=1)


def _without_phone(found: re.Match[str]) -> str:
    return found[0] if _DATE.fullmatch(found[0]) else " "


def _figure(found: str) -> str:
    """One form for equal figures: 5,50 and 5.5."""
    whole, _, rest = re.sub("[.,]", ".", found).partition(".")
    whole, rest = digits_of(whole).lstrip("0") or "0", digits_of(rest).rstrip("0")
    return f"{whole}.{rest}" if rest else whole
