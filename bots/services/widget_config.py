"""The configuration of a widget: its bot's public fields in one language, and the languages."""

import hashlib
from typing import Any

import orjson

from bots.models import Bot
from bots.services import banner_picture, bots, welcome
from bots.shapes.bot import BotLanguageConfigDto, BotStyle
from bots.shapes.widget import BotConfigDto, ConfigField, Option
from identity.models import ApiKey, Client


def for_bot(bot: Bot, *, language: str | None) -> BotConfigDto:
    """The bot's configuration; texts are in `language`, else in the bot's default language.

    A disabled bot is shown too, since people answer its chats; `is_visible` hides a widget.
    """
    chosen = language or bot.default_language
    banner = banner_picture.for_bot(bot)
    return BotConfigDto.copy_from(
        bot,
        bot_icon=bot.bot_icon or None,
        style=BotStyle.model_construct(**bot.style),
        language=chosen,
        welcome_message=_text(bot, bot.welcome_message, chosen),
        terms=_text(bot, bot.terms, chosen),
        banner=banner if banner.url else None,
        sample_questions=welcome.questions(bot, language=chosen),
        customer_info_fields=[_field(bot, field, chosen) for field in bot.customer_info_fields],
    )


def etag(config: BotConfigDto) -> str:
    """A strong validator (RFC 9110, 8.8.3), equal for equal configurations."""
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
        options=[Option.model_construct(**option) for option in stored["options"]],
        ask_before_chat=stored["ask_before_chat"],
    )


def languages_of_client(client: Client) -> BotLanguageConfigDto:
    """The languages of all enabled bots of the client; the default is the client's."""
    rows = Bot.objects.for_client(client).filter(is_disabled=False)
    codes = {
        code
        for default, offered in rows.values_list("default_language", "languages")
        for code in (default, *offered)
    }
    return BotLanguageConfigDto.from_codes(codes, default=client.default_language)


def languages_of_key(key: ApiKey) -> BotLanguageConfigDto:
    """The languages of the key's bot, or of all bots if the key serves them all."""
    own = Bot.objects.for_client(key.client)
    bot = own.filter(pk=key.bot_id).first() if key.bot_id else None
    if bot is None:
        return languages_of_client(key.client)
    return BotLanguageConfigDto.from_codes(bot.languages, default=bot.default_language)
