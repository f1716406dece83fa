"""The functions that a bot may call: read them, and replace them as a whole."""

import json
from typing import Any

from django.db import transaction

from bots.engine import argument_schemas, request_templates
from bots.models import Bot, Function, FunctionCalling
from bots.services import bots, engines
from bots.shapes.function_calling import FunctionCallingConfigDTO, FunctionDTO
from chatplatform import egress
from chatplatform.api.errors import Invalid
from identity.models import User

_BODILESS = frozenset({"GET", "DELETE"})


def describe(bot: Bot) -> FunctionCallingConfigDTO:
    """The bot's configuration, without its secrets."""
    rows = Function.objects.filter(bot=bot).order_by("position")
    return FunctionCallingConfigDTO.from_row(
        FunctionCalling.objects.filter(bot=bot).first(),
        [FunctionDTO.from_row(row, sorted(secret_headers(row))) for row in rows],
        unavailable_reason=engines.why_no_functions(bot.client, bot),
    )


def find(bot: Bot, name: str) -> Function | None:
    """The function of this name; None if there is none or function calling is off."""
    rows = Function.objects.filter(bot=bot, bot__function_calling__is_enabled=True, name=name)
    return rows.first()


def secret_headers(function: Function) -> dict[str, str]:
    """Names and values of the secret headers."""
    headers: dict[str, str] = json.loads(function.secret_headers)
    return headers


def replace(bot: Bot, *, body: FunctionCallingConfigDTO, by: User) -> FunctionCallingConfigDTO:
    """Replace the configuration; functions whose secret headers are left out keep them by name."""
    for position, function in enumerate(body.functions):
        _check(position, function)
    # Resolve host names before the transaction, since that may take seconds.
    urls = [request_templates.sample_url(function.http.url) for function in body.functions]
    blocked = egress.first_blocked(urls, purpose="function")
    if blocked is not None:
        raise _invalid(blocked, "http", "url", msg=egress.REFUSAL)
    with transaction.atomic():
        bots.lock(bot)
        changes = _replace_functions(bot, body.functions)
        FunctionCalling.objects.update_or_create(
            bot=bot,
            defaults={
                "client_id": bot.client_id,
                "is_enabled": body.is_enabled,
                "max_calls_per_reply": body.max_calls_per_reply,
            },
        )
        bots.record(bot, "function_calling.updated", by=by, is_enabled=body.is_enabled, **changes)
    return describe(bot)


def _replace_functions(bot: Bot, functions: list[FunctionDTO]) -> dict[str, list[str]]:
    existing = {row.name: row for row in Function.objects.filter(bot=bot)}
    names = {function.name for function in functions}
    Function.objects.filter(bot=bot).exclude(name__in=names).delete()
    for position, function in enumerate(functions):
        name = function.name
        row = existing.get(name) or Function(client_id=bot.client_id, bot=bot, name=name)
        row.secret_headers = json.dumps(
            _merged_secret_headers(position, function, existing.get(name))
        )
        own = function.model_dump(include={"description", "parameters", "requires_approval"})
        for field, value in (own | function.http.model_dump() | {"position": position}).items():
            setattr(row, field, value)
        row.save()
    return {
        "added": sorted(names - set(existing)),
        "kept": sorted(names & set(existing)),
        "removed": sorted(set(existing) - names),
        "secrets_replaced": sorted(
            function.name for function in functions if function.secret_headers is not None
        ),
    }


def _merged_secret_headers(
    position: int, function: FunctionDTO, existing: Function | None
) -> dict[str, str]:
    """The secret headers to store. Stored ones are never sent to another origin."""
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
                msg="The address has another host: give the secret headers again, or {}.",
            )  # fmt: skip
    if headers and not egress.keeps_secrets(function.http.url, purpose="function"):
        raise _invalid(position, "secret_headers", msg="Secret headers go over https only.")
    if {name.lower() for name in headers} & {name.lower() for name in function.http.headers}:
        raise _invalid(position, "secret_headers", msg="A header cannot be both secret and not.")
    return headers


def _check(position: int, function: FunctionDTO) -> None:
    """Check everything that needs no network; raises Invalid."""
    try:
        argument_schemas.check_schema(function.parameters)
    except argument_schemas.WrongSchema as error:
        raise _invalid(position, "parameters", msg=str(error)) from error
    names = set(function.parameters.get("properties", ()))
    if names & request_templates.BOUND:
        name = sorted(names & request_templates.BOUND)[0]
        raise _invalid(position, "parameters", msg=f"{name} is filled in by the platform")
    _check_names(position, "url", names, lambda: request_templates.url_names(function.http.url))
    if not function.http.body_template:
        return
    if function.http.method in _BODILESS:
        raise _invalid(position, "http", "body_template", msg="GET and DELETE send no body")
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
        name = sorted(unknown)[0]
        raise _invalid(
            position, "http", field, msg=f"{name} is not among the parameters' properties"
        )


def _invalid(position: int, *field: str, msg: str) -> Invalid:
    return Invalid.field("body", "functions", position, *field, msg=msg)
