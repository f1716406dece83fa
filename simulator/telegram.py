"""The API of telegram: the bot, its webhook, sends and files."""

import re
from collections.abc import Callable
from typing import Any

from simulator.call_subject import segments
from simulator.http import Fetched, Request, Response, ok, telegram_error
from simulator.state import Simulator
from simulator.world import Account, Json, Message, Thread

Method = Callable[[Simulator, Request, Account], Any]
# The maximum sizes: of a text and a caption in UTF-16 code units, of an upload and a download in
# bytes.
TEXT, CAPTION, UPLOAD, DOWNLOAD = 4096, 1024, 50_000_000, 20_000_000
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
# By the parameter that has the file: the kind of file as the customers' page shows it.
_FILES = {
    "photo": "image", "animation": "image", "video": "video", "voice": "audio", "audio": "audio",
    "document": "document",
}  # fmt: skip


def handle(sim: Simulator, request: Request) -> Response:
    parts = segments(request.path)
    is_file = parts[:1] == ["file"]
    name = parts[is_file] if len(parts) > is_file else ""
    account = sim.world.bot_of(name.removeprefix("bot"))
    if account is None:
        raise telegram_error(401, "Unauthorized")
    if is_file:
        stored = sim.file(parts[-1])
        if stored is None:
            raise telegram_error(404, "Not Found")
        return Response(stored.data, content_type="application/octet-stream")
    method = _METHODS.get(parts[-1].lower())
    if method is None:
        raise telegram_error(404, "Not Found")
    return ok({"ok": True, "result": method(sim, request, account)})


def user_of(thread: Thread) -> Json:
    first, _, last = thread.customer.name.partition(" ")
    user = {"id": int(thread.user_id), "is_bot": False, "first_name": first, "language_code": "en"}
    return user | ({"last_name": last} if last else {})


def chat_of(thread: Thread) -> Json:
    names = {name: value for name, value in user_of(thread).items() if name.endswith("_name")}
    return {"id": int(thread.user_id), **names, "type": "private"}


def bot_user(account: Account) -> Json:
    return {
        "id": int(account.id), "is_bot": True, "first_name": account.name,
        "username": account.username,
    }  # fmt: skip


def next_id(thread: Thread) -> str:
    """The next message id in a chat: messages are numbered per chat."""
    return str(len(thread.messages) + 1)


def written(thread: Thread, message: Message) -> Json:
    """A message in the format of the API."""
    sender = user_of(thread) if message.by_customer else bot_user(thread.account)
    return {
        "message_id": int(message.id), "from": sender, "chat": chat_of(thread),
        "date": int(message.at), **message.body.get("sent", {}),
    }  # fmt: skip


def _me(sim: Simulator, request: Request, account: Account) -> Any:
    return bot_user(account)


def _set_webhook(sim: Simulator, request: Request, account: Account) -> Any:
    url, secret = request.text("url"), request.text("secret_token")
    # The real provider accepts only https.
    if not url.startswith(("https://", "http://")):
        raise telegram_error(400, "Bad Request: bad webhook: an HTTPS URL must be provided")
    if secret and not _SECRET.fullmatch(secret):
        raise telegram_error(400, "Bad Request: secret token contains unallowed characters")
    account.hook_url, account.hook_secret = url, secret
    return True


def _delete_webhook(sim: Simulator, request: Request, account: Account) -> Any:
    account.hook_url = account.hook_secret = ""
    return True


def _send(name: str) -> Method:
    def send(sim: Simulator, request: Request, account: Account) -> Any:
        thread = _thread(sim, request, account)
        sent = {key: value for key, value in request.params.items() if key != "chat_id"}
        body = _buttons(request)
        words = request.text("caption" if name in _FILES else "text")
        if name == "text" and not words.strip():
            raise telegram_error(400, "Bad Request: message text is empty")
        if len(words.encode("utf-16-le")) // 2 > (CAPTION if name in _FILES else TEXT):
            raise telegram_error(400, "Bad Request: message is too long")
        if name == "location":
            words = f"{float(request.text('latitude'))}, {float(request.text('longitude'))}"
        if name in _FILES:
            stored_id = _stored(sim, request, name)
            body[_FILES[name]] = {"id": stored_id}
            sent[name] = {"file_id": stored_id}
        message = Message(next_id(thread), False, sim.world.now, words, body | {"sent": sent})
        thread.messages.append(message)
        thread.typing = False
        return written(thread, message)

    return send


def _thread(sim: Simulator, request: Request, account: Account) -> Thread:
    thread = sim.world.known_thread(account, request.text("chat_id"))
    if thread is None:
        raise telegram_error(400, "Bad Request: chat not found")
    if thread.is_gone:
        raise telegram_error(403, "Forbidden: bot was blocked by the user")
    return thread


def _buttons(request: Request) -> Json:
    """The buttons of a message, in the format that the customers' page shows."""
    rows = request.params.get("reply_markup", {}).get("inline_keyboard", [])
    buttons = [button for row in rows for button in row]
    for button in buttons:
        if not button.get("text") or not 1 <= len(button["callback_data"].encode()) <= 64:
            raise telegram_error(400, "Bad Request: BUTTON_DATA_INVALID")
    shown = [{"reply": {"id": item["callback_data"], "title": item["text"]}} for item in buttons]
    return {"interactive": {"action": {"buttons": shown}}} if shown else {}


def _stored(sim: Simulator, request: Request, name: str) -> str:
    file = request.files.get(name)
    if file is None:
        address = request.text(name)
        fetched = request.fetched.get(address, Fetched(error="no url"))
        if fetched.error:
            raise telegram_error(400, "Bad Request: failed to get HTTP URL content")
        return sim.world.store(fetched.data, fetched.mime).id
    if len(file.data) > UPLOAD:
        raise telegram_error(413, "Request Entity Too Large")
    return sim.world.store(file.data, file.mime, name=file.name).id


def _typing(sim: Simulator, request: Request, account: Account) -> Any:
    _thread(sim, request, account).typing = True
    return True


def _file(sim: Simulator, request: Request, account: Account) -> Any:
    stored = sim.file(request.text("file_id"))
    if stored is None:
        raise telegram_error(400, "Bad Request: wrong file_id")
    if len(stored.data) > DOWNLOAD:
        raise telegram_error(400, "Bad Request: file is too big")
    return {
        "file_id": stored.id, "file_unique_id": stored.id, "file_size": len(stored.data),
        "file_path": f"documents/{stored.id}",
    }  # fmt: skip


_METHODS: dict[str, Method] = {
    "getme": _me,
    "setwebhook": _set_webhook,
    "deletewebhook": _delete_webhook,
    "sendmessage": _send("text"),
    "sendlocation": _send("location"),
    **{f"send{name}": _send(name) for name in _FILES},
    "sendchataction": _typing,
    "getfile": _file,
}
