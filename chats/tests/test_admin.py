"""Conversations in the site: what was said, by whom, and what never left the house."""

import re

import pytest
from django.urls import reverse

from bots.models import FunctionCall
from chats.models import Attachment, Conversation, Customer
from chats.testing import make_chat


@pytest.fixture
def chat(bot):
    return make_chat(bot)


@pytest.fixture
def browser(client, ann):
    client.force_login(ann.user)
    return client


def shown(browser, chat):
    reply = browser.get(reverse("admin:chats_conversation_change", args=[chat.pk]))
    assert reply.status_code == 200
    return re.sub(r"\s+", " ", reply.content.decode())


def test_a_note_does_not_look_like_a_message_to_the_customer(browser, chat, add_message):
    add_message(chat, "agent", "Hello, this is Ben.")
    assert "data-note" not in shown(browser, chat)
    add_message(chat, "agent", "He sounds cross.", is_note=True, sender_name="Ben")
    page = shown(browser, chat)
    assert page.count("data-note") == page.count("is-note") == 1
    assert "<bdi>Ben</bdi>" in page


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ({"city": "Huế", "region": None, "country": "VN"}, "Location: Huế, VN<"),
        ({"latitude": 0, "longitude": 105.8}, "Location: 0, 105.8<"),
    ],
)
def test_a_place_is_told_by_its_names_or_its_degrees(browser, chat, add_message, location, words):
    content = [{"type": "location", "location": location}]
    add_message(chat, "customer", "Here", content=content)
    assert words in shown(browser, chat)


def test_sources_translations_and_calls_stand_beside_the_words(browser, chat, add_message):
    asked = add_message(chat, "customer", "Wann?", translations={"en": "When?"})
    citation = {"document_id": 1, "title": "Hours", "url": None, "page": 3, "quote": "At nine"}
    add_message(chat, "bot", "At nine.", sender_name="Robo", citations=[citation])
    FunctionCall.objects.create(
        client=chat.client, bot=chat.bot, conversation_id=chat.pk, message_id=asked.pk,
        function_name="get_hours", status="failed", error="timeout",
    )  # fmt: skip
    page = shown(browser, chat)
    for part in (">When?</p>", "Hours, page 3", ">At nine</blockquote>", "<bdi>Robo</bdi>"):
        assert part in page
    assert page.count('data-source="1"') == 1
    assert "Function get_hours: Failed (timeout)" in page


def test_a_stored_file_has_a_link_that_opens_it(browser, chat, add_message):
    row = Attachment.objects.create(
        client=chat.client, conversation=chat, file_name="bill.pdf", mime_type="application/pdf",
        size_bytes=1,
    )  # fmt: skip
    part = {"type": "file", "attachment_id": str(row.pk), "file_name": "bill.pdf"}
    add_message(chat, "customer", "", content=[part])
    page = shown(browser, chat)
    assert f"/ai/attachment/{row.pk}?signature=" in page
    assert ">bill.pdf</a>" in page


def test_hostile_words_stay_words(browser, chat, add_message):
    evil = "<script>alert(1)</script>"
    citation = {"document_id": 1, "title": evil, "url": None, "page": None, "quote": evil}
    words = {"sender_name": evil, "translations": {"en": evil}}
    add_message(chat, "agent", evil, citations=[citation], **words)
    assert "<script>alert" not in shown(browser, chat)


@pytest.mark.full
def test_the_newest_messages_are_shown_and_earlier_ones_lead_back(browser, chat, add_message):
    for number in range(1, 121):
        add_message(chat, "customer", f"Line {number}.")
    page = shown(browser, chat)
    assert ">Line 120.<" in page
    assert ">Line 70.<" not in page
    place = reverse("admin:chats_conversation_change", args=[chat.pk])
    (before,) = re.findall(r'href="\?before=(\d+)"', page)
    reply = browser.get(place, {"before": before})
    earlier = reply.content.decode()
    assert ">Line 70.<" in earlier
    assert ">Line 71.<" not in earlier
    for wrong in ("nonsense", "9" * 5_000):
        assert browser.get(place, {"before": wrong}).status_code == 200


def test_a_search_shows_who_wrote_and_the_words_that_were_found(browser, chat, add_message):
    add_message(chat, "customer", "Do you sell <b>oolong</b> tea from Da Lat?")
    add_message(chat, "bot", "Yes, we do.")
    listed = reverse("admin:chats_conversation_changelist")
    page = browser.get(listed, {"q": "OOLONG"}).content.decode()
    assert "<mark>oolong</mark>" in page
    assert "&lt;b&gt;" in page
    assert ">Zoe</a>" in page
    assert "<mark>" not in browser.get(listed, {"q": "Zoe"}).content.decode()


def test_a_customer_without_a_name_has_no_number(browser, chat):
    Customer.objects.update(name="")
    Conversation.objects.update(location={"city": "Berlin", "region": None, "country": None})
    listed = reverse("admin:chats_conversation_changelist")
    own = reverse("admin:chats_customer_change", args=[chat.customer_id])
    for path in (listed, own, reverse("admin:chats_customer_changelist")):
        assert "Visitor · Berlin, " in browser.get(path).content.decode(), path
