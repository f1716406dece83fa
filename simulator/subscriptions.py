"""Subscriptions to accounts' events, and the verification of callback URLs."""

from http.client import HTTPException
from urllib.parse import urlencode

from simulator.graph_reads import need
from simulator.http import Request, Response, graph_error, ok
from simulator.state import Simulator
from simulator.world import Account, Subscription, Token

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


def subscribe(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    _check(token, account)
    if account.kind == "waba":
        account.subscriptions[token.app_id] = Subscription(["messages"])
        return ok({"success": True})
    asked = request.params.get("subscribed_fields", "")
    fields = asked if isinstance(asked, list) else [name for name in str(asked).split(",") if name]
    if not fields or not set(fields) <= FIELDS:
        wrong = ", ".join(sorted(set(fields) - FIELDS)) or "nothing"
        raise graph_error(100, f"Param subscribed_fields must be known fields, not {wrong}")
    if account.kind == "photo":
        # The direct login ignores the chosen fields: an account gets all fields of the app.
        fields = sorted(FIELDS)
    account.subscriptions[token.app_id] = Subscription(list(fields))
    return ok({"success": True})


def unsubscribe(sim: Simulator, request: Request, token: Token, account: Account) -> Response:
    _check(token, account)
    account.subscriptions.pop(token.app_id, None)
    return ok({"success": True})


def _check(token: Token, account: Account) -> None:
    need(token, *_SCOPES[account.kind])
    if account.kind == "page" and token.subject != account.id:
        raise graph_error(210, "A page access token is required to request this resource.")


def handshake(sim: Simulator, url: str, verify_token: str) -> str:
    """Ask the platform to return a challenge; return what was wrong, or an empty string."""
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
