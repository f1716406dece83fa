"""The courier: takes due deliveries, has threads send them, writes down what came of it.

One thread talks to the database, in batches: what ended is written in one transaction, what is due
is taken in another. The senders know no database, and no transaction is open while they wait. Any
number of couriers may run, one in each worker of the queue `webhook`; a delivery is taken under a
lease, and finished only by who holds it.

Nobody waits for a bad receiver: an endpoint has at most two requests on their way, one while it
fails, none while its breaker is open; and failing endpoints together get half of the threads.
"""

import logging
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import Error, connection, transaction
from django.utils import timezone

from chatplatform import egress
from chatplatform.crypto import CryptoError
from webhooks import delivery
from webhooks.delivery import DeliveryRequest, Outcome
from webhooks.models import WebhookConfig
from webhooks.services import circuit_breaker, events
from webhooks.shapes.webhook import event_id

log = logging.getLogger(__name__)
PER_ENDPOINT = 2
_TEST_THREADS = 16
# Renewed while an attempt lasts: so long is a delivery in nobody's hands after its courier died.
LEASE_SECONDS = 10.0
_KEPT_CONNECTIONS = 256
# Between looks: while there is work, and after a second without any.
_BUSY_SECONDS, _IDLE_SECONDS = 0.003, 0.02
_DRAIN_SECONDS = 3.0

# Endpoints with something due. The table of deliveries may hold a long backlog of a dead receiver:
# this leaps from endpoint to endpoint in the index instead of reading through it.
_WAITING = """
WITH RECURSIVE waiting AS (
    (SELECT config_id FROM webhooks_delivery WHERE due_at IS NOT NULL AND NOT is_test
     ORDER BY config_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.config_id FROM webhooks_delivery d
            WHERE d.due_at IS NOT NULL AND NOT d.is_test AND d.config_id > w.config_id
            ORDER BY d.config_id LIMIT 1)
    FROM waiting w WHERE w.config_id IS NOT NULL
)
SELECT {columns} FROM webhooks_webhookconfig c
WHERE c.id IN (SELECT config_id FROM waiting) AND c.id <> ALL (%s::uuid[]) AND c.is_active
  AND (c.paused_until IS NULL OR c.paused_until <= statement_timestamp())
  AND EXISTS (SELECT FROM webhooks_delivery d WHERE d.config_id = c.id AND NOT d.is_test
              AND d.due_at <= statement_timestamp())
"""
_READY = _WAITING.format(columns="c.*") + "FOR NO KEY UPDATE OF c SKIP LOCKED"
# Without locks: what an idle courier asks again and again.
_ANYTHING = (
    _WAITING.format(columns="1")
    + "UNION ALL SELECT 1 FROM webhooks_delivery WHERE is_test"
    + " AND due_at <= statement_timestamp() LIMIT 1"
)

# The lease is the due moment itself: what a dead courier held is due again when its lease is over.
_TAKE = """
WITH taken AS (
    SELECT d.id, d.lease_token AS lost FROM (
        SELECT a.config_id, a.cap - (
            SELECT count(*) FROM webhooks_delivery s
            WHERE s.config_id = a.config_id AND s.lease_token IS NOT NULL AND NOT s.is_test
              AND s.due_at > statement_timestamp()) AS room
        FROM unnest(%(configs)s::uuid[], %(caps)s::int[]) AS a (config_id, cap)) AS r,
    LATERAL (
        SELECT id, lease_token FROM webhooks_delivery
        WHERE config_id = r.config_id AND NOT is_test AND due_at <= statement_timestamp()
        ORDER BY due_at, id LIMIT GREATEST(r.room, 0) FOR UPDATE SKIP LOCKED) AS d
    UNION ALL
    SELECT t.id, t.lease_token FROM (
        SELECT id, lease_token FROM webhooks_delivery
        WHERE is_test AND due_at <= statement_timestamp()
        ORDER BY due_at, id LIMIT %(tests)s FOR UPDATE SKIP LOCKED) AS t
)
UPDATE webhooks_delivery d
SET lease_token = gen_random_uuid(), attempts = d.attempts + 1,
    due_at = statement_timestamp() + make_interval(secs => %(lease)s)
FROM taken JOIN webhooks_delivery own ON own.id = taken.id
     JOIN webhooks_payload p ON p.event_id = own.event_id
WHERE d.id = taken.id
RETURNING d.id, d.config_id, d.lease_token, d.attempts, d.attempts_before, d.is_test,
    d.event_id, p.body, taken.lost
"""

_FINISH = """
WITH ended AS (
    SELECT * FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[], %(numbers)s::int[],
        %(states)s::text[], %(waits)s::float8[], %(statuses)s::int[], %(spent)s::int[],
        %(errors)s::text[], %(excerpts)s::text[])
    AS e (id, token, number, state, wait, http_status, duration_ms, error, excerpt)
), written AS (
    UPDATE webhooks_delivery d
    SET state = e.state, lease_token = NULL,
        due_at = statement_timestamp() + make_interval(secs => e.wait)
    FROM ended e WHERE d.id = e.id AND d.lease_token = e.token
    RETURNING d.id, d.client_id
)
INSERT INTO webhooks_deliveryattempt
    (client_id, delivery_id, number, http_status, duration_ms, error, response_excerpt, created_at)
SELECT w.client_id, e.id, e.number, e.http_status, e.duration_ms, e.error, e.excerpt,
    statement_timestamp()
FROM written w JOIN ended e ON e.id = w.id
RETURNING delivery_id
"""

# Attempts of couriers that died while sending: nobody knows how they ended.
_LOST = """
INSERT INTO webhooks_deliveryattempt
    (client_id, delivery_id, number, error, response_excerpt, created_at)
SELECT client_id, id, attempts - 1, 'interrupted', '', statement_timestamp()
FROM webhooks_delivery WHERE id = ANY (%s)
ON CONFLICT (delivery_id, number) DO NOTHING
"""


# That was the last attempt on the ladder: it is not made once more.
_SPENT = """
UPDATE webhooks_delivery
SET state = 'gave_up', due_at = NULL, lease_token = NULL, attempts = attempts - 1
WHERE id = ANY (%s)
"""


@dataclass
class _Kept:
    """The connections to one endpoint."""

    url: str
    client: egress.KeepAliveClient
    used_at: float = field(default_factory=time.monotonic)


def run(stop: threading.Event) -> None:
    """Deliver until `stop` is set; then what is on its way is ended, or handed back."""
    courier = Courier()
    try:
        _deliver(courier, stop)
    finally:
        try:
            courier.drain(_DRAIN_SECONDS)
        finally:
            connection.close()


def _deliver(courier: "Courier", stop: threading.Event) -> None:
    busy_at, has_started = 0.0, False
    while not stop.is_set():
        try:
            if not has_started:
                events.follow_restored_database()
                has_started = True
            if courier.turn():
                busy_at = time.monotonic()
        except Error as exc:
            # What was in hand is due again when its lease ends.
            log.warning("database away, trying again: %s", exc)
            connection.close()
            stop.wait(1)
        is_idle = time.monotonic() - busy_at > 1
        courier.something_ended.wait(_IDLE_SECONDS if is_idle else _BUSY_SECONDS)


class Courier:
    """One courier; `turn()` is one look at the database."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or settings.WEBHOOK_THREADS
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="send")
        self._test_pool = ThreadPoolExecutor(_TEST_THREADS, thread_name_prefix="send-test")
        self._in_flight: dict[Future[Outcome], DeliveryRequest] = {}
        self._failing: set[uuid.UUID] = set()
        self._kept: dict[uuid.UUID, _Kept] = {}
        self._renewed_at = 0.0
        self.something_ended = threading.Event()

    def turn(self) -> bool:
        """Write down what ended, take what is due; True where there was anything."""
        self.something_ended.clear()
        ended = {future: parcel for future, parcel in self._in_flight.items() if future.done()}
        running = [one for future, one in self._in_flight.items() if future not in ended]
        self._renew(running)
        full = self._full(running)
        if not ended and not _is_anything_due(full):
            return False
        with transaction.atomic():
            self._finish([(parcel, _outcome(future)) for future, parcel in ended.items()])
            rows, configs = self._take(running, full)
        # Only now: had the database gone away, what ended would be written by the next turn.
        for future in ended:
            del self._in_flight[future]
        for parcel in _parcels(rows, configs):
            self._start(parcel)
        return bool(ended or rows)

    def drain(self, seconds: float) -> None:
        """Wait for what is on its way, write it down, and hand the rest back at once."""
        ends_at = time.monotonic() + seconds
        while self._in_flight:
            is_late = time.monotonic() > ends_at
            ended = {f: parcel for f, parcel in self._in_flight.items() if f.done()}
            with transaction.atomic():
                self._finish([(parcel, _outcome(future)) for future, parcel in ended.items()])
            for future in ended:
                del self._in_flight[future]
            if is_late:
                break
            self.something_ended.wait(0.05)
        # Due at once. The token stays: whoever takes it notes that this attempt was cut short.
        _set_due([parcel.lease_token for parcel in self._in_flight.values()], 0)
        for pool in (self._pool, self._test_pool):
            pool.shutdown(wait=False, cancel_futures=True)
        for kept in self._kept.values():
            kept.client.close()

    def _renew(self, running: Sequence[DeliveryRequest]) -> None:
        if time.monotonic() - self._renewed_at < LEASE_SECONDS / 4:
            return
        self._renewed_at = time.monotonic()
        if running:
            _set_due([parcel.lease_token for parcel in running], LEASE_SECONDS)

    def _full(self, running: Sequence[DeliveryRequest]) -> list[uuid.UUID]:
        """Endpoints that may have no more on their way, as far as this courier knows."""
        counts = Counter(parcel.config_id for parcel in running if not parcel.is_test)
        return [
            config_id
            for config_id, count in counts.items()
            if count >= (1 if config_id in self._failing else PER_ENDPOINT)
        ]

    def _take(
        self, running: Sequence[DeliveryRequest], full: Sequence[uuid.UUID]
    ) -> tuple[list[Any], dict[uuid.UUID, WebhookConfig]]:
        """Lease what is due; inside the caller's transaction."""
        ready = list(WebhookConfig.objects.raw(_READY, [full]))
        caps = self._caps(ready, running)
        given: dict[str, Any] = {
            "configs": list(caps),
            "caps": list(caps.values()),
            "tests": max(_TEST_THREADS - sum(parcel.is_test for parcel in running), 0),
            "lease": LEASE_SECONDS,
        }
        # A statement of its own: it must see what other couriers took before the lock was ours.
        with connection.cursor() as cursor:
            cursor.execute(_TAKE, given)
            rows = _without_spent(cursor.fetchall())
        configs = {config.pk: config for config in ready}
        missing = {row[1] for row in rows} - set(configs)
        return rows, configs | (WebhookConfig.objects.in_bulk(missing) if missing else {})

    def _caps(
        self, ready: Sequence[WebhookConfig], running: Sequence[DeliveryRequest]
    ) -> dict[Any, int]:
        """How many each endpoint may have on their way; the threads are shared out in turn."""
        mine = Counter(parcel.config_id for parcel in running if not parcel.is_test)
        free = self.threads - sum(mine.values())
        self._failing = {one.pk for one in ready if one.failures_in_row} | (
            self._failing & set(mine)
        )
        free_to_fail = self.threads // 2 - sum(mine[pk] for pk in self._failing)
        caps = {}
        for config in sorted(ready, key=lambda one: (bool(one.failures_in_row), random.random())):
            has = mine[config.pk]
            room = min((1 if config.failures_in_row else PER_ENDPOINT) - has, free)
            if config.failures_in_row:
                room = min(room, free_to_fail)
                free_to_fail -= max(room, 0)
            if room > 0:
                caps[config.pk] = has + room
                free -= room
        return caps

    def _start(self, parcel: DeliveryRequest) -> None:
        pool = self._test_pool if parcel.is_test else self._pool
        future = pool.submit(delivery.send, parcel, self._connections(parcel))
        self._in_flight[future] = parcel
        future.add_done_callback(lambda _: self.something_ended.set())

    def _connections(self, parcel: DeliveryRequest) -> egress.KeepAliveClient:
        """Connections are kept for each endpoint: making them would take most of the time."""
        kept = self._kept.get(parcel.config_id)
        if kept is None or kept.url != parcel.url:
            kept = _Kept(
                parcel.url,
                egress.client(timeout_seconds=settings.WEBHOOK_TIMEOUT_SECONDS, purpose="webhook"),
            )
            self._kept[parcel.config_id] = kept
            self._drop_unused()
        kept.used_at = time.monotonic()
        return kept.client

    def _drop_unused(self) -> None:
        if len(self._kept) <= _KEPT_CONNECTIONS:
            return
        busy = {parcel.config_id for parcel in self._in_flight.values()}
        for config_id in sorted(self._kept, key=lambda one: self._kept[one].used_at):
            if config_id not in busy and len(self._kept) > _KEPT_CONNECTIONS // 2:
                self._kept.pop(config_id).client.close()

    def _finish(self, ended: Sequence[tuple[DeliveryRequest, Outcome]]) -> None:
        """Write outcomes down, where the lease is still ours; inside the caller's transaction."""
        if not ended:
            return
        telling = [one for one in ended if circuit_breaker.affects_endpoint(*one)]
        # Endpoints before their deliveries: the order in which everyone locks them.
        circuit_breaker.lock({parcel.config_id for parcel, _ in telling})
        verdicts = [circuit_breaker.verdict(parcel, outcome) for parcel, outcome in ended]
        given: dict[str, Any] = {
            "ids": [parcel.delivery_id for parcel, _ in ended],
            "tokens": [parcel.lease_token for parcel, _ in ended],
            "numbers": [parcel.number for parcel, _ in ended],
            "states": [str(state) for state, _ in verdicts],
            "waits": [wait for _, wait in verdicts],
            "statuses": [outcome.http_status for _, outcome in ended],
            "spent": [outcome.duration_ms for _, outcome in ended],
            "errors": [outcome.error for _, outcome in ended],
            "excerpts": [outcome.excerpt for _, outcome in ended],
        }
        with connection.cursor() as cursor:
            cursor.execute(_FINISH, given)
            written = {row[0] for row in cursor.fetchall()}
        failing = circuit_breaker.note([one for one in telling if one[0].delivery_id in written])
        self._failing -= {parcel.config_id for parcel, outcome in ended if outcome.error is None}
        self._failing |= failing


def _is_anything_due(full: Sequence[uuid.UUID]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_ANYTHING, [list(full)])
        return cursor.fetchone() is not None


def _without_spent(rows: list[Any]) -> list[Any]:
    """Note attempts whose courier died; drop what has no attempt left after that."""
    lost = [row for row in rows if row[8]]
    if not lost:
        return rows
    spent = [row[0] for row in lost if row[3] - row[4] > len(delivery.LADDER)]
    with connection.cursor() as cursor:
        cursor.execute(_LOST, [[row[0] for row in lost]])
        cursor.execute(_SPENT, [spent])
    return [row for row in rows if row[0] not in spent]


def _parcels(rows: list[Any], configs: dict[uuid.UUID, WebhookConfig]) -> Iterator[DeliveryRequest]:
    now = timezone.now()
    for delivery_id, config_id, token, number, before, is_test, event, body, _ in rows:
        config = configs[config_id]
        yield DeliveryRequest(
            delivery_id=delivery_id,
            config_id=config_id,
            lease_token=token,
            number=number,
            tries=number - before,
            is_test=is_test,
            is_of_struggling=bool(config.failures_in_row or config.paused_until),
            url=config.url,
            secrets=_secrets(config, now),
            event_id=event_id(event),
            body=bytes(body),
        )


def _secrets(config: WebhookConfig, now: datetime) -> list[str]:
    try:
        return config.secrets(now)
    except CryptoError:
        # One endpoint that cannot be signed for must not stop the others.
        log.exception("the secret of endpoint %s does not open", config.pk)
        return []


def _set_due(leases: Sequence[uuid.UUID], seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE webhooks_delivery"
            " SET due_at = statement_timestamp() + make_interval(secs => %s)"
            " WHERE lease_token = ANY (%s)",
            [seconds, list(leases)],
        )


def _outcome(future: "Future[Outcome]") -> Outcome:
    with suppress(Exception):
        return future.result()
    # A fault of ours, not of the receiver's: it is tried again like any other.
    log.error("a delivery could not be attempted", exc_info=future.exception())
    return Outcome(delivery.Fault.INTERRUPTED)
