"""Visitor tokens: each names the visitor for whom a public key is used.

Everybody can read a public key. The token beside it names one bot and one customer; it is signed,
not stored. Cells may share the signing key and use the same ids for different bots and customers,
so a token is valid only in the cell that issued it.
"""

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
