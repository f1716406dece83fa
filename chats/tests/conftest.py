"""A bot with a model and a company's server behind real sockets; a file's own fixtures go first."""

import pytest

from chatplatform.tests import stub_model, tool_server
from chats.models import Conversation

SECRET = "Bearer very-secret-token"


@pytest.fixture
def tool(settings):
    with tool_server.running() as server:
        settings.EGRESS_ALLOW = [server.place]
        yield server


@pytest.fixture
def stub(settings):
    with stub_model.running() as server:
        settings.LLM_BASE_URL, settings.LLM_MODEL = server.base_url, "stub"
        settings.LLM_DEADLINE_SECONDS = 30
        yield server


@pytest.fixture
def chat(server):
    opened = server.post("/ai/client/chat", {"customer": {"external_id": "cust-7"}}).json()
    return Conversation.objects.get(pk=opened["id"])


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
            "url": f"http://{tool.place}/customers/{{customer.external_id}}/orders/{{order_id}}",
        },
        "secret_headers": {"Authorization": SECRET},
    }


@pytest.fixture
def refund(get_order, tool):
    return {
        **get_order,
        "name": "refund",
        "description": "Gives the money for an order back.",
        "http": {
            "method": "POST",
            "url": f"http://{tool.place}/refunds",
            "headers": {"X-Shop": "main"},
            "body_template": '{"order": {{order_id}}, "by": "{{customer.external_id}}",'
            ' "chat": "{{chat.id}}"}',
        },
    }
