"""The check of an answer: its citations exist, and it invents no link, address or figure."""

import re
import unicodedata

from bots.engine.types import NotGrounded, Snippet, Usage

_CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_LINK = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,15}://[^\s<>\"]+"
    r"|\b(?:javascript|vbscript|data|mailto|tel):[^\s<>\"]+"
    r"|\bwww\.[^\s<>\"]+"
    r"|\b(?:[\w-]+\.)+(?:com|net|org|info|biz|shop|app|dev|io|ai|co|vn|de|es|fr|uk|ru|cn)\b"
    r"(?:/[^\s<>\"]*)?",
    re.IGNORECASE,
)
_LINK_END = ".,;:!?)]}*'’”»"
# A dot, comma, apostrophe or narrow space before exactly three digits groups thousands.
_GROUPING = re.compile(r"(?<=\d)[.,'’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_LIST_NUMBER = re.compile(r"^\s*\d{1,2}[.)]\s", re.MULTILINE)


def checked(
    text: str, snippets: tuple[Snippet, ...], usage: Usage, results: str | None = None
) -> tuple[str, tuple[int, ...]]:
    """The answer without wrong citations, and the numbers that it cites; raises NotGrounded.

    `results` is what functions returned; with them an answer needs no snippet.
    """
    by_number = {snippet.number: snippet for snippet in snippets}
    mentioned = [int(n) for group in _CITATION.findall(text) for n in group.split(",")]
    cited = tuple(dict.fromkeys(number for number in mentioned if number in by_number))
    if not cited and results is None:
        raise NotGrounded("The answer cites no snippet that exists.", usage=usage)
    sources = [by_number[number] for number in cited]
    evidence = "\n".join([results or "", *(f"{s.title}\n{s.url or ''}\n{s.text}" for s in sources)])
    if not _facts(_CITATION.sub(" ", text)) <= _facts(evidence):
        raise NotGrounded("The answer states what its snippets do not hold.", usage=usage)
    return _without_wrong_citations(text, set(by_number)), cited


def _without_wrong_citations(text: str, valid: set[int]) -> str:
    def corrected(match: re.Match[str]) -> str:
        numbers = [int(number) for number in match[1].split(",") if int(number) in valid]
        return f"[{', '.join(map(str, numbers))}]" if numbers else ""

    return _CITATION.sub(corrected, text).strip()


def _facts(text: str) -> set[tuple[str, str]]:
    """The links, e-mail addresses and figures of a text, in a comparable form."""
    text = unicodedata.normalize("NFKC", text)
    emails = {("email", email.lower()) for email in _EMAIL.findall(text)}
    text = _EMAIL.sub(" ", text)
    links = {("link", _link(link)) for link in _LINK.findall(text)}
    text = _LIST_NUMBER.sub(" ", _LINK.sub(" ", text))
    figures = {("figure", _figure(figure)) for figure in _FIGURE.findall(_GROUPING.sub("", text))}
    return emails | links | figures


def _link(link: str) -> str:
    # Paths are case-sensitive, but a link that differs in case only is not invented.
    return link.rstrip(_LINK_END).rstrip("/").lower()


def _figure(figure: str) -> str:
    """One form for equal numbers, such as 5,50 and 5.5, and for the digits of all scripts."""
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else "." for c in figure)
    whole, dot, rest = plain.partition(".")
    rest = rest.rstrip("0")
    return f"{whole.lstrip('0') or '0'}{dot if rest else ''}{rest}"
