"""What channels report of a message only moves its status forward, in whatever order it comes."""

import itertools

import pytest
from django.utils import timezone

from chats.models import Conversation, Message, MessageStatus
from chats.services.core import message_status
from webhooks.models import Event

pytestmark = pytest.mark.django_db
# Sent, then told to have failed, and yet delivered: what is known to have arrived has arrived.
REPORTS = ("sent", "delivered", "read", "failed", "uncertain")


@pytest.fixture
def message(chat, add_message):
    return add_message(chat, "agent", "Hello", status=MessageStatus.PENDING)


def report(message, name):
    message = Message.objects.get(pk=message.pk)
    if name == "sent":
        message_status.record_sent(message, provider_message_id="m_1")
    elif name == "failed":
        message_status.record_failed(message, error="Gone")
    elif name == "uncertain":
        message_status.record_uncertain(message)
    elif name == "read":
        message_status.record_arrival(
            message.conversation, [message.pk], MessageStatus.READ, at=timezone.now()
        )
    else:
        message_status.record_arrival(
            message.conversation, [message.pk], MessageStatus.DELIVERED, at=timezone.now()
        )


@pytest.mark.parametrize("order", list(itertools.permutations(REPORTS, 2)), ids="-".join)
def test_the_furthest_report_counts_in_any_order(message, order):
    for name in order:
        report(message, name)
        report(message, name)
    message.refresh_from_db()
    rank = ("sent", "failed", "delivered", "read")
    told = [name for name in order if name in rank]
    assert message.status == max(told, key=rank.index)
    assert bool(message.read_at) == ("read" in order)
    assert bool(message.delivered_at) == bool({"read", "delivered"} & set(order))
    assert bool(message.error) == (message.status == "failed")
    kinds = list(Event.objects.filter(type__startswith="message.").values_list("type", flat=True))
    for kind in ("message.delivered", "message.read", "message.failed"):
        assert kinds.count(kind) <= 1


def test_the_events_are_numbered_without_gaps(message):
    for name in ("uncertain", "sent", "delivered", "read"):
        report(message, name)
    events = Event.objects.filter(conversation_id=message.conversation_id).order_by("sequence")
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert [event.type for event in events][-3:] == [
        "message.updated", "message.delivered", "message.read",
    ]  # fmt: skip
    assert Conversation.objects.get().last_event_seq == len(events)
