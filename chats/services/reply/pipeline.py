"""The bot's reply to a message: load, guard, gather, decide, say.

Each stage hands its result to the next one. `decide` has the rules, `say` stores what they decide.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import IntegrityError, transaction

from bots.engine import intents
from bots.engine.types import Line
from bots.services import answers, engines
from chatplatform import jobs
from chats.models import Conversation, Message, SenderType
from chats.services.core import messages
from chats.services.reply import call_confirmations, decide, say
from chats.services.reply.decide import AskEngine, Decision, Facts, HandoffWishes
from chats.services.reply.streams import ReplyStream

HISTORY_LINES = 6


def answer(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """Answer a customer's message, or hand the conversation over; may be called twice.

    `earlier`: messages shortly before it that share its reply.
    """
    message = load(message_id)
    if message is None:
        return  # deleted meanwhile: nobody waits
    stream = ReplyStream(message.pk)
    if is_owed_a_reply(message):
        reply(message, earlier, stream)
    stream.done()


def reply(message: Message, earlier: Sequence[str], stream: ReplyStream) -> None:
    """Gather, decide and say."""
    if jobs.current_attempt() > 1:
        stream.reset()
    burst = load_burst(message, earlier)
    facts = gather(message, burst)
    decision = decide.from_facts(facts)
    if isinstance(decision, AskEngine):
        first = message if decision.follows_call else burst[0]
        decision = ask_engine(message, decision, facts.wishes, stream, before_seq=first.seq)
    try:
        say.publish(message, decision, earlier=earlier)
    except IntegrityError:
        # message_one_reply: another worker's reply was first; ours is dropped.
        if not is_answered(message):
            raise


def give_up(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """No attempt is left: a person must answer."""
    message = load(message_id)
    if message is None:
        return
    if not is_answered(message):
        say.publish(message, decide.ENGINE_FAILED, earlier=earlier)
    # The worker calls it inside a transaction: who waits must find the stored handover.
    transaction.on_commit(ReplyStream(message.pk).done)


def load(message_id: str) -> Message | None:
    """A customer's message with all that a reply to it needs; None if it was deleted."""
    rows = Message.objects.select_related(
        "conversation__bot", "conversation__client__config", "conversation__customer"
    )
    return rows.filter(pk=message_id).first()


def load_burst(message: Message, earlier: Sequence[str]) -> list[Message]:
    """The messages that share a reply, in their order."""
    if not earlier:
        return [message]
    rows = Message.objects.filter(pk__in=earlier, conversation_id=message.conversation_id)
    return [*rows.order_by("seq"), message]


def is_answered(message: Message) -> bool:
    """Whether a reply to the message is stored."""
    return Message.objects.filter(
        in_reply_to=message, sender_type__in=[SenderType.BOT, SenderType.SYSTEM]
    ).exists()


def is_owed_a_reply(message: Message) -> bool:
    """The guard: whether the message has no reply yet, and the bot is to give it."""
    return not is_answered(message) and message.conversation.is_bots_turn


def gather(message: Message, burst: Sequence[Message]) -> Facts:
    """All that the rules need to know. A call that the customer confirms is made here."""
    texts = tuple(row.text for row in burst if row.text.strip())
    chat, config = message.conversation, message.conversation.client.config
    # A question is not lost between a greeting and a thank-you.
    questions = [text for text in texts if not intents.small_talk(text)]
    return Facts(
        is_bot_disabled=chat.bot.is_disabled,
        texts=texts,
        question="\n".join(questions),
        small_talk=intents.small_talk(texts[-1]) if texts else None,
        asks_for_person=any(map(intents.asks_for_person, texts)),
        confirmation=(
            call_confirmations.read(message, texts[-1])
            if texts and not chat.bot.is_disabled
            else None
        ),
        wishes=HandoffWishes(config.handoff_on_no_answer, config.handoff_on_request),
    )


def ask_engine(
    message: Message,
    asking: AskEngine,
    wishes: HandoffWishes,
    stream: ReplyStream,
    *,
    before_seq: int,
) -> Decision:
    """What follows an engine's answer. The credits for it are reserved first."""
    chat, config = message.conversation, message.conversation.client.config
    engine = engines.engine_for(chat.client, chat.bot)
    if not say.reserve_credits(message, engine):
        return decide.OUT_OF_CREDITS
    turn = answers.Turn(
        text=asking.question,
        language=message.language,
        history=_history(chat, before_seq=before_seq),
        engine=engine,
        subject=call_confirmations.subject_of(message),
        threshold=config.answer_threshold,
        fallback_to_extractive=config.fallback_to_extractive,
        deadline_seconds=settings.LLM_DEADLINE_SECONDS,
        attempt=jobs.current_attempt(),
        search=asking.search,
        follows_call=asking.follows_call,
    )
    outcome = answers.answer(chat.bot, turn, stream)
    return decide.from_outcome(outcome, wishes)


def _history(chat: Conversation, *, before_seq: int) -> tuple[Line, ...]:
    rows = messages.history(chat).filter(seq__gt=chat.read_from_seq, seq__lt=before_seq)
    latest = list(rows.order_by("-seq")[:HISTORY_LINES])
    return tuple(
        Line("customer" if row.sender_type == SenderType.CUSTOMER else "assistant", row.text)
        for row in reversed(latest)
    )
