"""The order of what providers send: that of each customer."""

import hashlib
from uuid import UUID

from channels_app.providers.events import FromCustomer, Item


def user_of(item: Item) -> str:
    """The customer who is concerned; empty for an item of the account itself."""
    return item.user_id if isinstance(item, FromCustomer) else ""


def customer_key(channel: str, connection_id: UUID, user_id: str) -> str:
    """The ordering key of a customer at a connection, which does not reveal their id."""
    named = hashlib.sha256(f"{connection_id}:{user_id}".encode()).hexdigest()[:40]
    return f"inbound:{channel}:{named}"


def batch_key(connection_id: UUID | str) -> str:
    """The ordering key of a connection's large bodies: they are processed one at a time."""
    return f"inbound:{connection_id}"
