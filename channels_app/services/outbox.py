"""Enqueue what is sent to customers; `chats.services.core.channel_hooks` calls these functions.

A conversation's messages are sent one after the other, in the order in which they were written.
"""

from collections.abc import Sequence

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from channels_app.models import (
    ChannelConnection,
    CustomerIdentity,
    InboundCallback,
    InboundItem,
    Outcome,
)
from channels_app.providers import PROVIDERS
from channels_app.providers.types import Signal
from channels_app.services.identities import customer_key
from chatplatform.jobs import enqueue
from chats.models import Conversation, Customer, Message


def enqueue_message(message: Message) -> None:
    """Enqueue a message of the bot, an agent or the system, to be sent to the customer."""
    enqueue(
        "channels_app.deliver_message",
        client_id=message.client_id,
        ordering_key=ordering_key(message.conversation),
        message_id=str(message.pk),
    )


def enqueue_read_receipt(chat: Conversation) -> None:
    """Enqueue a read receipt, which shows the customer that their messages were read."""
    _enqueue_signal(chat, "seen")


def enqueue_typing(chat: Conversation, *, is_typing: bool) -> None:
    """Enqueue a signal that shows or hides the typing indicator in the customer's app."""
    _enqueue_signal(chat, "typing_on" if is_typing else "typing_off")


def enqueue_survey(chat: Conversation) -> None:
    """Enqueue the request to rate an ended chat, which is sent after all of the chat's messages."""
    enqueue(
        "channels_app.send_survey",
        client_id=chat.client_id,
        ordering_key=ordering_key(chat),
        conversation_id=str(chat.pk),
    )


def ordering_key(chat: Conversation) -> str:
    """The ordering key of a conversation's sends."""
    return f"deliver:{chat.pk}"


def _enqueue_signal(chat: Conversation, signal: Signal) -> None:
    if signal in PROVIDERS[chat.channel].signals:
        enqueue(
            "channels_app.send_signal",
            client_id=chat.client_id,
            dedupe_key=f"{chat.pk}:{signal}",
            conversation_id=str(chat.pk),
            signal=signal,
        )


def erase_customer(customer: Customer) -> Sequence[str]:
    """Drop an erased customer's waiting items, and empty the callbacks that contain the customer's
    ids. Returns these ids.

    The rows of items stay, with their keys and outcomes, so that no item is processed twice.
    """
    identities = CustomerIdentity.objects.filter(customer=customer)
    found = {
        (row.channel, row.account_id, user_id)
        for row in identities.prefetch_related("former_ids")
        for user_id in (
            row.provider_user_id,
            row.alternate_user_id,
            *(former.provider_user_id for former in row.former_ids.all()),
        )
        if user_id
    }
    own = ChannelConnection.objects.filter(client_id=customer.client_id)
    connections = own.values_list("channel", "account_id", "pk")
    keys = [
        customer_key(channel, pk, user_id)
        for channel, account_id, user_id in found
        for *account, pk in connections
        if account == [channel, account_id]
    ]
    items = InboundItem.objects.filter(outcome=Outcome.WAITING)
    items.filter(customer_key__in=keys).update(outcome=Outcome.UNSUPPORTED, kind="erased")
    ids = {(channel, user_id) for channel, _, user_id in found}
    for channel, user_id in ids:
        named = RawSQL(  # noqa: S611 - the text is a parameter
            "position(convert_to(%s, 'UTF8') in body) > 0 OR position(%s in query) > 0",
            [user_id, user_id], output_field=BooleanField(),
        )  # fmt: skip
        callbacks = InboundCallback.objects.filter(channel=channel)
        callbacks = callbacks.alias(named=named).filter(named=True)
        # A callback with waiting items of other customers is emptied after those are processed.
        others = items.filter(callback__in=callbacks.values("pk"))
        waiting = set(others.values_list("callback", flat=True))
        callbacks.exclude(pk__in=waiting).update(body=b"", query="")
        for callback_id in waiting:
            enqueue("channels_app.empty_callback", client_id=None, callback_id=callback_id)
    return sorted(user_id for _, user_id in ids)
