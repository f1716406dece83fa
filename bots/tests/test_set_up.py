"""A bot is set up in the site: created, taught, given a look, and put on a page."""

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from bots.models import Bot, Document, Prompt, WebUrl
from chatplatform.models import Job
from identity.models import ApiKey
from identity.services import api_keys
from identity.testing import make_person

NEW = reverse("admin:bots_bot_new_bot")
# What the page shows of what was given, by form.
SHOWN = {"web": "url", "text": "title", "question": "question", "prompt": "content"}


@pytest.fixture
def site(ann):
    browser = Browser()
    browser.force_login(ann.user)
    return browser


@pytest.fixture
def path(bot):
    return reverse("admin:bots_bot_set_up", args=[bot.pk])


def as_role(client, role, **rights):
    person: Any = make_person(client, role, "Tim").user
    for name, value in rights.items():
        setattr(person, name, value)
    person.save()
    browser = Browser()
    browser.force_login(person)
    return browser


def test_a_bot_is_created_and_leads_to_its_set_up(site, ann):
    assert NEW in site.get(reverse("admin:bots_bot_changelist")).content.decode()
    reply = site.post(NEW, {"bot_name": "Tess"})
    bot = Bot.objects.get()
    assert (bot.bot_name, bot.client) == ("Tess", ann.client)
    assert reply.url == reverse("admin:bots_bot_set_up", args=[bot.pk])
    assert b"It knows nothing yet" in site.get(reply.url).content


def test_files_are_uploaded_and_their_progress_is_shown(site, path, bot):
    files = [SimpleUploadedFile("a.txt", b"Open at nine."), SimpleUploadedFile("b.txt", b"Parking")]
    reply = site.post(path, {"form": "files", "files": files})
    assert reply.url == f"{path}#files"
    assert Document.objects.filter(bot=bot, status="queued").count() == 2
    assert Job.objects.filter(name="bots.train_document").count() == 2
    page = site.get(path).content.decode()
    assert "a.txt" in page
    assert 'hx-trigger="every 2s"' in page
    Document.objects.update(status="failed", error_message="The file is empty.")
    page = site.get(path).content.decode()
    assert "The file is empty." in page
    assert "every 2s" not in page


def test_of_an_upload_the_good_files_are_taken_and_the_others_named(site, path, bot):
    def files(*more):
        return [SimpleUploadedFile("a.exe", b"MZ\x00\x01"), SimpleUploadedFile("b.txt", b""), *more]

    good = SimpleUploadedFile("good.txt", b"Open at nine.")
    page = site.post(path, {"form": "files", "files": files(good)}, follow=True).content.decode()
    assert Document.objects.get().file_name == "good.txt"
    assert "Uploaded: the bot reads them now." in page
    page_of_none = site.post(path, {"form": "files", "files": files()}).content.decode()
    for shown in (page, page_of_none):
        for name in ("a.exe: ", "b.txt: "):
            assert name in shown
    assert Document.objects.count() == 1


@pytest.mark.parametrize(
    ("form", "model"),
    [
        ({"form": "web", "url": "http://8.8.8.8/help", "crawl_depth": "1"}, WebUrl),
        ({"form": "text", "title": "Parking", "text": "Behind the house."}, Document),
        ({"form": "question", "question": "May I park?", "answer": "Yes."}, Document),
        ({"form": "prompt", "content": "Be brief."}, Prompt),
    ],
)
def test_it_is_taught_in_other_ways_too(site, path, bot, form, model):
    assert site.post(path, form).status_code == 302
    assert model.objects.get().bot == bot
    assert form[SHOWN[form["form"]]] in site.get(path).content.decode()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"form": "web", "url": "http://10.0.0.1/", "crawl_depth": "0"}, "The destination"),
        ({"form": "web", "url": "notaurl", "crawl_depth": "0"}, "This is no web address"),
        ({"form": "text", "title": "Parking", "text": "!!!"}, "This is empty, or not in the form"),
        ({"form": "files", "files": SimpleUploadedFile("a.exe", b"MZ\x00\x01")}, "not"),
        ({"form": "hosts", "allowed_domain": "http://shop.example/x"}, "is not a host name"),
        ({"form": "look", "bot_name": "T", "primary_color": "red", "secondary_color": "#000000",
          "position": "top-left"}, "not in the form that is asked for"),
    ],
)  # fmt: skip
def test_what_is_refused_is_said_beside_the_field_and_changes_nothing(site, path, bot, form, words):
    before = Bot.objects.values().get()
    page = site.post(path, form)
    assert page.status_code == 200
    shown = page.content.decode()
    at = shown.index(f'id="{form["form"]}-form"')
    assert words in shown[at : shown.index("</form>", at)]
    assert not Document.objects.exists()
    assert not WebUrl.objects.exists()
    assert Bot.objects.values().get() == before


def test_a_double_is_refused(site, path, bot):
    form = {"form": "question", "question": "May I park?", "answer": "Yes."}
    site.post(path, form)
    assert b"has this text or question already" in site.post(path, form).content
    assert Document.objects.count() == 1


def test_the_page_says_what_the_api_sets_and_where_it_is_told(site, path, settings):
    shown = site.get(path).content.decode()
    assert "languages, business hours and holidays" in shown
    assert 'href="/docs"' in shown
    settings.API_DOCS = False
    assert 'href="/docs"' not in site.get(path).content.decode()


def test_the_look_is_saved_and_what_it_does_not_name_stays(site, path, bot):
    Bot.objects.update(style={"width": 500}, welcome_message={"en": "Hi", "vi": "Chào"})
    form = {
        "form": "look", "bot_name": "Tess", "welcome_message": "Hello", "primary_color": "#c2410c",
        "secondary_color": "#ffffff", "position": "top-left", "dark_mode": "on",
    }  # fmt: skip
    assert site.post(path, form).status_code == 302
    bot.refresh_from_db()
    assert (bot.bot_name, bot.primary_color) == ("Tess", "#c2410c")
    assert bot.welcome_message == {"en": "Hello", "vi": "Chào"}
    assert (bot.style["width"], bot.style["position"], bot.style["dark_mode"]) == (
        500, "top-left", True,
    )  # fmt: skip
    frame = site.get(reverse("admin:bots_bot_look", args=[bot.pk]))
    assert frame["X-Frame-Options"] == "SAMEORIGIN"


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"form": "text", "title": "Parking", "text": "Behind the house."}, "the bot reads it now"),
        ({"form": "look", "bot_name": "Tess", "primary_color": "#c2410c",
          "secondary_color": "#ffffff", "position": "top-left"}, "Saved."),
        ({"form": "hosts", "allowed_domain": "shop.example"}, "Saved."),
    ],
)  # fmt: skip
def test_what_was_done_is_said_once_where_the_page_jumps_to(site, path, form, words):
    page = site.post(path, form, follow=True).content.decode()
    assert page.count(words) == 1
    name = form["form"]
    assert page.index(f'id="{name}"') < page.index(words) < page.index(f'id="{name}-form"')
    if name == "text":
        assert 'id="text" data-part open' in page
    assert words not in site.get(path).content.decode()


def test_whether_it_holds_back_what_makes_it_worse_is_set_there(ann, site, path, bot):
    assert "If one fails that passed before, you decide." in site.get(path).content.decode()
    for given, is_held in (({"hold_back_worse": "on"}, True), ({}, False)):
        reply = site.post(path, {"form": "hold", **given})
        assert reply.url == f"{path}#hold"
        bot.refresh_from_db()
        assert bot.hold_back_worse is is_held
        (box,) = re.findall(
            '<input[^>]+name="hold_back_worse"[^>]*>', site.get(path).content.decode()
        )
        assert bool(re.search(r"\schecked[\s>]", box)) is is_held
        assert ann.get(f"/ai/bot/{bot.pk}").json()["hold_back_worse"] is is_held
    trainer = as_role(ann.client, "agent", can_train=True)
    assert "hold_back_worse" not in trainer.get(path).content.decode()
    trainer.post(path, {"form": "hold", "hold_back_worse": "on"})
    bot.refresh_from_db()
    assert bot.hold_back_worse is False


def test_the_script_tag_stays_and_works_as_soon_as_there_are_hosts(site, path, bot, nobody):
    page = site.post(path, {"form": "key"}, follow=True).content.decode()
    public_key = re.findall(r'data-key=(?:&quot;|")([^"&]+)', page)[0]
    shop = {"API-KEY": public_key, "Origin": "https://shop.example"}
    assert "It works nowhere yet" in page
    assert nobody.get("/ai/bot/config", **shop).status_code == 403
    form = {"form": "hosts", "allowed_domain": "shop.example"}
    page = site.post(path, form, follow=True).content.decode()
    assert public_key in page
    assert "It works nowhere yet" not in page
    key = ApiKey.objects.get()
    assert (key.scope, key.bot_id) == ("public", bot.pk)
    assert public_key.startswith(key.prefix)
    assert page.index('id="tag"') < page.index(public_key)
    assert nobody.get("/ai/bot/config", **shop).status_code == 200
    other = {"API-KEY": public_key, "Origin": "https://other.example"}
    assert nobody.get("/ai/bot/config", **other).status_code == 403
    later = site.get(path).content.decode()
    assert public_key in later
    assert "Last used" in later
    server_key, secret = api_keys.create(bot.client, name="Server", scope="secret")
    assert (key.public_key, server_key.public_key) == (public_key, "")
    assert secret not in site.get(path).content.decode()
    ApiKey.objects.update(public_key="")  # made before it was kept
    assert "was shown when it was made" in site.get(path).content.decode()
    ApiKey.objects.update(revoked_at=timezone.now())
    assert "holds a key of its own" in site.get(path).content.decode()


def test_the_key_of_the_script_tag_has_a_cap_that_the_form_shows(site, path, bot):
    shown = r'name="daily_credits"[^>]*value="500"|value="500"[^>]*name="daily_credits"'
    assert re.search(shown, site.get(path).content.decode())
    for sent, cap in (("500", 500), ("40", 40), ("", None)):
        form = {"form": "key", "daily_credits": sent}
        page = site.post(path, form, follow=True).content.decode()
        key = ApiKey.objects.latest("pk")
        assert key.prefix in page
        assert key.daily_credits == cap
    for wrong in ("-1", "many"):
        assert site.post(path, {"form": "key", "daily_credits": wrong}).status_code == 200
    assert ApiKey.objects.count() == 3


def test_a_trainer_teaches_and_changes_nothing_else(ann, path, bot):
    browser = as_role(ann.client, "agent", can_train=True)
    page = browser.get(path).content.decode()
    assert "Write a text" in page
    assert "look-form" not in page
    form = {"form": "text", "title": "Parking", "text": "Behind the house."}
    assert browser.post(path, form).status_code == 302
    browser.post(path, {"form": "hosts", "allowed_domain": "evil.example"})
    browser.post(path, {"form": "key"})
    assert browser.post(NEW, {"bot_name": "Tess"}).status_code == 403
    bot.refresh_from_db()
    assert bot.allowed_domain == ""
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("role", ["agent", "viewer"])
def test_who_may_not_train_is_refused(ann, path, bot, role):
    browser = as_role(ann.client, role)
    form = {"form": "text", "title": "Parking", "text": "Behind the house."}
    assert browser.get(path).status_code == browser.post(path, form).status_code == 403
    assert not Document.objects.exists()


def test_another_clients_bot_is_not_found(cara, path, bot):
    browser = Browser()
    browser.force_login(cara.user)
    form = {"form": "text", "title": "Parking", "text": "Behind the house."}
    assert browser.get(path).status_code == browser.post(path, form).status_code == 404
    look = reverse("admin:bots_bot_look", args=[bot.pk])
    assert browser.get(look).status_code == 404
    assert not Document.objects.exists()


def test_bots_are_disabled_enabled_and_deleted_by_the_list(site, bot):
    path, chosen = reverse("admin:bots_bot_changelist"), {"_selected_action": [bot.pk]}
    site.post(path, {**chosen, "action": "disable", "confirmed": "yes"})
    assert Bot.objects.get().is_disabled
    site.post(path, {**chosen, "action": "enable"})
    assert not Bot.objects.get().is_disabled
    Bot.objects.update(delete_available=False)
    form = {**chosen, "action": "delete_bots", "confirmed": "yes"}
    assert b"This bot is protected" in site.post(path, form, follow=True).content
    Bot.objects.update(delete_available=True)
    assert b"1 done." in site.post(path, form, follow=True).content
    assert not Bot.objects.exists()


def test_sources_are_deleted_and_an_earlier_prompt_is_restored(site, path, bot):
    for words in ("Be brief.", "Be long."):
        site.post(path, {"form": "prompt", "content": words})
    first = Prompt.objects.get(version=1)
    form = {"action": "restore", "_selected_action": [first.pk], "confirmed": "yes"}
    site.post(reverse("admin:bots_prompt_changelist"), form)
    assert Prompt.objects.get(is_current=True).content == "Be brief."
    site.post(path, {"form": "text", "title": "Parking", "text": "Behind the house."})
    site.post(path, {"form": "web", "url": "http://8.8.8.8/help", "crawl_depth": "0"})
    for name, action, model in (
        ("document", "delete_documents", Document), ("weburl", "delete_addresses", WebUrl),
    ):  # fmt: skip
        form = {"action": action, "_selected_action": [model.objects.get().pk], "confirmed": "yes"}
        site.post(reverse(f"admin:bots_{name}_changelist"), form)
        assert not model.objects.exists()
