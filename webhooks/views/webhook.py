"""The operations of the tag `Webhook`: endpoints, secrets, event log, replays."""

import asyncio
import uuid
from typing import Any, cast

from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chatplatform.live.pubsub import Listener
from chatplatform.live.streaming import Events, InThread, ServerSent, StreamEvent, StreamingReply
from identity.auth import ADMIN, TenantViewSet
from webhooks.models import Delivery
from webhooks.schemas import webhook as webhook_schemas
from webhooks.services import deliveries, endpoints, event_log_json, events

# How many seconds a test waits for its result: the receiver's time limit plus a margin.
_TEST_WAIT_SECONDS = 20.0
_TEST_POLL_SECONDS = 0.1


class ConfigViewSet(TenantViewSet):
    @operation("Webhook", "Get Webhook Config", access=ADMIN, also={404: None})
    def retrieve(self, query: webhook_schemas.WhichWebhook) -> webhook_schemas.WebhookConfig:
        """Get a webhook endpoint, by default the oldest, without its secret; 404 if you have no
        endpoint, or none with this id.

        *List Webhook Configs* lists all endpoints.
        """
        return webhook_schemas.WebhookConfig.from_row(endpoints.get(self.client, query.config_id))

    @operation(
        "Webhook", "Create Webhook Config", access=ADMIN, status=201, also={409: None},
        waits=True, is_atomic=True, gives_credentials=True,
    )  # fmt: skip
    def create(self, body: webhook_schemas.WebhookConfigRequest) -> webhook_schemas.WebhookConfig:
        """Create a webhook endpoint, to which events are sent from now on. Only this response
        contains its signing secret.

        409 `too_many_endpoints` if you already have ten.
        """
        config = endpoints.create(self.client, body, by=self.user)
        return webhook_schemas.WebhookConfig.from_row(config, config.secret)

    @operation(
        "Webhook", "Rotate Webhook Secret", access=ADMIN, also={404: None}, gives_credentials=True
    )
    def rotate_secret(self, query: webhook_schemas.WhichWebhook) -> webhook_schemas.WebhookConfig:
        """Create a new signing secret for a webhook endpoint, shown only in this response.

        For 24 hours, deliveries are also signed with the old secret, but not with any earlier one.
        """
        config = endpoints.get(self.client, query.config_id)
        rotated = endpoints.rotate_secret(config, by=self.user)
        return webhook_schemas.WebhookConfig.from_row(rotated, rotated.secret)

    @operation(
        "Webhook", "List Webhook Configs", access=ADMIN,
        returns=webhook_schemas.WebhookConfigsResponse,
    )  # fmt: skip
    def list(self, query: Page) -> dict[str, Any]:
        """List your company's webhook endpoints, oldest first."""
        return page(
            endpoints.list_for_client(self.client),
            query,
            schema=webhook_schemas.WebhookConfig.from_row,
        )

    @operation("Webhook", "Update Webhook Config", access=ADMIN, waits=True)
    def update(
        self, config_id: uuid.UUID, body: webhook_schemas.WebhookConfigRequest
    ) -> webhook_schemas.WebhookConfig:
        """Change a webhook endpoint's settings; fields left out keep their value, and the secret
        stays.

        If you switch the endpoint off, deliveries that wait for it end as `gave_up`; they can be
        replayed.
        """
        config = endpoints.get(self.client, config_id)
        return webhook_schemas.WebhookConfig.from_row(endpoints.update(config, body, by=self.user))

    @operation("Webhook", "Delete Webhook Config", access=ADMIN, status=204)
    def destroy(self, config_id: uuid.UUID) -> None:
        """Delete a webhook endpoint; deliveries that wait for it end as `gave_up`.

        The event log keeps the deliveries of a month until 30 days after the month has ended.
        """
        endpoints.delete(endpoints.get(self.client, config_id), by=self.user)


class EventViewSet(TenantViewSet):
    @operation(
        "Webhook", "Test Webhook", access=ADMIN, returns=webhook_schemas.WebhookDelivery,
        also={404: None, 429: Error},
    )  # fmt: skip
    def test(self, query: webhook_schemas.WhichWebhook) -> StreamingReply:
        """Deliver a signed `webhook.test` event to a webhook endpoint now, even if the endpoint is
        off.

        Returns the receiver's status, how long it took, and the beginning of its response. There is
        only one attempt; if it has not ended within 20 seconds, the delivery is `pending`. You can
        send one test at a time and six per minute to an endpoint; beyond that, 429 with
        `Retry-After`.
        """
        test = deliveries.queue_test(endpoints.get(self.client, query.config_id))
        return StreamingReply(_until_ended(test), as_stream=False, status_of=lambda _: 200)

    @operation(
        "Webhook", "Get Webhook Events", access=ADMIN, returns=webhook_schemas.EventsResponse
    )
    def list(self, query: webhook_schemas.EventsQuery) -> dict[str, Any]:
        """List the event log, each event with its deliveries to your endpoints.

        With `order=asc` the list is a feed: store `next_cursor` and continue with it later; empty
        `items` mean that you have read everything. Send the same filters with every cursor. Cursors
        do not expire, and the feed skips only events that were deleted before you read them. An
        event is deleted with its conversation; the platform's operator may also delete events older
        than a number of months. The `webhooks` of the OpenAPI document have the schema of each
        type's `data`.
        """
        return events.page(self.client, query)

    @operation("Webhook", "Get Webhook Event", access=ADMIN, returns=webhook_schemas.Event)
    def retrieve(self, event_id: str) -> dict[str, Any]:
        """Get an event with its deliveries and its data, even if the webhook omitted large data."""
        return event_log_json.read(events.get(self.client, event_id))

    @operation(
        "Webhook", "Replay Webhook Event", access=ADMIN, returns=webhook_schemas.Event,
        also={409: None},
    )  # fmt: skip
    def replay(self, event_id: str, query: webhook_schemas.ReplayTarget) -> dict[str, Any]:
        """Send an event again, with the same id and body; the retries start over.

        A delivery that is being sent right now is not sent twice. *Get Webhook Event* shows the
        result. 409 `endpoint_disabled` if the endpoint is off, or if no active endpoint subscribes
        to the event's type.
        """
        event = events.get(self.client, event_id)
        target = endpoints.get(self.client, query.config_id) if query.config_id else None
        deliveries.replay(event, target)
        return event_log_json.read(event)

    @operation(
        "Webhook", "Replay Webhook Events", access=ADMIN, status=202, also={404: None, 409: None}
    )
    def replay_range(self, body: webhook_schemas.EventReplayRequest) -> webhook_schemas.Replay:
        """Send the events of a period to a webhook endpoint again, oldest first.

        The events are queued in the background. Each keeps its `webhook-id`, by which a receiver
        recognizes an event that it already has. *Get Webhook Events* with `config_id` shows the
        results. 409 `endpoint_disabled` if the endpoint is off.
        """
        config = endpoints.get(self.client, body.config_id)
        return deliveries.enqueue_replay(config, body)


def _until_ended(test: Delivery) -> Any:
    """Poll until the attempt has ended, then respond with the delivery."""

    def read() -> dict[str, Any]:
        (delivery,) = event_log_json.read(test.event)["deliveries"]
        return cast("dict[str, Any]", delivery)

    async def follow(listener: Listener, in_thread: InThread) -> Events:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + _TEST_WAIT_SECONDS
        delivery = await in_thread(read)
        while delivery["status"] == "pending" and loop.time() < ends_at:
            await asyncio.sleep(_TEST_POLL_SECONDS)
            delivery = await in_thread(read)
        yield ServerSent(StreamEvent.DONE, delivery)

    return follow
