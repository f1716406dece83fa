"""Jobs of workers: insights after the end of a chat, translations of customers' messages."""

import pytest

from chatplatform.jobs import enqueue
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from chats.models import Message, Summary
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


def configure(client, **settings):
    for name, value in settings.items():
        setattr(client.config, name, value)
    client.config.save()


def run_after_end(chat):
    enqueue("chats.run_after_end", client_id=chat.client_id, conversation_id=str(chat.pk))
    run_jobs()


def test_no_insight_is_computed_by_default(ann, chat, add_message, credits_spent):
    add_message(chat, "customer", "Terrible!")
    run_after_end(chat)
    chat.refresh_from_db()
    assert (chat.summary, chat.sentiment, chat.tags) == (None, None, [])
    assert credits_spent(ann.client) == 0


def test_all_insights_that_are_switched_on_are_computed(ann, chat, add_message, credits_spent):
    configure(ann.client, auto_summary=True, auto_tag=True, auto_sentiment=True)
    add_message(chat, "customer", "This is the worst shop I know, I am furious!")
    run_after_end(chat)
    chat.refresh_from_db()
    assert chat.summary
    assert chat.sentiment == "negative"
    assert Message.objects.get().sentiment == "negative"
    assert credits_spent(ann.client) == 3
    assert set(Event.objects.values_list("type", flat=True)) >= {
        "summary.created", "sentiment.updated",
    }  # fmt: skip


def test_a_repeated_job_makes_one_summary(ann, chat, add_message):
    configure(ann.client, auto_summary=True)
    add_message(chat, "customer", "Where is my parcel?")
    run_after_end(chat)
    run_after_end(chat)
    assert Summary.objects.count() == 1


def test_a_failed_insight_is_retried(ann, chat, add_message, model, credits_spent):
    configure(ann.client, auto_sentiment=True)
    add_message(chat, "customer", "Well.")
    model.json_answer = {"sentiment": "positive", "score": 0.5}
    model.play("404,json")
    run_after_end(chat)
    job = Job.objects.get(name="chats.compute_insight")
    assert (job.state, job.attempts) == (JobState.QUEUED, 1)
    Job.objects.update(due_at=chat.created_at)
    run_jobs()
    chat.refresh_from_db()
    assert chat.sentiment == "positive"
    assert credits_spent(ann.client) == 1


def test_without_credits_it_is_not_retried(ann, chat, add_message):
    configure(ann.client, auto_summary=True)
    ann.client.subscription.credits_left = 0
    ann.client.subscription.save()
    add_message(chat, "customer", "Where is my parcel?")
    run_after_end(chat)
    job = Job.objects.get(name="chats.compute_insight")
    assert (job.state, job.attempts) == (JobState.DEAD, 1)
    assert Summary.objects.count() == 0


def test_jobs_of_a_deleted_chat_end(ann, chat, add_message):
    configure(ann.client, auto_summary=True)
    enqueue("chats.run_after_end", client_id=chat.client_id, conversation_id=str(chat.pk))
    enqueue("chats.compute_insight", client_id=1, conversation_id=str(chat.pk), kind="tags")
    chat.delete()
    run_jobs()
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.DONE}


# --- translations -------------------------------------------------------------------------------

VIETNAMESE = "Cửa hàng mở cửa lúc mấy giờ vậy bạn?"


def send(server, chat, text):
    reply = server.post(f"/ai/client/chat/{chat.pk}", {"text": text, "reply": "none"})
    assert reply.status_code == 200
    run_jobs()
    path = f"/ai/client/chat/history/{chat.pk}"
    return server.get(path).json()["items"][-1]


def test_customers_messages_are_translated(ann, server, chat, model, credits_spent):
    configure(ann.client, auto_translate=True)
    model.json_answer = {"text": "When do you open?"}
    assert send(server, chat, VIETNAMESE)["translations"] == {"en": "When do you open?"}
    assert Message.objects.get().text == VIETNAMESE
    assert credits_spent(ann.client) == 1
    assert send(server, chat, "And when do you close on Sunday?")["translations"] == {}
    assert len(model.requests) == 1


def test_no_translation_unless_switched_on_and_a_model_is_set(ann, server, chat, settings, model):
    assert send(server, chat, VIETNAMESE)["translations"] == {}
    configure(ann.client, auto_translate=True)
    settings.LLM_BASE_URL = ""
    assert send(server, chat, VIETNAMESE)["translations"] == {}
    assert Job.objects.filter(name="chats.translate_message").count() == 0
    assert model.requests == []


def test_a_translation_is_made_once(ann, server, chat, model):
    configure(ann.client, auto_translate=True)
    model.json_answer = {"text": "When do you open?"}
    send(server, chat, VIETNAMESE)
    message = Message.objects.get()
    enqueue("chats.translate_message", client_id=ann.client.pk, message_id=str(message.pk), to="en")
    run_jobs()
    assert len(model.requests) == 1
