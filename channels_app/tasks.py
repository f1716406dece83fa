"""The jobs of the messaging channels."""

from uuid import UUID

from channels_app.providers.types import Signal
from channels_app.services import (
    account_notices,
    callbacks,
    inbound_queue,
    oauth_authorizations,
    sending,
    token_refresh,
    typing_and_receipts,
)
from chatplatform.jobs import Queue, current_attempt, job, periodic


@job(
    "channels_app.deliver_message",
    queue=Queue.CHANNEL,
    max_attempts=12,
    on_dead=lambda message_id: sending.give_up(message_id),
)
def deliver_message(*, message_id: str) -> None:
    """Send a message to a customer through the provider."""
    sending.deliver(message_id)


@job("channels_app.send_survey", queue=Queue.CHANNEL, max_attempts=5)
def send_survey(*, conversation_id: str) -> None:
    """Send the survey after a chat has ended."""
    typing_and_receipts.send_survey(conversation_id)


@job("channels_app.send_signal", queue=Queue.CHANNEL)
def send_signal(*, conversation_id: str, signal: Signal) -> None:
    """Show a read tick or the typing indicator; a retry would be too late."""
    if current_attempt() <= 1:
        typing_and_receipts.send_signal(conversation_id, signal)


@job(
    "channels_app.process_items",
    queue=Queue.CHANNEL,
    max_attempts=30,
    on_dead=lambda connection_id, customer_key: inbound_queue.enqueue_next(
        UUID(connection_id), customer_key
    ),
)
def process_items(
    *, connection_id: str, customer_key: str, held_since: float | None = None
) -> None:
    """Process messages and other events from a channel."""
    inbound_queue.process(UUID(connection_id), customer_key, held_since)


@job("channels_app.retry_deferred_item", queue=Queue.CHANNEL)
def retry_deferred_item(*, item_id: int, attempt: int) -> None:
    """Retry an event from a channel after repeated failures."""
    inbound_queue.retry_deferred(item_id, attempt)


@job("channels_app.empty_callback", queue=Queue.CHANNEL, max_attempts=30_000)
def empty_callback(*, callback_id: int) -> None:
    """Empty a callback that contains an erased customer, once none of its items waits."""
    callbacks.empty(callback_id)


@job("channels_app.resolve_uncertain_sends", queue=Queue.CHANNEL)
def resolve_uncertain_sends(*, message_id: str) -> None:
    """Mark a message as failed if no echo has confirmed it in time."""
    sending.resolve_uncertain_sends(message_id)


@job("channels_app.refresh_token", queue=Queue.CHANNEL, max_attempts=8)
def refresh_token(*, connection_id: str) -> None:
    """Renew a connection's token before it expires."""
    token_refresh.refresh_by_id(connection_id)


@periodic("channels_app.refresh_tokens")
def refresh_tokens() -> None:
    """Enqueue the renewal of tokens that expire soon."""
    token_refresh.enqueue_due()


@periodic("channels_app.enqueue_forgotten")
def enqueue_forgotten() -> None:
    """Enqueue jobs for waiting events that have no job."""
    inbound_queue.enqueue_forgotten()


@periodic("channels_app.clean_up")
def clean_up() -> None:
    """Delete callbacks, notices and consents past their retention."""
    callbacks.delete_old()
    account_notices.delete_old()
    oauth_authorizations.delete_old()
