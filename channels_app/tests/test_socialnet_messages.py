"""Get Socialnet Messages, Post Socialnet, and the survey after a chat."""

from datetime import timedelta

import pytest
from django.utils import timezone

from channels_app.services import typing_and_receipts
from channels_app.tests.helpers import PAGE, run_waiting
from chatplatform.testing import run_jobs
from chats.models import Conversation, Feedback, Message
from identity.testing import make_person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def user(agents_chat, socialnet):
    return socialnet.sim.thread(PAGE, "an")["user_id"]


@pytest.mark.full
def test_what_was_said_is_read_from_our_store(socialnet, user, ann, ben, agents_chat):
    ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "A note", "is_note": True})
    ann.post(socialnet.bot_path("messages"), {"recipient_id": user, "text": "Yes"})
    socialnet.write("From Binh", user="binh")
    run_jobs()
    before = len(socialnet.sim.calls())
    items = ann.get(socialnet.bot_path("messages")).json()["items"]
    assert [item["content"][0]["text"] for item in items] == [
        "From Binh", "Yes", "Is anybody there?",
    ]  # fmt: skip
    own = ann.get(socialnet.bot_path("messages"), {"recipient_id": user}).json()["items"]
    assert len(own) == 2
    assert len(socialnet.sim.calls()) == before


@pytest.mark.full
def test_a_message_goes_to_the_customer_and_takes_the_chat(socialnet, user, ben, agents_chat):
    reply = ben.post(socialnet.bot_path("messages"), {"recipient_id": user, "text": "Hello"})
    assert (reply.status_code, reply.json()["status"]) == (201, "pending")
    assert reply.json()["conversation_id"] == str(agents_chat.pk)
    run_jobs()
    assert socialnet.replies() == ["Hello"]
    agents_chat.refresh_from_db()
    assert agents_chat.assignee == ben.user


@pytest.mark.full
def test_a_message_goes_into_the_customers_newest_chat(socialnet, user, ben, client_a, agents_chat):
    client_a.config.reopen_window_minutes = 0
    client_a.config.save()
    end(ben, agents_chat)
    socialnet.write("I have another question")
    run_jobs()
    newest = Conversation.objects.exclude(pk=agents_chat.pk).get()
    reply = ben.post(socialnet.bot_path("messages"), {"recipient_id": user, "text": "Hello"})
    assert (reply.status_code, reply.json()["conversation_id"]) == (201, str(newest.pk))


def test_another_agents_chat_is_that_agents(socialnet, user, ben, agents_chat):
    path, body = socialnet.bot_path("messages"), {"recipient_id": user, "text": "Hello"}
    ben.post(path, body)
    bea = make_person(ben.client, "agent", "Bea")
    assert bea.post(path, body).json()["code"] == "already_assigned"
    run_jobs()
    assert socialnet.replies() == ["Hello"]


def test_a_repeated_request_sends_once(socialnet, user, ben):
    for _ in range(2):
        body = {"recipient_id": user, "text": "Once"}
        reply = ben.post(socialnet.bot_path("messages"), body, **{"Idempotency-Key": "k-1"})
        assert reply.status_code == 201
    run_jobs()
    assert socialnet.replies() == ["Once"]


@pytest.mark.parametrize(
    "body",
    [
        {"recipient_id": "1"},
        {"recipient_id": "1", "text": "  "},
        {"recipient_id": "1", "text": "a", "content": [{"type": "text", "text": "b"}]},
        {"recipient_id": "", "text": "a"},
        {"text": "a"},
        {"recipient_id": "1", "text": "a", "tag": "ACCOUNT_UPDATE"},
    ],
)
def test_a_wrong_message_is_refused(socialnet, user, ann, body):
    assert ann.post(socialnet.bot_path("messages"), body).status_code == 422
    assert not Message.objects.filter(sender_type="agent").exists()


def test_a_stranger_cannot_be_written_to(socialnet, user, ann):
    body = {"recipient_id": "6199999999999999", "text": "Buy!"}
    assert ann.post(socialnet.bot_path("messages"), body).status_code == 404


def test_the_reply_window_lasts_a_day_from_the_customers_last_message(socialnet, user, ann):
    chat = Conversation.objects.get()
    assert chat.reply_window_expires_at
    lasts = chat.reply_window_expires_at - timezone.now()
    assert timedelta(hours=23, minutes=55) < lasts <= timedelta(hours=24)
    shown = ann.get("/ai/chats").json()["items"][0]
    assert shown["can_reply"]
    assert shown["reply_window_expires_at"]


def test_a_late_message_of_before_does_not_shorten_the_window(socialnet, user):
    window = Conversation.objects.get().reply_window_expires_at
    old = int((timezone.now() - timedelta(hours=3)).timestamp() * 1000)
    item = {"message": {"mid": "m_old", "text": "late"}, "timestamp": old}
    socialnet.act("raw", item=item)
    run_jobs()
    assert Message.objects.filter(text="late").exists()
    assert Conversation.objects.get().reply_window_expires_at == window


# --- the survey -------------------------------------------------------------------------------


def end(ben, chat):
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "All done"})
    assert ben.post(f"/ai/chat/{chat.pk}/agent-end").status_code == 200
    run_jobs()


def surveys(socialnet):
    return [reply for reply in socialnet.sim.replies(PAGE, "an") if "attachment" in reply["body"]]


def test_after_a_chat_the_customer_is_asked_once_and_the_rating_is_stored(
    socialnet, agents_chat, ben
):
    end(ben, agents_chat)
    assert len(surveys(socialnet)) == 1
    socialnet.settle()
    for _ in range(2):
        socialnet.act("survey", score="4", comment="Quick and kind")
        run_jobs()
    rating = Feedback.objects.get()
    assert (rating.conversation, rating.rating) == (agents_chat, 4)
    assert rating.comment == "Quick and kind"
    assert Message.objects.filter(sender_type="agent").count() == 1, "its echo is no message"


def test_a_survey_whose_job_runs_twice_is_sent_once(socialnet, agents_chat, ben):
    end(ben, agents_chat)
    typing_and_receipts.send_survey(str(agents_chat.pk))
    assert len(surveys(socialnet)) == 1


@pytest.mark.parametrize("score", ["0", "6", "nonsense"])
def test_a_score_that_is_none_is_ignored(socialnet, agents_chat, ben, score):
    question = {"type": "csat", "payload": score}
    screens = [{"screen_id": 0, "questions": {f"chat_{agents_chat.pk.hex}": question}}]
    feedback = {"messaging_feedback": {"feedback_screens": screens}}
    socialnet.act("raw", item=feedback, field="messaging_feedback")
    run_jobs()
    assert not Feedback.objects.exists()


def test_nobody_rates_another_customers_chat(socialnet, agents_chat, ben):
    socialnet.write("Hello", user="binh")
    question = {"type": "csat", "payload": 5}
    screens = [{"screen_id": 0, "questions": {f"chat_{agents_chat.pk.hex}": question}}]
    feedback = {"messaging_feedback": {"feedback_screens": screens}}
    socialnet.act("raw", user="binh", item=feedback, field="messaging_feedback")
    run_jobs()
    assert not Feedback.objects.exists()


def test_nobody_is_asked_about_a_chat_without_an_answer(socialnet, agents_chat, ben):
    ben.post(f"/ai/chat/{agents_chat.pk}/agent-end")
    run_jobs()
    assert surveys(socialnet) == []


def test_nobody_is_asked_after_the_window(socialnet, agents_chat, ben):
    ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    run_jobs()
    Conversation.objects.update(reply_window_expires_at=timezone.now())
    ben.post(f"/ai/chat/{agents_chat.pk}/agent-end")
    run_jobs()
    assert surveys(socialnet) == []


def test_a_survey_that_could_not_be_sent_is_sent_later(socialnet, agents_chat, ben):
    ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    run_jobs()
    socialnet.sim.fault("code", what="sends", code=2)
    ben.post(f"/ai/chat/{agents_chat.pk}/agent-end")
    run_jobs()
    assert surveys(socialnet) == []
    run_waiting()
    assert len(surveys(socialnet)) == 1


# --- ticks and the typing hand ----------------------------------------------------------------


def test_what_an_agent_does_at_the_desk_is_shown_to_the_customer(socialnet, agents_chat, ben):
    def actions():
        calls = [str(call["body"]) for call in socialnet.sim.calls(what="actions")]
        return [
            name for call in calls for name in ("mark_seen", "typing_on", "typing_off")
            if name in call
        ]  # fmt: skip

    assert actions() == []
    assert ben.post(f"/ai/chat/{agents_chat.pk}/typing", {"is_typing": True}).status_code < 300
    run_jobs()
    ben.post(f"/ai/chat/{agents_chat.pk}/typing", {"is_typing": False})
    run_jobs()
    assert ben.post(f"/ai/chat/{agents_chat.pk}/read").status_code < 300
    run_jobs()
    assert actions() == ["typing_on", "typing_off", "mark_seen"]
    ben.post(f"/ai/chat/{agents_chat.pk}/read")
    socialnet.sim.fault("http_500", what="actions", times=0)
    ben.post(f"/ai/chat/{agents_chat.pk}/typing", {"is_typing": True})
    run_jobs()
    assert not run_waiting(), "a late typing hand is not shown"
