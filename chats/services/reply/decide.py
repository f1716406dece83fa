"""What the bot does about a message: rules over facts, without any side effect."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bots.engine.types import Citation
from bots.knowledge.phrasebook import SmallTalk
from bots.models import Approval
from bots.services.answers import Answered, NeedsApproval, Outcome, Trace, Unanswered
from bots.services.function_calls import ProposedCall
from bots.services.slot_filling import AnswerKind


@dataclass(frozen=True)
class Receipt:
    """Why a message says what it says; stored with it as JSON."""

    decision: str | None = None
    trace: Trace | None = None
    # The kind of small talk.
    kind: str | None = None
    # The call that waits for an approval, or was declined.
    call_id: str | None = None
    credits: int | None = None
    # The messages of a burst that share the reply.
    answers: tuple[str, ...] | None = None
    # The customer-info field that the message asks for, and those that the customer's words filled.
    asks_for: str | None = None
    filled: tuple[str, ...] | None = None
    # The field that the customer's words passed over: it is asked for once more.
    passed_over: str | None = None
    # The customer is asked for other words, and the chat is not handed over yet.
    asked_again: bool | None = None
    # It was said while the chat waited for an agent.
    while_waiting: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields that apply, as they are stored."""
        fields = {name: value for name, value in vars(self).items() if value is not None}
        for name in ("answers", "filled"):
            if name in fields:
                fields[name] = list(fields[name])
        trace = fields.pop("trace", None)
        return (trace.to_json() if trace else {}) | fields


@dataclass(frozen=True)
class Answer:
    """The bot says what an engine has answered."""

    text: str
    citations: tuple[Citation, ...]
    receipt: Receipt


@dataclass(frozen=True)
class Offers:
    """What a customer may choose in place of other words: headings of the documents, a person."""

    headings: tuple[str, ...]
    person: bool


@dataclass(frozen=True)
class CannedReply:
    """The bot says a sentence of the platform's own, named here, worded in `standard_replies`."""

    name: str
    receipt: Receipt
    offers: Offers | None = None


@dataclass(frozen=True)
class AskCustomer:
    """The bot asks whether a call may be made."""

    call: ProposedCall
    receipt: Receipt


@dataclass(frozen=True)
class HandOver:
    """A person must answer; `call` waits for an agent's approval."""

    reason: str
    receipt: Receipt = field(default_factory=Receipt)
    call: ProposedCall | None = None
    # The canned reply that says it; None: the usual one of the reason.
    name: str | None = None


@dataclass(frozen=True)
class AskEngine:
    """No rule decides: an engine must answer, which costs credits."""

    question: str
    # Who has agreed to a call: the answer tells its result.
    approved_by: Approval = Approval.NONE


@dataclass(frozen=True)
class NoReply:
    """Nothing is said: an agent will answer."""

    receipt: Receipt = field(default_factory=Receipt)


Decision = Answer | CannedReply | AskCustomer | HandOver | NoReply


@dataclass(frozen=True)
class ConfirmationReply:
    """What a customer's message says about the call that they were asked to confirm."""

    answer: Literal["confirmed", "declined", "unclear"]
    call: ProposedCall


@dataclass(frozen=True)
class AskedField:
    """The customer-info field that our latest message asked for, and what the customer says to it.

    `may_repeat`: it was asked for only once.
    """

    name: str
    said: AnswerKind
    type: str = "text"
    may_repeat: bool = False


@dataclass(frozen=True)
class InfoFacts:
    """What the bot's customer-info fields have to do with a message."""

    asked: AskedField | None = None
    # The fields that the message fills; and that it says nothing else.
    filled: Mapping[str, Any] = field(default_factory=dict)
    is_all: bool = False
    # The field to ask for next, when it fits.
    next: str | None = None


@dataclass(frozen=True)
class ShortReply:
    """What a message is that holds a mere yes, a no or an "ok"; and what stands before it."""

    # What it is behind the question whether there is anything else.
    meant: SmallTalk
    is_content: bool
    # What our latest message is.
    behind: Literal["nothing", "greeting", "thanks", "quotation", "other"]


@dataclass(frozen=True)
class HandoffPolicy:
    """Whether the client wants a handover for these reasons."""

    on_no_answer: bool = True
    on_request: bool = True
    # At the first question without an answer the customer is asked for other words.
    asks_again: bool = False


@dataclass(frozen=True)
class KnowledgeGap:
    """A question without an answer: what there is beside it."""

    # The chat has had none since it was opened.
    is_first: bool = False
    # The nearest headings of the documents that have an answer.
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What is known of a message, and of the messages that share its reply."""

    is_bot_disabled: bool = False
    # The number of the first of the messages.
    first_seq: int = 0
    # The texts of the messages; files alone have none.
    texts: tuple[str, ...] = ()
    # The texts without small talk, and the kind of the last text.
    question: str = ""
    small_talk: SmallTalk | None = None
    asks_for_person: bool = False
    confirmation: ConfirmationReply | None = None
    handoff_policy: HandoffPolicy = HandoffPolicy()
    info: InfoFacts = InfoFacts()
    short_reply: ShortReply | None = None
    # The bot's welcome, or a greeting of its, stands in the chat.
    has_greeted: bool = False
    # The chat waits for an agent.
    is_waiting: bool = False
    # The customer-info fields that are still to be asked for.
    wanted: tuple[str, ...] = ()


# What to say to a value that is none of its type.
NOT_A = {
    "email": "not_email", "phone": "not_phone", "number": "not_number", "date": "not_date",
    "select": "not_option",
}  # fmt: skip
OUT_OF_CREDITS = HandOver("credits_used_up", Receipt("credits_used_up"))
ENGINE_FAILED = HandOver("engine_failed")


def from_facts(facts: Facts) -> Decision | AskEngine:
    """What the rules alone decide, or the question that is left to an engine."""
    if facts.is_waiting:
        return _while_waiting(facts)
    decision = _while_bot_has_chat(facts)
    return decision if isinstance(decision, AskEngine) else ask_next(decision, facts.info)


def _while_bot_has_chat(facts: Facts) -> Decision | AskEngine:
    if facts.is_bot_disabled:
        return HandOver("bot_disabled")
    if not facts.texts:
        return HandOver("files_only")  # the bot reads no pictures and hears no sounds
    confirmation = facts.confirmation
    if confirmation and confirmation.answer == "declined":
        receipt = Receipt("customer_declined", call_id=confirmation.call.id)
        return CannedReply("declined", receipt)
    if confirmation and confirmation.answer == "unclear":
        return _ask_customer(confirmation.call)
    if facts.asks_for_person:
        return _as_wished(HandOver("customer_asked"), facts.handoff_policy)
    if confirmation:
        return AskEngine(facts.texts[-1], approved_by=Approval.CUSTOMER)
    reply = _reply_to_info(facts.info)
    if reply:
        return reply
    small_talk = None if facts.question else facts.small_talk
    small_talk = small_talk or _closing_words(facts.short_reply)
    if small_talk:
        is_repeated = small_talk == "greeting" and facts.has_greeted
        name = "brief_greeting" if is_repeated else small_talk
        return CannedReply(name, Receipt("small_talk", kind=small_talk))
    return AskEngine(facts.question)


def _while_waiting(facts: Facts) -> NoReply | AskEngine:
    """Behind a handover only a question is answered: a "great!" changes nothing."""
    is_question = bool(facts.question) and not _closing_words(facts.short_reply)
    is_for_bot = is_question and not (facts.asks_for_person or facts.confirmation)
    return AskEngine(facts.question) if is_for_bot else NoReply()


def _closing_words(reply: ShortReply | None) -> SmallTalk | None:
    """What a mere yes, no or "ok" is, if our latest message asked nothing else.

    A model's answer may have asked something: the model goes on. A quotation never asks.
    """
    if reply is None:
        return None
    if reply.behind == "thanks":
        return reply.meant
    if reply.behind in {"nothing", "greeting"}:
        return "greeting"
    is_fine = reply.is_content or reply.meant == "greeting"
    return "thanks" if reply.behind == "quotation" and is_fine else None


def from_outcome(
    outcome: Outcome | None, facts: Facts, *, gap: KnowledgeGap = KnowledgeGap()
) -> Decision:
    """What follows an engine's answer, or its lack of one; None: credits for it are missing.

    While the chat waits for an agent only an answer is said.
    """
    if facts.is_waiting:
        return _answer_or_silence(outcome)
    return ask_next(_after_engine(outcome, facts.handoff_policy, gap), facts.info)


def _answer_or_silence(outcome: Outcome | None) -> Answer | NoReply:
    match outcome:
        case None:
            return NoReply()
        case Answered():
            receipt = Receipt("answered", outcome.trace, while_waiting=True)
            return Answer(outcome.text, outcome.citations, receipt)
        case Unanswered(reason=reason):
            return NoReply(Receipt(reason, outcome.trace))
        case NeedsApproval():
            return NoReply(Receipt("approval_needed", outcome.trace))


def _after_engine(outcome: Outcome | None, policy: HandoffPolicy, gap: KnowledgeGap) -> Decision:
    match outcome:
        case None:
            return OUT_OF_CREDITS
        case Answered():
            return Answer(outcome.text, outcome.citations, Receipt("answered", outcome.trace))
        case NeedsApproval(call=call) if call.requires_approval == Approval.CUSTOMER:
            return _ask_customer(call, outcome.trace)
        case NeedsApproval(call=call):
            receipt = Receipt("approval_needed", outcome.trace, call_id=call.id)
            return HandOver("approval_needed", receipt, call)
        case Unanswered(reason=reason):
            receipt = Receipt(reason, outcome.trace)
            if reason == "engine_failed":
                return HandOver("engine_failed", receipt)
            if policy.asks_again and gap.is_first:
                return _ask_again(receipt, policy, gap)
            return _as_wished(HandOver("no_answer", receipt), policy)


def ask_next(decision: Decision, info: InfoFacts) -> Decision:
    """The decision, with the question for the next customer-info field if it fits behind it.

    It fits behind an answer, and behind the thanks for a field; not if the customer has just
    passed over such a question.
    """
    is_noted = isinstance(decision, CannedReply) and decision.receipt.decision == "info_given"
    asked = info.asked
    is_passed_over = asked is not None and asked.said != "given"
    if asked and asked.type == "text" and asked.said == "other" and asked.may_repeat:
        decision = replace(decision, receipt=replace(decision.receipt, passed_over=asked.name))
    if info.next is None or is_passed_over or not (is_noted or isinstance(decision, Answer)):
        return decision
    return replace(decision, receipt=replace(decision.receipt, asks_for=info.next))


def _reply_to_info(info: InfoFacts) -> CannedReply | None:
    """What to say to a message that is about a customer-info field; None for any other."""
    asked = info.asked
    if asked and asked.said == "declined":
        return CannedReply("info_declined", Receipt("info_declined"))
    if asked and asked.said == "wrong" and asked.may_repeat:
        return CannedReply(NOT_A[asked.type], Receipt("info_wrong", asks_for=asked.name))
    if asked and asked.said == "wrong":
        return CannedReply("info_declined", Receipt("info_wrong"))
    return CannedReply("info_noted", Receipt("info_given")) if info.is_all else None


def _as_wished(handover: HandOver, policy: HandoffPolicy) -> HandOver | CannedReply:
    """The handover, or a canned reply if the client does not want it."""
    if handover.reason == "no_answer" and not policy.on_no_answer:
        return CannedReply("unknown", handover.receipt)
    if handover.reason == "customer_asked" and not policy.on_request:
        return CannedReply("no_person", Receipt("handoff_not_wanted"))
    return handover


def _ask_again(receipt: Receipt, policy: HandoffPolicy, gap: KnowledgeGap) -> CannedReply:
    """Ask for other words. A client that wants no handover has its bot say so anyway: only the
    wording differs."""
    receipt = replace(receipt, asked_again=policy.on_no_answer or None)
    return CannedReply("unknown", receipt, Offers(gap.headings, policy.on_request))


def _ask_customer(call: ProposedCall, trace: Trace | None = None) -> AskCustomer:
    return AskCustomer(call, Receipt("approval_needed", trace, call_id=call.id))
