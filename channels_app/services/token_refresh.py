"""Renew the tokens of connections before they expire, if the provider allows it."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from channels_app.models import SENDING, ChannelConnection
from channels_app.providers import PROVIDERS
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.types import Tokens
from channels_app.services import connections
from chatplatform import locks
from chatplatform.jobs import enqueue

# The maximum number of connections of each channel that one run handles.
BATCH = 500
# How long to wait while another caller renews the same token.
_LOCK_WAIT = timedelta(seconds=2)


def enqueue_due() -> None:
    """Enqueue a job for each connection whose token expires soon. If the provider cannot renew
    tokens, mark the connection as expired once its token has expired."""
    for channel, provider in PROVIDERS.items():
        rows = ChannelConnection.objects.filter(
            channel=channel,
            status__in=SENDING,
            token_expires_at__lt=timezone.now() + (provider.refresh_before or timedelta()),
        )
        for row in rows.order_by("token_expires_at")[:BATCH]:
            if provider.refresh_before is None:
                connections.mark_expired(row, "It has expired.")
                continue
            enqueue(
                "channels_app.refresh_token", client_id=row.client_id, dedupe_key=str(row.pk),
                connection_id=str(row.pk),
            )  # fmt: skip


def refresh_by_id(connection_id: str) -> None:
    """Renew the token of a connection if it still expires soon."""
    row = ChannelConnection.objects.filter(pk=connection_id).first()
    before = PROVIDERS[row.channel].refresh_before if row else None
    if row is None or before is None or row.status not in SENDING:
        return
    if row.token_expires_at and row.token_expires_at < timezone.now() + before:
        refresh(row)


def refresh(connection: ChannelConnection) -> bool:
    """Renew the token of a connection, in the database and in `connection`.

    False if the connection is disconnected or has expired: a person must consent again. Raises
    ProviderError if the renewal failed but can be tried again, since the old token stays valid.

    Only one caller at a time renews the token, since a refresh token may be valid for one use only:
    meanwhile, other callers get a `temporary` error, and afterwards they use the stored token.
    """
    provider = PROVIDERS[connection.channel]
    with locks.try_lock(f"channel-token:{connection.pk}") as is_held:
        if not is_held:
            raise ProviderError(Kind.TEMPORARY, "The token is being renewed.", wait=_LOCK_WAIT)
        row = ChannelConnection.objects.get(pk=connection.pk)
        if row.status not in SENDING:
            return False  # disconnected, or expired because its refresh token was refused
        if row.access_token == connection.access_token:
            try:
                tokens = provider.refresh(connections.account_of(row), row.refresh_token)
            except ProviderError as error:
                # Without a refresh token, nothing is used up: the old token stays valid.
                is_spent = bool(row.refresh_token) or error.kind == Kind.TOKEN
                if error.kind in {Kind.TEMPORARY, Kind.RATE} or not is_spent:
                    raise
                # The refusal is final, and the refresh token may be used up.
                connections.mark_expired(row, error.reason)
                return False
            row = _store(row, tokens)
    connection.access_token, connection.refresh_token = row.access_token, row.refresh_token
    connection.token_expires_at = row.token_expires_at
    return bool(row.access_token)


def _store(before: ChannelConnection, tokens: Tokens) -> ChannelConnection:
    """Store new tokens, unless the account was disconnected or reconnected meanwhile; return the
    current row."""
    with transaction.atomic():
        row = ChannelConnection.objects.select_for_update(no_key=True).get(pk=before.pk)
        if row.access_token == before.access_token:
            connections.set_tokens(row, tokens)
            row.save(update_fields=["access_token", "refresh_token", "token_expires_at"])
    return row
