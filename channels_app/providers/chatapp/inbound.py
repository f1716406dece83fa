"""Callbacks of numbers: customers' messages, our messages' statuses, and account events."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from pydantic import ValidationError

from channels_app.providers import events
from channels_app.providers.callback_parsing import key_of, moment, unsupported
from channels_app.providers.chatapp import errors
from channels_app.providers.graph.errors import kind_of
from channels_app.providers.graph.inbound import entries_of
from channels_app.providers.json_values import as_dict, as_list, as_text, dicts_in
from channels_app.providers.types import Place
from channels_app.shapes import chatapp_callback as hook
from channels_app.shapes.graph_callback import Tolerant

_FILES: dict[str, Any] = {
    "image": "image", "sticker": "image", "video": "video", "audio": "audio", "document": "file",
}  # fmt: skip
_CHANGED_IDS = {"user_changed_number", "customer_changed_number", "user_changed_user_id"}
# Message types that contain no customer's message.
_NO_MESSAGES = {"system", "reaction", "edit", "revoke", "request_welcome", "errors"}
_MAX_ID = 300
# Account events that a person must look at.
_TROUBLE = {
    "ACCOUNT_RESTRICTION", "ACCOUNT_VIOLATION", "DISABLED_UPDATE", "ACCOUNT_DELETED",
    "PARTNER_REMOVED",
}  # fmt: skip


def items(body: Any) -> list[events.Item]:
    """Everything in a callback."""
    return [
        item
        for entry in entries_of(body)
        for change in as_list(entry.get("changes"))
        for item in _of_change(change, as_text(entry.get("id")), moment(entry.get("time")))
    ]


@dataclass(frozen=True)
class _Origin:
    """The account of an item, and the customers that the callback names."""

    account_id: str
    sent_at: datetime | None
    contacts: Sequence[hook.ChatappContact]

    def left_out(self, raw: Any, kind: str) -> events.Item:
        return unsupported(raw, self.account_id, self.sent_at, kind)


def _of_change(change: Any, business_id: str, sent_at: datetime | None) -> Iterator[events.Item]:
    value = as_dict(change).get("value")
    name = as_text(as_dict(change).get("field"))
    if not isinstance(value, dict):
        yield unsupported(change, business_id, sent_at, "malformed")
        return
    number = as_text(as_dict(value.get("metadata")).get("phone_number_id"))
    origin = _Origin(number or business_id, sent_at, _contacts(value))
    found = list[events.Item]()
    for key, (shape, read) in _READERS.items():
        for raw in as_list(value.get(key)):
            try:
                found.append(read(raw, origin, shape.model_validate(raw)))
            except ValidationError:
                found.append(origin.left_out(raw, "malformed"))
    found += [origin.left_out(raw, "errors") for raw in as_list(value.get("errors"))]
    yield from found
    event = as_text(value.get("event"))
    if name == "account_update" and event in _TROUBLE:
        at = sent_at or timezone.now()
        yield events.AccountTrouble(
            account_id=business_id, at=at, reason=f"The provider reports {event}.",
            key=key_of("account", event, sent_at or repr(change)),
        )  # fmt: skip
    elif not found:
        yield origin.left_out(change, f"changes.{name}")


def _contacts(value: dict[str, Any]) -> list[hook.ChatappContact]:
    found = []
    for raw in as_list(value.get("contacts")):
        try:
            found.append(hook.ChatappContact.model_validate(raw))
        except ValidationError:
            continue  # the message itself names its customer
    return found


# --- messages ---------------------------------------------------------------------------------


def _message_item(raw: Any, origin: _Origin, message: hook.ChatappMessage) -> events.Item:
    if message.group_id:
        return origin.left_out(raw, "group")
    contact = _contact_of(message, origin.contacts)
    number = (contact and contact.wa_id) or message.sender or ""
    user_id = message.from_user_id or (contact and contact.user_id) or number
    if not user_id:
        is_typed = message.type != "unknown"
        return origin.left_out(raw, f"{message.type} of nobody" if is_typed else "malformed")
    common = {
        "account_id": origin.account_id,
        "at": moment(message.timestamp) or origin.sent_at or timezone.now(),
        "key": key_of("message", message.id),
        "user_id": user_id,
        "alternate_user_id": number if number.isdigit() and number != user_id else "",
    }
    name = (contact and contact.profile and contact.profile.name) or ""
    return (
        _change_item(message, common)
        or _written(message, common, name)
        or origin.left_out(raw, message.type)
    )


def _contact_of(
    message: hook.ChatappMessage, contacts: Sequence[hook.ChatappContact]
) -> hook.ChatappContact | None:
    for contact in contacts:
        is_number = bool(message.sender) and contact.wa_id == message.sender
        if is_number or (message.from_user_id and contact.user_id == message.from_user_id):
            return contact
    return None


def _change_item(message: hook.ChatappMessage, common: dict[str, Any]) -> events.Item | None:
    """A customer's change of an existing message, or of their number."""
    if message.type == "reaction" and message.reaction:
        emoji = message.reaction.emoji
        return events.Reacted(
            **common, message_id=message.reaction.message_id, reaction=emoji[:40] if emoji else None
        )
    if message.type == "edit" and message.edit:
        new = message.edit.message or {}
        words = as_dict(new.get(as_text(new.get("type"))))
        text = as_text(words.get("body")) or as_text(words.get("caption"))
        return events.Edited(**common, message_id=message.edit.original_message_id, text=text)
    if message.type == "revoke" and message.revoke:
        return events.Unsent(**common, message_id=message.revoke.original_message_id)
    if message.type == "system" and message.system:
        return _changed_ids(message.system, common)
    return None


def _changed_ids(system: dict[str, Any], common: dict[str, Any]) -> events.Item | None:
    """A customer's new number or id; their field names differ between API versions."""
    if as_text(system.get("type")) not in _CHANGED_IDS:
        return None
    number = as_text(system.get("wa_id")) or as_text(system.get("new_wa_id"))
    user_id = as_text(system.get("user_id"))
    before = as_text(system.get("previous_user_id")) or common["user_id"]
    changed = events.IdsChanged(
        **common | {"user_id": before},
        new_number=number if number.isdigit() and len(number) <= _MAX_ID else "",
        new_user_id=user_id if len(user_id) <= _MAX_ID and user_id != before else "",
    )
    return changed if changed.new_number or changed.new_user_id else None


def _written(message: hook.ChatappMessage, common: dict[str, Any], name: str) -> events.Item | None:
    content = _content(message)
    if content is None:
        return None
    metadata = {"referral": message.referral, **content.metadata}
    if message.context and message.context.forwarded:
        metadata["forwarded"] = True
    number = common["alternate_user_id"] or common["user_id"]
    return events.MessageIn(
        **common,
        message_id=message.id,
        text=content.text,
        files=content.files,
        place=content.place,
        reply_to=message.context.id if message.context else None,
        customer_name=name,
        phone=f"+{number}" if number.isdigit() else "",
        metadata={key: value for key, value in metadata.items() if value},
    )


@dataclass(frozen=True)
class _Content:
    text: str = ""
    files: Sequence[events.InboundFile] = ()
    place: Place | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def _content(message: hook.ChatappMessage) -> _Content | None:
    """What a message contains; None if that is nothing for a chat."""
    if message.type in _NO_MESSAGES or _says_nothing(message):
        return None
    found = _read_content(message)
    if found.text or found.files or found.place:
        return found
    # It cannot be read: an unavailable file shows the agent that something came.
    return replace(found, files=[events.InboundFile("file")])


def _says_nothing(message: hook.ChatappMessage) -> bool:
    """Whether it is an empty text, or the answer to a request of the telephone app."""
    is_empty = message.type == "text" and message.text is not None and message.text.body == ""
    return is_empty or (message.interactive or {}).get("type") == "call_permission_reply"


def _read_content(message: hook.ChatappMessage) -> _Content:
    if message.type in _FILES and (file := getattr(message, message.type)):
        kind = _FILES[message.type]
        shown = events.InboundFile(kind, media_id=file.id or "", file_name=file.filename or "")
        return _Content(file.caption or "", [shown])
    if message.type == "location" and (at := message.location):
        names = ", ".join(filter(None, [at.name, at.address]))
        return _Content(place=Place(at.latitude, at.longitude, names))
    if message.type == "interactive" and message.interactive:
        return _tapped(message.interactive)
    if message.type == "button" and (button := message.button):
        return _Content(as_text(button.get("text")), metadata={"payload": button.get("payload")})
    if message.type == "contacts" and message.contacts:
        return _Content("\n".join(filter(None, map(_card, message.contacts))))
    if message.type == "order" and message.order:
        lines = [as_text(message.order.get("text")), *_goods(message.order)]
        return _Content("\n".join(filter(None, lines)), metadata={"order": message.order})
    # "unknown" stands for a type that is missing, too.
    if message.type in {"text", "unknown"} and message.text:
        return _Content(message.text.body or "")
    return _Content()


def _tapped(interactive: dict[str, Any]) -> _Content:
    reply = interactive.get(as_text(interactive.get("type")))
    if not isinstance(reply, dict):
        return _Content(as_text(reply))
    if "response_json" in reply:
        return _Content(as_text(reply.get("body")), metadata={"form": reply["response_json"]})
    return _Content(as_text(reply.get("title")), metadata={"payload": reply.get("id")})


def _card(card: dict[str, Any]) -> str:
    """A contact card as one line."""
    words = [as_text(as_dict(card.get("name")).get("formatted_name"))]
    words += [as_text(phone.get("phone")) for phone in dicts_in(card.get("phones"))]
    words += [as_text(mail.get("email")) for mail in dicts_in(card.get("emails"))]
    return " ".join(filter(None, words))


def _goods(order: dict[str, Any]) -> list[str]:
    """The items of an order, one line each."""
    return [
        f"{item.get('quantity')} × {as_text(item.get('product_retailer_id'))}"
        f" ({item.get('item_price')} {as_text(item.get('currency'))})"
        for item in dicts_in(order.get("product_items"))
    ]


def _echo_item(raw: Any, origin: _Origin, message: hook.ChatappMessage) -> events.Item:
    """A message that somebody sent to a customer from the business's telephone app."""
    content = _content(message)
    if content is None or not message.to:
        return origin.left_out(raw, f"echo.{message.type}")
    return events.Echo(
        account_id=origin.account_id,
        at=moment(message.timestamp) or origin.sent_at or timezone.now(),
        key=key_of("message", message.id),
        user_id=message.to,
        message_id=message.id,
        text=content.text,
        files=content.files,
        is_foreign=True,
    )


# --- statuses of our messages -------------------------------------------------------------------


def _status_item(raw: Any, origin: _Origin, status: hook.ChatappStatus) -> events.Item:
    common: dict[str, Any] = {
        "account_id": origin.account_id,
        "at": moment(status.timestamp) or origin.sent_at or timezone.now(),
        "key": key_of("status", status.id, status.status),
        "user_id": status.recipient_id or status.recipient_user_id or "",
        "send_id": status.biz_opaque_callback_data,
    }
    if status.status == "sent":
        # This status is the only echo of our own messages.
        return events.Echo(**common, message_id=status.id, is_foreign=False)
    if status.status == "delivered":
        return events.Receipt(**common, status="delivered", message_ids=[status.id])
    if status.status in {"read", "played"}:
        return events.Receipt(**common, status="read", message_ids=[status.id])
    if status.status == "failed":
        reason = (status.errors or [{}])[0]
        code, title = as_text(reason.get("code")), as_text(reason.get("title"))
        kind = kind_of(reason.get("code"), errors.KINDS)
        words = f"The provider reports: {title or 'no reason given'}"
        return events.Failure(
            **common, message_id=status.id, kind=kind, error=f"{words} ({code})" if code else words
        )
    return origin.left_out(raw, f"status.{status.status}")


# The lists of a callback: the shape of an element, and what makes an event of it.
_READERS: dict[str, tuple[type[Tolerant], Callable[[Any, _Origin, Any], events.Item]]] = {
    "messages": (hook.ChatappMessage, _message_item),
    "statuses": (hook.ChatappStatus, _status_item),
    "message_echoes": (hook.ChatappMessage, _echo_item),
}
