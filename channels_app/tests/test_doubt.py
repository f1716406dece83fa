"""Messages of which nobody knows whether they went out, and receipts and echoes that come late."""

import pytest

from channels_app.models import OutboundSend, SendState
from channels_app.tests.helpers import run_waiting
from chatplatform.testing import run_jobs
from chats.models import Message
from chats.services.core import message_status
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def say(agents_chat, ben):
    """`say("Hello")`: an agent writes; the message as it is after the jobs ran."""

    def say(text: str = "Hello"):
        sent = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": text})
        assert sent.status_code == 201, sent.content
        run_jobs()
        return Message.objects.get(pk=sent.json()["id"])

    return say


def calls(socialnet):
    return [call for call in socialnet.sim.calls(what="sends") if "metadata" in str(call["body"])]


def fresh(message):
    return Message.objects.get(pk=message.pk)


def test_a_doubt_that_no_echo_ends_is_a_failure_in_words(socialnet, say, agents_chat, ben):
    socialnet.sim.fault("http_503", what="sends")
    message = say()
    assert (message.status, message.error) == ("pending", message_status.UNCERTAIN)
    run_waiting()
    message = fresh(message)
    assert (message.status, message.error) == ("failed", message_status.STILL_UNCERTAIN)
    assert Event.objects.filter(type="message.failed").count() == 1
    run_waiting()
    assert (len(calls(socialnet)), socialnet.replies()) == (1, []), "nothing sends it again"
    assert say().status == "sent", "a person does"
    assert socialnet.replies() == ["Hello"]


def test_an_echo_that_comes_after_that_still_counts(socialnet, say):
    socialnet.sim.fault("reset_after", what="sends")
    message = say()
    run_waiting()
    assert fresh(message).status == "failed"
    socialnet.sim.behaviour(delivered=None, read=None)
    socialnet.settle()
    message = fresh(message)
    assert (message.error, OutboundSend.objects.get().state) == (None, SendState.SENT)
    assert message.status in {"sent", "delivered", "read"}
    assert Message.objects.filter(sender_type="agent").count() == 1


def test_a_doubt_that_its_echo_ends_in_time_fails_nothing(socialnet, say):
    socialnet.sim.fault("reset_after", what="sends")
    message = say()
    socialnet.settle()
    assert fresh(message).status == "read"
    run_waiting()
    assert fresh(message).status == "read"
    assert not Event.objects.filter(type="message.failed").exists()


def test_a_refusal_is_not_lifted_by_an_echo(socialnet, say):
    socialnet.sim.fault("code", what="sends", code=100)
    message = say()
    message_status.record_sent(message, provider_message_id="m_1")
    assert fresh(message).status == "failed"


def test_a_receipt_waits_for_the_answer_of_the_call_that_it_is_about(socialnet, say):
    socialnet.sim.behaviour(echo=None, delivered=None, read=None)
    message = say()
    mid = OutboundSend.objects.get().provider_message_id
    OutboundSend.objects.update(state=SendState.SENDING, provider_message_id=None)
    Message.objects.update(provider_message_id=None)
    socialnet.act("raw", item={"delivery": {"mids": [mid]}}, field="message_deliveries")
    run_jobs()
    assert fresh(message).status == "sent"
    OutboundSend.objects.update(state=SendState.SENT, provider_message_id=mid)
    run_waiting()
    assert fresh(message).status == "delivered"


def test_late_echoes_of_the_same_words_confirm_a_message_each(socialnet, say):
    socialnet.sim.behaviour(delivered=None, read=None)
    socialnet.sim.fault("reset_after", what="sends", times=2)
    first, second = say("On its way"), say("On its way")
    assert [fresh(first).status, fresh(second).status] == ["pending"] * 2
    socialnet.sim.advance(300)
    socialnet.settle()
    assert [fresh(first).status, fresh(second).status] == ["sent"] * 2
    ids = set(OutboundSend.objects.values_list("provider_message_id", flat=True))
    assert len(ids - {None}) == 2
    assert Message.objects.filter(sender_type="agent").count() == 2
