"""Conversations in the site: what was said, by whom, and what never left the house."""

import re

import pytest
from django.urls import reverse

from bots.models import FunctionCall
from chats.models import Attachment
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
    assert "Internal note" not in shown(browser, chat)
    add_message(chat, "agent", "He sounds cross.", is_note=True, sender_name="Ben")
    page = shown(browser, chat)
    assert page.count("Internal note") == page.count("Never sent to the customer") == 1
    assert "Ben (agent)" in page


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ({"city": "Huế", "region": None, "country": "VN"}, "A place: Huế, VN<"),
        ({"latitude": 0, "longitude": 105.8}, "A place: 0, 105.8<"),
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
    for part in ("In en:</b> When?", "Source 1: Hours, page 3", "“At nine”", "Robo (bot)"):
        assert part in page
    assert "Function get_hours: failed (timeout)" in page


def test_a_stored_file_has_a_link_that_opens_it(browser, chat, add_message):
    row = Attachment.objects.create(
        client=chat.client, conversation=chat, file_name="bill.pdf", mime_type="application/pdf",
        size_bytes=1,
    )  # fmt: skip
    piece = {"type": "file", "attachment_id": str(row.pk), "file_name": "bill.pdf"}
    add_message(chat, "customer", "", content=[piece])
    page = shown(browser, chat)
    assert f"/ai/attachment/{row.pk}?signature=" in page
    assert ">bill.pdf</a>" in page


def test_hostile_words_stay_words(browser, chat, add_message):
    evil = "<script>alert(1)</script>"
    citation = {"document_id": 1, "title": evil, "url": None, "page": None, "quote": evil}
    words = {"sender_name": evil, "translations": {"en": evil}}
    add_message(chat, "agent", evil, citations=[citation], **words)
    assert "<script>alert" not in shown(browser, chat)
