"""The store of files is away: files from and for customers wait, and nothing comes twice."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from channels_app.models import InboundItem, OutboundSend
from channels_app.services import inbound_files, sending
from channels_app.tests.helpers import event, post_signed, run_waiting
from channels_app.tests.test_socialnet_send import PNG
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs, s3
from chats.models import Attachment, Conversation, Message
from identity.testing import make_key
from webhooks.models import Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
# Each channel with the fixture that connects it, and what its customer does to send a picture.
CHANNELS = {
    "socialnet": ("page", "attachment"),
    "photoapp": ("account", "attachment"),
    "localapp": ("oa", "image"),
    "chatapp": ("number", "image"),
}
on_each_channel = pytest.mark.parametrize(
    "channel",
    # Files of socialnet are asked for by their links, those of chatapp by their ids.
    [
        entry if entry in {"socialnet", "chatapp"} else pytest.param(entry, marks=pytest.mark.drill)
        for entry in CHANNELS
    ],
    indirect=True,
)
on_one_channel = pytest.mark.parametrize("channel", ["socialnet"], indirect=True)


@pytest.fixture(scope="module")
def server():
    with s3.running() as started:
        yield started


@pytest.fixture
def store(server, settings, monkeypatch):
    with server.keeping_files(settings, monkeypatch):
        yield server


@pytest.fixture
def channel(request, store, bot):
    """A channel with a chat of the customer "an", which waits for an agent."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    request.getfixturevalue(CHANNELS[request.param][0])
    found = request.getfixturevalue(request.param)
    found.write("Is anybody there?")
    found.settle()
    return found


def send_picture(channel, **more):
    channel.act(CHANNELS[channel.name][1], text="This one", **more)
    run_jobs()


def texts():
    rows = Message.objects.filter(sender_type="customer").order_by("seq", "pk")
    return list(rows.values_list("text", flat=True))


def pictures():
    """The pictures of the message "This one", as they are stored."""
    content = Message.objects.get(text="This one").content
    return [part for part in content if part["type"] == "image"]


def stored_names():
    return set(Attachment.objects.values_list("file", flat=True))


def run_until_quiet(limit=20):
    """Run jobs, those that wait too, until none is left."""
    while run_waiting():
        limit -= 1
        assert limit, "jobs wait for ever"


# --- files of customers -----------------------------------------------------------------------


@on_each_channel
def test_a_customers_file_waits_for_the_store(channel, store):
    store.mode = "error"
    send_picture(channel)
    channel.write("And this?")
    run_jobs()
    assert texts() == ["Is anybody there?"], "the message waits whole, and the next one behind it"
    store.mode = "ok"
    run_until_quiet()
    assert texts() == ["Is anybody there?", "This one", "And this?"]
    (picture,) = pictures()
    assert picture["attachment_id"] == str(Attachment.objects.get().pk)
    assert "error" not in picture
    assert store.names() == stored_names()
    assert Event.objects.filter(type="message.created").count() == 3


@on_each_channel
def test_a_customers_words_are_stored_though_the_store_stays_away(channel, store):
    store.mode = "error"
    send_picture(channel)
    channel.write("And this?")
    run_until_quiet()
    assert texts() == ["Is anybody there?", "This one", "And this?"]
    (picture,) = pictures()
    assert picture["error"] == inbound_files.STORE_UNAVAILABLE
    assert "attachment_id" not in picture
    assert InboundItem.objects.filter(attempts=inbound_files.STORE_ATTEMPTS - 1).count() == 1
    assert not Job.objects.filter(state=JobState.DEAD).exists()
    store.mode = "ok"
    run_until_quiet()
    assert (store.names(), Attachment.objects.count(), len(texts())) == (set(), 0, 3)


@on_one_channel
def test_no_half_of_a_message_is_stored(channel, store):
    store.mode = "full"
    send_picture(channel, count=3)
    assert texts() == ["Is anybody there?"]
    assert not Attachment.objects.exists()
    store.mode = "ok"
    run_until_quiet()
    assert [("attachment_id" in item, item.get("error")) for item in pictures()] == [
        (True, None)
    ] * 3
    assert len(texts()) == 2
    assert stored_names() < store.names(), "what could not be removed is left to the clean-up"


@on_one_channel
def test_a_text_of_the_same_callback_stays_behind_the_file(channel, store, nobody):
    url = f"{channel.sim.origin}/media/sample-image/p.jpg"
    picture = {"attachments": [{"type": "image", "payload": {"url": url}}], "text": "This one"}
    body = event({"message": {"mid": "m_1", **picture}})
    (item,) = body["entry"][0]["messaging"]
    follows = {"message": {"mid": "m_2", "text": "And this?"}, "timestamp": item["timestamp"] + 1}
    body["entry"][0]["messaging"].append({**item, **follows})
    store.mode = "error"
    post_signed(nobody, "/socialnet/webhook", body)
    run_jobs()
    run_waiting()
    assert texts() == ["Is anybody there?"]
    store.mode = "ok"
    run_until_quiet()
    assert texts()[1:] == ["This one", "And this?"]


# --- files for customers ----------------------------------------------------------------------


@pytest.fixture
def picture(channel, ann, bot):
    """A picture in our store, as a part of an agent's message."""
    key = make_key(ann.client, "secret", bot.pk)
    path = f"/ai/client/chat/files/{Conversation.objects.get().pk}"
    files = [SimpleUploadedFile("a.png", PNG)]
    kept = key.upload(path, message="x", files=files, reply="none")
    assert kept.status_code < 300, kept.content
    return {"type": "image", "url": kept.json()["message"]["content"][-1]["url"]}


@pytest.fixture
def say(channel, ben):
    """`say("Hello")`: an agent writes; the message's id."""

    def say(text, *files):
        body = {"text": text, "attachments": list(files)}
        sent = ben.post(f"/ai/chat/{Conversation.objects.get().pk}/manual", body)
        assert sent.status_code == 201, sent.content
        run_jobs()
        return sent.json()["id"]

    return say


def got(channel):
    """What the customer got: words, `file` for an upload and `link` for another's picture."""
    bodies = [reply["body"] for reply in channel.sim.replies(channel.account, "an")]
    parts = []
    for body, text in zip(bodies, channel.replies(), strict=True):
        is_link = "/media/sample-image/" in str(body)
        is_file = any(word in str(body) for word in ("'attachment'", "'image'"))
        parts.append("link" if is_link else "file" if is_file else text)
    return parts


def uploads(channel):
    return len(channel.sim.calls(what="media"))


@on_each_channel
def test_a_file_for_a_customer_waits_for_the_store(channel, store, picture, say):
    linked = {"type": "image", "url": f"{channel.sim.origin}/media/sample-image/p.jpg"}
    store.mode = "error"
    say("Look", picture, linked)
    say("Later")
    before = got(channel)
    assert (before, uploads(channel)) in [([], 0), (["Look"], 0)], "nothing overtakes the file"
    run_waiting()
    assert got(channel) == before
    assert set(OutboundSend.objects.values_list("state", flat=True)) <= {"sent", "queued"}
    store.mode = "ok"
    run_waiting()
    channel.settle()
    assert (got(channel), uploads(channel)) == ([*before, "file", "link", "Later"], 1)
    assert set(OutboundSend.objects.values_list("state", "error")) == {("sent", "")}
    run_waiting()
    channel.settle()
    assert (len(got(channel)), uploads(channel)) == (len(before) + 3, 1)
    assert not Message.objects.filter(sender_type="agent", status__in=["pending", "failed"])
    assert not Event.objects.filter(type="message.failed").exists()


@on_each_channel
def test_a_file_whose_store_stays_away_fails_in_words_and_the_next_message_goes_out(
    channel, store, picture, say
):
    store.mode = "error"
    failed = Message.objects.filter(pk=say("Look", picture))
    say("Later")
    before = got(channel)
    run_until_quiet()
    assert failed.get().status == "failed"
    assert failed.get().error == sending.STORE_UNAVAILABLE
    assert Event.objects.filter(type="message.failed").count() == 1
    assert (got(channel), uploads(channel)) == ([*before, "Later"], 0)
    store.mode = "ok"
    run_until_quiet()
    assert (got(channel), failed.get().status) == ([*before, "Later"], "failed")


@on_one_channel
def test_a_file_that_is_gone_fails_at_once(channel, store, picture, say):
    store.empty()
    message = Message.objects.get(pk=say("Look", picture))
    assert (message.status, message.error) == ("failed", sending.FILE_GONE)
    assert uploads(channel) == 0
    say("Later")
    assert got(channel) == ["Look", "Later"]
