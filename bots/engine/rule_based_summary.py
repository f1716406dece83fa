"""Summaries without a model, which quote the conversation or text and compose no sentences.

A text is summarized by its beginning, since extracting "key sentences" kept no more of what
matters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bots.engine.types import Line
from bots.ingest import chunking
from bots.language import intents, phrasebook
from bots.language.normalization import QUESTION_MARKS

MAX_QUOTE_CHARS = 300
MAX_KEY_POINTS = 5


@dataclass(frozen=True)
class Digest:
    """A structured summary: labels in `language`, everything else quoted or counted."""

    language: str
    summary: str
    key_points: list[str]
    customer_intent: str
    resolution: str


def of_conversation(
    lines: Sequence[Line], *, language: str, tags: Sequence[str], sentiment: str | None
) -> Digest:
    """Summarize a conversation by its messages, tags and sentiment.

    The summary has a labeled line for the number of messages, the first request, each of the two
    latest messages, the tags and the sentiment. The key points are the open questions.
    """
    books = phrasebook.all_books()
    language = phrasebook.base_of(language) if phrasebook.base_of(language) in books else "en"
    label = books[language].labels
    request = _first_request(lines, language)
    parts = [f"{label['count']}: {len(lines)}"]
    if request:
        parts.append(f"{label['request']}: {request}")
    # A repeated message, or one that is the first request, is shown once.
    latest = {_quote(line.text): line.role for line in lines[-2:]}
    parts += [f"{label[role]}: {text}" for text, role in latest.items() if text != request]
    if tags:
        parts.append(f"{label['tags']}: {', '.join(tags)}")
    if sentiment:
        parts.append(f"{label['sentiment']}: {label[sentiment]}")
    return Digest(
        language=language,
        summary="\n".join(parts),
        key_points=[f"{label['question']}: {question}" for question in _open_questions(lines)],
        customer_intent=request,
        resolution=_resolution(lines, language=language),
    )


def of_text(text: str, *, max_words: int) -> tuple[str, list[str]]:
    """The first sentences of a text, up to `max_words` words, and its key points.

    The key points are the first sentences of the paragraphs after the first.
    """
    lead_sentences: list[str] = []
    words = 0
    sentences = [sentence.strip() for sentence in chunking.split_sentences(text)]
    for sentence in filter(None, sentences):
        words += len(sentence.split())
        if lead_sentences and words > max_words:
            break
        lead_sentences.append(sentence)
    lead = " ".join(" ".join(lead_sentences).split()[:max_words])
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
    points = [_quote(chunking.split_sentences(part)[0]) for part in paragraphs[1:]]
    return lead, points[:MAX_KEY_POINTS]


def _first_request(lines: Sequence[Line], language: str) -> str:
    """The customer's first message that is more than small talk (see `says_nothing`), if any."""
    texts = [line.text for line in lines if line.role == "customer" and line.text.strip()]
    request = next((text for text in texts if not says_nothing(text, language=language)), "")
    return _quote(request)


def may_be_solved(lines: Sequence[Line], *, language: str) -> bool:
    """Whether there is a resolution, or the last reply is an answer and no question and nothing but
    small talk follows."""
    replies = _latest_replies(lines, language=language)
    is_answered = bool(replies) and replies[-1].is_answer and not _is_question(replies[-1].text)
    return is_answered or bool(_resolution(lines, language=language))


def _resolution(lines: Sequence[Line], *, language: str) -> str:
    """The last sentence in which an agent says what was done or agreed; empty if there is none.

    It must stand in the latest replies, and not in one that was rated poor.
    """
    sentences = [
        sentence
        for line in _latest_replies(lines, language=language)
        if line.is_answer and not line.is_bots
        for sentence in chunking.split_sentences(line.text)
        if not _is_question(sentence) and phrasebook.reports_outcome(sentence)
    ]
    return _quote(sentences[-1]) if sentences else ""


def _latest_replies(lines: Sequence[Line], *, language: str) -> list[Line]:
    """The replies since the customer last wrote more than small talk (see `says_nothing`)."""
    replies: list[Line] = []
    for line in lines:
        if line.role == "assistant":
            replies.append(line)
        elif not says_nothing(line.text, language=language):
            replies = []
    return replies


def _is_question(text: str) -> bool:
    return text.rstrip().endswith(QUESTION_MARKS)


def says_nothing(text: str, *, language: str) -> bool:
    """Whether a customer's message is only small talk or an "ok", or asks for a person."""
    return bool(
        intents.small_talk(text, language=language)
        or intents.asks_for_person(text)
        or intents.is_satisfied(text, language=language)
    )


def open_request(lines: Sequence[Line], *, language: str) -> tuple[str, tuple[str, ...]]:
    """What the customer still wants to know, and their earlier questions, the latest first.

    What they want to know is all that they have asked since the last reply. If they have only made
    small talk or asked for a person since, it is their last question before that.
    """
    asked: list[str] = []
    since_reply: list[str] = []
    for line in lines:
        if line.role == "assistant":
            since_reply = []
        elif not says_nothing(line.text, language=language):
            asked.append(line.text)
            since_reply.append(line.text)
    count = len(since_reply) or 1
    return "\n".join(asked[-count:]), tuple(reversed(asked[:-count]))


def _open_questions(lines: Sequence[Line]) -> list[str]:
    """The customer's sentences since the latest reply that end in a question mark."""
    last_answer = max((at for at, line in enumerate(lines) if line.role == "assistant"), default=-1)
    unanswered = [line.text for line in lines[last_answer + 1 :]]
    questions = [
        _quote(sentence)
        for text in unanswered
        for sentence in chunking.split_sentences(text)
        if _is_question(sentence)
    ]
    return questions[:MAX_KEY_POINTS]


def _quote(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= MAX_QUOTE_CHARS else f"{plain[: MAX_QUOTE_CHARS - 1]}…"
