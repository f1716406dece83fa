"""Create, change, delete and look up bots."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, ProtectedError, Q, QuerySet, Subquery
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from bots.models import ALLOWED_HOSTS, Bot, Document, Prompt
from bots.schemas.bot import SETUP_STEPS, BotDto, detected_setup
from bots.services import engines, supported_languages, validity_days
from chatplatform import jobs, media
from chatplatform.api.errors import ApiError, Invalid, NotFound, first_or_404, require_fields
from chatplatform.sql import fetch_row
from identity.auth import origin_host
from identity.models import ApiKey, Client, User
from identity.services import api_keys, audit
from identity.services.picture_hooks import StoredPicture

MAX_BOTS = 200
# Fields of a request that are stored in columns of the same name.
WRITABLE = frozenset(
    {
        "bot_name", "description", "bot_icon", "primary_color", "secondary_color",
        "allowed_domain", "languages", "default_language", "style", "welcome_message", "terms",
        "bot_question", "engaging_message", "engaging_seconds", "engaging_pages",
        "engaging_visitors", "attach_enabled", "export_enabled", "mail_answers", "auto_pop_up",
        "is_fullscreen", "is_visible", "allow_preview", "agent_reply", "delete_available",
        "business_hours", "holidays", "hold_back_worse",
    }
)  # fmt: skip
# The columns that the text about the business hours depends on.
_HOURS_COLUMNS = frozenset({"business_hours", "holidays", "languages", "default_language"})
# Columns with texts by language; for each, the API also has a field `…_default` with the text in
# the default language.
WITH_DEFAULT_FIELD = ("terms", "engaging_message")


class BotLimit(ApiError):
    code, status = "bot_limit", 409
    detail = format_lazy(
        gettext_lazy("You can have up to {count} bots. Delete one first."),
        count=MAX_BOTS,
    )


class DeleteNotAvailable(ApiError):
    code, status = "delete_not_available", 409
    detail = gettext_noop("This bot is protected. Allow it to be deleted under Behavior first.")


class BotHasChats(ApiError):
    code, status = "bot_has_chats", 409
    detail = gettext_noop(
        "This bot has conversations that would be lost. Disable it instead, so your team answers"
        " and the conversations stay."
    )


def with_derived_fields(rows: QuerySet[Bot]) -> QuerySet[Bot]:
    """Annotate bots with the fields of `BotDto` that come from other tables."""
    now = datetime.now(UTC)
    keys = ApiKey.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now),
        client_id=OuterRef("client_id"),
        bot_id=OuterRef("pk"),
        revoked_at=None,
    )
    read = Document.objects.filter(bot=OuterRef("pk"), chunk_count__gt=0, from_business_hours=False)
    return rows.annotate(
        key_prefix=Subquery(keys.order_by("-pk").values("prefix")[:1]),
        has_prompt=Exists(Prompt.objects.filter(bot=OuterRef("pk"), is_current=True)),
        has_file=Exists(read.filter(web_url=None)),
        has_page=Exists(read.exclude(web_url=None)),
        has_model=engines.has_model(),
    )


def list_for_client(client: Client) -> QuerySet[Bot]:
    """The client's bots with their derived fields, unordered."""
    return with_derived_fields(Bot.objects.for_client(client))


def get(client: Client, bot_id: int) -> Bot:
    """One of the client's bots as a row; 404 if the client has no bot with this id."""
    bot = first_or_404(Bot.objects.for_client(client).filter(pk=bot_id))
    bot.client = client  # saves services a query
    return bot


def describe(client: Client, bot_id: int) -> BotDto:
    """One of the client's bots as a `BotDto`; 404 if the client has no bot with this id."""
    return BotDto.from_row(first_or_404(list_for_client(client).filter(pk=bot_id)))


def exists(client: Client, bot_id: int) -> bool:
    """Whether the client has this bot."""
    return Bot.objects.for_client(client).filter(pk=bot_id).exists()


def names(client: Client) -> dict[int, str]:
    """The names of the client's bots, by their ids."""
    return dict(Bot.objects.for_client(client).order_by("bot_name").values_list("pk", "bot_name"))


def languages(client: Client) -> list[str]:
    """The client's languages, or the languages of its enabled bots if the client has set none."""
    return [language.code for language in supported_languages.of_client(client).languages]


def allow_hosts(client: Client, bot_id: int, hosts: str, *, by: User | None) -> None:
    """Set the hosts whose sites may use the bot's public key."""
    update(get(client, bot_id), body=BotDto(allowed_domain=hosts), by=by)


def allowed_hosts(bot_id: int) -> list[str]:
    """Host names of the sites that may use the bot's public key; `*.` stands for all subdomains."""
    found = Bot.objects.filter(pk=bot_id).values_list("allowed_domain", flat=True).first()
    return found.split(",") if found else []


def keep_days(client_id: int, before: str, after: str) -> None:
    """Keep the days from and until which content is valid when the client's time zone changes."""
    validity_days.keep_days(client_id, before, after)


def any_allows(origin: str) -> bool:
    """Whether `origin` may use the public key of at least one bot."""
    host = origin_host(origin)
    if host is None:
        return False
    labels = host.split(".")
    wanted = [host, *(f"*.{'.'.join(labels[at:])}" for at in range(1, len(labels)))]
    return Bot.objects.alias(hosts=ALLOWED_HOSTS).filter(hosts__overlap=wanted).exists()


def for_key(key: ApiKey, *, bot_id: int | None = None, location: str = "query") -> Bot:
    """The bot that a key is used for. If the key serves several bots, `bot_id` chooses one.

    404 if there is no such bot; 422 if the key serves several bots and `bot_id` is None.
    """
    rows = Bot.objects.for_client(key.client)
    if bot_id is not None:
        rows = rows.filter(pk=bot_id)
    if key.bot_id:
        rows = rows.filter(pk=key.bot_id)
    matches = list(rows.order_by("pk")[:2])
    if not matches:
        detail = "This bot doesn't exist."
        raise NotFound(detail) if bot_id is None else NotFound(detail, field="bot_id")
    if len(matches) > 1:
        raise Invalid.field(
            location, "bot_id", msg="This key works for several bots. Choose one.", type="missing"
        )
    matches[0].client = key.client  # saves services a query
    return matches[0]


def create(client: Client, *, body: BotDto, by: User | None) -> BotDto:
    """Create a bot; 409 `bot_limit` if the client already has 200 bots."""
    require_fields(body, "bot_name")
    bot = Bot(client=client, created_at=datetime.now(UTC))  # not after `updated_at`
    names = WRITABLE - {"languages", "default_language"} | body.model_fields_set
    if "languages" not in names:
        bot.languages = client.languages
    if "default_language" not in names:
        languages, default = body.languages or bot.languages, client.default_language
        fits = not languages or default in languages
        bot.default_language = default if fits else languages[0]
    _fill(bot, body, names)
    with transaction.atomic():
        # The lock keeps concurrent requests within the limit.
        Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        if Bot.objects.for_client(client).count() >= MAX_BOTS:
            raise BotLimit
        bot.save()
        record(bot, "bot.created", by=by, bot_name=bot.bot_name)
        if client.config.business_hours or bot.business_hours:
            _enqueue_hours_text(bot)
    return describe(client, bot.pk)


def update(bot: Bot, *, body: BotDto, by: User | None) -> BotDto:
    """Change the fields that the request sets and keep the others."""
    with transaction.atomic():
        # Locked, since concurrent changes to `languages` and `default_language` could contradict
        # each other.
        rows = with_derived_fields(Bot.objects.select_for_update(no_key=True, of=("self",)))
        current = first_or_404(rows.filter(pk=bot.pk))
        columns = [*WRITABLE, "setup_overrides"]
        before = {name: getattr(current, name) for name in columns}
        _fill(current, body, body.model_fields_set)
        if before["business_hours"] and not current.business_hours:
            current.custom_hours = before["business_hours"]
        current.save(update_fields=[*columns, "custom_hours", "icon_file", "updated_at"])
        after = {name: getattr(current, name) for name in columns}
        if changes := audit.changed_values(before, after):
            record(current, "bot.updated", by=by, **changes)
        if not _HOURS_COLUMNS.isdisjoint(changes):
            _enqueue_hours_text(bot)
    return describe(bot.client, bot.pk)


def _enqueue_hours_text(bot: Bot) -> None:
    jobs.enqueue(
        "bots.update_hours_texts", client_id=bot.client_id, of=bot.client_id, bot_id=bot.pk
    )


def set_icon(bot: Bot, picture: StoredPicture, *, by: User) -> None:
    """Make an uploaded picture the bot's avatar."""
    with transaction.atomic():
        locked = lock(bot)
        media.remove_later(bot.client_id, [locked.icon_file.name])
        change = audit.changed_values({"bot_icon": locked.bot_icon}, {"bot_icon": picture.url})
        locked.bot_icon, locked.icon_file = picture.url, picture.name
        locked.save(update_fields=["bot_icon", "icon_file", "updated_at"])
        record(bot, "bot.updated", by=by, **change)


def set_disabled(bot: Bot, *, is_disabled: bool, by: User) -> BotDto:
    """Disable or enable a bot; does nothing if the bot is already in that state."""
    with transaction.atomic():
        changed = (
            Bot.objects.for_client(bot.client)
            .filter(pk=bot.pk, is_disabled=not is_disabled)
            .update(is_disabled=is_disabled, updated_at=datetime.now(UTC))
        )
        if changed:
            record(bot, "bot.disabled" if is_disabled else "bot.enabled", by=by)
    return describe(bot.client, bot.pk)


def delete(bot: Bot, *, by: User) -> None:
    """Delete a bot with its documents and revoke its keys; its files are deleted after the commit.

    409 if it is protected or has conversations.
    """
    with transaction.atomic():
        # A full lock, so that a conversation being created waits and then finds no bot.
        rows = Bot.objects.for_client(bot.client).select_for_update()
        locked = first_or_404(rows.filter(pk=bot.pk))
        if not locked.delete_available:
            raise DeleteNotAvailable
        names = [
            *file_names(locked.documents.all()),
            locked.banner.name,
            locked.icon_file.name,
        ]
        try:
            locked.delete()
        except ProtectedError as exc:
            raise BotHasChats from exc
        keys = api_keys.revoke_of_bot(bot.client, bot_id=bot.pk)
        record(bot, "bot.deleted", by=by, bot_name=locked.bot_name, keys_revoked=keys)
        media.remove_later(bot.client_id, names)


def file_names(documents: QuerySet[Document]) -> list[str]:
    """The names of documents' stored files, including those of held-back changes."""
    pairs = documents.values_list("file", "draft_file")
    return [name for pair in pairs for name in pair if name]


def record(bot: Bot, action: str, *, by: User | ApiKey | None, **changes: Any) -> None:
    """Write an audit entry about a bot, in the transaction that changes it."""
    audit.record(bot.client_id, action, by=by, subject=f"bot:{bot.pk}", changes=changes)


def lock(bot: Bot) -> Bot:
    """Lock the bot and return its current row; 404 if it has been deleted.

    Lock the bot before anything that belongs to it.
    """
    return first_or_404(Bot.objects.select_for_update(no_key=True).filter(pk=bot.pk))


def lock_against_deletion(bot: Bot) -> None:
    """Keep the bot from being deleted until the transaction ends; 404 if it is already deleted.

    The foreign key is checked only at the commit, which is too late for a 404.
    """
    if fetch_row("SELECT 1 FROM bots_bot WHERE id = %s FOR KEY SHARE", [bot.pk]) is None:
        raise NotFound("This bot doesn't exist.")


def bump_knowledge_version(bot_id: int) -> None:
    """Mark the bot's content as changed, in the caller's transaction; indexes are then rebuilt."""
    Bot.objects.filter(pk=bot_id).update(knowledge_version=F("knowledge_version") + 1)


def rebuild_indexes(client_id: int) -> None:
    """Make all processes rebuild the indexes of a client's bots."""
    Bot.objects.filter(client_id=client_id).update(knowledge_version=F("knowledge_version") + 1)


def update_columns(bot: Bot, *, by: User, **fields: Any) -> Bot:
    """Update columns and return the new row; 404 if the bot has been deleted."""
    with transaction.atomic():
        row = lock(bot)
        before = {name: getattr(row, name) for name in fields}
        Bot.objects.filter(pk=row.pk).update(updated_at=datetime.now(UTC), **fields)
        record(bot, "bot.updated", by=by, **audit.changed_values(before, fields))
    return get(bot.client, bot.pk)


def check_supported_languages(bot: Bot, codes: Iterable[str], *, at: tuple[str | int, ...]) -> None:
    """Raise 422 for a language that is not in the bot's list; a bot without a list accepts any."""
    for code in codes:
        if bot.languages and code not in bot.languages:
            raise Invalid.field(*at, code, msg=gettext_noop("Not one of the bot's languages."))


def in_language(texts: Mapping[str, str], language: str, *, default: str) -> str | None:
    """The text in `language`, else in its base language (`pt` for `pt-BR`), else in the default
    language, else in any language; None if there is no text."""
    for code in (language, language.split("-")[0], default, default.split("-")[0]):
        if texts.get(code):
            return texts[code]
    return next((text for text in texts.values() if text), None)


def _fill(bot: Bot, body: BotDto, names: Iterable[str]) -> None:
    """Set the fields in `names` from the request, without saving the row."""
    stored = {name: getattr(bot, name) for name in (*WITH_DEFAULT_FIELD, "welcome_message")}
    stored_default = bot.default_language
    stored_icon, shown_icon = bot.bot_icon, bot.picture_url
    for name, value in body.model_dump(include={*WRITABLE} & set(names)).items():
        setattr(bot, name, value)
    bot.bot_icon = bot.bot_icon or ""
    if bot.bot_icon == shown_icon:
        bot.bot_icon = stored_icon
    if bot.icon_file and bot.bot_icon != stored_icon:
        media.remove_later(bot.client_id, [bot.icon_file.name])
        bot.icon_file = ""
    if bot.languages and bot.default_language not in bot.languages:
        raise Invalid.field("body", "default_language", msg="Must be one of languages.")
    if isinstance(bot.welcome_message, dict):
        # A request may repeat stored texts unchanged, even in languages that the bot has dropped.
        new = dict(bot.welcome_message.items() - stored["welcome_message"].items())
        check_supported_languages(bot, new, at=("body", "welcome_message"))
    if isinstance(bot.welcome_message, str):
        bot.welcome_message = _with_text(
            stored["welcome_message"], bot.default_language, bot.welcome_message
        )
    for name in WITH_DEFAULT_FIELD:
        text = getattr(body, f"{name}_default")
        # A request may repeat the stored default text and change the whole object; the change wins.
        if f"{name}_default" in names and text != stored[name].get(stored_default, ""):
            _set_default_text(bot, name, text, before=stored[name])
    bot.setup_overrides = _setup_overrides(bot, body, set(names))


def _set_default_text(bot: Bot, name: str, text: str, *, before: Mapping[str, str]) -> None:
    texts, language = getattr(bot, name), bot.default_language
    if texts.get(language, "") not in {before.get(language, ""), text}:
        message = gettext("Must differ from the text in %(name)s.") % {"name": name}
        raise Invalid.field("body", f"{name}_default", msg=message)
    setattr(bot, name, _with_text(texts, language, text))


def _with_text(texts: Mapping[str, str], language: str, text: str) -> dict[str, str]:
    """A copy of `texts` with `text` for `language`; an empty `text` removes the language."""
    others = {code: value for code, value in texts.items() if code != language}
    return {language: text, **others} if text else others


def _setup_overrides(bot: Bot, body: BotDto, names: set[str]) -> dict[str, bool]:
    """The setup steps that the client has marked as done or not done, contrary to what we detect.

    A mark that agrees with what we detect is not stored, so the step keeps following the bot's
    state.
    """
    found = detected_setup(bot)
    marks = bot.setup_overrides | {
        step: getattr(body, step) for step in SETUP_STEPS if step in names
    }
    return {step: value for step, value in marks.items() if value not in {None, found[step]}}
