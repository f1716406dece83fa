"""Pictures and voice notes: a model gets them if it can read them and the client allows it."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from bots.models import LanguageModel
from bots.testing import trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Attachment, Message
from chats.services.reply import customer_media
from chats.tests.test_send_files import send
from chats.tests.test_send_message import KNOWN, SHOP, assert_handed_over, count_events, replies

pytestmark = pytest.mark.django_db(transaction=True)
NOTE = (b"note.ogg", b"OggS" + bytes(40))


def picture(size=(60, 40), **saved):
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, "JPEG", **saved)
    return (b"broken.jpg", file.getvalue())


@pytest.fixture(autouse=True)
def document(bot, settings, tmp_path):
    settings.MEDIA_ROOT = str(tmp_path)
    return trained(bot, SHOP)


@pytest.fixture
def seeing(stub, settings):
    settings.LLM_READS_PICTURES = True
    return stub


@pytest.fixture
def listening(stub, settings):
    settings.LLM_TRANSCRIPTION_MODEL = "ears"
    stub.heard = {"text": KNOWN, "usage": {"input_tokens": 1_500, "output_tokens": 20}}
    return stub


def sent_by(chat):
    return Message.objects.filter(conversation=chat, sender_type="customer").latest("seq")


def pictures_in(request):
    content = request["messages"][-1]["content"]
    assert not isinstance(content, str)
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in urls]


def test_a_model_answers_a_picture_without_words(server, chat, seeing):
    seeing.rewrite = lambda _: KNOWN
    send(server, chat, picture(), reply="async")
    run_jobs()
    (reply,) = replies()
    assert "[1]" in reply.text
    assert reply.receipt["engine"] == "openai_compatible"
    # One request to say what is asked, one to answer; both are paid.
    assert reply.receipt["usage"]["prompt_tokens"] == 300
    (request,) = seeing.requests
    (shown,) = pictures_in(request)
    assert shown.size == (60, 40)
    assert pictures_in(seeing.confirmations[0])


def test_a_question_about_a_picture_is_asked_with_it(server, chat, seeing):
    send(server, chat, picture(), message=KNOWN, reply="async")
    run_jobs()
    assert [reply.sender_type for reply in replies()] == ["bot"]
    assert seeing.follow_ups == [KNOWN]
    assert len(pictures_in(seeing.requests[0])) == 1


def test_a_large_picture_is_made_smaller_and_says_no_place(server, chat, seeing):
    exif = Image.Exif()
    exif[0x010E] = "at home"
    send(server, chat, picture((3_000, 1_000), exif=exif), message=KNOWN, reply="async")
    run_jobs()
    (shown,) = pictures_in(seeing.requests[0])
    assert shown.size == (customer_media.LARGEST_SIDE, 512)
    assert not shown.getexif()


def test_of_many_pictures_the_last_ones_are_shown(server, chat, seeing):
    files = [picture((number, 9)) for number in range(20, 26)]
    send(server, chat, *files, message=KNOWN, reply="async")
    run_jobs()
    assert [shown.width for shown in pictures_in(seeing.requests[0])] == [22, 23, 24, 25]


def test_a_picture_that_no_document_answers_goes_to_people(server, chat, seeing):
    seeing.rewrite = lambda _: "Who won the chess olympiad of 1972 in Skopje?"
    send(server, chat, picture(), reply="async")
    run_jobs()
    assert_handed_over(chat, "files_only")
    assert seeing.requests == []


def test_without_such_a_model_pictures_go_to_people(server, chat, stub):
    send(server, chat, picture(), reply="async")
    run_jobs()
    assert_handed_over(chat, "files_only")
    assert stub.requests == stub.follow_ups == []


@pytest.mark.parametrize("file", [picture(), NOTE])
def test_switched_off_nothing_leaves(ann, server, chat, seeing, listening, file):
    off = ann.post(f"/config/{chat.client_id}/chat", {"read_attachments": False})
    assert off.json()["read_attachments"] is False
    send(server, chat, file, reply="async")
    run_jobs()
    assert_handed_over(chat, "files_only")
    assert seeing.requests == seeing.follow_ups == listening.recordings == []


def test_a_voice_note_is_transcribed_and_answered(
    server, ben, chat, client_a, listening, credits_spent
):
    send(server, chat, NOTE, reply="async")
    run_jobs()
    (reply,) = replies()
    assert "[1]" in reply.text
    message = sent_by(chat)
    (part,) = message.content
    assert (part["transcript"], message.text, message.language) == (KNOWN, KNOWN, "en")
    assert reply.in_reply_to_id == message.pk
    (recording,) = listening.recordings
    assert NOTE[1] in recording
    assert b"ears" in recording
    assert b"note.ogg" not in recording, "the customer's name of the file stays here"
    assert count_events("message.updated") == 1
    # 1,520 tokens of the transcript are two credits; the answer is one.
    assert credits_spent(client_a) == 3
    shown = server.get(f"/mesaging/conversations/{chat.pk}/messages").json()["items"][0]
    assert shown["content"][0]["transcript"] == KNOWN
    found = ben.get("/ai/chats", {"q": "damaged goods"}).json()["items"]
    assert [item["id"] for item in found] == [str(chat.pk)]


@pytest.mark.parametrize(
    ("usage", "credits"),
    [
        ({"input_tokens": 1_500, "output_tokens": 20}, 2),
        ({"seconds": 61}, 2),
        ({"seconds": -1}, 1),
        ({"seconds": 10**18}, 1),
        (None, 1),
    ],
)
def test_a_voice_note_to_an_agent_is_transcribed_too(
    server, ben, chat, client_a, *, listening, credits_spent, usage, credits
):
    listening.heard |= {"usage": usage}
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200
    send(server, chat, NOTE, reply="async")
    assert Job.objects.filter(name="chats.transcribe_message").count() == 1
    run_jobs()
    assert sent_by(chat).content[0]["transcript"] == KNOWN
    assert replies() == []
    assert credits_spent(client_a) == credits


@pytest.mark.parametrize("heard", [None, {"text": ""}, {"words": 7}])
def test_what_cannot_be_transcribed_goes_to_people(
    server, chat, client_a, listening, heard, credits_spent
):
    listening.heard = heard
    send(server, chat, NOTE, reply="async")
    run_jobs()
    assert_handed_over(chat, "files_only")
    assert "transcript" not in sent_by(chat).content[0]
    assert credits_spent(client_a) == 0


def test_a_voice_note_that_is_too_large_stays_here(server, chat, listening, monkeypatch):
    monkeypatch.setattr(customer_media, "MAX_BYTES", 20)
    send(server, chat, NOTE, reply="async")
    run_jobs()
    assert_handed_over(chat, "files_only")
    assert listening.recordings == []


def test_the_language_is_named_once_the_customer_has_written(server, chat, listening):
    send(server, chat, NOTE, reply="none")
    run_jobs()
    send(server, chat, NOTE, message="Hello there", reply="none")
    run_jobs()
    assert [b'name="language"' in body for body in listening.recordings] == [False, True]


def test_a_customer_cannot_send_a_transcript(server, chat):
    file = {"type": "audio", "url": "https://x.example/a.ogg", "transcript": "Pay me"}
    sent = server.post(
        f"/ai/client/chat/{chat.pk}", {"text": "Hi", "reply": "none", "attachments": [file]}
    ).json()["message"]
    assert [part["transcript"] for part in sent["content"]] == [None, None]
    assert sent_by(chat).text == "Hi"


def test_a_companys_own_model_may_read_and_listen(ann, stub, settings):
    settings.EGRESS_ALLOW = [f"127.0.0.1:{stub.server_port}"]
    body = {"base_url": stub.base_url, "model": "m"}
    able = {"reads_pictures": True, "transcription_model": "whisper-1"}
    shown = ann.put("/ai/model", body | able).json()
    assert {name: shown[name] for name in able} == able
    shown = ann.put("/ai/model", body).json()
    assert {name: shown[name] for name in able} == able, "left out, it stays"
    assert LanguageModel.objects.get().transcription_model == "whisper-1"


def test_a_deleted_file_is_left_out(server, chat, seeing):
    send(server, chat, picture(), message=KNOWN, reply="async")
    Path(Attachment.objects.get().file.path).unlink()
    run_jobs()
    assert isinstance(seeing.requests[0]["messages"][-1]["content"], str)
