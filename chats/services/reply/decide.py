"""The rules that decide how the bot reacts to a message, as pure functions of facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bots.language.phrasebook import SmallTalk
from bots.language.slot_filling import AnswerKind
from bots.models import Approval, FunctionCall
from bots.search.answer_extraction import Citation
from bots.services.answers import Answered, NeedsApproval, Outcome, Trace, Unanswered
from bots.services.function_call_approvals import ProposedCall


@dataclass(frozen=True)
class Receipt:
    """Explains how a message came about; stored as JSON with the message."""

    decision: str | None = None
    trace: Trace | None = None
    # The kind of small talk that the message replies to.
    kind: str | None = None
    # The call that waits for an approval, or was declined.
    call_id: str | None = None
    credits: int | None = None
    # The ids of the messages that share the reply, if there are several.
    answers: tuple[str, ...] | None = None
    # The customer-info field that the reply asks for, and the fields that the customer's message
    # filled.
    asks_for: str | None = None
    filled: tuple[str, ...] | None = None
    # Why the bot will hand over once the customer has answered the question for `asks_for`.
    before_handoff: str | None = None
    # The field whose question the customer ignored; the bot will ask for it once more.
    passed_over: str | None = None
    # Whether the customer is asked to rephrase the question before the chat is handed over.
    asked_again: bool | None = None
    # Whether the bot replied while the chat waited for an agent. Without this mark, a reply is not
    # sent while it waits.
    while_waiting: bool | None = None
    # The procedure's name, the steps that it took for this message, and where it waits.
    procedure: Mapping[str, Any] | None = None
    # Texts to show before and after the reply's own text; not stored in the receipt.
    before: str = ""
    after: str = ""

    def to_json(self) -> dict[str, Any]:
        """The receipt as it is stored, without the fields that are None."""
        fields = {
            name: value
            for name, value in vars(self).items()
            if value is not None and name not in {"before", "after"}
        }
        for name in ("answers", "filled"):
            if name in fields:
                fields[name] = list(fields[name])
        trace = fields.pop("trace", None)
        return (trace.to_json() if trace else {}) | fields


@dataclass(frozen=True)
class Answer:
    """The bot replies with an engine's answer."""

    text: str
    citations: tuple[Citation, ...]
    receipt: Receipt


@dataclass(frozen=True)
class Offers:
    """What a customer may choose instead of rephrasing: headings of documents, or a person."""

    headings: tuple[str, ...]
    person: bool


@dataclass(frozen=True)
class CannedReply:
    """The bot replies with the platform's message that has this name."""

    name: str
    receipt: Receipt
    offers: Offers | None = None


@dataclass(frozen=True)
class ProcedureText:
    """The bot replies with the client's texts of steps of a procedure, and a step's options."""

    text: str
    receipt: Receipt
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class AskConfirmation:
    """The bot asks the customer whether a function may be called."""

    call: ProposedCall
    receipt: Receipt


@dataclass(frozen=True)
class HandOver:
    """A person must answer; `call`, if any, waits for an agent's approval."""

    reason: str
    receipt: Receipt = field(default_factory=Receipt)
    call: ProposedCall | None = None
    # The name of the platform's message for the customer; None for the reason's usual message.
    name: str | None = None


@dataclass(frozen=True)
class AskEngine:
    """No rule decides: an engine must answer, which costs credits."""

    question: str
    # Whether the message is the customer's yes to a call, whose result the answer reports.
    is_confirmation: bool = False
    # The call that an agent approved, whose result the answer reports. The message's first reply
    # proposed it.
    approved_call: FunctionCall | None = None

    @property
    def approved_by(self) -> Approval:
        if self.approved_call:
            return Approval.AGENT
        return Approval.CUSTOMER if self.is_confirmation else Approval.NONE


@dataclass(frozen=True)
class NoReply:
    """The bot says nothing, because an agent will answer or because no answer is needed."""

    receipt: Receipt = field(default_factory=Receipt)


Decision = Answer | CannedReply | ProcedureText | AskConfirmation | HandOver | NoReply


@dataclass(frozen=True)
class ConfirmationReply:
    """What a customer's message says about the call that the bot asked them to confirm."""

    answer: Literal["confirmed", "declined", "unclear"]
    call: ProposedCall


@dataclass(frozen=True)
class AskedField:
    """The customer-info field that the latest message to the customer asked for, how the customer
    responded, and whether the bot may ask again."""

    name: str
    answer_kind: AnswerKind
    type: str = "text"
    may_repeat: bool = False
    is_required: bool = False


@dataclass(frozen=True)
class InfoFacts:
    """What a message means for the bot's customer-info fields."""

    asked: AskedField | None = None
    # The fields that the message fills, and whether it says nothing else.
    filled: Mapping[str, Any] = field(default_factory=dict)
    has_nothing_else: bool = False
    # The field to ask for next, if the reply leaves room for a question (`ask_next`).
    next: str | None = None
    # The field to ask for next before a person takes over, and the next required one.
    next_before_person: str | None = None
    next_required_before_person: str | None = None
    # Why the bot was about to hand over when it asked for a field (`Receipt.before_handoff`).
    pending_handoff: str | None = None


@dataclass(frozen=True)
class ShortReply:
    """A customer's message that is only a yes, a no or an "ok", and what it responds to."""

    # What it means as the answer to "Is there anything else?".
    meant: SmallTalk
    # Whether it says that all is well.
    is_satisfied: bool
    # The kind of the latest message to the customer.
    previous_kind: Literal["nothing", "greeting", "thanks", "quotation", "other"]
    # Whether the customer tapped it as a button that the bot did not offer, such as a campaign's.
    is_foreign_button: bool = False


@dataclass(frozen=True)
class HandoffPolicy:
    """When the client wants handovers, and what the bot does before and after one."""

    on_no_answer: bool = True
    on_request: bool = True
    # At the chat's first unanswered question, ask the customer to rephrase it.
    asks_again: bool = False
    # The bot keeps answering while the chat waits for an agent.
    replies_while_waiting: bool = False


@dataclass(frozen=True)
class KnowledgeGap:
    """What is known about an unanswered question besides the engine's outcome."""

    # Whether it is the first unanswered question since the chat was opened or reopened.
    is_first: bool = False
    # The most similar headings in the bot's documents, each of which it can answer as a question.
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What is known about a message and the messages that share its reply."""

    is_bot_disabled: bool = False
    # The `seq` of the first of the messages.
    first_seq: int = 0
    # The texts of the messages; a message with only files has none.
    texts: tuple[str, ...] = ()
    # What the messages contain if they have no text. `lines`: only what the channel reports, such
    # as an order; `no_reply_needed`: nothing that needs a reply.
    textless_kind: Literal["files", "lines", "no_reply_needed"] = "files"
    # The attachment ids of the pictures that the bot's model may look at.
    picture_ids: tuple[str, ...] = ()
    # Only a person can deal with the content, such as an order.
    needs_person: bool = False
    # The chat is on a messaging channel.
    is_messaging: bool = False
    # `question`: all texts that are not small talk. `small_talk`: the kind of the last text if it
    # is small talk.
    question: str = ""
    small_talk: SmallTalk | None = None
    asks_for_person: bool = False
    confirmation: ConfirmationReply | None = None
    handoff_policy: HandoffPolicy = HandoffPolicy()
    info: InfoFacts = InfoFacts()
    short_reply: ShortReply | None = None
    # The chat has the bot's welcome or a greeting by the bot.
    has_greeted: bool = False
    # The chat waits for an agent.
    is_waiting: bool = False
    # The customer-info fields that the bot still asks for.
    wanted: tuple[str, ...] = ()


# The name of the canned reply to an invalid value, by the field's type.
INVALID_VALUE_REPLIES = {
    "email": "not_email", "phone": "not_phone", "number": "not_number", "date": "not_date",
    "select": "not_option",
}  # fmt: skip
# The reasons for handovers that may include the question for a customer-info field.
_ASKING_REASONS = {"customer_asked", "no_answer"}
# The reasons for handovers before which the bot asks for customer-info fields.
_DETAILS_FIRST_REASONS = {*_ASKING_REASONS, "procedure"}
OUT_OF_CREDITS = HandOver("credits_used_up", Receipt("credits_used_up"))
ENGINE_FAILED = HandOver("engine_failed")


def from_facts(facts: Facts) -> Decision | AskEngine:
    """What the rules alone decide or, if they cannot, the question for an engine."""
    if facts.is_waiting:
        reply = _reply_to_info(facts.info) if facts.info.asked else None
        if reply:
            reply = replace(reply, receipt=replace(reply.receipt, while_waiting=True))
            return ask_next(reply, facts)
        # After a handover, the bot answers only questions; it does not reply to "great!".
        is_question = bool(facts.question) and not _as_small_talk(facts.short_reply)
        is_for_bot = is_question and not (facts.asks_for_person or facts.confirmation)
        return AskEngine(facts.question) if is_for_bot else NoReply()
    decision = _while_bot_has_chat(facts)
    return decision if isinstance(decision, AskEngine) else ask_next(decision, facts)


def _while_bot_has_chat(facts: Facts) -> Decision | AskEngine:
    if facts.is_bot_disabled:
        return HandOver("bot_disabled")
    if not facts.texts and facts.textless_kind == "no_reply_needed":
        return NoReply()
    if facts.info.pending_handoff:
        return _after_details(facts.info, facts.info.pending_handoff)
    if facts.needs_person or not (facts.texts or facts.picture_ids):
        is_files = facts.textless_kind == "files" and not facts.needs_person
        return HandOver("files_only" if is_files else "unreadable")
    if not facts.texts:
        return AskEngine("")
    if facts.short_reply and facts.short_reply.is_foreign_button:
        return HandOver("unreadable")
    confirmation = facts.confirmation
    if confirmation and confirmation.answer == "declined":
        receipt = Receipt("customer_declined", call_id=confirmation.call.id)
        return CannedReply("declined", receipt)
    if confirmation and confirmation.answer == "unclear":
        return _ask_confirmation(confirmation.call)
    if facts.asks_for_person:
        return _apply_handoff_policy(HandOver("customer_asked"), facts.handoff_policy)
    if confirmation:
        return AskEngine(facts.texts[-1], is_confirmation=True)
    reply = _reply_to_info(facts.info)
    if reply:
        return reply
    if facts.picture_ids:
        return AskEngine(facts.question or "\n".join(facts.texts))
    if facts.is_messaging and _is_acknowledgement(facts.short_reply):
        return NoReply()
    small_talk = None if facts.question else facts.small_talk
    small_talk = small_talk or _as_small_talk(facts.short_reply)
    if small_talk:
        is_repeated = small_talk == "greeting" and facts.has_greeted
        name = "brief_greeting" if is_repeated else small_talk
        return CannedReply(name, Receipt("small_talk", kind=small_talk))
    return AskEngine(facts.question)


def _is_acknowledgement(reply: ShortReply | None) -> bool:
    """Whether a message only says that all is well, such as "ok", and answers no question."""
    return (
        reply is not None and reply.is_satisfied and reply.previous_kind in {"nothing", "greeting"}
    )


def _as_small_talk(reply: ShortReply | None) -> SmallTalk | None:
    """The small talk that a mere yes, no or "ok" amounts to. None for any other message, and if it
    may answer a question by the bot; a quotation never asks one."""
    if reply is None:
        return None
    if reply.previous_kind == "thanks":
        return reply.meant
    if reply.previous_kind in {"nothing", "greeting"}:
        return "thanks" if reply.is_satisfied else reply.meant
    is_fine = reply.is_satisfied or reply.meant == "greeting"
    return "thanks" if reply.previous_kind == "quotation" and is_fine else None


def from_outcome(
    outcome: Outcome | None, facts: Facts, *, gap: KnowledgeGap = KnowledgeGap()
) -> Decision:
    """What the bot does after an engine's outcome; None: there were too few credits to ask the
    engine. While the chat waits for an agent, the bot answers or says nothing."""
    if facts.is_waiting:
        return _answer_or_no_reply(outcome)
    if isinstance(outcome, Unanswered) and facts.picture_ids and not facts.texts:
        # A picture without words cannot be rephrased.
        return HandOver("files_only", Receipt(trace=outcome.trace))
    return ask_next(_after_engine(outcome, facts.handoff_policy, gap), facts)


def _answer_or_no_reply(outcome: Outcome | None) -> Answer | NoReply:
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
            return _ask_confirmation(call, outcome.trace)
        case NeedsApproval(call=call):
            receipt = Receipt("approval_needed", outcome.trace, call_id=call.id)
            return HandOver("approval_needed", receipt, call)
        case Unanswered(reason=reason):
            receipt = Receipt(reason, outcome.trace)
            if reason == "engine_failed":
                return HandOver("engine_failed", receipt)
            if policy.asks_again and gap.is_first:
                # Without handovers, this is the reply to every unanswered question, so the
                # receipt does not count it as asking again.
                receipt = replace(receipt, asked_again=policy.on_no_answer or None)
                return CannedReply("unknown", receipt, Offers(gap.headings, policy.on_request))
            return _apply_handoff_policy(HandOver("no_answer", receipt), policy)


def ask_next(decision: Decision, facts: Facts) -> Decision:
    """Add the question for the next customer-info field to an answer, a handover or the thanks for
    a value, unless the customer has just left such a question unanswered. If they ignored it, and
    it is for a text field and may be repeated, the receipt records that."""
    info, asked = facts.info, facts.info.asked
    if isinstance(decision, HandOver):
        decision = ask_before_person(decision, info)
    match decision:
        case CannedReply(receipt=Receipt(before_handoff=str())):
            return decision
        case Answer():
            may_ask = True
        case CannedReply(receipt=Receipt(decision="info_given")):
            may_ask = True
        case HandOver(reason=reason):
            may_ask = reason in _ASKING_REASONS and facts.handoff_policy.replies_while_waiting
        case _:
            may_ask = False
    is_passed_over = asked is not None and asked.answer_kind != "given"
    if asked and asked.type == "text" and asked.answer_kind == "other" and asked.may_repeat:
        decision = replace(decision, receipt=replace(decision.receipt, passed_over=asked.name))
    if info.next is None or is_passed_over or not may_ask:
        return decision
    return replace(decision, receipt=replace(decision.receipt, asks_for=info.next))


def ask_before_person(handover: HandOver, info: InfoFacts) -> HandOver | CannedReply:
    """The handover or, if a field is to be asked for before it, the question for that field. A
    customer who did not answer such a question is asked for required fields alone, and once more
    for the same one; who then refuses again is handed over."""
    name, asked = info.next_before_person, info.asked
    is_refused = bool(info.pending_handoff and asked and asked.answer_kind != "given")
    if is_refused and asked:
        name = info.next_required_before_person
        if asked.is_required:
            name = asked.name if asked.may_repeat else None
    if name is None or handover.reason not in _DETAILS_FIRST_REASONS:
        return handover
    receipt = replace(handover.receipt, asks_for=name, before_handoff=handover.reason)
    if info.pending_handoff and not is_refused:
        return CannedReply("info_noted", replace(receipt, decision="info_given"))
    return CannedReply("before_person", receipt)


def _after_details(info: InfoFacts, reason: str) -> CannedReply | HandOver:
    """The reply to a customer who was asked for a field before a handover: the handover, before
    which `ask_before_person` may ask again. An invalid value is asked for once more."""
    asked = info.asked
    if asked and asked.answer_kind == "wrong" and asked.may_repeat:
        receipt = Receipt("info_wrong", asks_for=asked.name, before_handoff=reason)
        return CannedReply(INVALID_VALUE_REPLIES[asked.type], receipt)
    return HandOver(reason)


def _reply_to_info(info: InfoFacts) -> CannedReply | None:
    """The reply to a message about a customer-info field; None for any other message."""
    asked = info.asked
    if asked and asked.answer_kind == "declined":
        return CannedReply("info_declined", Receipt("info_declined"))
    if asked and asked.answer_kind == "wrong" and asked.may_repeat:
        return CannedReply(
            INVALID_VALUE_REPLIES[asked.type], Receipt("info_wrong", asks_for=asked.name)
        )
    if asked and asked.answer_kind == "wrong":
        return CannedReply("info_declined", Receipt("info_wrong"))
    return CannedReply("info_noted", Receipt("info_given")) if info.has_nothing_else else None


def _apply_handoff_policy(handover: HandOver, policy: HandoffPolicy) -> HandOver | CannedReply:
    """The handover, or a canned reply instead if the client's policy excludes it."""
    if handover.reason == "no_answer" and not policy.on_no_answer:
        return CannedReply("unknown", handover.receipt)
    if handover.reason == "customer_asked" and not policy.on_request:
        return CannedReply("no_person", Receipt("handoff_not_wanted"))
    return handover


def _ask_confirmation(call: ProposedCall, trace: Trace | None = None) -> AskConfirmation:
    return AskConfirmation(call, Receipt("approval_needed", trace, call_id=call.id))
