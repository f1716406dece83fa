"""The rules of a reply as tables: facts and the decision that follows."""

from dataclasses import replace

import pytest

from bots.engine.types import Usage
from bots.models import Approval
from bots.search.answer_extraction import Citation
from bots.services.answers import (
    Answered,
    Evidence,
    NeedsApproval,
    ScoredPassage,
    Trace,
    Unanswered,
)
from bots.services.function_call_approvals import ProposedCall
from chats.services.reply import decide
from chats.services.reply.decide import (
    Answer,
    AskConfirmation,
    AskedField,
    AskEngine,
    CannedReply,
    ConfirmationReply,
    Facts,
    HandoffPolicy,
    HandOver,
    InfoFacts,
    NoReply,
    Receipt,
    ShortReply,
)

QUESTION = Facts(
    is_bot_disabled=False,
    texts=("Do you sell tea?",),
    question="Do you sell tea?",
    small_talk=None,
    asks_for_person=False,
    confirmation=None,
    handoff_policy=HandoffPolicy(),
)
GREETING = replace(QUESTION, texts=("Hello!",), question="", small_talk="greeting")
CALL = ProposedCall("1", "refund (order: 7)", Approval.CUSTOMER)
AGENTS_CALL = ProposedCall("2", "refund (order: 7)", Approval.AGENT)
EVIDENCE = Evidence(0.9, 0.77, (ScoredPassage(7, 0.5),), knowledge_version=3, attempt=1)
TRACE = Trace(EVIDENCE)


def confirming(answer):
    return ConfirmationReply(answer, CALL)


@pytest.mark.parametrize(
    ("facts", "decision"),
    [
        (QUESTION, AskEngine("Do you sell tea?")),
        (replace(QUESTION, is_bot_disabled=True), HandOver("bot_disabled")),
        (replace(GREETING, is_bot_disabled=True), HandOver("bot_disabled")),
        (replace(QUESTION, texts=(), question=""), HandOver("files_only")),
        (replace(QUESTION, asks_for_person=True), HandOver("customer_asked")),
        (GREETING, CannedReply("greeting", Receipt("small_talk", kind="greeting"))),
        (replace(GREETING, texts=("Hi", "Tea?"), question="Tea?"), AskEngine("Tea?")),
        (
            replace(QUESTION, texts=("Yes",), confirmation=confirming("confirmed")),
            AskEngine("Yes", is_confirmation=True),
        ),
        (
            replace(GREETING, texts=("OK",), confirmation=confirming("confirmed")),
            AskEngine("OK", is_confirmation=True),
        ),
        (
            replace(QUESTION, confirmation=confirming("confirmed"), asks_for_person=True),
            HandOver("customer_asked"),
        ),
        (
            replace(QUESTION, confirmation=confirming("declined"), asks_for_person=True),
            CannedReply("declined", Receipt("customer_declined", call_id="1")),
        ),
        (
            replace(QUESTION, confirmation=confirming("unclear")),
            AskConfirmation(CALL, Receipt("approval_needed", call_id="1")),
        ),
    ],
)
def test_rules_over_facts(facts, decision):
    assert decide.from_facts(facts) == decision


CITATION = Citation(1, "Tea", None, None, "We sell tea.")


@pytest.mark.parametrize(
    ("outcome", "decision"),
    [
        (
            Answered("We sell tea.", (CITATION,), TRACE),
            Answer("We sell tea.", (CITATION,), Receipt("answered", TRACE)),
        ),
        (
            NeedsApproval(CALL, TRACE),
            AskConfirmation(CALL, Receipt("approval_needed", TRACE, call_id="1")),
        ),
        (
            NeedsApproval(AGENTS_CALL, TRACE),
            HandOver(
                "approval_needed",
                Receipt("approval_needed", TRACE, call_id="2"),
                AGENTS_CALL,
            ),
        ),
        (
            Unanswered("engine_failed", TRACE),
            HandOver("engine_failed", Receipt("engine_failed", TRACE)),
        ),
        *(
            (Unanswered(reason, TRACE), HandOver("no_answer", Receipt(reason, TRACE)))
            for reason in ("below_gate", "nothing_to_quote", "model_refused", "no_answer")
        ),
    ],
)
def test_rules_over_an_engines_outcome(outcome, decision):
    assert decide.from_outcome(outcome, QUESTION) == decision


@pytest.mark.parametrize(
    ("outcome", "decision"),
    [
        (
            Unanswered("below_gate", TRACE),
            CannedReply("unknown", Receipt("below_gate", TRACE)),
        ),
        (
            Unanswered("engine_failed", TRACE),
            HandOver("engine_failed", Receipt("engine_failed", TRACE)),
        ),
    ],
)
def test_a_client_may_want_no_handover_without_an_answer(outcome, decision):
    facts = replace(QUESTION, handoff_policy=HandoffPolicy(on_no_answer=False))
    assert decide.from_outcome(outcome, facts) == decision


def test_what_cannot_be_paid_is_handed_over_unless_an_agent_will_answer_anyway():
    assert decide.from_outcome(None, QUESTION) == HandOver(
        "credits_used_up", Receipt("credits_used_up")
    )
    assert decide.from_outcome(None, replace(QUESTION, is_waiting=True)) == NoReply()


def test_a_client_may_want_no_handover_on_request():
    facts = replace(QUESTION, asks_for_person=True, handoff_policy=HandoffPolicy(on_request=False))
    assert decide.from_facts(facts) == CannedReply("no_person", Receipt("handoff_not_wanted"))
    disabled = replace(facts, is_bot_disabled=True)
    assert decide.from_facts(disabled) == HandOver("bot_disabled")


def test_a_receipt_of_a_quotation_as_it_is_stored():
    trace = replace(TRACE, engine="extractive", model="extractive")
    assert Receipt("answered", trace, credits=1, answers=("a", "b")).to_json() == {
        "confidence": 0.9, "threshold": 0.77, "chunks": ({"id": 7, "score": 0.5},),
        "knowledge_version": 3, "attempt": 1, "engine": "extractive", "model": "extractive",
        "decision": "answered", "credits": 1, "answers": ["a", "b"],
    }  # fmt: skip


def test_a_receipt_of_a_model_as_it_is_stored():
    trace = Trace(engine="m", model="x", usage=Usage(3, 4), calls=(), prompt_version=None)
    assert Receipt("answered", trace, credits=0).to_json() == {
        "engine": "m", "model": "x", "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        "calls": [], "prompt_version": None, "decision": "answered", "credits": 0,
    }  # fmt: skip
    failed = Trace(engine="m", engine_error="gone", calls=("c",), prompt_version=2)
    assert Receipt("engine_failed", failed).to_json() == {
        "engine": "m", "engine_error": "gone", "usage": None, "calls": ["c"], "prompt_version": 2,
        "decision": "engine_failed",
    }  # fmt: skip
    assert Receipt().to_json() == {}


def asked(answer_kind, **fields):
    """The bot has just asked for the e-mail address, and would ask for the name next."""
    field = AskedField("email", answer_kind, "email", may_repeat=fields.pop("may_repeat", True))
    return InfoFacts(field, next="name", **fields)


GIVEN = asked("given", filled={"email": "a@b.example"}, has_nothing_else=True)
WRONG, DECLINED, OTHER = asked("wrong"), asked("declined"), asked("other")
NOTED = CannedReply("info_noted", Receipt("info_given"))
NOTED_AND_ASKED = CannedReply("info_noted", Receipt("info_given", asks_for="name"))
SKIPPED = CannedReply("info_declined", Receipt("info_declined"))
REPEATED = CannedReply("not_email", Receipt("info_wrong", asks_for="email"))


@pytest.mark.parametrize(
    ("facts", "decision"),
    [
        (replace(QUESTION, info=GIVEN), NOTED_AND_ASKED),
        (replace(QUESTION, info=replace(GIVEN, next=None)), NOTED),
        (
            replace(QUESTION, info=replace(GIVEN, has_nothing_else=False)),
            AskEngine(QUESTION.question),
        ),
        (replace(QUESTION, info=replace(GIVEN, asked=None)), NOTED_AND_ASKED),
        (replace(QUESTION, info=WRONG), REPEATED),
        (
            replace(QUESTION, info=asked("wrong", may_repeat=False)),
            CannedReply("info_declined", Receipt("info_wrong")),
        ),
        (replace(QUESTION, info=DECLINED), SKIPPED),
        (replace(QUESTION, info=OTHER), AskEngine(QUESTION.question)),
        (replace(QUESTION, info=InfoFacts(next="name")), AskEngine(QUESTION.question)),
        (
            replace(GREETING, info=OTHER),
            CannedReply("greeting", Receipt("small_talk", kind="greeting")),
        ),
        (replace(QUESTION, info=GIVEN, asks_for_person=True), HandOver("customer_asked")),
        (replace(QUESTION, info=GIVEN, is_bot_disabled=True), HandOver("bot_disabled")),
        (
            replace(QUESTION, info=GIVEN, confirmation=confirming("unclear")),
            AskConfirmation(CALL, Receipt("approval_needed", call_id="1")),
        ),
    ],
)
def test_rules_over_what_is_said_to_a_field(facts, decision):
    assert decide.from_facts(facts) == decision


ANSWERED = Answer("We sell tea.", (CITATION,), Receipt("answered", TRACE))


@pytest.mark.parametrize(
    ("decision", "info", "asks_for"),
    [
        (ANSWERED, InfoFacts(next="name"), "name"),
        (ANSWERED, InfoFacts(), None),
        (ANSWERED, OTHER, None),
        (ANSWERED, replace(GIVEN, has_nothing_else=False), "name"),
        (NOTED, GIVEN, "name"),
        (NOTED, replace(GIVEN, next=None), None),
        (REPEATED, WRONG, "email"),
        (SKIPPED, DECLINED, None),
        (CannedReply("greeting", Receipt("small_talk")), InfoFacts(next="name"), None),
        (CannedReply("unknown", Receipt("no_answer")), InfoFacts(next="name"), None),
        (HandOver("no_answer"), InfoFacts(next="name"), None),
        (AskConfirmation(CALL, Receipt("approval_needed")), InfoFacts(next="name"), None),
    ],
)
def test_a_field_is_asked_for_behind_an_answer(decision, info, asks_for):
    asked_next = decide.ask_next(decision, Facts(info=info))
    assert asked_next == replace(decision, receipt=replace(decision.receipt, asks_for=asks_for))


@pytest.mark.parametrize(
    ("reason", "asks_for"),
    [("customer_asked", "name"), ("no_answer", "name"), ("bot_disabled", None),
     ("engine_failed", None), ("credits_used_up", None)],
)  # fmt: skip
def test_a_field_is_asked_for_at_a_handover_after_which_the_bot_goes_on(reason, asks_for):
    facts = Facts(info=InfoFacts(next="name"))
    assert decide.ask_next(HandOver(reason), facts) == HandOver(reason)
    facts = replace(facts, handoff_policy=HandoffPolicy(replies_while_waiting=True))
    assert decide.ask_next(HandOver(reason), facts).receipt.asks_for == asks_for


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ShortReply("goodbye", True, "nothing"), "thanks"),
        (ShortReply("goodbye", True, "greeting"), "thanks"),
        (ShortReply("goodbye", False, "greeting"), "goodbye"),
        (ShortReply("greeting", False, "greeting"), "greeting"),
        (ShortReply("goodbye", True, "thanks"), "goodbye"),
        (ShortReply("greeting", False, "thanks"), "greeting"),
        (ShortReply("goodbye", True, "quotation"), "thanks"),
        (ShortReply("greeting", False, "quotation"), "thanks"),
        (ShortReply("goodbye", False, "quotation"), None),
        (ShortReply("goodbye", True, "other"), None),
        (None, None),
    ],
)
def test_what_a_mere_ok_is_depends_on_what_stands_before_it(reply, said):
    decision = decide.from_facts(replace(QUESTION, short_reply=reply))
    receipt = Receipt("small_talk", kind=said)
    assert decision == (CannedReply(said, receipt) if said else AskEngine(QUESTION.question))


@pytest.mark.parametrize("previous", ["nothing", "greeting", "thanks", "quotation", "other"])
def test_a_yes_by_a_button_of_others_is_for_a_person(previous):
    tapped = ShortReply("greeting", False, previous, is_foreign_button=True)
    assert decide.from_facts(replace(QUESTION, short_reply=tapped)) == HandOver("unreadable")


def test_who_was_greeted_is_greeted_briefly():
    receipt = Receipt("small_talk", kind="greeting")
    again = replace(GREETING, has_greeted=True)
    assert decide.from_facts(again) == CannedReply("brief_greeting", receipt)


def test_a_text_that_was_passed_over_is_noted_once():
    answer = Answer("Three days.", (), Receipt("answered", TRACE))
    asked = AskedField("city", "other", "text", may_repeat=True)
    info = InfoFacts(asked=asked, next="name")
    assert decide.ask_next(answer, Facts(info=info)).receipt.passed_over == "city"
    for other in (replace(asked, type="email"), replace(asked, may_repeat=False),
                  replace(asked, answer_kind="declined")):  # fmt: skip
        info = InfoFacts(asked=other, next="name")
        assert decide.ask_next(answer, Facts(info=info)).receipt.passed_over is None
