"""Customers by their ids at a provider's account, of which some providers have two."""

from django.db.models import Q, QuerySet

from channels_app.models import ChannelChat, ChannelConnection, CustomerIdentity
from channels_app.providers.events import FromCustomer, NumberChanged


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
    others = _others(identity)
    for other in others.filter(provider_user_id__in=[first, second]):
        ChannelChat.objects.filter(identity=other).update(identity=identity)
        other.delete()
    # The number is this customer's now.
    others.filter(second_user_id=second).update(second_user_id="")
    identity.provider_user_id, identity.second_user_id = first, second
    identity.save(update_fields=["provider_user_id", "second_user_id"])


def change_number(connection: ChannelConnection, item: NumberChanged) -> None:
    """A customer has another number; nothing happens if somebody known has it already."""
    identity = find(connection, item)
    taken = Q(provider_user_id=item.new_id) | Q(second_user_id=item.new_id)
    if identity is None or _others(identity).filter(taken).exists():
        return
    if item.user_id == identity.provider_user_id and not item.second_user_id:
        identity.provider_user_id = item.new_id  # known by the number alone
    else:
        identity.second_user_id = item.new_id
    identity.save(update_fields=["provider_user_id", "second_user_id"])


def _others(identity: CustomerIdentity) -> QuerySet[CustomerIdentity]:
    rows = _of_account(identity.client_id, identity.channel, identity.account_id)
    return rows.exclude(pk=identity.pk)


def _of_account(client_id: int, channel: str, account_id: str) -> QuerySet[CustomerIdentity]:
    return CustomerIdentity.objects.filter(
        client_id=client_id, channel=channel, account_id=account_id
    )
