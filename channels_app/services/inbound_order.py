"""Ordering keys, which keep the items of each customer in order."""

import hashlib
from uuid import UUID

from channels_app.providers.events import FromCustomer, Item


def user_of(item: Item) -> str:
    """The provider's id of an item's customer; empty if the item concerns the account itself."""
    return item.user_id if isinstance(item, FromCustomer) else ""


def customer_key(channel: str, connection_id: UUID, user_id: str) -> str:
    """The ordering key of a customer at a connection, which does not reveal their id."""
    named = hashlib.sha256(f"{connection_id}:{user_id}".encode()).hexdigest()[:40]
    return f"inbound:{channel}:{named}"


def batch_key(connection_id: UUID | str) -> str:
    """The ordering key of a connection's batched items: one job at a time processes them."""
    return f"inbound:{connection_id}"
