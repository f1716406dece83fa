"""Jobs of the channels."""

from uuid import UUID

from channels_app.providers.types import Signal
from channels_app.services import (
    callbacks,
    consents,
    sending,
    token_refresh,
    typing_and_receipts,
    waiting_items,
)
from chatplatform.jobs import Queue, current_attempt, job, periodic


@job(
    "channels_app.deliver_message",
    queue=Queue.CHANNEL,
    max_attempts=12,
    on_dead=lambda message_id: sending.give_up(message_id),
)
def deliver_message(*, message_id: str) -> None:
    """A message to a customer, at its provider."""
    sending.deliver(message_id)


@job("channels_app.send_survey", queue=Queue.CHANNEL, max_attempts=5)
def send_survey(*, conversation_id: str) -> None:
    """The survey after the end of a chat."""
    typing_and_receipts.send_survey(conversation_id)


@job("channels_app.send_signal", queue=Queue.CHANNEL)
def send_signal(*, conversation_id: str, signal: Signal) -> None:
    """A tick or a typing hand, which would be late a second time."""
    if current_attempt() <= 1:
        typing_and_receipts.send_signal(conversation_id, signal)


@job(
    "channels_app.process_items",
    queue=Queue.CHANNEL,
    max_attempts=30,
    on_dead=lambda connection_id, customer_key: waiting_items.enqueue_next(
        UUID(connection_id), customer_key
    ),
)
def process_items(
    *, connection_id: str, customer_key: str, held_since: float | None = None
) -> None:
    """Messages and other events that a channel has reported."""
    waiting_items.process(UUID(connection_id), customer_key, held_since)


@job("channels_app.process_item_aside", queue=Queue.CHANNEL)
def process_item_aside(*, item_id: int, attempt: int) -> None:
    """A channel's event that could not be processed in its turn."""
    waiting_items.process_aside(item_id, attempt)


@job("channels_app.process_callback", queue=Queue.CHANNEL, max_attempts=10)
def process_callback(*, callback_id: int, account_id: str) -> None:
    """The items of one account in a callback; enqueued by the previous release."""
    callbacks.store_uncounted(callback_id, account_id)


@job("channels_app.process_customer", queue=Queue.CHANNEL, max_attempts=10)
def process_customer(*, callback_id: int, account_id: str, user_id: str) -> None:
    """The remaining items of one customer in a callback; enqueued by the previous release."""
    callbacks.store_uncounted(callback_id, account_id)


@job("channels_app.empty_callback", queue=Queue.CHANNEL, max_attempts=30_000)
def empty_callback(*, callback_id: int) -> None:
    """A callback that names an erased customer, once nobody else's items wait in it."""
    callbacks.empty(callback_id)


@job("channels_app.resolve_uncertain_sends", queue=Queue.CHANNEL)
def resolve_uncertain_sends(*, message_id: str) -> None:
    """A message of which no provider has told in time whether it went out."""
    sending.resolve_uncertain_sends(message_id)


@job("channels_app.refresh_token", queue=Queue.CHANNEL, max_attempts=8)
def refresh_token(*, connection_id: str) -> None:
    """A new token for a connection, before the old one ends."""
    token_refresh.refresh_by_id(connection_id)


@periodic("channels_app.refresh_tokens")
def refresh_tokens() -> None:
    """Have the tokens renewed that end soon."""
    token_refresh.enqueue_due()


@periodic("channels_app.enqueue_forgotten")
def enqueue_forgotten() -> None:
    """Enqueue jobs for channels' events that have none."""
    waiting_items.enqueue_forgotten()


@periodic("channels_app.clean_up")
def clean_up() -> None:
    """Delete callbacks and consents whose time is over."""
    callbacks.delete_old()
    consents.delete_old()
