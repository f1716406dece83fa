"""Texts that make a careless pattern slow: runs, alternations, and what patterns look for."""

import random
from collections.abc import Iterator

from bots.language.normalization import normalize

LENGTH = 8_000

_UNITS = (
    # Figures, in all the ways in which they are written.
    "0", "1 ", "1 1 ", "1.", "1,", "1:", "1-", "-0", "1/", "12 ", "123,", "123.", "1,234.5 ",
    "1\u00a0",
    "+1", "+49 ", "0 ", "(030) ", "4111 1111 ", "01.02.2024 ", "2024-01-01 ", "12:30", "9h30",
    "1pm",
    "5 %", "€5 ", "5€", "$", "1 a ", "3 working days ", "20 triệu ", "1) ", "1.\n", "[1]", "[1,",
    "1a",
    "٣", "１，", "5 g ", "111,", "0 0", "up to 5 ", "until ",
    # Figures in words: alone, and in words that can be read in two ways.
    "two ", "twenty", "einen", "einundzwanzig", "quatre-vingt", "trentatre", "veinti", "hai mươi ",
    "двадцать", "vierentwintig", "hundert", "en", "million ",
    # Addresses.
    "a@", "a@a", "a@a.", "@a", "a.a@", "http://", "https://a.b/", "www.", "www.a.", "a.com ",
    "a.b.",
    "x-", "href=\"", "](", "[a](", "![a](", "[a]:", "://", "mailto:", "a dot ", " . ", "[at]",
    "[.]",
    # Signs.
    "(", ")", "((1", "[", "]", "{", "{{", "}", "<", "<a", "<a ", "</", "<!--x-->", "<!---", "\"",
    "\\\"",
    "'", "n't ", "“", "`", "``", ".", "..", ". ", "? ", "?!", "!", "-", "--", "—", "_", "*", "**",
    "**a ",
    "#", "# ", "## a\n", "|", "| a ", "|---|", "|a|b|\n", "> ", "===\n", "---\n", "```\n", "\\",
    "%20",
    "&amp;", "a=b&", ";", ", ", ",", ": ", "a: b, ", "- a: b, ", "- a\n", "Q: a\n", "+", "=",
    "\n=", ";=",
    # Spaces.
    " ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u2028", "\u3000", " \n", "  a", "a\n", "\n[",
    " #", ".\n",
    # Letters and words.
    "a", "A", "ä", "ab ", "a. ", "Word ", "Word, Word ", "x-y ", "don't ", "aed ", "hello ",
    "thanks, ",
    "and what ", "and ", "all ", "not ", "kein ", "không ", "nicht ", "we will send ",
    "we have sent ",
    "you can ", "if you ", "there is ", "free ", "no charge ", "January ", "third ", "my name is ",
    "ok, ", "yes. ", "please ", "delivry ", "person ", "I want a person. ", "e.g. ", "Dr. ", "a, ",
    "Sie ", "have been ", "done ", "?", "what? ", "and on Sundays? ",
    # Other scripts, and signs that become many or none.
    "こんにちは", "。", "字", "字1", "ก", "한", "हि", "م", "\ufdfa", "\ufdfb", "ﬁ", "½", "\u0301",
    "\u0327\u0301", "a\u0301", "\u0344", "ạ", "İ", "ß", "🙂", "🏽", "\ud800", "\x00", "\u200b",
    "\u202e",
)  # fmt: skip
_BEGINNINGS = (
    "+",
    "0",
    "a@",
    "[",
    "{",
    "<a ",
    '"',
    "- ",
    "# ",
    "| ",
    "a: ",
    "not ",
    "www.",
    "**",
    "1 ",
)
_REPEATED = ("1", "1 ", "a", "a ", " ", "\n", "-", "1,", "(")


def filled(unit: str, begin: str = "", end: str = "", *, length: int = LENGTH) -> str:
    """A unit again and again, between a beginning and an end."""
    return (begin + unit * (length // len(unit) + 1))[: length - len(end)] + end


def texts(*, mixed: int = 60) -> Iterator[str]:
    """Each unit repeated, runs behind a beginning and before an end, and random mixes."""
    yield from map(filled, _UNITS)
    for begin in _BEGINNINGS:
        for unit in _REPEATED:
            yield filled(unit, begin, "\x01")
    mix = random.Random(43)
    for size in (2, 3, 4, 40) * (mixed // 4):
        yield filled("".join(mix.sample(_UNITS, size)))


def signs_that_grow() -> list[str]:
    """Every sign that is more than one letter in NFKC."""
    every = map(chr, (*range(0xD800), *range(0xE000, 0x110000)))
    return [sign for sign in every if len(normalize("NFKC", sign)) > 1]
