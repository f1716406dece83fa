"""The configuration of a widget: the public fields of its bot in one language."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import orjson
from django.conf import settings

from bots.language import phrasebook
from bots.models import Bot
from bots.schemas.bot import BotStyle
from bots.schemas.widget import BotConfigDto, ConfigField, Option, UploadLimits
from bots.services import (
    banner_picture,
    bots,
    business_hours,
    chat_hooks,
    customer_info_fields,
    welcome,
)
from identity.schemas.configs import stored_holidays, stored_hours
from identity.services import mails


def for_bot(bot: Bot, *, language: str | None) -> BotConfigDto:
    """The configuration of the bot's widget, in `language` or else in the bot's default language.

    A disabled bot also has a configuration, and its widget stays visible unless `is_visible` is
    false, since people answer the bot's conversations.
    """
    chosen, now, config = language or bot.default_language, datetime.now(UTC), bot.client.config
    banner = banner_picture.current_banner(bot, now)
    is_open = business_hours.is_open(config, bot, now)
    week, holidays = business_hours.week(config, bot), business_hours.holidays(config, bot)
    today = f"{business_hours.day(config, now)}"
    closed = _text(bot, config.out_of_hours_message, chosen)
    return BotConfigDto.copy_from(
        bot,
        bot_icon=bot.picture_url or None,
        style=BotStyle.model_construct(**bot.style),
        language=chosen,
        welcome_message=_text(bot, bot.welcome_message, chosen),
        terms=_text(bot, bot.terms, chosen),
        bot_question=bot.bot_question or None,
        engaging_message=_text(bot, bot.engaging_message, chosen),
        is_open=is_open,
        opens_at=business_hours.next_opening(config, bot, now),
        timezone=bot.client.timezone,
        business_hours=stored_hours(week),
        holidays=stored_holidays([entry for entry in holidays if entry["date"] >= today]),
        out_of_hours_message=closed
        and business_hours.with_opening(closed, config, bot, now, language=chosen),
        person_button=_text(bot, person_buttons(), chosen) if config.handoff_on_request else None,
        agents_online=len(chat_hooks.agents().available(bot.client_id)),
        usual_wait_minutes=chat_hooks.agents().usual_wait(bot.pk),
        answers_by_mail=bot.mail_answers and mails.is_enabled(),
        upload_limits=UploadLimits(
            max_files=settings.MAX_MESSAGE_FILES,
            max_file_bytes=settings.MAX_UPLOAD_BYTES,
            max_request_bytes=settings.MAX_REQUEST_BYTES,
        ),
        banner=banner if banner.url else None,
        sample_questions=welcome.questions(bot, language=chosen),
        customer_info_fields=[_field(bot, field, chosen) for field in bot.customer_info_fields],
    )


def etag(config: BotConfigDto) -> str:
    """A strong validator (RFC 9110, 8.8.3): equal configurations have equal ETags."""
    body = orjson.dumps(config.model_dump(mode="json"))
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def person_buttons() -> dict[str, str]:
    """The platform's, which bots understand; a client's own text might not be understood."""
    return {code: book.says["person_button"] for code, book in phrasebook.all_books().items()}


def _text(bot: Bot, texts: dict[str, str], language: str) -> str | None:
    return bots.in_language(texts, language, default=bot.default_language)


def _field(bot: Bot, stored: dict[str, Any], language: str) -> ConfigField:
    labels = customer_info_fields.labels(stored["name"], stored["label"])
    return ConfigField.model_construct(
        name=stored["name"],
        label=_text(bot, labels, language) or stored["name"],
        type=stored["type"],
        required=stored["required"],
        options=[Option.model_construct(**option) for option in stored["options"]],
        ask_before_chat=stored["ask_before_chat"],
    )
