"""What the tests of insights share: a chat, what is said in it, and a model that says as told."""

import pytest
from django.db import transaction

from chatplatform.tests import stub_model
from chats.models import Conversation, Message, SenderType, text_content
from chats.services import conversations, messages
from identity.models import CreditEntry, Subscription

NOBODY_LISTENS = "http://127.0.0.1:9/v1"


@pytest.fixture
def talk(server):
    """A chat of client A with its bot."""
    made = server.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()["id"]
    return Conversation.objects.get(pk=made)


@pytest.fixture
def model(settings):
    """A model server that answers `model.says` as JSON."""
    with stub_model.running("json") as server:
        settings.LLM_BASE_URL = server.base_url
        settings.LLM_MODEL = "stub"
        settings.LLM_DEADLINE_SECONDS = 30
        yield server


@pytest.fixture
def broken_model(settings):
    """A model's address at which nobody listens."""
    settings.LLM_BASE_URL = NOBODY_LISTENS
    settings.LLM_MODEL = "stub"


@pytest.fixture
def say():
    """`say(chat, "customer", "Hello")`: store a message without a reply or a job."""

    def said(chat: Conversation, side: str, text: str, **fields) -> Message:
        with transaction.atomic():
            made = messages.append(
                conversations.lock(chat),
                author=messages.Author(SenderType(side)),
                content=text_content(text),
            )
        if fields:
            Message.objects.filter(pk=made.pk).update(**fields)
        chat.refresh_from_db()
        return made

    return said


@pytest.fixture
def paid():
    """`paid(client)`: credits that are gone by the ledger, which must fit the balance."""

    def of(client) -> int:
        spent = -sum(CreditEntry.objects.of(client).values_list("amount", flat=True))
        left = Subscription.objects.get(client=client).credits_left
        assert left == 1000 - spent
        return spent

    return of
