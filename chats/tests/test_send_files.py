"""Send message with files in chat conversation."""

import io
import zipfile

import pytest

from bots.testing import make_bot
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Attachment, Conversation, Message
from identity.models import Client
from identity.testing import make_key
from webhooks.models import Event

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
MARKUP = b"<html><script>alert(1)</script></html>"
BOUNDARY = "part-of-the-form"


def path_of(chat):
    return f"/ai/client/chat/files/{chat.pk}/"


def part(name, data, file_name=None):
    of_file = b"" if file_name is None else b'; filename="%s"' % file_name
    head = b'--%s\r\nContent-Disposition: form-data; name="%s"' % (BOUNDARY.encode(), name.encode())
    return head + of_file + b"\r\n\r\n" + data + b"\r\n"


def send(who, chat, *files, headers=None, **fields):
    """A form as any program may write it: the test client itself would tidy the names."""
    fields = {"reply": "none", **fields}
    body = b"".join(
        [
            *(part(name, value.encode()) for name, value in fields.items()),
            *(part("files", data, file_name) for file_name, data in files),
            f"--{BOUNDARY}--\r\n".encode(),
        ]
    )
    return who.browser.generic(
        "POST", path_of(chat), body, content_type=f"multipart/form-data; boundary={BOUNDARY}",
        headers={**who.headers, **(headers or {})},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def store(settings, tmp_path):
    """An empty media store; `store()` lists what lies in it."""
    settings.MEDIA_ROOT = str(tmp_path)
    return lambda: [one for one in tmp_path.rglob("*") if one.is_file()]


def office(folder):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(f"{folder}/document.xml", "<x/>")
    return made.getvalue()


def nothing_stored(store):
    counts = [rows.objects.count() for rows in (Message, Attachment, Event, Job)]
    return store() == [] and counts == [0, 0, 1, 0]  # the event of the chat's opening


def test_a_message_with_files_is_stored(server, chat, store):
    reply = send(server, chat, (b"broken.png", PNG), message=" It came broken ", reply="async")
    assert reply.status_code == 202
    said = reply.json()["message"]
    text, picture = said["content"]
    assert (text["type"], text["text"]) == ("text", "It came broken")
    assert picture["url"].startswith("/ai/attachment/")
    assert {name: value for name, value in picture.items() if value and name != "url"} == {
        "type": "image", "file_name": "broken.png", "mime_type": "image/png",
        "size_bytes": len(PNG),
    }  # fmt: skip
    row = Attachment.objects.get()
    assert (str(row.message_id), row.conversation_id) == (said["id"], chat.pk)
    (kept,) = store()
    assert kept.read_bytes() == PNG
    assert "broken" not in kept.name
    assert Event.objects.filter(type="message.created").count() == 1
    assert Job.objects.get().args == {"message_id": said["id"]}


@pytest.mark.django_db(transaction=True)
def test_files_without_text_are_handed_over(server, chat):
    message = send(server, chat, (b"a.png", PNG), reply="async", client_message_id="m-1").json()
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "files_only")
    turn = send(server, chat, (b"a.png", PNG), client_message_id="m-1", reply="wait").json()
    assert turn["message"]["id"] == message["message"]["id"]
    assert (turn["status"], turn["handoff_reason"]) == ("handed_off", "files_only")


@pytest.mark.parametrize(
    ("name", "data", "kind", "mime_type"),
    [
        (b"a.gif", b"GIF89a" + bytes(9), "image", "image/gif"),
        (b"a.jpg", b"\xff\xd8\xff" + bytes(9), "image", "image/jpeg"),
        (b"a.webp", b"RIFF1234WEBPVP8 ", "image", "image/webp"),
        (b"a.pdf", b"%PDF-1.7\n", "file", "application/pdf"),
        (b"a.mp3", b"ID3" + bytes(9), "audio", "audio/mpeg"),
        (b"a.wav", b"RIFF1234WAVEfmt ", "audio", "audio/wav"),
        (b"a.mp4", b"\x00\x00\x00\x18ftypisom", "video", "video/mp4"),
        (b"a.txt", "Grüße\n".encode(), "file", "text/plain"),
        (b"a.csv", b"a;b\n" * 1023 + "abc\u20ac".encode() * 2, "file", "text/plain"),
        (b"a.docx", office("word"), "file", "application/vnd.openxmlformats-officedocument"),
        # The bytes count, not the name: neither a second ending nor a false one.
        (b"a.php.png", PNG, "image", "image/png"),
        (b"a.html", PNG, "image", "image/png"),
        (b"both.png", PNG + MARKUP, "image", "image/png"),
    ],
)
def test_types_are_recognised_by_bytes(server, chat, name, data, kind, mime_type):
    (piece,) = send(server, chat, (name, data)).json()["message"]["content"]
    assert (piece["type"], piece["file_name"]) == (kind, name.decode())
    assert piece["mime_type"].startswith(mime_type)


@pytest.mark.parametrize(
    "data",
    [
        MARKUP,
        b"\n <!DOCTYPE html><p>",
        b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
        b'\xef\xbb\xbf<?xml version="1.0"?><svg/>',
        b"MZ\x90\x00\x03\x00\x00\x00",
        b"\x7fELF\x02\x01\x01",
        b"PK\x03\x04" + bytes(40),
        b"text, and then \x00",
        b"\xff\xfe\x00",
        b"Gr\xfc\xdfe " * 900,
        "cut off in a sign: \u20ac".encode()[:-1],
        b"",
    ],
)
def test_other_types_are_refused(server, chat, store, data):
    # A good file beside it is not kept either.
    reply = send(server, chat, (b"good.png", PNG), (b"invoice.pdf", data), message="Look")
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "files", 1]
    assert nothing_stored(store)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"../../x.png", "x.png"),
        (b"..\\..\\x.png", "x.png"),
        (b"/etc/passwd", "passwd"),
        (b"x" * 300 + b".png", "x" * 251 + ".png"),
        (b"a\x00b.png", "ab.png"),
        ("a\u202egnp.exe".encode(), "agnp.exe"),
        (b"a;b='c'.png", "a;b='c'.png"),
    ],
)
def test_a_file_name_is_cleaned_and_only_shown(server, chat, store, tmp_path, name, shown):
    (piece,) = send(server, chat, (name, PNG)).json()["message"]["content"]
    assert piece["file_name"] == shown
    (kept,) = store()
    assert kept.parent == tmp_path / "attachments"
    assert len(kept.name) == 32


def test_a_large_file_is_refused(server, chat, store, settings):
    settings.MAX_UPLOAD_BYTES = len(PNG)
    assert send(server, chat, (b"a.png", PNG)).status_code == 200
    Message.objects.all().delete()
    for one in store():
        one.unlink()
    reply = send(server, chat, (b"a.png", PNG), (b"b.png", PNG + b"x"))
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
    assert (store(), Message.objects.count()) == ([], 0)


def test_ten_files_at_most(server, chat, store):
    assert send(server, chat, *[(b"a.png", PNG)] * 11).status_code == 422
    assert nothing_stored(store)
    assert len(send(server, chat, *[(b"a.png", PNG)] * 10).json()["message"]["content"]) == 10


@pytest.mark.parametrize(
    "fields",
    [
        {"message": "x" * 8001}, {"message": "a\x00b"}, {"reply": "later"},
        {"client_message_id": ""}, {"client_message_id": "x" * 201}, {"unknown": "1"},
        {"files": "not a file"},
    ],
)  # fmt: skip
def test_a_wrong_form_is_refused(server, chat, store, fields):
    files = [] if "files" in fields else [(b"a.png", PNG)]
    reply = send(server, chat, *files, **fields)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"][0] == "body"
    assert nothing_stored(store)


def test_a_message_without_a_file_is_refused(server, chat, store):
    assert send(server, chat, message="Hello").status_code == 422
    assert server.post(path_of(chat), {"message": "Hello"}).status_code == 415
    assert nothing_stored(store)


def test_a_repeated_message_stores_one_file(server, chat, store):
    first, again = (send(server, chat, (b"a.png", PNG), client_message_id="m-1") for _ in range(2))
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["message"]["id"] == again.json()["message"]["id"]
    assert (Message.objects.count(), Attachment.objects.count(), len(store())) == (1, 1, 1)


@pytest.mark.parametrize("reply", ["none", "stream"])
def test_a_repeated_request_stores_one_file(server, chat, store, reply):
    """A held answer is made anew by a repetition; its message is found again."""
    key = {"Idempotency-Key": "form-1"}
    for _ in range(2):
        sent = send(server, chat, (b"a.png", PNG), reply=reply, headers=key)
        assert sent.status_code == 200
    assert sent["Idempotent-Replayed"] == "true"
    assert (Message.objects.count(), Attachment.objects.count(), len(store())) == (1, 1, 1)
    other = send(server, chat, (b"a.png", PNG + b"!"), reply=reply, headers=key)
    assert other.json()["code"] == "idempotency_key_reused"
    assert len(store()) == 1


def test_a_refused_message_leaves_no_file(server, ben, chat, store, add_message):
    add_message(chat, "agent", "Hello", client_message_id="m-1")
    reply = send(server, chat, (b"a.png", PNG), client_message_id="m-1")
    assert reply.json()["code"] == "client_message_id_taken"
    assert (store(), Attachment.objects.count()) == ([], 0)


def test_files_without_text_are_not_translated(server, chat, client_a, settings):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    client_a.config.auto_translate = True
    client_a.config.save()
    Client.objects.update(default_language="vi")
    send(server, chat, (b"a.png", PNG))
    assert Job.objects.count() == 0
    send(server, chat, (b"a.png", PNG), message="It came broken")
    assert Job.objects.get().name == "chats.translate_message"


def test_an_error_leaves_no_file(server, chat, store, monkeypatch):
    def broken(*_):
        raise RuntimeError

    monkeypatch.setattr("chats.services.core.attachments.attach", broken)
    assert send(server, chat, (b"a.png", PNG)).status_code == 500
    assert nothing_stored(store)


def test_the_file_belongs_to_the_chat_that_follows_an_ended_one(server, chat):
    Conversation.objects.update(status="ended", ended_by="agent")
    next_chat = send(server, chat, (b"a.png", PNG)).json()["message"]["conversation_id"]
    assert next_chat != str(chat.pk)
    assert str(Attachment.objects.get().conversation_id) == next_chat


def test_access_is_refused(page, server, nobody, client_a, client_b, chat, store):
    for stranger in (page, make_key(client_b), make_key(client_a, "secret", make_bot(client_a).pk)):
        assert send(stranger, chat, (b"a.png", PNG)).status_code == 404
    assert send(nobody, chat, (b"a.png", PNG)).status_code == 401
    assert nothing_stored(store)
    own = Conversation(pk=page.post("/ai/client/chat", {}).json()["id"])
    assert send(page, own, (b"a.png", PNG)).status_code == 200
