"""Extracts the verifiable facts of a text: links, addresses, telephone numbers and figures."""

import re
import unicodedata
from typing import NamedTuple

from bots.language.normalization import normalize

# These characters reverse what follows: a reader sees 49 if the text has 94.
_OVERRIDE = re.compile("[\u202d\u202e]")
# Characters that are invisible inside a figure or a link: zero-width marks, direction marks, and
# the marks that turn a digit into an emoji.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff\u20e3]")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)*+")
_HANDLE = re.compile(r"(?<!\w)@\w[\w.]*\w")
# With these endings a link may be in upper or lower case. Any other ending must be in lower case:
# "room.The" is not a link.
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
# Grouped digits, as in a telephone number; not dates or figures with grouped thousands.
_GROUPED = re.compile(r"(?<![\w.,:])\+?\(?\d(?:(?:[ /-]|\)[ /-]?| ?\()?\d){6,30}(?![\d:%]|[.,]\d)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
# A dot, comma or apostrophe before exactly three digits groups thousands.
_THOUSANDS = re.compile(r"(?<=\d)[.,'’](?=\d{3}(?!\d))")
_FULL_HOUR = re.compile(r"(?<=\d):00\b")
_LIST_NUMBER = re.compile(r"^[^\S\n]*+\d{1,2}[.)](?:\s|\Z)", re.MULTILINE)


class Facts(NamedTuple):
    """The facts of a text, each normalized so that equal facts compare equal."""

    # Links, email addresses and handles, and characters that reverse what follows.
    addresses: set[str]
    phones: set[str]
    figures: set[str]


def facts_of(text: str) -> Facts:
    """The facts that a text states; the numbers of a numbered list do not count."""
    addresses = set(_OVERRIDE.findall(text))
    text = readable(text)
    for pattern in (_EMAIL, _LINK, _HANDLE):
        addresses |= {_address(found) for found in pattern.findall(text)}
        text = pattern.sub(" ", text)
    phones = {digits_of(found) for found in _GROUPED.findall(text) if not _DATE.fullmatch(found)}
    text = _LIST_NUMBER.sub(" ", _GROUPED.sub(_without_phone, text))
    return Facts(addresses - {""}, phones, figures_of(text))


def figures_of(text: str) -> set[str]:
    """All figures of a text, including those inside links and telephone numbers."""
    text = _FULL_HOUR.sub("", _THOUSANDS.sub("", readable(text)))
    return set(map(_figure, _FIGURE.findall(text)))


def readable(text: str) -> str:
    """The text without characters that hide a fact from a program but not from a reader."""
    return _UNSEEN.sub("", normalize("NFKC", text))


def digits_of(text: str) -> str:
    """The digits of a text in any script, written as 0 to 9."""
    return "".join(str(unicodedata.decimal(sign)) for sign in text if sign.isdecimal())


def _address(found: str) -> str:
    # Paths are case-sensitive, but an address that differs only in case was not invented.
    found = found.lower().rstrip(_LINK_END)
    return _LINK_START.sub("", found, count=1)


def _without_phone(found: re.Match[str]) -> str:
    return found[0] if _DATE.fullmatch(found[0]) else " "


def _figure(found: str) -> str:
    """Normalize a figure, so that equal figures such as 5,50 and 5.5 match."""
    whole, _, rest = re.sub("[.,]", ".", found).partition(".")
    whole, rest = digits_of(whole).lstrip("0") or "0", digits_of(rest).rstrip("0")
    return f"{whole}.{rest}" if rest else whole
