"""Cuts an answer into sentences, which are shown one by one, and statements, which are judged."""

import re

# A citation in whatever form, and any other remark in brackets.
_CITED = r"(?:\s*[\[(【［][^\[\]()【】［］\n]{1,90}[\])】］])*"
# A sentence has ended when the next one has begun: until then a citation may follow.
_END = re.compile(
    rf"(?<![.!?…؟।])[.!?…؟।]+[\"'”’»)*_]*{_CITED}(?=\s+[^\s\[(【［])"
    rf"|[。！？]+[”’」』]*{_CITED}(?=\s*[^\s\[(【［])"
    r"|\n(?=\s{0,99}+[^\s\[])"
)
# So many characters tell how a text ends.
_TAIL = 16
_TITLE = re.compile(r"\b(?:dr|mrs?|ms|prof)\.[ \t]*\Z", re.IGNORECASE)
# What ends like this may be shortened, or an ordinal number: it is, if a small letter follows.
_MAYBE_SHORTENED = re.compile(r"(?:(?<!['’])\b[^\W\d_]{1,4}|approx|\d)\.[ \t]*\Z")
_SMALL_LETTER = re.compile(r"[ \t]*[a-zß-öø-ÿа-я]")
_BEFORE_A_FIGURE = re.compile(
    r"\b(?:abs|approx|ca|excl|exkl|incl|inkl|max|min|mind|no|nr|str|tel|zzgl"
    r"|mon|tues?|wed|thu|fri|sat|sun)\.[ \t]*\Z",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[ \t]*\d")
_INITIAL = re.compile(r"\b[^\W\d_]\.[ \t]*\Z")
_ORDINAL = re.compile(r"\d\.[ \t]*\Z")
_MONTH = re.compile(r"\s*(?:jan|feb|mär|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])", re.I)
_WORD = re.compile(r"[^\W\d_]+")
# Of a script without spaces, or with long words, letters are counted.
_WIDE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# The number of a list, a heading, a line that ends in a colon, a question: they belong to what
# follows. So does a line of a few words, if it is no sentence and has no figure.
_LABEL = re.compile(
    r"\s*+(?:\d{1,2}[.)]|#[^\n]*\n|[^\[\]]*:[*_]*[ \t]*\n|[^\[\]]*[?？؟][\"'”’»)*_]*)\s*"
)
_FEW_WORDS = re.compile(r"(?:[^\[\]\w.!?]|_)*+[^\W\d_][^\[\]\d.!?]*\n\s{0,99}")


def sentences(text: str, start: int = 0) -> list[str]:
    """The sentences of a text with what stands between them; the last one may go on.

    No sentence is known to end before `start`.
    """
    ends = [match.end() for match in _END.finditer(text, start)]
    found = [""]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        piece = text[start:end]
        if found[-1] and not _is_shortened(found[-1], piece):
            found.append("")
        found[-1] += piece
    return found


def statements(answer: str) -> list[str]:
    """All of an answer in the parts that a judge confirms one by one, at least one.

    What says little by itself stands with its neighbour: a bare figure, a mark or a few words with
    what they answer; the number of a list and a heading with what follows; "31." with its month.
    """
    found = [""]
    label = ""
    for piece in sentences(answer):
        text, label = label + piece, ""
        if _is_label(piece) or (text != piece and not piece.strip()):
            label = text
        elif _says_little(text) or _says_little(found[-1]) or _goes_on(found[-1], piece):
            found[-1] += text
        else:
            found.append(text)
    if _says_little(label) or _says_little(found[-1]):
        return [*found[:-1], found[-1] + label]
    return [*found, label]


def _is_shortened(before: str, piece: str) -> bool:
    """Whether a text was cut behind an abbreviation or an ordinal number, not behind a sentence."""
    tail = before[-_TAIL:]
    return bool(
        _TITLE.search(tail)
        or (_MAYBE_SHORTENED.search(tail) and _SMALL_LETTER.match(piece))
        or (_BEFORE_A_FIGURE.search(tail) and _FIGURE.match(piece))
    )


def _goes_on(before: str, piece: str) -> bool:
    """Whether a sentence may go on: behind an initial, or an ordinal number with its month."""
    tail = before[-_TAIL:]
    is_month = _ORDINAL.search(tail) and _MONTH.match(piece)
    return bool(_INITIAL.search(tail) or is_month)


def _is_label(piece: str) -> bool:
    return bool(_LABEL.fullmatch(piece) or (_says_little(piece) and _FEW_WORDS.fullmatch(piece)))


def _says_little(text: str) -> bool:
    return len(_WORD.findall(text)) < 4 and len(_WIDE.findall(text)) < 6
