"""A client's own texts for the platform's messages to customers."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from bots.language import phrasebook
from chats.schemas.automated_messages import (
    MESSAGE_OCCASIONS,
    NAMES,
    MessageName,
    PlatformWord,
    PlatformWords,
)
from identity.models import ClientConfig, User
from identity.services import configs

# Messages that have a separate column in the client's config.
_COLUMNS = {"handover": "handoff_message", "closed": "out_of_hours_message"}


def of_config(config: ClientConfig) -> PlatformWords:
    """All of the platform's messages, with its texts and the client's own."""
    return PlatformWords.model_construct(words=[_message(config, name) for name in NAMES])


def replace(config: ClientConfig, body: PlatformWords, *, by: User) -> PlatformWords:
    """Replace all of the client's own texts. Messages that are left out get the platform's texts
    again."""
    own: dict[str, dict[str, str]] = {
        word.name: {code: text for code, text in word.own.items() if text.strip()}
        for word in body.words
    }
    columns: dict[str, dict[str, Any]] = {
        column: own.get(name, {}) for name, column in _COLUMNS.items()
    }
    columns["automatic_messages"] = {
        name: texts for name, texts in own.items() if texts and name not in _COLUMNS
    }
    return of_config(configs.replace_messages(config, columns, by=by))


def change(
    config: ClientConfig, texts: Mapping[str, str], *, language: str, by: User
) -> PlatformWords:
    """Change the client's own texts of some messages in one language."""
    with transaction.atomic():
        current = configs.lock(config)
        words = [
            PlatformWord(
                name=word.name,
                own=word.own | ({language: texts[word.name]} if word.name in texts else {}),
            )
            for word in of_config(current).words
        ]
        return replace(current, PlatformWords(words=words), by=by)


def _message(config: ClientConfig, name: MessageName) -> PlatformWord:
    column = _COLUMNS.get(name)
    stored = getattr(config, column) if column else config.automatic_messages.get(name, {})
    return PlatformWord.model_construct(
        name=name,
        said_when=MESSAGE_OCCASIONS[name],
        default={code: book.says[name] for code, book in phrasebook.all_books().items()},
        own={code: text for code, text in stored.items() if text.strip()},
    )
