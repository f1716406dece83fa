"""Calls to the Bot API. The URL of a call contains the bot's token."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError, kind_by_status
from channels_app.providers.json_values import as_dict, as_text

# 403: the customer has blocked the bot, or never started a chat. 404: the token is malformed.
_KINDS = {401: Kind.TOKEN, 403: Kind.RECIPIENT, 404: Kind.TOKEN}


def call(
    token: str, method: str, json: Any = None, *, form: Any = None, is_send: bool = False
) -> Any:
    """Call a method with a JSON body, or with a `form` (content type and body); return its result,
    or raise ProviderError."""
    headers, content = ({"Content-Type": form[0]}, form[1]) if form else (None, None)
    reply = http.call(
        "POST", _url(f"bot{quote(token, safe=':')}/{method}"), channel="telegram",
        headers=headers, json=None if form else json, content=content, is_send=is_send,
    )  # fmt: skip
    body = as_dict(http.parse(reply, without=[token]))
    if reply.status == 200 and body.get("ok") is True:
        return body.get("result")
    # Descriptions may change, so only the status counts.
    error = _KINDS.get(reply.status) or kind_by_status(reply.status, is_send=is_send)
    text = as_text(body.get("description"))[:300] or f"It responded with {reply.status}."
    wait = as_dict(body.get("parameters")).get("retry_after")
    seconds = min(wait, 86_400) if isinstance(wait, int) else 60
    pause = timedelta(seconds=seconds) if error == Kind.RATE else None
    raise ProviderError(error, text, code=str(reply.status), wait=pause)


def download(token: str, file_id: str) -> bytes:
    """Download a customer's file; the provider refuses files over 20 MB."""
    found = as_dict(call(token, "getFile", {"file_id": file_id}))
    url = _url(f"file/bot{quote(token, safe=':')}/{quote(as_text(found.get('file_path')))}")
    return http.download(url, channel="telegram", hosts=[urlsplit(url).hostname or ""])


def _url(path: str) -> str:
    return f"{settings.TELEGRAM_API_URL.rstrip('/')}/{path}"
