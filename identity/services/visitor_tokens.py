"""Visitor tokens: which visitor of a page a public key speaks for.

A public key is readable by everybody. The token beside it names one bot and one customer; it is
signed and not stored. Cells may share the key that signs, and count their bots and customers alike:
a token holds in the cell that issued it.
"""

from datetime import timedelta

from django.conf import settings
from django.core import signing

HEADER = "Visitor-Token"
# Every chat that is opened or read renews it.
LIFETIME = timedelta(days=180)
_SALT = "identity.visitor"


def issue(*, bot_id: int, visitor_id: int) -> str:
    """A token for one visitor of a bot's pages."""
    return signing.dumps([bot_id, visitor_id], salt=_salt())


def read(token: str, *, bot_id: int | None) -> int | None:
    """The visitor whom a token of this bot names; None if it is not valid (any more)."""
    try:
        of_bot, visitor_id = signing.loads(token, salt=_salt(), max_age=LIFETIME)
    except signing.BadSignature:
        return None
    return int(visitor_id) if of_bot == bot_id else None


def _salt() -> str:
    return f"{_SALT}:{settings.INSTANCE_ID}" if settings.INSTANCE_ID else _SALT
