"""The examples of the API's document: recorded here, in docs/examples.json, and all valid.

`RECORD_EXAMPLES=all pytest` on this file writes them anew, `RECORD_EXAMPLES=getBot,listBots` some;
then `make openapi` takes them over.
"""

import json
import os
from datetime import timedelta
from urllib.parse import quote

import jsonschema_rs
import pytest

from bots.models import Bot
from bots.testing import trained
from chatplatform.api.code_samples import SAMPLED, operations
from chatplatform.api.examples import FILE, REWRITTEN, recorded
from chatplatform.api.operation import Form
from chatplatform.api.operation_ids import operation_id
from chatplatform.api.schemas import shown_example
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.testing import documented, run_jobs
from chatplatform.tests.owners import *  # noqa: F403
from chatplatform.tests.served import ACCEPTED, ALL, callers, send, undone
from chats.models import Message
from chats.services.data_exchange import exporting
from identity.testing import Person

# Operations whose effects the examples of others show.
RUN_FIRST = {
    "setChatPriority", "createChatFeedBack", "updateCustomerInfoField", "updateProcedures",
}  # fmt: skip

# Operations whose examples show a question and the bot's answer from its documents.
ANSWERED = {
    "getChatMessages", "getChatMessagesByCode", "getChatMessagesWithCustomer", "getHistory",
    "getReplyReceipt", "listMessages", "migrateMessages", "getBotHistory", "getCustomerHistory",
    "generateReply", "continuePreview",
}  # fmt: skip


def _answered(key, ours):
    """The ids of a conversation in which the bot answered, instead of those in `ours`."""
    customer = {"name": "Zoe", "external_id": "customer-42"}
    opened = {"bot_id": ours["bot_id"], "customer": customer, "language": "en"}
    chat = key.post("/ai/client/chat", opened).json()
    asked = {"text": "How long does a parcel take?", "reply": "async"}
    assert key.post(f"/ai/client/chat/{chat['id']}", asked).status_code == 202
    run_jobs()
    Message.objects.exclude(conversation_id=chat["id"]).delete()
    answer = Message.objects.get(sender_type="bot")
    ids = {"chat_id": chat["id"], "conversation_id": chat["id"], "message_id": answer.pk}
    return ours | ids | {"chat_code": chat["chat_code"], "customer_id": chat["customer_id"]}


def _written(ann, ours):
    """The ids of a message that an agent just sent, instead of those in `ours`."""
    sent = ann.post(f"/ai/chat/{ours['chat_id']}/manual", {"text": "Hello"}).json()
    return ours | {"message_id": sent["id"]}


def _documented_path(served):
    return served.path + served.declared.path_suffix


@pytest.mark.timeout(900)
@pytest.mark.skipif("RECORD_EXAMPLES" not in os.environ, reason="writes docs/examples.json")
def test_record(ann, ann_key, ours, monkeypatch):
    monkeypatch.setattr(exporting, "SETTLED_AFTER", timedelta())
    chosen = os.environ["RECORD_EXAMPLES"].split(",")
    made = {} if chosen == ["all"] else dict(recorded())
    named = [
        (operation_id(served.method, _documented_path(served), served.declared.name), served)
        for served in ALL
    ]
    bot = Bot.objects.get(pk=ours["bot_id"])
    trained(bot, "A parcel arrives within two days.", "Delivery")
    trained(bot, "You can send a parcel back within thirty days.", "Returns")
    for name, served in named:
        if name in RUN_FIRST:
            assert send(ann, served, ours, shown_example(served.declared.body)).status_code < 300
    for name, served in named:
        if chosen != ["all"] and name not in chosen:
            continue
        example = {}
        body = ACCEPTED.get(served.at)
        if isinstance(body, dict) and all(_is_plain(value) for value in body.values()):
            example["body"] = body
        caller = (callers(served.declared.access, ann, ann_key) or [Person()])[0]
        is_schema = not isinstance(served.declared.body, Form | None)
        shown = shown_example(served.declared.body) if is_schema else None
        for tried in (shown, None):
            with undone():
                ids = ours
                if name in ANSWERED:
                    ids = _answered(ann_key, ours)
                elif name in {"editMessage", "deleteMessage"}:
                    ids = _written(ann, ours)
                reply = send(caller, served, ids, tried)
            if reply.status_code < 300:
                break
        is_json = reply.headers.get("Content-Type", "") == "application/json"
        if reply.status_code < 300 and is_json and not hasattr(reply, "follow"):
            example[str(reply.status_code)] = _shortened(reply.json())
        made[name] = example
    FILE.write_text(json.dumps(dict(sorted(made.items())), indent=1, ensure_ascii=False) + "\n")


def _is_plain(value):
    return isinstance(value, (str, int, float, bool, list, dict, type(None)))


def _shortened(value):
    """Lists of an example have at most two rows; a table has all of its columns."""
    if isinstance(value, dict):
        return {
            name: part if name == "columns" else _shortened(part) for name, part in value.items()
        }
    return [_shortened(part) for part in value[:2]] if isinstance(value, list) else value


def as_requests(node):
    """The document for requests, which may leave out what is `readOnly`."""
    if isinstance(node, list):
        return [as_requests(part) for part in node]
    if not isinstance(node, dict):
        return node
    parts = node.get("properties")
    shown = {key: as_requests(part) for key, part in node.items()}
    if isinstance(parts, dict) and isinstance(node.get("required"), list):
        shown["required"] = [name for name in node["required"] if not parts[name].get("readOnly")]
    return shown


def contents():
    """Each body and each JSON reply of a success, with its place."""
    for path, method, operation in operations(documented.document()):
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            yield ("paths", path, method, "requestBody", "content", kind), content
        for status, answer in operation["responses"].items():
            for kind, content in answer.get("content", {}).items():
                if status < "300" and kind == "application/json":
                    yield ("paths", path, method, "responses", status, "content", kind), content


def test_every_body_and_reply_has_an_example_and_each_is_valid():
    schemas = {False: documented.document(), True: as_requests(documented.document())}
    registries = {
        is_body: jsonschema_rs.Registry([("urn:document", schema)])
        for is_body, schema in schemas.items()
    }
    found = list(contents())
    assert len(found) > 300
    faults = []
    for place, content in found:
        if place[-1] == "multipart/form-data":
            continue  # files are no JSON
        pointer = "/".join(
            step.replace("~", "~0").replace("/", "~1") for step in (*place, "schema")
        )
        schema = {"$ref": f"urn:document#/{quote(pointer)}"}
        registry = registries["requestBody" in place]
        validator = jsonschema_rs.Draft202012Validator(schema, registry=registry)
        faults += [
            f"{' '.join(place[1:3])} {error.instance_path}: {error.message}"
            for error in validator.iter_errors(content["example"])
        ]
    assert faults == []


def _contradictions(sent, shown, at=()):
    """The places where a response shows another value than its request sends, of the same type."""
    if isinstance(sent, dict) and isinstance(shown, dict):
        for name in sent.keys() & shown.keys():
            yield from _contradictions(sent[name], shown[name], (*at, name))
    elif isinstance(sent, list) and isinstance(shown, list):
        if len(sent) != len(shown):
            yield at
        for part, other in zip(sent, shown, strict=False):
            yield from _contradictions(part, other, at)
    elif type(sent) is type(shown) and sent != shown:
        yield at


def test_no_response_contradicts_its_request():
    compared, found = 0, []
    for path, _method, operation in operations(documented.document()):
        bodies = [*operation.get("requestBody", {}).get("content", {}).values()]
        for status, response in operation["responses"].items():
            content = response.get("content", {}).get("application/json", {})
            if not bodies or "example" not in content or status >= "300":
                continue
            compared += 1
            at = _contradictions(bodies[0]["example"], content["example"])
            name = operation["operationId"]
            found += [(name, *place) for place in at if (name, place[-1]) not in REWRITTEN]
            if "channel" in content["example"] and path.split("/")[1] in MESSAGING_CHANNELS:
                assert content["example"]["channel"] == path.split("/")[1]
    assert compared > 60
    assert found == []


def _objects(value):
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, (dict, list)):
            yield from _objects(part)


def test_no_example_contradicts_itself():
    for place, content in contents():
        if "requestBody" in place or not isinstance(content["example"], (dict, list)):
            continue
        for row in _objects(content["example"]):
            assert (row.get("updated_at") or "9") >= (row.get("created_at") or ""), place
            if {"done", "total"} <= row.keys():
                assert row["done"] + row.get("failed", 0) <= row["total"], place
            if row.get("status") in {"queued", "pending", "running"}:
                assert not row.get("finished_at"), place
            if "columns" in row and "rows" in row:
                names = {column["name"] for column in row["columns"]}
                assert all(entry.keys() == names for entry in row["rows"]), place
        if "202" in place and isinstance(content["example"], dict):
            assert content["example"].get("status") not in {"answered", "done"}, place


def test_every_message_in_an_example_says_something():
    messages = [
        (place, row)
        for place, content in contents()
        if isinstance(content["example"], (dict, list))
        for row in _objects(content["example"])
        if {"seq", "sender", "content"} <= row.keys()
    ]
    assert len(messages) > 20
    assert [place for place, row in messages if not (row["content"] or row.get("deleted_at"))] == []


def test_the_example_of_a_receipt_explains_an_answer():
    at = documented.document()["paths"]["/ai/chat/{chat_id}/messages/{message_id}/receipt"]["get"]
    receipt = at["responses"]["200"]["content"]["application/json"]["example"]
    assert receipt["decision"] == "answered"
    assert receipt["confidence"] >= receipt["threshold"]
    assert receipt["passages"][0]["text"]


def test_update_bot_shows_one_field():
    at = documented.document()["paths"]["/ai/bot/{bot_id}/update-bot"]["put"]
    assert len(at["requestBody"]["content"]["application/json"]["example"]) == 1


def test_thirty_operations_have_samples():
    sampled = {
        operation["operationId"]: [sample["label"] for sample in operation["x-codeSamples"]]
        for _, _, operation in operations(documented.document())
        if "x-codeSamples" in operation
    }
    assert set(sampled) == SAMPLED
    assert len(SAMPLED) == 30
    assert all(labels == ["curl", "Python", "TypeScript"] for labels in sampled.values())
