"""Receive callbacks: check the signature, store the body and its items, and respond."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from channels_app.models import ChannelConnection, InboundCallback, InboundItem, Outcome
from channels_app.providers import Provider
from channels_app.providers.callback_parsing import Callback, Unreadable
from channels_app.providers.events import Item
from channels_app.services import connections, inbound_queue
from chatplatform import jobs
from chatplatform.api.errors import ApiError, Forbidden
from chatplatform.crypto import constant_time_equal
from identity.services import move_freeze

# The maximum number of callbacks that one cleanup deletes.
_BATCH = 5_000


class BadSignature(ApiError):
    code, status = "bad_signature", 401
    detail = "The signature of this callback is missing or wrong."


def verify_subscription(expected: str, *, mode: str, verify_token: str, challenge: str) -> str:
    """Return the challenge if the provider sent the right verify token; else 403."""
    if mode != "subscribe" or not constant_time_equal(verify_token, expected):
        raise Forbidden("This is not the verify token.")
    return challenge


def receive(provider: Provider, callback: Callback) -> Any:
    """Store an authentic callback, and return the JSON to respond with, or None. Ignore a ping.

    401 `bad_signature` if the callback is not authentic. The items go to the connections that have
    their accounts now. An unreadable callback is accepted, too, since repeating it would not help.
    503 `client_frozen` while a client with one of the accounts is being moved to another cell, so
    that the provider sends the callback again.
    """
    if provider.is_ping(callback):
        return None
    channel = provider.channel
    named = connections.find_live(channel, provider.named_account(callback))
    if not provider.is_authentic(callback, named.secret if named else ""):
        raise BadSignature
    items, error = list[Item](), ""
    try:
        items += provider.items(callback)
    except Unreadable as exc:
        error = str(exc)
    accounts = {item.account_id for item in items}
    receivers = {account_id: connections.find_live(channel, account_id) for account_id in accounts}
    _ensure_none_is_frozen(receivers.values())
    with transaction.atomic():
        row = InboundCallback.objects.create(
            channel=channel,
            path=callback.path,
            query=callback.query,
            body=callback.body,
            item_count=len(items),
            error=error,
        )
        inbound_queue.store(row, enumerate(items), receivers)
    return None if error else provider.answer(callback)


def _ensure_none_is_frozen(receivers: Iterable[ChannelConnection | None]) -> None:
    """Raise 503 `client_frozen` if the client of a receiver is being moved to another cell."""
    if frozen := set(move_freeze.frozen_ids()):
        for row in receivers:
            if row and row.client_id in frozen:
                raise move_freeze.ClientFrozen


def empty(callback_id: int) -> None:
    """Empty the body and the query of a callback in which an erased customer occurs.

    Raises TryLater while items of the callback still wait, but only until its retention is over.
    """
    rows = InboundCallback.objects.filter(pk=callback_id)
    waiting = InboundItem.objects.filter(callback=callback_id, outcome=Outcome.WAITING)
    if rows.filter(received_at__gte=_retention_start()).exists() and waiting.exists():
        raise jobs.TryLater("Other customers' items wait.", wait=timedelta(minutes=10))
    rows.update(body=b"", query="")


def _retention_start() -> datetime:
    return timezone.now() - timedelta(days=settings.CALLBACK_RETENTION_DAYS)


def delete_old() -> None:
    """Delete callbacks whose retention is over, with their items, unless an item still waits."""
    waiting = InboundItem.objects.filter(callback=OuterRef("pk"), outcome=Outcome.WAITING)
    rows = InboundCallback.objects.filter(~Exists(waiting), received_at__lt=_retention_start())
    rows = rows.order_by("received_at")
    InboundCallback.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[:_BATCH])).delete()
