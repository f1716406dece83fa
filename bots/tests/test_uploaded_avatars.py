"""People upload their own picture and a bot's, instead of naming an address."""

import io
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import reverse
from PIL import Image

from bots.models import Bot
from bots.tests.test_banner import claiming, drawn, local, stored_files
from chatplatform.testing import run_jobs
from identity.models import AuditEvent, User

PROFILE = reverse("admin:profile")
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.fixture(autouse=True)
def _own_media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def site(ann):
    browser = Browser()
    browser.force_login(ann.user)
    return browser


def look(bot):
    return reverse("admin:bots_bot_look", args=[bot.pk])


def branding(bot, data=None, **more):
    values = {
        "form": "appearance",
        "bot_name": "Hoa Sen",
        "bot_icon": bot.bot_icon,
        "primary_color": "#c2410c",
        "secondary_color": "#ffffff",
        "position": "top-left",
        "dark_mode": "False",
    }
    return values | ({"file": SimpleUploadedFile("logo.png", data)} if data else {}) | more


def profile(person, data=None, **more):
    values = {
        "form": "profile",
        "full_name": "Ann",
        "language": "en",
        "avatar_url": person.avatar_url,
    }
    return values | ({"file": SimpleUploadedFile("me.jpg", data)} if data else {}) | more


def test_a_logo_is_uploaded_made_small_and_shown_to_customers(site, ann, page, nobody, bot):
    assert site.post(look(bot), branding(bot, drawn(size=(2000, 1000)))).status_code == 302
    shown = page.get("/ai/bot/config").json()
    assert (shown["bot_name"], shown["primary_color"]) == ("Hoa Sen", "#c2410c")
    picture = nobody.get(local(shown["bot_icon"]))
    assert (picture.status_code, picture["Content-Type"]) == (200, "image/png")
    assert Image.open(io.BytesIO(b"".join(picture.streaming_content))).size == (512, 256)
    assert shown["bot_icon"] in site.get(look(bot)).content.decode()
    changed = AuditEvent.objects.filter(action="bot.updated", changes__has_key="bot_icon")
    assert changed.count() == 1
    # What is sent back unchanged, by the page or the API, keeps the picture.
    bot.refresh_from_db()
    assert site.post(look(bot), branding(bot, bot_name="Sen")).status_code == 302
    whole = ann.get(f"/ai/bot/{bot.pk}").json()
    assert (
        ann.put(f"/ai/bot/{bot.pk}/update-bot", {"bot_icon": whole["bot_icon"]}).status_code < 300
    )
    run_jobs()
    assert len(stored_files()) == 1


@pytest.mark.full
def test_a_logo_that_is_replaced_or_removed_goes_from_the_store(site, ann, bot):
    for _ in range(2):
        bot.refresh_from_db()
        site.post(look(bot), branding(bot, drawn()))
        run_jobs()
        assert stored_files() == {Path(str(Bot.objects.get().icon_file)).name}
    site.post(look(bot), branding(bot, bot_icon=""))
    run_jobs()
    assert (stored_files(), ann.get(f"/ai/bot/{bot.pk}").json()["bot_icon"]) == (set(), None)
    bot.refresh_from_db()
    site.post(look(bot), branding(bot, drawn()))
    assert ann.delete(f"/ai/bot/{bot.pk}").status_code < 300
    run_jobs()
    assert stored_files() == set()


@pytest.mark.parametrize(
    "data", [SVG, b"MZ no picture", claiming(60_000, 60_000), bytes(5_000_001)],
    ids=["svg", "program", "bomb", "large"],
)  # fmt: skip
def test_what_is_no_fitting_picture_is_refused_beside_its_field(site, ann, bot, data):
    for path, values, part in (
        (look(bot), branding(bot, data), "appearance"),
        (PROFILE, profile(ann.user, data), "profile"),
    ):
        reply = site.post(path, values)
        assert reply.status_code == 200
        assert reply.context["parts"][part].form.errors.keys() == {"file"}
    bot.refresh_from_db()
    assert bot.bot_name != "Hoa Sen"
    assert (bot.bot_icon, stored_files(), User.objects.get(pk=ann.user.pk).avatar_url) == (
        "", set(), "",
    )  # fmt: skip


def test_people_upload_their_own_photo(site, ann, nobody):
    assert site.post(PROFILE, profile(ann.user, drawn("JPEG"))).status_code == 302
    mine = ann.get("/identity/users/me").json()
    picture = nobody.get(local(mine["avatar_url"]))
    assert (picture.status_code, picture["Content-Type"]) == (200, "image/jpeg")
    assert Image.open(io.BytesIO(b"".join(picture.streaming_content))).size == (30, 10)
    ann.user.refresh_from_db()
    assert site.post(PROFILE, profile(ann.user, full_name="Ann B.")).status_code == 302
    run_jobs()
    assert len(stored_files()) == 1
    assert site.post(PROFILE, profile(ann.user, avatar_url="")).status_code == 302
    run_jobs()
    assert (stored_files(), ann.get("/identity/users/me").json()["avatar_url"]) == (set(), None)


def test_pictures_are_found_after_the_platforms_address_has_changed(site, ann, page, bot, settings):
    site.post(look(bot), branding(bot, drawn()))
    site.post(PROFILE, profile(ann.user, drawn("JPEG")))
    stored = Bot.objects.get().bot_icon
    settings.PUBLIC_URL = "https://new.example"
    icon = page.get("/ai/bot/config").json()["bot_icon"]
    photo = ann.get("/identity/users/me").json()["avatar_url"]
    assert {url.rpartition("/")[0] for url in (icon, photo)} == {
        "https://new.example/media/banners"
    }
    assert icon in site.get(look(bot)).content.decode()
    row = site.get(reverse("admin:bots_bot_change", args=[bot.pk])).content.decode()
    assert f'href="{icon}"' in row
    assert photo in site.get(PROFILE).content.decode()
    # What is sent back unchanged keeps the picture.
    assert site.post(look(bot), branding(bot, bot_icon=icon)).status_code == 302
    assert site.post(PROFILE, profile(ann.user, avatar_url=photo)).status_code == 302
    assert ann.put(f"/ai/bot/{bot.pk}/update-bot", {"bot_icon": icon}).status_code < 300
    assert ann.put("/identity/users/me", {"avatar_url": photo}).status_code < 300
    run_jobs()
    assert (len(stored_files()), Bot.objects.get().bot_icon) == (2, stored)


def test_why_a_picture_is_refused_is_said_in_the_readers_language(site, ann, bot):
    said = set()
    for language in ("en", "vi", "de"):
        User.objects.filter(pk=ann.user.pk).update(language=language)
        reply = site.post(look(bot), branding(bot, SVG))
        said.add(reply.context["parts"]["appearance"].form.errors["file"][0])
    assert len(said) == 3
