"""Upload Files."""

from pathlib import Path
from unittest import mock

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError

from bots.models import Document
from chatplatform.models import Job
from chatplatform.testing import at_once

pytestmark = pytest.mark.usefixtures("own_media")

TEXT = b"Our shop opens at nine o'clock and closes at six o'clock every working day.\n"


def path(bot):
    return f"/ai/{bot.pk}/train/document"


def file(data=TEXT, name="hours.txt"):
    return SimpleUploadedFile(name, data)


def stored_files():
    folder = Path(settings.MEDIA_ROOT) / "documents"
    return {file.name for file in folder.iterdir()} if folder.exists() else set()


def test_it_works(ann, bot):
    reply = ann.upload(path(bot), files=[file(), file(b"# Prices\n\nTea costs two.", "prices.md")])
    assert reply.status_code == 202
    assert reply.json()["next_cursor"] is None
    first, second = reply.json()["items"]
    assert (first["file_name"], first["mime_type"]) == ("hours.txt", "text/plain")
    assert (second["file_name"], second["mime_type"]) == ("prices.md", "text/markdown")
    assert (first["status"], first["progress"], first["error"]) == ("queued", 0, None)
    assert first["size_bytes"] == len(TEXT)
    assert Job.objects.filter(name="bots.train_document").count() == 2
    names = set(Document.objects.values_list("file", flat=True))
    assert {Path(name).name for name in names} == stored_files()
    assert not any("hours" in name for name in names)


def test_the_same_bytes_are_one_document(ann, bot):
    first = ann.upload(path(bot), files=[file(), file(name="again.txt")]).json()["items"]
    second = ann.upload(path(bot), files=[file(name="third.txt")]).json()["items"]
    assert len(first) == 1
    assert second == first
    assert Document.objects.count() == Job.objects.count() == len(stored_files()) == 1


def test_the_same_bytes_in_another_bot_are_another_document(ann, cara, bot):
    other = cara.post("/ai/bot", {"bot_name": "Hers"}).json()["id"]
    ann.upload(path(bot), files=[file()])
    assert cara.upload(f"/ai/{other}/train/document", files=[file()]).status_code == 202
    assert Document.objects.count() == 2


def test_a_failed_document_is_tried_again(ann, bot):
    ann.upload(path(bot), files=[file()])
    Document.objects.update(status="failed", error_code="timeout", error_message="Too slow.")
    Job.objects.all().delete()
    (again,) = ann.upload(path(bot), files=[file()]).json()["items"]
    assert (again["status"], again["error"]) == ("queued", None)
    assert Job.objects.count() == 1


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"", "empty.txt", "empty"),
        (b"MZ\x90\x00" + b"\x00" * 100, "report.pdf", "unsupported_type"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "x.svg", "unsupported_type"),
        (b"\x89PNG\r\n\x1a\n<html></html>", "x.html", "unsupported_type"),
        (TEXT, "x.pdf.exe", "unsupported_type"),
    ],
)
def test_a_wrong_file_is_left_out_and_named(ann, bot, data, name, kind):
    reply = ann.upload(path(bot), files=[file(data, name), file()])
    assert reply.status_code == 202
    (refused,) = reply.json()["refused"]
    assert refused.pop("message")
    assert refused == {"position": 0, "file_name": name, "code": kind}
    assert [item["file_name"] for item in reply.json()["items"]] == ["hours.txt"]
    assert Document.objects.count() == Job.objects.count() == len(stored_files()) == 1
    Document.objects.all().delete()
    Job.objects.all().delete()
    before = stored_files()
    reply = ann.upload(path(bot), files=[file(data, name), file(b"", "nothing.txt")])
    assert reply.status_code == 422
    first, second = reply.json()["detail"]
    assert (first["loc"], first["type"]) == (["body", "files", 0], kind)
    assert (second["loc"], second["type"]) == (["body", "files", 1], "empty")
    assert name in first["msg"]
    assert not Document.objects.exists()
    assert not Job.objects.exists()
    assert stored_files() == before


@pytest.mark.parametrize("name", ["..", ".", "a/..", "/", "\u202e"])
def test_a_file_without_a_readable_name_keeps_its_position(ann, bot, name):
    head = 'Content-Disposition: form-data; name="files"; filename="{}"\r\n\r\n'
    parts = [(name, "MZ\0"), ("", ""), ("empty.txt", ""), ("hours.txt", TEXT.decode())]
    body = "".join(f"--b\r\n{head.format(shown)}{data}\r\n" for shown, data in parts)
    reply = ann.browser.post(
        path(bot), f"{body}--b--\r\n".encode(), headers=ann.headers,
        content_type="multipart/form-data; boundary=b",
    )  # fmt: skip
    assert reply.status_code == 202
    refused = [(item["position"], item["file_name"]) for item in reply.json()["refused"]]
    # A form without a chosen file has a part with an empty name, which is no file.
    assert refused == [(0, "file"), (1, "empty.txt")]
    assert [item["file_name"] for item in reply.json()["items"]] == ["hours.txt"]


@pytest.mark.parametrize("name", ["../../etc/hours.txt", "x" * 300 + ".txt", "a\u202etxt.txt"])
def test_hostile_file_names(ann, bot, name):
    (document,) = ann.upload(path(bot), files=[file(name=name)]).json()["items"]
    assert len(document["file_name"]) <= 255
    assert "/" not in document["file_name"]
    assert "\u202e" not in document["file_name"]
    assert len(stored_files()) == 1


def test_a_file_above_the_limit(ann, bot, settings):
    settings.MAX_UPLOAD_BYTES = 100
    reply = ann.upload(path(bot), files=[file(b"a" * 101), file(b"", "nothing.txt")])
    assert reply.status_code == 413
    assert reply.json()["code"] == "too_large"
    assert "nothing.txt: " in reply.json()["detail"]
    assert not stored_files()
    reply = ann.upload(path(bot), files=[file(), file(b"a" * 101, "long.txt")])
    assert [(item["file_name"], item["code"]) for item in reply.json()["refused"]] == [
        ("long.txt", "too_large")
    ]


def test_a_file_of_exactly_the_limit(ann, bot, settings):
    settings.MAX_UPLOAD_BYTES = 100
    reply = ann.upload(path(bot), files=[file(b"a" * 100)])
    assert reply.status_code == 202
    assert reply.json()["items"][0]["size_bytes"] == 100


def test_no_files(ann, bot):
    assert ann.upload(path(bot)).status_code == 422
    assert ann.post(path(bot), {"files": []}).status_code == 415
    assert ann.upload(path(bot), files="not a file").status_code == 422


def test_too_many_files(ann, bot):
    files = [file(b"number %d of the files" % number) for number in range(21)]
    reply = ann.upload(path(bot), files=files)
    assert (reply.status_code, reply.json()["code"]) == (400, "too_many_files")
    assert reply.json()["detail"] == "Send up to 20 files in a request."
    assert not Document.objects.exists()


def test_the_limit_of_a_bot(ann, bot):
    ann.upload(path(bot), files=[file()])
    with mock.patch("bots.services.documents.MAX_DOCUMENTS", 1):
        reply = ann.upload(path(bot), files=[file(b"another text of the shop")])
        assert ann.upload(path(bot), files=[file()]).status_code == 202
    assert (reply.status_code, reply.json()["code"]) == (409, "document_limit")
    assert Document.objects.count() == len(stored_files()) == 1
    with mock.patch("bots.services.documents.MAX_DOCUMENTS", 2):
        more = [file(b"the second text of the shop"), file(b"the third text of it", "third.txt")]
        reply = ann.upload(path(bot), files=more)
    assert [(item["file_name"], item["code"]) for item in reply.json()["refused"]] == [
        ("third.txt", "document_limit")
    ]
    assert Document.objects.count() == len(stored_files()) == 2


@pytest.mark.undocumented
def test_no_file_stays_without_its_row(ann, bot):
    with mock.patch("chatplatform.jobs.enqueue", side_effect=DatabaseError("gone")):
        assert ann.upload(path(bot), files=[file()]).status_code == 500
    assert not Document.objects.exists()
    assert not stored_files()


def test_nobody(bot, nobody):
    assert nobody.upload(path(bot), files=[file()]).status_code == 401
    assert not stored_files()


@pytest.mark.django_db(transaction=True)
def test_the_same_bytes_at_once(ann, bot):
    replies = at_once(*[lambda: ann.upload(path(bot), files=[file()])] * 4)
    assert [reply.status_code for reply in replies] == [202] * 4
    assert len({reply.json()["items"][0]["id"] for reply in replies}) == 1
    assert Document.objects.count() == Job.objects.count() == len(stored_files()) == 1
