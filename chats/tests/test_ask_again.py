"""The first question without an answer is asked for in other words; the second is handed over."""

import uuid

import pytest
from django.db.models import F
from django.urls import reverse

from bots.language import intents, phrasebook
from bots.models import Bot, Chunk
from bots.testing import trained
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation, Message, Notification
from chats.services.insight import question_groups
from chats.services.reply import pipeline
from identity.models import ClientConfig
from identity.testing import signed_in
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = """OPENING HOURS

The shop is open from nine to five on weekdays.

RETURNS

You may return damaged goods within thirty days and get your money back.

SHIPPING COSTS

Shipping costs five euros within the country.
"""
UNKNOWN = "How do I bake a sourdough bread?"
STRANGE = "Who won the chess olympiad?"
KNOWN = "Within how many days may I return damaged goods?"
SAYS = phrasebook.all_books()["en"].says


@pytest.fixture
def shop(bot):
    trained(bot, SHOP)


@pytest.fixture
def talk(server, shop):
    """Say something in a chat; the turn that came of it."""
    opened = {}

    def say_it(text, channel="web"):
        if channel not in opened:
            body = {"channel": channel, "customer": {"name": "Zoe"}}
            opened[channel] = server.post("/ai/client/chat", body).json()["id"]
        path = f"/ai/client/chat/{opened[channel]}"
        body = {"text": text, "reply": "async", "client_message_id": str(uuid.uuid4())}
        assert server.post(path, body).status_code in {200, 202}
        run_jobs()
        # The same request again tells what became of it.
        turn = server.post(path, body).json()
        return turn, Conversation.objects.get(pk=opened[channel])

    return say_it


def words_of(turn):
    return turn["reply"]["content"][0]["text"] if turn["reply"] else None


def options_of(turn):
    return [option["value"] for option in turn["reply"]["content"][0]["options"] or []]


def test_the_first_is_asked_again_and_the_second_handed_over(talk):
    turn, chat = talk(UNKNOWN)
    assert (turn["status"], turn["handoff_reason"]) == ("asked_again", None)
    assert (turn["reply"]["sender"]["type"], chat.assign_type) == ("bot", "bot")
    assert words_of(turn).startswith(SAYS["unknown"])
    assert SAYS["nearest"] in words_of(turn)
    *offered, person = options_of(turn)
    assert person == SAYS["person_button"]
    assert len(offered) == 3
    assert not Notification.objects.exists()
    assert not Event.objects.filter(type="conversation.handed_off").exists()
    turn, chat = talk(offered[0])
    assert turn["status"] == "answered", "an offer keeps its word"
    assert turn["reply"]["citations"]
    turn, chat = talk(STRANGE)
    assert (turn["status"], turn["handoff_reason"]) == ("handed_off", "no_answer")
    assert (words_of(turn), chat.assign_type) == (SAYS["handover_no_answer"], "queue")


def test_headings_are_of_the_customers_language_if_some_are(talk, bot):
    ClientConfig.objects.update(ask_again_before_handoff=True)
    trained(bot, "ĐỔI TRẢ HÀNG\n\nQuý khách được đổi trả hàng trong vòng 30 ngày kể từ khi mua.\n")
    for left_out, channel, expected in (
        ({"heading": "OPENING HOURS"}, "web", {"RETURNS", "SHIPPING COSTS"}),
        ({"language": "en"}, "api", {"ĐỔI TRẢ HÀNG"}),
    ):
        Chunk.objects.filter(**left_out).delete()
        Bot.objects.update(knowledge_version=F("knowledge_version") + 1)
        turn, _ = talk("Do you sell live penguins?", channel)
        assert set(options_of(turn)[:-1]) == expected


def test_headings_are_offered_as_topics_without_numbers_and_versions(talk, bot):
    Chunk.objects.filter(heading="RETURNS").update(heading="Terms > 3. Returns & refunds")
    Chunk.objects.filter(heading="SHIPPING COSTS").update(heading="Shipping_costs 2026 Q3.xlsx")
    Chunk.objects.filter(heading="OPENING HOURS").update(heading="IMG_2041")
    Bot.objects.update(knowledge_version=F("knowledge_version") + 1)
    turn, _ = talk(UNKNOWN)
    assert set(options_of(turn)[:-1]) == {"Returns & refunds", "Shipping costs"}


@pytest.mark.parametrize(
    "heading", ["24-hour delivery", "Prices from 1 May 2026", "A la carte", "Size 7 shoes"]
)
def test_figures_that_belong_to_a_heading_stay(talk, bot, heading):
    Chunk.objects.filter(heading="SHIPPING COSTS").update(heading=heading)
    Bot.objects.update(knowledge_version=F("knowledge_version") + 1)
    with_threshold = ClientConfig.objects.update(answer_threshold=0.01)
    assert with_threshold
    turn, _ = talk(UNKNOWN)
    assert heading in options_of(turn)


def test_no_customers_words_are_offered_to_another(ann, talk, bot):
    for number in range(48213, 48216):
        pair = {"question": f"Where is my order {number}?", "answer": "It left on Monday."}
        assert ann.post(f"/ai/{bot.pk}/train/question-answer", pair).status_code == 202
    run_jobs()
    turn, _ = talk("Where is Napoleon buried?")
    assert turn["status"] == "asked_again"
    assert not any("order" in offered for offered in options_of(turn))


def test_the_person_that_is_offered_is_had(talk):
    turn, _ = talk(UNKNOWN)
    turn, chat = talk(options_of(turn)[-1])
    assert (turn["status"], chat.handoff_reason) == ("handed_off", "customer_asked")


@pytest.mark.parametrize(
    ("setting", "channel", "status"),
    [
        (None, "web", "asked_again"), (None, "api", "handed_off"),
        (True, "api", "asked_again"), (False, "web", "handed_off"),
    ],
)  # fmt: skip
def test_the_setting_and_the_channel_decide(ann, talk, setting, channel, status):
    path = f"/config/{ann.client.pk}/chat"
    body = {"ask_again_before_handoff": setting}
    assert ann.post(path, body).json()["ask_again_before_handoff"] is setting
    assert talk(UNKNOWN, channel)[0]["status"] == status


def test_without_handovers_only_the_wording_differs(talk):
    ClientConfig.objects.update(handoff_on_no_answer=False, handoff_on_request=False)
    first, _ = talk(UNKNOWN)
    assert first["status"] == "answered"
    assert SAYS["nearest"] in words_of(first)
    assert SAYS["person_possible"] not in words_of(first)
    assert SAYS["person_button"] not in options_of(first), "nobody could be had"
    second, chat = talk(STRANGE)
    assert (second["status"], words_of(second)) == ("answered", SAYS["unknown"])
    assert (chat.assign_type, options_of(second)) == ("bot", [])


def test_the_button_is_understood_in_every_language():
    for code, book in phrasebook.all_books().items():
        assert intents.asks_for_person(book.says["person_button"]), code
        assert book.says["nearest"].strip()


# --- while the chat waits in the queue -----------------------------------------------------------


@pytest.fixture
def waiting(talk):
    """A chat whose customer asked for a person."""
    return talk("I want to talk to a human")[1]


def test_the_bot_goes_on_with_what_it_knows(talk, waiting):
    turn, chat = talk(KNOWN)
    assert turn["status"] == "answered"
    assert "thirty days" in words_of(turn)
    assert (chat.assign_type, chat.version, chat.waiting_since) == (
        "queue", waiting.version, waiting.waiting_since,
    )  # fmt: skip
    assert Message.objects.filter(pk=turn["reply"]["id"], receipt__while_waiting=True).exists()
    before = Message.objects.count()
    for text in ("great!", "Thanks!", UNKNOWN, "a human please", "ok"):
        turn, chat = talk(text)
        assert (turn["reply"], turn["status"], chat.assign_type) == (None, "handed_off", "queue")
    assert Message.objects.count() == before + 5, "nothing but the customer's own words"
    assert talk(KNOWN)[0]["status"] == "answered", "a great! silences nobody"


def test_what_it_cannot_answer_is_noted_once_as_an_unanswered_question(ann, bot, talk, waiting):
    path = f"/ai/{bot.pk}/unanswered-questions"
    before = ann.get(path).json()["items"]
    turn, _ = talk(UNKNOWN)
    assert turn["reply"] is None
    for text in ("any news?", "order 0987", KNOWN):
        talk(text)
    assert Job.objects.filter(name="chats.group_questions").count() == 1
    for _ in range(2):
        question_groups.group_next(bot.pk)
    [noted] = [row for row in ann.get(path).json()["items"] if row not in before]
    assert (noted["question"], noted["count"]) == (UNKNOWN, 1)
    question = turn["message"]["id"]
    browser = signed_in(ann.user)
    listed = browser.get(reverse("admin:chats_unanswered")).content.decode()
    assert listed.count(question) == 2, "why there was no answer, and the form for one"
    why = browser.get(reverse("admin:chats_why", args=[waiting.pk, question]))
    assert reverse("admin:chats_answer", args=[question]) in why.content.decode()
    answer = browser.get(reverse("admin:chats_answer", args=[question]))
    assert UNKNOWN in answer.content.decode()


def test_the_setting_switches_it_off(talk, waiting):
    ClientConfig.objects.update(answer_while_waiting=False)
    turn, _ = talk(KNOWN)
    assert (turn["reply"], turn["status"]) == (None, "handed_off")


def test_an_agents_first_message_ends_it(ben, talk, waiting):
    note = {"text": "Who takes this one?", "is_note": True}
    assert ben.post(f"/ai/chat/{waiting.pk}/manual", note).status_code == 201
    assert talk(KNOWN)[0]["status"] == "answered", "a note says nothing to the customer"
    assert ben.post(f"/ai/chat/{waiting.pk}/manual", {"text": "Hello"}).status_code == 201
    assert talk(KNOWN)[0]["status"] == "not_expected"
    Conversation.objects.update(assign_type="queue", assignee=None)
    turn, _ = talk(KNOWN)
    assert (turn["reply"], turn["status"]) == (None, "handed_off"), "the agent has begun"


@pytest.mark.parametrize("step", ["takes", "writes"])
def test_no_answer_comes_after_an_agent_took_over(ben, talk, waiting, step):
    path = f"/ai/chat/{waiting.pk}"

    def meanwhile():
        sent = (
            ben.post(f"{path}/manual", {"text": "I am here."})
            if step == "writes"
            else ben.post(f"{path}/assign", {"assign_type": "agent", "user_id": ben.user.pk})
        )
        assert sent.status_code in {200, 201}, sent.content

    with run_before("chats.services.reply.publishing.publish_reply", meanwhile):
        turn, chat = talk(KNOWN)
    assert (turn["reply"], chat.assign_type) == (None, "agent")
    texts = Message.objects.filter(
        conversation=chat, sender_type="bot", receipt__decision="answered"
    )
    assert not texts.exists()


def test_a_job_that_runs_twice_answers_once(talk, waiting):
    turn, chat = talk(KNOWN)
    pipeline.answer(turn["message"]["id"])
    assert Message.objects.filter(conversation=chat, receipt__decision="answered").count() == 1
