"""The stages of the bot's reply to a message: load the message, check whether the bot may reply,
gather facts, decide, publish."""

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac

from bots.engine import Capability
from bots.models import Approval
from bots.search import question_splitting
from bots.services import answers, engines, fallback_suggestions, function_runner
from bots.services.answers import AnswerRequest, Unanswered
from chatplatform import jobs
from chats.models import Message
from chats.services.core import automated_messages, fast_sql, messages, reply_policy
from chats.services.reply import (
    billing,
    call_confirmations,
    customer_media,
    decide,
    gather,
    procedure_runner,
    publishing,
)
from chats.services.reply.decide import AskEngine, Decision, Facts, HandOver, KnowledgeGap
from chats.services.reply.streams import ReplyStream


def answer(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """Reply to a customer's message or hand the conversation over; safe to call again. `earlier`
    are the ids of the preceding messages that share the reply."""
    loaded, confirmation = _load_transcribed(message_id, earlier), None
    if loaded and loaded.has_asked_for_call:
        confirmation = call_confirmations.resolve(loaded, earlier, subject_of(loaded.message))
    if confirmation:
        loaded = fast_sql.load_message(message_id)  # the chat may have changed during the call
    if loaded is None:
        return  # the message was deleted, so nobody waits for a reply
    message = loaded.message
    stream = ReplyStream(message.pk)
    if not loaded.is_answered and reply_policy.may_begin(message.conversation, loaded.reply_scope):
        if jobs.current_attempt() > 1:
            stream.reset()
        facts = gather.facts_for(message, earlier, confirmation)
        turn = procedure_runner.turn_of(message, facts, subject_of(message))
        decision = turn.decision if turn else decide.from_facts(facts)
        if isinstance(decision, AskEngine):
            decision = ask_engine(message, decision, facts, stream)
        if isinstance(decision, HandOver):
            decision = decide.ask_before_person(decision, facts.info)
        if turn and turn.waiting:
            decision = turn.waiting.with_question_repeated(decision)
        publishing.publish_reply(message, decision, earlier=earlier, filled=facts.info.filled)
    stream.done()


def _load_transcribed(message_id: str, earlier: Sequence[str]) -> fast_sql.LoadedMessage | None:
    """Transcribe the voice notes among the messages that share the reply, and load the message;
    None if it was deleted."""
    loaded = fast_sql.load_message(message_id)
    if loaded is None or loaded.is_answered:
        return loaded
    burst = gather.load_burst(loaded.message, earlier)
    if not customer_media.transcribe(loaded.message.conversation, burst):
        return loaded
    return fast_sql.load_message(message_id)  # the chat may have changed during transcription


def give_up(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """After the job's last attempt, hand the conversation over to a person."""
    loaded = fast_sql.load_message(message_id)
    if loaded is None:
        return
    if not loaded.is_answered:
        publishing.publish_reply(loaded.message, decide.ENGINE_FAILED, earlier=earlier)
    # The worker calls this in a transaction. The stream must end after the commit, because the
    # waiting requests then read the stored handover.
    transaction.on_commit(ReplyStream(loaded.message.pk).done)


def ask_engine(message: Message, asking: AskEngine, facts: Facts, stream: ReplyStream) -> Decision:
    """Reserve the credits, ask the engine, and decide by its outcome. If the engine chooses a
    procedure, start the procedure instead."""
    chat = message.conversation
    # A yes to a call is not a question, so the engine gets the preceding messages as history.
    before_seq = facts.first_seq if asking.approved_by == Approval.NONE else message.seq
    request = request_for(message, asking, facts, before_seq=before_seq)
    if not billing.reserve(message, request.engine, call=asking.approved_call):
        return decide.from_outcome(None, facts)
    try:
        outcome, gap = answers.answer(chat.bot, request, stream), KnowledgeGap()
    except answers.ProcedureBegins as begins:
        return procedure_runner.start(
            message, begins.procedure, subject_of(message), trace=begins.trace
        )
    asks_again = facts.handoff_policy.asks_again and facts.texts and not facts.is_waiting
    if isinstance(outcome, Unanswered) and asks_again:
        is_first = not messages.has_knowledge_gap(chat, before_seq=before_seq)
        gap = KnowledgeGap(
            is_first,
            fallback_suggestions.nearest(chat.bot, request, outcome.trace) if is_first else (),
        )
    return decide.from_outcome(outcome, facts, gap=gap)


def request_for(
    message: Message, asking: AskEngine, facts: Facts, *, before_seq: int
) -> AnswerRequest:
    """The request to the engine; a model gets the chat's latest lines before `before_seq`."""
    chat, config = message.conversation, message.conversation.client.config
    engine = engines.engine_for(chat.client, chat.bot)
    is_model = Capability.WRITE in engine.capabilities
    # A short question may continue an earlier one, so the engine gets the earlier questions, too.
    may_follow_up = question_splitting.may_follow_up(asking.question)
    return AnswerRequest(
        text=asking.question,
        language=message.language,
        # Functions may need an approval, so none is called while the chat waits for an agent.
        subject=None if facts.is_waiting else subject_of(message),
        history=fast_sql.latest_lines(chat, before=before_seq) if is_model else (),
        engine=engine,
        threshold=config.answer_threshold,
        fallback_to_extractive=config.fallback_to_extractive,
        deadline_seconds=settings.LLM_DEADLINE_SECONDS,
        attempt=jobs.current_attempt(),
        approved_by=asking.approved_by,
        topics=messages.answered_before(chat, before_seq=before_seq) if may_follow_up else (),
        sentence=lambda name: (
            automated_messages.sentence(name, language=message.language, chat=chat).text
        ),
        wanted=facts.wanted,
        pictures=customer_media.pictures(chat, facts.picture_ids) if facts.picture_ids else (),
        fence=salted_hmac("bots.fence", str(chat.pk)).hexdigest()[:8],
        verify_answer=config.confirm_answers,
    )


def subject_of(message: Message) -> function_runner.Subject:
    """The customer for whom functions are called: the customer of the message's conversation. In a
    preview, the external id is left out."""
    chat = message.conversation
    external_id = None if chat.is_preview else chat.customer.external_id
    return function_runner.Subject(chat.pk, message.pk, external_id)
