"""Sends of socialnet and photoapp: refusals, responses, and the events that follow."""

from typing import Any

from simulator import surveys
from simulator.call_subject import photo_side
from simulator.http import Fetched, Request, Response, graph_error, ok
from simulator.state import Simulator
from simulator.world import DAY, Account, Json, Message, Thread, Token

INBOX_APP_ID = "26390203743090"  # the provider's own inbox, where agents may write, too
TEXT_CHARACTERS = 2000
TEXT_BYTES = 1000
MEGABYTE = 1_000_000
# By kind: the maximum size of a file in bytes, and for photoapp the accepted MIME types.
SIZES = {
    "image": 8 * MEGABYTE,
    "audio": 25 * MEGABYTE,
    "video": 25 * MEGABYTE,
    "file": 25 * MEGABYTE,
}
PHOTO_TYPES = {
    "image": {"image/png", "image/jpeg", "image/gif"},
    "audio": {"audio/aac", "audio/mp4", "audio/m4a", "audio/x-m4a", "audio/wav", "audio/x-wav"},
    "video": {"video/mp4", "video/ogg", "video/x-msvideo", "video/quicktime", "video/webm"},
    "file": {"application/pdf"},
}
_ACTIONS = {"typing_on", "typing_off", "mark_seen"}


def send(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    if account.kind == "page":
        account = photo_side(sim.world, request, account)
    body = request.params
    _check_sender(token, account)
    thread = _recipient(sim, account, body)
    if "sender_action" in body:
        return _action(sim, thread, body)
    message = body.get("message")
    if not isinstance(message, dict) or not message:
        raise graph_error(100, "Param message is required")
    _check_window(sim, thread, body, message)
    attachment_id = _check_message(sim, request, account, message)
    sent = _store(sim, token, thread, message)
    _follow(sim, token, thread, sent)
    answer = {"recipient_id": thread.user_id, "message_id": sent.id}
    return ok(answer | ({"attachment_id": attachment_id} if attachment_id else {}))


def _check_sender(token: Token, account: Account) -> None:
    if account.kind == "photo":
        scopes = {"instagram_manage_messages", "instagram_business_manage_messages"}
    else:
        scopes = {"pages_messaging"}
    if not token.scopes & scopes:
        raise graph_error(10, "Application does not have permission for this action")
    if token.subject not in {account.id, account.parent}:
        raise graph_error(190, "A page access token is required", 467)


def _recipient(sim: Simulator, account: Account, body: Json) -> Thread:
    recipient = body.get("recipient")
    user_id = str(recipient.get("id", "")) if isinstance(recipient, dict) else ""
    if not user_id:
        raise graph_error(100, "Param recipient must be an object with an id")
    thread = sim.world.known_thread(account, user_id)
    if thread is None:
        subcode = 2534014 if account.kind == "photo" else 2018001
        raise graph_error(100, "No matching user found", subcode)
    if thread.is_gone:
        raise graph_error(551, "This person isn't available right now.", 1545041)
    return thread


def _action(sim: Simulator, thread: Thread, body: Json) -> Response:
    if "message" in body:
        raise graph_error(100, "A sender action must be sent alone")
    action = str(body["sender_action"])
    if action not in _ACTIONS:
        raise graph_error(100, "Param sender_action is not known")
    thread.typing = action == "typing_on"
    if action == "mark_seen":
        for message in thread.messages:
            if message.by_customer:
                message.read_at = sim.world.now
    return ok({"recipient_id": thread.user_id})


def _check_window(sim: Simulator, thread: Thread, body: Json, message: Json) -> None:
    account, kind = thread.account, str(body.get("messaging_type", ""))
    if kind not in {"", "RESPONSE", "UPDATE", "MESSAGE_TAG"}:
        raise graph_error(100, "Param messaging_type is not known")
    if not kind and account.kind == "page":
        raise graph_error(100, "Param messaging_type is required")
    tag = str(body.get("tag", ""))
    is_survey = surveys.is_survey(message)
    if kind == "MESSAGE_TAG":
        if tag not in {"HUMAN_AGENT", "CUSTOMER_FEEDBACK"}:
            raise graph_error(100, f"The message tag {tag or '(none)'} is not supported")
        if (tag == "CUSTOMER_FEEDBACK") != is_survey:
            raise graph_error(100, "CUSTOMER_FEEDBACK goes with a customer feedback template")
    allowed = 7 * DAY if kind == "MESSAGE_TAG" else DAY
    if thread.seconds_since_customer(sim.world.now) > allowed:
        subcode = 2534022 if account.kind == "photo" else 2018278
        raise graph_error(10, "This message is sent outside of allowed window.", subcode)


def _check_message(sim: Simulator, request: Request, account: Account, message: Json) -> str:
    """Refuse what the provider would refuse. Returns the id of a file that the message sends and
    that can be reused; empty if there is none."""
    text, attachments = message.get("text"), _attachments(message)
    if text is None and not attachments:
        raise graph_error(100, "Param message must have a text or an attachment")
    if text is not None:
        _check_text(account, text)
    if len(str(message.get("metadata", ""))) > 1000:
        raise graph_error(100, "Param message[metadata] must be shorter than 1000 characters")
    _check_quick_replies(message)
    ids = [_check_attachment(sim, request, account, attachment) for attachment in attachments]
    return next(filter(None, ids), "")


def _attachments(message: Json) -> list[Json]:
    several = message.get("attachments")
    found = several if isinstance(several, list) else [message.get("attachment")]
    return [item for item in found if isinstance(item, dict)]


def _check_text(account: Account, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise graph_error(100, "Param message[text] must be a text")
    if account.kind == "photo" and len(text.encode()) > TEXT_BYTES:
        raise graph_error(100, f"Length of param message[text] must be at most {TEXT_BYTES} bytes")
    if len(text) > TEXT_CHARACTERS:
        raise graph_error(
            100, f"Length of param message[text] must be less than or equal to {TEXT_CHARACTERS}"
        )


def _check_quick_replies(message: Json) -> None:
    replies = message.get("quick_replies", [])
    if not isinstance(replies, list) or len(replies) > 13:
        raise graph_error(100, "At most 13 quick replies")
    for reply in replies:
        kind = reply.get("content_type") if isinstance(reply, dict) else None
        if kind not in {"text", "user_phone_number", "user_email"}:
            raise graph_error(100, "Param quick_replies[content_type] is not known")
        title, payload = str(reply.get("title", "")), str(reply.get("payload", ""))
        if kind == "text" and not (0 < len(title) <= 20 and 0 < len(payload) <= 1000):
            raise graph_error(100, "A quick reply has a title of 1-20 and a payload of 1-1000")


def _check_attachment(sim: Simulator, request: Request, account: Account, attachment: Json) -> str:
    kind, payload = str(attachment.get("type")), attachment.get("payload")
    if not isinstance(payload, dict):
        raise graph_error(100, "Param attachment[payload] is required")
    if kind == "template":
        _check_template(account, payload)
        return ""
    if kind not in SIZES:
        raise graph_error(100, f"Param attachment[type] must be one of {', '.join(SIZES)}")
    if "attachment_id" in payload:
        stored = sim.world.files.get(str(payload["attachment_id"]))
        if stored is None or stored.expires_at < sim.world.now:
            raise graph_error(100, "Invalid attachment id", 2018074)
        return ""
    fetched = request.fetched.get(str(payload.get("url", "")), Fetched(error="no address"))
    if fetched.error:
        raise graph_error(100, f"Failed to fetch the file from the url: {fetched.error}", 2018008)
    _check_file(account, kind, fetched)
    if not payload.get("is_reusable"):
        return ""
    return sim.world.store(fetched.data, fetched.mime, lifetime=90 * DAY).id


def _check_file(account: Account, kind: str, fetched: Fetched) -> None:
    if len(fetched.data) > SIZES.get(kind, 25 * MEGABYTE):
        raise graph_error(100, f"The {kind} is larger than allowed", 2018047)
    family = fetched.mime.partition("/")[0]
    fits = kind == "file" or family == kind
    if account.kind == "photo":
        fits = fetched.mime in PHOTO_TYPES.get(kind, set())
    if not fits:
        raise graph_error(100, f"Upload attachment failure: no {kind}: {fetched.mime}", 2018047)


def _check_template(account: Account, payload: Json) -> None:
    if payload.get("template_type") != "customer_feedback" or account.kind == "photo":
        raise graph_error(100, "This template is not supported")


def _store(sim: Simulator, token: Token, thread: Thread, message: Json) -> Message:
    sent = Message(
        sim.world.message_id(thread.account), False, sim.world.now, str(message.get("text", "")),
        message, token.app_id, str(message.get("metadata", "")),
    )  # fmt: skip
    thread.messages.append(sent)
    thread.typing = False
    return sent


def _follow(sim: Simulator, token: Token, thread: Thread, sent: Message) -> None:
    """Send the echo and the receipts after the configured delays."""
    behaviour = sim.behaviour
    echo(sim, thread, sent, behaviour.echo)
    if thread.account.kind == "page":
        delivered(sim, thread, sent, behaviour.delivered)
    if behaviour.read is not None:
        read(sim, thread, sent, behaviour.read)


def echo(sim: Simulator, thread: Thread, sent: Message, delay: float | None) -> None:
    inside: Json = {"mid": sent.id, "is_echo": True}
    if thread.account.kind == "page":
        inside["app_id"] = int(sent.app_id)
        if sent.metadata:
            inside["metadata"] = sent.metadata
    if sent.text:
        inside["text"] = sent.text
    if attachments := _attachments(sent.body):
        inside["attachments"] = [
            {"type": attachment.get("type"), "payload": attachment.get("payload")}
            for attachment in attachments
        ]
    item = _from_account(sim, thread) | {"message": inside}
    field = "messages" if thread.account.kind == "photo" else "message_echoes"
    sim.emit(thread.account, field, item, delay)


def delivered(sim: Simulator, thread: Thread, sent: Message, delay: float | None) -> None:
    watermark = int((sent.at + (delay or 0)) * 1000)
    item = _to_account(sim, thread) | {"delivery": {"mids": [sent.id], "watermark": watermark}}
    del item["timestamp"]
    if sim.emit(thread.account, "message_deliveries", item, delay):
        sent.delivered_at = sim.world.now + (delay or 0)


def read(sim: Simulator, thread: Thread, sent: Message, delay: float) -> None:
    """Report that the customer has read all messages up to this one."""
    item = _to_account(sim, thread, delay)
    if thread.account.kind == "photo":
        item["read"] = {"mid": sent.id}
        sim.emit(thread.account, "messaging_seen", item, delay)
    else:
        item["read"] = {"watermark": int((sim.world.now + delay) * 1000)}
        sim.emit(thread.account, "message_reads", item, delay)
    for message in thread.messages:
        if not message.by_customer and message.at <= sent.at and message.read_at is None:
            message.read_at = sim.world.now + delay


def _from_account(sim: Simulator, thread: Thread) -> Json:
    return {
        "sender": {"id": thread.account.id},
        "recipient": {"id": thread.user_id},
        "timestamp": int(sim.world.now * 1000),
    }


def _to_account(sim: Simulator, thread: Thread, delay: float = 0) -> Json:
    return {
        "sender": {"id": thread.user_id},
        "recipient": {"id": thread.account.id},
        "timestamp": int((sim.world.now + delay) * 1000),
    }


def upload(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    """`/message_attachments`: store a file, which can then be sent by its id for 90 days."""
    if request.text("platform") == "instagram":
        account = sim.world.photo_of(account.id) or account
    _check_sender(token, account)
    attachment = request.params.get("message", {}).get("attachment", {})
    file = next(iter(request.files.values()), None)
    if file is None:
        raise graph_error(100, "Param filedata is required")
    _check_file(account, str(attachment.get("type")), Fetched(file.data, file.mime))
    return ok({"attachment_id": sim.world.store(file.data, file.mime, lifetime=90 * DAY).id})
