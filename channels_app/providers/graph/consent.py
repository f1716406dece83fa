"""Consent at the Graph providers: the dialog, and the exchange of its code for a token."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.graph.client import GraphApp
from channels_app.providers.types import Tokens


def url(app: GraphApp, dialog: str, *, scopes: Sequence[str], redirect_uri: str, state: str) -> str:
    """The URL of the provider's consent page."""
    query = {
        "client_id": app.setting("APP_ID"),
        "redirect_uri": redirect_uri,
        "state": state,
        "response_type": "code",
        "scope": ",".join(scopes),
    }
    return f"{dialog}?{urlencode(query)}"


def redeem(app: GraphApp, code: str, *, redirect_uri: str | None) -> Tokens:
    """Exchange a code for a long-lived token. The dialog must have had this `redirect_uri`."""
    short = token(app, {"code": code, "redirect_uri": redirect_uri})
    return token(app, {"grant_type": "fb_exchange_token", "fb_exchange_token": short.access_token})


def inspect(app: GraphApp, token: str) -> dict[str, Any]:
    """The provider's data about a token, requested with our app's own token.

    Raises a `token` error if the provider no longer accepts the token.
    """
    own = f"{app.setting('APP_ID')}|{app.setting('APP_SECRET')}"
    data = app.call("GET", "debug_token", token=own, params={"input_token": token}).body.get("data")
    if not isinstance(data, dict) or data.get("is_valid") is False:
        raise ProviderError(Kind.TOKEN, "The provider no longer accepts this token.")
    return data


def missing(inspected: dict[str, Any], needed: Sequence[str]) -> list[str]:
    """The needed permissions that a token lacks; empty if its permissions are unknown."""
    given = inspected.get("scopes")
    return [name for name in needed if name not in given] if isinstance(given, list) else []


def token(app: GraphApp, query: dict[str, Any]) -> Tokens:
    """Exchange the code or token in `query` for a new token."""
    own = {"client_id": app.setting("APP_ID"), "client_secret": app.setting("APP_SECRET")}
    return tokens_from(app.call("GET", "oauth/access_token", params=own | query).body)


def tokens_from(body: dict[str, Any]) -> Tokens:
    """The token in a response; raises a `temporary` error if there is none."""
    value, lifetime = body.get("access_token"), body.get("expires_in")
    if not isinstance(value, str) or not value:
        raise ProviderError(Kind.TEMPORARY, "The provider's response contains no token.")
    words = str(lifetime)
    seconds = min(int(words[:12]), 10**9) if words.isascii() and words.isdigit() else 0
    return Tokens(value, timedelta(seconds=seconds) if seconds else None)
