"""Converts Markdown into text for channels, transcripts and emails, which do not render Markdown.
Bots and agents write a subset of it, which the widget renders (`static/common/rich_text.js`)."""

import re
from dataclasses import dataclass

# A bot's citations, such as [1] or [1, 2]; only the website shows their sources.
_CITATION = re.compile(r"\s*\[\d{1,4}(?:, ?\d{1,4})*\]")
_FENCE = re.compile(r"^```\w*\n?(.*?)\n?(?:```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6}\s+(\S.*?)\s*#*$", re.MULTILINE)
_BULLET = re.compile(r"^( {0,8})[*•]\s+(?=\S)", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_BOLD = re.compile(r"\*\*(?=\S)(.+?\S?)\*\*(?!\*)")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]+)\]\((https?://[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)\)")


@dataclass(frozen=True)
class Marks:
    """The marks that a channel puts around bold words and code; empty if the channel has none."""

    bold: str = ""
    code: str = ""


NO_MARKS = Marks()


def convert(text: str, *, marks: Marks = NO_MARKS, is_citing: bool = False) -> str:
    """The text with a channel's own marks in place of Markdown's. `is_citing`: the text contains
    citations, such as [1], which are removed."""
    pieces = _FENCE.split(text)
    # Every second piece is code.
    converted = [
        f"{marks.code}{piece}{marks.code}"
        if index % 2
        else _convert_text(piece, marks, is_citing=is_citing)
        for index, piece in enumerate(pieces)
    ]
    return "".join(converted).strip()


def _convert_text(text: str, marks: Marks, *, is_citing: bool) -> str:
    if is_citing:
        text = _CITATION.sub("", text)
    text = _BULLET.sub(r"\1- ", text)
    text = _HEADING.sub(lambda found: f"**{found[1].replace('**', '')}**", text)
    text = _LINK.sub(_link_as_text, text)
    text = _CODE.sub(rf"{marks.code}\1{marks.code}", text)
    return _BOLD.sub(rf"{marks.bold}\1{marks.bold}", text)


def _link_as_text(link: re.Match[str]) -> str:
    words, url = link.groups()
    return url if words == url else f"{words} ({url})"
