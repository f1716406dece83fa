"""Create new chat conversation."""

import pytest

from bots.testing import make_bot
from chatplatform.models import Job
from chatplatform.testing import run_before
from chats.models import Conversation, Customer, Message
from identity.testing import make_key
from webhooks.models import Event

PATH = "/ai/client/chat"


def stored():
    return Conversation.objects.count(), Customer.objects.count(), Message.objects.count()


def test_a_chat_is_opened(server, bot):
    reply = server.post(
        PATH,
        {
            "customer": {"external_id": "c-1", "name": "Dan", "attributes": {"plan": "pro"}},
            "language": "vi",
            "tags": ["vip", "vip", "new"],
            "location": {"country": "VN", "city": "Hanoi"},
            "metadata": {"order": 7},
        },
    )
    assert reply.status_code == 201
    chat = reply.json()
    assert chat["bot_id"] == bot.pk
    assert (chat["status"], chat["assign_type"], chat["version"]) == ("open", "bot", 1)
    assert (chat["channel"], chat["language"], chat["can_reply"]) == ("api", "vi", True)
    assert chat["tags"] == ["vip", "new"]
    assert {name: value for name, value in chat["location"].items() if value} == {
        "country": "VN",
        "city": "Hanoi",
    }
    assert chat["metadata"] == {"order": 7}
    assert chat["customer"]["external_id"] == "c-1"
    assert chat["customer"]["attributes"] == {"plan": "pro"}
    assert (chat["message_count"], chat["handoff_reason"]) == (0, None)
    event = Event.objects.get()
    assert (event.type, event.sequence) == ("conversation.created", 1)
    assert str(event.conversation_id) == chat["id"]
    assert Job.objects.count() == 0


def test_an_empty_body_opens_a_chat(page):
    reply = page.post(PATH, {})
    assert reply.status_code == 201
    assert reply.json()["language"] == "en"
    assert reply.json()["customer"] == {"name": None, "email": None, "phone": None}


def test_the_first_message_is_stored_and_answered_later(server):
    chat = server.post(PATH, {"message": "When do you open?"}).json()
    assert (chat["message_count"], chat["unread_count"]) == (1, 1)
    message = Message.objects.get()
    assert (message.seq, message.sender_type) == (1, "customer")
    job = Job.objects.get()
    assert (job.name, job.args) == ("chats.generate_reply", {"message_id": str(message.pk)})
    types = list(Event.objects.order_by("sequence").values_list("type", flat=True))
    assert types == ["conversation.created", "message.created"]


def test_a_known_external_id_is_the_same_customer(server):
    first = {"external_id": "c-1", "name": "Dan", "attributes": {"a": 1, "b": 1}}
    server.post(PATH, {"customer": first})
    again = {"external_id": "c-1", "email": "dan@example.com", "attributes": {"b": 2}}
    chat = server.post(PATH, {"customer": again}).json()
    customer = Customer.objects.get()
    assert (customer.name, customer.email) == ("Dan", "dan@example.com")
    assert chat["customer"]["attributes"] == {"a": 1, "b": 2}


def test_two_clients_may_use_one_external_id(server, client_b):
    other = make_key(client_b, "secret", make_bot(client_b).pk)
    for key in (server, other):
        assert key.post(PATH, {"customer": {"external_id": "c-1"}}).status_code == 201
    assert Customer.objects.count() == 2


def test_a_public_key_may_not_set_an_external_id(page):
    reply = page.post(PATH, {"customer": {"external_id": "c-1"}})
    assert (reply.status_code, reply.json()["code"]) == (401, "identity_not_signed")
    assert stored() == (0, 0, 0)


@pytest.mark.parametrize(
    ("field", "reason"), [("is_disabled", "bot_disabled"), ("agent_reply", "agents_reply")]
)
def test_a_chat_waits_in_the_queue_if_the_bot_is_off(server, bot, field, reason):
    setattr(bot, field, True)
    bot.save()
    chat = server.post(PATH, {"message": "Hello?"}).json()
    assert (chat["assign_type"], chat["handoff_reason"]) == ("queue", reason)
    assert chat["waiting_since"].endswith("Z")
    assert Job.objects.get().name == "chats.notify_waiting"


def test_a_key_of_several_bots_must_name_one(client_a, bot):
    key = make_key(client_a, "secret")
    assert key.post(PATH, {}).status_code == 201
    second = make_bot(client_a)
    reply = key.post(PATH, {})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "bot_id"]
    assert key.post(PATH, {"bot_id": second.pk}).json()["bot_id"] == second.pk


def test_a_key_serves_no_other_bot(server, client_a):
    reply = server.post(PATH, {"bot_id": make_bot(client_a).pk})
    assert (reply.status_code, reply.json()["field"]) == (404, "bot_id")
    assert stored() == (0, 0, 0)


def test_another_clients_bot_is_not_found(client_a, client_b, bot):
    reply = make_key(client_a, "secret").post(PATH, {"bot_id": make_bot(client_b).pk})
    assert reply.status_code == 404
    assert stored() == (0, 0, 0)


@pytest.mark.parametrize("caller", ["nobody", "ann"])
def test_a_key_is_required(db, caller, request):
    assert request.getfixturevalue(caller).post(PATH, {}).status_code == 401
    assert stored() == (0, 0, 0)


@pytest.mark.parametrize(
    "body",
    [
        [],
        "text",
        b"{",
        {"bot_id": "x"},
        {"bot_id": 2**70},
        {"message": ""},
        {"message": "   "},
        {"message": "x" * 8001},
        {"message": "a\x00b"},
        {"language": "English"},
        {"channel": "chatapp"},
        {"location": {"country": "x" * 101}},
        {"location": {"latitude": 21.0}},
        {"tags": [""]},
        {"tags": ["x" * 61]},
        {"tags": ["x"] * 21},
        {"metadata": {"a": "\x00"}},
        {"customer": {"email": "nobody"}},
        {"customer": {"avatar_url": "javascript:alert(1)"}},
        {"customer": {"attributes": {"a\x00": 1}}},
        {"unknown": 1},
    ],
)
def test_a_wrong_body_is_refused(server, body):
    reply = server.post(PATH, body)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"][0] == "body"
    assert stored() == (0, 0, 0)
    assert Event.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_bot_that_is_being_deleted_is_not_found(server, ann, bot):
    def delete():
        assert ann.delete(f"/ai/bot/{bot.pk}").status_code == 204

    with run_before("bots.services.bots.lock_against_deletion", delete):
        reply = server.post("/ai/client/chat", {})
    assert reply.status_code == 404
    assert not Conversation.objects.exists()
