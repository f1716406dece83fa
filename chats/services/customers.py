"""Customers: what is known of the person who writes."""

from typing import Any

from django.db import IntegrityError, transaction

from chatplatform.errors import Invalid
from chats import serializers as s
from chats.models import Customer
from identity.models import ApiKey, Client, KeyScope

NAMED = ("name", "email", "phone", "avatar_url")


def refuse_claim(key: ApiKey, given: s.CustomerInfo) -> None:
    """422 where a web page says who its visitor is: a typed name or number proves nothing."""
    if key.scope == KeyScope.PUBLIC and given.external_id:
        raise Invalid.field(
            "body", "customer", "external_id",
            msg="A public key cannot say who the customer is; use a secret key.",
        )  # fmt: skip


def of(client: Client, given: s.CustomerInfo) -> Customer:
    """A new customer, or the known one of that external id with what is now known added."""
    if not given.external_id:
        return Customer.objects.create(client=client, attributes=given.attributes, **_named(given))
    try:
        with transaction.atomic():
            customer: Customer = Customer.objects.create(
                client=client,
                external_id=given.external_id,
                attributes=given.attributes,
                **_named(given),
            )
            return customer
    except IntegrityError:
        # Known already: two first chats at once end in one customer, too.
        known: Customer = Customer.objects.of(client).get(external_id=given.external_id)
        return add(known.pk, given)


def add(customer_id: int, given: s.CustomerInfo) -> Customer:
    """Write what is given over what is known; attributes are merged."""
    customer: Customer = Customer.objects.select_for_update(no_key=True).get(pk=customer_id)
    changes: dict[str, Any] = _named(given)
    if given.external_id:
        changes["external_id"] = given.external_id
    changes["attributes"] = {**customer.attributes, **given.attributes}
    for name, value in changes.items():
        setattr(customer, name, value)
    customer.save(update_fields=list(changes))
    return customer


def _named(given: s.CustomerInfo) -> dict[str, str]:
    return {name: getattr(given, name) for name in NAMED if getattr(given, name)}
