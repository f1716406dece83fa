"""Update customer information in chat conversation."""

import threading
import time

import pytest
from django.db import connection, transaction

from bots.testing import make_bot
from chats.models import Conversation, Customer
from chats.services.core import customers
from chats.testing import make_chat, visit
from webhooks.models import Event


def path_of(chat):
    return f"/ai/client/chat/customer/{chat.pk}"


@pytest.fixture
def chat(server):
    """A chat of a customer whom the client's system does not name yet."""
    created = server.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()
    return Conversation.objects.get(pk=created["id"])


@pytest.fixture
def known_customer(chat):
    """The customer whom the client's system calls c-1, with another chat."""
    customer = Customer.objects.create(
        client=chat.client, external_id="c-1", name="Dan", email="dan@example.com",
        attributes={"plan": "pro"},
    )  # fmt: skip
    other_chat = make_chat(chat.bot)
    Conversation.objects.filter(pk=other_chat.pk).update(customer=customer)
    return customer


def test_fields_are_updated(server, chat):
    server.post(path_of(chat), {"email": "zoe@example.com", "attributes": {"a": 1, "b": 1}})
    reply = server.post(path_of(chat), {"phone": "123", "attributes": {"b": [2]}})
    assert reply.status_code == 200
    assert reply.json()["id"] == str(chat.pk)
    assert reply.json()["customer"] == {
        "external_id": None, "name": "Zoe", "email": "zoe@example.com", "phone": "123",
        "avatar_url": None, "attributes": {"a": 1, "b": [2]}, "provider_user_id": None,
    }  # fmt: skip
    assert Customer.objects.count() == 1
    # Nothing happened in the chat itself.
    assert Event.objects.filter(conversation_id=chat.pk).count() == 1
    told = [
        event.data["customer"]
        for event in Event.objects.filter(type="customer.updated").order_by("id")
    ]
    assert [(item["email"], item["phone"]) for item in told] == [
        ("zoe@example.com", None), ("zoe@example.com", "123"),
    ]  # fmt: skip
    chat.refresh_from_db()
    assert (chat.version, chat.message_count) == (1, 0)


def test_an_unused_external_id_is_set(server, chat):
    shown = server.post(path_of(chat), {"external_id": "c-9"}).json()["customer"]
    assert (shown["external_id"], shown["name"]) == ("c-9", "Zoe")
    assert Customer.objects.get().pk == chat.customer_id
    announced = Event.objects.get(type="customer.updated").data["customer"]
    assert (announced["id"], announced["external_id"]) == (chat.customer_id, "c-9")
    again = server.post(path_of(chat), {"external_id": "c-9", "name": "Zora"}).json()["customer"]
    assert (again["external_id"], again["name"]) == ("c-9", "Zora")
    assert Customer.objects.count() == 1


def test_another_customers_external_id_moves_the_chat(server, chat, known_customer):
    body = {"external_id": "c-1", "phone": "123", "attributes": {"seen": True}}
    shown = server.post(path_of(chat), body).json()["customer"]
    assert (shown["name"], shown["email"], shown["phone"]) == ("Dan", "dan@example.com", "123")
    assert shown["attributes"] == {"plan": "pro", "seen": True}
    old_customer_id = chat.customer_id
    chat.refresh_from_db()
    assert chat.customer_id == known_customer.pk
    assert Customer.objects.get(pk=old_customer_id).name == "Zoe"


def test_a_customer_keeps_the_external_id(server, known_customer):
    """A chat moves to a new customer; the other chats stay with the known one."""
    chat, other = known_customer.conversations.get(), make_chat(make_bot(known_customer.client))
    Conversation.objects.filter(pk=other.pk).update(customer=known_customer)
    shown = server.post(path_of(chat), {"external_id": "c-2", "name": "Eve"}).json()["customer"]
    assert (shown["external_id"], shown["name"], shown["email"]) == ("c-2", "Eve", None)
    known_customer.refresh_from_db()
    assert (known_customer.external_id, known_customer.name) == ("c-1", "Dan")
    assert known_customer.conversations.get() == other


def test_two_clients_may_use_one_external_id(server, chat, client_b):
    Customer.objects.create(client=client_b, external_id="c-7", name="Cleo")
    assert server.post(path_of(chat), {"external_id": "c-7"}).json()["customer"]["name"] == "Zoe"


def test_an_external_id_that_is_taken_meanwhile_moves_the_chat(server, chat, client_a, monkeypatch):
    real = customers._lock

    def create_customer_first(customer_id):
        Customer.objects.get_or_create(client=client_a, external_id="c-3", name="Dan")
        return real(customer_id)

    monkeypatch.setattr(customers, "_lock", create_customer_first)
    shown = server.post(path_of(chat), {"external_id": "c-3"})
    assert (shown.status_code, shown.json()["customer"]["name"]) == (200, "Dan")


@pytest.mark.django_db(transaction=True)
def test_a_message_is_stored_while_the_chat_moves_to_another_customer(server, chat, known_customer):
    """A request that waited for the chat continues with its new customer."""
    replies = []

    def send():
        try:
            replies.append(
                server.post(f"/ai/client/chat/{chat.pk}", {"text": "Hi", "reply": "none"})
            )
        finally:
            connection.close()

    thread = threading.Thread(target=send)
    with transaction.atomic():
        Conversation.objects.filter(pk=chat.pk).update(customer=known_customer)
        thread.start()
        _wait_for_blocked_query()
    thread.join(60)
    assert [reply.status_code for reply in replies] == [200]
    assert replies[0].json()["message"]["sender"]["id"] == str(known_customer.pk)


def _wait_for_blocked_query():
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks"
                " WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            )
            if cursor.fetchone()[0]:
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits for the row")


def test_an_email_address_does_not_identify_a_customer(page, known_customer):
    visitor, chat = visit(page)
    shown = visitor.post(path_of(chat), {"name": "Dan", "email": "dan@example.com"}).json()
    assert shown["customer"] == {"name": "Dan", "email": "dan@example.com", "phone": None}
    chat.refresh_from_db()
    assert chat.customer_id != known_customer.pk


def test_a_public_key_may_not_set_an_external_id(page, known_customer):
    visitor, chat = visit(page)
    reply = visitor.post(path_of(chat), {"external_id": "c-1", "name": "Dan"})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "external_id"]
    chat.refresh_from_db()
    assert (chat.customer.name, chat.customer_id == known_customer.pk) == ("", False)


def test_the_size_of_all_attributes_is_limited(server, chat):
    for first in (0, 150):
        reply = server.post(path_of(chat), {"attributes": {str(first + n): n for n in range(150)}})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "attributes"]
    assert len(Customer.objects.get().attributes) == 150


@pytest.mark.parametrize(
    "body",
    [
        [], {"name": 5}, {"name": "x" * 201}, {"email": "zoe"}, {"phone": "x" * 41},
        {"avatar_url": "javascript:alert(1)"}, {"avatar_url": "https://x y"},
        {"external_id": ""}, {"external_id": "a\x00"},
        {"attributes": []}, {"attributes": {"a": "\x00"}}, {"id": 5}, {"client_id": 1},
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(server, chat, body):
    assert server.post(path_of(chat), body).status_code == 422
    assert Customer.objects.get().name == "Zoe"
