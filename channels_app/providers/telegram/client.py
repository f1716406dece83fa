"""Calls to the Bot API. A bot's token is a part of their address."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError, kind_by_status
from channels_app.providers.json_values import as_dict, as_text

# 403: the customer has blocked the bot, or never begun a chat. 404: the token has a wrong form.
_KINDS = {401: Kind.TOKEN, 403: Kind.RECIPIENT, 404: Kind.TOKEN}


def call(
    token: str, method: str, json: Any = None, *, form: Any = None, is_send: bool = False
) -> Any:
    """Call a method with a body, or with a form (its type and its bytes); returns its result."""
    headers, content = ({"Content-Type": form[0]}, form[1]) if form else (None, None)
    reply = http.call(
        "POST", _address(f"bot{quote(token, safe=':')}/{method}"), channel="telegram",
        headers=headers, json=None if form else json, content=content, is_send=is_send,
    )  # fmt: skip
    body = as_dict(http.parse(reply, without=[token]))
    if reply.status == 200 and body.get("ok") is True:
        return body.get("result")
    # Descriptions may change, so only the status counts.
    error = _KINDS.get(reply.status) or kind_by_status(reply.status, is_send=is_send)
    words = as_text(body.get("description"))[:300] or f"It answered {reply.status}."
    wait = as_dict(body.get("parameters")).get("retry_after")
    seconds = min(wait, 86_400) if isinstance(wait, int) else 60
    pause = timedelta(seconds=seconds) if error == Kind.RATE else None
    raise ProviderError(error, words, code=str(reply.status), wait=pause)


def download(token: str, file_id: str) -> bytes:
    """A customer's file; the provider refuses those over 20 MB."""
    found = as_dict(call(token, "getFile", {"file_id": file_id}))
    address = _address(f"file/bot{quote(token, safe=':')}/{quote(as_text(found.get('file_path')))}")
    return http.download(address, channel="telegram", hosts=[urlsplit(address).hostname or ""])


def _address(path: str) -> str:
    return f"{settings.TELEGRAM_API_URL.rstrip('/')}/{path}"
