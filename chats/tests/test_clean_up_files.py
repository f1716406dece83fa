"""The clean-up removes the files that no row refers to, and no other file."""

import io
import os
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery import current_app
from django.apps import apps
from django.conf import settings as configured
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, models
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from PIL import Image

from bots.models import Bot, Document
from bots.testing import make_bot
from chatplatform import media as media_store
from chatplatform.models import Job
from chatplatform.tasks import clean_up_files
from chatplatform.testing import run_before, run_jobs
from chats.models import Attachment
from identity.testing import make_key

FOLDERS = ["attachments", "banners", "documents", "reports"]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def two_days_later(monkeypatch):
    """Two days have passed: the time at which a file was stored cannot be set in a test."""
    later = timezone.now() + timedelta(days=2)
    monkeypatch.setattr(media_store, "timezone", SimpleNamespace(now=lambda: later))
    return later


later = pytest.mark.usefixtures("two_days_later")


def stored(media):
    return {str(path.relative_to(media)) for path in media.rglob("*") if not path.is_dir()}


def leave_behind(media, name, data=b"x"):
    """Store a file without a row, as a process does that dies before its commit."""
    path = media / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def upload_document(ann, bot):
    file = SimpleUploadedFile("hours.txt", b"We open at nine.")
    return ann.upload(f"/ai/{bot.pk}/train/document", files=file)


def upload_banner(ann, bot):
    image = io.BytesIO()
    Image.new("RGB", (30, 10), "red").save(image, format="PNG")
    file = SimpleUploadedFile("banner.png", image.getvalue())
    return ann.upload(f"/ai/{bot.pk}/upload-banner-image", file=file)


def send_file(server):
    chat = server.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()["id"]
    file = SimpleUploadedFile("broken.png", PNG)
    return server.upload(f"/ai/client/chat/files/{chat}/", reply="none", message="x", files=file)


# --- files that stay ----------------------------------------------------------------------------


@later
def test_files_with_a_row_stay(ann, cara, server, bot, media):
    theirs = make_bot(cara.client)
    for reply in (
        upload_document(ann, bot),
        upload_document(cara, theirs),
        upload_banner(ann, bot),
        upload_banner(cara, theirs),
        send_file(server),
        send_file(make_key(cara.client, "secret", theirs.pk)),
    ):
        assert reply.status_code in {200, 202}, reply.content
    before = stored(media)
    assert len(before) == 6
    leave_behind(media, "documents/left-behind")
    clean_up_files()
    assert stored(media) == before
    for name in before:
        assert (media / name).stat().st_size


@later
def test_a_file_with_a_row_in_another_table_stays(ann, bot, media):
    """Any column may refer to a file in any folder."""
    for folder in FOLDERS:
        leave_behind(media, f"{folder}/0")
        leave_behind(media, f"{folder}/1")
    assert upload_document(ann, bot).status_code == 202
    Bot.objects.filter(pk=bot.pk).update(banner="documents/0")
    Document.objects.update(file="attachments/1")
    clean_up_files()
    assert stored(media) == {"documents/0", "attachments/1"}


def test_new_files_stay(media):
    for folder in FOLDERS:
        leave_behind(media, f"{folder}/fresh")
    # Restored from a backup: modified long ago, but new in the store.
    restored = leave_behind(media, "documents/restored")
    os.utime(restored, (0, 0))
    clean_up_files()
    assert len(stored(media)) == len(FOLDERS) + 1


def test_files_stay_for_a_day(media, two_days_later):
    for name, age in (("young", timedelta(hours=23)), ("old", timedelta(hours=25))):
        at = (two_days_later - age).timestamp()
        os.utime(leave_behind(media, f"documents/{name}"), (at, at))
    clean_up_files()
    assert stored(media) == {"documents/young"}


@pytest.mark.parametrize(
    ("before", "upload"),
    [
        ("bots.services.bots.lock", upload_document),
        ("bots.services.bots.lock", upload_banner),
        (
            "chats.services.core.attachments.attach",
            lambda ann, bot: send_file(make_key(ann.client)),
        ),
    ],
)
def test_a_concurrent_upload_stays(ann, bot, media, before, upload):
    """The file is stored already, its row is not."""
    leave_behind(media, "documents/fresh")
    with run_before(before, clean_up_files):
        assert upload(ann, bot).status_code in {200, 202}
    assert len(stored(media)) == 2


@later
def test_foreign_files_stay(media, tmp_path):
    others = {"readme.txt", "elsewhere/file", "documents/folder/file"}
    for name in others:
        leave_behind(media, name)
    outside = leave_behind(tmp_path, "outside.txt")
    (media / "documents" / "link").symlink_to(outside)
    clean_up_files()
    assert stored(media) == others | {"documents/link"}
    assert outside.exists()


# --- what goes ----------------------------------------------------------------------------------


@later
def test_files_without_a_row_are_removed(media):
    for folder in FOLDERS:
        leave_behind(media, f"{folder}/left-behind")
    clean_up_files()
    assert stored(media) == set()
    clean_up_files()


@later
def test_a_file_with_a_queued_removal_is_removed_once(ann, bot, media):
    upload_banner(ann, bot)
    upload_banner(ann, bot)
    assert len(stored(media)) == 2
    clean_up_files()
    (name,) = stored(media)
    assert name == Bot.objects.get(pk=bot.pk).banner.name
    (job,) = Job.objects.filter(name="chatplatform.remove_files").values_list("args", flat=True)
    media_store.remove(job["names"])
    assert stored(media) == {name}


def test_a_missing_media_folder_is_not_created(media):
    clean_up_files()
    assert not media.exists()


@later
def test_an_error_at_one_file_does_not_stop_the_others(media, monkeypatch, caplog):
    for name in "abc":
        leave_behind(media, f"documents/{name}")
    real = default_storage.delete

    def delete(name):
        if name == "documents/a":
            raise PermissionError(name)
        real(name)

    monkeypatch.setattr(default_storage, "delete", delete)
    clean_up_files()
    assert stored(media) == {"documents/a"}
    assert "documents/a" in caplog.text


# --- bounds -------------------------------------------------------------------------------------


@later
def test_a_run_is_bounded_and_the_next_runs_do_the_rest(media, monkeypatch):
    monkeypatch.setattr(media_store, "FILES_PER_FOLDER", 4)
    monkeypatch.setattr(media_store, "FILES_PER_QUERY", 3)
    for number in range(10):
        leave_behind(media, f"documents/{number:x}0")
    seen = []
    for start in ("80", "00", "00"):
        chosen = SimpleNamespace(token_hex=lambda size, start=start: start)
        monkeypatch.setattr(media_store, "secrets", chosen)
        before = stored(media)
        clean_up_files()
        seen.append(sorted(name[-2] for name in before - stored(media)))
    # The second run starts after the last name and continues with the first.
    assert seen == [["0", "1", "8", "9"], ["2", "3", "4", "5"], ["6", "7"]]


@later
def test_statements_do_not_grow_with_the_files(media):
    def statements(count):
        for number in range(count):
            leave_behind(media, f"documents/{number}")
        with CaptureQueriesContext(connection) as queries:
            clean_up_files()
        assert stored(media) == set()
        return len(queries)

    assert statements(1) == statements(300) == len(named_columns())


# --- columns and schedule -----------------------------------------------------------------------


def named_columns():
    return [
        (model, field)
        for model in apps.get_models()
        for field in model._meta.local_fields
        if isinstance(field, models.FileField)
    ]


def test_each_column_stores_its_files_in_a_known_folder():
    """The clean-up would miss a column with another kind of path."""
    folders = {field.upload_to for _, field in named_columns()}
    assert folders == {f"{name}/" for name in FOLDERS}


def test_the_clean_up_runs_every_hour():
    (entry,) = (
        entry
        for entry in configured.CELERY_BEAT_SCHEDULE.values()
        if entry["task"] == "chatplatform.clean_up_files"
    )
    current_app.loader.import_default_modules()
    assert entry["task"] in current_app.tasks
    assert entry["schedule"] == 3600


@pytest.mark.django_db(transaction=True)
def test_a_removal_job_keeps_files_with_an_attachment(server, media):
    assert send_file(server).status_code == 200
    (name,) = stored(media)
    media_store.remove_later(server.client.pk, [name])
    run_jobs()
    assert stored(media) == {name}
    assert Path(Attachment.objects.get().file.path).read_bytes() == PNG


def test_no_other_account_of_the_machine_reads_a_file(media):
    name = default_storage.save("attachments/a", io.BytesIO(PNG))
    assert (media / name).stat().st_mode & 0o777 == 0o600
    assert (media / "attachments").stat().st_mode & 0o777 == 0o700
