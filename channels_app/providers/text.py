"""Fits texts to channels: splits them at the limit, and writes choices as lines."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from channels_app.providers.types import Choice, OutgoingFile, Part

# The maximum number of code points in one visible character; a longer one may be split.
_MAX_CODE_POINTS = 40


def split(text: str, limit: int, *, size: Callable[[str], int] = len) -> list[str]:
    """Split a text into pieces of at most `limit`: after a paragraph, line, sentence or word if
    possible."""
    pieces = []
    rest = text.strip()
    while size(rest) > limit:
        cut = _longest_prefix(rest, limit, size)
        head = rest[:cut]
        for mark in ("\n\n", "\n", ". ", " "):
            position = head.rfind(mark)
            # A very short piece would read worse than a split sentence.
            if position > cut // 3:
                cut = position + len(mark)
                break
        pieces.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return [piece for piece in (*pieces, rest) if piece]


def with_choices(
    part: Part, limit: int, *, fits: bool, size: Callable[[str], int] = len
) -> list[Part]:
    """The pieces of a text. If `fits`, the choices are attached to the last piece; otherwise they
    become lines of the text."""
    words = part.text if fits else as_lines(part.text, part.choices)
    pieces = [Part(text=piece) for piece in split(words, limit, size=size)]
    if pieces and fits:
        pieces[-1] = replace(pieces[-1], choices=part.choices)
    return pieces


def as_captions(
    content: Sequence[Part],
    limit: int,
    *,
    has_caption: Callable[[OutgoingFile], bool],
    size: Callable[[str], int] = len,
) -> list[Part]:
    """The content, in which a text before a file is the file's caption if it is short enough."""
    joined = list[Part]()
    for part in content:
        before = joined[-1] if joined else Part()
        is_other = before.choices or before.file or before.place or before.template
        words = before.text.strip()
        fits = not is_other and 0 < size(words) <= limit
        if fits and part.file and not (part.text or part.template) and has_caption(part.file):
            joined[-1] = replace(part, text=words)
        else:
            joined.append(part)
    return joined


def as_lines(text: str, choices: Sequence[Choice]) -> str:
    """A text with its choices as a numbered list, for choices that cannot be buttons."""
    lines = [f"{number}. {choice.title}" for number, choice in enumerate(choices, start=1)]
    return "\n".join([text, *lines] if text else lines)


def utf8_bytes(text: str) -> int:
    """The size of a text in bytes of UTF-8."""
    return len(text.encode())


def utf16_units(text: str) -> int:
    """The size of a text in code units of UTF-16."""
    return len(text.encode("utf-16-le", "replace")) // 2


def _longest_prefix(text: str, limit: int, size: Callable[[str], int]) -> int:
    """How many code points fit without splitting a visible character, such as a composed emoji."""
    fit = bisect_right(range(1, len(text) + 1), limit, key=lambda cut: size(text[:cut])) or 1
    for cut in range(fit, max(fit - _MAX_CODE_POINTS, 0), -1):
        if not _joins(text[cut - 1], text[cut : cut + 1]):
            return cut
    return fit


def _joins(left: str, right: str) -> bool:
    """Whether two code points form one visible character (joiner, variant, mark, skin tone)."""
    if not right:
        return False
    code = ord(right)
    return (
        left == "\u200d"
        or code == 0x200D
        or 0xFE00 <= code <= 0xFE0F
        or 0x0300 <= code <= 0x036F
        or 0x1F3FB <= code <= 0x1F3FF
    )
