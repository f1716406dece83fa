"""Events: written with the change, numbered without gaps."""

import uuid

import pytest
from django.db import IntegrityError, transaction

from webhooks.models import Event
from webhooks.services import announce


def test_it_works(client_a):
    chat = uuid.uuid4()
    event = announce(client_a.pk, "thing.done", {"a": 1}, conversation_id=chat, sequence=1)
    kept = Event.objects.get(pk=event.pk)
    assert (kept.client_id, kept.type, kept.data) == (client_a.pk, "thing.done", {"a": 1})
    assert (kept.conversation_id, kept.sequence) == (chat, 1)


def test_a_change_taken_back_is_not_announced(client_a):
    with transaction.atomic():
        announce(client_a.pk, "thing.done", {})
        transaction.set_rollback(True)
    assert Event.objects.count() == 0


def test_a_number_is_given_once(client_a):
    chat = uuid.uuid4()
    announce(client_a.pk, "thing.done", {}, conversation_id=chat, sequence=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        announce(client_a.pk, "thing.done", {}, conversation_id=chat, sequence=1)
    assert Event.objects.count() == 1
