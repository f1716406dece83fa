"""Translate localapp's callbacks into events."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from pydantic import ValidationError

from channels_app.providers import context_lines, events
from channels_app.providers.callback_parsing import (
    key_of,
    moment,
    parse_string,
    place_of,
    unsupported,
)
from channels_app.providers.json_values import as_dict, as_text, dicts_in
from channels_app.schemas.localapp_callback import LocalappEvent, LocalappMessage
from chats.services.core.channel_context import Line

_FILES: dict[str, Any] = {
    "image": "image", "gif": "image", "sticker": "image", "audio": "audio", "video": "video",
    "file": "file",
}  # fmt: skip
_FROM_CUSTOMER = {
    f"user_send_{kind}" for kind in (*_FILES, "text", "location", "link", "business_card")
}
# The names of events for echoes of the account's messages begin with `_ECHO`. Echoes of messages to
# groups and anonymous people are ignored.
_ECHO, _IGNORED_ECHOES = "oa_send_", ("oa_send_group_", "oa_send_anonymous")
# Messages from anonymous people and in groups are ignored. Only the event's name, which begins with
# one of these, is known to distinguish them.
_OUT_OF_SCOPE = ("anonymous_", "user_send_group_")
# Events of the provider's own forms, and the fields of the form for the customer's details.
_DETAIL_EVENTS = {"user_asking_product", "user_submit_info", "user_feedback"}
_MAX_STARS = 5
_DETAILS = ("name", "phone", "address", "ward", "district", "city")
# The provider's codes for reactions; an unknown code is shown unchanged.
_REACTIONS = {
    "/-heart": "❤️", "/-strong": "👍", ":>": "😆", ":o": "😮", ":-((": "😭", ":-h": "😡",
}  # fmt: skip


def items(body: Any) -> list[events.Item]:
    """All items of a callback, in order."""
    return [_item(raw) for raw in dicts_in(body)]


def _item(raw: dict[str, Any]) -> events.Item:
    try:
        event = LocalappEvent.model_validate(raw)
    except ValidationError:
        return unsupported(raw, "", moment(raw.get("timestamp")), "malformed")
    name, at = event.event_name or "no event", moment(event.timestamp)
    sender = (event.sender and event.sender.id) or ""
    recipient = (event.recipient and event.recipient.id) or ""
    is_echo = name.startswith(_ECHO) and not name.startswith(_IGNORED_ECHOES)
    # In echoes and receipts the account is the sender.
    is_from_account = is_echo or name in {"user_received_message", "user_seen_message"}
    account_id, user_id = (sender, recipient) if is_from_account else (recipient, sender)
    account_id = event.oa_id or account_id
    message = event.message or LocalappMessage()
    has_both_sides = user_id and account_id and user_id != account_id
    if not has_both_sides or not (event.message or event.info):
        return unsupported(raw, account_id, at, name)
    common = {"account_id": account_id, "user_id": user_id, "at": at or timezone.now()}
    # Keys must not depend on our clock, so an item without a time is identified by its content.
    known = _known(event, message, common, when=at or repr(raw))
    return known or unsupported(raw, account_id, at, name)


def _known(
    event: LocalappEvent, message: LocalappMessage, common: dict[str, Any], *, when: datetime | str
) -> events.Item | None:
    name = event.event_name or ""
    if name in _FROM_CUSTOMER or name in _DETAIL_EVENTS or _is_message(event, message, common):
        return _message(event, message, common, when)
    if name == "user_seen_message":
        return _receipt("read", message.msg_ids, common) if message.msg_ids else None
    if not message.msg_id:
        return None
    if name == "user_received_message":
        return _receipt("delivered", [message.msg_id], common)
    if name.startswith(_ECHO) and not name.startswith(_IGNORED_ECHOES):
        return events.Echo(
            **common, message_id=message.msg_id, content=_content(message),
            key=key_of("message", message.msg_id),
        )  # fmt: skip
    if name == "user_reacted_message":
        icon = message.react_icon or ""
        return events.Reacted(
            **common, message_id=message.msg_id, reaction=_REACTIONS.get(icon, icon[:40]) or None,
            key=key_of("reaction", message.msg_id, when, icon),
        )  # fmt: skip
    return None


def _is_message(event: LocalappEvent, message: LocalappMessage, common: dict[str, Any]) -> bool:
    """Whether an event, whatever its name, is a customer's message to the account. In receipts and
    in the account's own messages, the recipient is the customer."""
    name, recipient = event.event_name or "", event.recipient and event.recipient.id
    is_to_account = recipient in {None, "", common["account_id"]}
    is_other = name == "user_reacted_message" or name.startswith(_OUT_OF_SCOPE)
    return bool(message.text or message.attachments) and is_to_account and not is_other


def _message(
    event: LocalappEvent, message: LocalappMessage, common: dict[str, Any], when: datetime | str
) -> events.Item | None:
    content, details = _content(message), _detail_lines(event, message)
    if content.is_empty and not details:
        if message.text == "" or not message.msg_id or event.event_name in _DETAIL_EVENTS:
            return None
        details = [context_lines.line("unsupported")]
    of_time = ("message", common["user_id"], when, content.text)
    return events.MessageIn(
        **common, message_id=message.msg_id,
        content=replace(content, lines=[*details, *content.lines]),
        reply_to=message.quote_msg_id,
        key=key_of("message", message.msg_id) if message.msg_id else key_of(*of_time),
    )  # fmt: skip


def _detail_lines(event: LocalappEvent, message: LocalappMessage) -> list[Line]:
    """Lines for what an event contains besides text: a product, a rating or customer details."""
    if event.event_name == "user_asking_product" and message.product_id:
        return [context_lines.line("product", message.product_id)]
    if event.event_name == "user_feedback":
        stars = as_text(message.rate)
        rating = f"{stars} of {_MAX_STARS}" if stars else ""
        answers = {"Rating": rating, "Feedback": message.feedbacks, "Note": message.note}
        return context_lines.of_answers(answers)
    if event.event_name == "user_submit_info":
        info = event.info or {}
        return context_lines.of_form({name: info.get(name) for name in _DETAILS})
    return []


def _content(message: LocalappMessage) -> events.Content:
    words, about = [message.text or ""], list[Line]()
    files, place = list[events.InboundFile](), None
    for attachment in message.attachments or []:
        payload, kind = attachment.payload or {}, attachment.type or ""
        url = as_text(payload.get("url"))
        at = as_dict(payload.get("coordinates"))
        found = place_of(at.get("latitude"), at.get("longitude"))
        title, described = as_text(payload.get("title")), as_text(payload.get("description"))
        if kind == "location" and found:
            place = found
        elif kind in _FILES:
            about += [context_lines.line("sticker")] if kind == "sticker" else []
            name = as_text(payload.get("name"))[:200]
            files.append(events.InboundFile(_FILES[kind], url=url, file_name=name))
        elif card := _card(described, url):
            about += card
        elif kind == "template":
            words += [shown for shown in map(_shown, dicts_in(payload.get("elements"))) if shown]
        elif url:
            about += context_lines.of_link(url, title, described, words=words[0])
        else:
            name = context_lines.joined([kind, title, described])
            about.append(context_lines.line("unsupported", name))
    text = "\n".join(dict.fromkeys(line for line in words if line))
    return events.Content(text=text, files=files, place=place, lines=about)


def _card(described: str, url: str) -> list[Line]:
    """The line for an attachment that is a business card, else none. A card is a link whose
    description is JSON, and whose URL may be the person's name."""
    card = as_dict(parse_string(described)) if described.startswith("{") else {}
    name = "" if url.startswith(("http://", "https://")) else url
    return context_lines.of_contact([name, card.get("caption"), card.get("phone")]) if card else []


def _shown(element: dict[str, Any]) -> str:
    return context_lines.joined([as_text(element.get("title")), as_text(element.get("subtitle"))])


def _receipt(status: Any, ids: Sequence[str], common: dict[str, Any]) -> events.Item:
    return events.Receipt(
        **common, status=status, message_ids=ids,
        key=key_of(status, common["user_id"], *sorted(ids)),
    )  # fmt: skip
