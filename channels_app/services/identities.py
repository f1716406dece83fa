"""Find customers by their ids at a provider's account; some providers give a customer two ids.

Former ids are stored with the time until which the customer had them. An item belongs to the
customer who had its id at the item's time. So a late item still finds its customer, and an item
from the new owner of a number does not find the old owner. This fails only for a customer without
any other id, if the provider gives the number to somebody else and does not report that.
"""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from django.db.models import Case, Q, QuerySet, Value, When

from channels_app.models import ChannelChat, ChannelConnection, CustomerIdentity, FormerId
from channels_app.providers.events import FromCustomer, IdsChanged
from chatplatform import locks
from chatplatform.api.errors import Invalid
from chats.models import AssignType, Conversation, Customer, LockedConversation, SenderType, Status
from chats.schemas.people import CustomerInfo
from chats.services.core import channel_updates, conversations, customers, lifecycle
from identity.models import Client


def find(connection: ChannelConnection, item: FromCustomer) -> CustomerIdentity | None:
    """The customer of an item; None if unknown. `user_id` takes precedence over a number, which may
    pass to another customer."""
    ids = _filled(item.user_id, item.alternate_user_id)
    has_id = Q(provider_user_id__in=ids) | Q(alternate_user_id__in=ids)
    rows = _of_account(connection.client_id, connection.channel, connection.account_id)
    current = list(rows.filter(has_id).select_related("customer"))
    current.sort(key=lambda row: row.provider_user_id not in ids)
    former = _former(connection, ids)
    for user_id in ids:
        earlier = [row for row in former if row.provider_user_id == user_id]
        if late := [row.identity for row in earlier if row.until > item.at]:
            return late[0]
        owner = next((row for row in current if user_id in _ids(row)), None)
        if owner and (owner.provider_user_id == user_id or len(ids) == 1):
            return owner
        if owner:
            continue  # `owner` has the item's number, but another id
        # Times are in whole seconds, so the customer still had the id at `until`. An id other than
        # a number never passes to another customer.
        last = [row for row in earlier if row.until == item.at or not user_id.isdigit()]
        if last:
            return last[-1].identity
    return None


def customers_at(client: Client, number: str) -> list[Customer]:
    """The customers who have this phone number at any of the client's chatapp accounts."""
    if not number:
        return []  # it would match all customers without a second id
    has_number = Q(provider_user_id=number) | Q(alternate_user_id=number)
    rows = CustomerIdentity.objects.for_client(client).filter(has_number, channel="chatapp")
    return [row.customer for row in rows.select_related("customer")]


def current_chat(links: QuerySet[ChannelChat]) -> Conversation | None:
    """The chat in which a customer's messages continue; None if the customer has no chat.

    Chats that an agent has or that wait for one come first, then other open chats, then ended
    chats; within each group, the newest comes first.
    """
    state = Case(
        When(conversation__status=Status.ENDED, then=Value(2)),
        When(conversation__assign_type=AssignType.BOT, then=Value(1)),
        default=Value(0),
    )
    link = links.select_related("conversation").order_by(state, "-conversation_id").first()
    return link.conversation if link else None


def customer_key(channel: str, connection_id: UUID, user_id: str) -> str:
    """The key that keeps a customer's items in order. It does not reveal the customer's id."""
    digest = hashlib.sha256(f"{connection_id}:{user_id}".encode()).hexdigest()[:40]
    return f"inbound:{channel}:{digest}"


def lock(connection: ChannelConnection, item: FromCustomer) -> None:
    """Lock the ids of an item until the transaction ends.

    Items with different ids of one customer may be processed at the same time. Without the locks,
    each of them might find no customer and create one.
    """
    ids = {item.user_id, item.alternate_user_id}
    if isinstance(item, IdsChanged):
        ids |= {item.new_user_id, item.new_number}
    # Lock in a fixed order, so that two items do not wait for each other.
    for entry in sorted(ids - {""}):
        locks.lock_in_transaction(f"customer:{connection.account_id}:{entry}")


def store_ids(identity: CustomerIdentity, item: FromCustomer) -> bool:
    """Store the ids of an item for its customer, and return whether the customer's ids changed.

    If the two ids are in different rows, the rows are merged. An item from before the customer's
    last change of ids does not restore an old id.
    """
    first, second = item.user_id, item.alternate_user_id
    is_known = (identity.provider_user_id, identity.alternate_user_id) == (first, second)
    if is_known or (identity.address and not second):
        return False
    ids = _filled(first, second)
    is_late = Q(until__gt=item.at) | Q(until=item.at, provider_user_id__in=ids)
    newer = _others(identity).filter(alternate_user_id__in=ids, created_at__gt=item.at)
    if identity.former_ids.filter(is_late).exists() or newer.exists():
        _remember(identity, set(ids) - _ids(identity), item.at)
        return False
    same = _others(identity).filter(provider_user_id__in=ids)
    _save(identity, (first, second), item.at, same=list(same))
    return True


def store_details(identity: CustomerIdentity, *, name: str, phone: str) -> None:
    """Store a name and a phone number that came with an item, where the customer has none."""
    customer = Customer.objects.filter(pk=identity.customer_id)
    if name and not identity.customer.name:
        customer.filter(name="").update(name=name[:200])
    if phone and not identity.customer.phone:
        customer.filter(phone="").update(phone=phone)


def change_ids(connection: ChannelConnection, item: IdsChanged) -> CustomerIdentity | None:
    """Store a customer's new number or id, which the provider reports, and return the customer;
    None if neither the old nor the new ids are known.

    If another customer had the new number, that customer loses it, but keeps their chats.
    """
    lock(connection, item)
    rows = _of_account(connection.client_id, connection.channel, connection.account_id)
    new_ids = _filled(item.new_user_id, item.new_number)
    having = list(rows.filter(provider_user_id__in=new_ids))
    # A row belongs to the same customer only if it has the new id or is newer than the change.
    same = [
        row
        for row in having
        if row.provider_user_id == item.new_user_id or row.created_at >= item.at
    ]
    identity = _find_by_old_ids(connection, item) or next(iter(same), None)
    if identity is None:
        return None
    former = _filled(item.user_id, item.alternate_user_id)
    # A customer who currently has no id gets the reported one, however late the report is.
    later = identity.former_ids.filter(until__gt=item.at).order_by("until").last()
    if later and identity.address:
        _remember(identity, set(former) - _ids(identity), item.at)
        _remember(identity, set(new_ids) - _ids(identity), later.until)
        return identity
    for other in having:
        if other != identity and other not in same:
            _take_number(other, item.new_number, item.at)
    others = [row for row in same if row != identity]
    _save(identity, _changed(identity, item), item.at, same=others, former=former)
    return identity


def _find_by_old_ids(connection: ChannelConnection, item: IdsChanged) -> CustomerIdentity | None:
    """The customer who had the old ids; None if unknown, or if the customer got the number only
    after the change."""
    identity = find(connection, item)
    if identity is None or identity.created_at <= item.at:
        return identity
    is_number = item.user_id.isdigit() or identity.provider_user_id != item.user_id
    return None if is_number else identity


def _changed(identity: CustomerIdentity, item: IdsChanged) -> tuple[str, str]:
    """The two ids of a customer after a change."""
    first, second = identity.provider_user_id, identity.alternate_user_id
    if second or not (first.isdigit() or not first):
        return item.new_user_id or first, item.new_number or second
    # The number is the only id.
    if item.new_user_id:
        return item.new_user_id, item.new_number or first
    return item.new_number, ""


def _save(
    identity: CustomerIdentity,
    ids: tuple[str, str],
    at: datetime,
    *,
    same: Sequence[CustomerIdentity] = (),
    former: Iterable[str] = (),
) -> None:
    """Store these ids for the customer, and merge the rows in `same` into the customer's row.

    All other ids that the rows had, and those in `former`, become former ids. The number is taken
    from any other customer who has it, and replaces the phone number that came from the old one.
    """
    first, second = ids
    had = {*former} | _ids(identity)
    for other in same:
        had |= _ids(other)
        _merge(identity, other)
    if second:
        for other in _others(identity).filter(alternate_user_id=second):
            _take_number(other, second, at)
    before, identity.provider_user_id, identity.alternate_user_id = identity.address, first, second
    _save_ids(identity)
    _remember(identity, had - {first, second}, at)
    # A phone number that a person entered stays.
    card = Customer.objects.filter(pk=identity.customer_id, phone__in=["", f"+{before}"])
    if identity.address != before and identity.address.isdigit() and card.exists():
        info = CustomerInfo.model_construct(phone=f"+{identity.address}", attributes={})
        customers.update(identity.customer_id, info)


def _take_number(identity: CustomerIdentity, number: str, at: datetime) -> None:
    """Take a number from a customer, since somebody else has it now. A customer without another id
    gets no messages until they write again."""
    if identity.alternate_user_id == number:
        identity.alternate_user_id = ""
    else:
        identity.provider_user_id = ""
    _save_ids(identity)
    _remember(identity, {number}, at)


def _save_ids(identity: CustomerIdentity) -> None:
    """Store the customer's ids, and store in their chats the id that messages are sent to."""
    identity.save(update_fields=["provider_user_id", "alternate_user_id"])
    chats = Conversation.objects.filter(channel_chat__identity=identity)
    channel_updates.set_provider_user_id(chats, identity.address)


def _remember(identity: CustomerIdentity, ids: Iterable[str], until: datetime) -> None:
    """Store former ids of a customer, each with the latest time until which the customer had it."""
    for entry in _filled(*ids):
        row, is_new = identity.former_ids.get_or_create(
            provider_user_id=entry, defaults={"client_id": identity.client_id, "until": until}
        )
        if not is_new and row.until < until:
            row.until = until
            row.save(update_fields=["until"])


def _merge(identity: CustomerIdentity, other: CustomerIdentity) -> None:
    """Merge two identities of one customer, and the two customers if they differ."""
    _end_extra_chats(identity, other)
    ChannelChat.objects.filter(identity=other).update(identity=identity)
    for row in other.former_ids.all():
        _remember(identity, {row.provider_user_id}, row.until)
    other.delete()
    if other.customer_id != identity.customer_id:
        # If the attributes of both are too many for one customer, the customers stay separate.
        with suppress(Invalid):
            customers.merge(identity.customer_id, other.customer_id, by=None)


def _end_extra_chats(identity: CustomerIdentity, other: CustomerIdentity) -> None:
    """End the customer's open chats with each bot except the current one (see `current_chat`).

    A chat whose last message is the customer's stays open, so that the bot can reply, and so does a
    chat that an agent has or that waits for one.
    """
    own = Q(channel_chat__identity=identity) | Q(channel_chat__identity=other)
    rows = Conversation.objects.filter(own).exclude(status=Status.ENDED).order_by("pk")
    chats = [chat for chat in map(conversations.lock, rows) if chat.status != Status.ENDED]
    kept = dict[int, LockedConversation]()
    for chat in sorted(chats, key=lambda row: (row.assign_type != AssignType.BOT, row.pk)):
        kept[chat.bot_id] = chat
    for chat in chats:
        last = chat.last_message
        is_answered = last is None or last.sender_type != SenderType.CUSTOMER
        if chat != kept[chat.bot_id] and chat.assign_type == AssignType.BOT and is_answered:
            lifecycle.end(chat, by="merged")


def _former(connection: ChannelConnection, ids: Sequence[str]) -> list[FormerId]:
    """The rows of customers who had these ids before, earliest first."""
    rows = FormerId.objects.filter(
        client_id=connection.client_id,
        provider_user_id__in=ids,
        identity__channel=connection.channel,
        identity__account_id=connection.account_id,
    )
    return list(rows.select_related("identity__customer").order_by("until"))


def _ids(identity: CustomerIdentity) -> set[str]:
    return set(_filled(identity.provider_user_id, identity.alternate_user_id))


def _filled(*ids: str) -> list[str]:
    return [entry for entry in ids if entry]


def _others(identity: CustomerIdentity) -> QuerySet[CustomerIdentity]:
    rows = _of_account(identity.client_id, identity.channel, identity.account_id)
    return rows.exclude(pk=identity.pk)


def _of_account(client_id: int, channel: str, account_id: str) -> QuerySet[CustomerIdentity]:
    return CustomerIdentity.objects.filter(
        client_id=client_id, channel=channel, account_id=account_id
    )
