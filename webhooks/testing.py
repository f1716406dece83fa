"""Fixtures for tests of every app: endpoints of a client."""

from collections.abc import Callable
from typing import Any

import pytest

from chatplatform import signatures
from identity.models import Client
from webhooks.models import WebhookConfig

MakeEndpoint = Callable[..., WebhookConfig]


@pytest.fixture
def make_endpoint(db: None) -> MakeEndpoint:
    def make(client: Client, **fields: Any) -> WebhookConfig:
        fields = {
            "url": "https://receiver.example/hook", "secret": signatures.new_secret(), **fields,
        }  # fmt: skip
        return WebhookConfig.objects.create(client=client, **fields)

    return make


@pytest.fixture
def endpoint(client_a: Client, make_endpoint: MakeEndpoint) -> WebhookConfig:
    """An endpoint of client A that takes every event."""
    return make_endpoint(client_a)
