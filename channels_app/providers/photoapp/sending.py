"""Messages of an account to its customers, sent through its page or by itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from channels_app.providers import http, text
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.photoapp.accounts import app_of, node_of
from channels_app.providers.types import Account, Envelope, OutgoingFile, Part, Sent, Signal

MAX_TEXT_BYTES = 1000  # of UTF-8, not characters
MAX_CHOICES, MAX_TITLE, MAX_PAYLOAD = 13, 20, 1000
_ACTIONS: dict[Signal, str] = {
    "seen": "mark_seen", "typing_on": "typing_on", "typing_off": "typing_off",
}  # fmt: skip


def parts(content: Sequence[Part]) -> list[Part]:
    """Texts cut to the limit; choices below the last piece, as a list where buttons cannot."""
    planned = []
    for part in content:
        if part.file:
            planned.append(part)
            continue
        fits = len(part.choices) <= MAX_CHOICES and all(
            len(choice.title) <= MAX_TITLE and len(choice.payload) <= MAX_PAYLOAD
            for choice in part.choices
        )
        words = part.text if fits else text.as_lines(part.text, part.choices)
        cut = text.split(words, MAX_TEXT_BYTES, size=text.utf8_bytes)
        pieces = [Part(text=piece) for piece in cut]
        if pieces and fits:
            pieces[-1] = replace(pieces[-1], choices=part.choices)
        planned += pieces
    return planned


def send(account: Account, part: Part, envelope: Envelope) -> Sent:
    """Send one part. No id of ours goes along: the echo is matched by its `mid` or its words."""
    body: dict[str, Any] = {"recipient": {"id": envelope.recipient_id}}
    if envelope.tag:
        body |= {"messaging_type": "MESSAGE_TAG", "tag": envelope.tag}
    body["message"] = _message(account, part)
    answer = app_of(account).call(
        "POST", _path(account, "messages"), token=account.token, json=body, is_send=True
    )
    message_id = answer.body.get("message_id")
    if not isinstance(message_id, str) or not message_id:
        raise ProviderError(Kind.UNCERTAIN, "The provider's answer does not name the message.")
    return Sent(message_id, answer.pause)


def signal(account: Account, recipient_id: str, signal: Signal) -> None:
    """Mark as seen, or show that somebody types."""
    body = {"recipient": {"id": recipient_id}, "sender_action": _ACTIONS[signal]}
    app_of(account).call("POST", _path(account, "messages"), token=account.token, json=body)


def _path(account: Account, rest: str) -> str:
    return f"{http.path_segment(node_of(account))}/{rest}"


def _message(account: Account, part: Part) -> dict[str, Any]:
    if part.file:
        return {"attachment": {"type": part.file.kind, "payload": _payload(account, part.file)}}
    message: dict[str, Any] = {"text": part.text}
    if part.choices:
        message["quick_replies"] = [
            {"content_type": "text", "title": choice.title, "payload": choice.payload}
            for choice in part.choices
        ]
    return message


def _payload(account: Account, file: OutgoingFile) -> dict[str, Any]:
    """By its address; a file of our store is uploaded first, since the provider cannot get it."""
    if not file.open:
        return {"url": file.url}
    attachment = {"attachment": {"type": file.kind, "payload": {"is_reusable": True}}}
    fields = {"platform": "instagram", "message": orjson.dumps(attachment).decode()}
    body = app_of(account).call(
        "POST", _path(account, "message_attachments"), token=account.token,
        form=http.multipart(fields, "filedata", file),
    ).body  # fmt: skip
    return {"attachment_id": str(body.get("attachment_id") or "")}
