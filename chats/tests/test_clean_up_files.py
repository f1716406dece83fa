"""Files that no row names are taken out of the media store; no other file ever is."""

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

FOLDERS = ["attachments", "banners", "documents"]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def two_days_later(monkeypatch):
    """All that lies in the store is old: when a file came there cannot be changed afterwards."""
    later = timezone.now() + timedelta(days=2)
    monkeypatch.setattr(media_store, "timezone", SimpleNamespace(now=lambda: later))
    return later


later = pytest.mark.usefixtures("two_days_later")


def stored(media):
    return {str(one.relative_to(media)) for one in media.rglob("*") if not one.is_dir()}


def leave(media, name, data=b"x"):
    """A file as a process leaves it that dies before the commit."""
    path = media / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def upload_document(ann, bot):
    file = SimpleUploadedFile("hours.txt", b"We open at nine.")
    return ann.upload(f"/ai/{bot.pk}/train/document", files=file)


def upload_banner(ann, bot):
    drawn = io.BytesIO()
    Image.new("RGB", (30, 10), "red").save(drawn, format="PNG")
    file = SimpleUploadedFile("banner.png", drawn.getvalue())
    return ann.upload(f"/ai/{bot.pk}/upload-banner-image", file=file)


def send_file(server):
    chat = server.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()["id"]
    file = SimpleUploadedFile("broken.png", PNG)
    return server.upload(f"/ai/client/chat/files/{chat}/", reply="none", message="x", files=file)


# --- what stays ---------------------------------------------------------------------------------


@later
def test_what_any_clients_row_names_stays(ann, cara, server, bot, media):
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
    leave(media, "documents/left-behind")
    clean_up_files()
    assert stored(media) == before
    for name in before:
        assert (media / name).stat().st_size


@later
def test_a_row_of_another_table_counts_as_well(ann, bot, media):
    """Whichever column names a file, whatever folder it lies in."""
    for folder in FOLDERS:
        leave(media, f"{folder}/0")
        leave(media, f"{folder}/1")
    assert upload_document(ann, bot).status_code == 202
    Bot.objects.filter(pk=bot.pk).update(banner="documents/0")
    Document.objects.update(file="attachments/1")
    clean_up_files()
    assert stored(media) == {"documents/0", "attachments/1"}


def test_what_is_young_stays(media):
    for folder in FOLDERS:
        leave(media, f"{folder}/fresh")
    # Restored from a backup: changed long ago, and here since just now.
    restored = leave(media, "documents/restored")
    os.utime(restored, (0, 0))
    clean_up_files()
    assert len(stored(media)) == 4


def test_a_day_is_the_limit(media, two_days_later):
    for name, age in (("young", timedelta(hours=23)), ("old", timedelta(hours=25))):
        at = (two_days_later - age).timestamp()
        os.utime(leave(media, f"documents/{name}"), (at, at))
    clean_up_files()
    assert stored(media) == {"documents/young"}


@pytest.mark.parametrize(
    ("before", "upload"),
    [
        ("bots.services.documents._create_documents", upload_document),
        ("bots.services.banners._set", upload_banner),
        (
            "chats.services.core.attachments.attach",
            lambda ann, bot: send_file(make_key(ann.client)),
        ),
    ],
)
def test_an_upload_of_this_moment_is_left_alone(ann, bot, media, before, upload):
    """The file lies there already, its row does not."""
    leave(media, "documents/fresh")
    with run_before(before, clean_up_files):
        assert upload(ann, bot).status_code in {200, 202}
    assert len(stored(media)) == 2


@later
def test_what_is_not_ours_stays(media, tmp_path):
    others = {"readme.txt", "elsewhere/file", "documents/folder/file"}
    for name in others:
        leave(media, name)
    outside = leave(tmp_path, "outside.txt")
    (media / "documents" / "link").symlink_to(outside)
    clean_up_files()
    assert stored(media) == others | {"documents/link"}
    assert outside.exists()


# --- what goes ----------------------------------------------------------------------------------


@later
def test_what_no_row_names_goes(media):
    for folder in FOLDERS:
        leave(media, f"{folder}/left-behind")
    clean_up_files()
    assert stored(media) == set()
    clean_up_files()


@later
def test_a_file_whose_removal_waits_goes_once(ann, bot, media):
    upload_banner(ann, bot)
    upload_banner(ann, bot)
    assert len(stored(media)) == 2
    clean_up_files()
    (left,) = stored(media)
    assert left == Bot.objects.get(pk=bot.pk).banner.name
    (job,) = Job.objects.filter(name="chatplatform.remove_files").values_list("args", flat=True)
    media_store.remove(job["names"])
    assert stored(media) == {left}


def test_nothing_is_there_yet(media):
    clean_up_files()
    assert not media.exists()


@later
def test_one_that_cannot_be_removed_does_not_keep_the_others(media, monkeypatch, caplog):
    for name in "abc":
        leave(media, f"documents/{name}")
    real = default_storage.delete

    def refused(name):
        if name == "documents/a":
            raise PermissionError(name)
        real(name)

    monkeypatch.setattr(default_storage, "delete", refused)
    clean_up_files()
    assert stored(media) == {"documents/a"}
    assert "documents/a" in caplog.text


# --- how much of it -----------------------------------------------------------------------------


@later
def test_a_run_is_bounded_and_the_next_ones_see_the_rest(media, monkeypatch):
    monkeypatch.setattr(media_store, "LOOKED_AT", 4)
    monkeypatch.setattr(media_store, "LOOKED_UP", 3)
    for number in range(10):
        leave(media, f"documents/{number:x}0")
    seen = []
    for start in ("80", "00", "00"):
        chosen = SimpleNamespace(token_hex=lambda size, start=start: start)
        monkeypatch.setattr(media_store, "secrets", chosen)
        before = stored(media)
        clean_up_files()
        seen.append(sorted(name[-2] for name in before - stored(media)))
    # The second begins behind the last name: it goes round.
    assert seen == [["0", "1", "8", "9"], ["2", "3", "4", "5"], ["6", "7"]]


@later
def test_statements_do_not_grow_with_the_files(media):
    def statements(count):
        for number in range(count):
            leave(media, f"documents/{number}")
        with CaptureQueriesContext(connection) as queries:
            clean_up_files()
        assert stored(media) == set()
        return len(queries)

    assert statements(1) == statements(300) == len(named_columns())


# --- that it is done ----------------------------------------------------------------------------


def named_columns():
    return [
        (model, field)
        for model in apps.get_models()
        for field in model._meta.local_fields
        if isinstance(field, models.FileField)
    ]


def test_each_column_keeps_its_files_in_a_folder_of_the_store():
    """A new column with another kind of place would be left out of the tidying."""
    folders = {field.upload_to for _, field in named_columns()}
    assert folders == {f"{name}/" for name in FOLDERS}


def test_it_is_due_every_hour():
    (entry,) = (
        one
        for one in configured.CELERY_BEAT_SCHEDULE.values()
        if one["task"] == "chatplatform.clean_up_files"
    )
    current_app.loader.import_default_modules()
    assert entry["task"] in current_app.tasks
    assert entry["schedule"] == 3600


@pytest.mark.django_db(transaction=True)
def test_the_removal_by_job_keeps_what_an_attachment_names(server, media):
    assert send_file(server).status_code == 200
    (name,) = stored(media)
    media_store.remove_later(server.client.pk, [name])
    run_jobs()
    assert stored(media) == {name}
    assert Path(Attachment.objects.get().file.path).read_bytes() == PNG
