"""Jobs of workers: insights after the end of a chat, translations of customers' messages."""

import pytest

from chatplatform.jobs import enqueue
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message, Summary
from chats.services.insight.public_key_credit_cap import NOTE
from chats.testing import visit
from identity.models import CreditEntry
from identity.testing import make_key
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


# --- the daily cap of a page --------------------------------------------------------------------


@pytest.fixture
def capped(ann, bot):
    """`capped(credits)`: a public key with this daily cap."""

    def make(daily_credits):
        page = make_key(ann.client, "public", bot.pk)
        assert page.key
        path = f"/identity/api-keys/{page.key.pk}"
        assert ann.put(path, {"daily_credits": daily_credits}).status_code == 200
        return page

    return make


def say(visitor, chat, text):
    body = {"text": text, "reply": "none"}
    assert visitor.post(f"/ai/client/chat/{chat.pk}", body).status_code == 200
    run_jobs()
    return Message.objects.filter(conversation=chat, sender_type="customer").latest("seq")


def spent_by(page):
    entries = CreditEntry.objects.filter(key=page and page.key)
    return -sum(entries.exclude(kind="grant").values_list("amount", flat=True))


def notes_of(agent, chat):
    items = agent.get(f"/ai/chat/{chat.pk}/history").json()["items"]
    return [item["content"][0]["text"] for item in items if item["is_note"]]


def states(name):
    return list(Job.objects.filter(name=name).values_list("state", flat=True))


def test_insights_into_a_pages_chats_stop_at_its_daily_cap(ann, bot, capped, credits_spent):
    configure(ann.client, auto_summary=True, auto_tag=True, auto_sentiment=True)
    page = capped(2)
    chats = [visit(page) for _ in range(2)]
    for visitor, chat in chats:
        say(visitor, chat, "This is the worst shop I know, I am furious!")
        assert ann.post(f"/ai/chat/{chat.pk}/end").status_code == 200
    run_jobs()
    assert (spent_by(page), credits_spent(ann.client)) == (2, 2)
    # Nothing is broken: it is not tried again, and no operator is called.
    assert states("chats.compute_insight") == [JobState.DONE] * 6
    notes = [notes_of(ann, chat) for _, chat in chats]
    assert sorted(notes) in ([[], [NOTE]], [[NOTE], [NOTE]])
    visitor, chat = chats[notes.index([NOTE])]
    seen = visitor.get(f"/ai/client/chat/history/{chat.pk}").json()["items"]
    assert NOTE not in [item["content"][0]["text"] for item in seen]
    # Another page of the same client goes on.
    other = capped(9)
    visitor, chat = visit(other)
    say(visitor, chat, "Where is my parcel?")
    run_after_end(chat)
    assert (spent_by(other), notes_of(ann, chat)) == (3, [])


def test_what_staff_order_by_hand_does_not_count_for_the_pages_cap(
    ann, ben, bot, capped, credits_spent
):
    configure(ann.client, auto_summary=True)
    page = capped(0)
    visitor, chat = visit(page)
    say(visitor, chat, "This is the worst shop I know, I am furious!")
    run_after_end(chat)
    assert notes_of(ben, chat) == [NOTE]
    assert Summary.objects.count() == credits_spent(ann.client) == 0
    for what in ("summarize", "sentiment", "tags/auto"):
        assert ben.post(f"/ai/chat/{chat.pk}/{what}").status_code == 200
    assert ann.post("/ai/chat/summary/calculate", {"force": True}).status_code == 202
    run_jobs()
    assert Summary.objects.count() == 2
    assert (spent_by(page), spent_by(None), credits_spent(ann.client)) == (0, 4, 4)


def test_a_server_has_no_daily_cap(ann, chat, add_message, credits_spent):
    configure(ann.client, auto_summary=True)
    add_message(chat, "customer", "Where is my parcel?")
    run_after_end(chat)
    assert Summary.objects.count() == spent_by(None) == credits_spent(ann.client) == 1


def test_translations_of_a_pages_visitors_stop_at_its_daily_cap(
    ann, ben, bot, capped, model, credits_spent
):
    configure(ann.client, auto_translate=True)
    model.json_answer = {"text": "When do you open?"}
    page = capped(1)
    visitor, chat = visit(page, language="vi")
    assert say(visitor, chat, VIETNAMESE).translations == {"en": "When do you open?"}
    for _ in range(2):
        assert say(visitor, chat, VIETNAMESE).translations == {}
    assert notes_of(ben, chat) == [NOTE]
    assert (spent_by(page), len(model.requests)) == (1, 1)
    assert states("chats.translate_message") == [JobState.DONE] * 3
    # An agent who answers is still understood: that is no stranger's doing.
    model.json_answer = {"text": "Lúc chín giờ."}
    Conversation.objects.update(assign_type="queue")
    sent = ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "We open at nine o'clock."})
    run_jobs()
    assert Message.objects.get(pk=sent.json()["id"]).translations == {"vi": "Lúc chín giờ."}
    assert (spent_by(page), spent_by(None), credits_spent(ann.client)) == (1, 1, 2)
