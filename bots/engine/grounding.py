"""The check of an answer: it cites what exists, and invents no link, address or figure."""

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
    text: str, snippets: tuple[Snippet, ...], usage: Usage, heard: str | None = None
) -> tuple[str, tuple[int, ...]]:
    """The answer without citations of nothing, and what it cites; raises NotGrounded.

    `heard` is what functions returned: an answer that rests on it needs no snippet.
    """
    known = {snippet.number: snippet for snippet in snippets}
    mentioned = [int(n) for group in _CITATION.findall(text) for n in group.split(",")]
    cited = tuple(dict.fromkeys(number for number in mentioned if number in known))
    if not cited and heard is None:
        raise NotGrounded("The answer cites no snippet that exists.", usage=usage)
    sources = [known[number] for number in cited]
    evidence = "\n".join([heard or "", *(f"{s.title}\n{s.url or ''}\n{s.text}" for s in sources)])
    said = _facts(_CITATION.sub(" ", text))
    if not said <= _facts(evidence):
        raise NotGrounded("The answer states what its snippets do not hold.", usage=usage)
    return _without_unknown(text, known), cited


def _without_unknown(text: str, known: dict[int, Snippet]) -> str:
    def kept(match: re.Match[str]) -> str:
        numbers = [int(number) for number in match[1].split(",") if int(number) in known]
        return f"[{', '.join(map(str, numbers))}]" if numbers else ""

    return _CITATION.sub(kept, text).strip()


def _facts(text: str) -> set[tuple[str, str]]:
    """What must not be invented: links, e-mail addresses and figures, in a comparable form."""
    text = unicodedata.normalize("NFKC", text)
    emails = {("email", found.lower()) for found in _EMAIL.findall(text)}
    text = _EMAIL.sub(" ", text)
    links = {("link", _link(found)) for found in _LINK.findall(text)}
    text = _LIST_NUMBER.sub(" ", _LINK.sub(" ", text))
    figures = {("figure", _figure(found)) for found in _FIGURE.findall(_GROUPING.sub("", text))}
    return emails | links | figures


def _link(found: str) -> str:
    # The host and scheme know no case; a path does, but a difference in case is no invention.
    return found.rstrip(_LINK_END).rstrip("/").lower()


def _figure(found: str) -> str:
    """One spelling for a number: 5,50 and 5.5 are the same, and so are digits of any script."""
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else "." for c in found)
    whole, dot, rest = plain.partition(".")
    rest = rest.rstrip("0")
    return f"{whole.lstrip('0') or '0'}{dot if rest else ''}{rest}"
