"""A simulated day, checked every minute: every breach of a target was preceded by a warning."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from channels_app.models import ChannelConnection
from chats.models import Conversation
from chats.testing import make_chat
from identity.models import ClientConfig, CreditEntry, Subscription
from reports.services import warnings

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(900)]
MIDNIGHT = datetime(2026, 11, 17, tzinfo=UTC)
TARGET = timedelta(minutes=10)
CREDITS, A_REPLY = 900, 3
# Chats that begin in each hour, and the minutes until an answer: at noon there are too few agents.
CHATS = {hour: 1 if hour < 8 or hour > 19 else 12 for hour in range(24)}
MINUTES = {hour: 4.0 if hour in range(11, 14) else 2.0 for hour in range(24)}


class Day:
    """The day's chats, warnings and missed targets, each with its time."""

    def __init__(self, bot: Any) -> None:
        self.bot, self.dice = bot, random.Random(14)
        self.answered_at: dict[str, datetime] = {}
        self.began_at: dict[str, datetime] = {}
        self.warned_at: dict[str, dict[str, datetime]] = defaultdict(dict)
        self.ends_at: datetime | None = None

    def happen(self, now: datetime) -> None:
        for _ in range(CHATS[now.hour]):
            if self.dice.random() < 1 / 60:
                self._begin(now)
        for code, at in self.answered_at.items():
            if now - timedelta(minutes=1) < at <= now:
                Conversation.objects.filter(chat_code=code, waiting_since__isnull=False).update(
                    waiting_since=None, assign_type="agent", assigned_at=now
                )

    def _begin(self, now: datetime) -> None:
        chat = make_chat(self.bot, created_at=now, assign_type="queue", waiting_since=now,
                         handed_off_at=now)  # fmt: skip
        wait = self.dice.expovariate(1 / MINUTES[now.hour])
        self.began_at[chat.chat_code] = now
        self.answered_at[chat.chat_code] = now + timedelta(minutes=wait)
        left = Subscription.objects.filter(client=self.bot.client, credits_left__gte=A_REPLY)
        if left.update(credits_left=F("credits_left") - A_REPLY):
            CreditEntry.objects.create(
                client=self.bot.client, kind="reserve", amount=-A_REPLY, balance_after=0,
                reference=f"reply:{chat.pk}", created_at=now,
            )  # fmt: skip
        elif self.ends_at is None:
            self.ends_at = now

    def look(self, now: datetime) -> None:
        for item in warnings.list_for_client(self.bot.client):
            rows = [sample.label for sample in item.warning.samples] or [""]
            for row in rows:
                self.warned_at[item.warning.code].setdefault(row, now)

    def breaches(self) -> dict[str, datetime]:
        """Chats whose customers waited for longer than the target, and when that began."""
        return {
            code: began + TARGET
            for code, began in self.began_at.items()
            if self.answered_at[code] > began + TARGET + timedelta(minutes=1)
        }


def test_every_breach_had_its_warning_before(bot, time_machine):
    client = bot.client
    time_machine.move_to(MIDNIGHT, tick=False)
    ClientConfig.objects.filter(client=client).update(
        first_response_target_seconds=TARGET.total_seconds()
    )
    used_up = 120 * A_REPLY  # late in the day
    Subscription.objects.filter(client=client).update(
        credits_left=used_up, credits_included=CREDITS, period_end=MIDNIGHT + timedelta(days=20)
    )
    ChannelConnection.objects.create(
        client=client, bot=bot, channel="socialnet", account_id="1", account_name="Shop",
        status="connected", token_expires_at=MIDNIGHT + timedelta(hours=15),
    )  # fmt: skip
    day = Day(bot)
    for minute in range(24 * 60):
        now = MIDNIGHT + timedelta(minutes=minute)
        time_machine.move_to(now, tick=False)
        assert timezone.now() == now
        day.happen(now)
        day.look(now)
    check(day)


def check(day: Day) -> None:
    breaches, soon = day.breaches(), day.warned_at["chats_unanswered_soon"]
    assert len(breaches) > 3
    late = {code for code, at in breaches.items() if soon.get(code, at) >= at}
    assert late == set(), "missed without a warning"
    # Every chat reported as missed was missed, within the minute of the check.
    called = set(day.warned_at["chats_unanswered"])
    assert {code for code in called if day.answered_at[code] < day.began_at[code] + TARGET} == set()
    assert breaches.keys() <= called
    assert day.ends_at
    assert day.warned_at["credits_end_soon"][""] < day.ends_at
    assert day.warned_at["credits_used_up"][""] >= day.ends_at - timedelta(minutes=60)
    assert day.warned_at["channel_token_expiring"]["Shop"] < MIDNIGHT + timedelta(hours=15)
    false = soon.keys() - breaches.keys()
    hours = {at.replace(minute=0) for at in day.warned_at["queue_growing"].values()}
    print(
        f"{len(day.began_at)} chats, {len(breaches)} answered too late, all told before; "
        f"{len(soon)} told, {len(false)} of them answered in time; "
        f"credits told {day.ends_at - day.warned_at['credits_end_soon']['']} before their end; "
        f"queue called growing in {len(hours)} hours"
    )
