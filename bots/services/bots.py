"""Bots: made, changed, found."""

from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from bots.models import Bot, Document, DocumentStatus, Prompt
from bots.serializers.bot import BotDto
from chatplatform.errors import ApiError, Invalid, NotFound
from identity.models import ApiKey, Client

MAX_BOTS = 200
# What a request may set; `id` and `api_key` are echoes.
WRITABLE = frozenset(
    {
        "bot_name", "description", "bot_icon", "primary_color", "secondary_color",
        "allowed_domain", "languages", "default_language", "style", "welcome_message", "terms",
        "attach_enabled", "auto_pop_up", "is_fullscreen", "is_visible", "allow_preview",
        "agent_reply", "delete_available",
    }
)  # fmt: skip


class BotLimit(ApiError):
    code, status = "bot_limit", 409
    detail = f"A client has at most {MAX_BOTS} bots; delete one first."


def described(rows: QuerySet[Bot]) -> QuerySet[Bot]:
    """Rows with what `BotDto.of` derives from other tables, in the same query."""
    now = datetime.now(UTC)
    keys = ApiKey.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now),
        client_id=OuterRef("client_id"),
        bot_id=OuterRef("pk"),
        revoked_at=None,
    )
    trained = Document.objects.filter(bot=OuterRef("pk"), status=DocumentStatus.TRAINED)
    return rows.annotate(
        key_prefix=Subquery(keys.order_by("-pk").values("prefix")[:1]),
        prompt_setup=Exists(Prompt.objects.filter(bot=OuterRef("pk"), is_current=True)),
        file_setup=Exists(trained),
    )


def list_(client: Client) -> QuerySet[Bot]:
    """The client's bots, described; order and page are the caller's."""
    return described(Bot.objects.of(client))


def get(client: Client, bot_id: int) -> Bot:
    """One of the client's bots, as its row; 404 where it is not."""
    bot: Bot | None = Bot.objects.of(client).filter(pk=bot_id).first()
    if bot is None:
        raise NotFound
    return bot


def describe(client: Client, bot_id: int) -> BotDto:
    """One of the client's bots, as its shape; 404 where it is not."""
    bot = list_(client).filter(pk=bot_id).first()
    if bot is None:
        raise NotFound
    return BotDto.of(bot)


def exists(client: Client, bot_id: int) -> bool:
    """Whether the client has this bot."""
    return bool(Bot.objects.of(client).filter(pk=bot_id).exists())


def allowed_hosts(bot_id: int) -> list[str]:
    """Host names (`*.` for all below) whose pages may use the bot's public key."""
    found = Bot.objects.filter(pk=bot_id).values_list("allowed_domain", flat=True).first()
    return found.split(",") if found else []


def create(client: Client, *, given: BotDto) -> BotDto:
    """A new bot; 409 `bot_limit` where the client has its 200."""
    if given.id is not None:
        raise Invalid.field("body", "id", msg="Set by the server", type="extra_forbidden")
    if "bot_name" not in given.model_fields_set:
        raise Invalid.field("body", "bot_name", msg="Field required", type="missing")
    fields = _values(given, WRITABLE)
    if "default_language" not in given.model_fields_set:
        fields["default_language"] = _default_language(client, given.languages)
    _check_languages(fields["languages"], fields["default_language"])
    with transaction.atomic():
        # Two requests at once must not both find room for the last bot.
        Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        if Bot.objects.of(client).count() >= MAX_BOTS:
            raise BotLimit
        bot = Bot.objects.create(client=client, **fields)
    return describe(client, bot.pk)


def update(bot: Bot, *, given: BotDto) -> BotDto:
    """Change what the request names and keep the rest."""
    if "id" in given.model_fields_set and given.id != bot.pk:
        raise Invalid.field("body", "id", msg="Another bot than the path's.")
    changes = _values(given, WRITABLE & given.model_fields_set)
    with transaction.atomic():
        # Locked: languages and their default may arrive in two requests at once.
        current = Bot.objects.select_for_update(no_key=True).filter(pk=bot.pk).first()
        if current is None:
            raise NotFound
        for name, value in changes.items():
            setattr(current, name, value)
        _check_languages(current.languages, current.default_language)
        current.save(update_fields=[*changes, "updated_at"])
    return describe(bot.client, bot.pk)


def _values(given: BotDto, names: frozenset[str] | set[str]) -> dict[str, Any]:
    values = given.model_dump(include=set(names))
    if "bot_icon" in values:
        values["bot_icon"] = values["bot_icon"] or ""
    return values


def _default_language(client: Client, languages: list[str]) -> str:
    if not languages or client.default_language in languages:
        return client.default_language
    return languages[0]


def _check_languages(languages: list[str], default: str) -> None:
    if languages and default not in languages:
        raise Invalid.field("body", "default_language", msg="Must be one of languages.")
