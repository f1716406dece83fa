"""Golden questions from several sources, among them what customers ask a bot most often."""

from collections import Counter
from typing import Any

from bots.models import Bot, GoldenOrigin, GoldenQuestion
from bots.services import golden_questions
from bots.shapes.golden import GoldenCollectRequest
from chats.models import Message, SenderType
from identity.models import User

# How many of the bot's newest answers are read, and how many questions are taken from them.
_LOOKED_AT, _TAKEN = 2000, 20
_LONGEST = 300


def collect(bot: Bot, *, body: GoldenCollectRequest, by: User) -> list[GoldenQuestion]:
    """Add golden questions from the requested source; existing ones stay unchanged."""
    origin = GoldenOrigin(body.source)
    found = {
        GoldenOrigin.SAMPLES: golden_questions.from_samples,
        GoldenOrigin.ANSWERS: golden_questions.from_answers,
        GoldenOrigin.ASKED: most_asked,
    }[origin](bot)
    return golden_questions.add_many(bot, found, origin=origin, by=by)


def most_asked(bot: Bot) -> list[dict[str, Any]]:
    """The answered questions that customers recently asked most, each with its answer's source."""
    rows = Message.objects.for_client(bot.client).filter(
        conversation__bot=bot,
        conversation__is_preview=False,
        sender_type=SenderType.BOT,
        receipt__decision="answered",
        in_reply_to__isnull=False,
    )
    latest = rows.order_by("-id").values_list("in_reply_to__text", "citations")[:_LOOKED_AT]
    counts: Counter[str] = Counter()
    newest: dict[str, dict[str, Any]] = {}
    for text, citations in latest:
        question = " ".join(text.split())
        if not question or len(question) > _LONGEST:
            continue
        key = question.casefold().rstrip("?!. ")
        counts[key] += 1
        source = citations[0]["title"] if citations else ""
        newest.setdefault(key, {"question": question, "expected_source": source[:_LONGEST]})
    return [newest[key] for key, _ in counts.most_common(_TAKEN)]
