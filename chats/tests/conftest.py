"""Chats, models and a company's server behind real sockets; a file's own fixtures go first."""

import pytest
from django.db import transaction

from bots.testing import make_bot
from chatplatform.testing import stub_model, tool_server
from chats.models import Conversation, Message, SenderType, text_content
from chats.services.core import conversations, messages
from identity.models import CreditEntry, EntryKind, Role, Subscription
from identity.testing import make_key, make_person

NOBODY_LISTENS = "http://127.0.0.1:9/v1"
SECRET = "Bearer very-secret-token"


@pytest.fixture
def bea(client_a):
    """A second agent beside Ben."""
    return make_person(client_a, Role.AGENT, "Bea")


@pytest.fixture
def shop(client_a):
    """A server of a client whose people answer instead of the bot."""
    return make_key(client_a, "secret", make_bot(client_a, agent_reply=True).pk)


@pytest.fixture
def tool(settings):
    with tool_server.running() as server:
        settings.EGRESS_ALLOW = [server.host_port]
        yield server


@pytest.fixture
def stub(settings):
    """A model server that answers a question as `stub.play(...)` says."""
    with stub_model.running() as server:
        settings.LLM_BASE_URL, settings.LLM_MODEL = server.base_url, "stub"
        settings.LLM_DEADLINE_SECONDS = 30
        yield server


@pytest.fixture
def chat(server):
    """A chat of client A with its bot."""
    customer = {"external_id": "cust-7", "name": "Zoe"}
    created = server.post("/ai/client/chat", {"customer": customer}).json()
    return Conversation.objects.get(pk=created["id"])


@pytest.fixture
def configure(ann, bot, tool):
    """Store functions through the API."""

    def store(*functions, **more):
        body = {"is_enabled": True, "functions": list(functions), **more}
        reply = ann.post(f"/function-calling/{bot.pk}", body)
        assert reply.status_code == 200, reply.content

    return store


@pytest.fixture
def get_order(tool):
    return {
        "name": "get_order",
        "description": "Says where an order of the customer is.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "maxLength": 20}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
        "http": {
            "method": "GET",
            "url": f"http://{tool.host_port}/customers/{{customer.external_id}}/orders/{{order_id}}",
        },
        "secret_headers": {"Authorization": SECRET},
    }


@pytest.fixture
def refund(get_order, tool):
    return {
        **get_order,
        "name": "refund",
        "description": "Gives the money for an order back.",
        "requires_approval": "none",
        "http": {
            "method": "POST",
            "url": f"http://{tool.host_port}/refunds",
            "headers": {"X-Shop": "main"},
            "body_template": '{"order": {{order_id}}, "by": "{{customer.external_id}}",'
            ' "chat": "{{chat.id}}"}',
        },
    }


@pytest.fixture
def model(settings):
    """A model server that answers `model.json_answer` as JSON."""
    with stub_model.running("json") as server:
        settings.LLM_BASE_URL, settings.LLM_MODEL = server.base_url, "stub"
        settings.LLM_DEADLINE_SECONDS = 30
        yield server


@pytest.fixture
def broken_model(settings):
    """A model's address at which nobody listens."""
    settings.LLM_BASE_URL = NOBODY_LISTENS
    settings.LLM_MODEL = "stub"


@pytest.fixture
def add_message():
    """`add_message(chat, "customer", "Hello")`: store a message without a reply or a job."""

    def add(chat: Conversation, side: str, text: str, **fields) -> Message:
        with transaction.atomic():
            message = messages.append(
                conversations.lock(chat),
                author=messages.Author(SenderType(side)),
                content=text_content(text),
            )
        if fields:
            Message.objects.filter(pk=message.pk).update(**fields)
        chat.refresh_from_db()
        return message

    return add


@pytest.fixture
def credits_spent():
    """`credits_spent(client)`: the sum of the ledger, which must agree with the balance."""

    def count(client) -> int:
        entries = CreditEntry.objects.for_client(client).filter(
            kind__in=[EntryKind.RESERVE, EntryKind.SETTLE, EntryKind.RELEASE]
        )
        spent: int = -sum(entries.values_list("amount", flat=True))
        left = Subscription.objects.get(client=client).credits_left
        assert left == 1000 - spent
        return spent

    return count
