"""Translate callbacks into events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from pydantic import ValidationError

from channels_app.providers import events
from channels_app.providers.callback_parsing import key_of, moment, place_of, unsupported
from channels_app.providers.json_values import as_dict, as_text, dicts_in
from channels_app.providers.types import Place
from channels_app.shapes.localapp_callback import LocalappEvent, LocalappMessage

_FILES: dict[str, Any] = {
    "image": "image", "gif": "image", "sticker": "image", "audio": "audio", "video": "video",
    "file": "file",
}  # fmt: skip
_FROM_CUSTOMER = {
    f"user_send_{kind}" for kind in (*_FILES, "text", "location", "link", "business_card")
}
# Events about a message that are not messages themselves.
_REPORTS = {"user_received_message", "user_seen_message", "user_reacted_message"}
_ECHOES = {f"oa_send_{kind}" for kind in ("text", "image", "file", "sticker", "gif", "list")}
# The provider's codes of reactions; an unknown one is shown as it comes.
_REACTIONS = {
    "/-heart": "❤️", "/-strong": "👍", ":>": "😆", ":o": "😮", ":-((": "😭", ":-h": "😡",
}  # fmt: skip


def items(body: Any) -> list[events.Item]:
    """All events in order."""
    return [_item(raw) for raw in dicts_in(body)]


def _item(raw: dict[str, Any]) -> events.Item:
    try:
        event = LocalappEvent.model_validate(raw)
    except ValidationError:
        return unsupported(raw, "", moment(raw.get("timestamp")), "malformed")
    name, at = event.event_name or "no event", moment(event.timestamp)
    sender = (event.sender and event.sender.id) or ""
    recipient = (event.recipient and event.recipient.id) or ""
    # In echoes and receipts the account is the sender.
    is_from_account = name in _ECHOES or name in {"user_received_message", "user_seen_message"}
    account_id, user_id = (sender, recipient) if is_from_account else (recipient, sender)
    account_id = event.oa_id or account_id
    if not user_id or not account_id or event.message is None:
        return unsupported(raw, account_id, at, name)
    common = {"account_id": account_id, "user_id": user_id, "at": at or timezone.now()}
    # An item without a time is identified by its whole content: keys must not depend on our clock.
    known = _known(name, event.message, common, when=at or repr(raw))
    return known or unsupported(raw, account_id, at, name)


def _known(
    name: str, message: LocalappMessage, common: dict[str, Any], *, when: datetime | str
) -> events.Item | None:
    has_words = bool(message.text) and name.startswith("user_") and name not in _REPORTS
    if name in _FROM_CUSTOMER or has_words:
        return _message(message, common, when)
    if name == "user_seen_message":
        return _receipt("read", message.msg_ids, common) if message.msg_ids else None
    if not message.msg_id:
        return None
    if name == "user_received_message":
        return _receipt("delivered", [message.msg_id], common)
    if name in _ECHOES:
        text, files, _ = _content(message)
        return events.Echo(
            **common, message_id=message.msg_id, text=text, files=files,
            key=key_of("message", message.msg_id),
        )  # fmt: skip
    if name == "user_reacted_message":
        icon = message.react_icon or ""
        return events.Reacted(
            **common, message_id=message.msg_id, reaction=_REACTIONS.get(icon, icon[:40]) or None,
            key=key_of("reaction", message.msg_id, when, icon),
        )  # fmt: skip
    return None


def _message(
    message: LocalappMessage, common: dict[str, Any], when: datetime | str
) -> events.Item | None:
    text, files, place = _content(message)
    if not (text or files or place):
        if message.text == "" or not message.msg_id:
            return None
        # What came cannot be read: an unavailable file shows the agent that something did.
        files = [events.InboundFile("file")]
    of_time = ("message", common["user_id"], when, text)
    return events.MessageIn(
        **common, message_id=message.msg_id, text=text, files=files, place=place,
        reply_to=message.quote_msg_id,
        key=key_of("message", message.msg_id) if message.msg_id else key_of(*of_time),
    )  # fmt: skip


def _content(message: LocalappMessage) -> tuple[str, list[events.InboundFile], Place | None]:
    lines, files, place = [message.text or ""], list[events.InboundFile](), None
    for attachment in message.attachments or []:
        payload, kind = attachment.payload or {}, attachment.type or ""
        url = as_text(payload.get("url"))
        at = as_dict(payload.get("coordinates"))
        found = place_of(at.get("latitude"), at.get("longitude"))
        if kind == "location" and found:
            place = found
        elif kind in _FILES:
            name = as_text(payload.get("name"))[:200]
            files.append(events.InboundFile(_FILES[kind], url=url, file_name=name))
        elif words := [word for word in (as_text(payload.get("description")), url) if word]:
            lines += words
        else:
            files.append(events.InboundFile("file", file_name=kind[:60]))
    # A link's text often is its address already.
    text = "\n".join(dict.fromkeys(line for line in lines if line))
    return text, files, place


def _receipt(status: Any, ids: Sequence[str], common: dict[str, Any]) -> events.Item:
    return events.Receipt(
        **common, status=status, message_ids=ids,
        key=key_of(status, common["user_id"], *sorted(ids)),
    )  # fmt: skip
