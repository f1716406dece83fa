"""How often a caller may call: by key, person and address, and what the answers say of it."""

import ipaddress
import re
from collections import deque
from unittest import mock

import pytest
import redis
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from bots.testing import make_bot, trained
from chatplatform.api import rate_limits
from chatplatform.live import valkey
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Attachment, Conversation, Customer, Message
from chats.testing import visit
from identity.models import ApiKey, Client, CreditEntry
from identity.testing import Person, make_key, make_person

CONFIG, KEYS, CHAT = "/ai/bot/config/widget", "/identity/api-keys", "/ai/client/chat"
FACTS = "Our shop opens at nine o'clock in the morning, from Monday to Saturday."
QUESTION = "When does the shop open?"
HELLO = {"text": "Hello", "reply": "none"}


@pytest.fixture
def _limited(settings):
    """A hundredth of the limits: 3 for a page's visitor, 12 for an address, 60 for a person."""
    settings.RATE_LIMIT_SCALE = 0.01
    for key in valkey.shared().scan_iter("LIMITS*"):
        valkey.shared().delete(key)


pytestmark = pytest.mark.usefixtures("_limited")


def read(caller, path="/identity/users/me", address="192.0.2.1", **headers):
    headers = {**caller.headers, **headers}
    return caller.browser.get(path, headers=headers, REMOTE_ADDR=address)


def at(caller):
    """The path of a caller's key."""
    assert caller.key
    return f"{KEYS}/{caller.key.pk}"


def left(reply):
    """What the header says is left, by the name of the limit."""
    return {name: int(count) for name, count in re.findall(r'"(\w+)";r=(\d+)', reply["RateLimit"])}


def is_refused(reply):
    assert (reply.status_code, reply.json()["code"]) == (429, "too_many_requests")
    assert 1 <= int(reply["Retry-After"]) <= rate_limits.WINDOW_SECONDS
    assert 0 in left(reply).values()
    return True


def test_a_page_is_limited_by_address_and_as_a_whole(client_a, bot):
    page = make_key(client_a, "public", bot.pk)
    path = "/identity/languages/by-api-key"
    replies = [read(page, path) for _ in range(3)]
    assert [left(reply) for reply in replies] == [
        {"page": 2, "key": 59}, {"page": 1, "key": 58}, {"page": 0, "key": 57},
    ]  # fmt: skip
    assert replies[0]["RateLimit-Policy"] == '"page";q=3;w=60, "key";q=60;w=60'
    for _ in range(5):
        assert is_refused(read(page, path))
    # Refused requests of one address use up nothing of the others'.
    assert left(read(page, path, address="192.0.2.2")) == {"page": 2, "key": 56}
    for number in range(56):
        address = str(ipaddress.ip_address("198.51.100.0") + number)
        assert read(page, path, address=address).status_code == 200
    assert is_refused(read(page, path, address="192.0.2.3"))
    server = make_key(client_a)
    assert left(read(server, path)) == {"key": 119}


def test_a_key_has_a_lower_limit_if_the_client_wants(ann, cara):
    key = make_key(ann.client)
    path = at(key)
    assert cara.put(path, {"requests_per_minute": 2}).status_code == 404
    assert ann.put(path, {"requests_per_minute": 2}).json()["requests_per_minute"] == 2
    for _ in range(2):
        assert read(key, "/identity/languages/by-api-key").status_code == 200
    assert is_refused(read(key, "/identity/languages/by-api-key"))
    assert ann.put(path, {"requests_per_minute": 1_000_000}).status_code == 200
    assert left(read(key, "/identity/languages/by-api-key")) == {"key": 119}, (
        "the scope's limit holds"
    )


def test_a_person_is_limited_by_what_the_client_may(ann, ben):
    Client.objects.filter(pk=ann.client.pk).update(rate_limit_factor=0.05)
    for _ in range(3):
        assert read(ben).status_code == 200
    assert is_refused(read(ben, address="192.0.2.9"))
    assert left(read(ann)) == {"person": 2}


def test_an_address_without_a_credential_is_limited_and_nobody_else(ann, nobody):
    wrong = {"Authorization": "Bearer x"}
    for _ in range(12):
        assert read(nobody, **wrong).status_code == 401
    assert is_refused(read(nobody, **wrong))
    assert is_refused(read(nobody, "/ai/attachment/6a3b2f1e-0000-4000-8000-000000000000"))
    assert read(ann).status_code == 200
    assert read(nobody, address="192.0.2.2", **wrong).status_code == 401


def test_of_ipv6_a_network_is_one_address(nobody, db):
    replies = [read(nobody, address=f"2001:db8:0:7::{number}") for number in range(1, 3)]
    assert [left(reply) for reply in replies] == [{"address": 11}, {"address": 10}]


def test_health_checks_do_not_count(nobody, db):
    assert all("RateLimit" not in read(nobody, "/health/live") for _ in range(20))


def test_a_visitor_asks_for_few_replies_in_a_minute(client_a, bot, settings, monkeypatch):
    settings.RATE_LIMIT_SCALE = 0.1
    monkeypatch.setattr(rate_limits, "VISITORS_BURST", 30)
    visitor, chat = visit(make_key(client_a, "public", bot.pk))
    path, message = f"{CHAT}/{chat.pk}", {"text": "Hello", "reply": "none"}
    assert [visitor.post(path, message).status_code for _ in range(3)] == [200, 200, 429]
    assert Message.objects.filter(conversation=chat).count() == 2
    assert visitor.get(path).status_code == 200


def test_many_visitors_wait_behind_one_address(client_a, bot, settings):
    settings.RATE_LIMIT_SCALE = 0.1
    page = make_key(client_a, "public", bot.pk)
    (first, chat), (second, other) = visit(page), visit(page)
    path = f"{CHAT}/{chat.pk}"
    before = left(read(page, "/identity/languages/by-api-key"))["page"]
    for _ in range(12):
        assert read(first, path).status_code == 200
    refused = read(first, path)
    assert is_refused(refused)
    assert refused["RateLimit-Policy"] == (
        '"visitor";q=12;w=60, "address_visitors";q=150;w=60, "key";q=600;w=60'
    )
    # Neither those beside them are hurt, nor whoever comes anew.
    assert left(read(second, f"{CHAT}/{other.pk}")) | {"key": 0} == {
        "visitor": 11, "address_visitors": 137, "key": 0,
    }  # fmt: skip
    assert left(read(page, "/identity/languages/by-api-key"))["page"] == before - 1


def test_a_visitor_asks_for_fewer_at_once(client_a, bot, settings):
    settings.RATE_LIMIT_SCALE = 0.4
    page = make_key(client_a, "public", bot.pk)
    visitor, chat = visit(page)
    path, message = f"{CHAT}/{chat.pk}", {"text": "Hello", "reply": "none"}
    replies = [visitor.post(path, message) for _ in range(5)]
    assert [reply.status_code for reply in replies] == [200, 200, 429, 429, 429]
    policy = replies[2]["RateLimit-Policy"]
    assert policy == (
        '"replies";q=8;w=60, "burst";q=2;w=10, "visitors";q=24;w=60, '
        '"page";q=120;w=60, "key";q=2400;w=60'
    )
    assert is_refused(replies[2])
    assert int(replies[2]["Retry-After"]) <= rate_limits.BURST_SECONDS
    # What is refused does not count for the minute.
    assert [left(reply)["replies"] for reply in replies] == [7, 6, 6, 6, 6]
    assert Message.objects.filter(conversation=chat).count() == 2
    other, others = visit(page)
    assert other.post(f"{CHAT}/{others.pk}", message).status_code == 200


# What a visitor does that a reply may follow.
ENTRY_POINTS = {
    "message": lambda visitor, chat: visitor.post(f"{CHAT}/{chat.pk}", HELLO),
    "file": lambda visitor, chat: visitor.upload(
        f"{CHAT}/files/{chat.pk}", files=SimpleUploadedFile("a.txt", b"x")
    ),
    "again": lambda visitor, chat: visitor.post(f"{CHAT}/auto-response/{chat.pk}"),
    "chat": lambda visitor, _: visitor.post(CHAT, {"message": QUESTION}),
}


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_whatever_a_reply_may_follow_counts_for_the_visitor(
    entry_point, client_a, bot, settings, monkeypatch
):
    settings.RATE_LIMIT_SCALE = 0.1
    monkeypatch.setattr(rate_limits, "VISITORS_BURST", 30)
    page = make_key(client_a, "public", bot.pk)
    (visitor, chat), (other, others) = (visit(page, message=QUESTION) for _ in range(2))
    for _ in range(2):
        assert ENTRY_POINTS[entry_point](visitor, chat).status_code < 300
    before = everything()
    for item in ENTRY_POINTS.values():
        reply = item(visitor, chat)
        assert is_refused(reply)
        assert left(reply)["replies"] == 0
        assert '"replies";q=2;w=60, "burst";q=3;w=10, ' in reply["RateLimit-Policy"]
    assert everything() == before
    assert visitor.get(f"{CHAT}/{chat.pk}").status_code == 200
    assert ENTRY_POINTS[entry_point](other, others).status_code < 300


def everything():
    """What a message, or a request for a reply, would add to."""
    return [item.objects.count() for item in (Conversation, Customer, Message, Attachment, Job)]


def post_from(address, caller, path, body):
    return caller.browser.post(
        path, body, content_type="application/json", headers=caller.headers, REMOTE_ADDR=address
    )


def test_new_visitors_are_counted_by_their_address(client_a, bot, server, settings):
    settings.RATE_LIMIT_SCALE = 0.1
    page, other = (make_key(client_a, "public", bot.pk) for _ in range(2))
    first = {"message": QUESTION}
    replies = [post_from("192.0.2.1", page, CHAT, first) for _ in range(2)]
    assert [left(reply)["newcomers"] for reply in replies] == [1, 0]
    before = everything()
    for body in (first, {}):
        reply = post_from("192.0.2.1", page, CHAT, body)
        assert is_refused(reply)
        assert reply["RateLimit-Policy"] == (
            '"newcomers";q=2;w=60, "visitors";q=6;w=60, "page";q=30;w=60, "key";q=600;w=60'
        )
        # The second time the same: what is refused counts for nothing.
        assert left(reply) == {"newcomers": 0, "visitors": 4, "page": 28, "key": 598}
    assert everything() == before
    # Nobody else at this address is hurt, and no other address.
    opened = replies[0].json()
    visitor = Person({**page.headers, "Visitor-Token": opened["visitor_token"]})
    path = f"{CHAT}/{opened['id']}"
    assert post_from("192.0.2.1", visitor, path, HELLO).status_code == 200
    assert post_from("192.0.2.1", page, CHAT, first).status_code == 429
    for address, caller in (("192.0.2.1", other), ("192.0.2.1", server), ("192.0.2.2", page)):
        assert post_from(address, caller, CHAT, first).status_code == 201


def test_many_visitors_at_one_address_share_a_limit(client_a, bot, settings, monkeypatch):
    settings.RATE_LIMIT_SCALE = 0.1
    monkeypatch.setattr(rate_limits, "VISITORS_BURST", 30)
    monkeypatch.setattr(rate_limits, "ADDRESS_REPLIES", 30)
    page = make_key(client_a, "public", bot.pk)
    visitors = [visit(page) for _ in range(2)]
    statuses = [
        post_from("192.0.2.1", visitor, f"{CHAT}/{chat.pk}", HELLO).status_code
        for visitor, chat in visitors * 2
    ]
    assert statuses == [200, 200, 200, 429]
    visitor, chat = visitors[1]
    before, path = everything(), f"{CHAT}/{chat.pk}"
    reply = post_from("192.0.2.1", visitor, path, HELLO)
    assert is_refused(reply)
    assert left(reply)["visitors"] == 0
    # Who only begins is one of them.
    assert is_refused(post_from("192.0.2.1", page, CHAT, {"message": QUESTION}))
    assert everything() == before
    assert read(visitor, path).status_code == 200
    assert post_from("192.0.2.2", visitor, path, HELLO).status_code == 200


def test_requests_are_counted_in_one_round_trip(client_a, bot):
    page = make_key(client_a, "public", bot.pk)
    assert read(page, "/identity/languages/by-api-key").status_code == 200
    trips = []
    real = redis.connection.Connection.send_packed_command

    def send(self, command, *args, **kwargs):
        trips.append(command)
        return real(self, command, *args, **kwargs)

    with mock.patch.object(redis.connection.Connection, "send_packed_command", send):
        assert read(page, "/identity/languages/by-api-key").status_code == 200
    assert len(trips) == 1


@pytest.mark.usefixtures("db")
def test_a_process_counts_alone_while_valkey_is_away(ann, monkeypatch):
    away = redis.Redis(port=1, socket_connect_timeout=1)
    monkeypatch.setattr(valkey, "shared", lambda: away)
    monkeypatch.setattr(valkey, "_idle", deque())
    monkeypatch.setattr(rate_limits, "_in_valkey", valkey.BestEffort("away"))
    rate_limits._local_limiter.cache_clear()
    dora = make_person(ann.client, "agent", "Dora")
    Client.objects.filter(pk=ann.client.pk).update(rate_limit_factor=0.05)
    # Its minutes are those of the clock: none ends meanwhile.
    with time_machine.travel(timezone.now(), tick=False):
        assert [read(dora).status_code for _ in range(4)] == [200, 200, 200, 429]
        assert read(ann).status_code == 200


@pytest.mark.parametrize(
    "body", [{"requests_per_minute": 0}, {"daily_credits": -1}, {"name": None}, {"colour": "red"}]
)
def test_a_wrong_change_of_a_key_changes_nothing(ann, bot, body):
    path = at(make_key(ann.client, "public", bot.pk))
    before = ApiKey.objects.values().get()
    assert ann.put(path, body).status_code == 422
    assert ApiKey.objects.values().get() == before


def test_only_a_public_key_has_a_daily_cap(ann):
    assert ann.post(KEYS, {"name": "Shop", "daily_credits": 5}).status_code == 422
    path = at(make_key(ann.client))
    assert ann.put(path, {"daily_credits": 5}).status_code == 422
    assert ApiKey.objects.get().daily_credits is None


@pytest.mark.django_db(transaction=True)
def test_what_a_page_may_cost_in_a_day_is_capped(ann, settings):
    settings.RATE_LIMIT_SCALE = 1
    bot = make_bot(ann.client)
    trained(bot, FACTS)
    page, other = (make_key(ann.client, "public", bot.pk) for _ in range(2))
    assert ann.put(at(page), {"daily_credits": 2}).status_code == 200
    asked = [visit(key, message=QUESTION)[1].pk for key in (page, page, page, other)]
    run_jobs()
    chats = Conversation.objects.in_bulk(asked)
    reasons = [chats[pk].handoff_reason for pk in asked]
    assert sorted(reasons[:3], key=str) == [None, None, "credits_used_up"]
    assert reasons[3] is None
    spent = CreditEntry.objects.filter(key=page.key).values_list("amount", flat=True)
    assert sum(spent) == -2
    assert CreditEntry.objects.filter(kind="settle").count() == 3
