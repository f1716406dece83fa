"""The palette of the site finds pages and rows, of the viewer's own client alone."""

import re

import pytest
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from bots.testing import make_bot
from chats.models import Customer, Message, text_content
from chats.testing import make_chat
from identity.testing import signed_in

PATH = reverse("admin:search")


def found(browser, term):
    page = browser.get(PATH, {"s": term, "extended": "1"})
    assert page.status_code == 200
    return re.findall(r'data-title="([^"]*)"', page.content.decode())


def say(chat, words):
    Message.objects.create(
        client=chat.client, conversation=chat, seq=1, sender_type="customer", text=words,
        content=text_content(words),
    )  # fmt: skip


@pytest.fixture
def theirs(cara):
    bot = make_bot(cara.client, bot_name="Foreign helper")
    chat = make_chat(bot, chat_code="SHOP-FOREIGN", customer_name="Foreign Zoe")
    say(chat, "A foreign secret")
    return chat


def test_pages_bots_chats_customers_and_people_are_found(ann, ben, bot, theirs):
    chat = make_chat(bot, chat_code="SHOP-42", customer_name="Zoe Zimmer")
    say(chat, "May I bring my Dachshund?")
    browser = signed_in(ann.user)
    assert found(browser, "webho") == ["Webhooks"]
    assert found(browser, "unansw") == ["Unanswered questions"]
    assert found(browser, "helper") == ["Helper"]
    assert found(browser, "hel\0per") == ["Helper"]
    assert found(browser, "shop-4") == ["Zoe Zimmer · SHOP-42"]
    assert found(browser, "dachs") == ["Zoe Zimmer · SHOP-42"]
    zoe = str(Customer.objects.get(name="Zoe Zimmer"))
    assert found(browser, "zimmer") == ["Zoe Zimmer · SHOP-42", zoe]
    assert found(browser, "ben") == [str(ben.user)]
    assert found(browser, "nothing like it") == []


@pytest.mark.parametrize(
    ("term", "place"),
    [
        ("holiday", "/admin/settings/hours/#holidays"),
        ("greeting", "/look/#welcome"),
        ("welcome", "/look/#welcome"),
        ("logo", "/look/#appearance"),
        ("translate", "/admin/settings/handover/#handover"),
        ("credits", "/admin/settings/plan/#order"),
        ("invoice", "/admin/settings/plan/"),
    ],
)
def test_cards_are_found_by_their_words_for_those_who_may_open_them(ann, ben, bot, term, place):
    def links(person):
        return re.findall(r'href="([^"]*)"', person.get(PATH, {"s": term}).content.decode())

    assert any(link.endswith(place) for link in links(signed_in(ann.user)))
    if "plan" not in place:
        assert links(signed_in(ben.user)) == []


@pytest.mark.parametrize("term", ["foreign", "SHOP-F", "zoe", "cara", "secret"])
def test_nobody_finds_another_clients_rows(ann, ben, cara, bot, theirs, term):
    for person in (ann, ben):
        page = (
            signed_in(person.user).get(PATH, {"s": term, "extended": "1"}).content.decode().lower()
        )
        assert "foreign" not in page
        assert cara.user.email not in page


def test_pages_that_a_role_may_not_read_are_not_found(ben):
    assert found(signed_in(ben.user), "endpo") == []
    assert signed_in(ben.user).get(PATH, {"s": "ledger"}).content.count(b"data-title") == 0


def test_staff_find_every_clients_bots(bot, theirs, staff):
    assert found(staff, "helper") == ["Foreign helper", "Helper"]
    assert Browser().get(PATH, {"s": "helper"}).status_code == 302


def test_many_rows_cost_no_more_statements(ann, bot):
    browser = signed_in(ann.user)
    found(browser, "helper")
    with CaptureQueriesContext(connection) as few:
        assert len(found(browser, "helper")) == 1
    for number in range(20):
        make_bot(ann.client, bot_name=f"Helper {number}")
    with CaptureQueriesContext(connection) as many:
        assert len(found(browser, "helper")) == 5
    assert len(many) == len(few)
