"""Get Files, Get Document By Id, Download Document, Delete Document By Id."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from bots.models import Bot, Chunk, Document
from chatplatform.testing import run_jobs
from identity.models import AuditEvent

pytestmark = pytest.mark.usefixtures("own_media")


@pytest.fixture
def document(ann, bot):
    files = [SimpleUploadedFile("hours.txt", b"Our shop opens at nine o'clock every day.")]
    ann.upload(f"/ai/{bot.pk}/train/document", files=files)
    return Document.objects.get()


def document_path(document):
    return f"/ai/{document.bot_id}/train/document/{document.pk}"


def test_newest_first(ann, bot, document):
    files = [SimpleUploadedFile("more.txt", b"Tea costs two coins at our shop.")]
    ann.upload(f"/ai/{bot.pk}/train/document", files=files)
    first = ann.get(f"/ai/{bot.pk}/train/document", {"limit": 1}).json()
    assert [item["file_name"] for item in first["items"]] == ["more.txt"]
    rest = ann.get(f"/ai/{bot.pk}/train/document", {"cursor": first["next_cursor"]}).json()
    assert [item["file_name"] for item in rest["items"]] == ["hours.txt"]
    assert rest["next_cursor"] is None


def test_the_list_by_status(ann, bot, document):
    def listed(status):
        reply = ann.get(f"/ai/{bot.pk}/train/document", {"status": status})
        return [item["id"] for item in reply.json()["items"]]

    failed = Document.objects.create(
        client=ann.client, bot=bot, file_name="x.txt", mime_type="text/plain", size_bytes=1,
        sha256="1" * 64, status="failed", error_code="empty", error_message="No text.",
    )  # fmt: skip
    assert listed("queued") == [document.pk]
    assert listed("failed") == [failed.pk]
    assert listed("trained") == []
    unknown = ann.get(f"/ai/{bot.pk}/train/document", {"status": "lost"})
    assert unknown.json()["detail"][0]["loc"] == ["query", "status"]


def test_one_document(ann, bot, document):
    reply = ann.get(document_path(document))
    assert reply.status_code == 200
    (listed,) = ann.get(f"/ai/{bot.pk}/train/document").json()["items"]
    assert reply.json() == listed
    assert (listed["source"], listed["url"]) == ("file", None)


def test_its_original_is_downloaded(ann, document):
    reply = ann.get(f"{document_path(document)}/original")
    assert reply.status_code == 200
    assert b"".join(reply) == b"Our shop opens at nine o'clock every day."
    assert reply["Content-Disposition"] == 'attachment; filename="hours.txt"'
    assert (reply["Content-Type"], reply["X-Content-Type-Options"]) == ("text/plain", "nosniff")


def test_an_original_that_is_lost(ann, document):
    Path(document.file.path).unlink()
    reply = ann.get(f"{document_path(document)}/original")
    assert (reply.status_code, reply.json()["code"]) == (404, "file_missing")


@pytest.mark.django_db(transaction=True)
def test_delete_removes_everything(ann, bot, document):
    run_jobs()
    path = Path(document.file.path)
    assert path.exists()
    reply = ann.delete(document_path(document))
    assert (reply.status_code, reply.content) == (204, b"")
    assert not Document.objects.exists()
    assert not Chunk.objects.exists()
    run_jobs()
    assert not path.exists()
    deleted = AuditEvent.objects.get(action="document.deleted")
    assert (deleted.user, deleted.changes) == (ann.user, {"file_name": "hours.txt"})
    assert Bot.objects.get().knowledge_version == 5
    assert ann.delete(document_path(document)).status_code == 404


def test_another_bot_of_the_client(ann, document):
    other = ann.post("/ai/bot", {"bot_name": "Other"}).json()["id"]
    assert ann.delete(f"/ai/{other}/train/document/{document.pk}").status_code == 404
    assert Document.objects.exists()


def test_nobody(document, nobody):
    assert nobody.delete(document_path(document)).status_code == 401
    assert nobody.get(document_path(document)).status_code == 401
    assert nobody.get(f"{document_path(document)}/original").status_code == 401
    assert nobody.get(f"/ai/{document.bot_id}/train/document").status_code == 401
