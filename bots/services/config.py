"""What a widget is told about its bot: an allow list, in one language."""

import hashlib
from typing import Any

import orjson

from bots.models import Bot
from bots.services import banners, bots, welcome
from bots.shapes.bot import BotStyle
from bots.shapes.widget import BotConfigDto, ConfigField, Option


def for_bot(bot: Bot, *, language: str | None) -> BotConfigDto:
    """The bot's configuration, its texts in `language` where there are such, else its default's.

    A disabled bot is shown like any other, for people answer its chats; whether anything is to be
    shown at all says `is_visible`.
    """
    asked = language or bot.default_language
    banner = banners.for_bot(bot)
    return BotConfigDto.model_construct(
        id=bot.pk,
        bot_name=bot.bot_name,
        bot_icon=bot.bot_icon or None,
        primary_color=bot.primary_color,
        secondary_color=bot.secondary_color,
        style=BotStyle.model_construct(**bot.style),
        language=asked,
        default_language=bot.default_language,
        languages=bot.languages,
        welcome_message=_text(bot, bot.welcome_message, asked),
        terms=_text(bot, bot.terms, asked),
        banner=banner if banner.url else None,
        sample_questions=welcome.questions(bot, language=asked),
        attach_enabled=bot.attach_enabled,
        auto_pop_up=bot.auto_pop_up,
        is_fullscreen=bot.is_fullscreen,
        is_visible=bot.is_visible,
        customer_info_fields=[_field(bot, one, asked) for one in bot.customer_info_fields],
    )


def etag(config: BotConfigDto) -> str:
    """A strong validator (RFC 9110, 8.8.3): the same for the same configuration."""
    body = orjson.dumps(config.model_dump(mode="json"))
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def _text(bot: Bot, texts: dict[str, str], language: str) -> str | None:
    return bots.in_language(texts, language, default=bot.default_language)


def _field(bot: Bot, stored: dict[str, Any], language: str) -> ConfigField:
    return ConfigField.model_construct(
        name=stored["name"],
        label=_text(bot, stored["label"], language) or stored["name"],
        type=stored["type"],
        required=stored["required"],
        options=[Option.model_construct(**one) for one in stored["options"]],
        ask_before_chat=stored["ask_before_chat"],
    )
