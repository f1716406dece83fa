"""Splits an answer into sentences to show one by one, and into statements for the judge."""

import re

from bots.language import language_data

# Matches citations in any form, and other remarks in brackets.
_CITED = r"(?:\s*[\[(【［][^\[\]()【】［］\n]{1,90}[\])】］])*"
# A sentence ends only where the next sentence begins: until then a citation may follow.
_END = re.compile(
    rf"(?<![.!?…؟।])[.!?…؟।]+[\"'”’»)*_]*{_CITED}(?=\s+[^\s\[(【［])"
    rf"|[。！？]+[”’」』]*{_CITED}(?=\s*[^\s\[(【［])"
    r"|\n(?=\s{0,99}+[^\s\[])"
)
# Enough characters to recognize how a text ends.
_TAIL = 16
_TITLE = re.compile(rf"\b{language_data.pattern('sentences', 'titles')}\.[ \t]*\Z", re.IGNORECASE)
# Matches a possible abbreviation or ordinal number; it is one if a lower-case letter follows.
_LONG = language_data.pattern("sentences", "long_abbreviations")
_POSSIBLE_ABBREVIATION = re.compile(rf"(?:(?<!['’])\b[^\W\d_]{{1,4}}|{_LONG}|\d)\.[ \t]*\Z")
_SMALL_LETTER = re.compile(r"[ \t]*[a-zß-öø-ÿа-я]")
_FIGURE_ABBREVIATION = re.compile(
    rf"\b{language_data.pattern('sentences', 'before_figures')}\.[ \t]*\Z", re.IGNORECASE
)
_FIGURE = re.compile(r"[ \t]*\d")
_INITIAL = re.compile(r"\b[^\W\d_]\.[ \t]*\Z")
_ORDINAL = re.compile(r"\d\.[ \t]*\Z")
_MONTH = re.compile(rf"\s*{language_data.pattern('sentences', 'months')}", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
# Matches a letter of a script without spaces, or of Korean, whose words are long. Such letters are
# counted instead of words.
_WIDE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# List numbers, headings, questions and lines that end in a colon belong to what follows them. So do
# lines of a few words that have no digits and are not sentences.
_LABEL = re.compile(
    r"\s*+(?:\d{1,2}[.)]|#[^\n]*\n|[^\[\]]*:[*_]*[ \t]*\n|[^\[\]]*[?？؟][\"'”’»)*_]*)\s*"
)
_FEW_WORDS = re.compile(r"(?:[^\[\]\w.!?]|_)*+[^\W\d_][^\[\]\d.!?]*\n\s{0,99}")


def sentences(text: str, start: int = 0) -> list[str]:
    """Split a text into sentences, each with the spaces after it; the last may be incomplete.

    Ends of sentences are only looked for from `start` on.
    """
    ends = [match.end() for match in _END.finditer(text, start)]
    found = [""]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        piece = text[start:end]
        if found[-1] and not _ends_in_abbreviation(found[-1], piece):
            found.append("")
        found[-1] += piece
    return found


def statements(answer: str) -> list[str]:
    """Split the whole answer into one or more parts, which a judge confirms one by one.

    A part that says little by itself is joined to another part. A bare figure or a few words are
    joined to the part before, a list number or a heading to the part after, and "31." to its month.
    """
    found = [""]
    label = ""
    for piece in sentences(answer):
        text, label = label + piece, ""
        if _is_label(piece) or (text != piece and not piece.strip()):
            label = text
        elif _is_fragment(text) or _is_fragment(found[-1]) or _may_continue(found[-1], piece):
            found[-1] += text
        else:
            found.append(text)
    if _is_fragment(label) or _is_fragment(found[-1]):
        return [*found[:-1], found[-1] + label]
    return [*found, label]


def _ends_in_abbreviation(before: str, piece: str) -> bool:
    """Whether `before` ends in an abbreviation or ordinal number and its sentence continues."""
    tail = before[-_TAIL:]
    return bool(
        _TITLE.search(tail)
        or (_POSSIBLE_ABBREVIATION.search(tail) and _SMALL_LETTER.match(piece))
        or (_FIGURE_ABBREVIATION.search(tail) and _FIGURE.match(piece))
    )


def _may_continue(before: str, piece: str) -> bool:
    """Whether the sentence may continue after an initial, or an ordinal number before a month."""
    tail = before[-_TAIL:]
    is_month = _ORDINAL.search(tail) and _MONTH.match(piece)
    return bool(_INITIAL.search(tail) or is_month)


def _is_label(piece: str) -> bool:
    return bool(_LABEL.fullmatch(piece) or (_is_fragment(piece) and _FEW_WORDS.fullmatch(piece)))


def _is_fragment(text: str) -> bool:
    return len(_WORD.findall(text)) < 4 and len(_WIDE.findall(text)) < 6
