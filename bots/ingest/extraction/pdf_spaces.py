"""Corrects the spaces in the text of a PDF page by the gaps between its letters.

pdf_oxide joins words that a file places one by one, and splits words whose letters it places one by
one.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from statistics import median_low
from typing import Any

# In multiples of the font size: a gap is a space if it is at least _WIDER wider than the usual gap
# between the letters of its word, and at least _JUMP wider than every gap that is not a space.
# A space that is not drawn is removed if its gap differs by at most _SAME from the usual gap.
_WIDER, _JUMP, _SAME = 0.1, 0.08, 0.04
# In points: how far to the left of its span the first letter may begin.
_TOLERANCE = 0.5


@dataclass(frozen=True)
class SpacedText:
    """A span of pdf_oxide with corrected spaces."""

    text: str
    bbox: Any
    page_bbox: Any
    char_widths: Sequence[float]


def with_spaces(document: Any, number: int, spans: Sequence[Any]) -> Sequence[Any]:
    """Add spaces where letters are as far apart as words, and remove spaces inside words.

    Drawn spaces and rotated text are left unchanged.
    """
    if not any(map(_is_misfit, spans)):
        return spans
    rows: dict[int, list[Any]] = defaultdict(list)
    for letter in document.extract_chars(number):
        rows[round(letter.bbox[1])].append(letter)
    after_space = set[int]()
    for at, row in rows.items():
        row.sort(key=_left)
        after_space |= {id(right) for left, right in pairwise(row) if not left.char.strip()}
        rows[at] = [letter for letter in row if letter.char.strip()]
    return [_spaced(span, rows, after_space) if _is_misfit(span) else span for span in spans]


def _left(letter: Any) -> float:
    return float(letter.bbox[0])


def _right(letter: Any) -> float:
    return float(letter.bbox[0] + letter.bbox[2])


def _is_misfit(span: Any) -> bool:
    """Whether a span that is not rotated is wider or narrower than its letters and spaces."""
    difference = abs(span.bbox[2] - sum(span.char_widths))
    return bool(span.bbox == span.page_bbox and difference >= _WIDER * span.bbox[3] > 0)


def _spaced(span: Any, rows: dict[int, list[Any]], after_space: set[int]) -> Any:
    drawn = span.text.split()
    whole = _rejoin(_letters(span, drawn, rows), span.bbox[3], after_space)
    words = [part for word in whole for part in _parts(word, span.bbox[3])]
    if not words or [len(word) for word in words] == [len(word) for word in drawn]:
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
    """The letters of each word of a span; none if the page has other letters there."""
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


def _rejoin(words: Sequence[list[Any]], size: float, after_space: set[int]) -> Sequence[list[Any]]:
    """Join the words that are as close to each other as letters, without a drawn space."""
    gaps = [_gap(left, right, size) for left, right in pairwise(chain(*words))]
    usual = median_low(gaps) if gaps else 0.0
    if usual >= _WIDER:
        return words  # If all words have one letter, the usual gap is that between words.
    joined: list[list[Any]] = []
    for word in words:
        is_torn = (
            bool(joined)
            and id(word[0]) not in after_space
            and abs(_gap(joined[-1][-1], word[0], size) - usual) <= _SAME
        )
        if is_torn:
            joined[-1] += word
        else:
            joined.append([*word])
    return joined


def _gap(left: Any, right: Any, size: float) -> float:
    return (_left(right) - _right(left)) / size


def _parts(word: Sequence[Any], size: float) -> list[list[Any]]:
    """Split a word where the gap between two letters is a space."""
    gaps = [_gap(left, right, size) for left, right in pairwise(word)]
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
