"""Visitor tokens: each names one bot and one customer, for whom a public key is used. It is signed,
not stored, and valid only in the installation that issued it."""

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
    """The id of the visitor named by a token of this bot; None if the token is not valid."""
    try:
        of_bot, visitor_id = signing.loads(token, salt=_salt(), max_age=LIFETIME)
    except signing.BadSignature:
        return None
    return int(visitor_id) if of_bot == bot_id else None


def _salt() -> str:
    return f"{_SALT}:{settings.INSTANCE_ID}" if settings.INSTANCE_ID else _SALT
