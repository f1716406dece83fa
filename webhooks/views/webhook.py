"""Operations of the tag `Webhook`: endpoints, their secrets, the event log, replay."""

import asyncio
import uuid
from typing import Any

from rest_framework.request import Request

from chatplatform.api.openapi import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chatplatform.web.live import Listener
from chatplatform.web.stream_events import StreamEvent
from chatplatform.web.streaming import Events, InThread, ServerSent, StreamingReply
from identity.auth import ADMIN, TenantViewSet
from webhooks.models import Delivery
from webhooks.services import configs, deliveries, events
from webhooks.shapes import webhook as webhook_shapes

# A test's answer is waited for by the event loop: the receiver's limit, and time to be fetched.
_TEST_WAIT_SECONDS = 20.0
_TEST_LOOK_SECONDS = 0.1


class ConfigViewSet(TenantViewSet):
    """The caller's endpoints: at most ten."""

    @operation(
        "Webhook",
        "Get Webhook Config",
        access=ADMIN,
        query=webhook_shapes.WhichWebhook,
        returns=webhook_shapes.WebhookConfig,
        also={404: None},
    )
    def retrieve(
        self, request: Request, query: webhook_shapes.WhichWebhook
    ) -> webhook_shapes.WebhookConfig:
        """The endpoint `config_id`, or the oldest one. Never its secret. 404 where there is none.

        For clients with several endpoints there is also `GET /webhook/configs`.
        """
        return webhook_shapes.WebhookConfig.from_row(configs.get(self.client, query.config_id))

    @operation(
        "Webhook",
        "Create Webhook Config",
        access=ADMIN,
        body=webhook_shapes.WebhookConfigRequest,
        returns=webhook_shapes.WebhookConfig,
        status=201,
        also={409: None},
    )
    def create(
        self, request: Request, body: webhook_shapes.WebhookConfigRequest
    ) -> webhook_shapes.WebhookConfig:
        """Set up an endpoint. The reply holds its signing secret, and no later one does.

        409 `too_many_endpoints` with ten of them.
        """
        made = configs.create(self.client, body, by=self.user)
        return webhook_shapes.WebhookConfig.from_row(made, made.secret)

    @operation(
        "Webhook",
        "Rotate Webhook Secret",
        access=ADMIN,
        query=webhook_shapes.WhichWebhook,
        returns=webhook_shapes.WebhookConfig,
        also={404: None},
    )
    def rotate_secret(
        self, request: Request, query: webhook_shapes.WhichWebhook
    ) -> webhook_shapes.WebhookConfig:
        """A new signing secret, shown once. The one before signs along for 24 hours."""
        config = configs.get(self.client, query.config_id)
        rotated = configs.rotate_secret(config, by=self.user)
        return webhook_shapes.WebhookConfig.from_row(rotated, rotated.secret)

    @operation(
        "Webhook",
        "List Webhook Configs",
        access=ADMIN,
        query=Page,
        returns=webhook_shapes.WebhookConfigsResponse,
    )
    def list(self, request: Request, query: Page) -> dict[str, Any]:
        """All endpoints, the oldest first."""
        return page(
            configs.list_for_client(self.client), query, shape=webhook_shapes.WebhookConfig.from_row
        )

    @operation(
        "Webhook",
        "Update Webhook Config",
        access=ADMIN,
        body=webhook_shapes.WebhookConfigRequest,
        returns=webhook_shapes.WebhookConfig,
    )
    def update(
        self, request: Request, config_id: uuid.UUID, body: webhook_shapes.WebhookConfigRequest
    ) -> webhook_shapes.WebhookConfig:
        """Replace an endpoint's settings; its secret stays.

        Switching it off ends what waits for it as `gave_up`; it can be replayed.
        """
        config = configs.get(self.client, config_id)
        return webhook_shapes.WebhookConfig.from_row(configs.update(config, body, by=self.user))

    @operation("Webhook", "Delete Webhook Config", access=ADMIN, status=204)
    def destroy(self, request: Request, config_id: uuid.UUID) -> None:
        """Take an endpoint away. Its deliveries stay in the event log for 30 days."""
        configs.delete(configs.get(self.client, config_id), by=self.user)


class EventViewSet(TenantViewSet):
    """The client's event log and what was delivered of it."""

    @operation(
        "Webhook",
        "Test Webhook",
        access=ADMIN,
        query=webhook_shapes.WhichWebhook,
        returns=webhook_shapes.WebhookDelivery,
        also={404: None, 429: Error},
    )
    def test(self, request: Request, query: webhook_shapes.WhichWebhook) -> StreamingReply:
        """Deliver a signed `webhook.test` event now, also to an endpoint that is off.

        Answers with what the receiver said: its status, the time it took, the beginning of its
        body. Tried once. One test at a time and six a minute for each endpoint: 429 with
        Retry-After beyond that. `pending` where no answer came within 20 seconds.
        """
        begun = deliveries.begin_test(configs.get(self.client, query.config_id))
        return StreamingReply(_until_ended(begun), as_stream=False, status_of=lambda _: 200)

    @operation(
        "Webhook",
        "Get Webhook Events",
        access=ADMIN,
        query=webhook_shapes.EventsQuery,
        returns=webhook_shapes.EventsResponse,
    )
    def list(self, request: Request, query: webhook_shapes.EventsQuery) -> dict[str, Any]:
        """The event log, each event with its deliveries.

        With `order=asc` it is the feed: keep `next_cursor`, ask again with it, and miss nothing.
        """
        return events.page(self.client, query)

    @operation("Webhook", "Get Webhook Event", access=ADMIN, returns=webhook_shapes.Event)
    def retrieve(self, request: Request, event_id: str) -> dict[str, Any]:
        """One event with its whole data, also where the webhook held a thin form of it."""
        return webhook_shapes.Event.from_row(events.get(self.client, event_id))

    @operation(
        "Webhook",
        "Replay Webhook Event",
        access=ADMIN,
        query=webhook_shapes.ReplayTarget,
        returns=webhook_shapes.Event,
        also={409: None},
    )
    def replay(
        self, request: Request, event_id: str, query: webhook_shapes.ReplayTarget
    ) -> dict[str, Any]:
        """Send an event again: the same id, the same bytes, all attempts anew.

        409 `endpoint_disabled` where no endpoint that is on could get it.
        """
        event = events.get(self.client, event_id)
        target = configs.get(self.client, query.config_id) if query.config_id else None
        return webhook_shapes.Event.from_row(deliveries.replay(event, target))

    @operation(
        "Webhook",
        "Replay Webhook Events",
        access=ADMIN,
        body=webhook_shapes.ReplayRequest,
        returns=webhook_shapes.Replay,
        status=202,
        also={404: None, 409: None},
    )
    def replay_range(
        self, request: Request, body: webhook_shapes.ReplayRequest
    ) -> webhook_shapes.Replay:
        """Send the events of a time again to an endpoint; a worker queues them, oldest first."""
        config = configs.get(self.client, body.config_id)
        return deliveries.begin_replay(self.client, config, body)


def _until_ended(begun: Delivery) -> Any:
    """Looks until the courier is done with it; then its shape."""

    def read() -> dict[str, Any]:
        return webhook_shapes.WebhookDelivery.from_row(deliveries.get(begun.pk))

    async def follow(listener: Listener, in_thread: InThread) -> Events:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + _TEST_WAIT_SECONDS
        found = await in_thread(read)
        while found["status"] == "pending" and loop.time() < ends_at:
            await asyncio.sleep(_TEST_LOOK_SECONDS)
            found = await in_thread(read)
        yield ServerSent(StreamEvent.DONE, found)

    return follow
