"""The bot's reply to a message: load, guard, gather, decide, say.

Each stage hands its result to the next one: `gather` reads, `decide` has the rules, `say` stores.
"""

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from bots.models import Approval
from bots.services import answers, suggested_headings
from bots.services.answers import Unanswered
from chatplatform import jobs
from chats.models import Message
from chats.services.core import fast_sql, messages
from chats.services.reply import billing, call_confirmations, decide, gather, say
from chats.services.reply.decide import (
    AskEngine,
    Decision,
    Gap,
    HandoffWishes,
    StaySilent,
)
from chats.services.reply.streams import ReplyStream


def answer(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """Answer a customer's message, or hand the conversation over; may be called twice.

    `earlier`: messages shortly before it that share its reply.
    """
    message = gather.load(message_id)
    confirmation = call_confirmations.settle(message, earlier) if message else None
    if confirmation:
        message = gather.load(message_id)  # a call takes its time: the chat as it is after it
    if message is None:
        return  # deleted meanwhile: nobody waits
    stream = ReplyStream(message.pk)
    if not billing.is_still_used_up(message.conversation) and gather.is_owed_a_reply(message):
        if jobs.current_attempt() > 1:
            stream.reset()
        burst = gather.load_burst(message, earlier)
        facts = gather.facts_for(message, burst, confirmation)
        decision = decide.from_facts(facts)
        if isinstance(decision, AskEngine):
            first = burst[0] if decision.approved_by == Approval.NONE else message
            decision = ask_engine(
                message,
                decision,
                facts.wishes,
                stream,
                before_seq=first.seq,
                is_waiting=facts.is_waiting,
            )
        if not facts.is_waiting:
            decision = decide.ask_next(decision, facts.info)
        say.publish(message, decision, earlier=earlier, filled=facts.info.filled)
    stream.done()


def give_up(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """No attempt is left: a person must answer."""
    message = gather.load(message_id)
    if message is None:
        return
    if not fast_sql.is_answered(message):
        say.publish(message, decide.ENGINE_FAILED, earlier=earlier)
    # The worker calls it inside a transaction: who waits must find the stored handover.
    transaction.on_commit(ReplyStream(message.pk).done)


def ask_engine(
    message: Message,
    asking: AskEngine,
    wishes: HandoffWishes,
    stream: ReplyStream,
    *,
    before_seq: int,
    is_waiting: bool = False,
) -> Decision:
    """What follows an engine's answer. The credits for it are reserved first."""
    chat = message.conversation
    request = gather.request_for(message, asking, before_seq=before_seq)
    # A function may need somebody's approval: while the chat waits for an agent none is called.
    request = replace(request, subject=None if is_waiting else gather.subject_of(message))
    if not billing.reserve(message, request.engine):
        return StaySilent() if is_waiting else decide.OUT_OF_CREDITS
    outcome = answers.answer(chat.bot, request, stream)
    gap = Gap()
    if isinstance(outcome, Unanswered) and wishes.asks_again and not is_waiting:
        is_first = not messages.has_gap(chat, before_seq=before_seq)
        gap = Gap(
            is_first,
            suggested_headings.nearest(chat.bot, request, outcome.trace) if is_first else (),
        )
    return decide.from_outcome(outcome, wishes, gap=gap, is_waiting=is_waiting)
