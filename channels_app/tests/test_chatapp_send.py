"""A message goes out from a number: its limits, its statuses, what follows from each refusal."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from channels_app.models import ChannelConnection, OutboundSend, SendState
from channels_app.providers.chatapp import errors, payloads
from channels_app.providers.types import Choice, OutgoingFile, Part
from channels_app.tests.chatapp import AN, NUMBER, of_chatapp, status
from channels_app.tests.helpers import post_signed, run_waiting
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agents_chat(number, chatapp, bot):
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    chatapp.write("Is anybody there?")
    run_jobs()
    return Conversation.objects.get()


def bodies(chatapp):
    """The sends that reached the provider."""
    return [call["body"] for call in chatapp.sim.calls(what="sends")
            if "biz_opaque_callback_data" in str(call["body"])]  # fmt: skip


def tell(person, *statuses):
    assert post_signed(person, "/chatapp/webhook", of_chatapp(statuses=list(statuses))
                       ).status_code == 200  # fmt: skip
    run_jobs()


# --- what goes out ------------------------------------------------------------------------------


def test_a_long_text_goes_out_in_parts(chatapp, say):
    text = " ".join(f"word{number}" for number in range(900))
    message = say(text)
    assert " ".join(chatapp.replies()) == text
    assert [len(part) <= 4096 for part in chatapp.replies()] == [True, True]
    chatapp.settle()
    message.refresh_from_db()
    assert message.status == "read"
    assert Event.objects.filter(type="message.read").count() == 1


def test_marks_are_the_channels_own(chatapp, say):
    say("**Thirty days**, see [our rules](https://shop.example/r):\n* with its receipt")
    assert chatapp.replies() == [
        "*Thirty days*, see our rules (https://shop.example/r):\n- with its receipt"
    ]


@pytest.mark.full
def test_choices_are_buttons_then_a_list_then_lines(chatapp, agents_chat, ann):
    for labels, kind in (
        (["A" * 20, "B", "C"], "button"),
        (["A" * 21, "B"], "list"),
        ([f"Row {number}" for number in range(10)], "list"),
        ([f"Row {number}" for number in range(11)], None),
        (["A" * 25, "B"], None),
        (["Same", "Same"], None),
    ):
        options = [{"label": label, "value": label} for label in labels]
        content = [{"type": "text", "text": "Pick " * 200, "options": options}]
        body = {"recipient_id": AN, "content": content}
        assert ann.post(chatapp.bot_path("messages"), body).status_code == 201
        run_jobs()
        assert Message.objects.filter(sender_type="agent").latest("seq").status == "sent"
        last = bodies(chatapp)[-1]
        assert last.get("interactive", {}).get("type") == kind, labels
        assert (labels[-1] in chatapp.replies()[-1]) == (kind is None), labels


def test_a_long_text_with_choices_is_one_message(chatapp, agents_chat, ann):
    options = [{"label": label, "value": label} for label in ("Yes", "No")]
    content = [{"type": "text", "text": "Pick " * 300, "options": options}]
    body = {"recipient_id": AN, "content": content}
    before = len(bodies(chatapp))
    assert ann.post(chatapp.bot_path("messages"), body).status_code == 201
    run_jobs()
    (sent,) = bodies(chatapp)[before:]
    assert sent["text"]["body"].endswith("1. Yes\n2. No")


def test_a_link_to_a_picture_has_its_caption(chatapp, agents_chat, ann):
    url = f"{chatapp.sim.origin}/media/sample-image/p.jpg"
    part = {"type": "image", "url": url, "text": "This one"}
    body = {"recipient_id": AN, "content": [part]}
    assert ann.post(chatapp.bot_path("messages"), body).status_code == 201
    run_jobs()
    assert bodies(chatapp)[-1]["image"] == {"link": url, "caption": "This one"}


@pytest.mark.parametrize(
    ("text", "kind", "sent"),
    [
        ("**This** one", "image", [("image", "*This* one")]),
        ("x" * 1024, "image", [("image", "x" * 1024)]),
        ("x" * 1025, "image", [("text", "x" * 1025), ("image", "")]),
        ("The rules", "file", [("document", "The rules")]),
    ],
)
def test_a_text_is_the_caption_of_the_file_after_it(chatapp, agents_chat, ann, text, kind, sent):
    before = len(bodies(chatapp))
    url = f"{chatapp.sim.origin}/media/sample-image/p.jpg"
    body = {"recipient_id": AN, "content": [{"type": "text", "text": text},
                                            {"type": kind, "url": url}]}  # fmt: skip
    assert ann.post(chatapp.bot_path("messages"), body).status_code == 201
    run_jobs()
    calls = [(call["type"], call[call["type"]]) for call in bodies(chatapp)[before:]]
    assert [(name, part.get("body", part.get("caption", ""))) for name, part in calls] == sent
    rows = OutboundSend.objects.filter(message__sender_type="agent").order_by("part")
    assert [row.text for row in rows] == [words for _, words in sent]
    chatapp.settle()
    assert Message.objects.get(sender_type="agent").status == "read"


def test_only_the_first_of_several_files_has_the_caption():
    image, audio = OutgoingFile("image", url="u"), OutgoingFile("audio", url="u")
    text, options = Part("Two"), Part("Pick", choices=[Choice("A", "a")])
    for content, texts in (
        ([text, Part(file=image), Part(file=image)], ["Two", ""]),
        ([text, Part("Own", file=image)], ["Two", "Own"]),
        ([options, Part(file=image)], ["Pick", ""]),
        ([Part(file=image), text], ["", "Two"]),
        ([Part(" \n"), Part(file=image)], [""]),
        ([text, Part(file=audio), Part(file=image)], ["Two", "", ""]),
    ):
        assert [part.text for part in payloads.parts(content)] == texts


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        (OutgoingFile("image", mime_type="image/png", size_bytes=5_000_000), "image"),
        (OutgoingFile("image", mime_type="image/png", size_bytes=5_000_001), "document"),
        (OutgoingFile("image", mime_type="image/gif", size_bytes=9), "document"),
        (OutgoingFile("video", mime_type="video/mp4", size_bytes=16_000_001), "document"),
        (OutgoingFile("audio", url="https://x/a.ogg"), "audio"),
        (OutgoingFile("file", mime_type="application/pdf", size_bytes=9), "document"),
    ],
)
def test_what_is_no_picture_here_is_a_document(file, shown):
    assert payloads._type_of(file) == shown


def test_words_that_are_no_caption_come_first():
    audio, image = OutgoingFile("audio", url="u"), OutgoingFile("image", url="u")
    assert [part.text for part in payloads.parts([Part("Hear", file=audio)])] == ["Hear", ""]
    assert len(payloads.parts([Part("x" * 1024, file=image)])) == 1
    assert len(payloads.parts([Part("x" * 1025, file=image)])) == 2
    (one,) = payloads.parts([Part("w " * 1000, choices=[Choice("A", "a")])])
    assert (one.choices, one.text[-4:]) == ((), "1. A")
    many = payloads.parts([Part("w " * 2500, choices=[Choice("A", "a")])])
    assert [bool(part.choices) for part in many] == [False, True]
    assert (len(many[0].text) <= 4096, len(many[1].text) <= 1024) == (True, True)


def test_a_place_is_sent_as_a_place_and_one_without_degrees_as_words(chatapp, agents_chat, ann):
    for location in ({"latitude": 10.77, "longitude": 106.7}, {"city": "Hanoi"}):
        part = {"type": "location", "text": "Our shop", "location": location}
        body = {"recipient_id": AN, "content": [part]}
        assert ann.post(chatapp.bot_path("messages"), body).status_code == 201
    run_jobs()
    sent = bodies(chatapp)
    place = {"latitude": 10.77, "longitude": 106.7, "name": "Our shop"}
    assert [body.get("location") for body in sent] == [place, None]
    assert sent[1]["text"]["body"] == "Our shop\nHanoi"


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [131000, 2])
def test_a_temporary_refusal_is_tried_again(chatapp, number, say, code):
    chatapp.sim.fault("code", what="sends", code=code)
    message = say()
    assert (message.status, chatapp.replies()) == ("pending", [])
    run_waiting()
    message.refresh_from_db()
    number.refresh_from_db()
    assert (message.status, chatapp.replies(), number.paused_until) == ("sent", ["Hello"], None)


@pytest.mark.parametrize(("code", "again"), [(131000, 3), (135000, 1)])
def test_some_refusals_are_tried_again_only_so_often(chatapp, number, say, code, again):
    chatapp.sim.fault("code", what="sends", code=code, times=0)
    message = say()
    before = len(chatapp.sim.calls(what="sends"))
    for _ in range(5):
        run_waiting()
    message.refresh_from_db()
    assert (message.status, chatapp.replies()) == ("failed", [])
    assert len(chatapp.sim.calls(what="sends")) == before + again


@pytest.mark.parametrize("code", [130429, 80007])
def test_a_limit_of_the_rate_pauses_the_number(chatapp, number, say, code):
    chatapp.sim.fault("code", what="sends", code=code)
    message = say()
    number.refresh_from_db()
    assert number.paused_until > timezone.now() + timedelta(seconds=30)
    ChannelConnection.objects.update(paused_until=None)
    run_waiting()
    message.refresh_from_db()
    assert message.status == "sent"


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        ({"kind": "recipient_gone"}, "connected"),
        ({"kind": "window_closed"}, "connected"),
        ({"kind": "code", "code": 131009}, "connected"),
        ({"kind": "code", "code": 133010}, "error"),
        ({"kind": "code", "code": 190}, "expired"),
    ],
    ids=str,
)
def test_a_refusal_fails_the_message_and_marks_the_connection(chatapp, number, say, fault, shown):
    chatapp.sim.fault(what="sends", **fault)
    message = say()
    assert (message.status, bool(message.error)) == ("failed", True)
    number.refresh_from_db()
    assert number.status == shown
    assert not run_waiting()
    assert len(bodies(chatapp)) == 1
    chat = Conversation.objects.get()
    is_open = chat.reply_window_expires_at and chat.reply_window_expires_at > timezone.now()
    assert bool(is_open) == (fault["kind"] != "window_closed")


def test_every_code_has_one_kind():
    source = Path(errors.__file__).read_text()
    codes = re.findall(r"\b\d{2,6}\b", source.partition("KINDS")[2])
    assert len(codes) - codes.count("131056") + 1 == len(set(codes)) == len(errors.KINDS)


# --- in doubt -----------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("kind", ["reset_after", "sent_but_error"])
def test_a_send_that_was_cut_off_is_never_repeated_and_its_statuses_tell(chatapp, say, kind):
    chatapp.sim.fault(kind, what="sends")
    message = say()
    send = OutboundSend.objects.get(message=message)
    assert (send.state, message.status) == (SendState.UNCERTAIN, "pending")
    run_waiting()
    assert chatapp.replies() == ["Hello"]
    chatapp.settle()
    message.refresh_from_db()
    send.refresh_from_db()
    assert (send.state, message.status, message.error) == ("sent", "read", None)
    assert message.provider_message_id == chatapp.sim.replies(NUMBER, "an")[0]["id"]
    assert Message.objects.filter(sender_type="agent").count() == 1


def test_a_read_status_alone_settles_a_send_in_doubt(chatapp, say, ann):
    chatapp.sim.behaviour(sent=None, delivered=None, read=None)
    chatapp.sim.fault("reset_after", what="sends")
    message = say()
    send = OutboundSend.objects.get(message=message)
    tell(ann, status("wamid.x", "read", biz_opaque_callback_data=str(send.pk)))
    message.refresh_from_db()
    send.refresh_from_db()
    assert (message.status, send.state) == ("read", "sent")
    assert send.provider_message_id == message.provider_message_id == "wamid.x"


# --- statuses -----------------------------------------------------------------------------------


def test_statuses_in_any_order_never_move_back(chatapp, say, ann):
    chatapp.sim.behaviour(sent=None, delivered=None, read=None)
    message = say()
    mid = message.provider_message_id
    for name in ("read", "delivered", "sent", "failed", "played", "deleted"):
        tell(ann, status(mid, name, errors=[{"code": 131026, "title": "Undeliverable"}]))
        message.refresh_from_db()
        assert (message.status, message.error) == ("read", None), name
    assert Event.objects.filter(type="message.read").count() == 1
    assert not Event.objects.filter(type__in=["message.delivered", "message.failed"]).exists()


@pytest.mark.parametrize(
    ("code", "shown", "is_open"),
    [(131026, "connected", True), (131047, "connected", False), (131042, "error", True)],
)
def test_a_message_that_fails_later_says_why(chatapp, number, say, code, shown, is_open):
    chatapp.sim.fault("fails_later", account=NUMBER, code=code)
    message = say()
    assert message.status == "sent"
    chatapp.settle()
    message.refresh_from_db()
    number.refresh_from_db()
    assert (message.status, str(code) in message.error) == ("failed", True)
    assert number.status == shown
    chat = Conversation.objects.get()
    assert chat.reply_window_expires_at
    assert (chat.reply_window_expires_at > timezone.now()) == is_open
    assert Event.objects.filter(type="message.failed").count() == 1


def test_another_numbers_status_changes_nothing(chatapp, say, ann):
    chatapp.sim.behaviour(sent=None, delivered=None, read=None)
    message = say()
    body = of_chatapp("1122334455669", statuses=[status(message.provider_message_id, "read")])
    post_signed(ann, "/chatapp/webhook", body)
    run_jobs()
    message.refresh_from_db()
    assert message.status == "sent"
