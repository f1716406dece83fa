"""The languages that a client's bots are offered in."""

from bots.models import Bot
from bots.shapes.languages import BotLanguageConfigDto
from identity.models import ApiKey, Client


def for_client(client: Client) -> BotLanguageConfigDto:
    """The languages of all enabled bots of the client; the default is the client's."""
    rows = Bot.objects.for_client(client).filter(is_disabled=False)
    codes = {
        code
        for default, offered in rows.values_list("default_language", "languages")
        for code in (default, *offered)
    }
    return BotLanguageConfigDto.from_codes(codes, default=client.default_language)


def for_key(key: ApiKey) -> BotLanguageConfigDto:
    """The languages of the key's bot, or of all bots if the key serves them all."""
    own = Bot.objects.for_client(key.client)
    bot = own.filter(pk=key.bot_id).first() if key.bot_id else None
    if bot is None:
        return for_client(key.client)
    return BotLanguageConfigDto.from_codes(bot.languages, default=bot.default_language)
