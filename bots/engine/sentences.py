"""Cuts an answer into sentences, which are checked, and statements, which a model confirms."""

import re

_CITED = r"(?:\s*\[\d[\d,\s]*\])*"
# A sentence has ended when the next one has begun: until then a citation may follow.
_END = re.compile(
    rf"(?<![.!?…؟।])[.!?…؟।]+[\"'”’»)*_]*{_CITED}(?=\s+[^\s\[])"
    rf"|[。！？]+[”’」』]*{_CITED}(?=\s*[^\s\[])"
    r"|\n(?=\s*[^\s\[])"
)
# Behind these a sentence goes on.
_SHORTENED = re.compile(
    r"\b(?:[a-z]|approx|bzw|ca|dr|evtl|excl|exkl|ggf|hrs|incl|inkl|max|min|mind|mr|mrs|ms|nr|prof"
    r"|std|tel|vs|zzgl|mon|tues?|wed|thu|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sept?|oct|okt|nov"
    r"|dec|dez)\.[ \t]*$",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\d\.[ \t]*$")
_GOES_ON = re.compile(r"(?i:jan|feb|mär|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])|[a-zäöü]")
_WORD = re.compile(r"[^\W\d_]+")
# Of a script without spaces, or with long words, letters are counted.
_WIDE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# The number of a list, a heading, a bold line, a line that ends in a colon, a question: they belong
# to what follows.
_LABEL = re.compile(r"\s*(?:\d{1,2}[.)]|(?:#.*|\*\*[^*]+\*\*|[^\[\]]*:)\s*\n|[^\[\]]*\?)\s*")


def sentences(text: str) -> list[str]:
    """The sentences of a text with what stands between them; the last one may go on."""
    ends = [match.end() for match in _END.finditer(text)]
    found = [""]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        if found[-1] and not _SHORTENED.search(found[-1]):
            found.append("")
        found[-1] += text[start:end]
    return found


def statements(answer: str) -> list[str]:
    """All of an answer in the parts that a model confirms one by one, at least one.

    What says little by itself stands with its neighbour: a bare figure, a mark or a few words with
    what they answer; the number of a list and a heading with what follows; "31." with its month.
    """
    found = [""]
    label = ""
    for piece in sentences(answer):
        text, label = label + piece, ""
        if _LABEL.fullmatch(piece) or (text != piece and not piece.strip()):
            label = text
        elif _says_little(text) or _says_little(found[-1]) or _is_month_of(found[-1], piece):
            found[-1] += text
        else:
            found.append(text)
    found[-1] += label
    return found


def _says_little(text: str) -> bool:
    return len(_WORD.findall(text)) < 4 and len(_WIDE.findall(text)) < 6


def _is_month_of(before: str, piece: str) -> bool:
    return bool(_ORDINAL.search(before) and _GOES_ON.match(piece.lstrip()))
