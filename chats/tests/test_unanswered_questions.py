"""Questions without an answer: grouped, answered, asked again, and gone from the list."""

import re
from datetime import timedelta
from time import sleep
from unittest import mock

import pytest
from django.urls import reverse
from django.utils import timezone

from bots.models import Bot, Document
from bots.testing import make_bot, trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import violations
from chats.models import Conversation, GroupedQuestion, Message, QuestionGroup
from chats.services.insight import question_groups
from chats.testing import make_chat
from identity.models import CreditEntry
from identity.services.credits import InsufficientCredits
from identity.testing import enter_site, signed_in
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

DOGS = ["May I bring my dog into the shop?", "Are dogs allowed in your shop?", "may i bring my dog"]
ZIPS = ["Do you repair broken zips?", "Can you repair a broken zip?"]
INVOICE = ["Can I pay by invoice?"]


@pytest.fixture
def path(bot):
    return f"/ai/{bot.pk}/unanswered-questions"


@pytest.fixture
def ask_in_vain(bot, add_message):
    """Questions, each in a chat of its own, that the bot had no answer to."""

    def ask(*texts, of: Bot = bot, **chat) -> list[Message]:
        asked = []
        for text in texts:
            row = make_chat(of, **chat)
            question = add_message(row, "customer", text)
            receipt = {"decision": "below_gate", "confidence": 0.1, "threshold": 0.5, "chunks": []}
            add_message(row, "bot", "I do not know.", in_reply_to=question, receipt=receipt)
            asked.append(question)
        return asked

    return ask


@pytest.fixture
def grouped(bot, ask_in_vain):
    asked = ask_in_vain(*DOGS[:2], *ZIPS, *INVOICE, DOGS[2])
    question_groups.group_next(bot.pk)
    return asked


def shown(reply):
    assert reply.status_code == 200, reply.content
    return [(row["question"], row["count"], row["status"]) for row in reply.json()["items"]]


def test_a_question_in_a_chat_is_grouped_by_itself(server, bot, ann, path):
    trained(bot, "The shop is open from nine to five.")
    for text in (*ZIPS, "Hello"):
        chat = server.post("/ai/client/chat", {"channel": "web"}).json()["id"]
        server.post(f"/ai/client/chat/{chat}", {"text": text, "reply": "async"})
        run_jobs()
    # The job waits for a few seconds, to take several at once.
    question_groups.group_next(bot.pk)
    assert shown(ann.get(path)) == [(ZIPS[0], 2, "open")]


def test_most_asked_first_with_the_chats_behind(ben, cara, path, grouped, ask_in_vain):
    assert shown(ben.get(path)) == [
        (DOGS[0], 3, "open"),
        (ZIPS[0], 2, "open"),
        (INVOICE[0], 1, "open"),
    ]
    first = ben.get(path).json()["items"][0]
    behind = ben.get(f"{path}/{first['id']}/chats").json()["items"]
    assert [row["text"] for row in behind] == [DOGS[2], DOGS[1], DOGS[0]]
    assert {row["chat_id"] for row in behind} == {
        str(row.conversation_id) for row in grouped if row.text in DOGS
    }
    assert cara.get(path).status_code == 404
    page = ben.get(f"{path}?limit=2").json()
    rest = ben.get(f"{path}?limit=2&cursor={page['next_cursor']}")
    assert shown(rest) == [(INVOICE[0], 1, "open")]


def test_grouping_twice_changes_nothing_and_groups_are_stable(bot, grouped, ask_in_vain):
    before = sorted(QuestionGroup.objects.values_list("pk", "count"))
    question_groups.group_next(bot.pk)
    assert sorted(QuestionGroup.objects.values_list("pk", "count")) == before
    ask_in_vain(DOGS[0].upper())
    ask_in_vain("Is it tea?", is_preview=True)
    other = make_bot(bot.client)
    ask_in_vain(DOGS[0], of=other)
    question_groups.group_next(bot.pk)
    after = dict(QuestionGroup.objects.filter(bot=bot).values_list("pk", "count"))
    dogs = max(before, key=lambda row: row[1])[0]
    assert after == {**dict(before), dogs: 4}


def test_without_the_encoder_the_same_words_are_one_question(bot, ask_in_vain, monkeypatch):
    monkeypatch.setattr("bots.language.embedding.embed_query", lambda text: None)
    ask_in_vain("Do you repair zips?", "do you  repair ZIPS", "Can you mend zips?")
    question_groups.group_next(bot.pk)
    assert sorted(QuestionGroup.objects.values_list("count", flat=True)) == [1, 2]


def test_a_long_text_is_one_question_with_the_same_words_alone(bot, ask_in_vain):
    story = "We came with our dog last year, and nobody minded. " * 10
    alike = [f"{story}{question}" for question in DOGS[:2]]
    ask_in_vain(*alike, alike[0], alike[1].upper())
    question_groups.group_next(bot.pk)
    assert [row.count for row in QuestionGroup.objects.order_by("id")] == [2, 2]


def test_three_calls_from_the_question_to_the_answer(ann, server, bot, path, grouped):
    trained(bot, "The shop is open from nine to five on weekdays.")
    before = Event.objects.filter(type="message.created").count()
    entries = CreditEntry.objects.count()
    first = ann.get(path).json()["items"][0]
    sent = ann.post(f"{path}/{first['id']}/answer", {"answer": "Yes, dogs are welcome."})
    assert (sent.status_code, sent.json()["status"]) == (201, "learning")
    run_jobs()
    seen = ann.get(f"{path}/{first['id']}").json()
    assert (seen["status"], seen["sources"], seen["fault"]) == ("answered", [DOGS[0]], None)
    assert "dogs are welcome" in seen["answer"]
    offered = ann.get(f"/ai/bot/{bot.pk}/sample-questions").json()["items"]
    assert offered == [], "a customer's own words are shown to no visitor by themselves"
    assert seen["asked_again_at"]
    assert [row[0] for row in shown(ann.get(path))] == [ZIPS[0], INVOICE[0]]
    assert shown(ann.get(f"{path}?status=answered")) == [(DOGS[0], 3, "answered")]
    assert Event.objects.filter(type="message.created").count() == before, "nobody hears of it"
    assert CreditEntry.objects.count() == entries
    assert ann.post(f"{path}/{first['id']}/answer", {"answer": "No."}).status_code == 409
    assert Document.objects.filter(source="question_answer").count() == 1


def test_an_answer_that_is_held_back_is_asked_when_it_is_let_through(ann, bot, path, grouped):
    trained(bot, "The shop is open from nine to five on weekdays.")
    Bot.objects.update(hold_back_worse=True)
    golden = {"question": "When is the shop open?", "expected_words": ["weekdays"]}
    assert ann.post(f"/ai/{bot.pk}/golden-questions", golden).status_code == 201
    first = ann.get(path).json()["items"][0]
    ann.post(f"{path}/{first['id']}/answer", {"answer": "Yes, dogs are welcome."})
    run_jobs()
    assert ann.get(f"{path}/{first['id']}").json()["status"] == "learning", "it waits for a run"
    Job.objects.update(due_at=timezone.now())
    run_jobs()
    assert ann.get(f"{path}/{first['id']}").json()["status"] == "answered"


def test_a_question_whose_better_answer_was_discarded_is_not_being_learned(ann, bot, path, grouped):
    trained(bot, "The shop is open from nine to five on weekdays.")
    golden = {"question": "When is the shop open?", "expected_words": ["weekdays"]}
    assert ann.post(f"/ai/{bot.pk}/golden-questions", golden).status_code == 201
    group = ann.get(path).json()["items"][0]["id"]
    row = ann.post(f"{path}/{group}/answer", {"answer": "Yes, dogs are welcome."}).json()
    run_jobs()
    Bot.objects.update(hold_back_worse=True)
    pair = f"/ai/{bot.pk}/train/question-answer/{row['document_id']}"
    wrong = {"question": golden["question"], "answer": "Never, says the landlord."}
    assert ann.put(pair, wrong).status_code == 200
    run_jobs()
    QuestionGroup.objects.filter(pk=group).update(status="learning")  # asked again in vain
    Job.objects.update(due_at=timezone.now())
    run_jobs()
    (run,) = ann.get(f"/ai/{bot.pk}/golden-runs").json()["items"]
    assert ann.post(f"/ai/{bot.pk}/golden-runs/{run['id']}/discard").status_code == 200
    run_jobs()
    assert ann.get(f"{path}/{group}").json()["status"] == "answered"


@pytest.mark.full
def test_the_page_of_an_answer_that_is_held_back_says_so(ann, bot, path, grouped):
    trained(bot, "The shop is open from nine to five on weekdays.")
    Bot.objects.update(hold_back_worse=True)
    golden = {"question": "When is the shop open?", "expected_words": ["weekdays"]}
    assert ann.post(f"/ai/{bot.pk}/golden-questions", golden).status_code == 201
    group = ann.get(path).json()["items"][0]["id"]
    wrong = {"question": golden["question"], "answer": "Never, says the landlord."}
    ann.post(f"{path}/{group}/answer", wrong)
    run_jobs()
    site = signed_in(ann.user)
    page = reverse("admin:chats_questiongroup_change", args=[group])
    listed = reverse("admin:chats_questiongroup_changelist")
    (run,) = ann.get(f"/ai/{bot.pk}/golden-runs").json()["items"]
    link = f'href="{reverse("admin:bots_goldenrun_change", args=[run["id"]])}">'
    waits = site.get(page)
    assert f"{link}Running test questions</a>" in waits.content.decode()
    assert "Confidence too low" not in waits.content.decode()
    assert waits["Refresh"] == "3"
    assert "Running test questions" in site.get(listed).content.decode()
    Job.objects.update(due_at=timezone.now())
    run_jobs()
    held = site.get(page)
    assert f"{link}On hold: a test question failed</a>" in held.content.decode()
    assert "Confidence too low" not in held.content.decode()
    assert "Refresh" not in held
    assert "On hold: a test question failed" in site.get(listed).content.decode()
    assert ann.post(f"/ai/{bot.pk}/golden-runs/{run['id']}/publish").status_code == 200
    run_jobs()
    assert link not in site.get(page).content.decode()


def test_a_question_whose_answer_was_deleted_while_it_waits_is_open_again(ann, bot, path, grouped):
    group = ann.get(path).json()["items"][0]["id"]
    row = ann.post(f"{path}/{group}/answer", {"answer": "Yes, dogs are welcome."}).json()
    pair = f"/ai/{bot.pk}/train/question-answer/{row['document_id']}"
    assert ann.delete(pair).status_code == 204
    run_jobs()
    question_groups.clean_up()
    assert ann.get(f"{path}/{group}").json()["status"] == "open"


def test_a_question_that_comes_again_in_vain_is_open_again(ann, bot, path, grouped, ask_in_vain):
    group = QuestionGroup.objects.get(count=1)
    group.status, group.asked_again_at = "answered", timezone.now() - timedelta(minutes=1)
    group.save()
    ask_in_vain(*INVOICE)
    question_groups.group_next(bot.pk)
    group.refresh_from_db()
    assert (group.status, group.count) == ("open", 2)
    pair = {"question": "Do you send receipts?", "answer": "By email."}
    ann.post(f"/ai/{bot.pk}/train/question-answer", pair)
    group.answer, group.sources = pair["answer"], [pair["question"]]
    group.save()
    form = reverse("admin:chats_questiongroup_add_answer", args=[group.pk])
    begun = signed_in(ann.user).get(form).context["form"].initial
    assert (begun["question"], begun["answer"]) == (INVOICE[-1], "By email.")


def test_asking_again_says_why_there_is_still_no_answer(ann, bot, path, grouped):
    trained(bot, "The shop is open from nine to five on weekdays.")
    first = ann.get(path).json()["items"][0]
    assert ann.post(f"{path}/{first['id']}/ask", {}).status_code == 202
    run_jobs()
    seen = ann.get(f"{path}/{first['id']}").json()
    assert (seen["status"], seen["answer"], seen["fault"]) == ("open", None, "below_gate")


@pytest.mark.parametrize(
    ("error", "attempts"), [(OSError(), 1), (InsufficientCredits(balance=0, required=1), 3)]
)
def test_a_question_that_could_not_be_asked_again_says_so(ann, bot, path, grouped, error, attempts):
    first = ann.get(path).json()["items"][0]
    ann.post(f"{path}/{first['id']}/ask", {})
    Job.objects.filter(name="chats.ask_question_again").update(max_attempts=attempts)
    with mock.patch("bots.services.answer_preview.ask", side_effect=error):
        run_jobs()
    assert Job.objects.get(name="chats.ask_question_again").state == "dead"
    seen = ann.get(f"{path}/{first['id']}").json()
    assert (seen["status"], seen["answer"], seen["fault"]) == ("open", None, "engine_failed")


def test_who_does_not_train_reads_alone(ben, ann, path, grouped):
    first = ben.get(path).json()["items"][0]
    assert ben.post(f"{path}/{first['id']}/answer", {"answer": "Yes."}).status_code == 403
    assert ben.post(f"{path}/{first['id']}/ask", {}).status_code == 403
    for body in ({"answer": ""}, {"answer": "?!"}, {"answer": "Yes.", "question": " "}, {}):
        assert ann.post(f"{path}/{first['id']}/answer", body).status_code == 422
    assert not Document.objects.exists()


def test_what_is_old_or_deleted_leaves_the_list(ann, bot, path, grouped):
    GroupedQuestion.objects.filter(message__text=INVOICE[0]).update(
        asked_at=timezone.now() - timedelta(days=31)
    )
    Message.objects.filter(text=INVOICE[0]).update(created_at=timezone.now() - timedelta(days=31))
    Message.objects.filter(in_reply_to__text=INVOICE[0]).update(
        created_at=timezone.now() - timedelta(days=31)
    )
    Conversation.objects.filter(messages__text=DOGS[0]).delete()
    question_groups.clean_up()
    run_jobs()
    assert shown(ann.get(path)) == [(ZIPS[0], 2, "open"), (DOGS[1], 2, "open")]


@pytest.mark.full
def test_the_sites_page_lists_answers_and_shows_what_the_bot_says(ann, bot, grouped):
    trained(bot, "The shop is open from nine to five on weekdays.")
    site = signed_in(ann.user)
    listed = reverse("admin:chats_questiongroup_changelist")
    page = site.get(listed).content.decode()
    assert page.index(DOGS[0]) < page.index(ZIPS[0])
    group = QuestionGroup.objects.get(count=3)
    form = reverse("admin:chats_questiongroup_add_answer", args=[group.pk])
    assert form in page
    by_time = reverse("admin:chats_questiongroup_by_time")
    assert by_time in page
    assert DOGS[2] in site.get(by_time, follow=True).content.decode()
    filled = site.get(form).content.decode()
    assert DOGS[0] in filled
    (answer,) = re.findall("<textarea[^>]+>", filled)
    assert "autofocus" in answer
    days = {"valid_until": "2040-12-24"}
    sent = site.post(form, {"question": DOGS[0], "answer": "Yes, dogs are welcome."} | days)
    assert Document.objects.get(source="question_answer").valid_to
    learning = site.get(sent["Location"])
    assert learning["Refresh"] == "3"
    run_jobs()
    seen = site.get(sent["Location"])
    assert "Yes, dogs are welcome." in seen.content.decode()
    assert "Refresh" not in seen
    assert DOGS[0] not in site.get(listed).content.decode()
    assert DOGS[0] in site.get(f"{listed}?state=answered").content.decode()


@pytest.mark.full
def test_by_time_every_question_of_an_answered_group_leads_to_its_source(ann, bot, path, grouped):
    trained(bot, "The shop is open from nine to five on weekdays.")
    site = signed_in(ann.user)
    by_time = reverse("admin:chats_unanswered")
    first = ann.get(path).json()["items"][0]
    ann.post(f"{path}/{first['id']}/answer", {"answer": "Yes, dogs are welcome."})
    learning = site.get(by_time).content.decode()
    assert (learning.count("Answered"), learning.count("Write answer")) == (3, 3)
    run_jobs()
    page = site.get(by_time).content.decode()
    assert page.count("Write answer") == 3, "zips twice, and the invoice"
    source = Document.objects.get(source="question_answer")
    link = reverse("admin:bots_document_change", args=[source.pk])
    assert len(re.findall(f'<a href="{link}">.*?Answered', page, re.DOTALL)) == 3
    source.delete()
    # The bot may have learned the answer elsewhere: the group says from what.
    link = reverse("admin:chats_questiongroup_change", args=[first["id"]])
    assert site.get(by_time).content.decode().count(f'<a href="{link}">') == 3


def test_the_sites_page_asks_again_when_somebody_presses_the_button(ann, bot, grouped):
    site = signed_in(ann.user)
    group = QuestionGroup.objects.get(count=3)
    form = reverse("admin:chats_questiongroup_ask_again", args=[group.pk])
    before = Job.objects.count()
    assert DOGS[0] in site.get(form).content.decode()
    assert Job.objects.count() == before
    assert site.post(form).status_code == 302
    assert Job.objects.count() == before + 1


def come_late(route):
    sleep(0.5)
    route.continue_()


@pytest.mark.journey
def test_three_clicks_in_a_browser(screen, ann, bot, grouped):
    trained(bot, "The shop is open from nine to five on weekdays.")
    enter_site(screen, ann.user)
    screen.goto(reverse("admin:chats_questiongroup_changelist"))
    screen.route("**/alpine.js", come_late)
    row = screen.get_by_role("row").filter(has_text=DOGS[0])
    row.get_by_role("link", name="Write answer").click()
    # The answer is typed at once: its field has the focus, though the page is hidden at first.
    screen.locator("textarea:focus").wait_for()
    screen.keyboard.type("Yes, dogs are welcome.")
    screen.get_by_role("button", name="Save answer").click()
    screen.wait_for_url(re.compile(r"questiongroup/\d+/change"))
    run_jobs()
    # The page follows by itself.
    screen.get_by_text("Yes, dogs are welcome.").wait_for()
    assert screen.get_by_text("Answered", exact=True).is_visible()
    assert violations(screen) == []
