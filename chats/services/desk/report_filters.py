"""Which chats a figure counts: the reports, and the lists that its link opens, choose the same."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from bots.models import Bot
from bots.services import business_hours
from chats.models import Message, SenderType, Status
from identity.models import Client, ClientConfig


def answered_by_person() -> Exists:
    """Those in which a person answered the customer; notes are no answers."""
    return Exists(
        Message.objects.filter(
            conversation=OuterRef("pk"),
            sender_type=SenderType.AGENT,
            is_note=False,
            is_welcome=False,
        )
    )


def solved_by_bot() -> Q:
    """Those that have ended, and that no person answered and nobody handed over."""
    return Q(~answered_by_person(), status=Status.ENDED, handed_off_at=None)


def waited(client: Client, now: datetime) -> tuple[timedelta, Callable[[timedelta], Q]]:
    """The target of the first response, and which chats have waited for so long.

    Time outside of a bot's business hours does not count.
    """
    config = ClientConfig.objects.select_related("client").get(client=client)
    bots = Bot.objects.for_client(client)
    closing = [bot for bot in bots if business_hours.has_hours(config, bot)]

    def so_long(time: timedelta) -> Q:
        found = Q(waiting_since__lte=now - time) & ~Q(bot__in=closing)
        for bot in closing:
            since = business_hours.before(config, bot, now, time)
            found |= Q(bot=bot, waiting_since__lte=since)
        return found

    return timedelta(seconds=config.first_response_target_seconds), so_long


def waited_for_target(client: Client, now: datetime) -> Q:
    """Those that have waited for longer than the target."""
    target, so_long = waited(client, now)
    return so_long(target)


def waited_for_half(client: Client, now: datetime) -> Q:
    """Those that have waited for half of the target, and not yet for all of it."""
    target, so_long = waited(client, now)
    return so_long(target / 2) & ~so_long(target)
