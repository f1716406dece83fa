"""Visitor tokens: each identifies a bot and a visitor who uses its public key. Tokens are signed,
not stored, and are valid only in the installation that issued them."""

from datetime import timedelta

from django.conf import settings
from django.core import signing

HEADER = "Visitor-Token"
# Opening or reading a chat renews the token.
LIFETIME = timedelta(days=180)
_SALT = "identity.visitor"


def issue(*, bot_id: int, visitor_id: int) -> str:
    """A token for one visitor of a bot."""
    return signing.dumps([bot_id, visitor_id], salt=_salt())


def read(token: str, *, bot_id: int | None) -> int | None:
    """The visitor's id in a token for this bot; None if the token is invalid or another bot's."""
    try:
        token_bot_id, visitor_id = signing.loads(token, salt=_salt(), max_age=LIFETIME)
    except signing.BadSignature:
        return None
    return int(visitor_id) if token_bot_id == bot_id else None


def _salt() -> str:
    return f"{_SALT}:{settings.INSTANCE_ID}" if settings.INSTANCE_ID else _SALT
