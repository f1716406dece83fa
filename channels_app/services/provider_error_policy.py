"""What each kind of provider error does to the call, the connection and the message.

| kind | the call | the connection | a message |
| --- | --- | --- | --- |
| temporary | tried again, some codes only a few times | | waits; failed after the last try |
| rate | tried again when the provider says | paused until then | waits |
| token | tried once more with a renewed token, if possible | expired | failed |
| permission, blocked, quota | not again | error, until a message goes out | failed |
| window | not again | | failed, and the window is closed |
| recipient, request | not again | | failed |
| uncertain | never again | | pending until an echo confirms it, failed if none comes in time |
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from channels_app.models import ChannelConnection
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.types import Account
from channels_app.services import connections, token_refresh

T = TypeVar("T")
_RATE_WAIT = timedelta(seconds=60)
_OF_ACCOUNT = {Kind.PERMISSION, Kind.BLOCKED, Kind.QUOTA}


def call(connection: ChannelConnection, act: Callable[[Account], T]) -> T:
    """Call a provider for a connection; an error is applied to the connection and raised again.

    If the token is refused and there is a refresh token, renew it and call once more.
    """
    try:
        return act(connections.account_of(connection))
    except ProviderError as error:
        can_renew = error.kind == Kind.TOKEN and bool(connection.refresh_token)
        if can_renew and token_refresh.refresh(connection):
            return _second_try(connection, act)
        apply(connection, error)
        raise


def _second_try(connection: ChannelConnection, act: Callable[[Account], T]) -> T:
    try:
        return act(connections.account_of(connection))
    except ProviderError as error:
        apply(connection, error)
        raise


def apply(connection: ChannelConnection, error: ProviderError) -> None:
    """Mark the connection as expired, failing or paused if the error concerns the account."""
    if error.kind == Kind.TOKEN:
        connections.mark_expired(connection, error.reason)
    elif error.kind in _OF_ACCOUNT:
        connections.mark_error(connection, str(error))
    elif error.kind == Kind.RATE:
        connections.pause(connection, error.wait or _RATE_WAIT)
