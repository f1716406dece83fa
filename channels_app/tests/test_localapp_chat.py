"""Messages of an Official Account: what customers send, what goes out, and what refusals mean."""

from contextlib import closing
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from bots.testing import trained
from channels_app.models import ChannelConnection, CustomerIdentity, OutboundSend, SendState
from channels_app.tests.helpers import OA, of_localapp, post_signed, run_waiting
from channels_app.tests.test_socialnet_send import PNG
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Attachment, Conversation, Message
from identity.testing import make_key

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def chat(localapp, oa, bot):
    """A chat of the customer "an", which waits for an agent."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    localapp.write("Is anybody there?")
    run_jobs()
    return Conversation.objects.get()


@pytest.fixture
def say(chat, ben):
    """`say("Hello")`: an agent writes; the message as it is after the jobs ran."""

    def say(text: str = "Hello", **body):
        sent = ben.post(f"/ai/chat/{chat.pk}/manual", {"text": text, **body})
        assert sent.status_code == 201, sent.content
        run_jobs()
        return Message.objects.get(pk=sent.json()["id"])

    return say


def came(localapp, kind, **values):
    """The message that a customer's deed became."""
    localapp.act(kind, **values)
    run_jobs()
    return Message.objects.filter(sender_type="customer").order_by("-id").first()


def state_of(message):
    return OutboundSend.objects.get(message=message).state


# --- what customers send ----------------------------------------------------------------------


def test_a_picture_that_was_sent_elsewhere_is_kept(localapp, oa, nobody, ben):
    url = f"http://{localapp.sim.host_port}/media/sample-image/a.jpg"
    picture = {"msg_id": "e1", "attachments": [{"type": "image", "payload": {"url": url}}]}
    people = {"sender": {"id": OA}, "recipient": {"id": "6142000000000000001"}}
    post_signed(nobody, "/localapp/callback", of_localapp("oa_send_image", picture, **people))
    run_jobs()
    [sent] = ben.get(f"/ai/chat/{Conversation.objects.get().pk}/history").json()["items"]
    with closing(ben.browser.get(sent["content"][0]["url"])) as shown:
        assert shown.status_code == 200


def test_a_question_is_answered_on_the_channel_once(localapp, oa, bot):
    trained(bot, "Parcels arrive within three days. Our shop is in Hanoi.")
    localapp.write("When do parcels arrive?")
    localapp.settle()
    chat = Conversation.objects.get()
    question, answer = Message.objects.order_by("seq")
    assert (chat.channel, chat.customer.name) == ("localapp", "An Tran")
    assert (question.text, localapp.replies()) == ("When do parcels arrive?", [answer.text])
    assert "three days" in answer.text
    assert (answer.status, answer.delivered_at is not None) == ("read", True)
    identity = CustomerIdentity.objects.get()
    assert (identity.channel, identity.account_id) == ("localapp", OA)


@pytest.mark.parametrize(
    ("kind", "type_"),
    [("image", "image"), ("gif", "image"), ("file", "file"), ("audio", "audio")],
)
def test_files_are_copied_to_our_store(localapp, chat, kind, type_):
    message = came(localapp, kind)
    assert [part["type"] for part in message.content] == [type_], message.content
    assert Attachment.objects.get().message == message


def test_a_file_elsewhere_is_not_fetched_and_the_message_is_kept(localapp, chat):
    message = came(localapp, "image", url="https://evil.example/p.png", text="Look")
    assert message.text == "Look"
    assert message.content[1]["error"]
    assert not Attachment.objects.exists()


@pytest.mark.full
def test_places_links_cards_and_replies(localapp, chat):
    (place,) = came(localapp, "location", lat="10.5", long="106.25").content
    assert (place["location"]["latitude"], place["location"]["longitude"]) == (10.5, 106.25)
    (link,) = came(localapp, "link").metadata["lines"]
    assert (link["kind"], link["text"]) == ("shared_link", "A page")
    assert link["url"] == "https://shop.example/page"
    assert "84909999999" in came(localapp, "business_card").text
    first = came(localapp, "text", text="One")
    second = came(localapp, "text", text="Two", reply_to=first.provider_message_id)
    assert second.in_reply_to == first
    assert came(localapp, "button", payload="#yes").text == "#yes"


@pytest.mark.full
def test_a_reaction_is_shown(localapp, say):
    message = say()
    localapp.act("reaction", message=message.provider_message_id, emoji="/-heart")
    run_jobs()
    message.refresh_from_db()
    assert message.customer_reaction == "❤️"


def test_an_agent_who_answers_in_the_console_is_heard_once(localapp, chat):
    localapp.sim.modes(duplicate=1)
    localapp.act("agent_wrote", text="I answer in the console")
    run_jobs()
    answer = Message.objects.get(text="I answer in the console")
    assert (answer.sender_type, answer.status) == ("agent", "sent")


def test_late_receipts_never_turn_a_status_back(localapp, say):
    localapp.sim.behaviour(delivered=None, read=None)
    message = say()
    localapp.act("read", message=message.provider_message_id)
    run_jobs()
    message.refresh_from_db()
    assert message.status == "read"
    localapp.act("received", message=message.provider_message_id)
    run_jobs()
    message.refresh_from_db()
    assert message.status == "read"


# --- what goes out ----------------------------------------------------------------------------


def test_a_long_text_goes_out_in_parts(localapp, say):
    say(" ".join(f"từ{number}" for number in range(700)))
    sizes = [len(reply) for reply in localapp.replies()]
    assert len(sizes) > 1
    assert max(sizes) <= 2000


@pytest.mark.full
def test_our_own_files_are_uploaded_and_links_are_passed_on(localapp, chat, ann, ben, bot):
    server = make_key(ann.client, "secret", bot.pk)
    file = SimpleUploadedFile("a.png", PNG)
    stored = server.upload(
        f"/ai/client/chat/files/{chat.pk}", message="x", files=[file], reply="none"
    )
    own = {"type": "image", "url": stored.json()["message"]["content"][-1]["url"]}
    linked = {"type": "image", "url": f"{localapp.sim.origin}/media/sample-image/p.jpg"}
    video = {"type": "video", "url": "https://shop.example/v.mp4"}
    body = {"text": "All", "attachments": [own, linked, video]}
    assert ben.post(f"/ai/chat/{chat.pk}/manual", body).status_code == 201
    run_jobs()
    sends = OutboundSend.objects.filter(message__text="All").order_by("part")
    assert [(send.state, send.error) for send in sends] == [("sent", "")] * 4
    assert len(localapp.sim.calls(what="media")) == 1
    assert localapp.replies()[-1] == "https://shop.example/v.mp4"


def pick(localapp, *labels):
    options = [{"label": label, "value": f"#{label}"} for label in labels]
    body = {
        "recipient_id": localapp.sim.thread(OA, "an")["user_id"],
        "content": [{"type": "text", "text": "Pick", "options": options}],
    }
    sent = localapp.ann.post(localapp.bot_path("messages"), body)
    assert sent.status_code == 201, sent.content
    run_jobs()
    return localapp.sim.replies(OA, "an")[-1]["body"]


def test_choices_are_buttons_or_else_lines(localapp, chat):
    buttons = pick(localapp, "Red", "Blue")["attachment"]["payload"]["buttons"]
    assert [(button["title"], button["payload"]) for button in buttons] == [
        ("Red", "#Red"), ("Blue", "#Blue"),
    ]  # fmt: skip
    assert pick(localapp, *"ABCDEF") == {"text": "Pick\n1. A\n2. B\n3. C\n4. D\n5. E\n6. F"}
    localapp.sim.fault("code", what="sends", code=-233)
    assert pick(localapp, "Yes", "No") == {"text": "Pick\n1. Yes\n2. No"}
    shown = localapp.ann.get(localapp.bot_path("messages")).json()["items"]
    assert [item["content"][0]["text"] for item in shown][:3] == ["Pick"] * 3


@pytest.mark.full
def test_a_tapped_button_says_its_label_and_keeps_its_value(localapp, chat):
    pick(localapp, "Red", "Blue")
    message = came(localapp, "button", payload="#Blue")
    assert (message.text, message.metadata) == ("Blue", {"payload": "#Blue"})
    other = came(localapp, "text", text="#Green")
    assert (other.text, other.metadata) == ("#Green", {})


def test_an_upload_that_expired_is_made_again_once(localapp, chat, ben, ann, bot):
    server = make_key(ann.client, "secret", bot.pk)
    stored = server.upload(
        f"/ai/client/chat/files/{chat.pk}", message="x", reply="none",
        files=[SimpleUploadedFile("a.png", PNG)],
    )  # fmt: skip
    own = {"type": "image", "url": stored.json()["message"]["content"][-1]["url"]}
    localapp.sim.fault("code", what="sends", after=1, code=-100)
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Look", "attachments": [own]})
    run_jobs()
    message = Message.objects.get(sender_type="agent")
    assert (message.status, len(localapp.sim.calls(what="media"))) == ("sent", 2), message.error
    assert len(localapp.sim.replies(OA, "an")) == 2


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("code", "message_status", "connection"),
    [
        (-201, "failed", "connected"),
        (-204, "failed", "error"),
        (-777, "failed", "connected"),
        (-234, "pending", "connected"),
    ],
)
def test_what_each_refusal_means(localapp, oa, say, code, message_status, connection):
    localapp.sim.fault("code", what="sends", code=code, message="Because")
    message = say()
    oa.refresh_from_db()
    assert (message.status, oa.status) == (message_status, connection)
    assert ("Because" in oa.last_error) == (connection == "error")
    assert localapp.replies() == []
    if message_status == "failed":
        assert "Because" in message.error


def test_a_send_that_failed_is_tried_once_more_and_no_oftener(localapp, oa, say):
    localapp.sim.fault("code", what="sends", code=-200, message="Because", times=0)
    message = say()
    before = len(localapp.sim.calls(what="sends"))
    for _ in range(3):
        run_waiting()
    message.refresh_from_db()
    assert (message.status, "Because" in message.error) == ("failed", True)
    assert len(localapp.sim.calls(what="sends")) == before + 1


def test_what_is_not_sent_at_night_waits_for_six_in_the_morning(localapp, say):
    localapp.sim.fault("code", what="sends", code=-234)
    say()
    due = Job.objects.get(name="channels_app.deliver_message", state="queued").due_at
    assert timedelta(0) < due - timezone.now() <= timedelta(days=1)
    assert abs(due - due.replace(hour=23, minute=0, second=0)) < timedelta(minutes=1)


def test_a_closed_window_fails_the_message_and_closes_ours(localapp, chat, say, ann):
    chat.refresh_from_db()
    left = chat.reply_window_expires_at - timezone.now()
    assert timedelta(days=6) < left <= timedelta(days=7)
    localapp.sim.fault("window_closed", what="sends")
    assert say().status == "failed"
    body = {"recipient_id": localapp.sim.thread(OA, "an")["user_id"], "text": "Again"}
    path = localapp.bot_path("messages")
    assert ann.post(path, body).json()["code"] == "reply_window_closed"
    assert ann.post(path, body | {"tag": "HUMAN_AGENT"}).status_code == 422


def test_a_limit_of_the_rate_pauses_the_account_for_a_minute(localapp, oa, say):
    localapp.sim.fault("code", what="sends", code=-32)
    message = say()
    oa.refresh_from_db()
    assert timedelta(seconds=50) < oa.paused_until - timezone.now() <= timedelta(seconds=60)
    ChannelConnection.objects.update(paused_until=None)
    run_waiting()
    message.refresh_from_db()
    assert (message.status, localapp.replies()) == ("sent", ["Hello"])


@pytest.mark.full
@pytest.mark.parametrize("how", ["expired", "revoked"])
def test_a_refused_token_is_renewed_once_and_the_message_goes_out(localapp, oa, say, how):
    localapp.sim.end_tokens(how, channel="localapp", kind="access")
    message = say()
    token = oa.access_token
    oa.refresh_from_db()
    assert (message.status, oa.status, oa.access_token != token) == ("sent", "connected", True)
    assert localapp.replies() == ["Hello"]


@pytest.mark.full
def test_without_a_good_refresh_token_the_connection_expires(localapp, oa, say):
    localapp.sim.end_tokens("revoked", channel="localapp")
    message = say()
    oa.refresh_from_db()
    assert (message.status, oa.status) == ("failed", "expired")
    assert localapp.replies() == []
    before = len(localapp.sim.calls(what="oauth"))
    localapp.write("Hello", user="binh")  # the profile of a new customer is asked for
    run_jobs()
    assert len(localapp.sim.calls(what="oauth")) == before, "a dead token is not tried again"


@pytest.mark.full
@pytest.mark.parametrize("kind", ["reset_after", "truncated"])
def test_a_send_that_was_cut_off_is_never_repeated_and_its_echo_tells(localapp, say, kind):
    localapp.sim.fault(kind, what="sends")
    message = say()
    assert (state_of(message), message.status) == (SendState.UNCERTAIN, "pending")
    run_waiting()
    assert localapp.replies() == ["Hello"], "it went out once"
    localapp.settle()
    message.refresh_from_db()
    assert (state_of(message), message.status) == (SendState.SENT, "read")
    assert Message.objects.filter(sender_type="agent").count() == 1


def test_a_picture_that_was_cut_off_is_found_by_its_echo(localapp, chat, ben):
    linked = {"type": "image", "url": f"{localapp.sim.origin}/media/sample-image/p.jpg"}
    localapp.sim.fault("reset_after", what="sends", after=1)
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Look", "attachments": [linked]})
    run_jobs()
    rows = OutboundSend.objects.order_by("part")
    assert [row.state for row in rows] == [SendState.SENT, SendState.UNCERTAIN]
    localapp.settle()
    message = Message.objects.get(sender_type="agent")
    assert message.status == "read"
    assert {row.state for row in rows.all()} == {SendState.SENT}


@pytest.mark.full
@pytest.mark.parametrize("kind", ["http_500", "reset_before"])
def test_a_send_of_which_nobody_knows_stays_in_doubt(localapp, say, kind):
    localapp.sim.fault(kind, what="sends")
    message = say()
    run_waiting()
    localapp.settle()
    assert (state_of(message), localapp.replies()) == (SendState.UNCERTAIN, [])
    assert len(localapp.sim.calls(what="sends")) == 1
