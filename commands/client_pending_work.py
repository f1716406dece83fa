"""Finds work of a frozen client that has not ended yet, which its archive would not hold."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.utils import timezone

from channels_app.models import ChannelConnection, InboundItem, Outcome
from chatplatform.models import Job, JobState
from chatplatform.sql import fetch_row
from identity.models import Client, CreditEntry
from webhooks.models import Delivery, UnnumberedEvent
from webhooks.services import feed_order

# Other processes cache a key and its client for a second, and a request that they admit begins its
# transaction at once.
ADMISSION_LIFETIME = timedelta(seconds=2)
# Longer than any call of a model.
_CALL_TIMEOUT = timedelta(minutes=2)
_OLDER_TRANSACTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend'
  AND pid <> pg_backend_pid() AND xact_start < %s
"""


def under_way(client: Client) -> Iterator[str]:
    """A short description of each kind of work of a frozen client that has not ended yet."""
    assert client.frozen_at
    admitted_until = client.frozen_at + ADMISSION_LIFETIME
    if timezone.now() < admitted_until:
        yield "requests that were admitted just before"
    if older := fetch_row(_OLDER_TRANSACTIONS, [admitted_until])[0]:
        yield f"{older} transactions that are older than the freezing"
    running = Job.objects.filter(client_id=client.pk, state=JobState.RUNNING)
    yield from _counted(running, "running jobs")
    yield from _counted(_inbound(client), "items of callbacks that are not processed")
    now = timezone.now()
    sent = Delivery.objects.filter(client=client, lease_token__isnull=False, due_at__gt=now)
    yield from _counted(sent, "deliveries that are being sent")
    called = CreditEntry.objects.filter(
        client=client, is_open=True, job_id=None, created_at__gt=now - _CALL_TIMEOUT
    )
    yield from _counted(called, "calls of a model")
    feed_order.number_events(client.pk)
    yield from _counted(UnnumberedEvent.objects.filter(client=client), "events without a place")


def _inbound(client: Client) -> Any:
    own = ChannelConnection.objects.filter(client=client).values("pk")
    return InboundItem.objects.filter(outcome=Outcome.WAITING, connection_id__in=own)


def _counted(rows: Any, what: str) -> Iterator[str]:
    if count := rows.count():
        yield f"{count} {what}"
