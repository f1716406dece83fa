"""Prompts: the versions of a bot's instructions."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from bots.models import Bot, Prompt
from bots.schemas.prompt import PromptDto
from bots.services import bots, publish_gate
from chatplatform.api.errors import NotFound
from chatplatform.sql import column_names
from identity.models import User
from identity.services import audit

# The columns of a version that the client writes.
_WRITTEN = ("content", "tone", "language", "model", "temperature")
_CURRENT = f"SELECT {column_names(Prompt)} FROM bots_prompt WHERE bot_id = %s AND is_current"


def create(bot: Bot, *, body: PromptDto, by: User | None) -> Prompt:
    """Store a new version and make it current, unless it is held back; earlier versions stay."""
    fields = {
        "content": body.content,
        "tone": body.tone or "",
        "language": body.language or "",
        "model": body.model or "",
        "temperature": body.temperature,
    }
    return _add(bot, fields, by=by)


def restore(bot: Bot, *, version: int, by: User) -> Prompt:
    """Store a copy of an earlier version as a new version; if the version is current, return it
    unchanged."""
    with transaction.atomic():
        bots.lock(bot)
        prompt = get_version(bot, version=version)
        if prompt.is_current:
            return prompt
        return _add(bot, {name: getattr(prompt, name) for name in _WRITTEN}, by=by)


def _add(bot: Bot, fields: Mapping[str, Any], *, by: User | None) -> Prompt:
    with transaction.atomic():
        # The bot's lock prevents two versions with the same number.
        locked = bots.lock(bot)
        latest = Prompt.objects.filter(bot=locked).order_by("-version").first()
        pending_review = publish_gate.holds_prompt(locked)
        if not pending_review:
            Prompt.objects.filter(bot=locked, is_current=True).update(is_current=False)
        prompt = Prompt.objects.create(
            client_id=locked.client_id,
            bot=locked,
            version=latest.version + 1 if latest else 1,
            created_by=by,
            is_current=not pending_review,
            **fields,
        )
        audit.record(
            locked.client_id,
            "prompt.created",
            by=by,
            subject=f"prompt:{prompt.pk}",
            changes={"version": prompt.version},
        )
        if pending_review:
            publish_gate.hold_prompt(prompt)
    # Read the row again for the time that the database sets.
    return Prompt.objects.get(pk=prompt.pk)


def make_current(prompt: Prompt) -> None:
    """Make a held-back version current; the caller holds the bot's lock."""
    Prompt.objects.filter(bot_id=prompt.bot_id, is_current=True).update(is_current=False)
    Prompt.objects.filter(pk=prompt.pk).update(is_current=True)


def list_for_bot(bot: Bot) -> QuerySet[Prompt]:
    """The versions of the bot's prompt, unordered."""
    return Prompt.objects.for_client(bot.client).filter(bot=bot)


def instructions_of(prompt: Prompt | None, *, tone: str | None = None) -> str:
    """A version as the model reads it: text, language and tone. `tone` replaces the version's
    tone."""
    lines = [prompt.content.strip()] if prompt else []
    if prompt and prompt.language:
        lines.append(
            f"The instructions above are written in the language {prompt.language};"
            " this does not decide the language of a reply."
        )
    tone = tone or (prompt.tone if prompt else "")
    if tone:
        lines.append(f"Write every reply in this tone: {tone}.")
    return "\n".join(lines)


def find_current(bot_id: int) -> Prompt | None:
    """The bot's current prompt; None if it has none."""
    return next(iter(Prompt.objects.raw(_CURRENT, [bot_id])), None)


def get_current(bot: Bot) -> Prompt:
    """The bot's current prompt; 404 if it has none."""
    prompt = find_current(bot.pk)
    if prompt is None:
        raise NotFound("This bot has no instructions yet.")
    return prompt


def get_version(bot: Bot, *, version: int) -> Prompt:
    """One version of the bot's prompt, current or not; 404 if there is none."""
    prompt = list_for_bot(bot).filter(version=version).first()
    if prompt is None:
        raise NotFound("This version of the instructions doesn't exist.")
    return prompt
