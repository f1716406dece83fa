"""One open chat for each customer, if the client wants that."""

import pytest

from bots.testing import make_bot
from chatplatform.testing import at_once, in_thread, run_before
from chats.models import Conversation, Customer, Message
from chats.testing import make_chat
from identity.models import ClientConfig
from identity.testing import make_key
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
ZOE = {"external_id": "zoe-1", "name": "Zoe"}


@pytest.fixture(autouse=True)
def config(client_a):
    ClientConfig.objects.filter(client=client_a).update(reuse_open=True)


def open_chat(caller, status=201, **body):
    reply = caller.post("/ai/client/chat", {"customer": ZOE} | body)
    assert reply.status_code == status, reply.content
    return reply.json()["id"]


def test_the_open_chat_is_found_again(server):
    first = open_chat(server, tags=["vip"], metadata={"a": 1})
    body = {"customer": ZOE | {"email": "zoe@b.example"}, "tags": ["new"], "metadata": {"b": 2}}
    again = server.post("/ai/client/chat", body)
    assert (again.status_code, again.json()["id"]) == (200, first)
    assert (again.json()["tags"], again.json()["metadata"]) == (["vip"], {"a": 1})
    assert again.json()["customer"]["email"] == "zoe@b.example"
    assert Conversation.objects.count() == Customer.objects.count() == 1
    assert Event.objects.filter(type="conversation.created").count() == 1


def test_its_message_is_stored_there(server):
    first = open_chat(server, message="Hello")
    open_chat(server, 200, message="It is me again")
    texts = (
        Message.objects.filter(conversation=first).order_by("seq").values_list("text", flat=True)
    )
    assert list(texts) == ["Hello", "It is me again"]


def test_a_snoozed_chat_is_open_and_a_message_wakes_it(server):
    first = open_chat(server)
    Conversation.objects.update(status="snoozed")
    assert open_chat(server, 200) == first
    assert Conversation.objects.get().status == "snoozed"
    assert open_chat(server, 200, message="Hello") == first
    assert Conversation.objects.get().status == "open"


def test_what_is_not_the_same_is_opened_anew(server, client_a, bot, page):
    first = open_chat(server)
    server.post(f"/ai/chat/{first}/end")
    second = open_chat(server)
    other_bot = make_key(client_a, "secret", make_bot(client_a).pk)
    others = {second, open_chat(other_bot), open_chat(server, customer={"external_id": "amy"})}
    others |= {open_chat(server, customer={"name": "Zoe"}) for _ in range(2)}
    others |= {open_chat(page, customer={"name": "Zoe"}) for _ in range(2)}
    assert len(others | {first}) == 8
    zoe = Customer.objects.get(external_id="zoe-1")
    Conversation.objects.all().delete()
    for fields in ({"channel": "chatapp"}, {"is_preview": True}):
        Conversation.objects.filter(pk=make_chat(bot, **fields).pk).update(customer=zoe)
    open_chat(server)


def test_a_client_may_not_want_it(server, client_a):
    ClientConfig.objects.filter(client=client_a).update(reuse_open=False)
    assert open_chat(server) != open_chat(server)


def test_two_at_once_open_one(server):
    for _ in range(3):
        ids = at_once(*[lambda: server.post("/ai/client/chat", {"customer": ZOE}).json()["id"]] * 4)
        assert len(set(ids)) == 1
        Conversation.objects.all().delete()


def test_a_chat_that_ends_meanwhile_is_not_used(server):
    first = open_chat(server)

    def end():
        thread, replies = in_thread(lambda: server.post(f"/ai/chat/{first}/end"))
        thread.join(30)
        assert replies[0].status_code == 200

    with run_before("chats.services.core.conversations.lock", end):
        assert open_chat(server) != first
