"""Reading back: conversations, their messages, one message, a customer's profile."""

from datetime import UTC, datetime

from simulator import graph_reads
from simulator.graph_reads import Fields, need
from simulator.http import Request, Response, graph_error, ok
from simulator.state import Simulator
from simulator.world import Account, Json, Message, Thread, Token

_PHOTO_DETAILS = 20  # of a photoapp thread, only the newest messages have details
_DEFAULT = "id,updated_time"
_DEFAULT_MESSAGE = "id,created_time"


def conversations(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    is_photo = request.text("platform") == "instagram"
    if is_photo and account.kind == "page":
        account = sim.world.photo_of(account.id) or account
    need(token, "pages_messaging", "instagram_manage_messages",
         "instagram_business_manage_messages")  # fmt: skip
    rows = [each for each in sim.world.threads_of(account) if each.messages]
    if user_id := request.text("user_id"):
        rows = [each for each in rows if each.user_id == user_id]
    rows.sort(key=lambda each: (-each.messages[-1].at, each.id))
    fields = graph_reads.wanted(request, _DEFAULT)
    return graph_reads.listed(sim, request, rows, lambda each: _thread(sim, request, each, fields))


def read(sim: Simulator, request: Request, token: Token, node: str, edge: str) -> Response | None:
    """A thread, its messages, a message or a customer; None if `node` is none of them."""
    for thread in list(sim.world.threads.values()):
        if not {thread.account.id, thread.account.parent} & {token.subject, *token.targets}:
            continue
        if node == thread.id:
            return _read_thread(sim, request, thread, edge)
        if node == thread.user_id and thread.account.kind != "number":
            return ok(_profile(sim, request, thread))
        message = thread.message(node)
        if message is not None:
            return _read_message(request, thread, message)
    return None


def _read_thread(sim: Simulator, request: Request, thread: Thread, edge: str) -> Response:
    if edge == "messages":
        fields = graph_reads.wanted(request, _DEFAULT_MESSAGE)
        newest = thread.messages[::-1]
        return graph_reads.listed(sim, request, newest, lambda each: _message(thread, each, fields))
    if edge:
        raise graph_error(2500, f"Unknown path components: /{edge}")
    return ok(_thread(sim, request, thread, graph_reads.wanted(request, _DEFAULT)))


def _read_message(request: Request, thread: Thread, message: Message) -> Response:
    is_old = message not in thread.messages[-_PHOTO_DETAILS:]
    if message.is_deleted or (thread.account.kind == "photo" and is_old):
        raise graph_error(100, "The message was deleted or is not available", 33)
    return ok(_message(thread, message, graph_reads.wanted(request, _DEFAULT_MESSAGE)))


def _thread(sim: Simulator, request: Request, thread: Thread, fields: Fields) -> Json:
    latest = thread.messages[-1]
    people = [_customer(thread), _business(thread.account)]
    answer = graph_reads.pick(
        {
            "id": thread.id,
            "updated_time": _time(latest.at),
            "snippet": latest.text,
            "unread_count": sum(m.by_customer and m.read_at is None for m in thread.messages),
            "message_count": len(thread.messages),
            "can_reply": thread.seconds_since_customer(sim.world.now) <= 86_400,
            "participants": {"data": people},
            "senders": {"data": people},
        },
        fields,
    )
    if "messages" in fields:
        wanted = fields["messages"]
        inner = wanted.fields or graph_reads.parse_fields(_DEFAULT_MESSAGE)
        answer["messages"] = graph_reads.page(
            sim, request, thread.messages[::-1], lambda each: _message(thread, each, inner),
            (f"{thread.id}/messages", graph_reads.Field(wanted.limit, inner)),
        )  # fmt: skip
    return answer


def _message(thread: Thread, message: Message, fields: Fields) -> Json:
    customer, business = _customer(thread), _business(thread.account)
    sender, receiver = (customer, business) if message.by_customer else (business, customer)
    values: Json = {
        "id": message.id,
        "created_time": _time(message.at),
        "from": sender,
        "to": {"data": [receiver]},
        "message": message.text,
    }
    attachments = message.body.get("attachments")
    if isinstance(attachments, list):
        values["attachments"] = {"data": [_attachment(each) for each in attachments]}
    if "reply_to" in message.body:
        values["reply_to"] = message.body["reply_to"]
    return graph_reads.pick(values, fields)


def _attachment(attachment: Json) -> Json:
    payload = attachment.get("payload")
    url = payload.get("url", "") if isinstance(payload, dict) else ""
    if attachment.get("type") == "image":
        return {
            "id": "1", "mime_type": "image/jpeg", "name": "image", "size": 1000,
            "image_data": {"url": url, "preview_url": url, "width": 96, "height": 64},
        }  # fmt: skip
    return {"id": "1", "mime_type": "application/octet-stream", "name": "file", "file_url": url}


def _customer(thread: Thread) -> Json:
    if thread.account.kind == "photo":
        return {"id": thread.user_id, "username": thread.customer.key}
    email = f"{thread.user_id}@facebook.com"
    return {"id": thread.user_id, "name": thread.customer.name, "email": email}


def _business(account: Account) -> Json:
    if account.kind == "photo":
        return {"id": account.id, "username": account.username}
    return {"id": account.id, "name": account.name, "email": f"{account.id}@facebook.com"}


def _profile(sim: Simulator, request: Request, thread: Thread) -> Json:
    if thread.customer_wrote_at is None:
        raise graph_error(230, "User consent is required to access user profile")
    first, _, last = thread.customer.name.partition(" ")
    values = {
        "id": thread.user_id,
        "name": thread.customer.name,
        "first_name": first,
        "last_name": last,
        "username": thread.customer.key,
        "profile_pic": sim.media_url("sample-png", "profile.png"),
        "follower_count": 12,
        "is_user_follow_business": thread.follows,
        "is_business_follow_user": False,
        "is_verified_user": False,
    }
    if thread.account.kind == "page":
        values = {
            name: value
            for name, value in values.items()
            if name in {"id", "name", "first_name", "last_name", "profile_pic"}
        }
    return graph_reads.pick(values, graph_reads.wanted(request, "id,name,profile_pic"))


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S+0000")
