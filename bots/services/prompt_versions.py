"""Prompts: versions of a bot's instructions."""

from django.db import transaction

from bots.models import Bot, Prompt
from bots.services import bots
from bots.shapes.train import PromptDto
from chatplatform.api.errors import NotFound
from identity.models import User


def create(bot: Bot, *, body: PromptDto, by: User | None) -> Prompt:
    """Store a new version and make it current; earlier versions stay."""
    fields = {
        "content": body.content,
        "tone": body.tone or "",
        "language": body.language or "",
        "model": body.model or "",
        "temperature": body.temperature,
    }
    with transaction.atomic():
        # The bot's lock gives concurrent versions different numbers.
        locked = bots.lock(bot)
        latest = Prompt.objects.filter(bot=locked).order_by("-version").first()
        Prompt.objects.filter(bot=locked, is_current=True).update(is_current=False)
        prompt = Prompt.objects.create(
            client_id=locked.client_id,
            bot=locked,
            version=latest.version + 1 if latest else 1,
            created_by=by,
            **fields,
        )
    # Read again, with the time that the database has set.
    return Prompt.objects.get(pk=prompt.pk)


def find_current(bot_id: int) -> Prompt | None:
    """The bot's current prompt; None if it has none."""
    return Prompt.objects.filter(bot_id=bot_id, is_current=True).first()


def get_current(bot: Bot) -> Prompt:
    """The bot's current prompt; 404 if it has none."""
    prompt = find_current(bot.pk)
    if prompt is None:
        raise NotFound("This bot has no prompt yet.")
    return prompt


def get_version(bot: Bot, *, version: int) -> Prompt:
    """One version of the bot's prompt, current or not; 404 if there is none."""
    prompt: Prompt | None = (
        Prompt.objects.for_client(bot.client).filter(bot=bot, version=version).first()
    )
    if prompt is None:
        raise NotFound("This bot has no such version of its prompt.")
    return prompt
