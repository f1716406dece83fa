"""The Graph API of socialnet, photoapp and chatapp: routes calls, and has the shared handlers."""

import hashlib
import hmac
from collections.abc import Callable

from simulator import (
    chatapp,
    chatapp_send,
    graph_reads,
    messenger,
    oauth,
    subscriptions,
)
from simulator.call_subject import bearer, segments, without_version
from simulator.defaults import PERSON_ID
from simulator.graph_reads import need
from simulator.http import Request, Response, graph_error, html, ok
from simulator.state import Simulator
from simulator.world import Account, Json, Thread, Token

Handler = Callable[[Simulator, Request, Token, Account], Response]

# The edges of accounts, by method, kind of account, and name.
EDGES: dict[tuple[str, str, str], Handler] = {
    ("POST", "page", "messages"): messenger.send,
    ("POST", "photo", "messages"): messenger.send,
    ("POST", "page", "message_attachments"): messenger.upload,
    ("POST", "photo", "message_attachments"): messenger.upload,
    ("POST", "page", "subscribed_apps"): subscriptions.subscribe,
    ("DELETE", "page", "subscribed_apps"): subscriptions.unsubscribe,
    ("POST", "photo", "subscribed_apps"): subscriptions.subscribe,
    ("DELETE", "photo", "subscribed_apps"): subscriptions.unsubscribe,
    ("POST", "waba", "subscribed_apps"): subscriptions.subscribe,
    ("DELETE", "waba", "subscribed_apps"): subscriptions.unsubscribe,
    ("GET", "waba", "phone_numbers"): chatapp.numbers,
    ("GET", "waba", "message_templates"): chatapp.templates,
    ("POST", "number", "register"): chatapp.register,
    ("POST", "number", "media"): chatapp.upload,
    ("POST", "number", "messages"): chatapp_send.send,
}


def handle(sim: Simulator, base: str, request: Request) -> Response:
    if base == "lookaside":
        return chatapp.download(sim, request)
    parts = without_version(request.path)
    if parts == ["oauth", "access_token"] and base == "graph":
        return oauth.graph_token(sim, request)
    if base == "direct" and parts in (["access_token"], ["refresh_access_token"]):
        return oauth.direct_exchange(sim, request)
    if parts == ["debug_token"]:
        return oauth.debug_token(sim, request)
    token = oauth.live(sim, bearer(request))
    _check_proof(sim, request, token)
    if base == "direct" and not token.kind.startswith("photo"):
        raise graph_error(190, "Cannot parse access token")
    return _node(sim, request, token, parts)


def _check_proof(sim: Simulator, request: Request, token: Token) -> None:
    app = sim.world.apps[token.app_id]
    proof = request.text("appsecret_proof")
    right = hmac.new(app.secret.encode(), token.value.encode(), hashlib.sha256).hexdigest()
    if proof and not hmac.compare_digest(proof, right):
        raise graph_error(100, "Invalid appsecret_proof provided in the API argument")


def _node(sim: Simulator, request: Request, token: Token, parts: list[str]) -> Response:
    if not parts or len(parts) > 2:
        raise graph_error(2500, "Unknown path components")
    node, edge = parts[0], parts[1] if len(parts) == 2 else ""
    if node == "me":
        node = token.subject
    if node == PERSON_ID and edge == "accounts":
        return _pages(sim, request, token)
    account = sim.world.accounts.get(node)
    if account is None:
        return _other(sim, request, token, (node, edge))
    _check_access(token, account)
    if not edge and request.method == "GET":
        return _account(sim, token, account)
    handler = EDGES.get((request.method, account.kind, edge))
    if handler is None:
        raise graph_error(2500, f"Unknown path components: /{edge}")
    return handler(sim, request, token, account)


def _other(sim: Simulator, request: Request, token: Token, path: tuple[str, str]) -> Response:
    """Handle a call to a node that is not an account: a file or a customer."""
    node, edge = path
    if node in sim.world.files:
        return chatapp.media(sim, request, token, node)
    for thread in sim.world.threads.values():
        reached = {thread.account.id, thread.account.parent} & {token.subject, *token.targets}
        if node == thread.user_id and reached and not edge and request.method == "GET":
            return _profile(sim, thread)
    raise graph_reads.unknown(node)


def _profile(sim: Simulator, thread: Thread) -> Response:
    if thread.customer_wrote_at is None:
        raise graph_error(230, "User consent is required to access user profile")
    name, picture = thread.customer.name, sim.media_url("sample-png", "profile.png")
    values = {"id": thread.user_id, "name": name, "profile_pic": picture}
    if thread.account.kind == "photo":
        return ok(values | {"username": thread.customer.key})
    first, _, last = name.partition(" ")
    return ok(values | {"first_name": first, "last_name": last})


def _check_access(token: Token, account: Account) -> None:
    """Refuse a token that neither belongs to this account nor has access to it."""
    reached = {token.subject, *token.targets}
    if account.id in reached or account.parent in reached:
        return
    raise graph_reads.unknown(account.id)


def _pages(sim: Simulator, request: Request, token: Token) -> Response:
    """The pages to which a person gave the app access."""
    need(token, "pages_show_list")
    if not token.kind.startswith("user"):
        raise graph_error(100, "Tried accessing nonexisting field (accounts)")
    pages = [item for item in sim.world.of_kind("page") if item.id in token.targets]
    return graph_reads.listed(request, pages, lambda item: _page(sim, token, item))


def _account(sim: Simulator, token: Token, account: Account) -> Response:
    if account.kind == "page":
        return ok(_page(sim, token, account))
    if account.kind == "photo":
        # For tokens of the direct login, only `user_id` is the id that events have.
        own = {"id": f"{account.id}0"} if token.kind.startswith("photo_") else {}
        return ok(_photo(account) | own)
    return ok(chatapp.node(account))


def _page(sim: Simulator, token: Token, page: Account) -> Json:
    values: Json = {
        "id": page.id,
        "name": page.name,
        "category": "Retail",
        "tasks": page.tasks,
        "picture": {"data": {"url": sim.media_url("sample-png", "page.png")}},
    }
    if token.kind.startswith("user") and {"pages_show_list", "pages_messaging"} & token.scopes:
        values["access_token"] = oauth.page_token(sim, token, page).value
    photo = sim.world.photo_of(page.id)
    if photo and "instagram_basic" in token.scopes:
        values["instagram_business_account"] = _photo(photo) | {
            "profile_picture_url": sim.media_url("sample-png", "photo.png")
        }
    return values


def _photo(photo: Account) -> Json:
    return {
        "id": photo.id,
        "user_id": photo.id,
        "username": photo.username,
        "name": photo.name,
        "account_type": "BUSINESS",
    }


def serve_media(sim: Simulator, request: Request) -> Response:
    """Serve a file to anyone who knows its URL."""
    file_id = next(iter(segments(request.path)), "")
    with sim.world.lock:
        stored = sim.file(file_id)
        if stored is None or stored.expires_at < sim.world.now:
            return html("<h1>404</h1>", 404)
        return Response(stored.data, content_type=stored.mime)
