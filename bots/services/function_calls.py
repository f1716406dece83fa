"""Calls of functions: asked for by a model, approved by people, made at most once, logged.

A call's row is committed before its request goes out, and says afterwards what came back. A row
that is found `running` was left by a worker that died: only a GET is sent again.
"""

import hashlib
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from bots.engine import arguments, rendering, tools
from bots.models import Approval, Bot, CallStatus, Function, FunctionCall, FunctionCalling
from bots.services import engines, functions
from bots.shapes.function_calling import FunctionCallingEventsQuery
from chatplatform import egress, jobs
from chatplatform.api.errors import ApiError, NotFound
from identity.models import User
from identity.services import audit

MAX_ANSWER_BYTES = 200_000
EXPIRES_AFTER = timedelta(hours=24)
UNCERTAIN = "uncertain: it is not known whether the call took effect"
EXPIRED = "expired"
_CARRIED_OUT = frozenset({CallStatus.SUCCEEDED, CallStatus.FAILED})
_MIN_SECRET_CHARS = 4
_MIN_TOKEN_CHARS = 8


class AlreadyDecided(ApiError):
    code, status = "already_decided", 409
    detail = "This call does not wait for a decision any more."


class ApprovalNeeded(Exception):
    """A person must agree before the answer can go on."""

    def __init__(self, call: FunctionCall) -> None:
        super().__init__(f"{call.function_name} needs the approval of: {call.requires_approval}")
        self.call = call


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a call is for, as the platform knows it: no model can choose another."""

    conversation_id: uuid.UUID
    message_id: uuid.UUID
    customer_external_id: str | None

    @property
    def values(self) -> dict[str, str | None]:
        return {
            rendering.CUSTOMER: self.customer_external_id,
            rendering.CHAT: str(self.conversation_id),
        }


class Turn:
    """The calls of one answer to one message."""

    def __init__(self, bot: Bot, subject: Subject, *, max_calls: int, ends_at: float) -> None:
        self._bot = bot
        self._subject = subject
        self._ends_at = ends_at
        self._max_calls = max_calls
        self._functions = {
            row.name: row for row in Function.objects.filter(bot=bot).order_by("position")
        }
        self._repaired: set[str] = set()
        # Something may have been changed: no other answer can take this one's place.
        self.has_acted = False
        self.call_ids: list[str] = []

    @property
    def is_empty(self) -> bool:
        return not self._functions

    def toolbox(self, before_call: Callable[[], None]) -> tools.Toolbox:
        """What the engine is given; calls that were made for this message come along.

        `before_call` takes back what the model said before it thought of a function.
        """

        def call(name: str, arguments_json: str) -> tools.Result:
            before_call()
            return self.call(name, arguments_json)

        offered = tuple(
            tools.Tool(row.name, row.description, row.parameters)
            for row in self._functions.values()
        )
        return tools.Toolbox(offered, call, self.refuse, self._max_calls, self._earlier())

    def _earlier(self) -> tuple[tools.Done, ...]:
        rows = FunctionCall.objects.filter(message_id=self._subject.message_id)
        made = [_settled(row) for row in rows.exclude(fingerprint="").order_by("id")]
        over = [row for row in made if row.status not in {CallStatus.WAITING, CallStatus.RUNNING}]
        for row in over:
            self._note(row)
        return tuple(
            tools.Done(row.function_name, json.dumps(row.arguments), told(row)) for row in over
        )

    def call(self, name: str, arguments_json: str) -> tools.Result:
        """Carry out what the model asks for, or tell it why not; raises ApprovalNeeded."""
        function = self._functions.get(name)
        if function is None:
            return self._refused(name, arguments_json, "There is no function of this name.")
        try:
            given = arguments.parse(arguments_json, function.parameters)
        except arguments.WrongArguments as error:
            return self._wrong(name, arguments_json, str(error))
        row = _find_or_make(self._bot, function, given, self._subject)
        if row.status == CallStatus.WAITING:
            raise ApprovalNeeded(row)
        if row.status == CallStatus.RUNNING:
            _send(row, function, self._subject, seconds_left=self._ends_at - time.monotonic())
        self._note(row)
        return told(row)

    def _note(self, row: FunctionCall) -> None:
        function = self._functions.get(row.function_name)
        self.call_ids.append(str(row.pk))
        self.has_acted |= row.status in _CARRIED_OUT and (not function or function.method != "GET")

    def refuse(self, name: str, arguments_json: str) -> tools.Result:
        """A call beyond the limit: logged, and not made."""
        return self._refused(name, arguments_json, "The limit of calls is reached: answer now.")

    def _wrong(self, name: str, arguments_json: str, reason: str) -> tools.Result:
        advice = "Do not call it again." if name in self._repaired else "Correct them once."
        self._repaired.add(name)
        return self._refused(name, arguments_json, f"Wrong arguments: {reason} {advice}")

    def _refused(self, name: str, arguments_json: str, reason: str) -> tools.Result:
        FunctionCall.objects.create(
            client_id=self._bot.client_id,
            bot=self._bot,
            conversation_id=self._subject.conversation_id,
            message_id=self._subject.message_id,
            function_name=_storable(name)[:200],
            arguments=_as_given(arguments_json),
            status=CallStatus.REFUSED,
            error=_storable(reason)[:500],
        )
        return tools.Result(f"Refused: {reason}")


def turn(bot: Bot, subject: Subject, *, seconds: float) -> Turn | None:
    """What may be called for a message within `seconds`; None where nothing may."""
    if engines.why_no_functions(bot.client, bot):
        return None
    config = FunctionCalling.objects.filter(bot=bot, is_enabled=True).first()
    if config is None:
        return None
    made = Turn(
        bot, subject, max_calls=config.max_calls_per_reply, ends_at=time.monotonic() + seconds
    )
    return None if made.is_empty else made


def told(row: FunctionCall) -> tools.Result:
    """What a model is told of a call that is over."""
    is_heard = row.http_status is not None
    if row.status == CallStatus.SUCCEEDED:
        return tools.Result(row.result_excerpt or "Done; the server said nothing more.", is_heard)
    if row.status == CallStatus.REJECTED:
        return tools.Result("It was not done: whoever had to agree did not.")
    answered = f"\n{row.result_excerpt}" if row.result_excerpt else ""
    return tools.Result(f"It failed: {row.error}{answered}", is_heard)


def _storable(text: str) -> str:
    """Text as PostgreSQL takes it."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def _as_given(arguments_json: str) -> dict[str, Any]:
    """Arguments for the log, whatever they are."""
    try:
        return arguments.parse(arguments_json, {})
    except arguments.WrongArguments:
        return {"raw": _storable(arguments_json)[:2_000]}


# --- one call -----------------------------------------------------------------------------------


def _find_or_make(
    bot: Bot, function: Function, given: dict[str, Any], subject: Subject
) -> FunctionCall:
    """The call's row: the one of an earlier attempt, or a new one that is running or waiting."""
    canonical = json.dumps([function.name, given], sort_keys=True)
    fingerprint = hashlib.sha256(canonical.encode()).hexdigest()
    asks = function.requires_approval != Approval.NONE
    try:
        with jobs.commit():
            # A worker that has lost its job must not begin what the next one will do.
            return FunctionCall.objects.create(
                client_id=bot.client_id,
                bot=bot,
                conversation_id=subject.conversation_id,
                message_id=subject.message_id,
                function_name=function.name,
                arguments=given,
                fingerprint=fingerprint,
                status=CallStatus.WAITING if asks else CallStatus.RUNNING,
                requires_approval=function.requires_approval,
            )
    except IntegrityError:
        known = FunctionCall.objects.get(message_id=subject.message_id, fingerprint=fingerprint)
        return _settled(known)


def _settled(row: FunctionCall) -> FunctionCall:
    """A row of an earlier attempt: one that was cut off is over, unless it may be sent again."""
    if row.status != CallStatus.RUNNING:
        return row
    function = Function.objects.filter(bot_id=row.bot_id, name=row.function_name).first()
    if function is None or function.method != "GET":
        _record(row, CallStatus.FAILED, error=UNCERTAIN)
    return row


def run_approved(row: FunctionCall, subject: Subject, *, seconds: float) -> FunctionCall:
    """Make a call that was approved; does nothing where it is over. May be called twice."""
    with jobs.commit():
        begun = FunctionCall.objects.filter(
            pk=row.pk, status=CallStatus.WAITING, decided_at__isnull=False
        ).update(status=CallStatus.RUNNING)
    row.refresh_from_db()
    if not begun:
        row = _settled(row)
    if row.status != CallStatus.RUNNING:
        return row
    function = functions.find(row.bot, row.function_name)
    if function is None:
        _record(row, CallStatus.REFUSED, error="The function is not there any more.")
        return row
    try:
        arguments.fit(row.arguments, function.parameters)
    except arguments.WrongArguments as error:
        _record(row, CallStatus.REFUSED, error=f"The function was changed: {error}")
        return row
    _send(row, function, subject, seconds_left=seconds)
    return row


def _send(row: FunctionCall, function: Function, subject: Subject, *, seconds_left: float) -> None:
    """One exchange with the function's server, and what came of it."""
    secrets = functions.secret_headers(function)
    is_get = function.method == "GET"
    if seconds_left <= 0:
        _record(row, CallStatus.REFUSED, error="No time was left for the call.")
        return
    started = time.monotonic()
    try:
        url, content = _request(function, {**row.arguments, **subject.values})
        reply = egress.request(
            function.method,
            url,
            headers=_headers(row, function, secrets),
            content=content,
            timeout_seconds=min(function.timeout_seconds, seconds_left),
            max_bytes=MAX_ANSWER_BYTES,
            purpose="function",
        )
    except rendering.WrongValue as error:
        _record(row, CallStatus.REFUSED, error=str(error))
    except egress.Blocked:
        _record(row, CallStatus.REFUSED, error=f"blocked destination: {egress.REFUSAL}")
    except egress.EgressError as error:
        _record(
            row,
            CallStatus.FAILED,
            error=str(error) if is_get else f"{UNCERTAIN}. {error}",
            duration_ms=round((time.monotonic() - started) * 1000),
        )
    else:
        _record_reply(row, reply, secrets)


def _request(function: Function, values: dict[str, Any]) -> tuple[str, bytes | None]:
    """The address and the body; raises WrongValue."""
    template = rendering.read_body(function.body_template) if function.body_template else None
    used = rendering.url_names(function.url) | (template.names if template else frozenset())
    if rendering.CUSTOMER in used and not values[rendering.CUSTOMER]:
        raise rendering.WrongValue("It is not known who the customer is.")
    url = rendering.url(function.url, values)
    if function.method in {"GET", "DELETE"}:
        return url, None
    if template:
        return url, rendering.body(template, values)
    own = {name: value for name, value in values.items() if name not in rendering.BOUND}
    return url, json.dumps(own, ensure_ascii=False).encode()


def _headers(row: FunctionCall, function: Function, secrets: dict[str, str]) -> dict[str, str]:
    given = {**function.headers, **secrets}
    names = {name.lower() for name in given}
    if function.method == "GET":
        return given
    if function.method != "DELETE" and "content-type" not in names:
        given["Content-Type"] = "application/json"
    return {**given, "Idempotency-Key": str(row.pk)}


def _record_reply(row: FunctionCall, reply: egress.Reply, secrets: dict[str, str]) -> None:
    text = _redacted(_storable(reply.body.decode("utf-8", "replace")), secrets)
    is_good = 200 <= reply.status < 300
    error = "" if is_good else f"The server answered {reply.status}."
    if 300 <= reply.status < 400:
        error += " Redirects are not followed."
    _record(
        row,
        CallStatus.SUCCEEDED if is_good else CallStatus.FAILED,
        error=error,
        http_status=reply.status,
        result_excerpt=tools.cut(text),
        duration_ms=reply.duration_ms,
    )


def _redacted(text: str, secrets: dict[str, str]) -> str:
    """A server may send back what it was sent: no credential reaches the log or the model."""
    hidden = {value for value in secrets.values() if len(value) >= _MIN_SECRET_CHARS}
    # "Bearer abc": the token alone is the secret as well.
    hidden |= {
        part
        for value in secrets.values()
        for part in value.split()
        if len(part) >= _MIN_TOKEN_CHARS
    }
    for value in sorted(hidden, key=len, reverse=True):
        for form in (value, json.dumps(value)[1:-1]):
            text = text.replace(form, "[secret]")
    return text


def _record(row: FunctionCall, status: CallStatus, *, error: str = "", **found: Any) -> None:
    """Write down how a call ended. What a server said stands, whoever gave the call up before."""
    row.status, row.error = status, _storable(error)[:500]
    for name, value in found.items():
        setattr(row, name, value)
    FunctionCall.objects.filter(
        Q(status=CallStatus.RUNNING) | Q(status=CallStatus.FAILED, error=UNCERTAIN), pk=row.pk
    ).update(status=row.status, error=row.error, **found)


def ordering_key(conversation_id: uuid.UUID | None) -> str:
    """Of all jobs that answer in a conversation: they run one after the other."""
    return f"chat:{conversation_id}"


# --- approval -----------------------------------------------------------------------------------


def decide(bot: Bot, call_id: uuid.UUID, *, approve: bool, by: User) -> FunctionCall:
    """An agent's word on a call that waits for one; the first word counts."""
    rows = FunctionCall.objects.filter(bot=bot, pk=call_id, requires_approval=Approval.AGENT)
    if not rows.exists():
        raise NotFound
    with transaction.atomic():
        if not _decide(rows, approve=approve, by=by):
            raise AlreadyDecided
        audit.record(
            bot.client_id,
            "function_call.approved" if approve else "function_call.rejected",
            by=by,
            subject=f"function_call:{call_id}",
        )
        row: FunctionCall = rows.get()
        jobs.enqueue(
            "chats.continue_after_approval",
            client_id=bot.client_id,
            ordering_key=ordering_key(row.conversation_id),
            call_id=str(call_id),
        )
    return row


def decide_as_customer(row: FunctionCall, *, approve: bool, message_id: uuid.UUID) -> bool:
    """The customer's word, said in `message_id`, to which the call belongs from now on."""
    rows = FunctionCall.objects.filter(pk=row.pk, requires_approval=Approval.CUSTOMER)
    with jobs.commit():
        decided = _decide(rows, approve=approve, message_id=message_id)
    row.refresh_from_db()
    return decided


def withdraw(row: FunctionCall) -> None:
    """The customer said neither yes nor no, and talks of something else."""
    _decide(FunctionCall.objects.filter(pk=row.pk), approve=False, error="not confirmed")


def _decide(
    rows: QuerySet[FunctionCall], *, approve: bool, by: User | None = None, **more: Any
) -> bool:
    waiting = rows.filter(
        status=CallStatus.WAITING, decided_at=None, created_at__gt=datetime.now(UTC) - EXPIRES_AFTER
    )
    if not approve:
        more |= {"status": CallStatus.REJECTED}
    return bool(waiting.update(decided_by=by, decided_at=Now(), **more))


def abandon(row: FunctionCall) -> None:
    """No attempt to make an approved call is left."""
    error = UNCERTAIN if row.status == CallStatus.RUNNING else "It could not be made."
    FunctionCall.objects.filter(
        pk=row.pk, status__in=[CallStatus.WAITING, CallStatus.RUNNING]
    ).update(status=CallStatus.FAILED, error=error)
    row.refresh_from_db()


def expire() -> int:
    """Reject calls that nobody has decided on in time; how many."""
    return FunctionCall.objects.filter(
        status=CallStatus.WAITING,
        decided_at=None,
        created_at__lte=datetime.now(UTC) - EXPIRES_AFTER,
    ).update(status=CallStatus.REJECTED, error=EXPIRED)


def forget(conversation_id: uuid.UUID) -> None:
    """Take a conversation's calls out of the log, in the transaction that deletes it."""
    FunctionCall.objects.filter(conversation_id=conversation_id).delete()


def waiting_for_customer(call_id: str) -> FunctionCall | None:
    """A call that the customer has yet to decide on; None where it is none, or too late."""
    return FunctionCall.objects.filter(
        pk=call_id,
        status=CallStatus.WAITING,
        requires_approval=Approval.CUSTOMER,
        decided_at=None,
        created_at__gt=datetime.now(UTC) - EXPIRES_AFTER,
    ).first()


def decided_in(message_id: uuid.UUID) -> FunctionCall | None:
    """The call that this message of the customer has decided on already."""
    return FunctionCall.objects.filter(
        message_id=message_id, requires_approval=Approval.CUSTOMER, decided_at__isnull=False
    ).first()


# --- the log ------------------------------------------------------------------------------------


def list_for_bot(bot: Bot, query: FunctionCallingEventsQuery) -> QuerySet[FunctionCall]:
    """The bot's calls; order and page are the caller's."""
    rows = FunctionCall.objects.filter(bot=bot)
    if query.function is not None:
        rows = rows.filter(function_name=query.function)
    if query.status is not None:
        rows = rows.filter(status=query.status)
    if query.chat_id is not None:
        rows = rows.filter(conversation_id=query.chat_id)
    return rows
