"""Translate chatapp's callbacks into events: messages, statuses of our messages, account events."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from pydantic import ValidationError

from channels_app.providers import context_lines, events
from channels_app.providers.callback_parsing import key_of, moment, place_of, unsupported
from channels_app.providers.chatapp import errors, notices
from channels_app.providers.graph.errors import kind_of
from channels_app.providers.graph.inbound import entries_of
from channels_app.providers.json_values import as_dict, as_list, as_text, dicts_in
from channels_app.schemas import chatapp_callback as hook
from channels_app.schemas.graph_callback import Tolerant
from chats.services.core.channel_context import Kind, Line

_FILES: dict[str, Any] = {
    "image": "image", "sticker": "image", "video": "video", "audio": "audio", "document": "file",
}  # fmt: skip
_CHANGED_IDS = {"user_changed_number", "customer_changed_number", "user_changed_user_id"}
# Message types that contain no message from a customer.
_NO_MESSAGES = {"system", "reaction", "edit", "revoke", "request_welcome", "errors"}
# The fields of an interactive message that contain what the customer chose.
_REPLIES = ("button_reply", "list_reply", "nfm_reply", "call_permission_reply")
# What agents read of types that chats cannot show; some say nothing.
_NAMES = dict.fromkeys(("unsupported", "unknown", "text", "order"), "") | {
    "contacts": "a contact without a name or number", "poll_creation": "poll",
}  # fmt: skip
_MAX_ID = 300
_NUMBER = ("phone_number_id", "display_phone_number")
# Account events that need a person's attention, and what to tell the person.
_TROUBLE = {
    "ACCOUNT_RESTRICTION": "The provider has restricted this business account.",
    "ACCOUNT_VIOLATION": "The provider reports that this business account broke a rule.",
    "DISABLED_UPDATE": "The provider has disabled this business account.",
    "ACCOUNT_DELETED": "This business account was deleted.",
    "PARTNER_REMOVED": "Our access to this business account was removed. Reconnect it.",
    "ACCOUNT_OFFBOARDED": "This number was removed from the provider's API. Reconnect it.",
}
# Account events which report that the trouble has ended.
_RECOVERY_EVENTS = {"REINSTATE", "ACCOUNT_RECONNECTED"}
# The lists to read in a change, by the change's field. For other fields, all lists are read.
_LISTS: dict[str, set[str]] = {
    "messages": {"messages", "statuses"},
    "smb_message_echoes": {"message_echoes"},
    # Not read: past messages, threads that another app controls, and the phone app's contacts.
    "history": set(), "standby": set(), "smb_app_state_sync": set(),
    "calls": {"calls"},
    "user_preferences": {"user_preferences"},
}  # fmt: skip


def items(body: Any) -> list[events.Item]:
    """All items of a callback, in order."""
    return [
        item
        for entry in entries_of(body)
        for change in as_list(entry.get("changes"))
        for item in _of_change(change, as_text(entry.get("id")), moment(entry.get("time")))
    ]


@dataclass(frozen=True)
class _Origin:
    """What the items of a change have in common: the account, the time, and the customers."""

    account_id: str
    # The account's own number in digits, if the callback contains it.
    own_number: str
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
    metadata = as_dict(value.get("metadata"))
    number, shown = (as_text(metadata.get(key)) for key in _NUMBER)
    own_number = "".join(filter(str.isdigit, shown))
    origin = _Origin(number or business_id, own_number, sent_at, _contacts(value))
    found = list[events.Item]()
    for key, (schema, read) in _READERS.items():
        for raw in as_list(value.get(key)) if key in _LISTS.get(name, _READERS) else []:
            try:
                found.append(read(raw, origin, schema.model_validate(raw)))
            except ValidationError:
                found.append(origin.left_out(raw, "malformed"))
    found += [origin.left_out(raw, "errors") for raw in as_list(value.get("errors"))]
    yield from found
    if name == "account_update" and (trouble := _trouble(change, value, business_id, sent_at)):
        yield trouble
    elif notice := notices.item(name, value, business_id, sent_at):
        yield notice
    elif not found:
        yield origin.left_out(change, f"changes.{name}")


def _trouble(
    change: Any, value: dict[str, Any], business_id: str, sent_at: datetime | None
) -> events.Item | None:
    """Trouble of a business account, or its end; None for other events. In some events the entry's
    id is that of our portfolio, so the id in `waba_info` comes first."""
    event = as_text(value.get("event"))
    if event not in _TROUBLE and event not in _RECOVERY_EVENTS:
        return None
    named = as_text(as_dict(value.get("waba_info")).get("waba_id"))
    ban = as_dict(value.get("ban_info")).get("waba_ban_state")
    is_reinstated = "REINSTATE" in (ban if isinstance(ban, list) else [ban])
    return events.AccountTrouble(
        account_id=named or business_id, at=sent_at or timezone.now(),
        reason=_TROUBLE.get(event, ""),
        is_over=event in _RECOVERY_EVENTS or is_reinstated,
        key=key_of("account", event, sent_at or repr(change)),
    )  # fmt: skip


def _contacts(value: dict[str, Any]) -> list[hook.ChatappContact]:
    found = []
    for raw in as_list(value.get("contacts")):
        try:
            found.append(hook.ChatappContact.model_validate(raw))
        except ValidationError:
            continue  # the message itself has the customer's id
    return found


# --- messages ---------------------------------------------------------------------------------


def _message_item(raw: Any, origin: _Origin, message: hook.ChatappMessage) -> events.Item:
    if message.group_id:
        return origin.left_out(raw, "group")
    if message.sender and message.sender == origin.own_number:
        return origin.left_out(raw, "own number")
    contact = _contact_of(message, origin.contacts)
    number = (contact and contact.wa_id) or message.sender or ""
    user_id = message.from_user_id or (contact and contact.user_id) or number
    if not user_id:
        is_typed = message.type != "unknown"
        return origin.left_out(raw, f"{message.type} of nobody" if is_typed else "malformed")
    common = {
        "account_id": origin.account_id,
        "at": moment(message.timestamp) or origin.sent_at or timezone.now(),
        "key": key_of("message", message.id or repr(raw)),
        "user_id": user_id,
        "alternate_user_id": number if number.isdigit() and number != user_id else "",
    }
    name = (contact and contact.profile and contact.profile.name) or ""
    return (
        _change_item(message, common)
        or _inbound(message, common, name)
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
    """A change to an existing message or to the customer's ids; None for anything else."""
    if message.type == "reaction" and message.reaction:
        emoji = message.reaction.emoji
        return events.Reacted(
            **common, message_id=message.reaction.message_id, reaction=emoji[:40] if emoji else None
        )
    if message.type == "edit" and message.edit:
        new = message.edit.message or {}
        named = as_dict(new.get(as_text(new.get("type"))))
        parts = (named, *map(as_dict, new.values()))
        words = (as_text(part.get("body")) or as_text(part.get("caption")) for part in parts)
        text = next(filter(None, words), "")
        return events.Edited(**common, message_id=message.edit.original_message_id, text=text)
    if message.type == "revoke" and message.revoke:
        return events.Unsent(**common, message_id=message.revoke.original_message_id)
    if message.type == "system" and message.system:
        return _changed_ids(message.system, common)
    return None


def _changed_ids(system: dict[str, Any], common: dict[str, Any]) -> events.Item | None:
    """A customer's new number or id; None if there is neither. The names of the fields differ
    between API versions."""
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


def _inbound(message: hook.ChatappMessage, common: dict[str, Any], name: str) -> events.Item | None:
    content, metadata = _content(message), _metadata(message)
    if content is None:
        return None
    context = _context(message)
    return events.MessageIn(
        **common,
        message_id=message.id,
        content=replace(content, lines=[*context, *content.lines]),
        reply_to=message.context.id if message.context else None,
        customer_name=name,
        phone=_phone(common),
        metadata={key: value for key, value in metadata.items() if value},
    )


def _phone(common: dict[str, Any]) -> str:
    number = common.get("alternate_user_id") or common["user_id"]
    return f"+{number}" if number.isdigit() else ""


def _metadata(message: hook.ChatappMessage) -> dict[str, Any]:
    """The message's `metadata` in the API: what the provider sent besides the content."""
    metadata: dict[str, Any] = {"referral": message.referral}
    if message.context and (message.context.forwarded or message.context.frequently_forwarded):
        metadata["forwarded"] = True
    if message.type == "interactive" and message.interactive:
        reply = as_dict(_reply(message.interactive))
        metadata |= {"payload": reply.get("id"), "form": reply.get("response_json")}
    if message.type == "button" and message.button:
        metadata["payload"] = message.button.get("payload")
    if message.type == "order":
        metadata["order"] = message.order
    return metadata


def _context(message: hook.ChatappMessage) -> list[Line]:
    """Lines about what led the customer here, about the product that they ask about, and whether
    the message is forwarded."""
    context = context_lines.of_referral(message.referral)
    product = (message.context and message.context.referred_product) or {}
    if number := as_text(product.get("product_retailer_id")):
        context.append(context_lines.line("product", number))
    if message.context and message.context.frequently_forwarded:
        context.append(context_lines.line("forwarded_often"))
    elif message.context and message.context.forwarded:
        context.append(context_lines.line("forwarded"))
    return context


def _content(message: hook.ChatappMessage) -> events.Content | None:
    """What a chat shows of a message; None if it shows nothing."""
    found = _read_content(message)
    words = message.text.body if message.text else None
    if words:
        # A text is shown whatever the message's type.
        found = replace(found, text="\n".join(filter(None, (found.text, words))))
    if not found.is_empty:
        return found
    if message.type in _NO_MESSAGES or (message.type == "text" and words == ""):
        return None
    if message.type in {"interactive", "button"}:
        return events.Content(lines=[context_lines.line("tapped")])
    kind = as_text((message.unsupported or {}).get("type")) or message.type
    shown = _NAMES.get(kind, kind.replace("_", " "))
    return events.Content(lines=[context_lines.line("unsupported", shown)])


def _read_content(message: hook.ChatappMessage) -> events.Content:
    if message.type in _FILES and (file := getattr(message, message.type)):
        kind = _FILES[message.type]
        unnamed = "voice message" if file.voice else "sticker" if message.type == "sticker" else ""
        name = file.filename or unnamed
        shown = events.InboundFile(kind, media_id=file.id or "", file_name=name)
        about = [context_lines.line("sticker")] if message.type == "sticker" else []
        return events.Content(text=file.caption or "", files=[shown], lines=about)
    if message.type == "location" and (at := message.location):
        names = ", ".join(filter(None, [at.name, at.address]))
        place = place_of(at.latitude, at.longitude, names)
        return events.Content(text="" if place else names, place=place)
    if message.type == "interactive" and message.interactive:
        return _choice_content(message.interactive)
    if message.type == "button" and (button := message.button):
        return events.Content(text=as_text(button.get("text")))
    if message.type == "contacts" and message.contacts:
        cards = (
            line for card in message.contacts for line in context_lines.of_contact(_values(card))
        )
        return events.Content(lines=list(cards))
    if message.type == "order" and message.order:
        ordered = [context_lines.line("order", item) for item in _ordered_items(message.order)]
        return events.Content(text=as_text(message.order.get("text")), lines=ordered)
    return events.Content()


def _reply(interactive: dict[str, Any]) -> Any:
    """What the customer chose, even if `type` is unreadable; None if they chose nothing."""
    names = (as_text(interactive.get("type")), *_REPLIES)
    return next((interactive[name] for name in names if interactive.get(name) is not None), None)


def _choice_content(interactive: dict[str, Any]) -> events.Content:
    reply = _reply(interactive)
    if interactive.get("type") == "product" or reply is None:
        return _unsolicited(interactive)
    if not isinstance(reply, dict):
        return events.Content(text=as_text(reply))
    if "response_json" in reply:
        answers = context_lines.of_form(reply["response_json"])
        return events.Content(lines=answers or [context_lines.line("form")])
    if "response" in reply:  # a permission to call
        is_allowed = as_text(reply.get("response")) == "accept"
        return events.Content(
            lines=[context_lines.line("call_allowed" if is_allowed else "call_refused")]
        )
    return events.Content(text=as_text(reply.get("title")))


def _unsolicited(interactive: dict[str, Any]) -> events.Content:
    """A product that the customer shares, or choices that the business sent in its phone app."""
    action = as_dict(interactive.get("action"))
    product = as_dict(interactive.get("product")) or action
    name = context_lines.first_text(product.get("name"), product.get("product_retailer_id"))
    return events.Content(
        text=as_text(as_dict(interactive.get("body")).get("text")),
        lines=[context_lines.line("product", name)] if name else [],
    )


def _values(card: dict[str, Any]) -> Iterator[Any]:
    """The values on a contact card."""
    name, firm = as_dict(card.get("name")), as_dict(card.get("org"))
    parts = (name.get("first_name"), name.get("last_name"))
    yield as_text(name.get("formatted_name")) or " ".join(filter(None, map(as_text, parts)))
    yield from (firm.get("company"), firm.get("title"))
    for key, field_name in (("phones", "phone"), ("emails", "email"), ("urls", "url")):
        yield from (entry.get(field_name) for entry in dicts_in(card.get(key)))


def _ordered_items(order: dict[str, Any]) -> list[str]:
    """The items of an order, one line each."""
    return [_ordered_item(item) for item in dicts_in(order.get("product_items"))]


def _ordered_item(item: dict[str, Any]) -> str:
    """Such as "3 × TEAPOT-3, 250,000 VND each"."""
    count, price = item.get("quantity"), item.get("item_price")
    amount = f"{price:,}" if isinstance(price, int | float) else as_text(price)
    each = " each" if amount and count != 1 else ""
    cost = f"{amount} {as_text(item.get('currency'))}".strip() + each if amount else ""
    name = f"{'' if count is None else count} × {as_text(item.get('product_retailer_id'))}"
    return context_lines.joined([name.removeprefix(" × "), cost])


def _echo_item(raw: Any, origin: _Origin, message: hook.ChatappMessage) -> events.Item:
    """What somebody sent, edited or unsent in the business's phone app."""
    if message.id is None:
        return origin.left_out(raw, "malformed")
    common: dict[str, Any] = {
        "account_id": origin.account_id,
        "at": moment(message.timestamp) or origin.sent_at or timezone.now(),
        "key": key_of("message", message.id),
        "user_id": message.to_user_id or message.to or "",
        "alternate_user_id": message.to if message.to_user_id and message.to else "",
    }
    change = _change_item(message, common) if message.type in {"edit", "revoke"} else None
    if common["user_id"] and change:
        return change
    content = _content(message)
    if content is None or not common["user_id"]:
        return origin.left_out(raw, f"echo.{message.type}")
    return events.Echo(
        **common, message_id=message.id, content=content, is_foreign=True, phone=_phone(common)
    )


def _call_item(raw: Any, origin: _Origin, call: hook.ChatappCall) -> events.Item:
    """A message about a customer's call, which cannot be answered through this platform."""
    is_incoming = call.direction != "BUSINESS_INITIATED" and call.sender != origin.own_number
    if call.event not in {"connect", "terminate"} or not is_incoming or not call.sender:
        return origin.left_out(raw, f"call.{call.event}")
    has_ended = call.event == "terminate"
    was_missed = has_ended and (call.status or "").upper() != "COMPLETED"
    kind: Kind = "missed_call" if was_missed else "answered_call" if has_ended else "call"
    line = context_lines.line(kind, _length(call.duration) if kind == "answered_call" else "")
    contact = next((row for row in origin.contacts if row.wa_id == call.sender), None)
    user_id = call.from_user_id or (contact and contact.user_id) or call.sender
    number = call.sender if call.sender != user_id else ""
    common: dict[str, Any] = {"user_id": user_id, "alternate_user_id": number}
    return events.MessageIn(
        **common, account_id=origin.account_id,
        at=moment(call.timestamp) or origin.sent_at or timezone.now(),
        key=key_of("call", call.id, kind), message_id=None,
        # The end of a call is written into the message about its beginning.
        content=events.Content(lines=[line]), metadata={"call_id": call.id},
        customer_name=(contact and contact.profile and contact.profile.name) or "",
        phone=_phone(common),
    )  # fmt: skip


def _length(duration: Any) -> str:
    """How long a call took, such as "1 min 2 s"; empty if unknown."""
    minutes, seconds = divmod(int(duration or 0), 60)
    parts = [f"{minutes} min" if minutes else "", f"{seconds} s" if seconds else ""]
    return " ".join(filter(None, parts))


def _preference_item(raw: Any, origin: _Origin, choice: hook.ChatappPreference) -> events.Item:
    """A customer's choice to stop or resume the account's marketing messages."""
    user_id = choice.user_id or choice.wa_id
    if not user_id or choice.value not in {"stop", "resume"}:
        return origin.left_out(raw, "preference")
    return events.MarketingPreferenceChanged(
        account_id=origin.account_id, user_id=user_id,
        alternate_user_id=choice.wa_id if choice.wa_id and choice.wa_id != user_id else "",
        at=moment(choice.timestamp) or origin.sent_at or timezone.now(),
        are_wanted=choice.value == "resume", phone=_phone({"user_id": choice.wa_id or ""}),
        key=key_of("offers", user_id, choice.value, choice.timestamp or repr(raw)),
    )  # fmt: skip


# --- statuses of our messages -------------------------------------------------------------------


def _status_item(raw: Any, origin: _Origin, status: hook.ChatappStatus) -> events.Item:
    common: dict[str, Any] = {
        "account_id": origin.account_id,
        "at": moment(status.timestamp) or origin.sent_at or timezone.now(),
        "key": key_of("status", status.id, status.status),
        "user_id": status.recipient_id or status.recipient_user_id or "",
        "send_id": status.biz_opaque_callback_data,
    }
    price = _price(status.pricing) if status.pricing else None
    if status.status == "sent":
        # For our own messages, the provider sends this status instead of an echo.
        return events.Echo(**common, message_id=status.id, is_foreign=False, price=price)
    if status.status == "delivered":
        return events.Receipt(**common, status="delivered", message_ids=[status.id], price=price)
    if status.status in {"read", "played"}:
        return events.Receipt(**common, status="read", message_ids=[status.id], price=price)
    if status.status == "failed":
        reason = (status.errors or [{}])[0]
        return events.Failure(
            **common,
            message_id=status.id,
            kind=kind_of(reason.get("code"), errors.KINDS),
            code=as_text(reason.get("code")),
            error=as_text(reason.get("title")) or "no reason given",
        )
    return origin.left_out(raw, f"status.{status.status}")


def _price(pricing: dict[str, Any]) -> events.Price:
    is_regular = pricing.get("type") == "regular"
    is_charged = pricing["billable"] is True if "billable" in pricing else is_regular
    return events.Price(is_charged, as_text(pricing.get("category")).lower()[:60])


# For each list of a callback: the schema of its elements, and the function that turns an element
# into an item.
_READERS: dict[str, tuple[type[Tolerant], Callable[[Any, _Origin, Any], events.Item]]] = {
    "messages": (hook.ChatappMessage, _message_item),
    "statuses": (hook.ChatappStatus, _status_item),
    "message_echoes": (hook.ChatappMessage, _echo_item),
    "calls": (hook.ChatappCall, _call_item),
    "user_preferences": (hook.ChatappPreference, _preference_item),
}
