"""What a bot may call: read, and replaced as a whole."""

import json
from typing import Any

from django.db import transaction

from bots.engine import arguments, rendering
from bots.models import Bot, Function, FunctionCalling
from bots.services import bots, engines
from bots.shapes.function_calling import FunctionCallingConfigDTO, FunctionDTO
from chatplatform import egress
from chatplatform.api.errors import Invalid
from identity.models import User
from identity.services import audit

_BODILESS = frozenset({"GET", "DELETE"})


def describe(bot: Bot) -> FunctionCallingConfigDTO:
    """The bot's configuration, without its secrets."""
    rows = Function.objects.filter(bot=bot).order_by("position")
    return FunctionCallingConfigDTO.from_row(
        FunctionCalling.objects.filter(bot=bot).first(),
        [FunctionDTO.from_row(row, sorted(secrets_of(row))) for row in rows],
        unavailable_reason=engines.why_no_functions(bot.client, bot),
    )


def find(bot: Bot, name: str) -> Function | None:
    """A function that the bot may call now; None where there is none, or calling is off."""
    rows = Function.objects.filter(bot=bot, bot__function_calling__is_enabled=True, name=name)
    return rows.first()


def secrets_of(function: Function) -> dict[str, str]:
    """Secret header names to their values."""
    found: dict[str, str] = json.loads(function.secret_headers)
    return found


def replace(bot: Bot, *, given: FunctionCallingConfigDTO, by: User) -> FunctionCallingConfigDTO:
    """Store the whole configuration anew; secrets that are left out stay with their name."""
    for place, one in enumerate(given.functions):
        _check(place, one)
    # Names are resolved before the transaction: that may take seconds.
    _check_destinations(given.functions)
    with transaction.atomic():
        # The bot's row is the lock of its configuration.
        bots.lock(bot)
        changes = _replace_functions(bot, given.functions)
        FunctionCalling.objects.update_or_create(
            bot=bot,
            defaults={
                "client_id": bot.client_id,
                "is_enabled": given.is_enabled,
                "max_calls_per_reply": given.max_calls_per_reply,
            },
        )
        audit.record(
            bot.client_id,
            "function_calling.updated",
            by=by,
            subject=f"bot:{bot.pk}",
            changes={"is_enabled": given.is_enabled, **changes},
        )
    return describe(bot)


def _replace_functions(bot: Bot, given: list[FunctionDTO]) -> dict[str, list[str]]:
    known = {row.name: row for row in Function.objects.filter(bot=bot)}
    wanted = {one.name for one in given}
    Function.objects.filter(bot=bot).exclude(name__in=wanted).delete()
    for place, one in enumerate(given):
        row = known.get(one.name) or Function(client_id=bot.client_id, bot=bot, name=one.name)
        row.secret_headers = json.dumps(_secrets(place, one, known.get(one.name)))
        _fill(row, one, place)
        row.save()
    return {
        "added": sorted(wanted - set(known)),
        "kept": sorted(wanted & set(known)),
        "removed": sorted(set(known) - wanted),
        "secrets_replaced": sorted(one.name for one in given if one.secret_headers is not None),
    }


def _secrets(place: int, one: FunctionDTO, known: Function | None) -> dict[str, str]:
    """The secret headers to store; a secret never follows an address to another host."""
    if one.secret_headers is not None:
        kept = one.secret_headers
    else:
        kept = secrets_of(known) if known else {}
        if kept and known and rendering.origin(known.url) != rendering.origin(one.http.url):
            raise _wrong(
                place, "secret_headers",
                msg="The address has another host: give the secret headers again, or {}.",
            )  # fmt: skip
    if {name.lower() for name in kept} & {name.lower() for name in one.http.headers}:
        raise _wrong(place, "secret_headers", msg="A header cannot be both secret and not.")
    return kept


def _fill(row: Function, one: FunctionDTO, place: int) -> None:
    row.description = one.description
    row.parameters = one.parameters
    row.method = one.http.method
    row.url = one.http.url
    row.headers = one.http.headers
    row.timeout_seconds = one.http.timeout_seconds
    row.body_template = one.http.body_template
    row.requires_approval = one.requires_approval
    row.position = place


def _check(place: int, one: FunctionDTO) -> None:
    """What can be said of a function without the network; raises Invalid."""
    try:
        arguments.check_schema(one.parameters)
    except arguments.WrongSchema as error:
        raise _wrong(place, "parameters", msg=str(error)) from error
    known = set(one.parameters.get("properties", ()))
    if known & rendering.BOUND:
        name = sorted(known & rendering.BOUND)[0]
        raise _wrong(place, "parameters", msg=f"{name} is filled in by the platform")
    _check_names(place, "url", known, lambda: rendering.url_names(one.http.url))
    if not one.http.body_template:
        return
    if one.http.method in _BODILESS:
        raise _wrong(place, "http", "body_template", msg="GET and DELETE send no body")
    _check_names(
        place, "body_template", known, lambda: rendering.read_body(one.http.body_template).names
    )


def _check_names(place: int, field: str, known: set[str], read: Any) -> None:
    try:
        unknown = read() - known - rendering.BOUND
    except rendering.WrongTemplate as error:
        raise _wrong(place, "http", field, msg=str(error)) from error
    if unknown:
        name = sorted(unknown)[0]
        raise _wrong(place, "http", field, msg=f"{name} is not among the parameters' properties")


def _check_destinations(given: list[FunctionDTO]) -> None:
    for place, one in enumerate(given):
        try:
            egress.check_url(rendering.sample_url(one.http.url), purpose="function")
        except egress.EgressError as error:
            raise _wrong(place, "http", "url", msg=str(error)) from error


def _wrong(place: int, *field: str, msg: str) -> Invalid:
    return Invalid.field("body", "functions", place, *field, msg=msg)
