"""The channel, account and kind of a call, for matching faults and for the log."""

import re
from dataclasses import dataclass

from simulator.http import Request
from simulator.world import Account, Token, World

VERSION = re.compile(r"^v\d+\.\d+$")
_WHAT_OF_EDGE = {
    "message_attachments": "media",
    "media": "media",
    "accounts": "lists",
    "phone_numbers": "lists",
    "message_templates": "templates",
    "subscribed_apps": "subscriptions",
    "register": "registration",
}

_WHAT_OF_METHOD = {
    "getMe": "lists", "setWebhook": "subscriptions", "deleteWebhook": "subscriptions",
}  # fmt: skip


@dataclass(frozen=True)
class Subject:
    channel: str
    account: str
    what: str
    app_id: str = ""


def segments(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def without_version(path: str) -> list[str]:
    parts = segments(path)
    return parts[1:] if parts and VERSION.match(parts[0]) else parts


def bearer(request: Request) -> str:
    """The token of a call, from the header, or else from the parameter `access_token`."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    return request.text("access_token")


def subject_of(world: World, base: str, request: Request) -> Subject:
    if base == "localapp":
        token = world.tokens.get(request.headers.get("access_token", ""))
        return Subject("localapp", token.subject if token else "", _localapp_what(request.path),
                       token.app_id if token else "")  # fmt: skip
    if base == "telegram":
        return _telegram_subject(world, segments(request.path))
    if base == "localapp_oauth":
        return Subject("localapp", "", "tokens", request.text("app_id"))
    parts = without_version(request.path)
    if (
        base in {"dialog", "direct_auth"}
        or "access_token" in parts[-1:]
        or parts == ["debug_token"]
    ):
        app = world.apps.get(request.text("client_id"))
        channel = app.key.partition("_")[0] if app else "socialnet"
        return Subject(channel, "", "tokens", app.id if app else "")
    return _graph_subject(world, request, parts)


def _graph_subject(world: World, request: Request, parts: list[str]) -> Subject:
    token = world.tokens.get(bearer(request))
    account = node_account(world, parts[0] if parts else "", token)
    if account is not None and account.kind == "page":
        account = photo_side(world, request, account)
    app_id = token.app_id if token else ""
    channel = account.channel if account else ""
    if not channel and app_id in world.apps:
        channel = world.apps[app_id].key.partition("_")[0]
    what = _graph_what(request, parts)
    return Subject(channel, account.id if account else "", what, app_id)


def node_account(world: World, node: str, token: Token | None) -> Account | None:
    if node == "me" and token is not None:
        return world.accounts.get(token.subject)
    return world.accounts.get(node)


def photo_side(world: World, request: Request, page: Account) -> Account:
    """The photoapp account that is linked to a page, if the call is about it; else the page."""
    photo = world.photo_of(page.id)
    if photo is None:
        return page
    recipient = request.params.get("recipient")
    user_id = str(recipient.get("id", "")) if isinstance(recipient, dict) else ""
    is_photo = request.text("platform") == "instagram" or (photo.id, user_id) in world.threads
    return photo if is_photo else page


def _graph_what(request: Request, parts: list[str]) -> str:
    edge = parts[1] if len(parts) > 1 else ""
    if edge == "messages" and request.method == "POST":
        is_action = "sender_action" in request.params or request.text("status") == "read"
        return "actions" if is_action else "sends"
    return _WHAT_OF_EDGE.get(edge, "profiles")


def _telegram_subject(world: World, parts: list[str]) -> Subject:
    name = next((part for part in parts if part.startswith("bot")), "")
    account, method = world.bot_of(name.removeprefix("bot")), parts[-1] if parts else ""
    if method == "sendChatAction":
        what = "actions"
    elif method.startswith("send"):
        what = "sends"
    else:
        what = _WHAT_OF_METHOD.get(method, "media")
    return Subject("telegram", account.id if account else "", what, "telegram")


def _localapp_what(path: str) -> str:
    if path.startswith("/v2.0/oa/upload"):
        return "media"
    if "/oa/message" in path:
        return "sends"
    return "profiles" if "/user/" in path else "lists"
