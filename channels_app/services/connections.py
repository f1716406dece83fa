"""Connect bots to accounts at providers, disconnect them, and mark failing connections."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_noop, override

from bots.models import Bot
from channels_app.models import (
    LIVE,
    SENDING,
    AccountNotice,
    ChannelConnection,
    ConnectionStatus,
    OAuthAuthorization,
)
from channels_app.providers import PROVIDERS, Provider
from channels_app.providers.errors import ADVICE, Kind, ProviderError, explained
from channels_app.providers.types import Account, Connected, Tokens
from channels_app.schemas import connection as connection_schemas
from channels_app.services import oauth_authorizations
from chatplatform import locks
from chatplatform.api.errors import ApiError, Forbidden, Invalid, NotFound
from chatplatform.channel_names import MessagingChannel
from chatplatform.templatetags.codes import stored_text
from chats.models import Conversation
from chats.services.core import channel_updates
from identity.models import ChannelAccessToken, Client, Role, User
from identity.services import audit, clients, mails
from webhooks.services import announce

# How many seconds `subscribing` waits for each of its two locks.
_SUBSCRIBING_SECONDS = 30.0
_MAX_NOTICES = 20


class TokenMissing(ApiError):
    code, status = "token_missing", 409
    detail = gettext_noop("Sign in to this provider first.")


class AccountTaken(ApiError):
    code, status = "account_taken", 409
    detail = gettext_noop("This account is connected to another bot. Disconnect it there first.")


class BotHasAccount(ApiError):
    code, status = "bot_has_account", 409
    detail = gettext_noop("This bot already has an account on this channel. Disconnect it first.")


class WrongAccount(ApiError):
    code, status = "wrong_account", 409
    detail = gettext_noop("Access was granted for a different account.")


class ConsentRefused(ApiError):
    code, status = "consent_refused", 409
    detail = gettext_noop("Access wasn't granted.")


# --- lookups ----------------------------------------------------------------------------------


def describe(bot: Bot, channel: MessagingChannel) -> connection_schemas.ChannelConnection:
    """The bot's connection on a channel; `disconnected` without an id if there never was one."""
    row = current(bot, channel)
    if row:
        return connection_schemas.ChannelConnection.from_row(row, notices=latest_notices(row))
    return connection_schemas.ChannelConnection(
        channel=channel, bot_id=bot.pk, status="disconnected"
    )


def latest_notices(row: ChannelConnection) -> list[AccountNotice]:
    """The last 20 notices from the provider about an account, newest first."""
    rows = AccountNotice.objects.for_client(row.client).filter(connection=row)
    return list(rows.order_by("-at", "-pk")[:_MAX_NOTICES])


def describe_all(
    client: Client, channel: MessagingChannel
) -> list[connection_schemas.ChannelConnection]:
    """The current connection of each bot that has or had one on a channel, newest first."""
    rows = ChannelConnection.objects.for_client(client).filter(channel=channel)
    by_bot: dict[int, list[ChannelConnection]] = {}
    for row in rows.select_related("connected_by").order_by("-id"):
        by_bot.setdefault(row.bot_id, []).append(row)
    return [
        connection_schemas.ChannelConnection.from_row(current_of(found))
        for found in by_bot.values()
    ]


def current(bot: Bot, channel: MessagingChannel) -> ChannelConnection | None:
    """The bot's live connection; else the pending one, else the newest disconnected one."""
    rows = list(_of_bot(bot, channel).order_by("-id"))
    return current_of(rows) if rows else None


def current_of(rows: Sequence[ChannelConnection]) -> ChannelConnection:
    """The one of a bot's connections to a channel, newest first, that `current` gives."""
    order = [*LIVE, ConnectionStatus.PENDING, ConnectionStatus.DISCONNECTED]
    return min(rows, key=lambda row: order.index(ConnectionStatus(row.status)))


def find_live(channel: str, account_id: str) -> ChannelConnection | None:
    """The live connection that an account's callbacks belong to; None if there is none."""
    return next(iter(concerned(channel, account_id)), None)


def is_live(connection: ChannelConnection) -> bool:
    """Whether a connection is live in the database now."""
    return ChannelConnection.objects.filter(pk=connection.pk, status__in=LIVE).exists()


def concerned(channel: str, account_id: str) -> list[ChannelConnection]:
    """The live connection of an account, as a list; for a business account, the live connections
    of all its numbers."""
    rows = ChannelConnection.objects.filter(channel=channel, status__in=LIVE).order_by("id")
    own = list(rows.filter(account_id=account_id)) if account_id else []
    below = rows.filter(details__business_account_id=account_id)
    return own or (list(below) if account_id else [])


def account_of(connection: ChannelConnection) -> Account:
    """The connection's account and token, for a provider's calls."""
    return Account(connection.account_id, connection.access_token, connection.details)


def list_accounts(
    bot: Bot, provider: Provider, query: connection_schemas.AccountsQuery
) -> connection_schemas.ChannelAccountsResponse:
    """One page of the accounts to which the stored token gives access, with the client's bot to
    which each is connected."""
    token = user_token(bot.client, provider.channel)
    page = provider.list_accounts(token, cursor=query.cursor, limit=query.limit)
    rows = ChannelConnection.objects.for_client(bot.client).filter(
        channel=provider.channel,
        account_id__in=[account.id for account in page.items],
        status__in=LIVE,
    )
    bots = dict(rows.values_list("account_id", "bot_id"))
    items = [
        connection_schemas.ChannelAccount(
            id=account.id,
            name=account.name,
            picture_url=account.picture_url,
            is_connected=account.id in bots,
            bot_id=bots.get(account.id),
        )
        for account in page.items
    ]
    return connection_schemas.ChannelAccountsResponse(items=items, next_cursor=page.next_cursor)


# --- a person's token ----------------------------------------------------------------------------


def user_token(client: Client, channel: MessagingChannel) -> str:
    """The token of a person that the client has stored for the channel; 409 `token_missing` if
    there is none, or it has expired."""
    token: ChannelAccessToken | None = (
        ChannelAccessToken.objects.for_client(client).filter(channel=channel).first()
    )
    if token is None or (token.expires_at and token.expires_at <= timezone.now()):
        raise TokenMissing
    return token.access_token


def consent(
    bot: Bot,
    provider: Provider,
    *,
    redirect_uri: str,
    code: str | None,
    state: str | None,
    by: User,
) -> connection_schemas.ChannelConnection:
    """Begin a consent or, if there is a `code`, complete it and store the person's token.

    In both cases the connection stays pending: the person must still consent or choose an account.
    """
    if code is None:
        return begin_consent(bot, provider, redirect_uri=redirect_uri, by=by)
    authorization = oauth_authorizations.complete(
        state or "", by=by, bot_id=bot.pk, channel=provider.channel, redirect_uri=redirect_uri
    )
    tokens = oauth_authorizations.redeem(provider, authorization, code)
    token = store_tokens(bot.client, provider.channel, tokens, by=by)
    row = authorization.connection
    # Another consent may have connected an account in this row, which then has its own token.
    rows = ChannelConnection.objects.filter(pk=row.pk, status=ConnectionStatus.PENDING)
    if rows.update(connected_by=by, token_expires_at=token.expires_at):
        row.connected_by, row.token_expires_at = by, token.expires_at
    return connection_schemas.ChannelConnection.from_row(row)


def begin_consent(
    bot: Bot, provider: Provider, *, redirect_uri: str, account_id: str | None = None, by: User
) -> connection_schemas.ChannelConnection:
    """Begin a consent, and return the pending connection with the consent page's URL."""
    with transaction.atomic():
        # All pending consents of the bot on this channel share one row, which then gets the chosen
        # account.
        row, _ = ChannelConnection.objects.get_or_create(
            client=bot.client, bot=bot, channel=provider.channel, account_id=""
        )
        url = oauth_authorizations.start(
            provider, row, by=by, redirect_uri=redirect_uri, account_id=account_id or ""
        )
    return connection_schemas.ChannelConnection.from_row(row, consent_url=url)


def end_consent(provider: Provider, *, state: str, code: str, account_id: str) -> str:
    """Complete a consent that is for one account, by connecting the account.

    Returns the URL to redirect the person to; its query contains the outcome. 400 `invalid_state`
    if the state is not ours, was used, or has expired.
    """
    authorization = oauth_authorizations.find(state)
    row = authorization.connection
    if row.channel != provider.channel:
        raise oauth_authorizations.InvalidState
    oauth_authorizations.consume(authorization)
    try:
        connected = _connect_consented(provider, authorization, code, account_id)
    except ApiError as exc:
        rows = ChannelConnection.objects.filter(pk=row.pk, status=ConnectionStatus.PENDING)
        rows.update(last_error=str(exc)[:500])
        outcome = {"status": "pending", "error": exc.code, "error_description": str(exc)}
    else:
        outcome = {"status": connected.status, "account_id": connected.account_id or ""}
    query = {"channel": row.channel, "bot_id": row.bot_id} | outcome
    return oauth_authorizations.return_url(authorization, query)


def _connect_consented(
    provider: Provider, authorization: OAuthAuthorization, code: str, account_id: str
) -> connection_schemas.ChannelConnection:
    """Exchange an authorization's code for tokens, and connect the account that they are for."""
    bot, by = authorization.connection.bot, authorization.user
    if not code:
        raise ConsentRefused
    if not by.is_active or by.role not in {Role.OWNER, Role.ADMIN}:
        raise Forbidden
    # Check this before redeeming the code: new tokens may invalidate the tokens of a bot that has
    # the account.
    ensure_free(bot, provider.channel, account_id)
    tokens = oauth_authorizations.redeem(provider, authorization, code)
    with connecting(bot, provider.channel, account_id):
        found = provider.connect(tokens.access_token, account_id)
        if authorization.account_id not in {"", found.id}:
            raise WrongAccount
        return store(bot, provider.channel, replace(found, tokens=tokens), by=by)


def store_tokens(
    client: Client, channel: MessagingChannel, tokens: Tokens, *, by: User
) -> ChannelAccessToken:
    """Store the token of a person who has consented, as the client's token for the channel."""
    return clients.store_channel_access_token(
        client, channel=channel, access_token=tokens.access_token,
        expires_in=round(tokens.expires_in.total_seconds()) if tokens.expires_in else None,
        user_external_id=tokens.user_id, by=by,
    )  # fmt: skip


# --- connecting, disconnecting -----------------------------------------------------------------


def connect(
    bot: Bot, provider: Provider, account_id: str, *, by: User
) -> connection_schemas.ChannelConnection:
    """Connect an account of the person whose token is stored.

    `account_id` may also be the id of the page to which the account is linked.
    """
    row = current(bot, provider.channel)
    if row and row.status in LIVE and row.details.get("page_id") == account_id:
        account_id = row.account_id
    with connecting(bot, provider.channel, account_id):
        connected = provider.connect(user_token(bot.client, provider.channel), account_id)
        if connected.id == account_id:
            return store(bot, provider.channel, connected, by=by)
    # The given id was that of the page. Connect the account once more, under its own lock.
    with connecting(bot, provider.channel, connected.id):
        connected = provider.connect(user_token(bot.client, provider.channel), connected.id)
        return store(bot, provider.channel, connected, by=by)


def connect_with_token(
    bot: Bot, provider: Provider, token: str, *, by: User
) -> connection_schemas.ChannelConnection:
    """Connect the account that a token is for; 422 if the provider does not accept the token.

    May be repeated, for instance with a new token.
    """
    try:
        (found,) = provider.list_accounts(token, cursor=None, limit=1).items
    except ProviderError as exc:
        if exc.kind != Kind.TOKEN:
            raise
        msg = gettext_noop("The provider doesn't recognize this token. Copy it again.")
        raise Invalid.field("body", "token", msg=msg) from exc
    with connecting(bot, provider.channel, found.id):
        connected = provider.connect(token, found.id)
        return store(bot, provider.channel, connected, by=by)


@contextmanager
def connecting(bot: Bot, channel: str, account_id: str) -> Iterator[None]:
    """Hold the locks on an account's subscription while connecting the account.

    409 if the account is taken, if another request is changing it, or if the bot has another one.

    If two clients connect the same account at once, the second must not give the provider a new
    secret, since that would lock out the first.
    """
    with subscribing(bot.client, channel, account_id) as is_alone:
        if not is_alone:
            raise AccountTaken
        ensure_free(bot, channel, account_id)
        yield


@contextmanager
def subscribing(client: Client, channel: str, account_id: str) -> Iterator[bool]:
    """Hold the client's and the account's lock while beginning or ending a subscription to the
    provider's events. Yields whether the account's lock was obtained.

    Without the locks, ending an earlier connection could end the subscription of a later one. The
    client's lock is needed since a client's accounts may share a subscription.
    """
    client_lock = f"channel-subscription:{client.pk}"
    account_lock = f"channel-account:{channel}:{account_id}"
    with (
        locks.single_flight(client_lock, max_wait_seconds=_SUBSCRIBING_SECONDS),
        locks.single_flight(account_lock, max_wait_seconds=_SUBSCRIBING_SECONDS) as is_alone,
    ):
        yield is_alone


def ensure_free(bot: Bot, channel: str, account_id: str) -> None:
    """409 if another bot has the account, or if the bot has another account on this channel."""
    rows = ChannelConnection.objects.filter(channel=channel, status__in=LIVE)
    if rows.filter(account_id=account_id).exclude(bot=bot).exists():
        raise AccountTaken
    if rows.filter(bot=bot).exclude(account_id=account_id).exists():
        raise BotHasAccount


def reconnect(
    bot: Bot, provider: Provider, account_id: str | None, *, by: User
) -> connection_schemas.ChannelConnection:
    """Reconnect an account that this bot has or had: the given one, or else the live or newest one.

    404 if the bot never had the account.
    """
    row = _get(bot, provider.channel, account_id)
    return connect(bot, provider, row.account_id, by=by)


def store(
    bot: Bot, channel: MessagingChannel, connected: Connected, *, by: User
) -> connection_schemas.ChannelConnection:
    """Store an account that now sends its events to us, and announce it.

    409 if another bot has it, or if the bot has another account on this channel.
    """
    try:
        with transaction.atomic():
            row = _row_for(bot, channel, connected.id)
            set_tokens(row, connected.tokens)
            row.account_name, row.details = connected.name, dict(connected.details)
            row.status, row.last_error, row.paused_until = ConnectionStatus.CONNECTED, "", None
            row.failing_since, row.secret = None, connected.secret
            row.missing_permissions = list(connected.missing_permissions)
            row.quality, row.sending_limit = connected.quality, connected.sending_limit
            row.connected_by, row.connected_at = by, timezone.now()
            row.save()
            _set_reachable(row)
            _record(row, "channel.connected", by=by)
    except IntegrityError as exc:
        ensure_free(bot, channel, connected.id)
        raise AccountTaken from exc
    return connection_schemas.ChannelConnection.from_row(row)


def disconnect(
    bot: Bot, channel: MessagingChannel, account_id: str | None = None, *, by: User
) -> connection_schemas.ChannelConnection:
    """Disconnect an account (by default the bot's current one): delete its tokens and ignore its
    events. An already disconnected account stays as it is; 404 if the bot never had the account.

    The subscription at the provider is ended, too, unless another account needs it; if that
    fails, `last_error` says so.
    """
    with transaction.atomic():
        row = _get(bot, channel, account_id, for_update=True)
        account, was_live = account_of(row), row.status in LIVE
        if row.status != ConnectionStatus.DISCONNECTED:
            row.status, row.last_error = ConnectionStatus.DISCONNECTED, ""
            row.access_token = row.refresh_token = row.secret = ""
            row.token_expires_at = row.paused_until = None
            row.save()
            _set_reachable(row)
        # Also drop a consent that was begun but not completed.
        _of_bot(bot, channel).filter(account_id="").delete()
        if was_live:
            _record(row, "channel.disconnected", by=by)
    if was_live and account.token:
        _end_subscription(row, account)
    return connection_schemas.ChannelConnection.from_row(row)


def _end_subscription(row: ChannelConnection, account: Account) -> None:
    """End the subscription at the provider, unless a live connection still needs its events."""
    with subscribing(row.client, row.channel, row.account_id) as is_alone:
        if not is_alone or is_live(row) or _shares_subscription(row):
            return
        try:
            PROVIDERS[row.channel].disconnect(account)
        except ProviderError as exc:
            problem = gettext_noop("Couldn't unsubscribe from the provider")
            row.last_error = f"{problem}: {exc}"[:500]
            row.save(update_fields=["last_error"])


def set_tokens(row: ChannelConnection, tokens: Tokens) -> None:
    """Set an account's tokens on its row without saving it."""
    row.access_token, row.refresh_token = tokens.access_token, tokens.refresh_token
    lifetime = tokens.expires_in
    row.token_expires_at = timezone.now() + lifetime if lifetime else None


# --- what providers report about a connection -----------------------------------------------------


def mark_expired(connection: ChannelConnection, reason: str) -> None:
    """Mark a connection whose token was refused: nothing is sent until a person consents again."""
    with transaction.atomic():
        rows = ChannelConnection.objects.select_for_update(no_key=True, of=("self",))
        row = rows.select_related("connected_by").get(pk=connection.pk)
        # Ignore the refusal of an old token that has been replaced since.
        if row.status not in SENDING or row.access_token != connection.access_token:
            return
        row.status = ConnectionStatus.EXPIRED
        row.last_error = explained(ADVICE[Kind.TOKEN], reason)[:500]
        row.failing_since = row.failing_since or timezone.now()
        row.save(update_fields=["status", "last_error", "failing_since"])
        _set_reachable(row)
        _record(row, "channel.disconnected", by=None)
        _mail(row)


def mark_error(connection: ChannelConnection, reason: str) -> None:
    """Mark a connection as having an error that a person must look at, and mail the error if it is
    new. Messages are still sent."""
    rows = ChannelConnection.objects.filter(pk=connection.pk, status__in=SENDING)
    with transaction.atomic():
        changed = rows.exclude(status=ConnectionStatus.ERROR, last_error=reason[:500])
        since = Coalesce("failing_since", timezone.now())
        values = {"last_error": reason[:500], "failing_since": since}
        if changed.update(status=ConnectionStatus.ERROR, **values):
            _mail(ChannelConnection.objects.get(pk=connection.pk))


def mark_working(connection: ChannelConnection) -> None:
    """Clear a connection's error."""
    ChannelConnection.objects.filter(pk=connection.pk, status=ConnectionStatus.ERROR).update(
        status=ConnectionStatus.CONNECTED, last_error="", failing_since=None
    )


def pause(connection: ChannelConnection, wait: timedelta) -> None:
    """Pause sending through the account because of the provider's rate limit.

    A pause that is already longer stays.
    """
    until = timezone.now() + wait
    rows = ChannelConnection.objects.filter(pk=connection.pk)
    rows.exclude(paused_until__gte=until).update(paused_until=until)


def _of_bot(bot: Bot, channel: str) -> QuerySet[ChannelConnection]:
    rows = ChannelConnection.objects.for_client(bot.client)
    return rows.filter(bot=bot, channel=channel).select_related("connected_by")


def _get(
    bot: Bot, channel: str, account_id: str | None, *, for_update: bool = False
) -> ChannelConnection:
    rows = _of_bot(bot, channel).exclude(account_id="")
    if for_update:
        rows = rows.select_for_update(no_key=True, of=("self",))
    found = list(rows.filter(account_id=account_id) if account_id else rows.order_by("-id"))
    if not found:
        raise NotFound
    return next((row for row in found if row.status in LIVE), found[0])


def _row_for(bot: Bot, channel: str, account_id: str) -> ChannelConnection:
    """The bot's row for this account, else its pending row (both locked), else a new one."""
    rows = _of_bot(bot, channel).select_for_update(no_key=True, of=("self",))
    found = {row.account_id: row for row in rows.filter(account_id__in=["", account_id])}
    row = found.get(account_id) or found.get("")
    if row is None:
        row = ChannelConnection(client=bot.client, bot=bot, channel=channel)
    elif row.account_id and "" in found:
        found[""].delete()
    row.account_id = account_id
    return row


def _set_reachable(row: ChannelConnection) -> None:
    """Store in the account's chats whether messages can be sent."""
    chats = Conversation.objects.filter(
        bot=row.bot_id, channel=row.channel, channel_chat__identity__account_id=row.account_id
    )
    channel_updates.set_reachable(chats, is_reachable=row.status in SENDING)


def _shares_subscription(row: ChannelConnection) -> bool:
    """Whether another live connection uses the same subscription, which may belong to the account
    itself, to its page, or to its business account."""
    names = [name for name in ("page_id", "business_account_id") if name in row.details]
    others = ChannelConnection.objects.filter(status__in=LIVE).exclude(pk=row.pk)
    if others.filter(channel=row.channel, account_id=row.account_id).exists():
        return True
    return any(others.filter(**{f"details__{name}": row.details[name]}).exists() for name in names)


def _record(row: ChannelConnection, event_type: str, *, by: User | None) -> None:
    shown: Any = connection_schemas.ChannelConnection.from_row(row)
    announce(row.client_id, event_type, {"connection": shown.model_dump(mode="json")})
    audit.record(
        row.client_id, event_type, by=by, subject=f"channel_connection:{row.pk}",
        changes={"channel": row.channel, "bot_id": row.bot_id, "account_id": row.account_id},
    )  # fmt: skip


def _mail(row: ChannelConnection) -> None:
    with override(row.client.default_language):
        context = {"channel": row.channel, "error": stored_text(row.last_error)}
    mails.notify(row.client_id, "channel_error", context)
