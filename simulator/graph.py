"""The Graph of socialnet, photoapp and chatapp: which handler serves a call, and what all share."""

import hashlib
import hmac
from collections.abc import Callable

from simulator import (
    chatapp,
    chatapp_send,
    defaults,
    graph_reads,
    messenger,
    oauth,
    subscriptions,
    thread_reads,
)
from simulator.call_subject import VERSION, bearer, segments, without_version
from simulator.defaults import PERSON_ID
from simulator.graph_reads import need
from simulator.http import Request, Response, graph_error, html, ok
from simulator.state import Simulator
from simulator.world import Account, Json, Token

Handler = Callable[[Simulator, Request, Token, Account], Response]

# Edges of an account, by method, kinds and name.
EDGES: dict[tuple[str, str, str], Handler] = {
    ("POST", "page", "messages"): messenger.send,
    ("POST", "photo", "messages"): messenger.send,
    ("POST", "page", "message_attachments"): messenger.upload,
    ("POST", "photo", "message_attachments"): messenger.upload,
    ("GET", "page", "conversations"): thread_reads.conversations,
    ("GET", "photo", "conversations"): thread_reads.conversations,
    ("GET", "page", "subscribed_apps"): subscriptions.show,
    ("POST", "page", "subscribed_apps"): subscriptions.subscribe,
    ("DELETE", "page", "subscribed_apps"): subscriptions.unsubscribe,
    ("GET", "photo", "subscribed_apps"): subscriptions.show,
    ("POST", "photo", "subscribed_apps"): subscriptions.subscribe,
    ("DELETE", "photo", "subscribed_apps"): subscriptions.unsubscribe,
    ("GET", "waba", "subscribed_apps"): subscriptions.show,
    ("POST", "waba", "subscribed_apps"): subscriptions.subscribe,
    ("DELETE", "waba", "subscribed_apps"): subscriptions.unsubscribe,
    ("GET", "waba", "phone_numbers"): chatapp.numbers,
    ("GET", "waba", "message_templates"): chatapp.templates,
    ("POST", "waba", "message_templates"): chatapp.create_template,
    ("DELETE", "waba", "message_templates"): chatapp.delete_template,
    ("POST", "number", "register"): chatapp.register,
    ("POST", "number", "deregister"): chatapp.deregister,
    ("POST", "number", "media"): chatapp.upload,
    ("POST", "number", "messages"): chatapp_send.send,
}


def handle(sim: Simulator, base: str, request: Request) -> Response:
    first = next(iter(segments(request.path)), "")
    if VERSION.match(first) and first not in defaults.VERSIONS:
        raise graph_error(2500, f"Unknown path components: /{first}")
    if base == "lookaside":
        return chatapp.download(sim, request)
    parts = without_version(request.path)
    if parts == ["oauth", "access_token"] and base == "graph":
        return oauth.graph_token(sim, request)
    if base == "direct" and parts in (["access_token"], ["refresh_access_token"]):
        return oauth.direct_exchange(sim, request)
    if parts == ["debug_token"]:
        return oauth.debug_token(sim, request)
    if parts[1:] == ["subscriptions"]:
        return subscriptions.of_app(sim, request, parts[0])
    token = oauth.live(sim, bearer(request))
    _check_proof(sim, request, token)
    if base == "direct" and not token.kind.startswith("photo"):
        raise graph_error(190, "Cannot parse access token")
    return _node(sim, request, token, parts)


def _check_proof(sim: Simulator, request: Request, token: Token) -> None:
    app = sim.world.apps[token.app_id]
    proof = request.text("appsecret_proof")
    if not proof and not app.requires_proof:
        return
    right = hmac.new(app.secret.encode(), token.value.encode(), hashlib.sha256).hexdigest()
    if not proof:
        raise graph_error(100, "API calls from the server require an appsecret_proof argument")
    if not hmac.compare_digest(proof, right):
        raise graph_error(100, "Invalid appsecret_proof provided in the API argument")


def _node(sim: Simulator, request: Request, token: Token, parts: list[str]) -> Response:
    if not parts or len(parts) > 2:
        raise graph_error(2500, "Unknown path components")
    node, edge = parts[0], parts[1] if len(parts) == 2 else ""
    if node == "me":
        node = token.subject
    if node == PERSON_ID or edge.endswith("_whatsapp_business_accounts"):
        return _person(sim, request, token, edge)
    account = sim.world.accounts.get(node)
    if account is None:
        return _other(sim, request, token, (node, edge))
    _check_access(token, account)
    if not edge and request.method == "GET":
        return _account(sim, request, token, account)
    handler = EDGES.get((request.method, account.kind, edge))
    if handler is None:
        raise graph_error(2500, f"Unknown path components: /{edge}")
    return handler(sim, request, token, account)


def _other(sim: Simulator, request: Request, token: Token, path: tuple[str, str]) -> Response:
    """What is no account: a thread, a message, a customer, a file."""
    node, edge = path
    if node in sim.world.files:
        return chatapp.media(sim, request, token, node)
    if request.method == "GET" and (answer := thread_reads.read(sim, request, token, node, edge)):
        return answer
    raise graph_reads.unknown(node)


def _check_access(token: Token, account: Account) -> None:
    """The token must be of this account, or of a person or system that was given it."""
    reached = {token.subject, *token.targets}
    if account.id in reached or account.parent in reached:
        return
    raise graph_reads.unknown(account.id)


def _person(sim: Simulator, request: Request, token: Token, edge: str) -> Response:
    if not edge:
        return ok(
            graph_reads.pick(
                {"id": PERSON_ID, "name": "Pat Owner"}, graph_reads.wanted(request, "id,name")
            )
        )
    if edge == "accounts":
        need(token, "pages_show_list")
        if not token.kind.startswith("user"):
            raise graph_error(100, "Tried accessing nonexisting field (accounts)")
        pages = [each for each in sim.world.of_kind("page") if each.id in token.targets]
        fields = graph_reads.wanted(request, "id,name,access_token,category,tasks")
        return graph_reads.listed(
            sim, request, pages, lambda each: graph_reads.pick(_page(sim, token, each), fields)
        )
    if edge.endswith("_whatsapp_business_accounts"):
        return chatapp.business_accounts(sim, request, token, edge)
    raise graph_error(2500, f"Unknown path components: /{edge}")


def _account(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    if account.kind == "page":
        values, default = _page(sim, token, account), "id,name"
    elif account.kind == "photo":
        values, default = _photo(account), "id,username"
        if token.kind.startswith("photo_"):
            # To an app of the direct login: only `user_id` is the name that events have too.
            values["id"] = f"{account.id}0"
    else:
        values, default = chatapp.node(account), "id,name,display_phone_number,verified_name"
    return ok(graph_reads.pick(values, graph_reads.wanted(request, default)))


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
    """A file by its address, for everybody who knows it."""
    file_id = next(iter(segments(request.path)), "")
    with sim.world.lock:
        stored = sim.file(file_id)
        if stored is None or stored.expires_at < sim.world.now:
            return html("<h1>404</h1>", 404)
        return Response(stored.data, content_type=stored.mime)
