"""The actions of localapp's customers."""

import hashlib
from collections.abc import Callable

from simulator import localapp
from simulator.messenger_inbound import BadAction, found
from simulator.state import Simulator
from simulator.world import Json, Message, Thread


def act(sim: Simulator, thread: Thread, kind: str, values: Json) -> Message | None:
    if kind in MESSAGES:
        return _write(sim, thread, kind, values)
    if kind not in OTHERS:
        known = ", ".join(sorted([*MESSAGES, *OTHERS]))
        raise BadAction(f"unknown kind {kind!r}; known: {known}")
    OTHERS[kind](sim, thread, values)
    return None


def _write(sim: Simulator, thread: Thread, kind: str, values: Json) -> Message:
    name, body = MESSAGES[kind](sim, values)
    now = sim.world.now
    message_id = values.get("id") or sim.world.message_id(thread.account)
    message = Message(message_id, True, now, str(body.get("text", "")), body)
    thread.messages.append(message)
    thread.customer_wrote_at = now
    inside = {"msg_id": message_id, **body}
    if values.get("reply_to"):
        inside["quote_msg_id"] = values["reply_to"]
    localapp.emit(sim, thread, name, inside, (0, False))
    return message


Written = tuple[str, Json]


def _text(sim: Simulator, values: Json) -> Written:
    return "user_send_text", {"text": str(values.get("text", "hi"))}


def _button(sim: Simulator, values: Json) -> Written:
    """A tap on a query button arrives as a text with the button's payload."""
    return "user_send_text", {"text": str(values.get("payload", "#yes"))}


def _media(kind: str) -> Callable[[Simulator, Json], Written]:
    def written(sim: Simulator, values: Json) -> Written:
        sample = {"image": "image", "gif": "gif"}.get(kind, kind)
        url = values.get("url") or sim.media_url(f"sample-{sample}", f"{kind}.bin")
        payload: Json = {"url": url, "thumbnail": url}
        if kind == "sticker":
            payload = {"id": "3312", "url": url}
        body: Json = {"attachments": [{"type": kind, "payload": payload}]}
        if values.get("text"):
            body["text"] = str(values["text"])
        return f"user_send_{kind}", body

    return written


def _file(sim: Simulator, values: Json) -> Written:
    stored = sim.file("sample-file")
    data = stored.data if stored else b""
    payload = {
        "url": values.get("url") or sim.media_url("sample-file", "price-list.pdf"),
        "name": str(values.get("filename", "price-list.pdf")), "size": str(len(data)),
        "type": "pdf", "checksum": hashlib.md5(data, usedforsecurity=False).hexdigest(),
    }  # fmt: skip
    return "user_send_file", {"attachments": [{"type": "file", "payload": payload}]}


def _location(sim: Simulator, values: Json) -> Written:
    coordinates = {
        "latitude": str(values.get("lat", "10.7642")),
        "longitude": str(values.get("long", "106.6564")),
    }
    payload = {"coordinates": coordinates}
    return "user_send_location", {"attachments": [{"type": "location", "payload": payload}]}


def _link(sim: Simulator, values: Json) -> Written:
    payload = {
        "url": str(values.get("url", "https://shop.example/page")),
        "thumbnail": sim.media_url("sample-png", "page.png"), "description": "A page",
    }  # fmt: skip
    body = {"text": payload["url"], "attachments": [{"type": "link", "payload": payload}]}
    return "user_send_link", body


def _card(sim: Simulator, values: Json) -> Written:
    payload = {"description": '{"phone":"84909999999"}', "thumbnail": ""}
    body = {"text": "", "attachments": [{"type": "link", "payload": payload}]}
    return "user_send_business_card", body


MESSAGES: dict[str, Callable[[Simulator, Json], Written]] = {
    "text": _text,
    "button": _button,
    "image": _media("image"),
    "gif": _media("gif"),
    "audio": _media("audio"),
    "video": _media("video"),
    "sticker": _media("sticker"),
    "file": _file,
    "location": _location,
    "link": _link,
    "business_card": _card,
}


def _received(sim: Simulator, thread: Thread, values: Json) -> None:
    message = found(thread, values, by_customer=False)
    message.delivered_at = sim.world.now
    localapp.received(sim, thread, message, 0)


def _seen(sim: Simulator, thread: Thread, values: Json) -> None:
    unread = [item for item in thread.messages if not item.by_customer and item.read_at is None]
    unread = unread or [found(thread, values, by_customer=False)]
    for message in unread:
        message.read_at = sim.world.now
    localapp.seen(sim, thread, unread, 0)


def _agent_wrote(sim: Simulator, thread: Thread, values: Json) -> None:
    """An agent replies in the provider's console: an echo with an unknown id."""
    text = str(values.get("text", "An agent writes elsewhere"))
    sent = Message(sim.world.message_id(thread.account), False, sim.world.now, text, {"text": text})
    thread.messages.append(sent)
    localapp.echo(sim, thread, sent, 0)


def _reaction(sim: Simulator, thread: Thread, values: Json) -> None:
    message = found(thread, values, by_customer=False)
    message.reaction = str(values.get("emoji", "/-heart"))
    inside = {"msg_id": message.id, "react_icon": message.reaction}
    localapp.emit(sim, thread, "user_reacted_message", inside, (0, False))


def _raw(sim: Simulator, thread: Thread, values: Json) -> None:
    name = str(values.get("event_name", "user_submit_info"))
    localapp.emit(sim, thread, name, dict(values.get("item", {})), (0, False))


OTHERS: dict[str, Callable[[Simulator, Thread, Json], None]] = {
    "received": _received,
    "read": _seen,
    "agent_wrote": _agent_wrote,
    "reaction": _reaction,
    "raw": _raw,
}
