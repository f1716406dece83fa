"""The dispatcher leases due deliveries, sends them in threads, and records the outcomes.

Only one of its threads uses the database: in one transaction, it records outcomes and leases due
deliveries. No transaction is open while the other threads send. Each worker of the queue `webhook`
runs a dispatcher. Only the holder of a delivery's lease records its outcome.

A slow receiver does not delay others: besides tests, an endpoint has at most two requests in
flight. A failing endpoint has at most one, and gets no new one while its circuit breaker is open.
All failing endpoints together get at most half of the threads.
"""

import functools
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
from chatplatform.jobs.stop_event import Stop
from chatplatform.live import pubsub
from chatplatform.observing import metrics
from chatplatform.sql import execute, fetch_row, fetch_rows
from webhooks import transport
from webhooks.models import WebhookConfig
from webhooks.schemas.webhook import event_id
from webhooks.services import delivery_outcomes
from webhooks.services.events import DELIVERIES
from webhooks.transport import DeliveryRequest, Outcome

log = logging.getLogger(__name__)
# The maximum number of requests in flight per healthy endpoint, not counting tests.
PER_ENDPOINT = 2
_TEST_THREADS = 16
# Leases are renewed during attempts. If a dispatcher crashes, its deliveries wait this long.
LEASE_SECONDS = 10.0
# The maximum number of HTTP clients that are kept, one per endpoint.
MAX_CLIENTS = 256
# The pause after a tick: `_WATCH_SECONDS` if there was work; otherwise until the next delivery is
# due, from `_WATCH_SECONDS` to `_IDLE_SECONDS`. A signal or the end of an attempt cuts it short.
_WATCH_SECONDS, _IDLE_SECONDS = 0.5, 5.0
_DRAIN_SECONDS = 3.0

# The endpoints with waiting deliveries. The query jumps from endpoint to endpoint in the index,
# because an unreachable receiver may have a long backlog.
_ENDPOINTS = """
WITH RECURSIVE waiting AS (
    (SELECT config_id FROM webhooks_delivery WHERE due_at IS NOT NULL AND NOT is_test
     ORDER BY config_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.config_id FROM webhooks_delivery d
            WHERE d.due_at IS NOT NULL AND NOT d.is_test AND d.config_id > w.config_id
            ORDER BY d.config_id LIMIT 1)
    FROM waiting w WHERE w.config_id IS NOT NULL
)
"""
_NEXT_DUE = (
    _ENDPOINTS
    + """
SELECT extract(epoch FROM least(
    -- Deliveries of a paused endpoint wait for the end of its pause.
    (SELECT min(greatest(c.paused_until, (
         SELECT min(d.due_at) FROM webhooks_delivery d
         WHERE d.config_id = c.id AND d.due_at IS NOT NULL AND NOT d.is_test)))
     FROM waiting w JOIN webhooks_webhookconfig c ON c.id = w.config_id),
    (SELECT min(due_at) FROM webhooks_delivery WHERE due_at IS NOT NULL AND is_test)
) - statement_timestamp())::float8
"""
)
_WAITING = (
    _ENDPOINTS
    + """
SELECT {columns} FROM webhooks_webhookconfig c
WHERE c.id IN (SELECT config_id FROM waiting) AND c.id <> ALL (%s::uuid[]) AND c.is_active
  AND (c.paused_until IS NULL OR c.paused_until <= statement_timestamp())
  AND NOT EXISTS (SELECT FROM identity_client f
                  WHERE f.id = c.client_id AND f.frozen_at IS NOT NULL)
  AND EXISTS (SELECT FROM webhooks_delivery d WHERE d.config_id = c.id AND NOT d.is_test
              AND d.due_at <= statement_timestamp())
"""
)
_READY = _WAITING.format(columns="c.*") + "FOR NO KEY UPDATE OF c SKIP LOCKED"
# Whether anything is due. Takes no locks, since idle dispatchers repeat it.
_ANY_DUE = (
    _WAITING.format(columns="1")
    + "UNION ALL SELECT 1 FROM webhooks_delivery WHERE is_test"
    + " AND due_at <= statement_timestamp() LIMIT 1"
)

# `due_at` becomes the end of the lease, so that a crashed dispatcher's deliveries become due.
_LEASE = """
WITH leased AS (
    SELECT d.id, d.event_id, d.lease_token AS lost_lease FROM (
        SELECT a.config_id, a.cap - (
            SELECT count(*) FROM webhooks_delivery s
            WHERE s.config_id = a.config_id AND s.lease_token IS NOT NULL AND NOT s.is_test
              AND s.due_at > statement_timestamp()) AS room
        FROM unnest(%(configs)s::uuid[], %(caps)s::int[]) AS a (config_id, cap)) AS r,
    LATERAL (
        SELECT id, event_id, lease_token FROM webhooks_delivery
        WHERE config_id = r.config_id AND NOT is_test AND due_at <= statement_timestamp()
        ORDER BY due_at, id LIMIT GREATEST(r.room, 0) FOR UPDATE SKIP LOCKED) AS d
    UNION ALL
    SELECT t.id, t.event_id, t.lease_token FROM (
        SELECT id, event_id, lease_token FROM webhooks_delivery
        WHERE is_test AND due_at <= statement_timestamp()
        ORDER BY due_at, id LIMIT %(tests)s FOR UPDATE SKIP LOCKED) AS t
)
UPDATE webhooks_delivery d
SET lease_token = gen_random_uuid(), attempts = d.attempts + 1,
    due_at = statement_timestamp() + make_interval(secs => %(lease)s)
FROM leased JOIN webhooks_payload p ON p.event_id = leased.event_id
-- The event's id determines the month, so that other partitions are not searched.
WHERE d.id = leased.id AND d.event_id = leased.event_id
RETURNING d.id, d.config_id, d.lease_token, d.attempts, d.attempts_before_replay, d.is_test,
    d.event_id, p.body, leased.lost_lease
"""

_RECORD_OUTCOMES = """
WITH ended AS (
    SELECT * FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[], %(numbers)s::int[],
        %(states)s::text[], %(waits)s::float8[], %(statuses)s::int[], %(durations)s::int[],
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

# Records attempts whose dispatcher crashed, with an unknown outcome. The deliveries are locked, so
# none is recorded twice.
_RECORD_INTERRUPTED = """
INSERT INTO webhooks_deliveryattempt
    (client_id, delivery_id, number, error, response_excerpt, created_at)
SELECT client_id, id, attempts - 1, 'interrupted', '', statement_timestamp()
FROM webhooks_delivery d WHERE id = ANY (%s) AND NOT EXISTS (
    SELECT FROM webhooks_deliveryattempt a WHERE a.delivery_id = d.id AND a.number = d.attempts - 1)
"""

# Ends deliveries whose interrupted attempt was the last one.
_GIVE_UP = """
UPDATE webhooks_delivery
SET state = 'gave_up', due_at = NULL, lease_token = NULL, attempts = attempts - 1
WHERE id = ANY (%s)
"""


@dataclass
class _EndpointClient:
    url: str
    client: egress.KeepAliveClient
    used_at: float = field(default_factory=time.monotonic)


def run(stop: Stop) -> None:
    """Deliver until `stop` is set; then finish the requests in flight or release them."""
    dispatcher = Dispatcher()
    stop.wakes(dispatcher.woken)
    pubsub.set_on_signal(dispatcher.woken, DELIVERIES)
    try:
        _deliver(dispatcher, stop)
    finally:
        try:
            dispatcher.drain(_DRAIN_SECONDS)
        finally:
            connection.close()


def _deliver(dispatcher: "Dispatcher", stop: Stop) -> None:
    while not stop.is_set():
        stop.turn()
        has_worked = False
        try:
            has_worked = dispatcher.tick()
        except Error as exc:
            # Leased deliveries are due again when their leases end.
            log.warning("database unavailable, trying again: %s", exc)
            connection.close()
            stop.wait(1)
        if stop.is_set():
            return
        if not dispatcher.woken.is_set():
            dispatcher.woken.wait(_WATCH_SECONDS if has_worked else _seconds_to_next())


class Dispatcher:
    """Sends due deliveries; `tick()` is one round of work with the database."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or settings.WEBHOOK_THREADS
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="send")
        self._test_pool = ThreadPoolExecutor(_TEST_THREADS, thread_name_prefix="send-test")
        self._in_flight: dict[Future[Outcome], DeliveryRequest] = {}
        self._failing: set[uuid.UUID] = set()
        self._clients: dict[uuid.UUID, _EndpointClient] = {}
        self._renewed_at = 0.0
        # Set when an attempt ends or a new delivery is signaled.
        self.woken = threading.Event()

    def tick(self) -> bool:
        """Record outcomes and lease due deliveries; True if there were any."""
        self.woken.clear()
        ended = self._ended()
        running = [request for future, request in self._in_flight.items() if future not in ended]
        self._renew_leases(running)
        full = self._full_endpoints(running)
        if not ended and not _is_anything_due(full):
            return False
        with transaction.atomic():
            self._record([(request, _outcome(future)) for future, request in ended.items()])
            rows, configs = self._lease(running, full)
        # Only after the commit: if the commit fails, the next tick records these outcomes.
        for future in ended:
            del self._in_flight[future]
        for request in _delivery_requests(rows, configs):
            self._start(request)
        return bool(ended or rows)

    def drain(self, seconds: float) -> None:
        """Wait up to `seconds` for the requests in flight, and record their outcomes; the other
        deliveries become due again."""
        ends_at = time.monotonic() + seconds
        while self._in_flight:
            is_late = time.monotonic() > ends_at
            ended = self._ended()
            with transaction.atomic():
                self._record([(request, _outcome(future)) for future, request in ended.items()])
            for future in ended:
                del self._in_flight[future]
            if is_late:
                break
            self.woken.wait(0.05)
        # The lease tokens stay, so that the next dispatcher records these attempts as interrupted.
        _set_due([request.lease_token for request in self._in_flight.values()], 0)
        for pool in (self._pool, self._test_pool):
            pool.shutdown(wait=False, cancel_futures=True)
        for endpoint in self._clients.values():
            endpoint.client.close()

    def _ended(self) -> dict[Future[Outcome], DeliveryRequest]:
        return {future: request for future, request in self._in_flight.items() if future.done()}

    def _renew_leases(self, running: Sequence[DeliveryRequest]) -> None:
        if time.monotonic() - self._renewed_at < LEASE_SECONDS / 4:
            return
        self._renewed_at = time.monotonic()
        if running:
            _set_due([request.lease_token for request in running], LEASE_SECONDS)

    def _full_endpoints(self, running: Sequence[DeliveryRequest]) -> list[uuid.UUID]:
        """The endpoints whose limit of requests in flight this dispatcher alone has reached."""
        counts = Counter(request.config_id for request in running if not request.is_test)
        return [
            config_id
            for config_id, count in counts.items()
            if count >= (1 if config_id in self._failing else PER_ENDPOINT)
        ]

    def _lease(
        self, running: Sequence[DeliveryRequest], full: Sequence[uuid.UUID]
    ) -> tuple[list[Any], dict[uuid.UUID, WebhookConfig]]:
        """Lease due deliveries in the caller's transaction; return their rows and endpoints."""
        ready = list(WebhookConfig.objects.raw(_READY, [full]))
        caps = self._caps(ready, running)
        params: dict[str, Any] = {
            "configs": list(caps),
            "caps": list(caps.values()),
            "tests": max(_TEST_THREADS - sum(request.is_test for request in running), 0),
            "lease": LEASE_SECONDS,
        }
        # A separate statement, so that it sees what others leased before the locks were acquired.
        rows = _without_exhausted(fetch_rows(_LEASE, params))
        configs = {config.pk: config for config in ready}
        missing = {row[1] for row in rows} - set(configs)
        return rows, configs | (WebhookConfig.objects.in_bulk(missing) if missing else {})

    def _caps(
        self, ready: Sequence[WebhookConfig], running: Sequence[DeliveryRequest]
    ) -> dict[Any, int]:
        """How many requests each endpoint that may get more may have in flight. Free threads go to
        healthy endpoints first, otherwise in random order."""
        in_flight = Counter(request.config_id for request in running if not request.is_test)
        free = self.threads - sum(in_flight.values())
        self._failing = {config.pk for config in ready if config.consecutive_failures} | (
            self._failing & set(in_flight)
        )
        free_to_fail = self.threads // 2 - sum(in_flight[pk] for pk in self._failing)
        caps = {}
        healthy_first = sorted(
            ready, key=lambda row: (bool(row.consecutive_failures), random.random())
        )
        for config in healthy_first:
            count = in_flight[config.pk]
            room = min((1 if config.consecutive_failures else PER_ENDPOINT) - count, free)
            if config.consecutive_failures:
                room = min(room, free_to_fail)
                free_to_fail -= max(room, 0)
            if room > 0:
                caps[config.pk] = count + room
                free -= room
        return caps

    def _start(self, request: DeliveryRequest) -> None:
        pool = self._test_pool if request.is_test else self._pool
        future = pool.submit(transport.send, request, self._client(request))
        self._in_flight[future] = request
        future.add_done_callback(lambda _: self.woken.set())

    def _client(self, request: DeliveryRequest) -> egress.KeepAliveClient:
        """The endpoint's HTTP client, reused because connecting takes most of an attempt."""
        endpoint = self._clients.get(request.config_id)
        if endpoint is None or endpoint.url != request.url:
            endpoint = _EndpointClient(
                request.url,
                egress.client(timeout_seconds=settings.WEBHOOK_TIMEOUT_SECONDS, purpose="webhook"),
            )
            self._clients[request.config_id] = endpoint
            self._close_idle_clients()
        endpoint.used_at = time.monotonic()
        return endpoint.client

    def _close_idle_clients(self) -> None:
        """If more than `MAX_CLIENTS` are open, close idle ones down to half, longest idle first."""
        if len(self._clients) <= MAX_CLIENTS:
            return
        busy = {request.config_id for request in self._in_flight.values()}
        for config_id in sorted(self._clients, key=lambda pk: self._clients[pk].used_at):
            if config_id not in busy and len(self._clients) > MAX_CLIENTS // 2:
                self._clients.pop(config_id).client.close()

    def _record(self, ended: Sequence[tuple[DeliveryRequest, Outcome]]) -> None:
        """Record the outcomes of deliveries that this dispatcher still leases, in the caller's
        transaction."""
        if not ended:
            return
        affecting = [pair for pair in ended if delivery_outcomes.affects_endpoint(*pair)]
        # Endpoints are always locked before their deliveries.
        delivery_outcomes.lock({request.config_id for request, _ in affecting})
        states = [delivery_outcomes.next_state(request, outcome) for request, outcome in ended]
        params: dict[str, Any] = {
            "ids": [request.delivery_id for request, _ in ended],
            "tokens": [request.lease_token for request, _ in ended],
            "numbers": [request.number for request, _ in ended],
            "states": [str(state) for state, _ in states],
            "waits": [wait for _, wait in states],
            "statuses": [outcome.http_status for _, outcome in ended],
            "durations": [outcome.duration_ms for _, outcome in ended],
            "errors": [outcome.error for _, outcome in ended],
            "excerpts": [outcome.excerpt for _, outcome in ended],
        }
        recorded = {row[0] for row in fetch_rows(_RECORD_OUTCOMES, params)}
        outcomes = [outcome for request, outcome in ended if request.delivery_id in recorded]
        transaction.on_commit(functools.partial(_count, outcomes))
        failing = delivery_outcomes.record(
            [pair for pair in affecting if pair[0].delivery_id in recorded]
        )
        self._failing -= {request.config_id for request, outcome in ended if outcome.error is None}
        self._failing |= failing


def _count(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        seconds = (outcome.duration_ms or 0) / 1000
        metrics.DELIVERY_SECONDS.observe(seconds, str(outcome.error or "delivered"))


def _is_anything_due(full: Sequence[uuid.UUID]) -> bool:
    return fetch_row(_ANY_DUE, [list(full)]) is not None


def _seconds_to_next() -> float:
    """The pause before the next tick if nothing happens."""
    try:
        (seconds,) = fetch_row(_NEXT_DUE)
    except Error:
        return _WATCH_SECONDS  # the next tick reports the error
    return _IDLE_SECONDS if seconds is None else min(max(seconds, _WATCH_SECONDS), _IDLE_SECONDS)


def _without_exhausted(rows: list[Any]) -> list[Any]:
    """Record the attempts of crashed dispatchers as interrupted, and give up the deliveries that
    have no attempt left. Returns the other rows."""
    interrupted = [row for row in rows if row[8]]
    if not interrupted:
        return rows
    exhausted = [row[0] for row in interrupted if row[3] - row[4] > len(transport.RETRY_DELAYS)]
    with connection.cursor() as cursor:
        cursor.execute(_RECORD_INTERRUPTED, [[row[0] for row in interrupted]])
        cursor.execute(_GIVE_UP, [exhausted])
    return [row for row in rows if row[0] not in exhausted]


def _delivery_requests(
    rows: list[Any], configs: dict[uuid.UUID, WebhookConfig]
) -> Iterator[DeliveryRequest]:
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
            endpoint_was_failing=bool(config.consecutive_failures or config.paused_until),
            url=config.url,
            secrets=_secrets(config, now),
            event_id=event_id(event),
            body=bytes(body),
        )


def _secrets(config: WebhookConfig, now: datetime) -> list[str]:
    try:
        return config.secrets(now)
    except CryptoError:
        # One unreadable secret must not stop deliveries to other endpoints.
        log.exception("the secret of endpoint %s cannot be decrypted", config.pk)
        return []


def _set_due(leases: Sequence[uuid.UUID], seconds: float) -> None:
    execute(
        "UPDATE webhooks_delivery"
        " SET due_at = statement_timestamp() + make_interval(secs => %s)"
        " WHERE lease_token = ANY (%s)",
        [seconds, list(leases)],
    )


def _outcome(future: "Future[Outcome]") -> Outcome:
    with suppress(Exception):
        return future.result()
    # A failure on our side is retried like any other.
    log.error("a delivery could not be attempted", exc_info=future.exception())
    return Outcome(transport.Fault.INTERRUPTED)
