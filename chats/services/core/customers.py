"""Customers: what is known of the person who writes."""

from typing import Any

from django.db import IntegrityError, transaction

from chatplatform.api.encoding import as_json
from chatplatform.api.errors import Invalid
from chatplatform.api.shapes import MAX_FREE_BYTES
from chats.models import Customer
from chats.shapes.people import CustomerInfo
from identity.models import ApiKey, Client, KeyScope

MAX_ATTRIBUTES = 200
NAMED = ("name", "email", "phone", "avatar_url")


def ensure_may_identify(key: ApiKey, given: CustomerInfo, *where: str) -> None:
    """422 where a web page says who its visitor is: a typed name or number proves nothing."""
    if key.scope == KeyScope.PUBLIC and given.external_id:
        raise Invalid.field(
            "body", *where, "external_id",
            msg="A public key cannot say who the customer is; use a secret key.",
        )  # fmt: skip


def find_or_create(client: Client, given: CustomerInfo) -> Customer:
    """A new customer, or the known one of that external id with what is now known added."""
    if not given.external_id:
        return Customer.objects.create(client=client, attributes=given.attributes, **_named(given))
    try:
        with transaction.atomic():
            return Customer.objects.create(
                client=client,
                external_id=given.external_id,
                attributes=given.attributes,
                **_named(given),
            )
    except IntegrityError:
        # Known already: two first chats at once end in one customer, too.
        known = Customer.objects.for_client(client).get(external_id=given.external_id)
        return update(known.pk, given)


def update(customer_id: int, given: CustomerInfo) -> Customer:
    """Write what is given over what is known; attributes are merged."""
    customer = _lock(customer_id)
    changes: dict[str, Any] = _named(given)
    changes["attributes"] = {**customer.attributes, **given.attributes}
    _refuse_too_much(changes["attributes"])
    for name, value in changes.items():
        setattr(customer, name, value)
    customer.save(update_fields=list(changes))
    return customer


def identify(customer_id: int, given: CustomerInfo) -> Customer:
    """Who a customer is by what is now known: he himself, or whoever has the external id given.

    An id is given once: who has one already is never renamed, and a free one is then another's.
    """
    customer = _lock(customer_id)
    is_new = given.external_id not in {None, customer.external_id}
    if is_new and (customer.external_id or not _take_id(customer, given.external_id)):
        return find_or_create(customer.client, given)
    return update(customer_id, given)


def _refuse_too_much(attributes: dict[str, Any]) -> None:
    """422 where what is known together is more than one request could bring."""
    if len(attributes) > MAX_ATTRIBUTES:
        raise Invalid.field("body", "attributes", msg=f"At most {MAX_ATTRIBUTES} in all.")
    if len(as_json(attributes)) > MAX_FREE_BYTES:
        raise Invalid.field("body", "attributes", msg=f"At most {MAX_FREE_BYTES:,} bytes in all.")


def _lock(customer_id: int) -> Customer:
    rows = Customer.objects.select_for_update(no_key=True, of=("self",)).select_related("client")
    customer: Customer = rows.get(pk=customer_id)
    return customer


def _take_id(customer: Customer, external_id: str | None) -> bool:
    """Give a customer without an external id this one; False where it is another's."""
    try:
        with transaction.atomic():
            Customer.objects.filter(pk=customer.pk).update(external_id=external_id)
    except IntegrityError:
        return False
    return True


def _named(given: CustomerInfo) -> dict[str, str]:
    return {name: getattr(given, name) for name in NAMED if getattr(given, name)}
