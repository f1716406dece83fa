"""The fields that a bot asks its customers for, and the validation of the answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from bots.language import phrasebook, slot_filling
from bots.models import Bot
from bots.schemas.widget import CustomerInfoFields
from bots.services import bots
from chatplatform.api.errors import Invalid
from identity.models import User

AT = ("body", "customer", "attributes")


def labels(name: str, own: Mapping[str, str]) -> dict[str, str]:
    """The labels of a field by language: the client's own. For a contact field, also the built-in
    labels in other languages."""
    if name not in slot_filling.CONTACT:
        return dict(own)
    return {code: book.labels[name] for code, book in phrasebook.all_books().items()} | {**own}


def update(bot: Bot, *, body: CustomerInfoFields, by: User) -> CustomerInfoFields:
    """Replace the fields that the bot asks for."""
    for position, field in enumerate(body.fields):
        for name, texts in (("label", field.label), ("question", field.question)):
            bots.check_supported_languages(bot, texts, at=("body", "fields", position, name))
    stored = body.model_dump(mode="json")["fields"]
    row = bots.update_columns(bot, by=by, customer_info_fields=stored)
    return CustomerInfoFields.from_bot(row)


def check(
    fields: Sequence[Mapping[str, Any]],
    attributes: Mapping[str, Any],
    *,
    country: str = "",
    at: tuple[str, ...] = AT,
    known: Mapping[str, Any] | None = None,
) -> None:
    """Check attributes against the bot's `customer_info_fields`; the 422 lists every problem.

    `country` is the client's country, for checking telephone numbers. `known` contains the stored
    answers; if it is given, each field that is required before a conversation must be in
    `attributes` or `known`. Null is accepted for optional fields. Attributes that the bot does not
    ask for are not checked.
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
            wrong = slot_filling.problem(stored, value, country=country)
            error = ("value_error", wrong) if wrong else None
        if error:
            errors.append({"loc": [*at, name], "msg": error[1], "type": error[0]})
    if errors:
        raise Invalid(errors)
