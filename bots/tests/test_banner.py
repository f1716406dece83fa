"""Upload Banner Image Route, Get Bot Banner Route (twice), Update Bot Banner, Delete Bot Banner,
and the picture itself.
"""

import io
import struct
import zlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image

from bots.models import Bot
from bots.testing import make_bot
from chatplatform.testing import run_before, run_jobs
from identity.models import AuditEvent, Role
from identity.testing import make_key, make_person

pytestmark = pytest.mark.usefixtures("own_media")

OPTIONS = {"link": "https://shop.example/sale", "alt": "Sale"}
ALWAYS = {"valid_from": None, "valid_to": None}


def drawn(kind="PNG", size=(30, 10), mode="RGB", **saved):
    stored = io.BytesIO()
    Image.new(mode, size, "red").save(stored, format=kind, **saved)
    return stored.getvalue()


def claiming(width, height):
    """A small PNG whose header claims a size that would fill gigabytes."""
    picture = drawn()
    header = b"IHDR" + struct.pack(">II", width, height) + picture[24:29]
    return picture[:12] + header + struct.pack(">I", zlib.crc32(header)) + picture[33:]


def path(bot):
    return f"/ai/{bot.pk}/upload-banner-image"


def send(person, bot, data=None, name="banner.png", **more):
    file = SimpleUploadedFile(name, drawn() if data is None else data)
    return person.upload(path(bot), file=file, **more)


def stored_files():
    folder = Path(settings.MEDIA_ROOT) / "banners"
    return {file.name for file in folder.iterdir()} if folder.exists() else set()


def local(url):
    assert url.startswith(settings.PUBLIC_URL)
    return url.removeprefix(settings.PUBLIC_URL)


@pytest.mark.parametrize(
    ("kind", "mime_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")],
)
def test_upload_and_show(ann, page, nobody, bot, kind, mime_type):
    reply = send(ann, bot, drawn(kind), "../../evil name.svg", **OPTIONS)
    assert reply.status_code == 200
    banner = reply.json()
    assert (banner["mime_type"], banner["width"], banner["height"]) == (mime_type, 30, 10)
    shown = ann.get(f"/ai/{bot.pk}/banner").json()
    assert shown == {"bot_id": bot.pk, "url": banner["url"], **OPTIONS, **ALWAYS}
    assert page.get("/ai/banner").json() == shown
    assert page.get("/ai/bot/config").json()["banner"] == shown
    picture = nobody.get(local(banner["url"]))
    assert (picture.status_code, picture["Content-Type"]) == (200, mime_type)
    data = b"".join(picture.streaming_content)
    assert len(data) == banner["size_bytes"]
    assert Image.open(io.BytesIO(data)).size == (30, 10)
    assert picture["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in picture["Content-Security-Policy"]
    assert "immutable" in picture["Cache-Control"]
    assert "evil" not in banner["url"]


def test_metadata_is_removed(ann, nobody, bot):
    secret = b"GPS 21.0285 105.8542"
    exif = Image.Exif()
    exif[0x010E] = secret.decode()
    exif[0x0112] = 6  # rotated by 90 degrees
    for kind, more in (
        ("JPEG", {"exif": exif, "comment": secret, "icc_profile": secret}),
        ("PNG", {"exif": exif, "icc_profile": secret}),
        ("WEBP", {"exif": exif, "icc_profile": secret}),
    ):
        image = drawn(kind, **more)
        assert secret in image or kind == "PNG"
        banner = send(ann, bot, image + b"<script>alert(1)</script>").json()
        assert (banner["width"], banner["height"]) == (10, 30), "shown upright"
        data = b"".join(nobody.get(local(banner["url"])).streaming_content)
        assert secret not in data
        assert b"<script>" not in data
        assert not Image.open(io.BytesIO(data)).info.get("icc_profile")


@pytest.mark.django_db(transaction=True)
def test_a_new_one_replaces_the_old(ann, nobody, bot):
    first = send(ann, bot, **OPTIONS).json()["url"]
    second = send(ann, bot).json()["url"]
    assert second != first
    assert ann.get(f"/ai/{bot.pk}/banner").json() == {
        "bot_id": bot.pk, "url": second, "link": None, "alt": None, **ALWAYS,
    }  # fmt: skip
    run_jobs()
    assert stored_files() == {second.rpartition("/")[2]}
    assert nobody.get(local(first)).status_code == 404


def test_a_bot_without_a_banner(ann, page, bot):
    none = {"bot_id": bot.pk, "url": None, "link": None, "alt": None, **ALWAYS}
    assert ann.get(f"/ai/{bot.pk}/banner").json() == page.get("/ai/banner").json() == none


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "unsupported_type"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "unsupported_type"),
        (b"GIF89a" + b"\x00" * 40, "unsupported_type"),
        (b"MZ" + drawn(), "unsupported_type"),
        (b"RIFF\x00\x00\x00\x00AVI LIST", "unsupported_type"),
        (drawn(size=(300, 300))[:-60], "malformed"),
        (drawn("JPEG")[:300], "malformed"),
        (drawn(size=(4_001, 4_000)), "too_large"),
        (claiming(60_000, 60_000), "too_large"),
    ],
    ids=["empty", "svg", "gif", "exe", "avi", "cut", "cut jpeg", "pixels", "bomb"],
)
def test_bad_pictures_are_refused(ann, bot, data, code):
    reply = send(ann, bot, data)
    assert reply.status_code == 422
    (error,) = reply.json()["detail"]
    assert (error["loc"], error["type"]) == (["body", "file"], code)
    assert stored_files() == set()
    assert not Bot.objects.get().banner


def test_too_many_bytes(ann, bot):
    assert send(ann, bot, drawn() + b"\x00" * 5_000_000).status_code == 413
    assert stored_files() == set()


@pytest.mark.parametrize(
    "wrong",
    [
        {"link": "javascript:alert(1)"},
        {"link": "data:text/html,x"},
        {"link": "//evil.example"},
        {"link": "https://a b"},
        {"alt": "x" * 201},
        {"more": "1"},
        {"valid_from": "yesterday"},
        {"valid_from": "2026-12-24T00:00:00Z", "valid_to": "2026-12-24T00:00:00Z"},
    ],
)
def test_a_wrong_field(ann, bot, wrong):
    assert send(ann, bot, **wrong).status_code == 422
    assert stored_files() == set()


def test_text_in_place_of_the_file(ann, bot):
    assert ann.upload(path(bot), file="x").status_code == 422
    assert ann.upload(path(bot), alt="x").status_code == 422


def test_a_bot_deleted_meanwhile_leaves_no_file(ann, bot):
    with run_before("chatplatform.media.store", lambda: Bot.objects.all().delete()):
        assert send(ann, bot).status_code == 404
    assert stored_files() == set()


def day(number):
    return (timezone.now() + timedelta(days=number)).isoformat()


@pytest.mark.parametrize(
    ("dates", "is_shown"),
    [
        ({"valid_from": day(-1)}, True),
        ({"valid_from": day(-1), "valid_to": day(1)}, True),
        ({"valid_from": day(1)}, False),
        ({"valid_to": day(-1)}, False),
    ],
)
def test_widgets_show_it_between_its_dates(ann, page, bot, dates, is_shown):
    url = send(ann, bot, **dates).json()["url"]
    assert page.get("/ai/banner").json()["url"] == (url if is_shown else None)
    assert bool(page.get("/ai/bot/config").json()["banner"]) is is_shown
    shown = ann.get(f"/ai/{bot.pk}/banner").json()
    assert shown["url"] == url, "staff see it with its dates"
    assert {name for name in ALWAYS if shown[name]} == set(dates)


def test_its_dates_and_link_change_without_another_upload(ann, page, bot):
    banner = f"/ai/{bot.pk}/banner"
    url = send(ann, bot, **OPTIONS).json()["url"]
    assert ann.put(banner, {"valid_from": day(1), "alt": " New \n words "}).status_code == 200
    assert ann.get(banner).json()["link"] == OPTIONS["link"], "what is left out stays"
    assert ann.get(banner).json()["alt"] == "New words"
    assert page.get("/ai/banner").json()["url"] is None
    assert ann.put(banner, {"valid_to": day(0)}).status_code == 422
    changed = ann.put(banner, {"valid_from": None, "link": None}).json()
    assert (changed["url"], changed["link"], changed["valid_to"]) == (url, None, None)
    assert page.get("/ai/banner").json() == changed


@pytest.mark.django_db(transaction=True)
def test_a_removed_banner_is_gone_with_its_file(ann, page, bot):
    send(ann, bot, **OPTIONS, valid_to=day(1))
    for _ in range(2):
        assert ann.delete(f"/ai/{bot.pk}/banner").status_code == 204
    run_jobs()
    assert stored_files() == set()
    shown = ann.get(f"/ai/{bot.pk}/banner").json()
    assert shown == page.get("/ai/banner").json()
    assert shown == {"bot_id": bot.pk, "url": None, "link": None, "alt": None, **ALWAYS}
    assert AuditEvent.objects.filter(action="banner.removed").count() == 1


def test_without_a_picture_there_is_nothing_to_change(ann, bot):
    reply = ann.put(f"/ai/{bot.pk}/banner", OPTIONS)
    assert (reply.status_code, reply.json()["code"]) == (409, "no_banner")
    assert Bot.objects.get().banner_link == ""


def test_who_may(ann, cara, page, bot):
    viewer = make_person(ann.client, Role.VIEWER)
    assert send(viewer, bot).status_code == 403
    assert viewer.get(f"/ai/{bot.pk}/banner").status_code == 200
    assert send(cara, bot).status_code == 404
    assert cara.get(f"/ai/{bot.pk}/banner").status_code == 404
    assert send(page, bot).status_code == 401
    make_bot(ann.client)
    assert make_key(ann.client).get("/ai/banner").status_code == 422
    assert make_key(cara.client).get("/ai/banner", {"bot_id": bot.pk}).status_code == 404
    assert stored_files() == set()


@pytest.mark.parametrize(
    "name", ["x", "..", "%2e%2e%2fx", "0" * 32 + ".svg", "0" * 32 + ".png", "0" * 32 + ".png%00"]
)
def test_only_banners_are_served(nobody, db, name):
    reply = nobody.get(f"/media/banners/{name}")
    assert reply.status_code == 404
    assert reply["Content-Type"] == "application/json"
    assert nobody.get("/media/documents/x").status_code == 404
    assert nobody.post(f"/media/banners/{'0' * 32}.png").status_code == 405
