"""The actions of socialnet's and photoapp's customers: write, tap, react, edit, unsend, rate."""

from collections.abc import Callable
from typing import Any

from simulator import messenger, surveys
from simulator.state import Simulator
from simulator.world import Json, Message, Thread


class BadAction(ValueError):
    """An action that the customer cannot perform; the message says why."""


THUMBS_UP = 369239263222822
_FACES = {
    "love": "❤️", "smile": "😆", "wow": "😮", "sad": "😢", "angry": "😠", "like": "👍",
    "dislike": "👎",
}  # fmt: skip


def act(sim: Simulator, thread: Thread, kind: str, values: Json) -> Message | None:
    """Perform the action `kind`, and report it; return the message if one was written."""
    if kind in MESSAGES:
        return _write(sim, thread, MESSAGES[kind](sim, thread, values), values)
    if kind not in OTHERS:
        known = ", ".join(sorted([*MESSAGES, *OTHERS]))
        raise BadAction(f"unknown kind {kind!r}; known: {known}")
    OTHERS[kind](sim, thread, values)
    return None


def _write(sim: Simulator, thread: Thread, body: Json, values: Json) -> Message:
    now = sim.world.now
    message = Message(
        values.get("id") or sim.world.message_id(thread.account), True, now,
        str(body.get("text", "")), body,
    )  # fmt: skip
    thread.messages.append(message)
    thread.customer_wrote_at = now
    item = _item(sim, thread) | {"message": {"mid": message.id, **body}}
    sim.emit(thread.account, "messages", item)
    return message


def _item(sim: Simulator, thread: Thread) -> Json:
    return {
        "sender": {"id": thread.user_id},
        "recipient": {"id": thread.account.id},
        "timestamp": int(sim.world.now * 1000),
    }


# Messages: the fields besides `mid`


def _text(sim: Simulator, thread: Thread, values: Json) -> Json:
    body: Json = {"text": str(values.get("text", "hi"))}
    if values.get("reply_to"):
        body["reply_to"] = {"mid": values["reply_to"], "is_self_reply": False}
        if thread.account.kind == "photo":
            del body["reply_to"]["is_self_reply"]
    return body


def _quick_reply(sim: Simulator, thread: Thread, values: Json) -> Json:
    title = str(values.get("title") or values.get("text") or "Yes")
    return {"text": title, "quick_reply": {"payload": str(values.get("payload", title))}}


def _attachment(sim: Simulator, thread: Thread, values: Json) -> Json:
    kind = str(values.get("type", "image"))
    url = values.get("url") or sim.media_url(f"sample-{kind}", f"{kind}.bin")
    body: Json = {"attachments": [{"type": kind, "payload": {"url": url}}]}
    if values.get("count"):
        body["attachments"] *= int(values["count"])
    if values.get("text"):
        body["text"] = values["text"]
    return body


def _sticker(sim: Simulator, thread: Thread, values: Json) -> Json:
    url = sim.media_url("sample-png", "sticker.png")
    payload: Json = {"url": url}
    if thread.account.kind == "page":
        payload["sticker_id"] = int(values.get("sticker_id", THUMBS_UP))
    return {"attachments": [{"type": "image", "payload": payload}]}


def _link(sim: Simulator, thread: Thread, values: Json) -> Json:
    url = str(values.get("url", "https://shop.example/page"))
    payload = {"url": url, "title": str(values.get("title", "A page"))}
    return {"text": url, "attachments": [{"type": "fallback", "payload": payload}]}


def _location(sim: Simulator, thread: Thread, values: Json) -> Json:
    coordinates = {"lat": values.get("lat", 10.7642), "long": values.get("long", 106.6564)}
    return {"attachments": [{"type": "location", "payload": {"coordinates": coordinates}}]}


def _nothing_shown(sim: Simulator, thread: Thread, values: Json) -> Json:
    """An attachment without a payload: `fallback`, or for photoapp the heart."""
    kind = "like_heart" if thread.account.kind == "photo" else "fallback"
    attachment: Json = {"type": kind}
    if kind == "fallback":
        attachment["payload"] = None
    return {"attachments": [attachment]}


def _ad(sim: Simulator, thread: Thread, values: Json) -> Json:
    return {"text": str(values.get("text", "Is this available?")), "referral": {
        "ref": str(values.get("ref", "r1")), "ad_id": str(values.get("ad_id", "6045")),
        "source": "ADS", "type": "OPEN_THREAD",
        "ads_context_data": {"ad_title": "Summer", "post_id": "1",
                             "photo_url": sim.media_url("sample-image", "ad.jpg")},
    }}  # fmt: skip


def _unsupported(sim: Simulator, thread: Thread, values: Json) -> Json:
    return {"is_unsupported": True}


Body = Callable[[Simulator, Thread, Json], Json]
MESSAGES: dict[str, Body] = {
    "text": _text,
    "quick_reply": _quick_reply,
    "attachment": _attachment,
    "sticker": _sticker,
    "link": _link,
    "location": _location,
    "fallback": _nothing_shown,
    "ad": _ad,
    "unsupported": _unsupported,
}


# Everything else


def _postback(sim: Simulator, thread: Thread, values: Json) -> None:
    title = str(values.get("title", "Start"))
    postback: Json = {"title": title, "payload": str(values.get("payload", "GET_STARTED"))}
    if not values.get("without_mid"):
        postback["mid"] = sim.world.message_id(thread.account)
    if values.get("ref"):
        postback["referral"] = _referral_body(values)
    thread.customer_wrote_at = sim.world.now
    thread.messages.append(
        Message(postback.get("mid", ""), True, sim.world.now, title, {"postback": postback})
    )
    sim.emit(thread.account, "messaging_postbacks", _item(sim, thread) | {"postback": postback})


def _referral_body(values: Json) -> Json:
    body = {"ref": str(values.get("ref", "r1")), "type": "OPEN_THREAD"}
    body["source"] = str(values.get("source", "SHORTLINK"))
    if values.get("ad_id"):
        body["ad_id"] = str(values["ad_id"])
    return body


def _referral(sim: Simulator, thread: Thread, values: Json) -> None:
    item = _item(sim, thread) | {"referral": _referral_body(values)}
    sim.emit(thread.account, "messaging_referrals", item)


def _reaction(sim: Simulator, thread: Thread, values: Json) -> None:
    message = found(thread, values, by_customer=False)
    name = str(values.get("reaction", "love"))
    reaction: Json = {"mid": message.id, "action": "react", "reaction": name}
    reaction["emoji"] = str(values.get("emoji") or _FACES.get(name, "👍"))
    message.reaction = reaction["emoji"]
    sim.emit(thread.account, "message_reactions", _item(sim, thread) | {"reaction": reaction})


def _unreact(sim: Simulator, thread: Thread, values: Json) -> None:
    message = found(thread, values, by_customer=False)
    message.reaction = ""
    reaction = {"mid": message.id, "action": "unreact"}
    sim.emit(thread.account, "message_reactions", _item(sim, thread) | {"reaction": reaction})


def _edit(sim: Simulator, thread: Thread, values: Json) -> None:
    message = found(thread, values, by_customer=True)
    message.text = str(values.get("text", "new text"))
    message.body = message.body | {"num_edit": int(message.body.get("num_edit", 0)) + 1}
    edit = {"mid": message.id, "text": message.text, "num_edit": str(message.body["num_edit"])}
    field = "message_edit" if thread.account.kind == "photo" else "message_edits"
    sim.emit(thread.account, field, _item(sim, thread) | {"message_edit": edit})


def _unsend(sim: Simulator, thread: Thread, values: Json) -> None:
    message = found(thread, values, by_customer=True)
    message.is_deleted, message.text = True, ""
    item = _item(sim, thread) | {"message": {"mid": message.id, "is_deleted": True}}
    sim.emit(thread.account, "messages", item)


def _read(sim: Simulator, thread: Thread, values: Json) -> None:
    messenger.read(sim, thread, found(thread, values, by_customer=False), 0)


def _delivered(sim: Simulator, thread: Thread, values: Json) -> None:
    messenger.delivered(sim, thread, found(thread, values, by_customer=False), 0)


def _agent_wrote(sim: Simulator, thread: Thread, values: Json) -> None:
    """An agent replies in the provider's own inbox: the platform gets an echo from another app."""
    text = str(values.get("text", "An agent writes elsewhere"))
    sent = Message(
        sim.world.message_id(thread.account), False, sim.world.now, text, {"text": text},
        str(values.get("app_id", messenger.INBOX_APP_ID)),
    )  # fmt: skip
    thread.messages.append(sent)
    messenger.echo(sim, thread, sent, 0)


def _survey(sim: Simulator, thread: Thread, values: Json) -> None:
    """The customer submits the latest survey."""
    sent = next(
        (message for message in reversed(thread.messages) if surveys.is_survey(message.body)), None
    )
    if sent is None or thread.account.kind != "page":
        raise BadAction("this customer has got no survey")
    comment = str(values.get("comment", ""))
    item = _item(sim, thread)
    del item["timestamp"]
    item["messaging_feedback"] = surveys.answer(sent.body, str(values.get("score", "5")), comment)
    sim.emit(thread.account, "messaging_feedback", item)


def _raw(sim: Simulator, thread: Thread, values: Json) -> None:
    """An arbitrary event, for events that have no kind here."""
    item = _item(sim, thread) | dict(values.get("item", {}))
    sim.emit(thread.account, str(values.get("field", "messages")), item)


OTHERS: dict[str, Callable[[Simulator, Thread, Json], None]] = {
    "postback": _postback,
    "referral": _referral,
    "reaction": _reaction,
    "unreact": _unreact,
    "edit": _edit,
    "unsend": _unsend,
    "read": _read,
    "delivered": _delivered,
    "agent_wrote": _agent_wrote,
    "survey": _survey,
    "raw": _raw,
}


def found(thread: Thread, values: Json, *, by_customer: bool) -> Message:
    """The message with the `message_id` in `values`. Without an id, the latest message from the
    customer if `by_customer`, else the latest message to the customer."""
    wanted: Any = values.get("message_id")
    for message in reversed(thread.messages):
        if message.id == wanted or (not wanted and message.by_customer is by_customer):
            return message
    raise BadAction(f"no such message: {wanted or 'there is none'}")
