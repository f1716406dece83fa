"""Questions that a document itself answers: each becomes the heading of its answer."""

import re
from collections.abc import Iterable

from bots.knowledge.extract.document import Section

_NUMBER = re.compile(
    r"^(?:[-*•]\s+)?(?:(?:Q|Question|Câu hỏi|Hỏi)?\s*\d{0,3}(?:\.\d{1,2})*\s*[.:)]\s+)?"
)
_ANSWER = re.compile(r"^(?:A|Answer|Trả lời|Đáp)\s*[.:]\s+")
_ITEM = re.compile(r"\s*(?:[-*•–·▪◦]|\(?\d{1,3}[.)])\s")
_ASKS = ("?", "？", "؟")
MAX_QUESTION_WORDS = 45
# "Have you seen the message above?" goes on with the text, and says nothing away from it.
_POINTS_BACK = re.compile(r"\b(?:above|oben|phía trên|ở trên)\b", re.IGNORECASE)


def as_headings(sections: Iterable[Section]) -> list[Section]:
    """The sections, with a new one below each paragraph that is a question.

    Questions without an answer are left out, as in a table of contents, unless nothing is left.
    """
    sections = list(sections)
    split = [part for section in sections for part in _split(section)]
    return [part for part in split if part.text.strip()] or sections


def _split(section: Section) -> list[Section]:
    heading, parts, taken = section.heading, [], list[str]()
    for paragraph in re.split(r"\n\s*\n", section.text):
        question, rest = _question(paragraph)
        if question:
            parts.append(Section(heading, "\n\n".join(taken), section.page))
            above = "" if section.heading.endswith(_ASKS) else section.heading
            heading = f"{above} > {question}" if above else question
            taken = []
        if rest.strip():
            taken.append(_ANSWER.sub("", rest))
    return [*parts, Section(heading, "\n\n".join(taken), section.page)]


def _question(paragraph: str) -> tuple[str, str]:
    """A question that stands on lines of its own, and what follows it in the paragraph."""
    lines = paragraph.split("\n")
    for count in range(1, min(4, len(lines)) + 1):
        text = " ".join(" ".join(lines[:count]).split())
        if text.endswith(_ASKS) and len(text.split()) <= MAX_QUESTION_WORDS:
            # In "Which colour? - red - blue" the question announces a list.
            if count < len(lines) and _ITEM.match(lines[count]):
                break
            if _POINTS_BACK.search(text):
                break
            return _NUMBER.sub("", text), "\n".join(lines[count:])
    return "", paragraph
