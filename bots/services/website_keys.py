"""Bots on websites: their public keys, and where their widgets were seen."""

from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Q

from bots.models import Bot
from bots.schemas.bot import BotDto
from bots.services import bots
from identity.models import ApiKey, Client, KeyScope, User
from identity.services import api_keys

_NOTE_INTERVAL = timedelta(minutes=1)


def find_key(bot: Bot) -> ApiKey | None:
    """The bot's newest valid public key whose text is stored; None if there is none."""
    keys = ApiKey.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=datetime.now(UTC)),
        client_id=bot.client_id,
        bot_id=bot.pk,
        scope=KeyScope.PUBLIC,
        revoked_at=None,
    )
    return keys.exclude(public_key="").order_by("-pk").first()


def create_bot(client: Client, *, body: BotDto, daily_credits: int, by: User) -> BotDto:
    """Create a bot with a public key, so that it can be installed on a website right away. In the
    API, these are two requests."""
    with transaction.atomic():
        created = bots.create(client, body=body, by=by)
        bot = bots.get(client, created.id or 0)
        create_key(bot, daily_credits=daily_credits, by=by)
    return created


def create_key(bot: Bot, *, daily_credits: int, by: User) -> None:
    """Give the bot a public key with this daily cap, unless it already has a valid public key."""
    with transaction.atomic():
        # The lock keeps concurrent requests from creating two keys.
        bots.lock(bot)
        if find_key(bot) is None:
            api_keys.create(
                bot.client,
                name="Website",
                scope=KeyScope.PUBLIC,
                bot_id=bot.pk,
                created_by=by,
                daily_credits=daily_credits,
            )


def note_website(bot_id: int, *, host: str) -> None:
    """Store that a website shows the bot's widget; at most once a minute for the same website."""
    now = datetime.now(UTC)
    is_due = Q(seen_at=None) | Q(seen_at__lt=now - _NOTE_INTERVAL) | ~Q(seen_on=host)
    Bot.objects.filter(is_due, pk=bot_id).update(seen_on=host[:253], seen_at=now)
