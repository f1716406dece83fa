"""The API of localapp: the account, customers, uploads and sends."""

import json
from collections.abc import Callable
from typing import Any

from simulator.http import (
    Fetched,
    Request,
    Response,
    localapp_error,
    ok,
)
from simulator.state import Simulator
from simulator.world import DAY, Account, Json, Message, Thread, Token

Route = Callable[[Simulator, Request, Token, Account], Response]
TEXT_CHARACTERS = 2000
MEGABYTE = 1_000_000
# By kind of upload: the maximum size in bytes, and the accepted MIME types.
UPLOADS: dict[str, tuple[int, set[str]]] = {
    "image": (MEGABYTE, {"image/jpeg", "image/png"}),
    "gif": (5 * MEGABYTE, {"image/gif"}),
    "file": (
        5 * MEGABYTE,
        {
            "application/pdf",
            "application/msword",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        },
    ),
}
UPLOAD_DAYS = 7
_BUTTONS = {
    "oa.query.show", "oa.query.hide", "oa.open.url", "oa.open.phone", "oa.open.sms",
}  # fmt: skip


def handle(sim: Simulator, request: Request) -> Response:
    route = _ROUTES.get((request.method, request.path.rstrip("/")))
    if route is None:
        raise localapp_error(-212, "The API is not registered")
    token = _live(sim, request.headers.get("access_token", ""))
    return route(sim, request, token, sim.world.accounts[token.subject])


def _live(sim: Simulator, value: str) -> Token:
    token = sim.world.tokens.get(value)
    if token is None or token.kind != "access":
        raise localapp_error(-216, "Access token is invalid")
    if token.expires_at is not None and token.expires_at <= sim.world.now:
        token.dead = token.dead or "expired"
    if token.dead == "expired":
        raise localapp_error(-220, "Access token is expired or removed")
    if token.dead:
        raise localapp_error(-216, "Access token is invalid")
    return token


def _answer(data: Any) -> Response:
    return ok({"error": 0, "message": "Success", "data": data})


def _data(request: Request) -> Json:
    """The `data` parameter of a GET, which is JSON in the query."""
    value: Json = json.loads(request.query["data"])
    return value


def _account(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    picture = sim.media_url("sample-png", "avatar.png")
    return _answer({"oa_id": account.id, "name": account.name, "avatar": picture})


def _customer(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    thread = sim.world.known_thread(account, str(_data(request).get("user_id", "")))
    if thread is None:
        raise localapp_error(-201, "user_id is invalid")
    return _answer({
        "user_id": thread.user_id, "display_name": thread.customer.name,
        "avatar": sim.media_url("sample-png", "avatar.png"), "shared_info": {},
    })  # fmt: skip


# Sends


def _upload(kind: str) -> Route:
    limit, types = UPLOADS[kind]

    def upload(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
        file = request.files.get("file")
        if file is None or "." not in file.name:
            raise localapp_error(-201, "file with a name and an extension is required")
        if len(file.data) > limit:
            raise localapp_error(-210, f"file is larger than {limit} bytes")
        if file.mime not in types:
            raise localapp_error(-201, f"file type {file.mime} is not supported")
        stored = sim.world.store(file.data, file.mime, name=file.name, lifetime=UPLOAD_DAYS * DAY)
        key = "token" if kind == "file" else "attachment_id"
        return _answer({key: stored.id})

    return upload


def _send(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    body = request.params
    message, recipient = body.get("message"), body.get("recipient")
    if not isinstance(message, dict) or not isinstance(recipient, dict):
        raise localapp_error(-201, "recipient and message are required")
    thread = sim.world.known_thread(account, str(recipient.get("user_id", "")))
    if thread is None:
        raise localapp_error(-201, "user_id is invalid")
    if thread.is_gone:
        raise localapp_error(-213, "User has not followed the Official Account")
    if thread.seconds_since_customer(sim.world.now) > 7 * DAY:
        raise localapp_error(-230, "User has not interacted with the OA in the past 7 days")
    _check(sim, request, message)
    sent = Message(
        sim.world.message_id(account), False, sim.world.now, str(message.get("text", "")),
        message, token.app_id,
    )  # fmt: skip
    thread.messages.append(sent)
    _follow(sim, thread, sent)
    return _answer({
        "message_id": sent.id, "user_id": thread.user_id, "sent_time": str(int(sent.at * 1000)),
        "quota": {"quota_type": "reply", "remain": "8", "total": "8"},
    })  # fmt: skip


def _check(sim: Simulator, request: Request, message: Json) -> None:
    text, attachment = message.get("text"), message.get("attachment")
    if text is None and attachment is None:
        raise localapp_error(-201, "message is empty")
    if text is not None and (not isinstance(text, str) or not text.strip()):
        raise localapp_error(-201, "text is empty")
    if text is not None and len(text) > TEXT_CHARACTERS:
        raise localapp_error(-210, f"text is longer than {TEXT_CHARACTERS} characters")
    if attachment is None:
        return
    payload = attachment.get("payload") if isinstance(attachment, dict) else None
    if not isinstance(payload, dict):
        raise localapp_error(-201, "attachment has no payload")
    if attachment.get("type") == "file":
        _check_stored(sim, payload.get("token") or payload.get("attachment_id"))
    elif attachment.get("type") == "template":
        _check_template(sim, request, payload)
    else:
        raise localapp_error(-233, "The attachment type is not supported")


def _check_stored(sim: Simulator, file_id: Any) -> None:
    stored = sim.world.files.get(str(file_id))
    if stored is None:
        raise localapp_error(-201, "attachment id is invalid")
    if stored.expires_at < sim.world.now:
        raise localapp_error(-100, "attachment id is expired")


def _check_template(sim: Simulator, request: Request, payload: Json) -> None:
    if "buttons" in payload:
        _check_buttons(payload["buttons"])
        return
    elements = payload.get("elements")
    if payload.get("template_type") != "media":
        raise localapp_error(-233, "template_type is not supported")
    if not isinstance(elements, list) or len(elements) != 1 or not isinstance(elements[0], dict):
        raise localapp_error(-201, "elements holds exactly one element")
    element = elements[0]
    if element.get("media_type") not in {"image", "gif"}:
        raise localapp_error(-233, "media_type is not supported")
    if "attachment_id" in element:
        _check_stored(sim, element["attachment_id"])
        return
    fetched = request.fetched.get(str(element.get("url", "")), Fetched(error="no url"))
    if fetched.error:
        raise localapp_error(-201, f"url cannot be fetched: {fetched.error}")
    if fetched.mime not in {"image/jpeg", "image/png", "image/gif"}:
        raise localapp_error(-201, f"url is no image: {fetched.mime}")
    if len(fetched.data) > MEGABYTE:
        raise localapp_error(-210, "image is larger than 1 MB")


def _check_buttons(buttons: Any) -> None:
    if not isinstance(buttons, list) or not 1 <= len(buttons) <= 5:
        raise localapp_error(-210, "there are 1-5 buttons")
    for button in buttons:
        title = button.get("title", "") if isinstance(button, dict) else ""
        if not 0 < len(str(title)) <= 100 or button.get("type") not in _BUTTONS:
            raise localapp_error(-201, "a button has a title of 1-100 characters and a known type")


def _follow(sim: Simulator, thread: Thread, sent: Message) -> None:
    """Send the echo, the delivery receipt and the read receipt, after the configured delays."""
    behaviour, now = sim.behaviour, sim.world.now
    echo(sim, thread, sent, behaviour.echo)
    if behaviour.delivered is not None:
        sent.delivered_at = now + behaviour.delivered
        received(sim, thread, sent, behaviour.delivered)
    if behaviour.read is not None:
        sent.read_at = now + behaviour.read
        seen(sim, thread, [sent], behaviour.read)


def echo(sim: Simulator, thread: Thread, sent: Message, delay: float | None) -> None:
    inside: Json = {"msg_id": sent.id}
    if sent.text:
        inside["text"] = sent.text
    attachment = sent.body.get("attachment")
    name = "oa_send_text"
    if isinstance(attachment, dict):
        payload = attachment.get("payload", {})
        if attachment.get("type") == "file":
            name, kind = "oa_send_file", "file"
        elif "buttons" in payload:
            name, kind = "oa_send_list", "links"
        else:
            kind = payload.get("elements", [{}])[0].get("media_type", "image")
            name = f"oa_send_{kind}"
        url = payload.get("elements", [{}])[0].get("url") or sim.media_url("sample-png", "sent.png")
        if kind != "links":
            inside["attachments"] = [{"type": kind, "payload": {"url": url, "thumbnail": url}}]
    emit(sim, thread, name, inside, (delay, True))


def received(sim: Simulator, thread: Thread, sent: Message, delay: float) -> None:
    emit(sim, thread, "user_received_message", {"msg_id": sent.id}, (delay, True))


def seen(sim: Simulator, thread: Thread, messages: list[Message], delay: float) -> None:
    ids = [message.id for message in messages]
    emit(sim, thread, "user_seen_message", {"msg_ids": ids}, (delay, True))


def emit(
    sim: Simulator, thread: Thread, name: str, message: Json, when: tuple[float | None, bool]
) -> None:
    """Send an event about a message; `when` is its delay, and whether the account is the sender."""
    delay, is_from_account = when
    account_id, user_id = thread.account.id, thread.user_id
    sender, receiver = (account_id, user_id) if is_from_account else (user_id, account_id)
    for app_id in thread.account.subscriptions:
        item = {
            "app_id": app_id,
            "user_id_by_app": sim.world.user_id_by_app(app_id, thread.customer),
            "event_name": name,
            "timestamp": str(int((sim.world.now + (delay or 0)) * 1000)),
            "sender": {"id": sender},
            "recipient": {"id": receiver},
            "message": message,
        }
        sim.emit(thread.account, name, item, delay, app_id=app_id)
    if not thread.account.subscriptions:
        sim.emit(thread.account, name, {}, delay)


_ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/v2.0/oa/getoa"): _account,
    ("GET", "/v3.0/oa/user/detail"): _customer,
    ("POST", "/v2.0/oa/upload/image"): _upload("image"),
    ("POST", "/v2.0/oa/upload/gif"): _upload("gif"),
    ("POST", "/v2.0/oa/upload/file"): _upload("file"),
    ("POST", "/v3.0/oa/message/cs"): _send,
}
