"""What owners are told of their content: a source that contradicts an answer, the questions that an
expiring text leaves unanswered, and languages in which the bot knows nothing."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import reverse

from bots.models import Bot, Document
from bots.testing import trained
from chatplatform.testing import run_jobs
from chats.models import Message
from chats.services.insight import question_groups
from identity.testing import make_key

pytestmark = pytest.mark.django_db(transaction=True)
SHIPPING = "Shipping costs 4.90 euros within the country. Parcels take five working days."
QUESTION = "How much is shipping?"


@pytest.fixture
def site(ann):
    cache.clear()
    browser = Browser()
    browser.force_login(ann.user)
    return browser


@pytest.fixture
def server(bot):
    return make_key(bot.client, "secret", bot.pk)


def ask(server, text):
    chat = server.post("/ai/client/chat", {}).json()["id"]
    server.post(f"/ai/client/chat/{chat}", {"text": text, "reply": "async"})
    run_jobs()
    return Message.objects.filter(conversation_id=chat).latest("seq")


def write_answer(ann, bot, question, answer):
    body = {"question": question, "answer": answer}
    made = ann.post(f"/ai/{bot.pk}/train/question-answer", body)
    assert made.status_code == 202
    run_jobs()
    return made.json()["id"]


def page_of(site, bot, document_id):
    return site.get(reverse("admin:bots_bot_document", args=[bot.pk, document_id])).content.decode()


@pytest.mark.full
@pytest.mark.parametrize(
    ("question", "is_corrected"),
    [
        ("What do I pay for shipping?", True),
        ("Tell me the cost of shipping, please", True),
        ("How many working days do parcels take?", False),
    ],
)
def test_a_written_answer_takes_the_place_of_the_document(ann, bot, server, question, is_corrected):
    trained(bot, SHIPPING, title="Shipping")
    answer = "Shipping costs 6.50 euros for every order. The price is the same for all parcels."
    pair = write_answer(ann, bot, QUESTION, answer)
    reply = ask(server, question)
    assert ([item["document_id"] for item in reply.citations] == [pair]) is is_corrected
    assert (reply.text == answer) is is_corrected
    assert ("4.90" in reply.text) is not is_corrected


def test_the_owner_learns_which_source_says_otherwise(ann, bot, site):
    other = trained(bot, SHIPPING, title="Shipping")
    add = reverse("admin:bots_bot_add_content", args=[bot.pk, "answer"])
    form = {"form": "answer", "question": QUESTION, "answer": "It is 6.50 euros."}
    saved = site.post(add, form, follow=True).content.decode()
    assert f'data-other-source="{other.pk}"' in saved
    run_jobs()
    pair = Document.objects.get(source="question_answer")
    shown = page_of(site, bot, pair.pk)
    assert f'data-other-source="{other.pk}"' in shown
    assert "4.90 euros" in shown
    assert reverse("admin:bots_bot_document", args=[bot.pk, other.pk]) in shown


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (QUESTION, "Shipping costs 4.90 euros within the country."),
        ("Do you repair clocks?", "Yes, on Tuesdays."),
    ],
)
def test_a_source_that_says_the_same_or_nothing_is_not_named(ann, bot, site, question, answer):
    trained(bot, SHIPPING, title="Shipping")
    pair = write_answer(ann, bot, question, answer)
    assert "data-other-source" not in page_of(site, bot, pair)


def test_a_source_about_something_else_is_not_named(ann, bot, site):
    text = "If your parcel arrives damaged, send us a photo. We send you a new one at no cost."
    trained(bot, text, title="Returns")
    pair = write_answer(ann, bot, "What does shipping cost?", "Delivery is free until December.")
    assert "data-other-source" not in page_of(site, bot, pair)


PRICES = "Lotus tea 100 g costs {} dong.\nOolong tea 100 g costs {} dong.\nTeapot costs {} dong."


def upload(site, bot, name, text):
    add = reverse("admin:bots_bot_add_content", args=[bot.pk, "files"])
    file = SimpleUploadedFile(name, text.encode(), content_type="text/plain")
    assert site.post(add, {"form": "files", "files": file}).status_code == 302
    run_jobs()
    return Document.objects.get(file_name=name)


def test_a_second_price_list_is_added_with_a_warning(bot, site):
    old = upload(site, bot, "prices.txt", PRICES.format(120000, 150000, 300000))
    overview = reverse("admin:bots_bot_content", args=[bot.pk])
    assert "data-other-version" not in site.get(overview).content.decode()
    new = upload(site, bot, "prices-new.txt", PRICES.format(125000, 160000, 320000))
    assert f'data-other-version="{old.pk}"' in site.get(overview).content.decode()
    assert f'data-other-version="{old.pk}"' in page_of(site, bot, new.pk)
    ended = {"valid_to": (datetime.now(UTC) - timedelta(days=1))}
    Document.objects.filter(pk=old.pk).update(**ended)
    assert "data-other-version" not in site.get(overview).content.decode()


def test_an_answer_with_an_earlier_price_is_named_beside_the_new_list(ann, bot, site):
    file = upload(site, bot, "prices.txt", PRICES.format(120000, 150000, 300000))
    question = "How much does oolong tea 100 g cost?"
    pair = write_answer(ann, bot, question, "Oolong tea 100 g costs 150000 dong.")
    named = f'data-outdated-answer="{pair}"'
    assert named not in page_of(site, bot, file.pk)
    new = SimpleUploadedFile("new.txt", PRICES.format(125000, 160000, 320000).encode())
    path = reverse("admin:bots_bot_document", args=[bot.pk, file.pk])
    assert site.post(path, {"form": "replace", "files": new}).status_code == 302
    run_jobs()
    shown = page_of(site, bot, file.pk)
    assert named in shown
    assert "costs 150000 dong" in shown


def test_two_different_files_are_added_without_one(bot, site):
    upload(site, bot, "prices.txt", PRICES.format(120000, 150000, 300000))
    new = upload(site, bot, "returns.txt", "Goods can be returned within 14 days, in their box.")
    overview = reverse("admin:bots_bot_content", args=[bot.pk])
    assert "data-other-version" not in site.get(overview).content.decode()
    assert "data-other-version" not in page_of(site, bot, new.pk)


@pytest.mark.full
def test_an_expiring_text_names_the_questions_that_it_leaves_unanswered(ann, bot, site, server):
    text = trained(bot, SHIPPING, title="Shipping")
    trained(bot, "Goods can be returned within 14 days. Please keep the box.", title="Returns")
    assert "4.90" in ask(server, QUESTION).text
    assert "data-lost" not in page_of(site, bot, text.pk)
    ends = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    ann.put(f"/ai/{bot.pk}/train/document/{text.pk}/important", {"valid_to": ends})
    shown = page_of(site, bot, text.pk)
    assert 'data-lost="1"' in shown
    assert QUESTION in shown
    write_answer(ann, bot, "What does shipping cost?", "Shipping costs 6.50 euros.")
    assert 'data-lost="0"' in page_of(site, bot, text.pk)


def test_the_only_text_leaves_its_questions_unanswered(ann, bot, site, server):
    text = trained(bot, SHIPPING, title="Shipping")
    question = "How many working days do parcels take?"
    assert [item["document_id"] for item in ask(server, question).citations] == [text.pk]
    ends = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    ann.put(f"/ai/{bot.pk}/train/document/{text.pk}/important", {"valid_to": ends})
    assert 'data-lost="1"' in page_of(site, bot, text.pk)


@pytest.mark.full
def test_questions_in_a_language_without_content_are_counted(ann, ben, bot, site, server):
    Bot.objects.filter(pk=bot.pk).update(default_language="en")
    trained(bot, SHIPPING, title="Shipping")
    pages = [
        reverse("admin:bots_bot_content", args=[bot.pk]),
        reverse("admin:bots_bot_behaviour", args=[bot.pk]),
    ]
    asked = [
        "Cửa hàng có bán vé xem phim không ạ?",
        "Tôi muốn học đàn guitar thì học ở đâu?",
        "Hôm nay thời tiết ở Hà Nội như thế nào?",
    ]
    for question in asked:
        for page in pages:
            assert "data-language-gaps" not in site.get(page).content.decode()
        ask(server, question)
    # The job waits for a few seconds, to take several at once.
    question_groups.group_next(bot.pk)
    for page in pages:
        content = site.get(page).content.decode()
        assert "data-language-gaps" in content
        gap = content[content.index("data-language-gaps") :]
        assert re.search(r"\b3\b", gap[:600])
        assert reverse("admin:bots_languagemodel_set_model") in gap
    trained(bot, "Cửa hàng mở cửa lúc tám giờ sáng mỗi ngày trong tuần.", title="Giờ mở cửa")
    assert "data-language-gaps" not in site.get(pages[0]).content.decode()
