"""The actions of chatapp's customers, and events from the provider itself."""

import json
from collections.abc import Callable

from simulator import chatapp, chatapp_send, sample_files
from simulator.messenger_inbound import BadAction, found
from simulator.state import Simulator
from simulator.world import DAY, Json, Message, Thread


def act(sim: Simulator, thread: Thread, kind: str, values: Json) -> Message | None:
    if kind in MESSAGES:
        body = MESSAGES[kind](sim, thread, values)
        return _write(sim, thread, body, values)
    if kind not in OTHERS:
        known = ", ".join(sorted([*MESSAGES, *OTHERS]))
        raise BadAction(f"unknown kind {kind!r}; known: {known}")
    OTHERS[kind](sim, thread, values)
    return None


def _write(sim: Simulator, thread: Thread, body: Json, values: Json) -> Message | None:
    now = sim.world.now
    message_id = values.get("id") or sim.world.message_id(thread.account, thread.user_id)
    row: Json = {"id": message_id, "timestamp": str(int(now)), **_sender(sim, thread), **body}
    if values.get("reply_to"):
        row["context"] = {"from": thread.account.username, "id": values["reply_to"]}
    if values.get("forwarded"):
        row["context"] = {"forwarded": True}
    if values.get("ad_id"):
        row["referral"] = {
            "source_url": "https://shop.example/ad", "source_id": str(values["ad_id"]),
            "source_type": "ad", "headline": "Summer",
        }  # fmt: skip
    message = None
    if body["type"] not in {"reaction", "edit", "revoke", "system"}:
        message = Message(message_id, True, now, _words(body), body)
        thread.messages.append(message)
    thread.customer_wrote_at = now
    value = {**chatapp_send.envelope(thread.account), "contacts": [_contact(sim, thread)]}
    sim.emit(thread.account, "messages", {**value, "messages": [row]})
    return message


def _sender(sim: Simulator, thread: Thread) -> Json:
    sender = {"from_user_id": sim.world.business_user_id(thread.account, thread.customer)}
    if not thread.customer.hides_number:
        sender["from"] = thread.customer.phone
    return sender


def _contact(sim: Simulator, thread: Thread) -> Json:
    customer = thread.customer
    contact: Json = {
        "profile": {"name": customer.name, "username": customer.key},
        "user_id": sim.world.business_user_id(thread.account, customer),
    }
    if not customer.hides_number:
        contact["wa_id"] = customer.phone
    return contact


def _words(body: Json) -> str:
    inside = body.get(body["type"])
    if not isinstance(inside, dict):
        return ""
    if body["type"] == "interactive":
        inside = inside[inside["type"]]
    words = inside.get("body") or inside.get("caption") or inside.get("title") or inside.get("text")
    return str(words or "")


# Messages: their type and content


def _text(sim: Simulator, thread: Thread, values: Json) -> Json:
    return {"type": "text", "text": {"body": str(values.get("text", "hello"))}}


def _media(kind: str) -> Callable[[Simulator, Thread, Json], Json]:
    def body(sim: Simulator, thread: Thread, values: Json) -> Json:
        file = None
        if values.get("file_id"):
            file = sim.world.files.get(str(values["file_id"]))
        if file is None:
            data, mime = sample_files.sample(kind)
            name = str(values.get("filename", f"{kind}.pdf"))
            file = sim.world.store(data, mime, name=name, lifetime=chatapp.INBOUND_DAYS * DAY)
        inside: Json = {"id": file.id, "mime_type": file.mime, "sha256": file.sha256}
        if kind in {"image", "video", "document"} and values.get("text"):
            inside["caption"] = str(values["text"])
        if kind == "audio":
            inside |= {"mime_type": "audio/ogg; codecs=opus", "voice": True}
        if kind == "document":
            inside["filename"] = file.name
        if kind == "sticker":
            inside["animated"] = False
        return {"type": kind, kind: inside}

    return body


def _location(sim: Simulator, thread: Thread, values: Json) -> Json:
    place: Json = {"latitude": values.get("lat", 10.77), "longitude": values.get("long", 106.7)}
    if values.get("name"):
        place |= {"name": values["name"], "address": "1 Main Street"}
    return {"type": "location", "location": place}


def _contacts(sim: Simulator, thread: Thread, values: Json) -> Json:
    phone = {"phone": "+84 90 999 9999", "wa_id": "84909999999", "type": "CELL"}
    name = {"formatted_name": str(values.get("name", "Lan Pham")), "first_name": "Lan"}
    return {"type": "contacts", "contacts": [{"name": name, "phones": [phone]}]}


def _button(sim: Simulator, thread: Thread, values: Json) -> Json:
    reply = {"id": str(values.get("payload", "Y")), "title": str(values.get("title", "Yes"))}
    return _interactive(thread, {"type": "button_reply", "button_reply": reply}, values)


def _list_row(sim: Simulator, thread: Thread, values: Json) -> Json:
    row = {"id": str(values.get("payload", "R1")), "title": str(values.get("title", "Row"))}
    return _interactive(thread, {"type": "list_reply", "list_reply": row}, values)


def _form(sim: Simulator, thread: Thread, values: Json) -> Json:
    answers = json.dumps(values.get("answers", {"size": "M"}))
    reply = {"name": "flow", "body": "Sent", "response_json": answers}
    return _interactive(thread, {"type": "nfm_reply", "nfm_reply": reply}, values)


def _interactive(thread: Thread, inside: Json, values: Json) -> Json:
    sent = found(thread, values, by_customer=False)
    context = {"from": thread.account.username, "id": sent.id}
    return {"type": "interactive", "interactive": inside, "context": context}


def _template_button(sim: Simulator, thread: Thread, values: Json) -> Json:
    button = {"payload": str(values.get("payload", "P1")), "text": str(values.get("title", "Yes"))}
    return {"type": "button", "button": button}


def _reaction(sim: Simulator, thread: Thread, values: Json) -> Json:
    message = found(thread, values, by_customer=False)
    message.reaction = str(values.get("emoji", "😮"))
    reaction = {"message_id": message.id, "emoji": message.reaction}
    return {"type": "reaction", "reaction": reaction}


def _unreact(sim: Simulator, thread: Thread, values: Json) -> Json:
    message = found(thread, values, by_customer=False)
    message.reaction = ""
    return {"type": "reaction", "reaction": {"message_id": message.id, "emoji": ""}}


def _edit(sim: Simulator, thread: Thread, values: Json) -> Json:
    message = found(thread, values, by_customer=True)
    message.text = str(values.get("text", "new"))
    inside = {"type": "text", "text": {"body": message.text}}
    return {"type": "edit", "edit": {"original_message_id": message.id, "message": inside}}


def _unsend(sim: Simulator, thread: Thread, values: Json) -> Json:
    message = found(thread, values, by_customer=True)
    message.is_deleted, message.text = True, ""
    return {"type": "revoke", "revoke": {"original_message_id": message.id}}


def _order(sim: Simulator, thread: Thread, values: Json) -> Json:
    item = {"product_retailer_id": "p1", "quantity": 3, "item_price": 30, "currency": "VND"}
    return {"type": "order", "order": {"catalog_id": "c1", "text": "", "product_items": [item]}}


def _system(sim: Simulator, thread: Thread, values: Json) -> Json:
    new_id = str(values.get("wa_id", "84909999998"))
    words = f"{thread.customer.name} changed from {thread.customer.phone} to {new_id}"
    system = {"body": words, "type": "user_changed_number", "wa_id": new_id}
    return {"type": "system", "system": system}


def _unsupported(sim: Simulator, thread: Thread, values: Json) -> Json:
    error = {
        "code": 131051, "title": "Message type unknown", "message": "Message type unknown",
        "error_data": {"details": "Message type is currently not supported."},
    }  # fmt: skip
    return {"type": "unsupported", "errors": [error]}


MESSAGES: dict[str, Callable[[Simulator, Thread, Json], Json]] = {
    "text": _text,
    "image": _media("image"),
    "video": _media("video"),
    "audio": _media("audio"),
    "document": _media("document"),
    "sticker": _media("sticker"),
    "location": _location,
    "contacts": _contacts,
    "button": _button,
    "list": _list_row,
    "form": _form,
    "template_button": _template_button,
    "reaction": _reaction,
    "unreact": _unreact,
    "edit": _edit,
    "unsend": _unsend,
    "order": _order,
    "system": _system,
    "unsupported": _unsupported,
}


# Everything else


def _agent_wrote(sim: Simulator, thread: Thread, values: Json) -> None:
    """An agent replies in the phone app. Only numbers used in both the app and the API have such
    echoes."""
    number, now = thread.account, sim.world.now
    text = str(values.get("text", "An agent writes elsewhere"))
    message_id = sim.world.message_id(number, thread.user_id)
    thread.messages.append(Message(message_id, False, now, text, {"text": {"body": text}}))
    echo = {
        "from": number.username, "to": thread.user_id, "id": message_id,
        "timestamp": str(int(now)), "type": "text", "text": {"body": text},
    }  # fmt: skip
    value = {**chatapp_send.envelope(number), "message_echoes": [echo]}
    sim.emit(number, "smb_message_echoes", value)


def _template_status(sim: Simulator, thread: Thread, values: Json) -> None:
    """The provider approves or rejects a template."""
    waba = sim.world.accounts[thread.account.parent]
    rows = sim.world.templates_of(waba.id)
    row = next((item for item in rows if item["name"] == values.get("name")), None)
    if row is None:
        raise BadAction("no such template")
    row["status"] = str(values.get("status", "APPROVED"))
    value = {
        "event": row["status"], "message_template_id": int(row["id"]),
        "message_template_name": row["name"], "message_template_language": row["language"],
        "reason": str(values.get("reason", "NONE")),
    }  # fmt: skip
    sim.emit(waba, "message_template_status_update", value)


def _account_notice(sim: Simulator, thread: Thread, values: Json) -> None:
    """The provider reports a notice about the business account, in a change with this `field`."""
    waba = sim.world.accounts[thread.account.parent]
    sim.emit(waba, str(values.get("field", "")), dict(values.get("value", {})))


def _account_update(sim: Simulator, thread: Thread, values: Json) -> None:
    waba = sim.world.accounts[thread.account.parent]
    value = {"event": str(values.get("event", "ACCOUNT_RESTRICTION"))}
    value["phone_number"] = thread.account.username
    sim.emit(waba, "account_update", value)


def _raw(sim: Simulator, thread: Thread, values: Json) -> None:
    value = {**chatapp_send.envelope(thread.account), **dict(values.get("item", {}))}
    sim.emit(thread.account, str(values.get("field", "messages")), value)


OTHERS: dict[str, Callable[[Simulator, Thread, Json], None]] = {
    "agent_wrote": _agent_wrote,
    "template_status": _template_status,
    "account_update": _account_update,
    "account_notice": _account_notice,
    "raw": _raw,
}
