"""Translate a bot's updates into events."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.utils import timezone

from channels_app.providers import context_lines, events
from channels_app.providers.callback_parsing import key_of, moment, place_of, unsupported
from channels_app.providers.json_values import as_dict, as_list, as_text, dicts_in
from chats.services.core.channel_context import Kind, Line

Fields = dict[str, Any]
# For each field of a message that may contain a file: the kind of the file.
_FILES: dict[str, Any] = {
    "photo": "image", "live_photo": "video", "animation": "video", "video": "video",
    "video_note": "video", "voice": "audio", "audio": "audio", "sticker": "image",
    "document": "file",
}  # fmt: skip
# What files are called that have no name.
_FILE_NAMES = {"voice": "voice message", "video_note": "video message", "sticker": "sticker"}
_WORDS = {"paid_media": "paid photo or video"}
# For fields with a file that has a special form: the kind of its line.
_LINE_KINDS: dict[str, Kind] = {"live_photo": "live_photo", "video_note": "video_message"}
# Messages from the provider itself, which contain nothing from the customer.
_SERVICE = {
    "pinned_message", "message_auto_delete_timer_changed", "write_access_allowed",
    "connected_website", "chat_background_set", "boost_added",
}  # fmt: skip
# Objects in a message that are not its content. Any other object that is not understood names the
# kind of content, also a kind that is newer than this platform.
_NO_CONTENT = {
    "from", "chat", "sender_chat", "sender_business_bot", "via_bot", "forward_origin",
    "reply_to_message", "external_reply", "quote", "reply_to_story", "direct_messages_topic",
    "link_preview_options", "reply_markup", "suggested_post_info",
}  # fmt: skip


def whole_id(message: Fields, user_id: str) -> str:
    """A message id that is unique in the account, since the provider numbers messages per chat;
    empty if the message has no number."""
    number = as_text(message.get("message_id"))[:100]
    return f"{user_id}:{number}" if number.isdecimal() else ""


def item(update: Fields, account_id: str) -> events.Item:
    """The item of an update. Updates of groups and channels are unsupported."""
    kind = next((name for name in UPDATES if update.get(name)), "")
    body = as_dict(update.get(kind))
    at = moment(body.get("edit_date")) or moment(body.get("date")) or timezone.now()
    if not kind:
        other = next((name for name in update if name != "update_id"), "nothing")
        return unsupported(update, account_id, at, other)
    user_id = as_text((as_dict(body.get("from")) or as_dict(body.get("user"))).get("id"))[:100]
    message = as_dict(body.get("message")) or body
    # A private chat has the id of its customer.
    if not user_id or as_text(as_dict(message.get("chat")).get("id")) != user_id:
        return unsupported(update, account_id, at, "not_private")
    common: Fields = {"account_id": account_id, "user_id": user_id, "at": at}
    read = UPDATES[kind](body, common, whole_id(message, user_id))
    other = next((name for name in body if name in _SERVICE), kind)
    return read or unsupported(update, account_id, at, other)


def _message(body: Fields, common: Fields, message_id: str) -> events.Item | None:
    content, metadata = _content(body), Fields()
    if content.is_empty:
        if not message_id or not _SERVICE.isdisjoint(body):
            return None
        named = (name for name in body if name not in _NO_CONTENT and as_dict(body[name]))
        name = next(named, "")
        shown = _WORDS.get(name, name.replace("_", " "))
        content = events.Content(lines=[context_lines.line("unsupported", shown)])
    command, _, value = content.text.partition(" ")
    if command == "/start":
        # A link to the bot may carry a value.
        link = [context_lines.line("link", value)] if value else []
        content = events.Content(text=command, lines=[context_lines.line("started"), *link])
        metadata = {"referral": {"ref": value[:200]}} if value else {}
    original = as_dict(body.get("reply_to_message"))
    of_content = (common["user_id"], as_text(body.get("date")), content.text)
    return events.MessageIn(
        **common, message_id=message_id or None, metadata=metadata,
        content=replace(content, lines=[*_forwarded(body), *content.lines]),
        phone=_own_number(body)[:40], quoted=_words(original),
        reply_to=whole_id(original, common["user_id"]) or None,
        customer_name=_name(as_dict(body.get("from"))),
        key=key_of("message", *([message_id] if message_id else of_content)),
    )  # fmt: skip


def _edited(body: Fields, common: Fields, message_id: str) -> events.Item | None:
    text = message_id and _words(body)
    key = key_of("edit", message_id, as_text(body.get("edit_date")), text)
    return events.Edited(**common, message_id=message_id, text=text, key=key) if text else None


def _tapped(body: Fields, common: Fields, message_id: str) -> events.Item | None:
    """A customer tapped one of our buttons; its label is taken from our message."""
    value = as_text(body.get("data"))
    markup = as_dict(as_dict(body.get("message")).get("reply_markup"))
    buttons = [button for row in as_list(markup.get("inline_keyboard")) for button in dicts_in(row)]
    labels = [as_text(each.get("text")) for each in buttons if each.get("callback_data") == value]
    return events.MessageIn(
        **common, message_id=None, reply_to=message_id or None, metadata={"payload": value},
        content=events.Content(lines=[context_lines.line("tapped", (*labels, value)[0])]),
        customer_name=_name(as_dict(body.get("from"))), key=key_of("tap", as_text(body.get("id"))),
    )  # fmt: skip


def _blocked(body: Fields, common: Fields, _message_id: str) -> events.Item:
    is_blocked = as_text(as_dict(body.get("new_chat_member")).get("status")) == "kicked"
    key = key_of("member", common["user_id"], as_text(body.get("date")), is_blocked)
    return events.AccountBlocked(**common, is_blocked=is_blocked, key=key)


def _reacted(body: Fields, common: Fields, message_id: str) -> events.Item | None:
    # A reaction with a custom emoji has no text.
    shown = [as_text(entry.get("emoji")) or "⭐" for entry in dicts_in(body.get("new_reaction"))]
    reaction = "".join(shown)[:40] or None
    key = key_of("reaction", message_id, as_text(body.get("date")), reaction)
    return events.Reacted(**common, message_id=message_id, reaction=reaction, key=key)


# The kinds of updates that we subscribe to, and the function that reads each.
UPDATES: dict[str, Callable[[Fields, Fields, str], events.Item | None]] = {
    "message": _message, "edited_message": _edited, "callback_query": _tapped,
    "my_chat_member": _blocked, "message_reaction": _reacted,
}  # fmt: skip


def _content(body: Fields) -> events.Content:
    venue, at = (as_dict(body.get(name)) for name in ("venue", "location"))
    names = context_lines.joined([as_text(venue.get("title")), as_text(venue.get("address"))])
    place = place_of(at.get("latitude"), at.get("longitude"), names)
    words = _words(body) or ("" if place else names)
    about = [
        *_kind_lines(body), *_cards(body), *_poll(as_dict(body.get("poll"))),
        *context_lines.of_form(as_dict(body.get("web_app_data")).get("data")),
    ]  # fmt: skip
    file = _file(body)
    dice = as_dict(body.get("dice"))
    emoji = dice or ({} if file else as_dict(body.get("sticker")))
    shown = " ".join(filter(None, [as_text(emoji.get("emoji")), as_text(dice.get("value"))]))
    return events.Content(
        text=words or shown, files=[file] if file else [],
        place=place, lines=about,
    )  # fmt: skip


def _kind_lines(body: Fields) -> list[Line]:
    """A line that names a sticker and the like, which otherwise look like any picture or place."""
    if sticker := as_dict(body.get("sticker")):
        # Without a file, the emoji is the text.
        return [context_lines.line("sticker", as_text(sticker.get("emoji")) if _file(body) else "")]
    if as_dict(body.get("location")).get("live_period"):
        return [context_lines.line("live_location")]
    return [context_lines.line(kind) for name, kind in _LINE_KINDS.items() if body.get(name)]


def _forwarded(body: Fields) -> list[Line]:
    """A line with the author of a forwarded message."""
    origin = as_dict(body.get("forward_origin"))
    if not origin:
        return []
    chat = as_dict(origin.get("sender_chat")) or as_dict(origin.get("chat"))
    name = _name(as_dict(origin.get("sender_user"))) or context_lines.first_text(
        origin.get("sender_user_name"), chat.get("title")
    )
    return [context_lines.line("forwarded_from" if name else "forwarded", name)]


def _poll(poll: Fields) -> list[Line]:
    """A line with the question of a poll and its options."""
    options = [as_text(option.get("text")) for option in dicts_in(poll.get("options"))]
    words = " - ".join(
        filter(None, [as_text(poll.get("question")), " / ".join(filter(None, options))])
    )
    return [context_lines.line("poll", words)] if words else []


def _own_number(body: Fields) -> str:
    """The customer's own phone number, if the message is their own contact card."""
    card, sender = as_dict(body.get("contact")), as_dict(body.get("from"))
    user_id = as_text(card.get("user_id"))
    is_own = bool(user_id) and user_id == as_text(sender.get("id"))
    return as_text(card.get("phone_number")) if is_own else ""


def _cards(body: Fields) -> list[Line]:
    """A line for each contact, user and chat that the customer shared."""
    contact, chat = (as_dict(body.get(name)) for name in ("contact", "chat_shared"))
    if number := _own_number(body):
        return [context_lines.line("own_number", number)]
    lines = list[Line]()
    for card in (contact, *dicts_in(as_dict(body.get("users_shared")).get("users")), chat):
        # Users and chats have no number. Their names are left out unless the bot asked for them.
        tag = f"@{card['username']}" if as_text(card.get("username")) else ""
        ids = (card.get("phone_number"), tag, card.get("user_id"), card.get("chat_id"))
        names = [_name(card), as_text(card.get("title")), context_lines.first_text(*ids)]
        lines += context_lines.of_contact(names)
    return lines


def _file(body: Fields) -> events.InboundFile | None:
    """The file of a message; None if it has none. For a picture, it is the largest size; for an
    animated sticker, the thumbnail."""
    name = next((name for name in _FILES if body.get(name)), "")
    file = (dicts_in(body.get(name)) or [Fields()])[-1]
    kind: Any = _FILES.get(name)
    if file.get("is_animated"):
        file = as_dict(file.get("thumbnail"))
    elif file.get("is_video"):
        kind = "video"
    file_id, mime_type = as_text(file.get("file_id"))[:300], as_text(file.get("mime_type"))
    if kind == "file" and mime_type.startswith(("image/", "audio/", "video/")):
        kind = mime_type.partition("/")[0]
    file_name = as_text(file.get("file_name")) or _FILE_NAMES.get(name, "")
    found = events.InboundFile(kind, "", file_id, file_name[:200])
    return found if file_id else None


def _words(body: Fields) -> str:
    texts = (body.get("text"), body.get("caption"), as_dict(body.get("gift")).get("text"))
    return next(filter(None, map(as_text, texts)), "")


def _name(person: Fields) -> str:
    names = (as_text(person.get("first_name")), as_text(person.get("last_name")))
    return " ".join(filter(None, names))
