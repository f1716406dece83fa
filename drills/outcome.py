"""Check the outcome of a load: nothing is lost or done twice, and how long it took."""

import collections
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from drills.load import PERSONAL, Load, Receiver, Site
from drills.platform import wait_until

SLOW = 1.0  # seconds; a call that takes longer is not served as usual


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@dataclass
class Fault:
    """A fault that the drill caused, with its times by the wall clock and the monotonic clock."""

    name: str
    began_at: float
    began: float
    ended: float = 0.0


class Outcome:
    """Checks and figures after a load."""

    def __init__(self, site: Site, load: Load, receiver: Receiver) -> None:
        self.site, self.load, self.receiver = site, load, receiver
        self.faults: list[Fault] = []

    @contextmanager
    def during(self, name: str) -> Iterator[None]:
        fault = Fault(name, time.time(), time.monotonic())
        self.faults.append(fault)
        print(f"{name} ...", end=" ", flush=True)
        yield
        fault.ended = time.monotonic()
        print(f"{fault.ended - fault.began:.1f} s", flush=True)

    def check(self) -> None:
        """Check that each accepted message is stored, answered and announced exactly once."""
        self.load.stop_calling()
        chats = list(self.load.accepted)
        wait_until(self._is_answered, what="every message is answered", seconds=120)
        self.histories = {chat: self.site.history(chat) for chat in chats}
        for chat, items in self.histories.items():
            self._check_chat(chat, items)
        self._check_agent()
        wait_until(self._have_woken, what="every snoozed chat is open again", seconds=60)
        self.log = self._log()
        opened = collections.Counter(
            event["conversation_id"]
            for event in self.log
            if event["type"] == "conversation.reopened"
        )
        assert opened == dict.fromkeys(self.load.snoozed, 1), "a timer ran twice"
        self._check_log()
        self._check_webhooks()
        self._check_feeds()
        self.load.stop()

    def _is_answered(self) -> bool:
        for chat, names in self.load.accepted.items():
            items = self.site.history(chat)
            replied = {item["in_reply_to"] for item in items}
            answered = {item["client_message_id"] for item in items if item["id"] in replied}
            if not answered >= set(names):
                return False
        return True

    def _check_chat(self, chat: str, items: list[dict[str, Any]]) -> None:
        assert [item["seq"] for item in items] == list(range(1, len(items) + 1))
        stored = [item["client_message_id"] for item in items if item["client_message_id"]]
        assert sorted(stored) == sorted(self.load.accepted[chat]), "stored once, and nothing else"
        replies = [item["in_reply_to"] for item in items if item["in_reply_to"]]
        assert len(replies) == len(set(replies)) == len(stored), "one reply for each message"
        reply_to = {item["in_reply_to"]: item["id"] for item in items}
        for item in items:
            if (shown := self.load.streamed.get(item["client_message_id"] or "")) is not None:
                assert reply_to[item["id"]] == shown, "another reply was streamed"

    def _check_agent(self) -> None:
        items = self.site.history(self.load.manual)
        texts = [part["text"] for item in items for part in item["content"] if part["text"]]
        answers = [text for text in texts if text.startswith("Answer ")]
        assert sorted(answers) == sorted(self.load.answers), "an agent's message is stored once"

    def _have_woken(self) -> bool:
        states = [
            self.site.get(f"/ai/chat/{chat}", self.site.owner)["status"]
            for chat in self.load.snoozed
        ]
        return "snoozed" not in states

    def _log(self) -> list[dict[str, Any]]:
        """The events since the load began."""
        log = self._whole_log()
        return log[[event["id"] for event in log].index(self.load.first_event) :]

    def _whole_log(self) -> list[dict[str, Any]]:
        return self.site.pages("/webhook/events", self.site.owner, order="asc")

    def _check_log(self) -> None:
        ids = [event["id"] for event in self.log]
        assert len(ids) == len(set(ids))
        by_chat = collections.defaultdict(list)
        for event in self.log:
            if event["conversation_id"]:
                by_chat[event["conversation_id"]].append(event["sequence"])
        for chat in (*self.load.accepted, self.load.manual):
            assert by_chat[chat] == list(range(1, len(by_chat[chat]) + 1)), "events have gaps"

    def _check_webhooks(self) -> None:
        """Check that every event arrived at least once, and always with the same body."""

        def missing() -> set[str]:
            return {event["id"] for event in self.log} - {
                number for number, _, _ in list(self.receiver.arrivals)
            }

        wait_until(lambda: not missing(), what="every event is delivered", seconds=120)
        bodies: dict[str, bytes] = {}
        for number, _, body in self.receiver.arrivals:
            assert bodies.setdefault(number, body) == body, "a double differs"
        logged = {event["id"] for event in self._whole_log()}
        assert set(bodies) <= logged, "an event that is nowhere"

    def _check_feeds(self) -> None:
        """Check that each reader saw all events since its first, once, in the log's order."""
        logged = [event["id"] for event in self.log if not event["type"].startswith(PERSONAL)]
        for seen in self.load.feeds:
            wait_until(
                lambda seen=seen: logged[-1] in [number for number, _ in list(seen)],
                what="the whole feed",
            )
            ids = [number for number, _ in list(seen)]
            shown = ids[: ids.index(logged[-1]) + 1]
            assert shown == logged[logged.index(ids[0]) :], "the feed has gaps or doubles"

    def report(self) -> None:
        ids = {event["id"] for event in self.log}
        came = [number for number, _, _ in self.receiver.arrivals if number in ids]
        doubles = len(came) - len(set(came))
        messages = sum(len(names) for names in self.load.accepted.values())
        print(
            f"\n{len(self.load.calls)} calls, {messages} messages answered once,"
            f" {len(self.log)} events delivered, {doubles} of them twice, the feed read again"
            f" {self.load.reconnected} times, {len(self.load.snoozed)} snoozed chats opened once"
        )
        for fault, following in zip(self.faults, [*self.faults[1:], None], strict=True):
            print(self._line(fault, following.began if following else fault.ended))

    def _line(self, fault: Fault, until: float) -> str:
        calls = [call for call in self.load.calls if fault.began <= call.began < until]
        calls += [c for c in self.load.calls if c.began < fault.began < c.began + c.seconds]
        refused = [came for call in calls for came in call.refused]
        ends = [at for at, _ in refused]
        ends += [call.began + call.seconds for call in calls if call.seconds > SLOW]
        kinds = dict(collections.Counter(came for _, came in refused))
        offset = fault.began_at - fault.began
        return (
            f"{fault.name}: {len(calls)} calls, {len(refused)} refused {kinds or ''}, the longest"
            f" {max((call.seconds for call in calls), default=0):.1f} s, as usual after"
            f" {max((at - fault.began for at in ends), default=0):.1f} s; longest wait for a reply"
            f" {self._reply_wait(fault.began_at, until + offset):.1f} s, for a webhook"
            f" {self._wait(self._arrivals(), fault.began_at, until + offset):.1f} s, in the feed"
            f" {self._wait(self._seen(), fault.began_at, until + offset):.1f} s"
        )

    def _reply_wait(self, since: float, until: float) -> float:
        waits = [0.0]
        for items in self.histories.values():
            came = {item["id"]: moment(item["created_at"]) for item in items}
            waits += [
                moment(item["created_at"]) - came[item["in_reply_to"]]
                for item in items
                if item["in_reply_to"] and since <= came[item["in_reply_to"]] < until
            ]
        return max(waits)

    def _arrivals(self) -> dict[str, float]:
        """The time of each event's first arrival."""
        return {number: at for number, at, _ in reversed(self.receiver.arrivals)}

    def _seen(self) -> dict[str, float]:
        """The time when the slowest reader saw each event."""
        seen: dict[str, float] = {}
        for number, at in (entry for feed in self.load.feeds for entry in feed):
            seen[number] = max(at, seen.get(number, at))
        return seen

    def _wait(self, came: dict[str, float], since: float, until: float) -> float:
        waits = [
            came[event["id"]] - moment(event["timestamp"])
            for event in self.log
            if event["id"] in came and since <= moment(event["timestamp"]) < until
        ]
        return max(waits, default=0)
