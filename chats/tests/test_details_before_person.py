"""The bot asks for customers' details before it hands over, and keeps nobody from a person."""

import pytest

from bots.testing import trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from chats.tests.test_asked_fields import ANSWER, NOTED, QUESTION, SAYS, Talk, question_for
from chats.tests.test_send_files import PNG
from chats.tests.test_send_files import send as send_files
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

NAME = {"name": "name", "label": {"en": "Name"}, "type": "text", "ask_before_person": True}
PHONE = {"name": "phone", "label": {"en": "Phone"}, "type": "phone", "ask_before_person": True}
FIRST = f"{SAYS['en']['before_person']}\n\n{question_for('Name')}"
HANDOVER, NO_ANSWER = SAYS["en"]["handover"], SAYS["en"]["handover_no_answer"]
PERSON = "I want to talk to a human"


@pytest.fixture
def wants(ann, bot):
    trained(bot, f"Delivery\n\n{ANSWER}")

    def store(*fields):
        reply = ann.put(f"/ai/{bot.pk}/customer-info-field", {"fields": list(fields)})
        assert reply.status_code == 200, reply.content

    return store


@pytest.fixture
def talk(wants, server):
    wants(NAME, PHONE)
    return Talk(server, external_id="c-1")


def state(talk):
    return talk.row.assign_type, talk.row.handoff_reason


def test_name_and_phone_are_asked_before_the_handover_and_not_before(talk):
    assert talk.say(QUESTION) == ANSWER
    assert talk.say(PERSON) == FIRST
    assert state(talk) == ("bot", None)
    assert not Event.objects.filter(type="conversation.handed_off").exists()
    assert talk.say("Bob Lee") == f"{NOTED}\n\n{question_for('Phone')}"
    assert state(talk) == ("bot", None)
    assert talk.say("+84 90 123 4567") == HANDOVER
    assert state(talk) == ("queue", "customer_asked")
    assert (talk.customer.name, talk.customer.phone) == ("Bob Lee", "+84 90 123 4567")


def test_known_values_are_not_asked_again(wants, server):
    wants(NAME, PHONE)
    talk = Talk(server, name="Bob", phone="+84 90 123 4567")
    assert talk.say(PERSON) == HANDOVER


def test_values_in_the_request_itself_are_not_asked(talk):
    reply = talk.say(f"{PERSON}. My number is +84 90 123 4567")
    assert reply == FIRST
    assert talk.say("I am Bob") == HANDOVER


@pytest.mark.parametrize("words", ["I'd rather not", "Why? My parcel is broken!", PERSON])
def test_who_refuses_or_writes_something_else_is_handed_over(talk, words):
    assert talk.say(PERSON) == FIRST
    assert talk.say(words) == HANDOVER
    assert state(talk) == ("queue", "customer_asked")
    assert talk.customer.name == ""


@pytest.mark.parametrize("words", ["I'd rather not", "Why? My parcel is broken!", PERSON])
def test_a_required_detail_is_asked_for_once_more(wants, server, words):
    wants(NAME, {**PHONE, "required": True})
    talk = Talk(server)
    again = f"{SAYS['en']['before_person']}\n\n{question_for('Phone')}"
    assert talk.say(PERSON) == FIRST
    assert talk.say(words) == again, "the optional name is let go, the required phone is not"
    assert talk.say(words) == again
    assert state(talk) == ("bot", None)
    assert talk.say(words) == HANDOVER
    assert state(talk) == ("queue", "customer_asked")


def test_a_required_detail_given_when_asked_again_is_kept(wants, server):
    wants({**PHONE, "required": True})
    talk = Talk(server)
    talk.say(PERSON)
    talk.say(PERSON)
    assert talk.say("+84 90 123 4567") == HANDOVER
    assert talk.customer.phone == "+84 90 123 4567"


def test_a_person_instead_of_another_detail_does_not_skip_these(wants, server):
    wants({**NAME, "ask_before_person": False}, PHONE)
    talk = Talk(server)
    assert talk.say(QUESTION) == f"{ANSWER}\n\n{question_for('Name')}"
    assert talk.say(PERSON) == f"{SAYS['en']['before_person']}\n\n{question_for('Phone')}"
    assert state(talk) == ("bot", None)


def test_an_invalid_value_is_asked_for_once_more_and_then_handed_over(wants, server):
    wants(PHONE)
    talk = Talk(server)
    talk.say(PERSON)
    assert talk.say("my number is 12").startswith(SAYS["en"]["not_phone"])
    assert talk.say("my number is 12") == HANDOVER
    assert state(talk) == ("queue", "customer_asked")


def test_a_picture_instead_of_an_answer_is_handed_over(talk, settings, tmp_path):
    settings.MEDIA_ROOT = str(tmp_path)
    talk.say(PERSON)
    sent = send_files(talk.key, talk.row, (b"broken.png", PNG), reply="async")
    assert sent.status_code == 202, sent.content
    run_jobs()
    assert state(talk) == ("queue", "customer_asked")


def test_no_answer_asks_first_and_counts_as_one_unanswered_question(talk):
    assert talk.say("xyzzy") == FIRST
    assert talk.say("Bob") == f"{NOTED}\n\n{question_for('Phone')}"
    assert talk.say("no") == NO_ANSWER
    assert state(talk) == ("queue", "no_answer")
    unanswered = Message.objects.filter(receipt__decision="nothing_to_quote").count()
    unanswered += Message.objects.filter(receipt__decision="below_gate").count()
    assert unanswered == 1


def test_who_does_not_answer_is_handed_over_after_two_minutes(talk):
    talk.say(PERSON)
    run_jobs()
    assert state(talk) == ("bot", None)
    job = Job.objects.get(name="chats.hand_over_without_details")
    assert (job.due_at - job.created_at).total_seconds() == 120
    Job.objects.update(due_at=job.created_at)
    run_jobs()
    assert state(talk) == ("queue", "customer_asked")
    last = Message.objects.filter(conversation=talk.id).latest("seq")
    assert (last.text, last.receipt) == (HANDOVER, {"handoff_reason": "customer_asked"})


def test_who_has_answered_meanwhile_is_handed_over_once(talk):
    talk.say(PERSON)
    talk.say("Bob")
    talk.say("+84 90 123 4567")
    Job.objects.update(due_at=talk.row.created_at)
    run_jobs()
    assert Message.objects.filter(conversation=talk.id, text=HANDOVER).count() == 1


def test_who_refused_is_not_asked_in_the_next_chat(talk, server):
    talk.say(PERSON)
    talk.say("I'd rather not")
    server.post(f"/ai/client/chat/{talk.id}/end", {})
    again = Talk(server, external_id="c-1")
    assert again.say(PERSON) == f"{SAYS['en']['before_person']}\n\n{question_for('Phone')}"


def test_the_receipt_says_what_follows(talk, ann):
    talk.say(PERSON)
    path = f"/ai/chat/{talk.id}/messages/{talk.last['id']}/receipt"
    receipt = ann.get(path).json()
    assert (receipt["asks_for"], receipt["before_handoff"]) == ("name", "customer_asked")
    assert receipt["handoff_reason"] is None


def test_a_preview_asks_as_well(wants, ben, bot):
    wants(NAME)
    body = {"messages": [{"role": "user", "content": PERSON}]}
    assert ben.post(f"/ai/{bot.pk}/generate-chat", body).status_code == 200
    run_jobs()
    chat = Conversation.objects.latest("id")
    assert Message.objects.filter(conversation=chat).latest("seq").text == FIRST


def test_both_moments_at_once_are_refused(ann, bot):
    fields = [{**NAME, "ask_before_chat": True}]
    reply = ann.put(f"/ai/{bot.pk}/customer-info-field", {"fields": fields})
    assert reply.status_code == 422
    bot.refresh_from_db()
    assert bot.customer_info_fields == []


def test_a_field_stored_by_the_release_before_is_asked_after_an_answer(bot, wants, server):
    wants({**NAME, "ask_before_person": False})
    bot.refresh_from_db()
    del bot.customer_info_fields[0]["ask_before_person"]
    bot.save()
    assert Talk(server).say(QUESTION) == f"{ANSWER}\n\n{question_for('Name')}"
