"""The catalogue of events: complete, documented, and true for the events that are announced."""

import ast

import orjson
import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from jsonschema import Draft202012Validator

from bots.testing import make_bot
from chatplatform.testing import documented, run_jobs
from identity.testing import make_key
from webhooks import catalogue
from webhooks.models import Payload


@pytest.fixture
def served():
    return documented.document()


def announced():
    """Every type that the code announces: texts like `subject.done` in a call of `announce`."""
    types: dict[str, str] = {}
    for path in sorted(settings.BASE_DIR.glob("*/**/*.py")):
        file = path.relative_to(settings.BASE_DIR)
        if "tests" in file.parts or file.parts[0].startswith((".", "var")):
            continue
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "announce" in text else ():
            if not isinstance(node, ast.Call) or "announce" not in ast.unparse(node.func):
                continue
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                for part in ast.walk(argument):
                    if (
                        isinstance(part, ast.Constant)
                        and isinstance(part.value, str)
                        and part.value.count(".") == 1
                        and part.value.replace(".", "").replace("_", "").isalpha()
                    ):
                        types[part.value] = str(file)
    return types


@pytest.mark.full
def test_every_announced_type_is_in_the_catalogue():
    types = announced()
    assert {"message.created", "conversation.created", "document.trained", "webhook.test"} <= set(
        types
    )
    assert {name: file for name, file in types.items() if name not in catalogue.EVENTS} == {}


def test_schemas_are_those_of_the_document(served):
    parts = [part for kind in catalogue.EVENTS.values() for part in kind.data.values()]
    names = {part for part in parts if isinstance(part, str)}
    assert names - set(served["components"]["schemas"]) == set()


@pytest.mark.parametrize("name", catalogue.EVENTS)
def test_each_type_is_documented_with_an_example_that_fits(served, name):
    operation = served["webhooks"][name]["post"]
    content = operation["requestBody"]["content"]["application/json"]
    validator(served, content["schema"]).validate(content["example"])
    assert content["example"]["type"] == name
    assert content["example"]["data"] is not None
    assert operation["description"]
    assert {parameter["name"] for parameter in operation["parameters"]} == {
        "webhook-id", "webhook-timestamp", "webhook-signature",
    }  # fmt: skip


def validator(served, schema):
    return Draft202012Validator({**schema, "components": served["components"]})


def test_the_page_about_webhooks_lists_all_types():
    page = (settings.BASE_DIR / "docs" / "webhooks.md").read_text()
    assert [name for name in catalogue.EVENTS if f"| `{name}` |" not in page] == []


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_sent_events_fit_their_schemas(served, ann, client_a, endpoint):
    """The bodies of real events match the schemas that clients rely on."""
    bot = make_bot(client_a)
    for name, text in (("good.txt", b"Open from nine to five."), ("bad.pdf", b"%PDF-1.4 broken")):
        file = SimpleUploadedFile(name, text)
        assert ann.upload(f"/ai/{bot.pk}/train/document", files=[file]).status_code < 300
    run_jobs()
    server = make_key(client_a, "secret", bot.pk)
    chat = server.post("/ai/client/chat", {"customer": {"name": "Zoe"}, "message": "Hi"}).json()
    server.post(f"/ai/client/chat/{chat['id']}", {"text": "I want a human", "reply": "async"})
    run_jobs()
    assert ann.post("/webhook/test").status_code == 200
    bodies = [orjson.loads(bytes(row.body)) for row in Payload.objects.all()]
    assert {body["type"] for body in bodies} >= {
        "conversation.created", "conversation.handed_off", "message.created", "document.trained",
        "document.failed", "webhook.test",
    }  # fmt: skip
    for body in bodies:
        schema = catalogue.schema_of(body["type"], served["components"]["schemas"])
        validator(served, schema).validate(body)
