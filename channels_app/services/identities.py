"""Customers by their ids at a provider's account; some providers give a customer two ids."""

import hashlib
from contextlib import suppress
from uuid import UUID

from django.db.models import Q, QuerySet

from channels_app.models import ChannelChat, ChannelConnection, CustomerIdentity
from channels_app.providers.events import FromCustomer, IdsChanged
from chatplatform import locks
from chatplatform.api.errors import Invalid
from chats.models import Customer
from chats.services.core import customers
from chats.shapes.people import CustomerInfo


def find(connection: ChannelConnection, item: FromCustomer) -> CustomerIdentity | None:
    """The customer of an item. `user_id` takes precedence: a number may change its owner."""
    rows = _of_account(connection.client_id, connection.channel, connection.account_id)
    by_ids = Q(provider_user_id=item.user_id)
    if item.alternate_user_id:
        by_ids |= Q(provider_user_id=item.alternate_user_id)
    else:
        # Some reports name a customer by the second id alone.
        by_ids |= Q(alternate_user_id=item.user_id)
    found = list(rows.filter(by_ids).select_related("customer"))
    return min(found, key=lambda row: row.provider_user_id != item.user_id, default=None)


def customer_key(channel: str, connection_id: UUID, user_id: str) -> str:
    """The key that keeps a customer's items in order; it does not reveal the customer's id."""
    named = hashlib.sha256(f"{connection_id}:{user_id}".encode()).hexdigest()[:40]
    return f"inbound:{channel}:{named}"


def lock(connection: ChannelConnection, item: FromCustomer) -> None:
    """Wait until nobody else stores a customer with one of these ids; until the transaction ends.

    Items that name one customer by different ids are processed at the same time. Each would find
    nobody and make a customer of its own.
    """
    ids = {item.user_id, item.alternate_user_id}
    if isinstance(item, IdsChanged):
        ids |= {item.new_user_id, item.new_number}
    # In one order, so that two items do not wait for each other.
    for entry in sorted(ids - {""}):
        locks.lock_in_transaction(f"customer:{connection.account_id}:{entry}")


def keep_ids(identity: CustomerIdentity, item: FromCustomer) -> None:
    """Store both ids of a customer who was known by one; merge the rows if each id had one."""
    first, second = item.user_id, item.alternate_user_id
    if not second or (identity.provider_user_id, identity.alternate_user_id) == (first, second):
        return
    for other in _others(identity).filter(provider_user_id__in=[first, second]):
        _unite(identity, other)
    _save(identity, first, second)


def change_ids(connection: ChannelConnection, item: IdsChanged) -> None:
    """Give a customer the new number or id that the provider reports, on their card too.

    Nothing changes if the new number is the only id of somebody who was known by it before.
    """
    lock(connection, item)
    identity = find(connection, item)
    if identity is None:
        return
    new_ids = [entry for entry in (item.new_user_id, item.new_number) if entry]
    others = list(_others(identity).filter(provider_user_id__in=new_ids))
    # A row is the same customer's only if it has the new id, or began after the change.
    if any(
        entry.provider_user_id != item.new_user_id and entry.created_at < item.at
        for entry in others
    ):
        return
    for other in others:
        _unite(identity, other)
    first, second = identity.provider_user_id, identity.alternate_user_id
    if first.isdigit() and not second:  # the number is the only id
        if item.new_user_id:
            first, second = item.new_user_id, item.new_number or first
        else:
            first = item.new_number
    else:
        first, second = item.new_user_id or first, item.new_number or second
    _save(identity, first, second)


def _unite(identity: CustomerIdentity, other: CustomerIdentity) -> None:
    """Merge two identities of one customer, and the two customers if they differ."""
    ChannelChat.objects.filter(identity=other).update(identity=identity)
    other.delete()
    if other.customer_id != identity.customer_id:
        # If the attributes of both do not fit on one card, the customers stay two.
        with suppress(Invalid):
            customers.unite(identity.customer_id, other.customer_id, by=None)


def _save(identity: CustomerIdentity, first: str, second: str) -> None:
    """Store both ids, take the number from anybody else, and update the card's phone."""
    if second:
        _others(identity).filter(alternate_user_id=second).update(alternate_user_id="")
    before, identity.provider_user_id, identity.alternate_user_id = identity.address, first, second
    identity.save(update_fields=["provider_user_id", "alternate_user_id"])
    shows_former = Customer.objects.filter(pk=identity.customer_id, phone=f"+{before}")
    if identity.address != before and identity.address.isdigit() and shows_former.exists():
        info = CustomerInfo.model_construct(phone=f"+{identity.address}", attributes={})
        customers.update(identity.customer_id, info)


def _others(identity: CustomerIdentity) -> QuerySet[CustomerIdentity]:
    rows = _of_account(identity.client_id, identity.channel, identity.account_id)
    return rows.exclude(pk=identity.pk)


def _of_account(client_id: int, channel: str, account_id: str) -> QuerySet[CustomerIdentity]:
    return CustomerIdentity.objects.filter(
        client_id=client_id, channel=channel, account_id=account_id
    )
