"""Calls the Graph providers' APIs: authenticates the calls, and reads errors and rate limits."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import orjson
from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind
from channels_app.providers.graph import errors
from channels_app.providers.json_values import as_dict, dicts_in
from chatplatform.channel_names import MessagingChannel

_SECRETS = ("access_token", "input_token", "fb_exchange_token", "client_secret", "code")
# Pause briefly once this percentage of a rate limit is used.
_HIGH_USAGE, _SHORT_PAUSE = 90, timedelta(seconds=10)


@dataclass(frozen=True)
class Answer:
    """What a call returned, and how long to wait before the next call for the account."""

    body: dict[str, Any]
    pause: timedelta | None


@dataclass(frozen=True)
class GraphApp:
    """Our app at a Graph provider. The names of its settings begin with the channel's name, or with
    `prefix` if it is given."""

    channel: MessagingChannel
    # The setting that contains the API's base URL, including the version.
    url_setting: str
    prefix: str = ""
    # Error codes that only this provider has; `errors` contains those that all providers share.
    more_kinds: Mapping[int, Kind] = field(default_factory=dict)
    # The maximum number of retries of a refused send, by error code.
    retries: Mapping[int, int] = field(default_factory=dict)

    def setting(self, name: str) -> str:
        """The setting `<CHANNEL>_<name>`, or `<prefix>_<name>` if there is a prefix; raises a 503
        `channel_not_configured` if it is empty."""
        return http.setting(f"{self.prefix or self.channel.upper()}_{name}")

    def call(
        self,
        method: str,
        path: str,
        *,
        token: str = "",
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        form: tuple[str, bytes] | None = None,
        is_send: bool = False,
    ) -> Answer:
        """Make one call with `token`, and raise ProviderError if it is refused.

        `form` is a content type and a body, instead of `json`.
        """
        query = {name: value for name, value in (params or {}).items() if value is not None}
        headers = {"Accept": "application/json"}
        content = None
        if token:
            headers["Authorization"] = f"Bearer {token}"
            secret = self.setting("APP_SECRET").encode()
            query["appsecret_proof"] = hmac.new(secret, token.encode(), hashlib.sha256).hexdigest()
        if form:
            headers["Content-Type"], content = form
        url = f"{getattr(settings, self.url_setting).rstrip('/')}/{path}"
        reply = http.call(
            method, f"{url}?{urlencode(query)}" if query else url, channel=self.channel,
            headers=headers, json=json, content=content, is_send=is_send,
        )  # fmt: skip
        body = http.parse(reply)
        pause = pause_of(reply.headers)
        if reply.status != 200 or not isinstance(body, dict) or "error" in body:
            # A refusal may repeat a credential, and its message is shown to people: mask it.
            secrets = [token, *(query.get(name) for name in _SECRETS)]
            raise errors.error_from(
                http.parse(reply, without=secrets), reply.status, is_send=is_send, wait=pause,
                more=self.more_kinds, retries=self.retries,
            )  # fmt: skip
        return Answer(body, pause)


def next_cursor(body: dict[str, Any]) -> str | None:
    """The cursor of the next page of a list; None after the last page."""
    paging = as_dict(body.get("paging"))
    after = as_dict(paging.get("cursors")).get("after")
    # Without `next` this is the last page, even if it has a cursor.
    return str(after) if paging.get("next") and after else None


def pause_of(headers: Mapping[str, str]) -> timedelta | None:
    """How long to pause, according to the rate limits in the headers; None for no pause."""
    usage = _json(headers.get("x-business-use-case-usage"))
    limits = [limit for entries in as_dict(usage).values() for limit in dicts_in(entries)]
    minutes = max(
        (_number(item.get("estimated_time_to_regain_access")) for item in limits), default=0
    )
    if minutes > 0:
        return timedelta(minutes=min(minutes, 24 * 60))
    if wait := http.retry_after(headers):
        return wait
    app = as_dict(_json(headers.get("x-app-usage")))
    shares = [
        _number(item.get(name))
        for item in (*limits, app)
        for name in ("call_count", "total_time", "total_cputime")
    ]
    return _SHORT_PAUSE if max(shares, default=0) >= _HIGH_USAGE else None


def _json(value: str | None) -> Any:
    try:
        return orjson.loads(value) if value else None
    except orjson.JSONDecodeError:
        return None


def _number(value: Any) -> float:
    return value if isinstance(value, (int, float)) else 0
