"""Customers by their ids at a provider's account, of which some providers have two."""

from contextlib import suppress

from django.db.models import Q, QuerySet

from channels_app.models import ChannelChat, ChannelConnection, CustomerIdentity
from channels_app.providers.events import FromCustomer, IdsChanged
from chatplatform.api.errors import Invalid
from chats.models import Customer
from chats.services.core import customers
from chats.shapes.people import CustomerInfo


def find(connection: ChannelConnection, item: FromCustomer) -> CustomerIdentity | None:
    """Who did something. Of two ids the first decides: a number may have been another's before."""
    rows = _of_account(connection.client_id, connection.channel, connection.account_id)
    by_ids = Q(provider_user_id=item.user_id)
    if item.second_user_id:
        by_ids |= Q(provider_user_id=item.second_user_id)
    else:
        # Some reports name a customer by the second id alone.
        by_ids |= Q(second_user_id=item.user_id)
    found = list(rows.filter(by_ids).select_related("customer"))
    return min(found, key=lambda row: row.provider_user_id != item.user_id, default=None)


def keep_ids(identity: CustomerIdentity, item: FromCustomer) -> None:
    """Keep both ids of a customer who was known by one; whoever was two rows is one from now on."""
    first, second = item.user_id, item.second_user_id
    if not second or (identity.provider_user_id, identity.second_user_id) == (first, second):
        return
    for other in _others(identity).filter(provider_user_id__in=[first, second]):
        _unite(identity, other)
    _save(identity, first, second)


def change_ids(connection: ChannelConnection, item: IdsChanged) -> None:
    """Give a customer the new number or id that the provider reports, on their card too.

    A number that somebody had before stays theirs while it is the only id by which they are known.
    """
    identity = find(connection, item)
    if identity is None:
        return
    new_ids = [entry for entry in (item.new_user_id, item.new_number) if entry]
    others = list(_others(identity).filter(provider_user_id__in=new_ids))
    # Only who has the new id, or has written from the number since, is the same customer.
    if any(
        entry.provider_user_id != item.new_user_id and entry.created_at < item.at
        for entry in others
    ):
        return
    for other in others:
        _unite(identity, other)
    first, second = identity.provider_user_id, identity.second_user_id
    if first.isdigit() and not second:  # known by the number alone
        if item.new_user_id:
            first, second = item.new_user_id, item.new_number or first
        else:
            first = item.new_number
    else:
        first, second = item.new_user_id or first, item.new_number or second
    _save(identity, first, second)


def _unite(identity: CustomerIdentity, other: CustomerIdentity) -> None:
    """Make two identities of one customer one."""
    ChannelChat.objects.filter(identity=other).update(identity=identity)
    other.delete()
    if other.customer_id != identity.customer_id:
        # Attributes that do not fit on one card leave two.
        with suppress(Invalid):
            customers.unite(identity.customer_id, other.customer_id, by=None)


def _save(identity: CustomerIdentity, first: str, second: str) -> None:
    """Store both ids. The number is this customer's now, and the card shows it."""
    if second:
        _others(identity).filter(second_user_id=second).update(second_user_id="")
    before, identity.provider_user_id, identity.second_user_id = identity.address, first, second
    identity.save(update_fields=["provider_user_id", "second_user_id"])
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
