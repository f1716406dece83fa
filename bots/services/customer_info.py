"""The fields that a bot asks its customers for, and the validation of the answers."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from bots.models import Bot
from bots.services import bots
from bots.shapes.widget import CustomerInfoFields
from chatplatform.api.errors import Invalid
from identity.models import User

MAX_TEXT = 500
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+")
_PHONE = re.compile(r"\+?[0-9][0-9 ().-]{3,28}[0-9]")
AT = ("body", "customer", "attributes")


def update(bot: Bot, *, body: CustomerInfoFields, by: User) -> CustomerInfoFields:
    """Replace the fields that the bot asks for."""
    for position, field in enumerate(body.fields):
        for name, texts in (("label", field.label), ("question", field.question)):
            bots.check_offered_languages(bot, texts, at=("body", "fields", position, name))
    stored = body.model_dump(mode="json")["fields"]
    row = bots.update_columns(bot, by=by, customer_info_fields=stored)
    return CustomerInfoFields.from_bot(row)


def check(
    fields: Sequence[Mapping[str, Any]],
    attributes: Mapping[str, Any],
    *,
    at: tuple[str, ...] = AT,
    known: Mapping[str, Any] | None = None,
) -> None:
    """Check attributes against the bot's `customer_info_fields`; the 422 names each wrong one.

    Attributes that the bot does not ask for are accepted. Null removes an answer. If `known`, the
    stored answers, is given, each field required before a conversation must be in one of the two.
    """
    errors: list[dict[str, Any]] = []
    for stored in fields:
        name = stored["name"]
        value = attributes.get(name)
        if value is None or value == "":
            is_unknown = known is not None and known.get(name) in (None, "")
            is_due = is_unknown and stored.get("ask_before_chat")
            needed = stored.get("required") and (name in attributes or is_due)
            error = ("missing", "Field required") if needed else None
        else:
            wrong = problem(stored, value)
            error = ("value_error", wrong) if wrong else None
        if error:
            errors.append({"loc": [*at, name], "msg": error[1], "type": error[0]})
    if errors:
        raise Invalid(errors)


def problem(stored: Mapping[str, Any], value: Any) -> str | None:
    """What is wrong with a value, as a sentence; None if it is valid."""
    kind = stored["type"]
    if kind == "number":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return None if is_number and math.isfinite(value) else "Must be a number."
    if not isinstance(value, str):
        return "Must be text."
    if len(value) > MAX_TEXT:
        return f"Must have at most {MAX_TEXT} characters."
    if kind == "select":
        values = [option["value"] for option in stored.get("options") or []]
        return None if value in values else "Must be one of the options."
    if kind == "date":
        return None if _is_date(value) else "Must be a date such as 2026-11-21."
    if kind == "email":
        return None if _EMAIL.fullmatch(value) else "Must be an e-mail address."
    if kind == "phone":
        return None if _PHONE.fullmatch(value) else "Must be a telephone number."
    return None


def _is_date(value: str) -> bool:
    try:
        # `fromisoformat` also accepts 20261121, which we refuse.
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
