"""Files in a bucket: all that works with a folder, and what a store that fails does."""

import io
import zipfile
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.utils import timezone
from PIL import Image

from bots.models import Document
from bots.testing import make_bot
from bots.tests.web_site import html, serving
from chatplatform import media
from chatplatform.jobs import leases
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs, s3
from chats.models import Attachment
from chats.testing import make_chat
from identity.testing import make_key
from reports.models import Export
from webhooks.models import Event

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
pytestmark = [pytest.mark.django_db, pytest.mark.full]


@pytest.fixture(scope="module")
def server():
    with s3.running() as started:
        yield started


@pytest.fixture
def store(server, settings, monkeypatch, tmp_path):
    """The platform with its files in a bucket; the folder must stay empty."""
    settings.MEDIA_ROOT = tmp_path / "media"
    with server.keeping_files(settings, monkeypatch):
        yield server
    assert not (tmp_path / "media").exists()


@pytest.fixture
def bot(ann):
    return make_bot(ann.client)


def upload_document(ann, bot, text="We open at nine."):
    file = SimpleUploadedFile("hours.txt", text.encode())
    return ann.upload(f"/ai/{bot.pk}/train/document", files=file)


def send_file(caller, chat, **more):
    file = SimpleUploadedFile("broken.png", PNG)
    path = f"/ai/client/chat/files/{chat}/"
    return caller.upload(path, reply="none", message="x", files=file, **more)


def open_chat(caller):
    return caller.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()["id"]


def test_a_document_is_trained_read_again_and_removed(ann, bot, store):
    assert upload_document(ann, bot).status_code == 202
    assert run_jobs()
    document = Document.objects.get()
    assert (document.status, document.chunks.get().text) == ("trained", "We open at nine.")
    original = ann.get(f"/ai/{bot.pk}/train/document/{document.pk}/original")
    assert b"".join(original.streaming_content) == b"We open at nine."
    assert ann.delete(f"/ai/{bot.pk}/train/document/{document.pk}").status_code in {200, 204}
    run_jobs()
    assert store.names() == set()


def test_a_customers_file_comes_back_by_its_link(ann, bot, store, client):
    server = make_key(ann.client)
    chat = open_chat(server)
    sent = send_file(server, chat).json()
    url = sent["message"]["content"][-1]["url"]
    fetched = client.get(url)
    assert b"".join(fetched.streaming_content) == PNG
    Attachment.objects.update(file="attachments/lost")
    assert client.get(url).status_code == 404


def test_a_banner_is_shown(ann, bot, store, client):
    image = io.BytesIO()
    Image.new("RGB", (30, 10), "red").save(image, format="PNG")
    file = SimpleUploadedFile("banner.png", image.getvalue())
    url = ann.upload(f"/ai/{bot.pk}/upload-banner-image", file=file).json()["url"]
    shown = client.get(url[url.index("/media/") :])
    assert Image.open(io.BytesIO(b"".join(shown.streaming_content))).size == (30, 10)
    (store_name,) = store.names()
    media.remove([store_name])
    assert store_name in store.names(), "a row still names it"
    assert client.get(f"/media/banners/{'0' * 32}.png").status_code == 404


@pytest.mark.django_db(transaction=True)  # the export sets its own transaction's isolation
def test_a_clients_export_holds_its_files(ann, bot, store, tmp_path):
    upload_document(ann, bot)
    (name,) = store.names()
    call_command("export_client", ann.client.code, str(tmp_path / "all.zip"))
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.read(f"files/{name}") == b"We open at nine."


def test_clean_up_removes_old_files_that_no_row_names(ann, bot, store, monkeypatch):
    upload_document(ann, bot)
    named = store.names()
    others = {"elsewhere/file", "documents/folder/file"}
    for name in ("documents/0", "documents/zzz", "attachments/left", *others):
        store.put(name)
    media.clean_up()
    assert len(store.names()) == len(named) + 5, "what came today may get its row yet"
    later = timezone.now() + timedelta(days=2)
    monkeypatch.setattr(media, "timezone", SimpleNamespace(now=lambda: later))
    media.clean_up()
    assert store.names() == named | others


def test_a_run_of_the_clean_up_is_bounded(store, monkeypatch):
    later = timezone.now() + timedelta(days=2)
    monkeypatch.setattr(media, "timezone", SimpleNamespace(now=lambda: later))
    monkeypatch.setattr(media, "FILES_PER_FOLDER", 4)
    for number in range(6):
        store.put(f"documents/{number}0")
    monkeypatch.setattr(media, "secrets", SimpleNamespace(token_hex=lambda size: "3f"))
    media.clean_up()
    assert store.names() == {"documents/20", "documents/30"}


@pytest.mark.parametrize("mode", ["error", "slow", "gone"])
def test_an_upload_is_refused_while_the_store_fails(ann, bot, store, mode, counts, caplog):
    server = make_key(ann.client)
    chat = open_chat(server)
    store.mode = mode
    for reply in (upload_document(ann, bot), send_file(server, chat)):
        assert (reply.status_code, reply.json()["code"]) == (503, "files_unavailable")
        assert reply["Retry-After"]
    assert counts().total("file_store_failures_total") == 2
    assert "the store of files failed: " in caplog.text
    store.mode = "ok"
    assert not Document.objects.exists()
    assert not Attachment.objects.exists()
    history = server.get(f"/ai/client/chat/history/{chat}").json()["items"]
    assert "customer" not in {item["sender"]["type"] for item in history}
    assert send_file(server, chat).status_code in {200, 202}


def test_a_repeated_message_is_answered_though_its_file_cannot_be_removed(
    ann, bot, store, settings
):
    settings.MEDIA_TIMEOUT_SECONDS = 5  # a busy machine must not turn "full" into "slow"
    server = make_key(ann.client)
    chat = open_chat(server)
    assert send_file(server, chat, client_message_id="once").status_code in {200, 202}
    store.mode = "full"
    reply = send_file(server, chat, client_message_id="once")
    assert reply.status_code in {200, 202}
    store.mode = "ok"
    assert len(store.names()) == 2, "the clean-up removes the second one"
    assert Attachment.objects.count() == 1


@pytest.fixture
def site(settings):
    settings.CRAWL_DELAY_SECONDS = 0
    with serving() as started:
        settings.EGRESS_ALLOW = [started.host_port]
        started.pages = {"/": html("Our shop opens at nine on every day of the week.")}
        yield started


def try_again(times=1):
    """Let the waits of all jobs pass, and run them, so often."""
    for _ in range(times):
        Job.objects.filter(state=JobState.QUEUED).update(due_at=timezone.now())
        run_jobs()


def shown(person, path):
    (item,) = person.get(path).json()["items"]
    return item


def start_export(ann, bot, settings):
    settings.EXPORT_INLINE_LIMIT = 0
    make_chat(bot, created_at=datetime(2026, 10, 3, tzinfo=UTC))
    body = {"date_from": "2026-10-01", "date_to": "2026-10-31"}
    reply = ann.post("/report/adhoc/export", body)
    assert reply.status_code == 202
    return f"/report/adhoc/export/{reply.json()['id']}"


def test_training_waits_for_a_store_that_fails(ann, bot, store):
    documents = f"/ai/{bot.pk}/train/document"
    upload_document(ann, bot)
    store.mode = "error"
    try_again(times=5)
    waiting = shown(ann, documents)
    assert (waiting["status"], waiting["error"]) == ("training", None)
    store.mode = "ok"
    try_again()
    assert shown(ann, documents)["status"] == "trained"
    assert not Job.objects.filter(state=JobState.DEAD).exists()


def test_training_says_that_the_store_never_answered(ann, bot, store, monkeypatch):
    monkeypatch.setattr(leases, "MAX_FILE_STORE_WAITS", 1)
    documents = f"/ai/{bot.pk}/train/document"
    upload_document(ann, bot)
    store.mode = "error"
    try_again()
    assert shown(ann, documents)["status"] == "training"
    try_again()
    failed = shown(ann, documents)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "files_unavailable")
    assert failed["error"]["message"].startswith("File storage was unavailable")
    assert Event.objects.filter(type="document.failed").count() == 1


def test_a_crawl_waits_for_a_store_that_fails(ann, bot, store, site):
    addresses = f"/ai/{bot.pk}/train/web-url"
    ann.post(addresses, {"url": site.at("/"), "crawl_depth": 1})
    store.mode = "error"
    try_again(times=5)
    waiting = shown(ann, addresses)
    assert (waiting["status"], waiting["error"], site.requests) == ("training", None, [])
    store.mode = "ok"
    try_again(times=2)
    assert shown(ann, addresses)["status"] == "trained"


def test_a_crawl_says_that_the_store_never_answered(ann, bot, store, site, monkeypatch):
    monkeypatch.setattr(leases, "MAX_FILE_STORE_WAITS", 1)
    addresses = f"/ai/{bot.pk}/train/web-url"
    ann.post(addresses, {"url": site.at("/"), "crawl_depth": 1})
    store.mode = "error"
    try_again(times=2)
    failed = shown(ann, addresses)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "files_unavailable")
    assert failed["error"]["message"].startswith("File storage was unavailable")


@pytest.mark.django_db(transaction=True)  # the export sets its own transaction's isolation
def test_an_export_waits_for_a_store_that_fails(ann, bot, store, settings):
    path = start_export(ann, bot, settings)
    store.mode = "error"
    with mock.patch("reports.services.exports._write") as writing:
        try_again(times=5)
    assert not writing.called, "no report is made that could not be stored"
    waiting = ann.get(path)
    assert (waiting.status_code, waiting.json()["status"]) == (202, "queued")
    store.mode = "ok"
    try_again()
    written = ann.get(path)
    assert (written.status_code, len(store.names())) == (200, 1)
    assert len(b"".join(written.streaming_content).splitlines()) == 2


@pytest.mark.django_db(transaction=True)
def test_an_export_says_that_the_store_never_answered(ann, bot, store, settings, monkeypatch):
    monkeypatch.setattr(leases, "MAX_FILE_STORE_WAITS", 1)
    path = start_export(ann, bot, settings)
    store.mode = "error"
    try_again(times=2)
    failed = ann.get(path)
    assert (failed.status_code, failed.json()["code"]) == (409, "export_failed")
    assert failed.json()["detail"].startswith("File storage was unavailable")
    assert Export.objects.get().status == "failed"


def test_a_removal_waits_for_a_store_that_fails(ann, bot, store):
    upload_document(ann, bot)
    document = Document.objects.get()
    ann.delete(f"/ai/{bot.pk}/train/document/{document.pk}")
    store.mode = "gone"
    run_jobs()
    store.mode = "ok"
    assert len(store.names()) == 1
    Job.objects.filter(state=JobState.QUEUED).update(due_at=timezone.now())
    run_jobs()
    assert store.names() == set()
