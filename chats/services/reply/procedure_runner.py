"""Runs a bot's procedures step by step. Steps ask the customer, call functions or say something.

If a step asks the customer something, the receipt of that message stores where the run waits
(`procedure`), and the customer's next message is read as the answer. An interrupted run starts
again from there; calls that it has already made for the message are found in the call log and not
made again.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from django.conf import settings

from bots.engine import Capability, argument_schemas, procedures, text_tasks
from bots.engine.procedures import Step
from bots.engine.types import EngineError, Usage
from bots.language import intents, slot_filling
from bots.models import Approval, CallStatus, Function, FunctionCall
from bots.services import engines, function_runner, functions
from bots.services import procedures as bots_procedures
from bots.services.answers import Trace
from bots.services.function_call_approvals import ProposedCall
from bots.services.function_runner import ApprovalNeeded, FunctionRunner, Subject
from bots.services.procedures import ParsedProcedure
from chats.models import Conversation, Message
from chats.services.core import automated_messages, customers, fast_sql
from chats.services.reply import billing, decide
from chats.services.reply.decide import (
    Answer,
    AskConfirmation,
    AskEngine,
    CannedReply,
    Decision,
    Facts,
    HandOver,
    ProcedureText,
    Receipt,
)
from identity.services import time_zones

# The maximum number of times that a step asks the customer.
MAX_QUESTIONS = 2


@dataclass(frozen=True)
class Waiting:
    """Where a run waits for the customer or for an approval; stored in a receipt."""

    name: str
    version: str
    at: int = 0
    # The known values, by the step's name, and the ids of calls made, by the function's name.
    values: dict[str, Any] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    # The kind of step that waits.
    asks: Literal["ask", "confirm", "call", ""] = ""
    tries: int = 0
    # The question that the run asked, to be able to repeat it.
    question: str = ""

    def with_question_repeated(self, decision: Decision) -> Decision:
        """The reply to a message that does not answer the question, followed by the question.

        The question is not repeated after a handover or a question before one, without a reply, or
        if the reply starts another procedure, which ends this one.
        """
        is_reply = isinstance(decision, Answer | CannedReply | AskConfirmation)
        if not is_reply or decision.receipt.procedure or decision.receipt.before_handoff:
            return decision
        after = "" if isinstance(decision, AskConfirmation) else self.question
        stored = {"name": self.name, "steps": [], "waiting": asdict(self)}
        receipt = replace(decision.receipt, asks_for=None, after=after, procedure=stored)
        return replace(decision, receipt=receipt)


@dataclass(frozen=True)
class Turn:
    """A procedure's reaction to a message. `waiting` is set if the message does not answer the
    step, so the procedure still waits."""

    decision: Decision | AskEngine
    waiting: Waiting | None = None


def turn_of(message: Message, facts: Facts, subject: Subject) -> Turn | None:
    """The reaction of the procedure that waits for a message or is started by it; None if there is
    no such procedure."""
    chat = message.conversation
    is_for_rules = facts.is_waiting or facts.is_bot_disabled or facts.needs_person
    is_for_rules = is_for_rules or facts.info.pending_handoff is not None
    if not chat.bot.procedures or is_for_rules or not facts.texts or facts.asks_for_person:
        return None
    latest = fast_sql.latest_outgoing(chat, before_seq=facts.first_seq)
    waiting = _waiting(latest)
    if waiting is None:
        may_start = facts.question and not facts.confirmation
        found = bots_procedures.match(chat.bot, facts.question) if may_start else None
        return Turn(start(message, found, subject)) if found else None
    procedure = bots_procedures.find(chat.bot, waiting.name, waiting.version)
    if procedure is None:
        return Turn(HandOver("procedure", Receipt("procedure_changed")))
    if facts.confirmation and waiting.asks != "call":
        # The customer's decision is about a call that was proposed after the step asked.
        return Turn(decide.from_facts(facts), waiting)
    run = _Run(message, procedure, waiting, subject)
    read = {"ask": _read_value, "confirm": _read_confirmation, "call": _read_approval}
    return read[waiting.asks](run, facts)


def start(
    message: Message, procedure: ParsedProcedure, subject: Subject, *, trace: Trace | None = None
) -> Decision:
    """Run a procedure from its first step. `trace`: of the model, if a model chose it."""
    waiting = Waiting(procedure.name, procedure.version)
    return _Run(message, procedure, waiting, subject, trace=trace).run()


def after_approval(message: Message, call: FunctionCall, subject: Subject) -> Decision | None:
    """Continue the procedure that waited for an agent to approve a call; None if the call belongs
    to no procedure."""
    rows = Message.objects.filter(conversation=message.conversation, is_note=False)
    questions = rows.filter(receipt__call_id=str(call.pk), receipt__has_key="procedure")
    waiting = _waiting(questions.order_by("-seq").first())
    if waiting is None:
        return None
    bot = message.conversation.bot
    procedure = bots_procedures.find(bot, waiting.name, waiting.version)
    if procedure is None:
        return HandOver("procedure", Receipt("procedure_changed"))
    return _Run(message, procedure, waiting, subject, approved_call=call).run()


def _waiting(latest: Message | None) -> Waiting | None:
    receipt: Mapping[str, Any] = (latest.receipt if latest else None) or {}
    stored = (receipt.get("procedure") or {}).get("waiting")
    return Waiting(**stored) if stored else None


def _read_value(run: "_Run", facts: Facts) -> Turn | None:
    """The reaction to a message after a step asked for a value. None, which ends the procedure, if
    the message is about something else and the step may not ask again."""
    step, waiting = run.step, run.waiting
    answers = [
        slot_filling.read(
            step.as_field,
            text,
            language=run.message.language,
            country=run.country,
            is_asked_again=waiting.tries > 1,
        )
        for text in facts.texts
    ]
    value = next((answer.value for answer in answers if answer.kind == "given"), None)
    if value is not None:
        return Turn(run.resume(value))
    kind, may_repeat = answers[-1].kind, waiting.tries < MAX_QUESTIONS
    if kind == "declined":
        return Turn(run.end("declined", CannedReply("info_declined", Receipt())))
    if kind == "wrong":
        if not may_repeat:
            return Turn(run.hand_over("not_given"))
        correction = CannedReply(decide.INVALID_VALUE_REPLIES[step.type], Receipt("info_wrong"))
        return Turn(correction, run.with_another_try())
    return Turn(decide.from_facts(facts), run.with_another_try()) if may_repeat else None


def _read_confirmation(run: "_Run", facts: Facts) -> Turn | None:
    """The reaction to a message after a step asked for a yes or no. None, which ends the procedure,
    if the message is neither and the step may not ask again."""
    answer = intents.yes_or_no(facts.texts[-1], language=run.message.language)
    if answer:
        return Turn(run.resume(True))
    if answer is not None:
        return Turn(run.end("declined", CannedReply("declined", Receipt())))
    if run.waiting.tries >= MAX_QUESTIONS:
        return None
    return Turn(decide.from_facts(facts), run.with_another_try())


def _read_approval(run: "_Run", facts: Facts) -> Turn | None:
    """The reaction to the customer's decision about a call, which has been made if they confirmed
    it. None if the message says nothing about the call."""
    if facts.confirmation is None:
        return None
    if facts.confirmation.answer == "confirmed":
        return Turn(run.run())
    if facts.confirmation.answer == "unclear":
        return Turn(decide.from_facts(facts), run.waiting)
    call_id = facts.confirmation.call.id
    return Turn(run.end("declined", CannedReply("declined", Receipt(call_id=call_id))))


class _Run:
    """Takes the steps for one message."""

    def __init__(
        self,
        message: Message,
        procedure: ParsedProcedure,
        waiting: Waiting,
        subject: Subject,
        *,
        trace: Trace | None = None,
        approved_call: FunctionCall | None = None,
    ) -> None:
        self.message, self.waiting, self._approved_call = message, waiting, approved_call
        self._chat: Conversation = message.conversation
        self._steps = procedure.steps
        self._at = waiting.at
        self._known = dict(waiting.values)
        self._calls = dict(waiting.calls)
        self._results = _results_of(waiting.calls)
        # All calls and judged conditions for this message share this deadline.
        self._ends_at = time.monotonic() + settings.LLM_DEADLINE_SECONDS
        self._runner = FunctionRunner(
            self._chat.bot, subject, max_calls=len(self._steps), ends_at=self._ends_at
        )
        self._trace = trace or Trace()
        self._texts: list[str] = []
        # Whether the customer has just agreed, which approves the next call that they must approve.
        self._is_confirmed = False
        self._step_log: list[dict[str, Any]] = []

    @property
    def step(self) -> Step:
        return self._steps[self._at]

    @property
    def country(self) -> str:
        """The client's country, for phone numbers without a country code."""
        return time_zones.country_of(self._chat.client.timezone)

    @property
    def _values(self) -> dict[str, Any]:
        return self._known | self._results

    def resume(self, value: Any) -> Decision:
        """Continue with the customer's answer to the step that waited."""
        step = self.step
        if step.kind == "ask":
            self._known[step.name] = value
        self._is_confirmed = step.kind == "confirm"
        self._log_step(step, "given" if step.kind == "ask" else "yes")
        self._at += 1
        return self.run()

    def run(self) -> Decision:
        """Take steps until a step waits or the procedure ends; return what the bot does then."""
        while self._at < len(self._steps):
            step = self.step
            match step.kind:
                case "ask":
                    decision = self._ask(step)
                case "confirm":
                    question = procedures.fill(step.text, self._values)
                    choices = automated_messages.yes_and_no(self._chat.bot.default_language)
                    decision = self._ask_and_wait(step, "confirm", question, choices=choices)
                case "call":
                    decision = self._call(step)
                case "if":
                    decision = self._branch(step)
                case "say":
                    self._texts.append(procedures.fill(step.text, self._values))
                    self._log_step(step, "said")
                    decision = None
                case "go":
                    self._at, decision = step.go_to - 1, None
                case "hand over":
                    return self.hand_over("handed_over")
                case "end":
                    return self.end("done")
            if decision:
                return decision
            self._at += 1
        return self.end("done")

    def end(self, result: str, reply: CannedReply | None = None) -> Decision:
        """End with the given reply, else with the texts of the steps taken, else with `done`."""
        self._step_log.append({"kind": "end", "result": result})
        if reply is None and self._texts:
            return ProcedureText("\n\n".join(self._texts), self._receipt())
        reply = reply or CannedReply("done", Receipt())
        receipt = self._receipt(call_id=reply.receipt.call_id)
        return replace(reply, receipt=receipt)

    def hand_over(self, result: str) -> HandOver:
        """Hand over to a person, after the texts of the steps taken and, if a call failed, after
        telling the customer so."""
        self._step_log.append({"kind": "end", "result": result})
        if result == "failed":
            failed = automated_messages.sentence(
                "call_failed", language=self.message.language, chat=self._chat
            )
            self._texts.append(failed.text)
        return HandOver("procedure", self._receipt(before="\n\n".join(self._texts)))

    def with_another_try(self) -> Waiting:
        """Where the run waits, with one more try."""
        return replace(self.waiting, tries=self.waiting.tries + 1)

    def _ask(self, step: Step) -> Decision | None:
        if step.name in self._known:
            return None
        stored = None if self._chat.is_preview else customers.answers(self._chat.customer)
        value = (stored or {}).get(step.name)
        problem = slot_filling.problem(step.as_field, value, country=self.country)
        if value not in (None, "") and problem is None:
            self._known[step.name] = value
            self._log_step(step, "known")
            return None
        question = procedures.fill(step.text, self._values)
        return self._ask_and_wait(step, "ask", question, choices=step.options)

    def _branch(self, step: Step) -> Decision | None:
        now = datetime.now(ZoneInfo(self._chat.client.timezone))
        holds, by = procedures.decide(step.text, self._values, today=now.date()), "rule"
        if holds is None:
            holds, by = self._judge(step, today=f"{now:%A, %Y-%m-%d}"), "model"
        if holds is None:
            self._log_step(step, "unknown", by=by)
            return self.hand_over("undecided")
        self._log_step(step, "yes" if holds else "no", by=by)
        if not holds:
            self._at = step.go_to - 1
        return None

    def _judge(self, step: Step, *, today: str) -> bool | None:
        """Whether the model judges that a condition holds. None if it cannot tell, or without a
        model, time or credits to ask it."""
        engine = engines.engine_for(self._chat.client, self._chat.bot)
        seconds = self._ends_at - time.monotonic()
        if Capability.WRITE not in engine.capabilities or seconds <= 0:
            return None
        if not billing.reserve(self.message, engine, call=self._approved_call):
            return None
        history = fast_sql.latest_lines(self._chat, before=self.message.seq + 1)
        known_values = {
            name: json.dumps(value, ensure_ascii=False) for name, value in self._values.items()
        }
        task = text_tasks.decide(step.text, known_values, history, today=today)
        try:
            written = engine.complete(task, deadline_seconds=seconds)
        except EngineError as error:
            self._add_usage(engine.price, error.usage)
            return None
        self._add_usage(engine.price, written.usage)
        return written.draft.holds if written.draft.is_known else None

    def _add_usage(self, price: int, usage: Usage | None) -> None:
        """Add used tokens to the trace, which determines the price of the reply."""
        used = usage.plus(self._trace.usage) if usage else self._trace.usage
        self._trace = replace(self._trace, usage=used, price=price)

    def _call(self, step: Step) -> Decision | None:
        function = functions.find(self._chat.bot, step.name)
        if function is None:
            self._log_step(step, "unavailable")
            return self.hand_over("failed")
        values = self._arguments(step, function)
        try:
            argument_schemas.check(values, function.parameters)
            call = self._runner.make(function, values, is_confirmed=self._is_confirmed)
        except argument_schemas.WrongArguments as error:
            self._log_step(step, "wrong_values", error=str(error))
            return self.hand_over("failed")
        except ApprovalNeeded as needed:
            return self._wait_for_approval(step, needed.call)
        if function.requires_approval == Approval.CUSTOMER:
            self._is_confirmed = False
        self._calls[step.name] = str(call.pk)
        self._log_step(step, call.status, call_id=str(call.pk))
        if call.status == CallStatus.SUCCEEDED:
            self._results[step.name] = procedures.result_of(call.result_excerpt)
            return None
        self._results.pop(step.name, None)
        next_step = self._steps[self._at + 1] if self._at + 1 < len(self._steps) else None
        # Whether the next step checks whether this call failed.
        is_handled = next_step is not None and procedures.is_failure(next_step.text, step.name)
        is_uncertain = call.error.startswith(function_runner.UNCERTAIN)
        return None if is_handled and not is_uncertain else self.hand_over("failed")

    def _wait_for_approval(self, step: Step, call: FunctionCall) -> Decision:
        """Wait for the customer or an agent to approve a call."""
        proposed = ProposedCall.from_row(call)
        self._log_step(step, "waiting", call_id=proposed.id)
        before = "\n\n".join(self._texts)
        receipt = self._receipt("call", call_id=proposed.id, before=before)
        receipt = replace(receipt, decision="approval_needed")
        if proposed.requires_approval == Approval.CUSTOMER:
            return AskConfirmation(proposed, receipt)
        return HandOver("approval_needed", receipt, proposed)

    def _arguments(self, step: Step, function: Function) -> dict[str, Any]:
        """The arguments of a call: those that the step sets and, for all other parameters, the
        known values of the same names."""
        schemas = function.parameters.get("properties", {})
        arguments = {name: self._known[name] for name in schemas if name in self._known}
        arguments |= {
            name: procedures.argument(text, self._values) for name, text in step.arguments.items()
        }
        return {
            name: _convert(value, schemas.get(name))
            for name, value in arguments.items()
            if value is not None
        }

    def _ask_and_wait(
        self, step: Step, asks: Literal["ask", "confirm"], question: str, choices: Any = ()
    ) -> Decision:
        """Ask the customer a question, after the texts so far, and wait for the answer."""
        self._log_step(step, "asked")
        text = "\n\n".join([*self._texts, question])
        return ProcedureText(text, self._receipt(asks, question=question), tuple(choices))

    def _log_step(self, step: Step, result: str, **more: str) -> None:
        """Log the result of a step for the receipt."""
        row = {"line": step.line, "kind": step.kind, "name": step.name, "result": result, **more}
        self._step_log.append({name: value for name, value in row.items() if value != ""})

    def _receipt(
        self,
        asks: Literal["ask", "confirm", "call", ""] = "",
        *,
        question: str = "",
        call_id: str | None = None,
        before: str = "",
    ) -> Receipt:
        """The receipt of the message, with the steps taken and, if it asks something (`asks`),
        where the run waits."""
        stored: dict[str, Any] = {"name": self.waiting.name, "steps": self._step_log}
        if asks:
            waiting = replace(
                self.waiting, at=self._at, values=self._known, calls=self._calls, asks=asks,
                tries=1, question=question,
            )  # fmt: skip
            stored["waiting"] = asdict(waiting)
        return Receipt("procedure", self._trace, call_id=call_id, procedure=stored, before=before)


def _results_of(calls: Mapping[str, str]) -> dict[str, Any]:
    """The results of successful calls for earlier messages, by the functions' names."""
    if not calls:
        return {}
    rows = FunctionCall.objects.filter(pk__in=calls.values(), status=CallStatus.SUCCEEDED)
    calls_by_id = {str(row.pk): row for row in rows}
    return {
        name: procedures.result_of(calls_by_id[pk].result_excerpt)
        for name, pk in calls.items()
        if pk in calls_by_id
    }


def _convert(value: Any, schema: Any) -> Any:
    """The value, as text if it is a number and its schema requires text, or as a number if it is a
    whole number in text and its schema requires a number."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind in {"integer", "number"} and isinstance(value, str) and value.isdecimal():
        return int(value)
    return value
