"""Customers: what is known of the people who write."""

import re
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from bots.models import Bot
from bots.services import customer_info
from chatplatform.api.errors import Invalid
from chatplatform.api.shapes import MAX_FREE_BYTES, as_json
from chats.models import Customer
from chats.shapes.people import CustomerInfo
from identity.models import ApiKey, Client, KeyScope

MAX_ATTRIBUTES = 200
# How the external id of a member of the staff begins, who tries bots as a customer.
STAFF = "staff:"
_FIELDS = ("name", "email", "phone", "avatar_url")
# A bot's field of such a name is answered by the customer's own column.
_ANSWERS = ("name", "email", "phone")
_SEARCHED = ("name", "email", "phone", "external_id")
# What the index can find: it knows sequences of three letters or digits.
INDEXED = re.compile(r"[^\W_]{3}")


def ensure_may_identify(key: ApiKey, info: CustomerInfo, *location: str) -> None:
    """422 if a public key names an external id: a web page cannot prove who its visitor is."""
    if key.scope == KeyScope.PUBLIC and info.external_id:
        raise Invalid.field(
            "body", *location, "external_id",
            msg="A public key cannot say who the customer is; use a secret key.",
        )  # fmt: skip


def search(client: Client, q: str) -> QuerySet[Customer]:
    """Customers with `q` in a field; one that the index cannot find must begin a field."""
    part = "icontains" if INDEXED.search(q) else "istartswith"
    like = Q()
    for column in _SEARCHED:
        like |= Q(**{f"{column}__{part}": q.strip()})
    return Customer.objects.for_client(client).filter(like)


def find_or_create_for_chat(bot: Bot, info: CustomerInfo) -> Customer:
    """`find_or_create` for a chat with a bot, which a customer or the client's server opens.

    422 if an answer does not fit the bot's fields, or if one is not known that the bot requires
    before a chat; the customer is then neither made nor changed.
    """
    with transaction.atomic():
        customer = find_or_create(bot.client, info)
        customer_info.check(bot.customer_info_fields, answers(info), known=answers(customer))
    return customer


def check_update(bot: Bot, info: CustomerInfo, *location: str) -> None:
    """422 if an answer does not fit the bot's fields."""
    at = ("body", *location, "attributes")
    customer_info.check(bot.customer_info_fields, answers(info), at=at)


def answers(known: Customer | CustomerInfo) -> dict[str, Any]:
    """What is known of a customer, by the names that a bot's fields may have."""
    own = {name: getattr(known, name) for name in _ANSWERS if getattr(known, name)}
    return own | known.attributes


def find_or_create(client: Client, info: CustomerInfo) -> Customer:
    """A new customer, or the existing one with that external id, updated."""
    if not info.external_id:
        return Customer.objects.create(client=client, attributes=info.attributes, **_fields(info))
    try:
        with transaction.atomic():
            return Customer.objects.create(
                client=client,
                external_id=info.external_id,
                attributes=info.attributes,
                **_fields(info),
            )
    except IntegrityError:
        # The customer exists, perhaps since a moment ago by another first chat.
        existing = Customer.objects.for_client(client).get(external_id=info.external_id)
        return update(existing.pk, info)


def update(customer_id: int, info: CustomerInfo) -> Customer:
    """Overwrite the fields that are given; attributes are merged, null removes one."""
    customer = _lock(customer_id)
    changes: dict[str, Any] = _fields(info)
    changes["attributes"] = merged_attributes(customer.attributes, info.attributes)
    for name, value in changes.items():
        setattr(customer, name, value)
    customer.save(update_fields=list(changes))
    return customer


def identify(customer_id: int, info: CustomerInfo) -> Customer:
    """The customer that the external id names, updated: this one, another one, or a new one.

    A customer keeps the external id that they have; another id then names another customer.
    """
    customer = _lock(customer_id)
    is_new_id = info.external_id not in {None, customer.external_id}
    if is_new_id and (customer.external_id or not _take_id(customer, info.external_id)):
        return find_or_create(customer.client, info)
    return update(customer_id, info)


def merged_attributes(known: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What is known with what is new, where null removes an entry; 422 if it is too much."""
    attributes = {name: value for name, value in {**known, **new}.items() if value is not None}
    _ensure_within_limits(attributes)
    return attributes


def _ensure_within_limits(attributes: dict[str, Any]) -> None:
    if len(attributes) > MAX_ATTRIBUTES:
        raise Invalid.field("body", "attributes", msg=f"At most {MAX_ATTRIBUTES} in all.")
    if len(as_json(attributes)) > MAX_FREE_BYTES:
        raise Invalid.field("body", "attributes", msg=f"At most {MAX_FREE_BYTES:,} bytes in all.")


def _lock(customer_id: int) -> Customer:
    rows = Customer.objects.select_for_update(no_key=True, of=("self",)).select_related("client")
    customer: Customer = rows.get(pk=customer_id)
    return customer


def _take_id(customer: Customer, external_id: str | None) -> bool:
    """Give a customer without an external id this one; False if it is another's."""
    try:
        with transaction.atomic():
            Customer.objects.filter(pk=customer.pk).update(external_id=external_id)
    except IntegrityError:
        return False
    return True


def _fields(info: CustomerInfo) -> dict[str, str]:
    return {name: getattr(info, name) for name in _FIELDS if getattr(info, name)}
