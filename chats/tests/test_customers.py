"""Get Customers, Get Customer By Id, Update Customer, Merge Customers."""

import time
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from bots.testing import make_bot
from chatplatform.testing import in_thread, run_before
from chats.models import Conversation, Customer
from chats.testing import make_chat
from identity.models import AuditEvent
from identity.testing import make_key
from webhooks.models import Event


@pytest.fixture
def zoe(chat):
    """Known to the client's server as cust-7."""
    return chat.customer


@pytest.fixture
def visitor(bot):
    """Nobody's name for her is known yet; her chat is on the web."""
    customer = make_chat(bot, customer_name="Visitor").customer
    Customer.objects.filter(pk=customer.pk).update(
        email="zoe@example.com", phone="+84 901 234 567", attributes={"plan": "pro", "seen": 1}
    )
    identities().create(
        client=customer.client, customer=customer, channel="socialnet", account_id="104",
        provider_user_id="61",
    )  # fmt: skip
    customer.refresh_from_db()
    return customer


def identities():
    """The customers' ids on channels: rows of an app above this one."""
    return apps.get_model("channels_app", "CustomerIdentity").objects


def ids(reply):
    assert reply.status_code == 200
    return [item["id"] for item in reply.json()["items"]]


def path(customer, more=""):
    return f"/ai/customers/{customer.pk}{more}"


def test_customers_are_listed_and_found(ben, server, zoe, visitor):
    for caller in (ben, server):
        assert ids(caller.get("/ai/customers")) == [visitor.pk, zoe.pk]
        for q in ("isito", "ZOE@ex", "901 234", "vi"):
            assert ids(caller.get("/ai/customers", {"q": q})) == [visitor.pk], q
        assert ids(caller.get("/ai/customers", {"q": "ust-7"})) == [zoe.pk]
        assert ids(caller.get("/ai/customers", {"q": "si"})) == []
        assert ids(caller.get("/ai/customers", {"external_id": "cust-7"})) == [zoe.pk]
        assert ids(caller.get("/ai/customers", {"external_id": "cust"})) == []
    shown = ben.get(path(zoe)).json()
    assert (shown["id"], shown["name"], shown["external_id"]) == (zoe.pk, "Zoe", "cust-7")
    assert ids(ben.get("/ai/customers", {"limit": 1})) == [visitor.pk]


def test_the_chats_are_found_by_phone(ben, visitor):
    assert ids(ben.get("/ai/chats", {"q": "901 234"})) == [str(visitor.conversations.get().pk)]


def test_the_staffs_previews_make_no_customers(ann, bot):
    body = {"messages": [{"role": "user", "content": "Hello"}], "stream": False}
    assert ann.post(f"/ai/{bot.pk}/generate-chat", body).status_code < 300
    assert Customer.objects.exists()
    assert ids(ann.get("/ai/customers")) == []
    Conversation.objects.all().delete()  # as retention does
    assert ids(ann.get("/ai/customers")) == []


def test_fields_are_changed_cleared_and_kept(ben, zoe):
    body = {"email": "zoe@example.com", "attributes": {"plan": "pro", "age": 5}}
    assert ben.put(path(zoe), body).json()["attributes"] == {"plan": "pro", "age": 5}
    reply = ben.put(path(zoe), {"email": None, "attributes": {"age": None}})
    assert reply.status_code == 200
    zoe.refresh_from_db()
    assert (zoe.name, zoe.email, zoe.external_id) == ("Zoe", "", "cust-7")
    assert zoe.attributes == {"plan": "pro"}
    assert ben.put(path(zoe), {"name": "Zoe"}).status_code == 200
    changes = [event.changes for event in AuditEvent.objects.filter(action="customer.updated")]
    assert changes == [{"fields": ["email", "attributes"]}] * 2
    events = Event.objects.filter(type="customer.updated").order_by("pk")
    shown = [(row.data["customer"]["email"], row.data["customer"]["attributes"]) for row in events]
    assert shown == [("zoe@example.com", {"plan": "pro", "age": 5}), (None, {"plan": "pro"})]


def test_another_customers_external_id_is_refused(server, zoe, visitor):
    reply = server.put(path(visitor), {"name": "Dan", "external_id": "cust-7"})
    assert (reply.status_code, reply.json()["code"]) == (409, "external_id_taken")
    assert Customer.objects.get(pk=visitor.pk).name == "Visitor"


def test_answers_fit_the_bots_of_the_customers_chats(ann, bot, zoe):
    field = {"name": "age", "label": {"en": "Age"}, "type": "number"}
    ann.put(f"/ai/{bot.pk}/customer-info-field", {"fields": [field]})
    reply = ann.put(path(zoe), {"name": "Dan", "attributes": {"age": "old"}})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "attributes", "age"]
    assert Customer.objects.get(pk=zoe.pk).name == "Zoe"
    stranger = Customer.objects.create(client=ann.client)
    assert ann.put(path(stranger), {"attributes": {"age": "old"}}).status_code == 200


def test_two_customers_become_one(ben, zoe, visitor, add_message):
    chat = visitor.conversations.get()
    add_message(chat, "customer", "Hello")
    Customer.objects.filter(pk=zoe.pk).update(attributes={"plan": "gold"})
    reply = ben.post(path(zoe, f"/merge/{visitor.pk}"))
    assert reply.status_code == 200
    shown = reply.json()
    assert (shown["id"], shown["name"], shown["external_id"]) == (zoe.pk, "Zoe", "cust-7")
    assert (shown["email"], shown["phone"]) == ("zoe@example.com", "+84 901 234 567")
    assert shown["attributes"] == {"plan": "gold", "seen": 1}
    assert set(Conversation.objects.values_list("customer", flat=True)) == {zoe.pk}
    assert identities().get().customer == zoe
    assert ben.get(path(visitor)).status_code == 404
    assert len(ben.get(f"/ai/chat/history/customer/{zoe.pk}").json()["items"]) == 2
    assert Event.objects.filter(type="customer.merged").count() == 1
    audited = AuditEvent.objects.get(action="customer.merged")
    assert audited.subject == f"customer:{zoe.pk}"
    assert audited.changes == {"merged_id": visitor.pk}
    again = ben.post(path(zoe, f"/merge/{visitor.pk}"))
    assert again.status_code == 404


def test_the_one_who_stays_takes_the_only_external_id(server, zoe, visitor):
    shown = server.post(path(visitor, f"/merge/{zoe.pk}")).json()
    assert (shown["id"], shown["external_id"], shown["name"]) == (visitor.pk, "cust-7", "Visitor")
    opened = server.post("/ai/client/chat", {"customer": {"external_id": "cust-7"}}).json()
    assert opened["customer_id"] == visitor.pk


@pytest.mark.django_db(transaction=True)
def test_who_writes_of_a_customer_who_is_merged_meanwhile(ben, server, zoe, visitor):
    """The merge holds the two customers; the others have found the second, and wait for it."""
    Customer.objects.filter(pk=visitor.pk).update(external_id="web-1")
    calls = [
        lambda: ben.put(path(visitor), {"name": "Eve"}),
        lambda: server.post("/ai/client/chat", {"customer": {"external_id": "web-1"}}),
    ]
    waiting: list[Any] = []

    def start_others():
        waiting.extend(in_thread(call) for call in calls)
        with connection.cursor() as cursor:
            for _ in range(600):
                cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
                if cursor.fetchone() == (len(calls),):
                    return
                time.sleep(0.05)
        pytest.fail("they do not wait")

    with run_before("identity.services.audit.record", start_others):
        assert ben.post(path(zoe, f"/merge/{visitor.pk}")).status_code == 200
    for thread, _ in waiting:
        thread.join(30)
    edited, opened = (results[0] for _, results in waiting)
    assert (edited.status_code, opened.status_code) == (404, 201)
    newcomer = Customer.objects.get(external_id="web-1")
    assert opened.json()["customer_id"] == newcomer.pk != zoe.pk
    assert Customer.objects.get(pk=zoe.pk).name == "Zoe"


def test_nobody_is_merged_with_themselves_or_a_stranger(ben, zoe, client_b):
    other = make_chat(make_bot(client_b)).customer
    for merged_id in (other.pk, 999_999_999):
        assert ben.post(path(zoe, f"/merge/{merged_id}")).status_code == 404
    reply = ben.post(path(zoe, f"/merge/{zoe.pk}"))
    assert (reply.status_code, reply.json()["code"]) == (409, "same_customer")
    assert Customer.objects.count() == 2
    assert not AuditEvent.objects.filter(action="customer.merged").exists()


def test_access_is_refused(page, nobody, cara, client_a, zoe):
    other_bot = make_key(client_a, "secret", make_bot(client_a).pk)
    for stranger in (cara, other_bot):
        assert ids(stranger.get("/ai/customers")) == []
        assert stranger.get(path(zoe)).status_code == 404
        assert stranger.put(path(zoe), {"name": "Mallory"}).status_code == 404
        assert stranger.post(path(zoe, f"/merge/{zoe.pk}")).status_code == 404
    assert page.get("/ai/customers").status_code == 403
    assert nobody.get(path(zoe)).status_code == 401
    assert Customer.objects.get(pk=zoe.pk).name == "Zoe"
