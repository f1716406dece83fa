"""Callbacks to the platform: batch events into bodies, sign, send and retry them."""

import heapq
import itertools
import json
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from http.client import HTTPException

from simulator import envelopes, signing
from simulator.calls_to_platform import Wire
from simulator.envelopes import Event
from simulator.world import OBJECT_OF_KIND, Account, Json, World

KEPT = 20_000
# The seconds between a failed attempt and the next; after the last one, the body is given up.
# socialnet and photoapp retry quickly at first, and for an hour in all; chatapp for seven days.
_HOUR_IN_ALL = (1, 4, 25, 90, 480, 1200, 1800)
_WEEK_IN_ALL = (10, 60, 300, 1800, 3600, 21_600, 43_200, 86_400, 172_800, 275_000)
RETRIES = {
    "socialnet": _HOUR_IN_ALL,
    "photoapp": _HOUR_IN_ALL,
    "chatapp": _WEEK_IN_ALL,
    "localapp": (30, 300, 900, 1800, 3600),
    "telegram": (1, 5, 30, 120, 600, 3600),
}
# The timeout for the platform's response, in seconds.
PATIENCE = {"socialnet": 5.0, "photoapp": 5.0, "chatapp": 5.0, "localapp": 2.0, "telegram": 5.0}


@dataclass
class Modes:
    """How events are sent: by default once, without delay, in order, one per body, and signed."""

    hold: bool = False  # nothing is sent until `release`
    batch: int = 1  # the maximum number of events in a body, from any accounts of one app
    duplicate: int = 0  # how many additional times each event is sent
    shuffle: bool = False
    unknown_fields: bool = False
    missing_optional: bool = False
    strangers: bool = (
        False  # every body also has an event of an unknown account and one of an unknown kind
    )
    # `right`, `wrong` or `missing`; for localapp also `bare` (without `mac=`) and `header_time`
    # (signed with the time in a header).
    signature: str = "right"
    retry_scale: float = 1.0  # divides the waits before retries
    parallel: int = 1  # bodies sent at the same time per channel; at most 4


@dataclass
class Attempt:
    at: float
    status: int
    ms: float
    error: str = ""


@dataclass
class Delivery:
    """One body for one URL; its `state` is `waiting`, `delivered` or `given_up`."""

    id: int
    channel: str
    app_id: str
    url: str
    body: str
    headers: dict[str, str]
    accounts: list[str]
    events: int
    state: str = "waiting"
    # The body of the platform's latest response; for telegram, it may be a call of the Bot API.
    answer: str = ""
    attempts: list[Attempt] = field(default_factory=list)

    def as_json(self) -> Json:
        return asdict(self) | {"json": json.loads(self.body)}


class Deliveries:
    """A queue of events, queues of the bodies built from them, and threads that send the bodies.

    If `start` is not called, there are no threads, and a test sends with `run` in its own thread.
    """

    THREADS = 4

    def __init__(self, world: World, wire: Wire) -> None:
        self.world, self.wire, self.modes = world, wire, Modes()
        self.log: list[Delivery] = []
        self.skipped: Counter[str] = Counter()
        self._wake = threading.Condition(world.lock)
        self._numbers = itertools.count(1)
        self._events: list[tuple[float, int, Event]] = []
        # Each channel has a queue, so that a slow channel does not delay the others.
        self._bodies: dict[str, list[tuple[float, int, Delivery]]] = {name: [] for name in RETRIES}
        self._held: list[Event] = []
        self._busy: Counter[str] = Counter()
        self._stopped = False
        self._threads: list[threading.Thread] = []

    # Queueing events

    def add(
        self, account: Account, event_field: str, item: Json, *, delay: float = 0, app_id: str = ""
    ) -> int:
        """Queue an event for each subscribed app, or only for `app_id`; return their number."""
        with self._wake:
            targets = [
                target for target in self.targets(account, event_field) if app_id in ("", target[0])
            ]
            if not targets:
                self.skipped[f"{account.id}: {event_field}: nobody is subscribed"] += 1
            for app_id, url in targets:
                event = Event(account, event_field, item, app_id, url, self.world.now)
                for _ in range(1 + self.modes.duplicate):
                    self._queue(event, delay)
            self._wake.notify_all()
            return len(targets)

    def _queue(self, event: Event, delay: float) -> None:
        if self.modes.hold:
            self._held.append(event)
            return
        late = self.world.random.uniform(0, 2) if self.modes.shuffle else 0
        entry = (self.world.now + delay + late, next(self._numbers), event)
        heapq.heappush(self._events, entry)

    def release(self) -> int:
        """Send all held events at once; return their number."""
        with self._wake:
            held, self._held = self._held, []
            if self.modes.shuffle:
                self.world.random.shuffle(held)
            for event in held:
                heapq.heappush(self._events, (self.world.now, next(self._numbers), event))
            self._wake.notify_all()
            return len(held)

    def targets(self, account: Account, event_field: str) -> list[tuple[str, str]]:
        if account.kind == "oa":
            return self._localapp_target(account)
        if account.kind == "bot":
            return [("telegram", account.hook_url)] if account.hook_url else []
        wanted = OBJECT_OF_KIND[account.kind]
        accounts = [account]
        if account.parent:
            # A page's subscription includes its photoapp account, a WABA's its numbers.
            accounts.append(self.world.accounts[account.parent])
        targets = []
        for app in self.world.apps.values():
            hook = app.hooks.get(wanted)
            for item in accounts:
                subscription = item.subscriptions.get(app.id)
                if hook is None or subscription is None:
                    continue
                if account.kind == "page" and event_field not in subscription.fields:
                    continue
                targets.append((app.id, hook.url))
        return targets

    def _localapp_target(self, account: Account) -> list[tuple[str, str]]:
        """The apps to which the account has consented, if its webhook is on."""
        if not account.hook_is_on:
            return []
        return [
            (app_id, self.world.apps[app_id].hooks["localapp"].url)
            for app_id in account.subscriptions
        ]

    # Sending bodies

    def start(self) -> None:
        for _ in range(self.THREADS):
            thread = threading.Thread(target=self._work, daemon=True)
            self._threads.append(thread)
            thread.start()

    def join(self) -> None:
        """Wait until the stopped threads have ended."""
        for thread in self._threads:
            thread.join(10)

    def stop(self) -> None:
        with self._wake:
            self._stopped = True
            self._wake.notify_all()

    def wake(self) -> None:
        """Make the threads check again what is due, after the clock was moved."""
        with self._wake:
            self._wake.notify_all()

    def _work(self) -> None:
        while not self._stopped:
            with self._wake:
                delivery = self._take(self.world.now)
                if delivery is None:
                    self._wake.wait(self._secs_until_due())
                    continue
                self._busy[delivery.channel] += 1
            self._attempt(delivery)
            with self._wake:
                self._busy[delivery.channel] -= 1
                self._wake.notify_all()

    def run(self, within: float = 60) -> int:
        """Send what is due within this many seconds, advancing the clock.

        Returns the number of attempts.
        """
        ends_at, attempts = self.world.now + within, 0
        while True:
            with self._wake:
                due = self._next_due()
                if due is None or due > ends_at:
                    return attempts
                self.world.clock.advance(max(0.0, due - self.world.now))
                delivery = self._take(max(due, self.world.now))
            if delivery is not None:
                self._attempt(delivery)
                attempts += 1

    @property
    def waiting(self) -> int:
        """The number of events and bodies that are neither delivered nor given up."""
        with self._wake:
            busy = sum(self._busy.values())
            bodies = sum(len(queue) for queue in self._bodies.values())
            return len(self._events) + bodies + len(self._held) + busy

    def _next_due(self) -> float | None:
        heads = [queue[0][0] for queue in self._bodies.values() if queue]
        heads += [entry[0] for entry in self._events[:1]]
        return min(heads, default=None)

    def _secs_until_due(self) -> float:
        due = self._next_due()
        return 1.0 if due is None else min(max(0.005, due - self.world.now), 1.0)

    def _take(self, now: float) -> Delivery | None:
        """The next body that is due, after packing due events into bodies; None if none is due."""
        self._pack(now)
        free = [
            queue
            for channel, queue in self._bodies.items()
            if queue and queue[0][0] <= now and self._busy[channel] < self.modes.parallel
        ]
        return heapq.heappop(min(free))[2] if free else None

    def _pack(self, now: float) -> None:
        due = []
        while self._events and self._events[0][0] <= now:
            due.append(heapq.heappop(self._events))
        for batch in self._batches([event for _, _, event in due]):
            number = next(self._numbers)
            self._push(due[0][0], self._make(number, batch))

    def _push(self, due: float, delivery: Delivery) -> None:
        entry = (due, next(self._numbers), delivery)
        heapq.heappush(self._bodies[delivery.channel], entry)

    def _batches(self, events: list[Event]) -> list[list[Event]]:
        """Group events of the same app and URL, up to the batch size."""
        batches: list[list[Event]] = []
        open_batches: dict[tuple[str, str], list[Event]] = {}
        for event in events:
            key = (event.app_id, event.url)
            batch = open_batches.get(key)
            size = 1 if event.account.kind in {"oa", "bot"} else self.modes.batch
            if batch is None or len(batch) >= size:
                batch = open_batches[key] = []
                batches.append(batch)
            batch.append(event)
        return batches

    def _make(self, number: int, events: list[Event]) -> Delivery:
        first = events[0]
        app = self.world.apps[first.app_id]
        body = envelopes.body(events, self.modes, self.world)
        headers = {"Content-Type": "application/json", "User-Agent": "provider-simulator"}
        if first.account.kind == "oa":
            headers |= signing.localapp(
                body, app.id, self.world.settings.oa_secret_key, self.modes.signature
            )
        elif first.account.kind == "bot":
            headers |= signing.telegram(first.account.hook_secret, self.modes.signature)
        else:
            headers |= signing.graph(body, app.secret, self.modes.signature)
        accounts = sorted({event.account.id for event in events})
        channel = first.account.channel
        delivery = Delivery(
            number, channel, app.id, first.url, body, headers, accounts, len(events)
        )
        self.log.append(delivery)
        del self.log[:-KEPT]
        return delivery

    def _attempt(self, delivery: Delivery) -> None:
        headers = dict(delivery.headers)
        if delivery.channel == "localapp" and delivery.attempts:
            headers["num_retry"] = str(len(delivery.attempts))
        timeout = PATIENCE[delivery.channel]
        started_at, status, error = time.monotonic(), 0, ""
        try:
            body = delivery.body.encode()
            status, said = self.wire.call("POST", delivery.url, headers, body, timeout=timeout)
            delivery.answer = said[:500].decode(errors="replace")
        except (OSError, HTTPException) as failure:
            error = str(failure) or type(failure).__name__
        ms = (time.monotonic() - started_at) * 1000
        with self._wake:
            delivery.attempts.append(Attempt(self.world.now, status, round(ms, 1), error))
            if status == 200:
                delivery.state = "delivered"
            else:
                self._failed(delivery)

    def _failed(self, delivery: Delivery) -> None:
        waits = RETRIES[delivery.channel]
        if len(delivery.attempts) <= len(waits):
            wait = waits[len(delivery.attempts) - 1] / self.modes.retry_scale
            self._push(self.world.now + wait, delivery)
            return
        delivery.state = "given_up"
        for account_id in delivery.accounts:
            account = self.world.accounts[account_id]
            if account.kind == "oa":
                account.hook_is_on = False
            elif account.kind in {"page", "photo"}:
                account.subscriptions.pop(delivery.app_id, None)
                if account.parent:
                    self.world.accounts[account.parent].subscriptions.pop(delivery.app_id, None)
