"""Send message with files in chat conversation."""

import errno
import io
import zipfile

import pytest
from django.conf import settings

from bots.testing import make_bot
from chatplatform.api import rate_limits
from chatplatform.live import valkey
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Attachment, Conversation, Message
from chats.testing import visit
from identity.models import Client
from identity.testing import make_key
from webhooks.models import Event

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
MARKUP = b"<html><script>alert(1)</script></html>"
BOUNDARY = "part-of-the-form"


def path_of(chat):
    return f"/ai/client/chat/files/{chat.pk}/"


def part(name, data, file_name=None):
    file_part = b"" if file_name is None else b'; filename="%s"' % file_name
    head = b'--%s\r\nContent-Disposition: form-data; name="%s"' % (BOUNDARY.encode(), name.encode())
    return head + file_part + b"\r\n\r\n" + data + b"\r\n"


def send(caller, chat, *files, headers=None, **fields):
    """Send a form with the file names as they are: the test client would clean them."""
    fields = {"reply": "none", **fields}
    body = b"".join(
        [
            *(part(name, value.encode()) for name, value in fields.items()),
            *(part("files", data, file_name) for file_name, data in files),
            f"--{BOUNDARY}--\r\n".encode(),
        ]
    )
    return caller.browser.generic(
        "POST", path_of(chat), body, content_type=f"multipart/form-data; boundary={BOUNDARY}",
        headers={**caller.headers, **(headers or {})},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def stored_files(settings, tmp_path):
    """An empty media store; `stored_files()` lists its files."""
    settings.MEDIA_ROOT = str(tmp_path)
    return lambda: [path for path in tmp_path.rglob("*") if path.is_file()]


def office_file(folder):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{folder}/document.xml", "<x/>")
    return file.getvalue()


def nothing_stored(stored_files):
    counts = [rows.objects.count() for rows in (Message, Attachment, Event, Job)]
    # The one event is that of the new chat.
    return stored_files() == [] and counts == [0, 0, 1, 0]


def test_a_message_with_files_is_stored(server, chat, stored_files):
    reply = send(server, chat, (b"broken.png", PNG), message=" It came broken ", reply="async")
    assert reply.status_code == 202
    message = reply.json()["message"]
    text, picture = message["content"]
    assert (text["type"], text["text"]) == ("text", "It came broken")
    assert picture["url"].startswith(f"{settings.PUBLIC_URL}/ai/attachment/")
    assert {name: value for name, value in picture.items() if value and name != "url"} == {
        "type": "image", "file_name": "broken.png", "mime_type": "image/png",
        "size_bytes": len(PNG),
    }  # fmt: skip
    row = Attachment.objects.get()
    assert (str(row.message_id), row.conversation_id) == (message["id"], chat.pk)
    (path,) = stored_files()
    assert path.read_bytes() == PNG
    assert "broken" not in path.name
    assert Event.objects.filter(type="message.created").count() == 1
    assert Job.objects.get().args == {"message_id": message["id"]}


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
        (b"a.docx", office_file("word"), "file", "application/vnd.openxmlformats-officedocument"),
        (b"a.php.png", PNG, "image", "image/png"),
        (b"both.png", PNG + MARKUP, "image", "image/png"),
    ],
)
def test_types_are_recognized_by_bytes(server, chat, name, data, kind, mime_type):
    (part,) = send(server, chat, (name, data)).json()["message"]["content"]
    assert (part["type"], part["file_name"]) == (kind, name.decode())
    assert part["mime_type"].startswith(mime_type)


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
        "cut off in a character: \u20ac".encode()[:-1],
        b"",
    ],
)
def test_other_types_are_refused(server, chat, stored_files, data):
    # A valid file in the same message is not stored either.
    reply = send(server, chat, (b"good.png", PNG), (b"invoice.pdf", data), message="Look")
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "files", 1]
    assert nothing_stored(stored_files)


ENDINGS = (
    "hta", "bat", "cmd", "js", "vbs", "lnk", "url", "htm", "html", "svg", "ps1", "reg", "sh", "py",
    "desktop", "xml", "txt.", "txt ", "txt::$DATA",
)  # fmt: skip


def test_no_file_is_saved_under_a_name_that_a_system_would_run(server, chat, nobody):
    for ending in ENDINGS:
        name = f"offer.{ending}"
        (part,) = send(server, chat, (name.encode(), b"echo off")).json()["message"]["content"]
        assert part["file_name"] == f"{name}.txt"
        # A name that an older version stored is saved no other way.
        Attachment.objects.update(file_name=name)
        reply = nobody.get(part["url"])
        assert reply["Content-Disposition"] == f'attachment; filename="{name}.txt"'
        list(reply)  # read to its end, it closes the file


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"../../x.png", "x.png"),
        (b"..\\..\\x.png", "x.png"),
        (b"/etc/passwd", "passwd.png"),
        (b"x" * 300 + b".png", "x" * 251 + ".png"),
        (b"a\x00b.png", "ab.png"),
        ("a\u202egnp.exe".encode(), "agnp.exe.png"),
        (b"a.PNG", "a.PNG"),
        (b"y" * 300, "y" * 251 + ".png"),
        (b"a;b='c'.png", "a;b='c'.png"),
    ],
)
def test_a_file_name_is_cleaned_and_no_path(server, chat, stored_files, tmp_path, name, shown):
    (part,) = send(server, chat, (name, PNG)).json()["message"]["content"]
    assert part["file_name"] == shown
    (path,) = stored_files()
    assert path.parent == tmp_path / "attachments"
    assert len(path.name) == 32


def test_a_large_file_is_refused(server, chat, stored_files, settings):
    settings.MAX_UPLOAD_BYTES = len(PNG)
    assert send(server, chat, (b"a.png", PNG)).status_code == 200
    Message.objects.all().delete()
    for path in stored_files():
        path.unlink()
    reply = send(server, chat, (b"a.png", PNG), (b"b.png", PNG + b"x"))
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
    assert (stored_files(), Message.objects.count()) == ([], 0)


def test_ten_files_at_most(server, chat, stored_files):
    assert send(server, chat, *[(b"a.png", PNG)] * 11).status_code == 422
    assert nothing_stored(stored_files)
    assert len(send(server, chat, *[(b"a.png", PNG)] * 10).json()["message"]["content"]) == 10


@pytest.mark.parametrize(
    "fields",
    [
        {"message": "x" * 8001}, {"message": "a\x00b"}, {"reply": "later"},
        {"client_message_id": ""}, {"client_message_id": "x" * 201}, {"unknown": "1"},
        {"files": "not a file"},
    ],
)  # fmt: skip
def test_a_wrong_form_is_refused(server, chat, stored_files, fields):
    files = [] if "files" in fields else [(b"a.png", PNG)]
    reply = send(server, chat, *files, **fields)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"][0] == "body"
    assert nothing_stored(stored_files)


def test_a_message_without_a_file_is_refused(server, chat, stored_files):
    assert send(server, chat, message="Hello").status_code == 422
    assert server.post(path_of(chat), {"message": "Hello"}).status_code == 415
    assert nothing_stored(stored_files)


def test_a_repeated_message_stores_one_file(server, chat, stored_files):
    first, again = (send(server, chat, (b"a.png", PNG), client_message_id="m-1") for _ in range(2))
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["message"]["id"] == again.json()["message"]["id"]
    assert (Message.objects.count(), Attachment.objects.count(), len(stored_files())) == (1, 1, 1)


@pytest.mark.parametrize("reply", ["none", "stream"])
def test_a_repeated_request_stores_one_file(server, chat, stored_files, reply):
    """A repeated request with a streamed reply is answered anew for the stored message."""
    key = {"Idempotency-Key": "form-1"}
    for _ in range(2):
        sent = send(server, chat, (b"a.png", PNG), reply=reply, headers=key)
        assert sent.status_code == 200
    assert sent["Idempotent-Replayed"] == "true"
    assert (Message.objects.count(), Attachment.objects.count(), len(stored_files())) == (1, 1, 1)
    other = send(server, chat, (b"a.png", PNG + b"!"), reply=reply, headers=key)
    assert other.json()["code"] == "idempotency_key_reused"
    assert len(stored_files()) == 1


def test_a_refused_message_leaves_no_file(server, ben, chat, stored_files, add_message):
    add_message(chat, "agent", "Hello", client_message_id="m-1")
    reply = send(server, chat, (b"a.png", PNG), client_message_id="m-1")
    assert reply.json()["code"] == "client_message_id_taken"
    assert (stored_files(), Attachment.objects.count()) == ([], 0)


def test_files_without_text_are_not_translated(server, chat, client_a, settings):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    client_a.config.auto_translate = True
    client_a.config.save()
    Client.objects.update(default_language="vi")
    send(server, chat, (b"a.png", PNG))
    assert Job.objects.count() == 0
    send(server, chat, (b"a.png", PNG), message="It came broken")
    assert Job.objects.get().name == "chats.translate_message"


@pytest.mark.undocumented
def test_an_error_leaves_no_file(server, chat, stored_files, monkeypatch):
    def fail(*_):
        raise RuntimeError

    monkeypatch.setattr("chats.services.core.attachments.attach", fail)
    assert send(server, chat, (b"a.png", PNG)).status_code == 500
    assert nothing_stored(stored_files)


def test_a_full_disk_is_said_and_leaves_nothing(server, chat, stored_files, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("django.core.files.storage.FileSystemStorage._save", fail)
        reply = send(server, chat, (b"a.png", PNG))
    assert (reply.status_code, reply.json()["code"]) == (503, "unavailable")
    assert reply["Retry-After"] == "60"
    assert nothing_stored(stored_files)
    assert send(server, chat, (b"a.png", PNG)).status_code < 300


def test_the_file_belongs_to_the_chat_that_follows_an_ended_one(server, chat):
    Conversation.objects.update(status="ended", ended_by="agent")
    next_chat = send(server, chat, (b"a.png", PNG)).json()["message"]["conversation_id"]
    assert next_chat != str(chat.pk)
    assert str(Attachment.objects.get().conversation_id) == next_chat


def test_access_is_refused(page, nobody, client_b, chat, stored_files):
    other_bots_key = make_key(chat.client, "secret", make_bot(chat.client).pk)
    for stranger in (page, make_key(client_b), other_bots_key):
        assert send(stranger, chat, (b"a.png", PNG)).status_code == 404
    assert send(nobody, chat, (b"a.png", PNG)).status_code == 401
    assert nothing_stored(stored_files)
    visitor, own = visit(page)
    assert send(visitor, own, (b"a.png", PNG)).status_code == 200


@pytest.fixture
def _everyday_limits(settings):
    settings.RATE_LIMIT_SCALE = 1
    for key in valkey.shared().scan_iter("LIMITS*"):
        valkey.shared().delete(key)


def is_refused(reply):
    assert (reply.status_code, reply.json()["code"]) == (429, "too_many_requests")
    # What was sent now begins to count less when a day has passed.
    assert rate_limits.DAY_SECONDS - 600 < int(reply["Retry-After"]) <= rate_limits.DAY_SECONDS
    return True


@pytest.mark.usefixtures("_everyday_limits")
@pytest.mark.parametrize("of", ["visitor", "address", "key"])
def test_visitors_send_so_much_in_a_day(page, server, chat, stored_files, monkeypatch, of):
    most = 3 * len(PNG) - 1
    if of == "key":
        monkeypatch.setattr("django.conf.settings.PUBLIC_KEY_UPLOAD_BYTES_PER_DAY", most)
    else:
        name = "VISITORS_BYTES" if of == "visitor" else "ADDRESS_BYTES"
        monkeypatch.setattr(rate_limits, name, most)
    visitor, own = visit(page)
    other, others = visit(page)
    assert send(visitor, own, (b"a.png", PNG), (b"b.png", PNG)).status_code == 200
    for _ in range(2):
        assert is_refused(send(visitor, own, (b"c.png", PNG)))
    assert (len(stored_files()), Message.objects.count()) == (2, 1)
    assert own.messages.count() == 1
    if of == "visitor":
        assert send(other, others, (b"c.png", PNG)).status_code == 200
    else:
        assert is_refused(send(other, others, (b"c.png", PNG)))
    # What was refused counts for nothing: less fits still.
    assert send(visitor, own, (b"d.txt", b"short")).status_code == 200
    for _ in range(3):
        assert send(server, chat, (b"a.png", PNG)).status_code == 200


@pytest.mark.usefixtures("_everyday_limits")
def test_without_valkey_a_process_counts_bytes_alone(page, stored_files, monkeypatch):
    monkeypatch.setattr(rate_limits, "VISITORS_BYTES", 2 * len(PNG))
    monkeypatch.setattr(rate_limits, "_in_valkey", lambda _, default: default)
    visitor, own = visit(page)
    assert send(visitor, own, (b"a.png", PNG), (b"b.png", PNG)).status_code == 200
    assert send(visitor, own, (b"c.png", PNG)).status_code == 429
    assert len(stored_files()) == 2


def test_a_bot_that_takes_no_files_stores_none(page, stored_files, ann, monkeypatch):
    visitor, own = visit(page)
    path = f"/ai/bot/{own.bot_id}/update-bot"
    assert ann.put(path, {"attach_enabled": False}).status_code == 200
    with monkeypatch.context() as watched:
        stores = []
        watched.setattr("chatplatform.media.store", lambda *_: stores.append(1))
        reply = send(visitor, own, (b"a.png", PNG))
    assert (reply.status_code, reply.json()["code"]) == (409, "attachments_off")
    assert (stores, stored_files()) == ([], [])


def test_a_bot_that_takes_no_files_refuses_them_at_every_door(ann, server, chat, stored_files):
    chat_path = f"/ai/client/chat/{chat.pk}"
    link = {"type": "image", "url": "https://shop.example/a.png"}
    message_path = f"/mesaging/conversations/{chat.pk}/messages"
    theirs = {"sender": {"type": "customer"}, "content": [link]}
    first = {"text": "See", "reply": "none", "client_message_id": "m-1", "attachments": [link]}
    assert server.post(chat_path, first).status_code == 200
    bot_path = f"/ai/bot/{chat.bot_id}/update-bot"
    assert ann.put(bot_path, {"attach_enabled": False}).status_code == 200
    refused = [
        send(server, chat, (b"a.png", PNG)),
        server.post(chat_path, {"text": "See", "reply": "none", "attachments": [link]}),
        server.post(message_path, theirs),
    ]
    assert [reply.status_code for reply in refused] == [409] * 3
    assert {reply.json()["code"] for reply in refused} == {"attachments_off"}
    assert (Message.objects.count(), stored_files()) == (1, [])
    # A place is no file, a repeated message is there already, and the client's own people may.
    place = {"type": "location", "location": {"latitude": 1, "longitude": 2}}
    taken = [
        server.post(chat_path, first),
        server.post(chat_path, {"text": "Here", "reply": "none", "attachments": [place]}),
        server.post(message_path, {**theirs, "sender": {"type": "bot"}}),
        server.post(message_path, {**theirs, "sent_at": "2026-01-01T10:00:00Z"}),
    ]
    assert [reply.status_code for reply in taken] == [200, 200, 201, 201]


@pytest.mark.usefixtures("_everyday_limits")
def test_what_is_not_stored_uses_up_no_day(page, monkeypatch):
    monkeypatch.setattr(rate_limits, "VISITORS_BYTES", 3 * len(PNG) - 1)
    visitor, own = visit(page)
    for _ in range(3):
        reply = send(visitor, own, (b"a.png", PNG), client_message_id="once")
        assert reply.status_code == 200
    assert own.messages.count() == 1
    assert send(visitor, own, (b"b.png", PNG)).status_code == 200
    assert is_refused(send(visitor, own, (b"c.png", PNG)))
