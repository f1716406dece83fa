"""Makes function calls: for answers and procedures, after approvals, and for trials.

A call's row is committed before its request is sent, and the result is added later. If a job finds
a row that is still `running`, an earlier worker has crashed. Then only a GET is sent again, so any
other request is sent at most once.
"""

import hashlib
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from bots.engine import Capability, Engine, argument_schemas, request_templates, tools
from bots.engine.mcp_client import McpError, McpSession
from bots.engine.types import Interrupted
from bots.models import (
    Approval,
    Bot,
    CallStatus,
    Function,
    FunctionCall,
    FunctionCalling,
    McpServer,
)
from bots.services import functions, mcp_servers, procedures
from bots.services.procedures import ParsedProcedure
from chatplatform import egress, jobs
from chatplatform.api.errors import Invalid
from chatplatform.sql import column_names
from identity.models import User

MAX_ANSWER_BYTES = 200_000
CHANGED_TOOL = "The tool has changed on its server. Look at it and allow it again."
BLOCKED = "blocked destination: "
UNCERTAIN = "uncertain: it is not known whether the call took effect"
_CARRIED_OUT = frozenset({CallStatus.SUCCEEDED, CallStatus.FAILED})
_MIN_SECRET_CHARS = 4
_MIN_TOKEN_CHARS = 8
_EARLIER_CALLS = f"""
SELECT {column_names(FunctionCall)} FROM bots_functioncall
WHERE message_id = %s AND fingerprint <> '' ORDER BY id
"""
_ENABLED = f"""
SELECT {column_names(FunctionCalling)} FROM bots_functioncalling WHERE bot_id = %s AND is_enabled
"""


class ProcedureChosen(Interrupted):
    """The model has chosen a procedure, which the platform runs instead of sending an answer."""

    def __init__(self, procedure: ParsedProcedure) -> None:
        super().__init__(procedure.name)
        self.procedure = procedure


class ApprovalNeeded(Interrupted):
    """An agent or the customer must approve the call before the answer can continue."""

    def __init__(self, call: FunctionCall) -> None:
        super().__init__(f"{call.function_name} needs the approval of: {call.requires_approval}")
        self.call = call


@dataclass(frozen=True, slots=True)
class Subject:
    """The customer for whom calls are made; set by the platform, so that no model can change it."""

    conversation_id: uuid.UUID
    message_id: uuid.UUID
    customer_external_id: str | None

    @property
    def values(self) -> dict[str, str | None]:
        return {
            request_templates.CUSTOMER: self.customer_external_id,
            request_templates.CHAT: str(self.conversation_id),
        }


class FunctionRunner:
    """Makes the calls for the answer to one message."""

    def __init__(self, bot: Bot, subject: Subject, *, max_calls: int, ends_at: float) -> None:
        self._bot = bot
        self._subject = subject
        self._ends_at = ends_at
        self._max_calls = max_calls
        self.functions = {row.name: row for row in functions.usable(bot)} if max_calls else {}
        self.procedures = {row.tool_name: row for row in procedures.enabled(bot)}
        self._repaired: set[str] = set()
        # Whether a call may have changed something. If so, no quotation may replace the answer,
        # since it could not report the change.
        self.has_acted = False
        self.call_ids: list[str] = []

    def toolbox(self, before_call: Callable[[], None]) -> tools.Toolbox:
        """The tools for the engine, with the calls already made for this message.

        `before_call` is called before each call, to discard the text streamed so far.
        """

        def call(name: str, arguments_json: str) -> tools.Result:
            before_call()
            return self.call(name, arguments_json)

        offered = tuple(
            tools.Tool(row.name, row.description, row.parameters) for row in self.functions.values()
        ) + tuple(row.tool for row in self.procedures.values())
        max_calls = self._max_calls or 1
        return tools.Toolbox(offered, call, self.refuse, max_calls, self._earlier_calls())

    def _earlier_calls(self) -> tuple[tools.CompletedCall, ...]:
        rows = FunctionCall.objects.raw(_EARLIER_CALLS, [self._subject.message_id])
        calls = [_fail_if_interrupted(row) for row in rows]
        unfinished = {CallStatus.WAITING, CallStatus.RUNNING}
        finished = [call for call in calls if call.status not in unfinished]
        for call in finished:
            self._count(call)
        return tuple(
            tools.CompletedCall(call.function_name, json.dumps(call.arguments), result_of(call))
            for call in finished
        )

    def call(self, name: str, arguments_json: str) -> tools.Result:
        """Make a call that the model requests, or return why it was refused.

        Raises ApprovalNeeded and ProcedureChosen.
        """
        if name in self.procedures:
            raise ProcedureChosen(self.procedures[name])
        function = self.functions.get(name)
        if function is None:
            return self._log_refusal(name, arguments_json, "There is no function of this name.")
        try:
            values = argument_schemas.parse(arguments_json, function.parameters)
        except argument_schemas.WrongArguments as error:
            return self._refuse_arguments(name, arguments_json, str(error))
        return result_of(self.make(function, values))

    def make(
        self, function: Function, values: dict[str, Any], *, is_confirmed: bool = False
    ) -> FunctionCall:
        """Make a call with checked arguments, unless it was already made; raises ApprovalNeeded.

        `is_confirmed`: the customer has just agreed to it, so they are not asked to approve it.
        """
        needs_approval = function.requires_approval != Approval.NONE
        if is_confirmed and function.requires_approval == Approval.CUSTOMER:
            needs_approval = False
        call = _get_or_create(
            self._bot, function, values, self._subject, needs_approval=needs_approval
        )
        if call.status == CallStatus.WAITING:
            raise ApprovalNeeded(call)
        if call.status == CallStatus.RUNNING:
            _send(call, function, self._subject, seconds_left=self._ends_at - time.monotonic())
        self._count(call)
        return call

    def _count(self, call: FunctionCall) -> None:
        function = self.functions.get(call.function_name)
        self.call_ids.append(str(call.pk))
        self.has_acted |= call.status in _CARRIED_OUT and (not function or function.method != "GET")

    def refuse(self, name: str, arguments_json: str) -> tools.Result:
        """Log a call beyond the limit without making it."""
        return self._log_refusal(name, arguments_json, "The limit of calls is reached: answer now.")

    def _refuse_arguments(self, name: str, arguments_json: str, reason: str) -> tools.Result:
        advice = "Do not call it again." if name in self._repaired else "Correct them once."
        self._repaired.add(name)
        return self._log_refusal(name, arguments_json, f"Wrong arguments: {reason} {advice}")

    def _log_refusal(self, name: str, arguments_json: str, reason: str) -> tools.Result:
        FunctionCall.objects.create(
            client_id=self._bot.client_id,
            bot=self._bot,
            conversation_id=self._subject.conversation_id,
            message_id=self._subject.message_id,
            function_name=tools.storable(name)[:200],
            arguments=_loggable(arguments_json),
            status=CallStatus.REFUSED,
            error=tools.storable(reason)[:500],
        )
        return tools.Result(f"Refused: {reason}")


def for_answer(
    engine: Engine, bot: Bot, subject: Subject, *, seconds: float
) -> FunctionRunner | None:
    """The runner for a message's calls, which must end within `seconds`; None if the engine cannot
    call functions, or if there is nothing to call."""
    if Capability.CALL_FUNCTIONS not in engine.capabilities:
        return None
    config = next(iter(FunctionCalling.objects.raw(_ENABLED, [bot.pk])), None)
    if config is None and not bot.procedures:
        return None
    max_calls, ends_at = config.max_calls_per_reply if config else 0, time.monotonic() + seconds
    runner = FunctionRunner(bot, subject, max_calls=max_calls, ends_at=ends_at)
    return runner if runner.functions or runner.procedures else None


def result_of(call: FunctionCall) -> tools.Result:
    """The result of a finished call as the model reads it."""
    is_from_server = call.http_status is not None
    if call.status == CallStatus.SUCCEEDED:
        return tools.Result(
            call.result_excerpt or "Done. The server returned nothing else.", is_from_server
        )
    if call.status == CallStatus.REJECTED:
        return tools.Result("It was not done: whoever had to agree did not.")
    excerpt = f"\n{call.result_excerpt}" if call.result_excerpt else ""
    return tools.Result(f"It failed: {call.error}{excerpt}", is_from_server)


def _loggable(arguments_json: str) -> dict[str, Any]:
    """The arguments for the log; invalid ones are logged as text."""
    try:
        return argument_schemas.parse(arguments_json, {})
    except argument_schemas.WrongArguments:
        return {"raw": tools.storable(arguments_json)[:2_000]}


# --- one call -----------------------------------------------------------------------------------


def _get_or_create(
    bot: Bot,
    function: Function,
    values: dict[str, Any],
    subject: Subject,
    *,
    needs_approval: bool,
) -> FunctionCall:
    """The row that an earlier attempt created for this call, or else a new row, which is running or
    waits for approval."""
    canonical = json.dumps([function.name, values], sort_keys=True)
    fingerprint = hashlib.sha256(canonical.encode()).hexdigest()
    approval = function.requires_approval if needs_approval else Approval.NONE
    try:
        # `jobs.commit` stops a worker that lost its job, since the next worker makes the call.
        with jobs.commit():
            return FunctionCall.objects.create(
                client_id=bot.client_id,
                bot=bot,
                conversation_id=subject.conversation_id,
                message_id=subject.message_id,
                function_name=function.name,
                arguments=values,
                fingerprint=fingerprint,
                status=CallStatus.WAITING if needs_approval else CallStatus.RUNNING,
                requires_approval=approval,
                definition=_definition(function) if needs_approval else "",
            )
    except IntegrityError:
        rows = FunctionCall.objects.filter(message_id=subject.message_id)
        return _fail_if_interrupted(rows.get(fingerprint=fingerprint))


def _definition(function: Function) -> str:
    """A hash of everything that determines what a call does. An approval is valid only as long as
    the hash stays the same."""
    server = function.mcp_server
    described = [
        function.name, function.parameters, function.method, function.url, function.headers,
        functions.secret_headers(function), function.body_template, function.tool_version,
        [str(server.pk), server.url, server.token] if server else None,
    ]  # fmt: skip
    text = json.dumps(described, sort_keys=True)
    # Keyed, since the text contains secrets.
    return salted_hmac("bots.function", text, algorithm="sha256").hexdigest()


def _fail_if_interrupted(call: FunctionCall) -> FunctionCall:
    """Return an earlier attempt's call, marked as failed if it was interrupted and is not a GET."""
    if call.status != CallStatus.RUNNING:
        return call
    function = Function.objects.filter(bot_id=call.bot_id, name=call.function_name).first()
    if function is None or function.method != "GET":
        _record(call, CallStatus.FAILED, error=UNCERTAIN)
    return call


def run_approved(call: FunctionCall, subject: Subject, *, seconds: float) -> FunctionCall:
    """Make an approved call; does nothing if the call has ended. Safe to run twice."""
    with jobs.commit():
        has_started = FunctionCall.objects.filter(
            pk=call.pk, status=CallStatus.WAITING, decided_at__isnull=False
        ).update(status=CallStatus.RUNNING)
    call.refresh_from_db()
    if not has_started:
        call = _fail_if_interrupted(call)
    if call.status != CallStatus.RUNNING:
        return call
    function = functions.find(call.bot, call.function_name)
    if function is None:
        _record(call, CallStatus.REFUSED, error="The function no longer exists.")
        return call
    if call.definition != _definition(function):
        _record(call, CallStatus.REFUSED, error="The function was changed after it was asked for.")
        return call
    _send(call, function, subject, seconds_left=seconds)
    return call


def try_out(
    function: Function, arguments: dict[str, Any], *, customer_external_id: str | None, by: User
) -> FunctionCall:
    """Make and log one call for a person who tries out the function, outside any conversation."""
    try:
        argument_schemas.check(arguments, function.parameters)
    except argument_schemas.WrongArguments as error:
        raise Invalid.field("body", "arguments", msg=str(error)) from error
    call = FunctionCall.objects.create(
        client_id=function.client_id,
        bot_id=function.bot_id,
        function_name=function.name,
        arguments=arguments,
        status=CallStatus.RUNNING,
        decided_by=by,
        decided_at=Now(),
    )
    subject = Subject(call.pk, call.pk, customer_external_id or None)
    _send(call, function, subject, seconds_left=function.timeout_seconds)
    return call


def _send(call: FunctionCall, function: Function, subject: Subject, *, seconds_left: float) -> None:
    """Send the request to the function's server and record the result."""
    if seconds_left <= 0:
        _record(call, CallStatus.REFUSED, error="No time was left for the call.")
        return
    if function.mcp_server:
        seconds = min(function.timeout_seconds, seconds_left)
        _call_tool(call, function, function.mcp_server, seconds=seconds)
        return
    secrets = functions.secret_headers(function)
    is_get = function.method == "GET"
    started = time.monotonic()
    try:
        url, content = _request(function, {**call.arguments, **subject.values})
        if secrets and not egress.keeps_secrets(url, purpose="function"):
            raise egress.Blocked("insecure")
        reply = egress.request(
            function.method,
            url,
            headers=_headers(call, function, secrets),
            content=content,
            timeout_seconds=min(function.timeout_seconds, seconds_left),
            max_bytes=MAX_ANSWER_BYTES,
            purpose="function",
        )
    except request_templates.InvalidArgument as error:
        _record(call, CallStatus.REFUSED, error=str(error))
    except egress.Blocked as error:
        _record(call, CallStatus.REFUSED, error=f"{BLOCKED}{error}")
    except egress.EgressError as error:
        _record(
            call,
            CallStatus.FAILED,
            error=_failure(str(error), may_have_acted=not (is_get or error.nothing_sent)),
            duration_ms=round((time.monotonic() - started) * 1000),
        )
    else:
        _record_reply(call, reply, secrets, is_get=is_get)


def _call_tool(
    call: FunctionCall, function: Function, server: McpServer, *, seconds: float
) -> None:
    """Call a tool of an MCP server, unless the tool has changed since a person allowed it."""
    started, is_sent = time.monotonic(), False
    secrets = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    try:
        with McpSession(server.url, server.token, seconds=seconds) as session:
            listed = session.tools()
            versions = {tool.name: mcp_servers.version_of(tool) for tool in listed}
            if versions.get(function.tool) != function.tool_version:
                mcp_servers.store_listing(server, listed)
                _record(call, CallStatus.REFUSED, error=CHANGED_TOOL)
                return
            is_sent = True
            result = session.call(function.tool, call.arguments)
    except (McpError, egress.EgressError) as error:
        may_have_acted = is_sent and not getattr(error, "nothing_sent", isinstance(error, McpError))
        text = _failure(_redacted(str(error), secrets), may_have_acted=may_have_acted)
        spent = round((time.monotonic() - started) * 1000)
        _record(call, CallStatus.FAILED, error=text, duration_ms=spent)
        return
    _record(
        call,
        CallStatus.FAILED if result.is_error else CallStatus.SUCCEEDED,
        error="The tool reported an error." if result.is_error else "",
        # Marks the result as coming from a server, so that an answer may rely on it.
        http_status=200,
        result_excerpt=tools.truncate_result(_redacted(tools.storable(result.text), secrets)),
        duration_ms=round((time.monotonic() - started) * 1000),
    )


def _request(function: Function, values: dict[str, Any]) -> tuple[str, bytes | None]:
    """The URL and the body of the request; raises InvalidArgument."""
    template = (
        request_templates.read_body(function.body_template) if function.body_template else None
    )
    used = request_templates.url_names(function.url) | (template.names if template else frozenset())
    if request_templates.CUSTOMER in used and not values[request_templates.CUSTOMER]:
        raise request_templates.InvalidArgument("It is not known who the customer is.")
    url = request_templates.url(function.url, values)
    if function.method in {"GET", "DELETE"}:
        return url, None
    if template:
        return url, request_templates.body(template, values)
    arguments = {
        name: value for name, value in values.items() if name not in request_templates.BOUND
    }
    return url, json.dumps(arguments, ensure_ascii=False).encode()


def _headers(call: FunctionCall, function: Function, secrets: dict[str, str]) -> dict[str, str]:
    headers = {**function.headers, **secrets}
    names = {name.lower() for name in headers}
    if function.method == "GET":
        return headers
    if function.method != "DELETE" and "content-type" not in names:
        headers["Content-Type"] = "application/json"
    return {**headers, "Idempotency-Key": str(call.pk)}


def _failure(text: str, *, may_have_acted: bool) -> str:
    return f"{UNCERTAIN}. {text}" if may_have_acted else text


def _record_reply(
    call: FunctionCall, reply: egress.Reply, secrets: dict[str, str], *, is_get: bool
) -> None:
    text = _redacted(tools.storable(reply.body.decode("utf-8", "replace")), secrets)
    is_good = 200 <= reply.status < 300
    error = "" if is_good else f"The server answered {reply.status}."
    if 300 <= reply.status < 400:
        error += " Redirects are not followed."
    # A gateway may respond like this while the server is still working.
    error = _failure(error, may_have_acted=reply.status >= 500 and not is_get)
    _record(
        call,
        CallStatus.SUCCEEDED if is_good else CallStatus.FAILED,
        error=error,
        http_status=reply.status,
        result_excerpt=tools.truncate_result(text),
        duration_ms=reply.duration_ms,
    )


def _redacted(text: str, secrets: dict[str, str]) -> str:
    """The text with secrets replaced, since a server may echo what it received."""
    hidden = {value for value in secrets.values() if len(value) >= _MIN_SECRET_CHARS}
    # In "Bearer abc", the token alone is a secret too.
    tokens = [token for value in secrets.values() for token in value.split()]
    hidden |= {token for token in tokens if len(token) >= _MIN_TOKEN_CHARS}
    for value in sorted(hidden, key=len, reverse=True):
        for form in (value, json.dumps(value)[1:-1]):
            text = text.replace(form, "[secret]")
    return text


def _record(call: FunctionCall, status: CallStatus, *, error: str = "", **fields: Any) -> None:
    """Store the result of a call that is running or was already marked as uncertain."""
    call.status, call.error = status, tools.storable(error)[:500]
    for name, value in fields.items():
        setattr(call, name, value)
    FunctionCall.objects.filter(
        Q(status=CallStatus.RUNNING) | Q(status=CallStatus.FAILED, error=UNCERTAIN), pk=call.pk
    ).update(status=call.status, error=call.error, **fields)


def abandon(call: FunctionCall) -> None:
    """Mark an approved call as failed after its job's last attempt."""
    error = UNCERTAIN if call.status == CallStatus.RUNNING else "It could not be made."
    FunctionCall.objects.filter(
        pk=call.pk, status__in=[CallStatus.WAITING, CallStatus.RUNNING]
    ).update(status=CallStatus.FAILED, error=error)
    call.refresh_from_db()
