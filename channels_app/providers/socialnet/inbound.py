"""Callbacks of pages: the events of the family, signed with our app's secret."""

from collections.abc import Mapping, Sequence
from typing import Any

from channels_app.providers.events import Item
from channels_app.providers.graph import inbound
from channels_app.providers.socialnet.accounts import APP


def is_authentic(headers: Mapping[str, str], raw: bytes) -> bool:
    """Whether the provider signed exactly these bytes."""
    return inbound.is_authentic(headers, raw, [APP.setting("APP_SECRET")])


def items(body: Any) -> Sequence[Item]:
    """Everything in a callback."""
    return list(inbound.items(body, app_ids={APP.setting("APP_ID")}))
