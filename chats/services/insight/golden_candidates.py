"""Collects golden questions from sample questions, from questions with written answers, or from
the questions that customers ask most."""

from collections import Counter
from typing import Any

from bots.models import Bot, GoldenOrigin, GoldenQuestion
from bots.schemas.golden import GoldenCollectRequest
from bots.services import golden_questions
from chats.models import Message, SenderType
from identity.models import User

# How many of the bot's newest answers are read, and the maximum number of questions from them.
_MAX_ANSWERS, _MAX_QUESTIONS = 2000, 20
# The maximum number of characters in a question and in a source's title.
_MAX_CHARS = 300


def collect(bot: Bot, *, body: GoldenCollectRequest, by: User) -> list[GoldenQuestion]:
    """Add golden questions from the requested source, and return the new ones. Existing golden
    questions stay unchanged."""
    origin = GoldenOrigin(body.source)
    candidates = {
        GoldenOrigin.SAMPLES: golden_questions.from_samples,
        GoldenOrigin.ANSWERS: golden_questions.from_answers,
        GoldenOrigin.ASKED: most_asked,
    }[origin](bot)
    return golden_questions.add_many(bot, candidates, origin=origin, by=by)


def most_asked(bot: Bot) -> list[dict[str, Any]]:
    """The answered questions that customers recently asked most often, each with its answer's
    source."""
    rows = Message.objects.for_client(bot.client).filter(
        conversation__bot=bot,
        conversation__is_preview=False,
        sender_type=SenderType.BOT,
        receipt__decision="answered",
        in_reply_to__isnull=False,
    )
    latest = rows.order_by("-id").values_list("in_reply_to__text", "citations")[:_MAX_ANSWERS]
    counts: Counter[str] = Counter()
    candidates: dict[str, dict[str, Any]] = {}
    for text, citations in latest:
        question = " ".join(text.split())
        if not question or len(question) > _MAX_CHARS:
            continue
        key = question.casefold().rstrip("?!. ")
        counts[key] += 1
        source = citations[0]["title"] if citations else ""
        candidates.setdefault(key, {"question": question, "expected_source": source[:_MAX_CHARS]})
    return [candidates[key] for key, _ in counts.most_common(_MAX_QUESTIONS)]
