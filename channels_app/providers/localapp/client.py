"""Calls to localapp's API, and to its endpoint for tokens."""

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
from channels_app.providers.json_values import as_dict
from channels_app.providers.localapp import errors
from channels_app.providers.types import Tokens

CHANNEL = "localapp"
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Answer:
    """What a call returned. `pause`: how long to make no further calls."""

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
    """Make one call with an account's token, and raise ProviderError if it is refused.

    `data` is sent as JSON in the query parameter `data`; `form` is a content type and a body.
    """
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
    is_used_up = reply.headers.get("x-ratelimit-remain") == "0"
    return Answer(as_dict(body.get("data")), _MINUTE if is_used_up else None)


def tokens(values: dict[str, str]) -> Tokens:
    """Exchange a code or a refresh token, which becomes invalid at once, for a pair of tokens."""
    form = urlencode({"app_id": http.setting("LOCALAPP_APP_ID"), **values}).encode()
    headers = {
        "secret_key": http.setting("LOCALAPP_APP_SECRET"),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    reply = http.call(
        "POST", f"{oauth_url()}/v4/oa/access_token", channel=CHANNEL, headers=headers, content=form,
        is_send=True,
    )  # fmt: skip
    body = http.parse(reply)
    if reply.status != 200 or not isinstance(body, dict) or not body.get("access_token"):
        # A 5xx has changed nothing; a 200 without a token may have used up the code.
        wait = http.retry_after(reply.headers)
        secrets = [values.get(name) for name in ("code", "code_verifier", "refresh_token")]
        shown = http.parse(reply, without=secrets)
        raise errors.error_from(shown, reply.status, is_send=reply.status == 200, wait=wait)
    lifetime = str(body.get("expires_in") or "")
    seconds = int(lifetime) if lifetime.isascii() and lifetime.isdigit() else 0
    return Tokens(
        str(body["access_token"]),
        # The usual lifetime, if the response has none.
        timedelta(seconds=min(seconds, 10**8) or 25 * 3600),
        refresh_token=str(body.get("refresh_token") or ""),
    )


def oauth_url() -> str:
    """The base URL of the provider's OAuth server."""
    return str(settings.LOCALAPP_OAUTH_URL).rstrip("/")
