"""Callbacks of accounts: the events of the family, signed with an app's secret."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from channels_app.providers.events import Item
from channels_app.providers.graph import inbound
from channels_app.providers.photoapp.client import APP


def is_authentic(headers: Mapping[str, str], raw: bytes) -> bool:
    """Whether the provider signed exactly these bytes.

    A page's app may be the one of socialnet, whose secret then signs.
    """
    secrets = [APP.setting("APP_SECRET"), settings.SOCIALNET_APP_SECRET]
    return inbound.is_authentic(headers, raw, [secret for secret in secrets if secret])


def items(body: Any) -> Sequence[Item]:
    """Everything in a callback."""
    return list(inbound.items(body, app_id=APP.setting("APP_ID")))
