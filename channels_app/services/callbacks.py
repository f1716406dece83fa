"""Callbacks come in: checked, stored as they are, answered; then a job for each account."""

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from channels_app.models import (
    ChannelConnection,
    InboundCallback,
    InboundItem,
    Outcome,
)
from channels_app.providers import PROVIDERS, Provider
from channels_app.providers.events import Item, Unsupported
from channels_app.providers.items import parse
from channels_app.services import connections, inbound
from chatplatform import jobs
from chatplatform.api.errors import ApiError, Forbidden
from chatplatform.crypto import constant_time_equal

log = logging.getLogger(__name__)
# Stored callbacks that one clean-up deletes.
_BATCH = 5_000


class BadSignature(ApiError):
    code, status = "bad_signature", 401
    detail = "The signature of this callback is missing or wrong."


def shake_hands(expected: str, *, mode: str, verify_token: str, challenge: str) -> str:
    """The challenge, if the provider knows the word that we agreed on; else 403."""
    if mode != "subscribe" or not constant_time_equal(verify_token, expected):
        raise Forbidden("This is not the verify token.")
    return challenge


def receive(provider: Provider, headers: Mapping[str, str], raw: bytes) -> None:
    """Store a callback that its provider has signed; 401 `bad_signature` for any other.

    Whatever it holds, it is accepted: the provider would send it again otherwise.
    """
    if not provider.is_authentic(headers, raw):
        raise BadSignature
    channel = provider.channel
    body = parse(raw)
    items = [] if body is None else provider.items(body)
    accounts = sorted({item.account_id for item in items})
    with transaction.atomic():
        callback = InboundCallback.objects.create(
            channel=channel,
            body=raw,
            item_count=len(items),
            problem="" if body is not None else "It is not JSON.",
        )
        for account_id in accounts:
            jobs.enqueue(
                "channels_app.process_callback", client_id=None,
                # Items of one account in the order in which they came.
                ordering_key=f"inbound:{channel}:{account_id}"[:80],
                callback_id=callback.pk, account_id=account_id,
            )  # fmt: skip


def process(callback_id: int, account_id: str) -> None:
    """Process a callback's items of one account, each once, whatever ran before."""
    callback = InboundCallback.objects.filter(pk=callback_id).first()
    if callback is None:
        return
    provider = PROVIDERS[callback.channel]
    connection = connections.live(callback.channel, account_id)
    numbered = [
        (position, item)
        for position, item in enumerate(provider.items(parse(bytes(callback.body))))
        if item.account_id == account_id
    ]
    known = _processed(callback.channel, account_id, [item.key for _, item in numbered])
    failures = list[Exception]()
    for position, item in sorted(numbered, key=lambda pair: (pair[1].at, pair[0])):
        try:
            _process(callback, position, item, connection, known)
        except jobs.LeaseLost:
            raise
        except Exception as exc:
            # One item must not hold up the others; the job is tried again for it.
            if not isinstance(exc, jobs.TryLater):
                log.exception("item %s of callback %s failed", position, callback_id)
            failures.append(exc)
    if connection:
        ChannelConnection.objects.filter(pk=connection.pk).update(last_event_at=timezone.now())
    if failures:
        raise failures[0]


def _process(
    callback: InboundCallback,
    position: int,
    item: Item,
    connection: ChannelConnection | None,
    known: set[str],
) -> None:
    counted = InboundItem(
        callback=callback,
        position=position,
        channel=callback.channel,
        account_id=item.account_id[:100],
        key=item.key,
    )
    if connection is None:
        _count(counted, Outcome.UNKNOWN_ACCOUNT)
    elif isinstance(item, Unsupported):
        counted.kind = item.kind[:60]
        _count(counted, Outcome.UNSUPPORTED)
    elif item.key in known:
        _count(counted, Outcome.DUPLICATE)
    else:
        known.add(item.key)
        with inbound.prepared(connection, item) as handle, jobs.commit():
            # A second process that has the same item waits here, and then is the later one.
            _count(counted, Outcome.PROCESSED)
            if InboundItem.objects.filter(callback=callback, position=position).exists():
                handle(counted)
            else:
                _count(counted, Outcome.DUPLICATE)


def _count(item: InboundItem, outcome: Outcome) -> None:
    item.outcome = outcome
    InboundItem.objects.bulk_create([item], ignore_conflicts=True)


def _processed(channel: str, account_id: str, keys: Sequence[str]) -> set[str]:
    """Those of the keys of an account whose item was processed before."""
    rows = InboundItem.objects.filter(
        channel=channel, account_id=account_id[:100], key__in=keys, outcome=Outcome.PROCESSED
    )
    return set(rows.values_list("key", flat=True))


def delete_old() -> None:
    """Delete callbacks whose time is over, with what is known of their items."""
    until = timezone.now() - timedelta(days=settings.CALLBACK_RETENTION_DAYS)
    rows = InboundCallback.objects.filter(received_at__lt=until).order_by("received_at")
    InboundCallback.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[:_BATCH])).delete()
