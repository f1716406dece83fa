"""One-time tickets, for the URL of a browser's EventSource, which cannot send headers.

A ticket stands for a sign-in in one request within a minute. Valkey holds the claims, never the
token, under the ticket's hash; redeeming removes them in one step.
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
    """A ticket for the sign-in of a valid access token; 503 without Valkey."""
    ticket = secrets.token_urlsafe(32)
    claims = tokens.parse_claims(access_token)
    live.store(_name(ticket), orjson.dumps(claims), seconds=LIFETIME_SECONDS)
    return ticket


def redeem(ticket: str) -> Claims | None:
    """The claims of a ticket; None if it is unknown, used or expired."""
    stored = live.pop(_name(ticket))
    if stored is None:
        return None
    user_id, token_version, family = orjson.loads(stored)
    return user_id, token_version, uuid.UUID(family)


def _name(ticket: str) -> str:
    return f"ticket:{hash_secret(ticket)}"
