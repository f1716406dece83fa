"""The order of what providers send."""

import hashlib


def inbound_key(channel: str, account_id: str, user_id: str | None = None) -> str:
    """What keeps the items of an account in order, or those of one customer there."""
    if user_id is None:
        return f"inbound:{channel}:{account_id}"[:80]
    named = hashlib.sha256(f"{account_id}:{user_id}".encode()).hexdigest()[:40]
    return f"inbound:{channel}:{named}"
