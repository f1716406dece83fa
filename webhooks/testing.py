"""Fixtures for the tests of all apps: endpoints of a client, and a dispatcher."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chatplatform import signatures
from identity.models import Client
from webhooks.models import WebhookConfig
from webhooks.services.dispatcher import Dispatcher

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
    """An endpoint of client A that subscribes to every event."""
    return make_endpoint(client_a)


@pytest.fixture
def dispatcher(db: None) -> Iterator[Dispatcher]:
    sender = Dispatcher(threads=16)
    yield sender
    sender.drain(0)


@pytest.fixture
def deliver(dispatcher: Dispatcher) -> Callable[..., None]:
    """Run the dispatcher until nothing is due or in flight."""

    def run(seconds: float = 30.0) -> None:
        ends_at = time.monotonic() + seconds
        while dispatcher.tick() or dispatcher._in_flight:
            assert time.monotonic() < ends_at, "the dispatcher did not finish"
            dispatcher.woken.wait(0.02)

    return run
