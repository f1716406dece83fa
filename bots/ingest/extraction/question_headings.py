"""Turns the questions in a document into the headings of their answers."""

import re
from collections.abc import Iterable

from bots.ingest.extraction.document import Section
from bots.language import language_data
from bots.language.normalization import QUESTION_MARKS

_NUMBER = re.compile(
    rf"^(?:[-*•]\s+)?(?:{language_data.pattern('headings', 'questions')}?"
    r"\s*\d{0,3}(?:\.\d{1,2})*\s*[.:)]\s+)?"
)
_ANSWER = re.compile(rf"^{language_data.pattern('headings', 'answers')}\s*[.:]\s+")
_ITEM = re.compile(r"\s*(?:[-*•–·▪◦]|\(?\d{1,3}[.)])\s")
MAX_QUESTION_WORDS = 45
# "Have you seen the message above?" continues the text and means nothing without it.
_POINTS_BACK = re.compile(
    rf"\b{language_data.pattern('headings', 'pointing_back')}\b", re.IGNORECASE
)


def as_headings(sections: Iterable[Section]) -> list[Section]:
    """Start a new section after each question of the sections, with the question as its heading.

    Questions without an answer, as in a table of contents, are left out unless nothing would
    remain.
    """
    sections = list(sections)
    split = [part for section in sections for part in _split(section)]
    return [part for part in split if part.text.strip()] or sections


def _split(section: Section) -> list[Section]:
    heading, parts, paragraphs = section.heading, [], list[str]()
    for paragraph in re.split(r"\n\s*\n", section.text):
        question, rest = _question(paragraph)
        if question:
            parts.append(Section(heading, "\n\n".join(paragraphs), section.page))
            above = "" if section.heading.endswith(QUESTION_MARKS) else section.heading
            heading = f"{above} > {question}" if above else question
            paragraphs = []
        if rest.strip():
            paragraphs.append(_ANSWER.sub("", rest))
    return [*parts, Section(heading, "\n\n".join(paragraphs), section.page)]


def _question(paragraph: str) -> tuple[str, str]:
    """The question on the first lines of a paragraph, or "", and the rest of the paragraph."""
    lines = paragraph.split("\n")
    for count in range(1, min(4, len(lines)) + 1):
        text = " ".join(" ".join(lines[:count]).split())
        if text.endswith(QUESTION_MARKS) and len(text.split()) <= MAX_QUESTION_WORDS:
            # In "Which color? - red - blue" the question introduces a list.
            if count < len(lines) and _ITEM.match(lines[count]):
                break
            if _POINTS_BACK.search(text):
                break
            return _NUMBER.sub("", text), "\n".join(lines[count:])
    return "", paragraph
