"""Sends of chatapp: refusals, at once or later, and the statuses that follow a send."""

import json
from typing import Any

from simulator import chatapp
from simulator.http import Fetched, ProviderError, Request, Response, graph_error, ok
from simulator.state import Simulator
from simulator.world import DAY, Account, Json, Message, Thread, Token

TEXT_CHARACTERS = 4096
MEDIA = ("image", "video", "audio", "document", "sticker")


def send(sim: Simulator, request: Request, token: Token, number: Account) -> Response:
    body = request.params
    if not token.scopes & {"whatsapp_business_messaging"}:
        raise graph_error(10, "Application does not have permission for this action")
    if body.get("messaging_product") != "whatsapp":
        raise graph_error(100, "The parameter messaging_product is required.")
    if not number.is_registered:
        raise graph_error(133010, "Account not registered", details="Register the number first")
    if body.get("status") == "read":
        return _mark_read(sim, number, body)
    user_id = str(body.get("to") or body.get("recipient") or "").removeprefix("+")
    if not user_id:
        raise graph_error(131008, "Required parameter is missing", details="to")
    if user_id == number.username:
        raise graph_error(131021, "Recipient cannot be sender")
    _check(sim, request, number, body)
    thread = sim.world.known_thread(number, user_id)
    code = _problem(sim, thread, body)
    if code and not sim.behaviour.fails_later:
        raise _refused(code)
    if thread is None:
        return _to_nobody(sim, number, user_id, body)
    sent = _store(sim, token, thread, body)
    _follow(sim, thread, sent, request.fails_later or code)
    return ok(_answer(sim, thread.account, user_id, thread, sent.id))


def _mark_read(sim: Simulator, number: Account, body: Json) -> Response:
    message_id = str(body.get("message_id", ""))
    indicator = body.get("typing_indicator")
    if indicator is not None and indicator != {"type": "text"}:
        raise graph_error(131009, "Parameter value is not valid", details="typing_indicator")
    for thread in sim.world.threads_of(number):
        message = thread.message(message_id)
        if message is not None and message.by_customer:
            message.read_at = sim.world.now
            thread.typing = indicator is not None
            return ok({"success": True})
    raise graph_error(131009, "Parameter value is not valid", details="message_id")


def _problem(sim: Simulator, thread: Thread | None, body: Json) -> int:
    """The error code of a message that cannot be delivered; 0 if it can be."""
    if thread is None or thread.is_gone:
        return 131026
    is_late = thread.seconds_since_customer(sim.world.now) > DAY
    return 131047 if is_late and body.get("type") != "template" else 0


_TITLES = {
    131026: "Message undeliverable",
    131047: "Re-engagement message",
}


def _refused(code: int) -> ProviderError:
    return graph_error(code, _TITLES[code], details=_TITLES[code])


def _to_nobody(sim: Simulator, number: Account, user_id: str, body: Json) -> Response:
    """Accept a send to a number that does not use the app, and report later that it failed."""
    message_id = sim.world.message_id(number, user_id)
    sent = Message(message_id, False, sim.world.now, "", body)
    sim.emit(number, "messages", _status(sim, number, user_id, sent, ("failed", 0, 131026)), 0)
    return ok(_answer(sim, number, user_id, None, message_id))


def _answer(
    sim: Simulator, number: Account, user_id: str, thread: Thread | None, message_id: str
) -> Json:
    contact = {"input": user_id, "wa_id": user_id}
    if thread is not None:
        contact["user_id"] = sim.world.business_user_id(number, thread.customer)
        if thread.customer.hides_number:
            contact.pop("wa_id")
        else:
            contact["wa_id"] = thread.customer.phone
    message = {"id": message_id}
    return {"messaging_product": "whatsapp", "contacts": [contact], "messages": [message]}


def _store(sim: Simulator, token: Token, thread: Thread, body: Json) -> Message:
    template = chatapp.template_of(sim, thread.account, _object(body, "template"))
    words = chatapp.shown(template, _object(body, "template")) if template else _words(body)
    sent = Message(
        sim.world.message_id(thread.account, thread.user_id), False, sim.world.now, words,
        body, token.app_id, str(body.get("biz_opaque_callback_data", "")),
    )  # fmt: skip
    thread.messages.append(sent)
    thread.typing = False
    return sent


def _words(body: Json) -> str:
    kind = str(body.get("type", "text"))
    inside = _object(body, kind)
    if kind == "interactive":
        return str(_object(inside, "body").get("text", ""))
    return str(inside.get("body") or inside.get("caption") or inside.get("name") or "")


def _follow(sim: Simulator, thread: Thread, sent: Message, fails_with: int) -> None:
    number, user_id = thread.account, thread.user_id
    behaviour = sim.behaviour
    if fails_with:
        sent.failed_with = fails_with
        status = _status(sim, number, user_id, sent, ("failed", behaviour.sent or 0, fails_with))
        sim.emit(number, "messages", status, behaviour.sent or 0)
        return
    now = sim.world.now
    if behaviour.delivered is not None:
        sent.delivered_at = now + behaviour.delivered
    if behaviour.read is not None:
        sent.read_at = now + behaviour.read
    for name in ("sent", "delivered", "read"):
        delay: float | None = getattr(behaviour, name)
        sim.emit(
            number, "messages", _status(sim, number, user_id, sent, (name, delay or 0, 0)), delay
        )


def _status(
    sim: Simulator, number: Account, user_id: str, sent: Message, what: tuple[str, float, int]
) -> Json:
    name, delay, code = what
    thread = sim.world.known_thread(number, user_id)
    row: Json = {"id": sent.id, "status": name, "timestamp": str(int(sim.world.now + delay))}
    if thread is not None and thread.customer.hides_number:
        row["recipient_user_id"] = user_id
    else:
        row["recipient_id"] = user_id
    if sent.metadata:
        row["biz_opaque_callback_data"] = sent.metadata
    if name in {"sent", "delivered"}:
        expires_at = str(int(sim.world.now + DAY))
        row["conversation"] = {
            "id": f"c{sent.id[-8:]}", "expiration_timestamp": expires_at,
            "origin": {"type": "service"},
        }  # fmt: skip
        template = chatapp.template_of(sim, number, _object(sent.body, "template"))
        category = str(template["category"]).lower() if template else "service"
        row["pricing"] = {
            "billable": True, "pricing_model": "PMP", "category": category, "type": "regular",
        }  # fmt: skip
    if code:
        title = _TITLES.get(code, "Message failed")
        row["errors"] = [{
            "code": code, "title": title, "message": title, "error_data": {"details": title},
            "href": "https://developers.facebook.com/docs/",
        }]  # fmt: skip
    return {**envelope(number), "statuses": [row]}


def envelope(number: Account) -> Json:
    metadata = {"display_phone_number": number.username, "phone_number_id": number.id}
    return {"messaging_product": "whatsapp", "metadata": metadata}


# Rules


def _check(sim: Simulator, request: Request, number: Account, body: Json) -> None:
    kind = str(body.get("type", "text"))
    if kind in MEDIA:
        _check_media(sim, request, kind, _object(body, kind))
    elif kind == "text":
        text = _object(body, "text").get("body")
        if not isinstance(text, str) or not text.strip() or len(text) > TEXT_CHARACTERS:
            raise graph_error(100, f"Param text['body'] must have 1-{TEXT_CHARACTERS} characters")
    elif kind == "interactive":
        _check_interactive(_object(body, "interactive"))
    elif kind == "template":
        _check_template(sim, request, number, _object(body, "template"))
    elif kind == "location":
        location = _object(body, "location")
        if not all(isinstance(location.get(name), int | float | str) for name in _PLACE):
            raise graph_error(131008, "Required parameter is missing", details="location")
    else:
        raise graph_error(131051, "Unsupported message type")
    if len(str(body.get("biz_opaque_callback_data", ""))) > 512:
        raise graph_error(131009, "Parameter value is not valid", details="at most 512 characters")


_PLACE = ("latitude", "longitude")


def _object(body: Json, name: str) -> Json:
    value: Any = body.get(name)
    return value if isinstance(value, dict) else {}


def _check_media(sim: Simulator, request: Request, kind: str, value: Json) -> None:
    if kind in {"audio", "sticker"} and "caption" in value:
        raise graph_error(100, f"{kind} has no caption")
    if len(str(value.get("caption", ""))) > 1024:
        raise graph_error(100, "A caption has at most 1024 characters")
    if "id" in value:
        stored = sim.world.files.get(str(value["id"]))
        if stored is None or stored.expires_at < sim.world.now:
            raise graph_error(131009, "Parameter value is not valid", details="media id")
        _check_mime(kind, stored.mime)
        return
    fetched = request.fetched.get(str(value.get("link", "")), Fetched(error="no link"))
    if fetched.error:
        raise graph_error(131053, "Media upload error", details=fetched.error)
    _check_mime(kind, fetched.mime)
    chatapp.check_size(fetched.mime, len(fetched.data))


def _check_mime(kind: str, mime: str) -> None:
    family = {"image": "image/", "video": "video/", "audio": "audio/", "sticker": "image/webp"}
    if not mime.startswith(family.get(kind, "")):
        raise graph_error(131053, "Media upload error", details=f"{mime} is no {kind}")
    if kind == "image" and mime not in {"image/jpeg", "image/png"}:
        raise graph_error(131053, "Media upload error", details=f"{mime} is no image here")


def _check_interactive(value: Json) -> None:
    kind, action = value.get("type"), _object(value, "action")
    text = str(_object(value, "body").get("text", ""))
    if not 0 < len(text) <= 1024:
        raise graph_error(100, "interactive['body'] has 1-1024 characters")
    if kind == "button":
        _check_buttons(action.get("buttons"))
    elif kind == "list":
        _check_list(action)
    else:
        raise graph_error(131009, "Parameter value is not valid", details="interactive type")


def _check_buttons(buttons: Any) -> None:
    if not isinstance(buttons, list) or not 1 <= len(buttons) <= 3:
        raise graph_error(131009, "Parameter value is not valid", details="1-3 buttons")
    replies = [_object(button, "reply") for button in buttons if isinstance(button, dict)]
    ids = [str(reply.get("id", "")) for reply in replies]
    titles = [str(reply.get("title", "")) for reply in replies]
    fits = all(0 < len(item) <= 256 for item in ids) and all(0 < len(t) <= 20 for t in titles)
    if not fits or len(set(ids)) < len(buttons) or len(set(titles)) < len(buttons):
        raise graph_error(131009, "Parameter value is not valid", details="ids 1-256, titles 1-20")


def _check_list(action: Json) -> None:
    sections = action.get("sections")
    if not 0 < len(str(action.get("button", ""))) <= 20 or not isinstance(sections, list):
        raise graph_error(131009, "Parameter value is not valid", details="list")
    rows = [row for section in sections for row in section.get("rows", [])]
    if not 1 <= len(rows) <= 10 or len(sections) > 10:
        raise graph_error(131009, "Parameter value is not valid", details="1-10 rows in all")
    for row in rows:
        fits = 0 < len(str(row.get("title", ""))) <= 24 and 0 < len(str(row.get("id", ""))) <= 200
        if not fits or len(str(row.get("description", ""))) > 72:
            raise graph_error(131009, "Parameter value is not valid", details=json.dumps(row))


def _check_template(sim: Simulator, request: Request, number: Account, value: Json) -> None:
    row = chatapp.template_of(sim, number, value)
    if row is None:
        details = f"{value.get('name')} in {_object(value, 'language').get('code')}"
        raise graph_error(132001, "Template does not exist", details=details)
    if row["status"] != "APPROVED":
        code = {"PAUSED": 132015, "DISABLED": 132016}.get(row["status"], 132001)
        raise graph_error(code, f"Template is {row['status'].lower()}")
    _check_buttons_of_template(row, value)
    texts, file_kind = chatapp.template_texts(row), chatapp.header_file(row)
    if file_kind:
        given = chatapp.parameters(value, "header")
        if [item.get("type") for item in given] != [file_kind]:
            raise graph_error(132012, "Parameter format does not match", details="header")
        _check_media(sim, request, file_kind, _object(given[0], file_kind))
    for kind in ("body",) if file_kind else ("header", "body"):
        names, given = chatapp.placeholders(texts.get(kind, "")), chatapp.parameters(value, kind)
        if len(given) != len(names):
            raise graph_error(
                132000, "Number of parameters does not match the expected number of params",
                details=f"{kind}: {len(given)} given, {len(names)} expected",
            )  # fmt: skip
        of_names = [name for name in names if not name.isdecimal()]
        if of_names and [item.get("parameter_name") for item in given] != of_names:
            raise graph_error(132012, "Parameter format does not match", details=kind)


def _check_buttons_of_template(row: Json, value: Json) -> None:
    wanted, given = chatapp.asking_buttons(row), chatapp.button_parameters(value)
    if {place: kind for place, (kind, _) in given.items()} != wanted:
        raise graph_error(132000, "Number of parameters does not match", details="buttons")
    for kind, parameters in given.values():
        words = [item.get("coupon_code" if kind == "copy_code" else "text") for item in parameters]
        if len(words) != 1 or not words[0]:
            raise graph_error(132012, "Parameter format does not match", details="button")
