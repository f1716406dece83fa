"""The languages that a client and its bots support."""

from django.db import transaction

from bots.models import Bot
from bots.schemas.bot import BotLanguageConfigDto
from identity.models import ApiKey, Client, User
from identity.services import audit


def of_client(client: Client) -> BotLanguageConfigDto:
    """The languages that the client has set or, if it has set none, the languages of its enabled
    bots; the default language first."""
    codes = set(client.languages)
    if not codes:
        rows = Bot.objects.for_client(client).filter(is_disabled=False)
        for default, offered in rows.values_list("default_language", "languages"):
            codes |= {default, *offered}
    return BotLanguageConfigDto.from_codes(codes, default=client.default_language)


def of_key(key: ApiKey) -> BotLanguageConfigDto:
    """The languages of the key's bot, or the client's languages if the key serves all bots."""
    rows = Bot.objects.for_client(key.client)
    bot = rows.filter(pk=key.bot_id).first() if key.bot_id else None
    if bot is None:
        return of_client(key.client)
    return BotLanguageConfigDto.from_codes(bot.languages, default=bot.default_language)


def update(client: Client, *, body: BotLanguageConfigDto, by: User) -> BotLanguageConfigDto:
    """Set the client's languages and default language. Existing bots keep their languages."""
    with transaction.atomic():
        current = Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        current.default_language = body.default_language
        current.languages = [language.code for language in body.languages]
        current.save(update_fields=["default_language", "languages"])
        audit.record(
            client.pk,
            "languages.updated",
            by=by,
            subject=f"client:{client.pk}",
            changes={"default": current.default_language, "languages": current.languages},
        )
    return of_client(current)
