"""What a reply needs to know: the message, those that share its reply, and the facts for the rules.

Everything is read here, and nothing is decided or written.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from django.conf import settings

from bots.engine import intents
from bots.engine.types import Line
from bots.knowledge import question_analysis
from bots.services import engines, function_runner
from bots.services.answers import AnswerRequest
from chatplatform import jobs
from chats.models import AssignType, Conversation, Message, SenderType
from chats.services.core import bot_while_queued, fast_sql, messages, standard_replies
from chats.services.reply import asked_info
from chats.services.reply.decide import (
    AskEngine,
    ConfirmationReply,
    Facts,
    HandoffWishes,
    InfoFacts,
    ShortReply,
)

HISTORY_LINES = 6


def load(message_id: str) -> Message | None:
    """A customer's message with all that a reply to it needs; None if it was deleted."""
    return fast_sql.load_message(message_id)


def load_burst(message: Message, earlier: Sequence[str]) -> list[Message]:
    """The messages that share a reply, in their order."""
    if not earlier:
        return [message]
    rows = Message.objects.filter(pk__in=earlier, conversation_id=message.conversation_id)
    return [*rows.order_by("seq"), message]


def is_owed_a_reply(message: Message) -> bool:
    """The guard: whether the message has no reply yet, and the bot is to give it."""
    chat = message.conversation
    is_bots = chat.is_bots_turn or bot_while_queued.may_answer(chat)
    return is_bots and not fast_sql.is_answered(message)


def texts_of(burst: Sequence[Message]) -> tuple[str, ...]:
    """What the customer says; files alone have no text."""
    return tuple(row.text for row in burst if row.text.strip())


def facts_for(
    message: Message, burst: Sequence[Message], confirmation: ConfirmationReply | None
) -> Facts:
    """All that the rules need to know."""
    texts = texts_of(burst)
    is_waiting = message.conversation.assign_type == AssignType.QUEUE
    # A question is not lost between a greeting and a thank-you.
    questions = [text for text in texts if not intents.small_talk(text)]
    small_talk = intents.small_talk(texts[-1], language=message.language) if texts else None
    is_last_alone = len(questions) == 1 and small_talk is None
    short_reply = _short_reply(message, burst, texts[-1]) if is_last_alone else None
    return Facts(
        is_bot_disabled=message.conversation.bot.is_disabled,
        texts=texts,
        question="\n".join(questions),
        small_talk=small_talk,
        asks_for_person=any(map(intents.asks_for_person, texts)),
        confirmation=confirmation,
        wishes=_wishes(message.conversation),
        info=InfoFacts() if is_waiting else asked_info.facts_of(message, burst, texts),
        short_reply=short_reply,
        has_greeted=bool(small_talk == "greeting" or short_reply)
        and messages.has_greeted(message.conversation, before_seq=burst[0].seq),
        is_waiting=is_waiting,
    )


def _wishes(chat: Conversation) -> HandoffWishes:
    config = chat.client.config
    asks_again = config.ask_again_before_handoff
    if asks_again is None:
        asks_again = chat.channel != "api"
    return HandoffWishes(config.handoff_on_no_answer, config.handoff_on_request, asks_again)


def _short_reply(message: Message, burst: Sequence[Message], text: str) -> ShortReply | None:
    meant = intents.answer_to_more(text, language=message.language)
    if meant is None:
        return None
    is_content = intents.is_content(text, language=message.language)
    latest = messages.latest_of_ours(message.conversation, before_seq=burst[0].seq)
    return ShortReply(meant, is_content, _kind_of(latest))


def _kind_of(
    latest: Message | None,
) -> Literal["nothing", "greeting", "thanks", "quotation", "other"]:
    """What our latest message is, as far as a mere "ok" behind it depends on that."""
    if latest is None:
        return "nothing"
    receipt: Mapping[str, Any] = latest.receipt or {}
    if receipt.get("asks_for"):
        return "other"
    if latest.is_welcome or receipt.get("kind") == "greeting":
        return "greeting"
    if receipt.get("kind") == "thanks":
        return "thanks"
    is_quotation = receipt.get("decision") == "answered" and receipt.get("engine") == "embedded"
    return "quotation" if is_quotation else "other"


def request_for(message: Message, asking: AskEngine, *, before_seq: int) -> AnswerRequest:
    """What the engine is asked, without a subject: then no function is called."""
    chat, config = message.conversation, message.conversation.client.config
    return AnswerRequest(
        text=asking.question,
        language=message.language,
        subject=None,
        history=_history(chat, before_seq=before_seq),
        engine=engines.engine_for(chat.client, chat.bot),
        threshold=config.answer_threshold,
        fallback_to_extractive=config.fallback_to_extractive,
        deadline_seconds=settings.LLM_DEADLINE_SECONDS,
        attempt=jobs.current_attempt(),
        approved_by=asking.approved_by,
        topics=_topics(chat, asking.question, before_seq=before_seq),
        part_unknown=standard_replies.sentence(
            "part_unknown", language=message.language, chat=chat
        ).text,
        wanted=tuple(field["name"] for field in asked_info.wanted(chat)),
    )


def _topics(chat: Conversation, question: str, *, before_seq: int) -> tuple[str, ...]:
    """Earlier questions that a short one may go on from."""
    if not question_analysis.may_follow_up(question):
        return ()
    return messages.answered_before(chat, before_seq=before_seq)


def subject_of(message: Message) -> function_runner.Subject:
    """The customer of this conversation: calls are for nobody else."""
    customer = message.conversation.customer
    return function_runner.Subject(message.conversation_id, message.pk, customer.external_id)


def _history(chat: Conversation, *, before_seq: int) -> tuple[Line, ...]:
    latest = fast_sql.latest_lines(
        chat.pk, after=chat.read_from_seq, before=before_seq, limit=HISTORY_LINES
    )
    return tuple(
        Line("customer" if sender_type == SenderType.CUSTOMER else "assistant", text)
        for sender_type, text in latest
    )
