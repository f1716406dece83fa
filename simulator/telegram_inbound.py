"""The actions of telegram's customers."""

from collections.abc import Callable

from simulator import telegram
from simulator.messenger_inbound import BadAction, found
from simulator.state import Simulator
from simulator.world import Json, Message, Thread


def act(sim: Simulator, thread: Thread, kind: str, values: Json) -> Message | None:
    if kind in MESSAGES:
        return _write(sim, thread, MESSAGES[kind](sim, values), values)
    if kind not in OTHERS:
        known = ", ".join(sorted([*MESSAGES, *OTHERS]))
        raise BadAction(f"unknown kind {kind!r}; known: {known}")
    OTHERS[kind](sim, thread, values)
    return None


def block(sim: Simulator, thread: Thread) -> None:
    """Report that the customer blocked or unblocked the bot, by the thread's `is_gone`."""
    states = ("member", "kicked") if thread.is_gone else ("kicked", "member")
    bot = telegram.bot_user(thread.account)
    old, new = ({"user": bot, "status": state} for state in states)
    _emit(sim, thread, "my_chat_member", {
        "chat": telegram.chat_of(thread), "from": telegram.user_of(thread),
        "date": int(sim.world.now), "old_chat_member": old, "new_chat_member": new,
    })  # fmt: skip


def _emit(sim: Simulator, thread: Thread, name: str, value: Json) -> None:
    update = {"update_id": 900_000_000 + next(sim.numbers), name: value}
    sim.emit(thread.account, name, update)


def _write(sim: Simulator, thread: Thread, sent: Json, values: Json) -> Message:
    text = str(sent.get("text", sent.get("caption", "")))
    drawn = {kind: {"id": file["file_id"]} for kind, file in _drawn(sent)}
    message = Message(telegram.next_id(thread), True, sim.world.now, text, {**drawn, "sent": sent})
    thread.messages.append(message)
    thread.customer_wrote_at = sim.world.now
    shown = telegram.written(thread, message)
    if values.get("reply_to"):
        shown["reply_to_message"] = {"message_id": int(values["reply_to"])}
    _emit(sim, thread, "message", shown)
    return message


def _drawn(sent: Json) -> list[tuple[str, Json]]:
    """The files of a message, each with its kind as the customers' page shows it."""
    kinds = {"sticker": "sticker", "voice": "audio", "video": "video", "document": "document"}
    photo = [("image", sent["photo"][-1])] if "photo" in sent else []
    return photo + [(kind, sent[name]) for name, kind in kinds.items() if name in sent]


def _text(sim: Simulator, values: Json) -> Json:
    return {"text": str(values.get("text", "hi"))}


def _start(sim: Simulator, values: Json) -> Json:
    return {"text": f"/start {values.get('text', '')}".strip()}


def _image(sim: Simulator, values: Json) -> Json:
    large = {"file_id": str(values.get("file_id") or "sample-image"), "width": 96, "height": 64}
    small = {"file_id": "sample-png", "width": 48, "height": 32}
    return {"photo": [small, large]} | _caption(values)


def _media(name: str, sample: str, mime: str) -> Callable[[Simulator, Json], Json]:
    def written(sim: Simulator, values: Json) -> Json:
        file_id = str(values.get("file_id") or f"sample-{sample}")
        file = {"file_id": file_id, "mime_type": mime}
        if name == "document":
            file["file_name"] = str(values.get("filename", "price-list.pdf"))
        return {name: file} | _caption(values)

    return written


def _caption(values: Json) -> Json:
    return {"caption": str(values["text"])} if values.get("text") else {}


def _sticker(sim: Simulator, values: Json) -> Json:
    return {"sticker": {"file_id": "sample-sticker", "emoji": "👍", "is_animated": False,
                        "is_video": False}}  # fmt: skip


def _location(sim: Simulator, values: Json) -> Json:
    place = {"latitude": values.get("lat", 10.7642), "longitude": values.get("long", 106.6564)}
    return {"location": place}


def _contact(sim: Simulator, values: Json) -> Json:
    return {"contact": {"phone_number": "84909999999", "first_name": "Mai", "last_name": "Le"}}


def _poll(sim: Simulator, values: Json) -> Json:
    return {"poll": {"id": "1", "question": str(values.get("text", "Which one?")), "options": []}}


MESSAGES: dict[str, Callable[[Simulator, Json], Json]] = {
    "text": _text,
    "start": _start,
    "image": _image,
    "audio": _media("voice", "audio", "audio/ogg"),
    "video": _media("video", "video", "video/mp4"),
    "file": _media("document", "file", "application/pdf"),
    "sticker": _sticker,
    "location": _location,
    "contact": _contact,
    "poll": _poll,
}


def _button(sim: Simulator, thread: Thread, values: Json) -> None:
    """The customer taps a button under a message of the bot."""
    message = found(thread, values, by_customer=False)
    _emit(sim, thread, "callback_query", {
        "id": f"tap{next(sim.numbers)}", "from": telegram.user_of(thread), "chat_instance": "1",
        "message": telegram.written(thread, message), "data": str(values.get("payload", "yes")),
    })  # fmt: skip


def _edit(sim: Simulator, thread: Thread, values: Json) -> None:
    message = found(thread, values, by_customer=True)
    message.text = str(values.get("text", "changed"))
    sent = message.body["sent"]
    sent["text" if "text" in sent else "caption"] = message.text
    shown = telegram.written(thread, message) | {"edit_date": int(sim.world.now)}
    _emit(sim, thread, "edited_message", shown)


def _reaction(sim: Simulator, thread: Thread, values: Json) -> None:
    message = found(thread, values, by_customer=False)
    message.reaction = str(values.get("emoji", "👍"))
    _emit(sim, thread, "message_reaction", {
        "chat": telegram.chat_of(thread), "message_id": int(message.id),
        "user": telegram.user_of(thread), "date": int(sim.world.now), "old_reaction": [],
        "new_reaction": [{"type": "emoji", "emoji": message.reaction}],
    })  # fmt: skip


def _raw(sim: Simulator, thread: Thread, values: Json) -> None:
    _emit(sim, thread, str(values.get("field", "message")), dict(values.get("item", {})))


OTHERS: dict[str, Callable[[Simulator, Thread, Json], None]] = {
    "button": _button,
    "edit": _edit,
    "reaction": _reaction,
    "raw": _raw,
}
