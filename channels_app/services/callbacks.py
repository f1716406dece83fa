"""Callbacks come in: checked, stored as they are, answered; then a job for each account."""

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from channels_app.models import (
    ChannelConnection,
    InboundCallback,
    InboundItem,
    Outcome,
)
from channels_app.providers import PROVIDERS, Provider
from channels_app.providers.callback_parsing import parse
from channels_app.providers.events import FromCustomer, Item, Unsupported
from channels_app.services import connections, inbound
from channels_app.services.inbound_order import inbound_key
from chatplatform import jobs
from chatplatform.api.errors import ApiError, Forbidden
from chatplatform.crypto import constant_time_equal
from chatplatform.models import Job, JobState
from identity.services import freezing

log = logging.getLogger(__name__)
# An item with its place in the callback.
_Numbered = tuple[int, Item]
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

    Whatever it holds, it is accepted: the provider would send it again otherwise. Except while a
    client whom it concerns is moved to another cell: 503 `client_frozen`.
    """
    if not provider.is_authentic(headers, raw):
        raise BadSignature
    channel = provider.channel
    body = parse(raw)
    items = [] if body is None else provider.items(body)
    accounts = sorted({item.account_id for item in items})
    _ensure_none_is_frozen(channel, accounts)
    with transaction.atomic():
        callback = InboundCallback.objects.create(
            channel=channel,
            body=raw,
            item_count=len(items),
            problem="" if body is not None else "It cannot be read as JSON.",
        )
        for account_id in accounts:
            jobs.enqueue(
                "channels_app.process_callback", client_id=None,
                # Items of one account in the order in which they came.
                ordering_key=inbound_key(channel, account_id),
                callback_id=callback.pk, account_id=account_id,
            )  # fmt: skip


def _ensure_none_is_frozen(channel: str, accounts: Sequence[str]) -> None:
    """503 `client_frozen` if an account's client is being moved: the provider sends it again."""
    if frozen := set(freezing.frozen_ids()):
        for account_id in accounts:
            row = connections.live(channel, account_id)
            if row and row.client_id in frozen:
                raise freezing.ClientFrozen


def process(callback_id: int, account_id: str) -> None:
    """Process a callback's items of one account, each once, whatever ran before.

    Items that cannot be processed now go to a job of their customer's own, and so do all that
    come behind them: nobody else waits.
    """
    callback = InboundCallback.objects.filter(pk=callback_id).first()
    if callback is None:
        return
    connection, todo = _begin(callback, account_id)
    if connection is None:
        return
    behind = _customers_behind(callback.channel, account_id, todo)
    for position, item in todo:
        user_id = _user_of(item)
        if user_id in behind:
            continue
        try:
            _process(callback, position, item, connection)
        except jobs.LeaseLost:
            raise
        except Exception as exc:
            _log(callback, position, exc)
            behind.add(user_id)
    ChannelConnection.objects.filter(pk=connection.pk).update(last_event_at=timezone.now())
    waiting = behind & {_user_of(item) for _, item in todo}
    with jobs.commit():
        for user_id in sorted(waiting):
            jobs.enqueue(
                "channels_app.process_customer", client_id=None,
                ordering_key=inbound_key(callback.channel, account_id, user_id),
                callback_id=callback.pk, account_id=account_id, user_id=user_id,
            )  # fmt: skip


def process_customer(callback_id: int, account_id: str, user_id: str) -> None:
    """Process what is left of one customer's items in a callback, in their order, at each attempt.

    One that has to wait holds up those behind it. `user_id` is empty for items of nobody.
    """
    callback = InboundCallback.objects.filter(pk=callback_id).first()
    if callback is None:
        return
    connection, todo = _begin(callback, account_id, user_id)
    if connection is None:
        return
    failures = list[Exception]()
    for position, item in todo:
        try:
            _process(callback, position, item, connection)
        except (jobs.LeaseLost, jobs.TryLater):
            raise
        except Exception as exc:
            # The customer's next message must not be lost behind one that always fails.
            _log(callback, position, exc)
            failures.append(exc)
    if failures:
        raise failures[0]


def _begin(
    callback: InboundCallback, account_id: str, user_id: str | None = None
) -> tuple[ChannelConnection | None, list[_Numbered]]:
    """The account's connection, and in their order the items that are still to be processed.

    `user_id`: of this customer alone.
    """
    connection = connections.live(callback.channel, account_id)
    todo = [
        (position, item)
        for position, item in _uncounted(callback, account_id)
        if user_id is None or _user_of(item) == user_id
    ]
    with jobs.commit():
        todo = _count_others(callback, todo, connection)
    return connection, sorted(todo, key=lambda pair: (pair[1].at, pair[0]))


def _customers_behind(channel: str, account_id: str, todo: Sequence[_Numbered]) -> set[str]:
    """The customers who have earlier items that are still to be processed."""
    keys = {
        inbound_key(channel, account_id, user_id): user_id
        for user_id in {_user_of(item) for _, item in todo}
    }
    rows = Job.objects.filter(ordering_key__in=keys, state__in=[JobState.QUEUED, JobState.RUNNING])
    return {keys[key] for key in rows.values_list("ordering_key", flat=True) if key}


def _user_of(item: Item) -> str:
    """The customer who is concerned; empty for an item of the account itself."""
    return item.user_id if isinstance(item, FromCustomer) else ""


def _log(callback: InboundCallback, position: int, error: Exception) -> None:
    if not isinstance(error, jobs.TryLater):
        log.error("item %s of callback %s failed", position, callback.pk, exc_info=error)


def _uncounted(callback: InboundCallback, account_id: str) -> list[_Numbered]:
    """The items of an account that no earlier run has counted, with their places."""
    counted = set(InboundItem.objects.filter(callback=callback).values_list("position", flat=True))
    items = PROVIDERS[callback.channel].items(parse(bytes(callback.body)))
    return [
        (position, item)
        for position, item in enumerate(items)
        if item.account_id == account_id and position not in counted
    ]


def _count_others(
    callback: InboundCallback, todo: Sequence[_Numbered], connection: ChannelConnection | None
) -> list[_Numbered]:
    """Count the items that change nothing; return the others."""
    known = _processed(callback.channel, [item for _, item in todo])
    others, left = list[InboundItem](), list[_Numbered]()
    for position, item in todo:
        if connection is None:
            others.append(_counted(callback, position, item, Outcome.UNKNOWN_ACCOUNT))
        elif isinstance(item, Unsupported):
            others.append(_counted(callback, position, item, Outcome.UNSUPPORTED))
        elif item.key in known:
            others.append(_counted(callback, position, item, Outcome.DUPLICATE))
        else:
            known.add(item.key)
            left.append((position, item))
    InboundItem.objects.bulk_create(others, ignore_conflicts=True)
    return left


def _process(
    callback: InboundCallback, position: int, item: Item, connection: ChannelConnection
) -> None:
    with inbound.prepared(connection, item) as handle, jobs.commit():
        if not connections.is_live(connection):
            # Given up since this run began: from then on nothing comes in.
            _insert(_counted(callback, position, item, Outcome.UNKNOWN_ACCOUNT))
            return
        counted = _counted(callback, position, item, Outcome.PROCESSED)
        # A second process that has the same item waits here, and then is the later one.
        if _insert(counted):
            handle(counted)
        else:
            _insert(_counted(callback, position, item, Outcome.DUPLICATE))


def _insert(item: InboundItem) -> bool:
    """Store what became of an item; False if it is counted already, here or as processed."""
    try:
        with transaction.atomic():
            item.save(force_insert=True)
    except IntegrityError:
        return False
    return True


def _counted(callback: InboundCallback, position: int, item: Item, outcome: Outcome) -> InboundItem:
    return InboundItem(
        callback=callback,
        position=position,
        channel=callback.channel,
        account_id=item.account_id[:100],
        key=item.key,
        outcome=outcome,
        kind=item.kind[:60] if isinstance(item, Unsupported) else "",
    )


def _processed(channel: str, items: Sequence[Item]) -> set[str]:
    """The keys of those items of an account that were processed before."""
    if not items:
        return set()
    rows = InboundItem.objects.filter(
        channel=channel,
        account_id=items[0].account_id[:100],
        key__in=[item.key for item in items],
        outcome=Outcome.PROCESSED,
    )
    return set(rows.values_list("key", flat=True))


def delete_old() -> None:
    """Delete callbacks whose time is over, with what is known of their items."""
    until = timezone.now() - timedelta(days=settings.CALLBACK_RETENTION_DAYS)
    rows = InboundCallback.objects.filter(received_at__lt=until).order_by("received_at")
    InboundCallback.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[:_BATCH])).delete()
