"""The consequences of each kind of provider error for the call, the connection and the message.

| kind | the call | the connection | a message |
| --- | --- | --- | --- |
| temporary | repeated, for some codes only a few times | | waits; failed after the last attempt |
| rate | repeated after the provider's wait | paused until then | as above |
| token | repeated once with a renewed token, if possible | expired | failed |
| permission, blocked, quota | not repeated | error, until a send succeeds | failed |
| window | not repeated | | failed, and the reply window is closed |
| recipient, request | not repeated | | failed |
| uncertain | never repeated | | pending until its echo arrives; failed after 15 minutes |
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
_ACCOUNT_ERRORS = {Kind.PERMISSION, Kind.BLOCKED, Kind.QUOTA}


def call(connection: ChannelConnection, act: Callable[[Account], T]) -> T:
    """Call a provider for a connection. If the token is refused and there is a refresh token, renew
    the token and call again. The final error changes the connection's state (see `apply`)."""
    try:
        return act(connections.account_of(connection))
    except ProviderError as error:
        can_renew = error.kind == Kind.TOKEN and bool(connection.refresh_token)
        if can_renew and token_refresh.refresh(connection):
            return _call_again(connection, act)
        apply(connection, error)
        raise


def _call_again(connection: ChannelConnection, act: Callable[[Account], T]) -> T:
    try:
        return act(connections.account_of(connection))
    except ProviderError as error:
        apply(connection, error)
        raise


def apply(connection: ChannelConnection, error: ProviderError) -> None:
    """Mark the connection as expired, failing or paused if the error concerns the account."""
    if error.kind == Kind.TOKEN:
        connections.mark_expired(connection, error.reason)
    elif error.kind in _ACCOUNT_ERRORS:
        connections.mark_error(connection, str(error))
    elif error.kind == Kind.RATE:
        connections.pause(connection, error.wait or _RATE_WAIT)
