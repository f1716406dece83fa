"""Finds the spaces of a PDF page that are not drawn, by the gaps between its letters."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median_low
from typing import Any

# In multiples of the font size: a gap is a space if it is at least _WIDER wider than the usual gap
# between the letters of its word, and at least _JUMP wider than every gap that is no space.
_WIDER, _JUMP = 0.1, 0.08
# In points: how far a letter may be from where its text begins.
_TOLERANCE = 0.5


@dataclass(frozen=True)
class SpacedText:
    """A span of pdf_oxide with spaces added."""

    text: str
    bbox: Any
    page_bbox: Any
    char_widths: Sequence[float]


def with_spaces(document: Any, number: int, spans: Sequence[Any]) -> Sequence[Any]:
    """Add spaces to the spans of a page wherever letters are as far apart as words.

    pdf_oxide joins words that a file places one by one. Rotated text is left as it is.
    """
    if not any(map(_has_gaps, spans)):
        return spans
    rows: dict[int, list[Any]] = defaultdict(list)
    for letter in document.extract_chars(number):
        if letter.char.strip():
            rows[round(letter.bbox[1])].append(letter)
    for row in rows.values():
        row.sort(key=_left)
    return [_spaced(span, rows) if _has_gaps(span) else span for span in spans]


def _left(letter: Any) -> float:
    return float(letter.bbox[0])


def _right(letter: Any) -> float:
    return float(letter.bbox[0] + letter.bbox[2])


def _has_gaps(span: Any) -> bool:
    """Whether a span is wider than its letters."""
    gaps = span.bbox[2] - sum(span.char_widths)
    return bool(span.bbox == span.page_bbox and gaps >= _WIDER * span.bbox[3] > 0)


def _spaced(span: Any, rows: dict[int, list[Any]]) -> Any:
    drawn = span.text.split()
    words = [part for word in _letters(span, drawn, rows) for part in _parts(word, span.bbox[3])]
    if len(words) == len(drawn) or not words:
        return span
    widths: list[float] = []
    for word, following in pairwise([*words, []]):
        widths += [_left(right) - _left(left) for left, right in pairwise(word)]
        widths.append(float(word[-1].bbox[2]))
        if following:
            widths.append(_left(following[0]) - _right(word[-1]))
    text = " ".join("".join(letter.char for letter in word) for word in words)
    return SpacedText(text, span.bbox, span.page_bbox, widths)


def _letters(span: Any, words: Sequence[str], rows: dict[int, list[Any]]) -> list[list[Any]]:
    """The letters of each word of a span; none if the page does not show them in this order."""
    row = rows.get(round(span.bbox[1]), [])
    first = bisect_left(row, span.bbox[0] - _TOLERANCE, key=_left)
    text = "".join(words)
    starts = {0, *accumulate(map(len, words))}
    found: list[list[Any]] = []
    at = 0
    for letter in row[first : first + len(text)]:
        if not text.startswith(letter.char, at):
            return []
        if at in starts:
            found.append([])
        found[-1].append(letter)
        at += len(letter.char)
        if at == len(text):
            return found
    return []


def _parts(word: Sequence[Any], size: float) -> list[list[Any]]:
    """Split the letters of a word where the gap between two of them is a space."""
    gaps = [(_left(right) - _right(left)) / size for left, right in pairwise(word)]
    if not gaps:
        return [list(word)]
    usual = median_low(gaps)
    space = next(
        (
            wider
            for narrower, wider in pairwise(sorted(gaps))
            if wider >= usual + _WIDER and wider >= narrower + _JUMP
        ),
        float("inf"),
    )
    parts = [[word[0]]]
    for letter, gap in zip(word[1:], gaps, strict=True):
        if gap >= space:
            parts.append([])
        parts[-1].append(letter)
    return parts
