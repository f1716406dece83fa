"""Prompts: versions of a bot's instructions."""

from django.db import transaction

from bots.models import Bot, Prompt
from bots.services import bots
from bots.shapes.train import PromptDto
from chatplatform.api.errors import NotFound
from identity.models import User


def create(bot: Bot, *, given: PromptDto, by: User | None) -> Prompt:
    """A new current version; the ones before it stay."""
    fields = {
        "content": given.content,
        "tone": given.tone or "",
        "language": given.language or "",
        "model": given.model or "",
        "temperature": given.temperature,
    }
    with transaction.atomic():
        # The bot's row is the lock of its prompts: two new versions get two numbers.
        locked = bots.lock(bot)
        newest = Prompt.objects.filter(bot=locked).order_by("-version").first()
        Prompt.objects.filter(bot=locked, is_current=True).update(is_current=False)
        made = Prompt.objects.create(
            client_id=locked.client_id,
            bot=locked,
            version=newest.version + 1 if newest else 1,
            created_by=by,
            **fields,
        )
    # Read again: the database set its time.
    return Prompt.objects.get(pk=made.pk)


def find_current(bot_id: int) -> Prompt | None:
    """The bot's instructions, or None before the first."""
    return Prompt.objects.filter(bot_id=bot_id, is_current=True).first()


def get_current(bot: Bot) -> Prompt:
    """The bot's instructions; 404 before the first."""
    found = find_current(bot.pk)
    if found is None:
        raise NotFound("This bot has no prompt yet.")
    return found


def get_version(bot: Bot, *, version: int) -> Prompt:
    """One version of the bot's instructions, current or not; 404 where it never was."""
    found: Prompt | None = (
        Prompt.objects.for_client(bot.client).filter(bot=bot, version=version).first()
    )
    if found is None:
        raise NotFound("This bot has no such version of its prompt.")
    return found
