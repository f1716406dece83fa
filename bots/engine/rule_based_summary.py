"""Summarizes conversations and texts without a model, by quoting them.

A text is summarized by its beginning: extracted "key sentences" contained no more of what matters.
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
    """The customer's first message with something to answer; empty if there is none."""
    texts = [line.text for line in lines if line.role == "customer" and line.text.strip()]
    return _quote(
        next((text for text in texts if not has_nothing_to_answer(text, language=language)), "")
    )


def may_be_solved(lines: Sequence[Line], *, language: str) -> bool:
    """Whether an agent reported a resolution, or the last reply is an answer that asks nothing back
    and only small talk follows it."""
    replies = _latest_replies(lines, language=language)
    is_answered = bool(replies) and replies[-1].is_answer and not _is_question(replies[-1].text)
    return is_answered or bool(_resolution(lines, language=language))


def _resolution(lines: Sequence[Line], *, language: str) -> str:
    """The last sentence of the latest replies in which an agent reports what was done or agreed.

    Empty if there is none. Replies that were rated poor do not count.
    """
    sentences = [
        sentence
        for line in _latest_replies(lines, language=language)
        if line.is_answer and not line.is_from_bot
        for sentence in chunking.split_sentences(line.text)
        if not _is_question(sentence) and phrasebook.reports_outcome(sentence)
    ]
    return _quote(sentences[-1]) if sentences else ""


def _latest_replies(lines: Sequence[Line], *, language: str) -> list[Line]:
    """The replies since the customer's last message with something to answer."""
    replies: list[Line] = []
    for line in lines:
        if line.role == "assistant":
            replies.append(line)
        elif not has_nothing_to_answer(line.text, language=language):
            replies = []
    return replies


def _is_question(text: str) -> bool:
    return text.rstrip().endswith(QUESTION_MARKS)


def has_nothing_to_answer(text: str, *, language: str) -> bool:
    """Whether a customer's message is only small talk or an "ok", or asks for a person."""
    return bool(
        intents.small_talk(text, language=language)
        or intents.asks_for_person(text)
        or intents.is_satisfied(text, language=language)
    )


def open_request(lines: Sequence[Line], *, language: str) -> tuple[str, tuple[str, ...]]:
    """The customer's open request, and their earlier questions, the latest first.

    The open request is everything that they have asked since the last reply, or their last question
    before it if they have asked nothing since. See `has_nothing_to_answer`.
    """
    asked: list[str] = []
    since_reply: list[str] = []
    for line in lines:
        if line.role == "assistant":
            since_reply = []
        elif not has_nothing_to_answer(line.text, language=language):
            asked.append(line.text)
            since_reply.append(line.text)
    count = len(since_reply) or 1
    return "\n".join(asked[-count:]), tuple(reversed(asked[:-count]))


def _open_questions(lines: Sequence[Line]) -> list[str]:
    """The customer's sentences since the latest reply that end in a question mark."""
    last_reply = max((at for at, line in enumerate(lines) if line.role == "assistant"), default=-1)
    unanswered = [line.text for line in lines[last_reply + 1 :]]
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
