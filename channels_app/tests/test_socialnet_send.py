"""A message goes out on a page: its parts, and what follows from each kind of refusal."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from channels_app.models import ChannelConnection, OutboundSend, SendState
from channels_app.services import sending
from channels_app.tests.helpers import PAGE, run_waiting
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message, MessageStatus
from chats.services.core import message_status
from identity.models import EmailNotification
from identity.testing import make_key
from webhooks.models import Event

# One white pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63f80f00"
    "01010100b138f6140000000049454e44ae426082"
)
pytestmark = pytest.mark.django_db(transaction=True)


def sends(message):
    return list(OutboundSend.objects.filter(message=message).order_by("part"))


def calls(socialnet):
    """The calls that sent something."""
    return [call for call in socialnet.sim.calls(what="sends") if "metadata" in str(call["body"])]


# --- what goes out ----------------------------------------------------------------------------


@pytest.mark.full
def test_a_long_text_goes_out_in_parts_in_their_order(socialnet, say):
    text = " ".join(f"word{number}" for number in range(700))
    message = say(text)
    assert len(text) > 4000
    parts = socialnet.replies()
    assert len(parts) == len(sends(message)) == 3
    assert all(len(part) <= 2000 for part in parts)
    assert " ".join(parts) == text
    assert message.provider_message_id == socialnet.sim.replies(PAGE, "an")[-1]["id"]
    socialnet.settle()
    message.refresh_from_db()
    assert message.status == "read"
    assert Event.objects.filter(type="message.delivered").count() == 1


def test_a_text_of_signs_that_join_goes_out_in_few_parts(socialnet, say):
    """Each sign belongs to the letter before it, and none is a message of its own."""
    say("a" + "\u0301" * 4500)
    assert [len(part) for part in socialnet.replies()] == [2000, 2000, 501]


def test_our_own_file_is_uploaded_and_a_link_is_passed_on(socialnet, agents_chat, ann, bot):
    server = make_key(ann.client, "secret", bot.pk)
    file = SimpleUploadedFile("a.png", PNG)
    stored = server.upload(
        f"/ai/client/chat/files/{agents_chat.pk}", message="x", files=[file], reply="none"
    )
    assert stored.status_code < 300, stored.content
    own = {"type": "image", "url": stored.json()["message"]["content"][-1]["url"]}
    linked = {"type": "image", "url": f"{socialnet.sim.origin}/media/sample-image/p.jpg"}
    body = {"text": "Both", "attachments": [own, linked]}
    assert ann.post(f"/ai/chat/{agents_chat.pk}/manual", body).status_code == 201
    run_jobs()
    message = Message.objects.get(text="Both")
    assert [send.state for send in sends(message)] == ["sent"] * 3, sends(message)[1].error
    kinds = [reply["body"].get("attachment", {}).get("type") for reply in
             socialnet.sim.replies(PAGE, "an")]  # fmt: skip
    assert kinds == [None, "image", "image"]


def test_choices_are_quick_replies_or_else_lines(socialnet, page, ann):
    socialnet.write("Hello")
    run_jobs()
    user = socialnet.sim.thread(PAGE, "an")["user_id"]

    def send(*labels):
        options = [{"label": label, "value": label} for label in labels]
        content = [{"type": "text", "text": "Pick", "options": options}]
        sent = ann.post(socialnet.bot_path("messages"), {"recipient_id": user, "content": content})
        assert sent.status_code == 201, sent.content
        run_jobs()
        return socialnet.sim.replies(PAGE, "an")[-1]["body"]

    assert [reply["title"] for reply in send("Red", "Blue")["quick_replies"]] == ["Red", "Blue"]
    long = send("A" * 21, "B")
    assert "quick_replies" not in long
    assert long["text"] == f"Pick\n1. {'A' * 21}\n2. B"


def test_messages_reach_the_customer_in_the_order_of_writing(socialnet, agents_chat, ben):
    for number in range(5):
        ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": f"no {number}"})
    socialnet.sim.fault("code", what="sends", code=2)
    run_jobs()
    assert socialnet.replies() == []
    while run_waiting():
        pass
    assert socialnet.replies() == [f"no {number}" for number in range(5)]


# --- refusals that pass -----------------------------------------------------------------------


def test_a_temporary_refusal_is_tried_again_within_ten_seconds(socialnet, say):
    socialnet.sim.fault("code", what="sends", code=2)
    message = say()
    assert (message.status, socialnet.replies()) == ("pending", [])
    job = Job.objects.get(name="channels_app.deliver_message", state="queued")
    assert timedelta(0) < job.due_at - timezone.now() <= timedelta(seconds=10)
    run_waiting()
    message.refresh_from_db()
    assert (message.status, socialnet.replies()) == ("sent", ["Hello"])


@pytest.mark.full
@pytest.mark.parametrize(
    "fault", [{"kind": "http_429_retry_after", "secs": 120}, {"kind": "code", "code": 613}]
)
def test_a_limit_of_the_rate_pauses_the_account(socialnet, page, say, ben, fault):
    socialnet.sim.fault(what="sends", **fault)
    message = say()
    page.refresh_from_db()
    wait = page.paused_until - timezone.now()
    expected = fault.get("secs", 60)
    assert timedelta(seconds=expected - 10) < wait <= timedelta(seconds=expected)
    before = len(calls(socialnet))
    run_waiting()
    assert len(calls(socialnet)) == before, "nothing is called while the account is paused"
    ChannelConnection.objects.update(paused_until=None)
    run_waiting()
    message.refresh_from_db()
    assert (message.status, socialnet.replies()) == ("sent", ["Hello"])


@pytest.mark.full
def test_who_never_gets_through_is_told_why(socialnet, say):
    socialnet.sim.fault("code", what="sends", code=2, times=0, message="Service down")
    message = say()
    while run_waiting():
        pass
    message.refresh_from_db()
    assert message.status == "failed"
    assert "Service down" in message.error
    assert Event.objects.filter(type="message.failed").count() == 1
    assert Job.objects.get(name="channels_app.deliver_message").state == "dead"
    assert socialnet.replies() == []


def test_an_unreachable_provider_is_tried_again(socialnet, say, settings):
    url = settings.SOCIALNET_API_URL
    settings.SOCIALNET_API_URL = "http://127.0.0.1:9/v26.0"
    settings.EGRESS_ALLOW = [*settings.EGRESS_ALLOW, "127.0.0.1:9"]
    message = say()
    assert sends(message)[0].state == SendState.QUEUED
    settings.SOCIALNET_API_URL = url
    run_waiting()
    assert socialnet.replies() == ["Hello"]


# --- in doubt ---------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    "fault",
    [{"kind": "reset_after"}, {"kind": "sent_but_error"}, {"kind": "slow", "secs": 2}],
    ids=lambda fault: fault["kind"],
)
def test_a_send_that_was_cut_off_is_never_repeated_and_its_echo_tells(
    socialnet, say, settings, fault
):
    settings.CHANNEL_TIMEOUT_SECONDS = 0.5
    socialnet.sim.fault(what="sends", **fault)
    message = say()
    (send,) = sends(message)
    assert send.state == SendState.UNCERTAIN
    assert (message.status, message.error == message_status.UNCERTAIN) == ("pending", True)
    run_waiting()
    assert socialnet.replies() == ["Hello"], "it went out once"
    socialnet.settle()
    message.refresh_from_db()
    send.refresh_from_db()
    assert (send.state, message.status, message.error) == ("sent", "read", None)
    assert message.provider_message_id == socialnet.sim.replies(PAGE, "an")[0]["id"]
    assert Message.objects.filter(sender_type="agent").count() == 1, "the echo is no other message"


@pytest.mark.parametrize("kind", ["http_500", "reset_before"])
def test_a_send_of_which_nobody_knows_is_in_doubt(socialnet, say, kind):
    socialnet.sim.fault(kind, what="sends")
    message = say()
    socialnet.settle()
    message.refresh_from_db()
    assert (message.status, sends(message)[0].state) == ("pending", "uncertain")
    assert message.error == message_status.UNCERTAIN
    assert len(calls(socialnet)) == 1
    assert Event.objects.filter(type="message.updated").count() == 1


def test_a_worker_that_died_in_the_call_leaves_the_send_in_doubt(socialnet, page, say, ben):
    message = say()
    OutboundSend.objects.update(state=SendState.SENDING, provider_message_id=None)
    Message.objects.filter(pk=message.pk).update(status=MessageStatus.PENDING)
    sending.deliver(str(message.pk))
    assert sends(message)[0].state == SendState.UNCERTAIN
    assert socialnet.replies() == ["Hello"]


def test_the_rest_of_a_message_follows_a_part_in_doubt(socialnet, say):
    socialnet.sim.fault("reset_after", what="sends")
    message = say("a " * 1500)
    assert [send.state for send in sends(message)] == ["uncertain", "sent"]
    assert message.status == "pending"
    socialnet.settle()
    message.refresh_from_db()
    assert message.status == "read"


def test_an_echo_that_is_quicker_than_the_answer_is_no_other_message(socialnet, say, monkeypatch):
    from channels_app.providers.socialnet import Socialnet  # noqa: PLC0415

    real = Socialnet.send

    def echo_first(self, account, part, envelope):
        sent = real(self, account, part, envelope)
        socialnet.sim.deliver()
        run_jobs()
        return sent

    monkeypatch.setattr(Socialnet, "send", echo_first)
    message = say()
    socialnet.settle()
    assert Message.objects.filter(sender_type="agent").count() == 1
    message.refresh_from_db()
    assert message.status == "read"


# --- refusals that stay -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ({"kind": "recipient_gone"}, "connected"),
        ({"kind": "error_in_200", "code": 100}, "connected"),
        ({"kind": "window_closed"}, "connected"),
        ({"kind": "code", "code": 200}, "error"),
        ({"kind": "code", "code": 190, "subcode": 460}, "expired"),
    ],
    ids=str,
)
def test_a_refusal_fails_the_message_and_marks_the_connection(socialnet, page, say, fault, status):
    socialnet.sim.fault(what="sends", **fault)
    message = say()
    assert message.status == "failed"
    assert message.error
    assert sends(message)[0].state == SendState.FAILED
    page.refresh_from_db()
    assert page.status == status
    assert bool(page.last_error) == (status != "connected")
    assert not run_waiting()
    assert len(calls(socialnet)) == 1
    failed = Event.objects.get(type="message.failed")
    assert failed.data["message"]["error"] == message.error


def test_a_closed_window_is_closed_for_the_next_message_too(socialnet, agents_chat, say, ben):
    socialnet.sim.fault("window_closed", what="sends")
    say()
    path = f"/ai/chat/{agents_chat.pk}/manual"
    reply = ben.post(path, {"text": "Again"})
    assert (reply.status_code, reply.json()["code"]) == (409, "reply_window_closed")
    assert reply.json()["reply_window_expires_at"]
    assert ben.post(path, {"text": "Note", "is_note": True}).status_code == 201
    assert not ben.get("/ai/chats").json()["items"][0]["can_reply"]
    socialnet.write("I am here again")
    run_jobs()
    assert ben.post(path, {"text": "Good"}).status_code == 201


def test_an_expired_connection_is_announced_mailed_and_not_called_again(
    socialnet, page, say, ben, agents_chat
):
    EmailNotification.objects.create(
        client=page.client, recipients=["a@b.example"], on_channel_error=True
    )
    socialnet.sim.end_tokens("password", account=PAGE)
    say()
    page.refresh_from_db()
    assert page.status == "expired"
    event = Event.objects.get(type="channel.disconnected")
    assert event.data["connection"]["status"] == "expired"
    assert "EAA" not in str(event.data)
    assert Job.objects.filter(name="identity.send_mail").count() == 1
    before = len(calls(socialnet))
    reply = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Anybody?"})
    assert (reply.status_code, reply.json()["code"]) == (409, "channel_not_connected")
    assert len(calls(socialnet)) == before


def test_a_message_that_goes_out_ends_an_error(socialnet, page, say):
    socialnet.sim.fault("code", what="sends", code=368)
    assert say("One").status == "failed"
    assert say("Two").status == "sent"
    page.refresh_from_db()
    assert (page.status, page.last_error) == ("connected", "")


def test_a_message_whose_page_is_given_up_meanwhile_fails_with_its_reason(
    socialnet, page, ann, ben, agents_chat
):
    sent = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE})
    run_jobs()
    message = Message.objects.get(pk=sent.json()["id"])
    assert (message.status, message.error) == ("failed", sending.NOT_CONNECTED)


# --- receipts ---------------------------------------------------------------------------------


def test_receipts_in_any_order_never_move_a_status_back(socialnet, say):
    message = say()
    socialnet.sim.act(PAGE, "an", "read", message=message.provider_message_id)
    socialnet.sim.deliver()
    run_jobs()
    message.refresh_from_db()
    assert (message.status, message.delivered_at == message.read_at) == ("read", True)
    socialnet.sim.act(PAGE, "an", "delivered", message=message.provider_message_id)
    socialnet.settle()
    message.refresh_from_db()
    assert message.status == "read"
    assert Event.objects.filter(type="message.read").count() == 1
    assert not Event.objects.filter(type="message.delivered").exists()


def test_a_receipt_up_to_a_moment_leaves_later_messages_alone(socialnet, say):
    socialnet.sim.behaviour(delivered=None, read=None)
    first, second = say("First"), say("Second")
    socialnet.settle()  # the echoes tell the provider's own times
    moment = OutboundSend.objects.get(message=first).sent_at
    assert moment
    read = {"read": {"watermark": int(moment.timestamp() * 1000) + 1}}
    OutboundSend.objects.filter(message=second).update(sent_at=moment + timedelta(seconds=5))
    socialnet.act("raw", item=read, field="message_reads")
    run_jobs()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("read", "sent")


def test_another_customers_receipt_changes_nothing(socialnet, say):
    socialnet.sim.behaviour(delivered=None, read=None)
    message = say()
    watermark = int(timezone.now().timestamp() * 1000) + 60_000
    socialnet.act("raw", user="binh", item={"read": {"watermark": watermark}},
                  field="message_reads")  # fmt: skip
    run_jobs()
    message.refresh_from_db()
    assert message.status == "sent"


def test_after_the_window_only_a_tag_lets_an_agent_write(socialnet, agents_chat, ann):
    Conversation.objects.update(reply_window_expires_at=timezone.now() - timedelta(minutes=1))
    user = socialnet.sim.thread(PAGE, "an")["user_id"]
    body = {"recipient_id": user, "text": "Sorry that it took so long"}
    path = socialnet.bot_path("messages")
    assert ann.post(path, body).json()["code"] == "reply_window_closed"
    assert ann.post(path, body | {"tag": "NONSENSE"}).status_code == 422
    assert ann.post(path, body | {"tag": "HUMAN_AGENT"}).status_code == 201
    run_jobs()
    (sent,) = calls(socialnet)
    assert ("MESSAGE_TAG" in str(sent["body"]), socialnet.replies()) == (True, [body["text"]])


def test_an_answer_elsewhere_with_the_words_of_a_send_in_doubt_is_another_message(socialnet, say):
    socialnet.sim.fault("http_500", what="sends")
    message = say("We are on it")
    socialnet.act("agent_wrote", text="We are on it")
    run_jobs()
    message.refresh_from_db()
    assert (message.status, sends(message)[0].state) == ("pending", "uncertain")
    assert Message.objects.filter(text="We are on it").count() == 2


def test_a_message_has_arrived_when_its_last_part_has(socialnet, say):
    socialnet.sim.behaviour(delivered=None, read=None)
    message = say("a " * 1500)
    for number, status in enumerate(["sent", "delivered"]):
        mids = [sends(message)[number].provider_message_id]
        socialnet.act("raw", item={"delivery": {"mids": mids}}, field="message_deliveries")
        run_jobs()
        message.refresh_from_db()
        assert message.status == status


def test_a_receipt_up_to_a_moment_tells_nothing_of_a_send_in_doubt(socialnet, say):
    socialnet.sim.fault("http_500", what="sends")
    lost, sent = say("Lost"), say("Sent")
    socialnet.settle()
    lost.refresh_from_db()
    sent.refresh_from_db()
    assert (lost.status, sent.status) == ("pending", "read")
