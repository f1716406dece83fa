"""The bot answers questions about the business hours from the hours that are set."""

import pytest
from django.urls import reverse

from bots.models import Document
from bots.testing import trained
from chatplatform.testing import run_jobs
from chats.tests.test_asked_fields import Talk
from identity.testing import signed_in

pytestmark = pytest.mark.django_db(transaction=True)

WEEK = [
    *({"weekday": day, "opens": "09:00", "closes": "20:00"} for day in range(5)),
    {"weekday": 5, "opens": "09:00", "closes": "18:00"},
]


@pytest.fixture
def opens(ann):
    def store(**settings):
        reply = ann.post(f"/config/{ann.client.pk}/chat", settings)
        assert reply.status_code == 200, reply.content
        run_jobs()

    return store


def texts(bot):
    rows = Document.objects.filter(bot=bot, from_business_hours=True).order_by("title")
    return {row.title: row.content for row in rows}


def test_a_question_about_hours_is_answered_from_the_hours_that_are_set(opens, bot, server):
    trained(bot, "Delivery\n\nParcels arrive within three days.")
    opens(business_hours=WEEK, holidays=[{"date": "2099-12-24", "name": "Christmas Eve"}])
    talk = Talk(server)
    for question in ("When are you open on Saturday?", "What time do you close?"):
        answer = talk.say(question)
        assert "Saturday: open from 09:00 to 18:00" in answer
        assert "Sunday: closed all day" in answer
        assert "Thursday, 24 December 2099 (Christmas Eve): closed all day" in answer
        assert [source["title"] for source in talk.last["citations"]] == ["Business hours"]
    assert talk.say("How long do parcels take?").startswith("Parcels arrive")


def test_hours_alone_are_no_content_on_the_bots_pages(opens, ann, bot):
    def is_done():
        page = signed_in(ann.user).get(reverse("admin:bots_bot_content", args=[bot.pk]))
        return page.context["tabs"][0]["is_done"]

    opens(business_hours=WEEK)
    assert Document.objects.get().chunk_count
    assert not is_done()
    trained(bot, "Parcels arrive within three days.")
    assert is_done()


def test_the_text_follows_the_hours(opens, bot, server):
    opens(business_hours=WEEK)
    row = Document.objects.get(from_business_hours=True)
    opens(business_hours=[*WEEK[:5], {"weekday": 5, "opens": "10:00", "closes": "12:00"}])
    changed = Document.objects.get(from_business_hours=True)
    assert (changed.pk, changed.status) == (row.pk, "trained")
    assert "Saturday: open from 10:00 to 12:00" in Talk(server).say("Are you open on Saturday?")
    opens(business_hours=[])
    assert texts(bot) == {}


def test_there_is_a_text_in_each_of_the_bots_languages(opens, ann, bot):
    opens(business_hours=WEEK)
    assert set(texts(bot)) == {"Business hours"}
    ann.put(f"/ai/bot/{bot.pk}/update-bot", {"languages": ["en", "vi"], "default_language": "vi"})
    run_jobs()
    assert len(texts(bot)) == 2
    assert any("Thứ 7" in text for text in texts(bot).values())


def test_a_bots_own_hours_come_first(opens, ann, bot):
    opens(business_hours=WEEK)
    own = [{"weekday": 6, "opens": "10:00", "closes": "11:00"}]
    assert ann.put(f"/ai/bot/{bot.pk}/update-bot", {"business_hours": own}).status_code == 200
    run_jobs()
    assert "Sunday: open from 10:00 to 11:00" in texts(bot)["Business hours"]
    assert "Monday: closed all day" in texts(bot)["Business hours"]


def test_always_open_has_no_text(opens, bot):
    opens(holidays=[{"date": "2099-12-24"}], timezone="Asia/Ho_Chi_Minh")
    assert texts(bot) == {}


def test_the_text_is_not_the_clients_to_edit_and_no_step_of_the_set_up(opens, ann, bot):
    opens(business_hours=WEEK)
    document = Document.objects.get(from_business_hours=True)
    assert ann.get(f"/ai/{bot.pk}/train/text").json()["items"] == []
    path = f"/ai/{bot.pk}/train/text/{document.pk}"
    assert ann.put(path, {"title": "x", "text": "y"}).status_code == 404
    assert ann.delete(path).status_code == 404
    assert ann.get(f"/ai/bot/{bot.pk}").json()["file_setup"] is False
    assert texts(bot)


def test_its_page_says_where_to_change_it(opens, ann, site, bot):
    opens(business_hours=WEEK)
    document = Document.objects.get(from_business_hours=True)
    page = site.get(reverse("admin:bots_bot_document", args=[bot.pk, document.pk]))
    assert page.status_code == 200
    assert "data-from-hours" in page.content.decode()
    assert {"edit", "use"}.isdisjoint(page.context["parts"])
    assert page.context["delete"] is None


@pytest.mark.full
@pytest.mark.parametrize(
    "case",
    [
        ("vi", "Thứ bảy mấy giờ mở cửa?", "Thứ 7: mở cửa từ 09:00 đến 18:00"),
        ("vi", "Chủ nhật có mở cửa không?", "Chủ nhật: đóng cửa cả ngày"),
        ("de", "Haben Sie am Samstag geöffnet?", "Samstag: geöffnet von 09:00 bis 18:00"),
        ("de", "Wann schließen Sie am Freitag?", "Freitag: geöffnet von 09:00 bis 20:00"),
    ],
)
def test_hours_are_told_in_the_customers_language(opens, ann, bot, server, case):
    code, question, line = case
    ann.put(f"/ai/bot/{bot.pk}/update-bot", {"languages": ["en", code]})
    opens(business_hours=WEEK)
    assert line.lower() in Talk(server).say(question).lower()
