"""The direct login: a person signs in to one account itself, and no page stands between."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.graph import consent
from channels_app.providers.graph.client import GraphApp
from channels_app.providers.photoapp import errors
from channels_app.providers.photoapp.accounts import DIRECT, DIRECT_APP
from channels_app.providers.types import Connected, Tokens

SCOPES = ("instagram_business_basic", "instagram_business_manage_messages")
FIELDS = (
    "messages,messaging_postbacks,messaging_seen,message_reactions,messaging_referral,message_edit,"
    "standby"
)
_AUTH = GraphApp("photoapp", errors.KINDS, "PHOTOAPP_DIRECT_AUTH_URL", "PHOTOAPP_DIRECT")


def url(*, redirect_uri: str, state: str) -> str:
    """The provider's page on which the person agrees."""
    dialog = f"{settings.PHOTOAPP_DIRECT_AUTH_URL.rstrip('/')}/authorize"
    return consent.url(_AUTH, dialog, scopes=SCOPES, redirect_uri=redirect_uri, state=state)


def redeem(code: str, *, redirect_uri: str) -> Tokens:
    """A token of about 60 days for a code: first one of an hour, which is exchanged at once."""
    secret = DIRECT_APP.setting("APP_SECRET")
    values = {
        "client_id": DIRECT_APP.setting("APP_ID"), "client_secret": secret,
        "grant_type": "authorization_code", "redirect_uri": redirect_uri,
        # The provider hangs this on the address to which it sends people.
        "code": code.removesuffix("#_"),
    }  # fmt: skip
    form = ("application/x-www-form-urlencoded", urlencode(values).encode())
    short = consent.tokens_from(_AUTH.call("POST", "access_token", form=form).body)
    return _exchange(
        "access_token", grant_type="ig_exchange_token", client_secret=secret,
        access_token=short.access_token,
    )  # fmt: skip


def refresh(token: str) -> Tokens:
    """60 more days for a token that is a day old at least, and has not ended."""
    return _exchange("refresh_access_token", grant_type="ig_refresh_token", access_token=token)


def find(token: str) -> Connected:
    """The account of a token, not subscribed yet."""
    body = DIRECT_APP.call(
        "GET", "me", token=token, params={"fields": "user_id,username,name"}
    ).body
    account_id = str(body.get("user_id") or "")
    if not account_id:
        raise ProviderError(Kind.TEMPORARY, "The provider's answer does not name the account.")
    name = str(body.get("name") or body.get("username") or "")[:200]
    return Connected(account_id, name, Tokens(token), DIRECT)


def subscribe(account: Connected) -> None:
    """Have the account's events sent to us."""
    DIRECT_APP.call(
        "POST", f"{http.path_segment(account.id)}/subscribed_apps",
        token=account.tokens.access_token, params={"subscribed_fields": FIELDS},
    )  # fmt: skip


def _exchange(path: str, **query: Any) -> Tokens:
    return consent.tokens_from(DIRECT_APP.call("GET", path, params=query).body)
