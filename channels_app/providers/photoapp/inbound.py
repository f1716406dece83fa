"""Callbacks of accounts: the events of the family, signed with an app's secret."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from channels_app.providers.events import Item
from channels_app.providers.graph import inbound
from channels_app.providers.photoapp.accounts import APP


def is_authentic(headers: Mapping[str, str], raw: bytes) -> bool:
    """Whether the provider signed exactly these bytes.

    A page's app may be the one of socialnet, whose secret then signs; the direct login has an app
    of its own.
    """
    own = [settings.PHOTOAPP_DIRECT_APP_SECRET] if settings.PHOTOAPP_DIRECT_APP_SECRET else []
    if settings.PHOTOAPP_APP_SECRET or not own:
        own.append(APP.setting("APP_SECRET"))
    secrets = [*own, settings.SOCIALNET_APP_SECRET]
    return inbound.is_authentic(headers, raw, [secret for secret in secrets if secret])


def items(body: Any) -> Sequence[Item]:
    """Everything in a callback."""
    return list(
        inbound.items(body, app_ids={settings.PHOTOAPP_APP_ID, settings.PHOTOAPP_DIRECT_APP_ID})
    )
