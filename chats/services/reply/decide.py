"""What the bot does about a message: rules over facts, without any side effect."""

from dataclasses import dataclass, field
from typing import Any, Literal

from bots.engine.types import Citation
from bots.models import Approval
from bots.services.answers import Answered, NeedsApproval, Outcome, Trace, Unanswered
from bots.services.function_calls import ProposedCall


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

    def to_json(self) -> dict[str, Any]:
        """The fields that apply, as they are stored."""
        fields = {name: value for name, value in vars(self).items() if value is not None}
        if self.answers:
            fields["answers"] = list(self.answers)
        trace = fields.pop("trace", None)
        return (trace.to_json() if trace else {}) | fields


@dataclass(frozen=True)
class Answer:
    """The bot says what an engine has answered."""

    text: str
    citations: tuple[Citation, ...]
    receipt: Receipt


@dataclass(frozen=True)
class CannedReply:
    """The bot says a sentence of the platform's own, named here, worded in `canned_replies`."""

    name: str
    receipt: Receipt


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


Decision = Answer | CannedReply | AskCustomer | HandOver


@dataclass(frozen=True)
class ConfirmationReply:
    """What a customer's message says about the call that they were asked to confirm."""

    answer: Literal["confirmed", "declined", "unclear"]
    call: ProposedCall


@dataclass(frozen=True)
class HandoffWishes:
    """Whether the client wants a handover for these reasons."""

    on_no_answer: bool = True
    on_request: bool = True


@dataclass(frozen=True)
class Facts:
    """What the rules know of a message, and of the messages that share its reply."""

    is_bot_disabled: bool
    # The texts of the messages; files alone have none.
    texts: tuple[str, ...]
    # The texts without small talk, and the kind of the last text.
    question: str
    small_talk: str | None
    asks_for_person: bool
    confirmation: ConfirmationReply | None
    wishes: HandoffWishes


OUT_OF_CREDITS = HandOver("credits_used_up", Receipt("credits_used_up"))
ENGINE_FAILED = HandOver("engine_failed")


def from_facts(facts: Facts) -> Decision | AskEngine:
    """What the rules alone decide, or the question that is left to an engine."""
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
        return _as_wished(HandOver("customer_asked"), facts.wishes)
    if confirmation:
        return AskEngine(facts.texts[-1], approved_by=Approval.CUSTOMER)
    if facts.small_talk and not facts.question:
        return CannedReply(facts.small_talk, Receipt("small_talk", kind=facts.small_talk))
    return AskEngine(facts.question)


def from_outcome(outcome: Outcome, wishes: HandoffWishes) -> Decision:
    """What follows an engine's answer, or its lack of one."""
    match outcome:
        case Answered():
            receipt = Receipt("answered", outcome.trace)
            return Answer(outcome.text, outcome.citations, receipt)
        case NeedsApproval(call=call) if call.requires_approval == Approval.CUSTOMER:
            return _ask_customer(call, outcome.trace)
        case NeedsApproval(call=call):
            receipt = Receipt("approval_needed", outcome.trace, call_id=call.id)
            return HandOver("approval_needed", receipt, call)
        case Unanswered(reason=reason):
            is_failure = reason == "engine_failed"
            handover = HandOver(
                "engine_failed" if is_failure else "no_answer", Receipt(reason, outcome.trace)
            )
            return _as_wished(handover, wishes)


def _as_wished(handover: HandOver, wishes: HandoffWishes) -> HandOver | CannedReply:
    """The handover, or a canned reply if the client does not want it."""
    if handover.reason == "no_answer" and not wishes.on_no_answer:
        return CannedReply("unknown", handover.receipt)
    if handover.reason == "customer_asked" and not wishes.on_request:
        return CannedReply("no_person", Receipt("handoff_not_wanted"))
    return handover


def _ask_customer(call: ProposedCall, trace: Trace | None = None) -> AskCustomer:
    return AskCustomer(call, Receipt("approval_needed", trace, call_id=call.id))
