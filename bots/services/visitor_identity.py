"""A bot's identity secret, with which the client's server signs the ids of website visitors."""

import hashlib
import hmac
import secrets

from django.db import transaction

from bots.models import Bot
from bots.services import bots
from chatplatform.crypto import constant_time_equal
from identity.models import User


def replace_secret(bot: Bot, *, by: User) -> str:
    """Give the bot a new identity secret and return it; signatures with the old one become
    invalid."""
    bot.identity_secret = f"visitor_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        bot.save(update_fields=["identity_secret", "updated_at"])
        bots.record(bot, "bot.identity_secret_replaced", by=by)
    return bot.identity_secret


def is_signed(bot: Bot, external_id: str, *, signature: str) -> bool:
    """Whether the id was signed with the bot's identity secret; False if the bot has no secret."""
    secret = bot.identity_secret
    expected = hmac.new(secret.encode(), external_id.encode(), hashlib.sha256).hexdigest()
    return bool(secret) and constant_time_equal(expected, signature)
