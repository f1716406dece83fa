"""Filters for chats that reports and lists share, so that a list has the chats that a report
counts."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from bots.models import Bot
from bots.services import business_hours
from chats.models import Message, SenderType, Status
from identity.models import Client, ClientConfig


def answered_by_person() -> Exists:
    """Filters chats in which a person answered the customer; notes do not count."""
    return Exists(
        Message.objects.filter(
            conversation=OuterRef("pk"),
            sender_type=SenderType.AGENT,
            is_note=False,
            is_welcome=False,
        )
    )


def solved_by_bot() -> Q:
    """Filters ended chats that no person answered and that were never handed over."""
    return Q(~answered_by_person(), status=Status.ENDED, handed_off_at=None)


def is_waiting() -> Q:
    """Filters chats in which the customer is waiting for a person."""
    return Q(waiting_since__isnull=False)


def _response_target(client: Client, now: datetime) -> tuple[timedelta, Callable[[timedelta], Q]]:
    """The client's target for the first response, and a function that returns a filter for chats
    that have waited for a given time within their bot's business hours."""
    config = ClientConfig.objects.select_related("client").get(client=client)
    bots = Bot.objects.for_client(client)
    with_hours = [bot for bot in bots if business_hours.has_hours(config, bot)]

    def has_waited(time: timedelta) -> Q:
        condition = Q(waiting_since__lte=now - time) & ~Q(bot__in=with_hours)
        for bot in with_hours:
            since = business_hours.subtract_open_time(config, bot, now, time)
            condition |= Q(bot=bot, waiting_since__lte=since)
        return condition

    return timedelta(seconds=config.first_response_target_seconds), has_waited


def waited_for_target(client: Client, now: datetime) -> Q:
    """Filters chats that have waited for the target time or longer."""
    target, has_waited = _response_target(client, now)
    return has_waited(target)


def waited_for_half(client: Client, now: datetime) -> Q:
    """Filters chats that have waited for at least half of the target time, but not all of it."""
    target, has_waited = _response_target(client, now)
    return has_waited(target / 2) & ~has_waited(target)
