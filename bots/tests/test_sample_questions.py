"""Get Bot Sample Questions, Update Bot Sample Questions."""

from datetime import UTC, datetime, timedelta

import pytest

from bots.models import Document, SampleQuestion
from bots.testing import make_bot, trained
from identity.models import AuditEvent

GUIDE = """HOW DO I RETURN A BICYCLE?

Bring it to the shop before seven. Is there a fee for late returns? Yes, five euros an hour.

Do you rent helmets? Helmets are free of charge for every customer of the shop.

Why? Because we care. Do you rent helmets?
"""


def path(bot):
    return f"/ai/bot/{bot.pk}/sample-questions"


def get_questions(person, bot, **query):
    reply = person.get(path(bot), query)
    assert reply.status_code == 200
    assert reply.json()["next_cursor"] is None
    return [item["question"] for item in reply.json()["items"]]


def write(person, bot, *questions):
    return person.put(path(bot), {"questions": list(questions)})


def test_written_questions_keep_their_order(ann, page, bot):
    reply = write(
        ann, bot,
        {"question": "When do you  open?", "language": "en"},
        {"question": "Mấy giờ mở cửa?", "language": "vi"},
        {"question": "Where are you?"},
    )  # fmt: skip
    assert reply.status_code == 200
    items = reply.json()["items"]
    assert [(item["position"], item["language"]) for item in items] == [
        (0, "en"), (1, "vi"), (2, "en"),
    ]  # fmt: skip
    assert items == ann.get(path(bot)).json()["items"] == page.get(path(bot)).json()["items"]
    assert get_questions(page, bot, language="en") == ["When do you open?", "Where are you?"]
    assert get_questions(page, bot, language="vi-VN") == ["Mấy giờ mở cửa?"]
    assert page.get("/ai/bot/config").json()["sample_questions"] == [items[0], items[2]]
    # A list that was read may be sent back unchanged.
    assert ann.put(path(bot), {"questions": items[::-1]}).status_code == 200
    assert get_questions(ann, bot)[0] == "Where are you?"
    assert SampleQuestion.objects.count() == 3
    assert write(ann, bot).json()["items"] == []
    assert AuditEvent.objects.filter(action="sample_questions.replaced").count() == 3


def test_without_written_questions_those_of_the_documents(ann, page, bot):
    assert get_questions(page, bot) == []
    trained(bot, GUIDE)
    items = page.get(path(bot)).json()["items"]
    questions = [item["question"] for item in items]
    assert questions == [
        "HOW DO I RETURN A BICYCLE?", "Is there a fee for late returns?", "Do you rent helmets?",
    ]  # fmt: skip
    assert {(item["id"], item["language"]) for item in items} == {(None, "en")}
    assert get_questions(page, bot, language="vi") == []
    write(ann, bot, {"question": "Only this?"})
    assert get_questions(page, bot) == ["Only this?"]


def test_at_most_six_with_important_documents_first(page, bot):
    text = " ".join(f"Does the shop sell article number {n}? It does." for n in range(9))
    trained(bot, text)
    assert len(get_questions(page, bot)) == 6
    important = trained(bot, "Is the shop closed for works? It is closed until spring.")
    Document.objects.filter(pk=important.pk).update(is_important=True)
    assert get_questions(page, bot)[0] == "Is the shop closed for works?"


def test_documents_that_are_held_back_offer_no_questions(page, bot):
    held = trained(bot, GUIDE)
    Document.objects.filter(pk=held.pk).update(pending_review=True)
    assert get_questions(page, bot) == []


def test_expired_documents_offer_no_questions(page, bot):
    document = trained(bot, GUIDE)
    Document.objects.filter(pk=document.pk).update(
        valid_to=datetime.now(UTC) - timedelta(seconds=1)
    )
    assert get_questions(page, bot) == []


@pytest.mark.parametrize(
    "wrong",
    [
        [{"question": " "}],
        [{"question": "\x1c\x1f"}],
        [{"question": "x" * 301}],
        [{"question": f"Question {n}?"} for n in range(21)],
        [{"question": "Open?"}, {"question": "open?"}],
        [{"question": "Open?", "language": "de"}],
        [{"question": "Open?", "more": 1}],
        "Open?",
    ],
)
def test_a_wrong_list_changes_nothing(ann, wrong):
    bot = make_bot(ann.client, languages=["en", "vi"])
    write(ann, bot, {"question": "Kept?"})
    assert ann.put(path(bot), {"questions": wrong}).status_code == 422
    assert get_questions(ann, bot) == ["Kept?"]
