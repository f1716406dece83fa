"""Calls of the API, the account, its customers' names and files."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import orjson
from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile
from channels_app.providers.localapp import errors
from channels_app.providers.types import (
    Account,
    AccountsPage,
    Connected,
    ListedAccount,
    Profile,
    Tokens,
)

CHANNEL = "localapp"
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Answer:
    """What a call returned. `pause`: how long the app should not be called."""

    data: dict[str, Any]
    pause: timedelta | None


def call(
    method: str,
    path: str,
    *,
    token: str,
    data: Mapping[str, Any] | None = None,
    json: Any = None,
    form: tuple[str, bytes] | None = None,
    is_send: bool = False,
) -> Answer:
    """One call in the name of an account's token; `data`: the parameter of that name, as JSON."""
    secret = http.setting("LOCALAPP_APP_SECRET").encode()
    headers = {
        "Accept": "application/json",
        "access_token": token,
        "appsecret_proof": hmac.new(secret, token.encode(), hashlib.sha256).hexdigest(),
    }
    content = None
    if form:
        headers["Content-Type"], content = form
    url = f"{settings.LOCALAPP_API_URL.rstrip('/')}/{path}"
    if data:
        url += "?" + urlencode({"data": orjson.dumps(data).decode()})
    reply = http.call(
        method, url, channel=CHANNEL, headers=headers, json=json, content=content, is_send=is_send
    )
    body = http.parse(reply)
    if reply.status != 200 or not isinstance(body, dict) or body.get("error") not in (0, "0"):
        wait = http.retry_after(reply.headers)
        shown = http.parse(reply, without=[token])
        raise errors.error_from(shown, reply.status, is_send=is_send, wait=wait)
    found = body.get("data")
    is_used_up = reply.headers.get("x-ratelimit-remain") == "0"
    return Answer(found if isinstance(found, dict) else {}, _MINUTE if is_used_up else None)


def list_accounts(token: str) -> AccountsPage:
    """The one account that a consent is for."""
    found = _account(token)
    picture = str(found.get("avatar") or "") or None
    return AccountsPage([ListedAccount(_id(found), str(found.get("name") or ""), picture)])


def connect(token: str) -> Connected:
    """The account of a token. There is nothing to subscribe to."""
    found = _account(token)
    return Connected(_id(found), str(found.get("name") or "")[:200], Tokens(token))


def profile(account: Account, user_id: str) -> Profile:
    """The customer's name and picture, and the phone number if it was shared."""
    found = call("GET", "v3.0/oa/user/detail", token=account.token, data={"user_id": user_id}).data
    shared = found.get("shared_info")
    phone = shared.get("phone") if isinstance(shared, dict) else None
    return Profile(
        name=str(found.get("display_name") or ""),
        avatar_url=str(found.get("avatar") or ""),
        phone=str(phone or ""),
    )


def fetch(file: InboundFile) -> bytes:
    """A customer's file. Its address is open: no credential goes along."""
    if not file.url:
        raise ProviderError(Kind.REQUEST, "The provider does not hand this kind of content over.")
    return http.download(file.url, channel=CHANNEL, hosts=settings.LOCALAPP_MEDIA_HOSTS)


def _account(token: str) -> dict[str, Any]:
    return call("GET", "v2.0/oa/getoa", token=token).data


def _id(found: Mapping[str, Any]) -> str:
    # Both spellings are in use.
    account_id = str(found.get("oa_id") or found.get("oaid") or "")
    if not account_id:
        raise ProviderError(Kind.TEMPORARY, "The provider's answer does not name the account.")
    return account_id
