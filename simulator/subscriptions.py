"""Who gets the events of an account, and the check of a callback's address."""

import json
from http.client import HTTPException
from urllib.parse import urlencode

from simulator import oauth
from simulator.call_subject import bearer
from simulator.callback_queue import PATIENCE
from simulator.graph_reads import need
from simulator.http import Request, Response, graph_error, ok
from simulator.state import Simulator
from simulator.world import Account, App, Hook, Json, Subscription, Token

FIELDS = {
    "messages", "messaging_postbacks", "messaging_referrals", "messaging_referral",
    "message_echoes", "message_deliveries", "message_reads", "messaging_seen", "message_reactions",
    "message_edits", "message_edit", "messaging_feedback", "response_feedback",
    "messaging_policy_enforcement", "messaging_optins", "messaging_account_linking", "standby",
    "messaging_handovers", "message_context", "feed",
}  # fmt: skip
_SCOPES = {
    "page": ("pages_manage_metadata",),
    "photo": ("instagram_business_manage_messages", "instagram_manage_messages"),
    "waba": ("whatsapp_business_management",),
}
OBJECTS = ("page", "instagram", "whatsapp_business_account")


def show(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    _check(token, account)
    rows = []
    for app_id, subscription in account.subscriptions.items():
        app = {"id": app_id, "name": sim.world.apps[app_id].key, "link": "https://app.example/"}
        if account.kind == "waba":
            row: Json = {"whatsapp_business_api_data": app}
            if subscription.override_url:
                row["override_callback_uri"] = subscription.override_url
        else:
            row = {**app, "category": "Business", "subscribed_fields": subscription.fields}
        rows.append(row)
    return ok({"data": rows})


def subscribe(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    _check(token, account)
    if account.kind == "waba":
        return _subscribe_waba(sim, request, token, account)
    asked = request.params.get("subscribed_fields", "")
    fields = asked if isinstance(asked, list) else [name for name in str(asked).split(",") if name]
    if not fields or not set(fields) <= FIELDS:
        wrong = ", ".join(sorted(set(fields) - FIELDS)) or "nothing"
        raise graph_error(100, f"Param subscribed_fields must be known fields, not {wrong}")
    if account.kind == "photo":
        # Direct login ignores the choice: an account gets every field of the app.
        fields = sorted(FIELDS)
    account.subscriptions[token.app_id] = Subscription(list(fields))
    return ok({"success": True})


def _subscribe_waba(sim: Simulator, request: Request, token: Token, waba: Account) -> Response:
    url = request.text("override_callback_uri")
    if url:
        if token.app_id not in waba.subscriptions:
            raise graph_error(100, "Subscribe the app before you override its callback address")
        problem = handshake(sim, url, request.text("verify_token"))
        if problem:
            raise graph_error(2200, f"Callback verification failed: {problem}", status=400)
    waba.subscriptions[token.app_id] = Subscription(["messages"], url)
    return ok({"success": True})


def unsubscribe(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    _check(token, account)
    account.subscriptions.pop(token.app_id, None)
    return ok({"success": True})


def _check(token: Token, account: Account) -> None:
    need(token, *_SCOPES[account.kind])
    if account.kind == "page" and token.subject != account.id:
        raise graph_error(210, "A page access token is required to request this resource.")


def of_app(sim: Simulator, request: Request, app_id: str) -> Response:
    """`/{app}/subscriptions`: the app's webhooks, by the app's own token."""
    app = oauth.app_of_token(sim, bearer(request))
    if app is None or app.id != app_id or "|" not in bearer(request):
        raise graph_error(15, "This method must be called with an app access_token", status=400)
    if request.method == "GET":
        return ok({"data": [_hook(name, hook) for name, hook in app.hooks.items()]})
    name = request.text("object")
    if name not in OBJECTS:
        raise graph_error(100, f"Param object must be one of {', '.join(OBJECTS)}")
    if request.method == "DELETE":
        app.hooks.pop(name, None)
        return ok({"success": True})
    return _set_hook(sim, request, app, name)


def _set_hook(sim: Simulator, request: Request, app: App, name: str) -> Response:
    url, verify_token = request.text("callback_url"), request.text("verify_token")
    problem = handshake(sim, url, verify_token)
    if problem:
        raise graph_error(2200, f"Callback verification failed: {problem}", status=400)
    fields = [field for field in request.text("fields").split(",") if field]
    app.hooks[name] = Hook(url, verify_token, fields)
    return ok({"success": True})


def _hook(name: str, hook: Hook) -> Json:
    fields = [{"name": field, "version": "v26.0"} for field in hook.fields]
    return {"object": name, "callback_url": hook.url, "active": True, "fields": fields}


def handshake(sim: Simulator, url: str, verify_token: str) -> str:
    """Ask the platform to return a challenge; what was wrong, or an empty text."""
    challenge = sim.world.random_digits(10)
    query = urlencode(
        {
            "hub.mode": "subscribe",
            "hub.challenge": challenge,
            "hub.verify_token": verify_token,
        }
    )
    try:
        status, body = sim.wire.call("GET", f"{url}?{query}", {}, b"", timeout=5)
    except (OSError, HTTPException, ValueError) as error:
        return str(error) or type(error).__name__
    if status != 200:
        return f"HTTP status {status}"
    if body != challenge.encode():
        return f"the answer was not the challenge, but {body[:100]!r}"
    return ""


def probe(sim: Simulator, body: Json) -> str:
    """localapp's check of a callback's address: an unsigned POST that needs a 200."""
    url = sim.world.app_by_key("localapp").hooks["localapp"].url
    headers = {"Content-Type": "application/json"}
    try:
        status, _ = sim.wire.call(
            "POST", url, headers, json.dumps(body).encode(), timeout=PATIENCE["localapp"]
        )
    except (OSError, HTTPException) as error:
        return str(error) or type(error).__name__
    return "" if status == 200 else f"HTTP status {status}"
