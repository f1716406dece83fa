"""Reads and changes the functions that a bot may call."""

import json
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from bots.engine import argument_schemas, request_templates
from bots.models import Bot, Function, FunctionCalling
from bots.schemas.function_calling import MAX_FUNCTIONS, FunctionCallingConfigDTO, FunctionDTO
from bots.services import bots, engines
from chatplatform import egress
from chatplatform.api.errors import Invalid
from identity.models import User

_BODILESS = frozenset({"GET", "DELETE"})


def describe(bot: Bot) -> FunctionCallingConfigDTO:
    """The bot's function settings and the functions that the client defined, without secrets."""
    rows = _own(bot).order_by("position")
    return FunctionCallingConfigDTO.from_row(
        FunctionCalling.objects.filter(bot=bot).first(),
        [FunctionDTO.from_row(row, sorted(secret_headers(row))) for row in rows],
        unavailable_reason=engines.missing_function_setting(bot.client, bot),
    )


def usable(bot: Bot) -> QuerySet[Function]:
    """The functions that the bot may call: those that the client defined, and the tools of enabled
    MCP servers, except tools that have changed since they were allowed."""
    rows = Function.objects.filter(bot=bot, needs_review=False).select_related("mcp_server")
    return rows.filter(Q(mcp_server=None) | Q(mcp_server__is_enabled=True)).order_by("position")


def without_model_or_procedure(bots: QuerySet[Bot]) -> QuerySet[Bot]:
    """The given bots that cannot call functions because they have neither a model nor a
    procedure."""
    return bots.alias(has_model=engines.has_model()).filter(has_model=False, procedures=[])


def find(bot: Bot, name: str) -> Function | None:
    """The usable function of this name; None if there is none or function calling is off."""
    return usable(bot).filter(bot__function_calling__is_enabled=True, name=name).first()


def _own(bot: Bot) -> QuerySet[Function]:
    """The functions that the client defined; tools of MCP servers are not included."""
    return Function.objects.filter(bot=bot, mcp_server=None)


def secret_headers(function: Function) -> dict[str, str]:
    """Names and values of the secret headers."""
    headers: dict[str, str] = json.loads(function.secret_headers)
    return headers


def replace(bot: Bot, *, body: FunctionCallingConfigDTO, by: User) -> FunctionCallingConfigDTO:
    """Replace the settings and the functions that the client defined. A function whose secret
    headers are left out keeps the headers of the stored function with the same name."""
    _check_all(body.functions)
    with transaction.atomic():
        bots.lock(bot)
        changes = _replace_functions(bot, body.functions)
        values = body.model_dump(include={"is_enabled", "max_calls_per_reply"})
        _write_settings(bot, values, by=by, **changes)
    return describe(bot)


def save(bot: Bot, function: FunctionDTO, *, is_new: bool, by: User) -> None:
    """Add a function, or change the function with the same name.

    Function calling is enabled if the bot has no settings for it yet. Stored secret headers are
    kept if the request leaves them out.
    """
    _check_all([function])
    with transaction.atomic():
        bots.lock(bot)
        rows = list(Function.objects.filter(bot=bot).order_by("position"))
        existing = next((row for row in rows if row.name == function.name), None)
        if existing and (is_new or existing.mcp_server_id):
            raise Invalid.field(
                "body", "name", msg=gettext_noop("Another function already has this name.")
            )
        if existing is None and len(rows) >= MAX_FUNCTIONS:
            text = gettext("A bot can have up to %(count)s functions. Delete one first.")
            raise Invalid.field("body", "functions", msg=text % {"count": MAX_FUNCTIONS})
        position = existing.position if existing else (rows[-1].position + 1 if rows else 0)
        _store(bot, function, existing, position=position, place=0)
        calling, _ = FunctionCalling.objects.get_or_create(
            bot=bot, defaults={"client_id": bot.client_id, "is_enabled": True}
        )
        change = {"kept" if existing else "added": [function.name]}
        _record(bot, calling, by=by, **change)


def delete(function: Function, *, by: User) -> None:
    """Delete a single function; its calls stay in the log."""
    bot = function.bot
    with transaction.atomic():
        bots.lock(bot)
        function.delete()
        calling = FunctionCalling.objects.filter(bot=bot).first()
        _record(bot, calling, by=by, removed=[function.name])


def update_settings(bot: Bot, *, is_enabled: bool, max_calls_per_reply: int, by: User) -> None:
    """Set whether the bot may call functions, and how many calls a reply may make."""
    with transaction.atomic():
        bots.lock(bot)
        values = {"is_enabled": is_enabled, "max_calls_per_reply": max_calls_per_reply}
        _write_settings(bot, values, by=by)


def _write_settings(bot: Bot, values: dict[str, Any], *, by: User, **changes: list[str]) -> None:
    calling, _ = FunctionCalling.objects.update_or_create(
        bot=bot, defaults={"client_id": bot.client_id, **values}
    )
    _record(bot, calling, by=by, **changes)


def _record(bot: Bot, calling: FunctionCalling | None, *, by: User, **changes: list[str]) -> None:
    is_enabled = bool(calling and calling.is_enabled)
    bots.record(bot, "function_calling.updated", by=by, is_enabled=is_enabled, **changes)


def _check_all(functions: list[FunctionDTO]) -> None:
    """Check functions before the transaction, because resolving host names may take seconds."""
    for position, function in enumerate(functions):
        _check(position, function)
    urls = [request_templates.sample_url(function.http.url) for function in functions]
    refused = egress.first_blocked(urls, purpose="function")
    if refused is not None:
        place, reason = refused
        raise _invalid(place, "http", "url", msg=str(reason), type=reason.code)


def _replace_functions(bot: Bot, functions: list[FunctionDTO]) -> dict[str, list[str]]:
    existing = {row.name: row for row in _own(bot)}
    names = {function.name for function in functions}
    _check_against_tools(bot, names)
    _own(bot).exclude(name__in=names).delete()
    for position, function in enumerate(functions):
        _store(bot, function, existing.get(function.name), position=position, place=position)
    return {
        "added": sorted(names - set(existing)),
        "kept": sorted(names & set(existing)),
        "removed": sorted(set(existing) - names),
        "secrets_replaced": sorted(
            function.name for function in functions if function.secret_headers is not None
        ),
    }


def _check_against_tools(bot: Bot, names: set[str]) -> None:
    tools = Function.objects.filter(bot=bot).exclude(mcp_server=None)
    tool_names = set(tools.values_list("name", flat=True))
    if names & tool_names:
        text = gettext("A tool from an MCP server is already named %(name)s.")
        name = min(names & tool_names)
        raise Invalid.field("body", "functions", msg=text % {"name": name})
    if len(names | tool_names) > MAX_FUNCTIONS:
        text = gettext(
            "A bot can have up to %(count)s functions, including tools from MCP servers."
        )
        raise Invalid.field("body", "functions", msg=text % {"count": MAX_FUNCTIONS})


def _store(
    bot: Bot, function: FunctionDTO, existing: Function | None, *, position: int, place: int
) -> None:
    """Write a function's row; `place` is its position in the request, for errors."""
    row = existing or Function(client_id=bot.client_id, bot=bot, name=function.name)
    row.secret_headers = json.dumps(_merged_secret_headers(place, function, existing))
    fields = function.model_dump(include={"description", "parameters", "requires_approval"})
    for field, value in (fields | function.http.model_dump() | {"position": position}).items():
        setattr(row, field, value)
    row.save()


def _merged_secret_headers(
    position: int, function: FunctionDTO, existing: Function | None
) -> dict[str, str]:
    """The secret headers to store.

    422 if stored headers would be sent to another origin, if secret headers would be sent
    unencrypted, or if a header is both secret and plain.
    """
    if function.secret_headers is not None:
        headers = function.secret_headers
    elif existing is None:
        headers = {}
    else:
        headers = secret_headers(existing)
        if headers and request_templates.origin(existing.url) != request_templates.origin(
            function.http.url
        ):
            raise _invalid(
                position, "secret_headers",
                msg=gettext_noop(
                    "The address has a new host. Enter the secret headers again, or send {}."
                ),
            )  # fmt: skip
    if headers and not egress.keeps_secrets(function.http.url, purpose="function"):
        raise _invalid(
            position, "secret_headers", msg=gettext_noop("Secret headers require an https address.")
        )
    if {name.lower() for name in headers} & {name.lower() for name in function.http.headers}:
        raise _invalid(
            position, "secret_headers",
            msg=gettext_noop("A header can't be both secret and not secret."),
        )  # fmt: skip
    return headers


def _check(position: int, function: FunctionDTO) -> None:
    """Check everything that needs no network access; raises Invalid."""
    try:
        argument_schemas.check_schema(function.parameters)
    except argument_schemas.WrongSchema as error:
        raise _invalid(position, "parameters", msg=str(error)) from error
    names = set(function.parameters.get("properties", ()))
    if names & request_templates.BOUND:
        text = gettext("%(name)s is filled in by the platform")
        name = min(names & request_templates.BOUND)
        raise _invalid(position, "parameters", msg=text % {"name": name})
    _check_names(position, "url", names, lambda: request_templates.url_names(function.http.url))
    if not function.http.body_template:
        return
    if function.http.method in _BODILESS:
        raise _invalid(
            position, "http", "body_template",
            msg=gettext_noop("GET and DELETE requests have no body"),
        )  # fmt: skip
    _check_names(
        position,
        "body_template",
        names,
        lambda: request_templates.read_body(function.http.body_template).names,
    )


def _check_names(position: int, field: str, names: set[str], read: Any) -> None:
    try:
        unknown = read() - names - request_templates.BOUND
    except request_templates.InvalidTemplate as error:
        raise _invalid(position, "http", field, msg=str(error)) from error
    if unknown:
        text = gettext("%(name)s is not among the parameters' properties")
        raise _invalid(position, "http", field, msg=text % {"name": min(unknown)})


def _invalid(position: int, *field: str, msg: str, type: str = "value_error") -> Invalid:
    return Invalid.field("body", "functions", position, *field, msg=msg, type=type)
