"""One-time tickets: a browser's EventSource can send no header, so its URL carries one of these.

A ticket stands for a sign-in, for one request within a minute. What it stands for is kept under
its hash, as claims and never as a token, and redeeming it takes it away in one step.
"""

import secrets
import uuid

import orjson

from chatplatform.crypto import hash_secret
from chatplatform.web import live
from identity.services import tokens
from identity.services.tokens import Claims

LIFETIME_SECONDS = 60


def make(access_token: str) -> str:
    """A ticket for the sign-in of a valid access token; 503 with the broker away."""
    ticket = secrets.token_urlsafe(32)
    claims = tokens.claims_of(access_token)
    live.store(_name(ticket), orjson.dumps(claims), seconds=LIFETIME_SECONDS)
    return ticket


def redeem(ticket: str) -> Claims | None:
    """The claims that a ticket was made for; None for one that is unknown, used or too old."""
    stored = live.pop(_name(ticket))
    if stored is None:
        return None
    user_id, token_version, family = orjson.loads(stored)
    return user_id, token_version, uuid.UUID(family)


def _name(ticket: str) -> str:
    return f"ticket:{hash_secret(ticket)}"
