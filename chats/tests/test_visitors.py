"""Visitors of a page: what a public key, which everybody can read, does for one of them."""

import hashlib
import hmac
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from bots.testing import make_bot, trained
from chatplatform.testing import run_jobs
from chats.models import Conversation, Customer, Feedback, Message, Tagging
from chats.services.core import conversations, lifecycle
from chats.testing import make_chat, visit, visitor_of
from identity.models import AuditEvent
from identity.services import visitor_tokens
from identity.testing import Person, make_key
from webhooks.models import Event

CHAT = "/ai/client/chat"
HIDDEN = {"tags", "sentiment", "summary", "assignee", "metadata", "attributes", "customer_id",
          "recipient", "status", "receipt", "delivered_at", "read_at", "handoff_reason",
          "unread_count", "provider_message_id"}  # fmt: skip


def ways_into(chat):
    """Every operation that shows or changes an existing chat: method, path, body."""
    path, at = f"{CHAT}/{chat.pk}", f"/ai/chat/{chat.pk}"
    return [
        ("get", path, None),
        ("post", path, {"text": "Hello", "reply": "none"}),
        ("get", f"{CHAT}/history/{chat.pk}", None),
        ("get", f"{CHAT}/messages/{chat.chat_code}", None),
        ("post", f"{CHAT}/customer/{chat.pk}", {"name": "Eve"}),
        ("post", f"{CHAT}/auto-response/{chat.pk}", None),
        ("post", f"{path}/delivered", {}),
        ("post", f"{path}/read", {}),
        ("get", f"{path}/transcript", None),
        ("get", f"{path}/transcript.txt", None),
        ("post", f"{path}/transcript/mail", {"email": "eve@example.com"}),
        ("post", f"{at}/typing", {"is_typing": True}),
        ("post", f"{at}/feedback", {"rating": 1}),
        ("post", f"{at}/end", None),
    ]


def call(caller, method, path, body):
    return caller.get(path) if method == "get" else caller.post(path, body)


def test_a_page_reaches_no_chat_without_its_visitors_token(page, client_a, bot):
    visitor, chat = visit(page, message="Where is my order?", customer={"name": "Zoe"})
    stranger = visit(page)[0]
    other_page = visitor_of(make_key(client_a, "public", bot.pk), chat)
    before = Conversation.objects.values().get(pk=chat.pk), Message.objects.count()
    for way in ways_into(chat):
        for caller in (page, stranger, other_page):
            reply = call(caller, *way)
            assert (reply.status_code, reply.json()["code"]) == (404, "not_found"), way
    assert (Conversation.objects.values().get(pk=chat.pk), Message.objects.count()) == before
    assert (Feedback.objects.count(), chat.customer.name) == (0, "Zoe")
    bot.export_enabled = True
    bot.save()
    for way in ways_into(chat):
        assert call(visitor, *way).status_code < 300, way


def test_a_wrong_or_old_token_is_refused_and_opens_nothing(page, client_a, bot, monkeypatch):
    visitor, chat = visit(page)
    token = visitor.headers["Visitor-Token"]
    of_other_bot = visitor_tokens.issue(
        bot_id=make_bot(client_a).pk, visitor_id=chat.visitor_id or 0
    )
    for wrong in ("", "x", token[:-1], f"{token}x", of_other_bot, "é"):
        for path, body in ((CHAT, {}), (f"{CHAT}/{chat.pk}", {"text": "Hello"})):
            reply = page.post(path, body, **{"Visitor-Token": wrong})
            assert (reply.status_code, reply.json()["code"]) == (401, "invalid_visitor_token")
    assert Conversation.objects.count() == 1
    monkeypatch.setattr(visitor_tokens, "LIFETIME", timedelta(seconds=-1))
    assert visitor.get(f"{CHAT}/{chat.pk}").status_code == 401


def test_each_reply_has_a_token_that_admits_to_the_visitors_chats(page):
    first = page.post(CHAT, {"customer": {"name": "Zoe"}}).json()
    visitor = Person({**page.headers, "Visitor-Token": first["visitor_token"]}, key=page.key)
    second = visitor.post(CHAT, {}).json()
    visitor.headers["Visitor-Token"] = second["visitor_token"]
    for chat in (first, second):
        shown = visitor.get(f"{CHAT}/{chat['id']}").json()
        assert shown["customer"]["name"] == "Zoe"
    assert Customer.objects.count() == 1


def test_a_visitor_is_shown_less_than_the_client(page, server, ann, ben, bot):
    ben.put("/identity/users/me", {"avatar_url": "https://acme.example/ben.png"})
    visitor, chat = visit(page, message="Hello")
    ben.post(f"/ai/chat/{chat.pk}/tags", {"tags": ["angry"]})
    server.post(f"{CHAT}/customer/{chat.pk}", {"attributes": {"margin": 7}})
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Rude again", "is_note": True})
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hi Zoe"})
    shown = visitor.get(f"{CHAT}/{chat.pk}").json()
    picture = "https://acme.example/ben.png"
    assert shown["agent"] == {"name": "Ben", "avatar_url": picture, "is_typing": False}
    items = visitor.get(f"{CHAT}/history/{chat.pk}").json()["items"]
    assert [item["content"][0]["text"] for item in items] == ["Hello", "Hi Zoe"]
    assert set(items[1]["sender"]) == {"type", "name"}
    turn = visitor.post(f"{CHAT}/{chat.pk}", {"text": "Thanks", "reply": "async"}).json()
    for part in (shown, shown["customer"], *items, turn["message"], turn):
        assert not HIDDEN & set(part) - ({"status"} if part in (shown, turn) else set())
    full = server.get(f"{CHAT}/{chat.pk}").json()
    assert (full["tags"], full["customer"]["attributes"]) == (["angry"], {"margin": 7})
    assert "visitor_token" not in full


def test_a_visitor_sees_that_the_agent_of_the_chat_writes(page, ann, ben):
    visitor, chat = visit(page, message="Hello")
    at = f"/ai/chat/{chat.pk}"
    ben.post(f"{at}/assign", {"assign_type": "agent"})

    def is_shown() -> bool:
        return visitor.get(f"{CHAT}/{chat.pk}").json()["agent"]["is_typing"] is True

    for caller in (ann, visitor):  # not who has the chat
        caller.post(f"{at}/typing", {})
        assert not is_shown()
    ben.post(f"{at}/typing", {})
    assert is_shown()
    ben.post(f"{at}/manual", {"text": "Rude again", "is_note": True})
    assert is_shown(), "a note is nothing that the visitor could notice"
    ben.post(f"{at}/manual", {"text": "Hi Zoe"})
    assert not is_shown()
    ben.post(f"{at}/typing", {})
    ben.post(f"{at}/typing", {"is_typing": False})
    assert not is_shown()


def test_the_stream_of_an_answer_is_the_visitors(page):
    visitor, chat = visit(page)
    body = {"text": "Thank you!", "reply": "async"}
    assert "status" not in visitor.post(f"{CHAT}/{chat.pk}", body).json()["message"]
    run_jobs()
    again = visitor.post(f"{CHAT}/auto-response/{chat.pk}").json()
    assert again["status"] == "answered"
    assert not HIDDEN & set(again["reply"])


@pytest.mark.parametrize("field", [{"tags": ["vip"]}, {"metadata": {"order": 1}}])
def test_a_page_says_no_tags_and_no_metadata(page, field):
    reply = page.post(CHAT, field)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", *field]
    assert (Conversation.objects.count(), Tagging.objects.count()) == (0, 0)


def test_a_page_overwrites_only_what_a_page_wrote(page, server, ann):
    visitor, chat = visit(page, customer={"name": "Zoe", "attributes": {"size": "s"}})
    path = f"{CHAT}/customer/{chat.pk}"
    visitor.post(path, {"name": "Zoë", "attributes": {"size": "m", "city": "Hue"}})
    server.post(path, {"email": "zoe@shop.example", "attributes": {"plan": "gold", "size": "l"}})
    ann.put(f"/ai/customers/{chat.customer_id}", {"phone": "+84 1"})
    given = {
        "name": "Eve", "email": "eve@x.example", "phone": "0", "avatar_url": "https://x.example/e",
        "attributes": {"plan": None, "size": "xl", "city": "Da Nang"},
    }  # fmt: skip
    assert visitor.post(path, given).json()["customer"] == {
        "name": "Eve", "email": "zoe@shop.example", "phone": "+84 1",
    }  # fmt: skip
    visitor.post(CHAT, {"customer": given})
    zoe = Customer.objects.get()
    assert zoe.avatar_url == "https://x.example/e"
    assert zoe.attributes == {"plan": "gold", "size": "l", "city": "Da Nang"}


def test_what_the_visitor_told_the_bot_a_page_may_overwrite(page, ann, bot):
    trained(bot, "Delivery\n\nParcels arrive within three days.")
    name = {"name": "name", "type": "text", "label": {"en": "Name"}}
    ann.put(f"/ai/{bot.pk}/customer-info-field", {"fields": [name]})
    visitor, chat = visit(page)
    for text in ("When do parcels arrive?", "Zoe"):
        visitor.post(f"{CHAT}/{chat.pk}", {"text": text, "reply": "async"})
        run_jobs()
    assert Customer.objects.get().name == "Zoe"
    visitor.post(f"{CHAT}/customer/{chat.pk}", {"name": "Zoë"})
    assert Customer.objects.get().name == "Zoë"


def test_words_that_the_server_only_confirms_are_no_news_and_stay(page, server):
    visitor, chat = visit(page, customer={"name": "Zoe"})
    path = f"{CHAT}/customer/{chat.pk}"
    server.post(path, {"name": "Zoe"})
    assert not Event.objects.filter(type="customer.updated").exists()
    visitor.post(path, {"name": "Eve"})
    assert Customer.objects.get().name == "Zoe"


def test_a_visitor_waits_behind_those_who_have_waited_longer_for_the_same_bot(page, client_a, bot):
    visitor, chat = visit(page)
    since = timezone.now()
    waits = {"assign_type": "queue", "waiting_since": since}
    Conversation.objects.filter(pk=chat.pk).update(**waits)
    earlier = waits | {"waiting_since": since - timedelta(minutes=5)}
    make_chat(bot, **earlier)
    make_chat(bot, **earlier, is_preview=True)
    make_chat(make_bot(client_a, bot_name="Other"), **earlier)
    make_chat(bot, **waits | {"waiting_since": since + timedelta(minutes=5)})
    assert visitor.get(f"{CHAT}/{chat.pk}").json()["place_in_queue"] == 2


def test_a_visitor_keeps_a_chat_that_became_another_customers(page, server):
    visitor, chat = visit(page)
    server.post(CHAT, {"customer": {"external_id": "c-1"}})
    server.post(f"{CHAT}/customer/{chat.pk}", {"external_id": "c-1"})
    moved = Conversation.objects.get(pk=chat.pk)
    assert moved.customer_id != chat.customer_id
    assert visitor.get(f"{CHAT}/{chat.pk}").status_code == 200


def test_a_visitor_keeps_the_chat_when_two_customers_are_merged(page, ann):
    visitor, chat = visit(page)
    kept = visit(page)[1].customer_id
    ann.post(f"/ai/customers/{kept}/merge/{chat.customer_id}")
    assert visitor.get(f"{CHAT}/{chat.pk}").status_code == 200
    assert visitor.post(CHAT, {}).status_code == 201


def test_the_chat_that_follows_is_the_same_visitors(page, ben, client_a):
    client_a.config.reopen_window_minutes = 0
    client_a.config.save()
    visitor, chat = visit(page)
    lifecycle.end(conversations.lock(chat), by="agent")
    body = {"text": "One more thing", "reply": "none"}
    turn = visitor.post(f"{CHAT}/{chat.pk}", body).json()
    new = turn["message"]["conversation_id"]
    assert new != str(chat.pk)
    assert visitor.get(f"{CHAT}/{new}").json()["previous_chat_id"] == str(chat.pk)


def test_an_idempotency_key_belongs_to_the_visitor(page):
    first, second = visit(page)[0], visit(page)[0]
    chats = {
        visitor.post(CHAT, {}, **{"Idempotency-Key": "1"}).json()["id"]
        for visitor in (first, second, first)
    }
    assert len(chats) == 2


def test_without_a_visitor_an_idempotency_key_is_hard_to_guess(page):
    for easy in ("1", "a" * 32, str(uuid.UUID(int=1))):
        reply = page.post(CHAT, {}, **{"Idempotency-Key": easy})
        assert reply.json()["detail"][0]["loc"] == ["header", "Idempotency-Key"]
    assert Conversation.objects.count() == 0
    key = {"Idempotency-Key": uuid.uuid4().hex}  # 32 characters are enough
    opened = [page.post(CHAT, {}, **key).json() for _ in range(2)]
    assert opened[0] == opened[1]


# --- the signed identity --------------------------------------------------------------------------


def signature(secret, external_id="c-1"):
    return hmac.new(secret.encode(), external_id.encode(), hashlib.sha256).hexdigest()


@pytest.fixture
def secret(ann, bot):
    return ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]


def signed(secret, **customer):
    return {
        "customer": {"external_id": "c-1", **customer}, "identity_signature": signature(secret),
    }  # fmt: skip


def test_a_signed_external_id_joins_the_known_customer(page, server, secret):
    server.post(CHAT, {"customer": {"external_id": "c-1", "name": "Zoe"}})
    visitor, chat = visit(page, **signed(secret, name="Eve", phone="0"))
    assert (chat.customer.external_id, chat.customer.name, chat.customer.phone) == (
        "c-1",
        "Zoe",
        "0",
    )
    again = visit(page, **signed(secret))[0]
    assert again.get(f"{CHAT}/{chat.pk}").status_code == 200, "on another device"
    assert visitor.post(CHAT, {}).json()["customer"]["name"] == "Zoe"


def test_a_visitor_who_signs_in_keeps_the_chats_until_then(page, secret):
    visitor, chat = visit(page)
    reply = visitor.post(CHAT, signed(secret))
    assert reply.status_code == 201
    assert Customer.objects.get().external_id == "c-1"
    assert visitor.get(f"{CHAT}/{chat.pk}").status_code == 200


@pytest.mark.parametrize("is_known", [False, True])
def test_a_chat_begun_by_nobody_becomes_the_first_signed_customers_and_no_other_ones(
    page, client_a, secret, is_known
):
    if is_known:
        Customer.objects.create(client=client_a, external_id="c-1", name="Zoe")
    visitor, chat = visit(page, message="My secret order")
    path = f"{CHAT}/customer/{chat.pk}"

    def sign_in(caller, external_id):
        proof = {"external_id": external_id, "identity_signature": signature(secret, external_id)}
        return caller.post(path, proof)

    for wrong, status in ((None, 422), (signature("guess"), 401)):
        refused = visitor.post(path, {"external_id": "c-1", "identity_signature": wrong})
        assert refused.status_code == status
    assert sign_in(page, "c-1").status_code == 404, "a signature alone opens no stranger's chat"
    for _ in range(2):  # its answer may get lost
        signed_in = sign_in(visitor, "c-1")
        assert signed_in.status_code == 200
    chat.refresh_from_db()
    assert chat.customer.external_id == "c-1"
    token = {"Visitor-Token": signed_in.json()["visitor_token"]}
    owner = Person({**page.headers, **token}, key=page.key)
    assert owner.get(f"{CHAT}/{chat.pk}").status_code == 200
    for caller in (visitor, owner):
        assert sign_in(caller, "c-2").status_code == 404
        other = caller.post(CHAT, {
            "customer": {"external_id": "c-2"}, "identity_signature": signature(secret, "c-2"),
        }).json()  # fmt: skip
        stranger = Person({**page.headers, "Visitor-Token": other["visitor_token"]}, key=page.key)
        assert stranger.get(f"{CHAT}/{chat.pk}").status_code == 404
    if is_known:
        assert visitor.get(f"{CHAT}/{chat.pk}").status_code == 404, "the token until then is spent"
    chat.refresh_from_db()
    assert chat.customer.external_id == "c-1"


@pytest.mark.parametrize("wrong", [None, "", "0" * 64, "é", signature("guess"), "other id"])
def test_an_unsigned_external_id_is_refused(page, secret, wrong):
    body = signed(secret)
    body["identity_signature"] = signature(secret, "c-2") if wrong == "other id" else wrong
    reply = page.post(CHAT, body)
    assert (reply.status_code, reply.json()["code"]) == (401, "identity_not_signed")
    assert (Conversation.objects.count(), Customer.objects.count()) == (0, 0)


def test_a_bot_without_a_secret_believes_nobody(page):
    assert page.post(CHAT, signed("")).status_code == 401


def test_a_new_secret_ends_the_old_one(ann, ben, cara, page, bot, secret):
    path = f"/ai/bot/{bot.pk}/identity-secret"
    assert (ben.post(path).status_code, cara.post(path).status_code) == (403, 404)
    new = ann.post(path).json()["secret"]
    assert page.post(CHAT, signed(secret)).status_code == 401
    assert page.post(CHAT, signed(new)).status_code == 201
    replaced = AuditEvent.objects.filter(action="bot.identity_secret_replaced")
    assert replaced.count() == 2
    assert new not in str(replaced.values())


def test_a_chat_that_was_another_visitors_is_not_given_to_a_signed_one(
    page, server, client_a, secret
):
    client_a.config.reuse_open = True
    client_a.config.save()
    _, chat = visit(page)
    Customer.objects.create(client=client_a, external_id="c-1")
    server.post(f"{CHAT}/customer/{chat.pk}", {"external_id": "c-1"})
    signed_in, opened = visit(page, **signed(secret))
    assert opened.pk != chat.pk
    assert signed_in.get(f"{CHAT}/{chat.pk}").status_code == 404


def test_a_signed_visitor_comes_back_to_the_one_open_chat(page, client_a, secret):
    client_a.config.reuse_open = True
    client_a.config.save()
    chat = visit(page, **signed(secret))[1]
    again = page.post(CHAT, signed(secret, email="eve@x.example"))
    assert (again.status_code, again.json()["id"]) == (200, str(chat.pk))
    visitor = Person({**page.headers, "Visitor-Token": again.json()["visitor_token"]}, key=page.key)
    assert visitor.get(f"{CHAT}/{chat.pk}").status_code == 200


def identify(caller, external_id, proof):
    body = {"external_id": external_id, "identity_signature": proof}
    return caller.post("/ai/client/visitor", body)


@pytest.mark.full
def test_a_signed_customer_finds_their_newest_chats_on_another_device(
    page, server, client_a, secret
):
    for number in range(12):
        visit(page, **signed(secret), message=f"Question {number} {'x' * 100}")
    visit(page, **signed(secret))  # Nothing was said in it.
    visit(page, message="Of somebody else")
    reply = identify(page, "c-1", signature(secret))
    assert reply.status_code == 200
    known = reply.json()
    texts = [chat["text"] for chat in known["chats"]]
    assert [text.split()[1] for text in texts] == [str(number) for number in range(11, 1, -1)]
    assert {len(text) for text in texts} == {80}
    owner = Person({**page.headers, "Visitor-Token": known["visitor_token"]}, key=page.key)
    for chat in known["chats"]:
        assert owner.get(f"{CHAT}/{chat['id']}").status_code == 200
    # The client's own server needs no signature, and is nobody's visitor.
    assert identify(server, "c-1", None).json() == known | {"visitor_token": None}
    # Another key's conversations are not this one's.
    other = make_key(client_a, "public", page.key.bot_id)
    assert identify(other, "c-1", signature(secret)).json()["chats"] == []


def test_who_is_not_proved_or_not_known_learns_nothing(page, cara, secret):
    visit(page, **signed(secret), message="My secret order")
    for wrong in (None, "", "x", signature("guess"), signature(secret, "c-2")):
        reply = identify(page, "c-1", wrong)
        assert (reply.status_code, reply.json()["code"]) == (401, "identity_not_signed")
    before = Customer.objects.count()
    unknown = identify(page, "c-2", signature(secret, "c-2"))
    assert unknown.json() == {"visitor_token": None, "chats": []}
    assert identify(cara, "c-1", signature(secret)).status_code == 401
    assert Customer.objects.count() == before


def test_a_visitor_sees_that_the_ended_chat_is_rated(page):
    visitor, chat = visit(page, message="Hello")
    path = f"{CHAT}/{chat.pk}"
    lifecycle.end(conversations.lock(chat), by="agent")
    assert visitor.get(path).json()["is_rated"] is False
    visitor.post(f"/ai/chat/{chat.pk}/feedback", {"rating": 4})
    assert visitor.get(path).json()["is_rated"] is True
