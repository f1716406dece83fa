"""Keeps a text with the business hours among a bot's content, from which the bot answers questions
about them."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import translation
from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.translation import gettext

from bots.language.phrasebook import base_of
from bots.models import Bot, Document, DocumentSource
from bots.schemas.written import TextDto
from bots.services import bots, business_hours, document_changes, documents, written_sources


def update_for_client(client_id: int, *, bot_id: int | None = None) -> None:
    """Bring the texts of a client's bots, or of one bot, up to date with the hours that apply."""
    rows = Bot.objects.filter(client_id=client_id).select_related("client__config")
    for bot in rows.filter(pk=bot_id) if bot_id else rows.order_by("pk"):
        _update(bot)


def _update(bot: Bot) -> None:
    wanted = dict(_texts(bot))
    with transaction.atomic():
        bots.lock(bot)
        stored = Document.objects.filter(bot=bot, from_business_hours=True)
        for document in stored.select_for_update(no_key=True):
            content = wanted.pop(document.title, None)
            if content is None:
                document_changes.remove(document)
            elif content != document.content:
                document_changes.change(
                    document, _columns(document.title, content), **documents.QUEUED,
                    updated_at=datetime.now(UTC),
                )  # fmt: skip
                documents.enqueue_training(document)
        for title, content in wanted.items():
            document = Document.objects.create(
                client_id=bot.client_id, bot=bot, from_business_hours=True,
                **_columns(title, content),
            )  # fmt: skip
            documents.enqueue_training(document)


def _columns(title: str, content: str) -> dict[str, Any]:
    columns = written_sources.columns_of(TextDto(title=title, text=content))
    # The text must not collide with a text of the client that happens to be the same.
    digest = hashlib.sha256(f"business hours\n{title}\n{content}".encode()).hexdigest()
    return columns | {"source": DocumentSource.TEXT, "sha256": digest}


def _texts(bot: Bot) -> Iterator[tuple[str, str]]:
    """The title and the text in each of the bot's languages; none if the company is always open."""
    config = bot.client.config
    if not business_hours.week(config, bot):
        return
    known = {base_of(code) for code, _ in settings.LANGUAGES}
    codes = [base_of(code) for code in bot.languages or [bot.default_language]]
    for code in dict.fromkeys(code for code in codes if code in known) or ["en"]:
        with translation.override(code):
            lines = [gettext("When are you open? What are your opening hours?"), *_lines(bot)]
            yield gettext("Business hours"), "\n".join(lines)


def _lines(bot: Bot) -> Iterator[str]:
    """A line for each weekday and for each coming holiday, in the active language."""
    config = bot.client.config
    week = business_hours.week(config, bot)
    for weekday, name in WEEKDAYS.items():
        yield f"{name}: {_hours([entry for entry in week if entry['weekday'] == weekday])}"
    today = f"{business_hours.day(config, datetime.now(UTC))}"
    for entry in business_hours.holidays(config, bot):
        if entry["date"] >= today:
            day = date_format(date.fromisoformat(entry["date"]), "l, j F Y")
            name = f" ({entry['name']})" if entry.get("name") else ""
            yield f"{day}{name}: {_hours(entry['hours'])}"


def _hours(spans: list[dict[str, Any]]) -> str:
    if not spans:
        return gettext("closed all day")
    texts = [
        gettext("from %(opens)s to %(closes)s") % {"opens": span["opens"], "closes": span["closes"]}
        for span in spans
    ]
    return gettext("open %(hours)s") % {"hours": ", ".join(texts)}
