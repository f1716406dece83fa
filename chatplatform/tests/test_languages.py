"""The pages that people of a client use are whole in English and in Vietnamese."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from bots.language.phrasebook import all_books
from bots.models import Bot, Document
from bots.testing import make_bot, trained
from chatplatform.form_fields import language_name
from chatplatform.tests.test_codes import texts
from chatplatform.tests.test_guard_site import world
from chats.models import Conversation, Customer
from chats.testing import make_chat
from identity.models import Subscription, User
from identity.pages.admin_site import SETTINGS_PAGES
from identity.services import public_holidays
from identity.testing import make_person, signed_in
from local import message_catalogs
from webhooks.models import WebhookConfig

VALUE = re.compile(r"\{\w+\}")
BEFORE = [
    "start", "admin:login", "admin:register", "admin:admin_password_reset", "admin:choose_password",
]  # fmt: skip
BEHIND = [
    "admin:index", "admin:profile", "admin:sign_ins", "admin:second_factor",
    "admin:password_change",
]  # fmt: skip
# Words that are the same in both languages.
SHARED = {
    "Chatbot Platform",
    "*",
    *dict(settings.LANGUAGES).values(),
    "Email",
    "API",
    "Bot",
    "Acme",
    "Ann",
    "A",
    "esc",
    "Ctrl + K",
}

# Names and abbreviations on an owner's pages.
SAME_WORDS = {
    "Api", "Chatapp", "Client ID", "Client secret", "HTML", "Localapp", "Photoapp", "Shopify",
    "Socialnet", "Tag Manager", "Telegram", "URL", "UTC", "Web", "Webhook", "WordPress",
}  # fmt: skip


def shown(browser, name):
    reply = browser.get(reverse(name))
    assert reply.status_code == 200
    # Titles of pages, addresses, and the time with its zone in the top bar.
    data = re.compile(r"@| \| | · |^\d\d:\d\d")
    return {text for text in texts(reply) if not data.search(text)}


def speaking(language):
    return Browser(headers={"Accept-Language": language, "Host": "localhost"})


@pytest.mark.parametrize("name", BEFORE)
def test_before_the_sign_in_the_browsers_language_is_spoken(db, settings, tmp_path, name):
    settings.DATA_DIR = tmp_path  # another process may have the demo's logins in the tests' own
    english, vietnamese, french = (shown(speaking(code), name) for code in ("en", "vi-VN", "fr"))
    assert english & vietnamese <= SHARED, "locale/vi lacks these words"
    assert french == english


def test_the_demos_shop_speaks_the_browsers_language(db, settings, tmp_path):
    settings.DATA_DIR, settings.DEVELOPMENT = tmp_path, True
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "demo_page_key").write_text("key")
    english, vietnamese = (shown(speaking(code), "demo") for code in ("en", "vi"))
    both = {text for text in english & vietnamese if "€" not in text}
    assert both <= SHARED | {"Demo Shop"}, "locale/vi lacks these words"


def test_the_demos_logins_name_their_roles_in_the_browsers_language(db, settings, tmp_path):
    settings.DATA_DIR, settings.DEVELOPMENT = tmp_path, True
    (tmp_path / "keys").mkdir()
    logins = [
        {"role": role, "email": "a@demo.example", "password": "a@b"}
        for role in ("Owner", "Agent", "Platform staff")
    ]
    (tmp_path / "keys" / "demo_logins").write_text(json.dumps(logins))
    assert {"Owner", "Agent", "Platform staff"} <= shown(speaking("en"), "start")
    assert {"Chủ sở hữu", "Nhân viên", "Nhân viên của nền tảng"} <= shown(speaking("vi"), "start")


def test_a_refused_registration_is_explained_in_the_browsers_language(db, settings):
    settings.REGISTRATION_OPEN = True
    form = {
        "company_name": "Acme", "full_name": "Ann", "email": "ann@acme.example",
        "password": "short", "language": "vi",
    }  # fmt: skip
    english, vietnamese = (
        texts(speaking(code).post(reverse("admin:register"), form)) for code in ("en", "vi")
    )
    assert any("at least 10 characters" in text for text in english)
    assert any("ít nhất 10 ký tự" in text for text in vietnamese)
    assert any("1.000" in text for text in vietnamese)


def test_a_refused_sign_in_is_explained_in_vietnamese(ann):
    form = {"username": ann.user.email, "password": "wrong"}
    texts_of = [texts(speaking(code).post(reverse("admin:login"), form)) for code in ("en", "vi")]
    english, vietnamese = ({t for t in found if " | " not in t} for found in texts_of)
    assert english & vietnamese <= SHARED
    assert any("mật khẩu" in text for text in vietnamese)


@pytest.mark.parametrize("name", BEHIND)
def test_whoever_is_signed_in_is_spoken_to_in_their_own_language(client_a, name):
    person = make_person(client_a, "owner", "Ann").user
    assert person
    seen = {}
    for own, asked in (("en", "vi"), ("vi-VN", "en"), ("fr", "vi")):
        person.language = own
        person.save()
        browser = speaking(asked)
        browser.force_login(person)
        seen[own] = shown(browser, name)
    assert seen["en"] & seen["vi-VN"] <= SHARED, "locale/vi lacks these words"
    assert len(seen["fr"] - seen["vi-VN"]) < len(seen["en"] - seen["vi-VN"])


@pytest.mark.full
@pytest.mark.parametrize(("language", "day"), [("de", "24. Dez 2030"), ("vi", "24/12/2030")])
def test_days_have_the_pattern_of_the_readers_language(client_a, language, day):
    person = make_person(client_a, "owner", "Ann").user
    assert person
    person.language = language
    person.save()
    bot, at = make_bot(client_a), datetime(2030, 12, 24, 12, tzinfo=UTC)
    chat = make_chat(bot)
    trained(bot, "Delivery is free.")
    Document.objects.update(valid_to=at)
    Customer.objects.update(blocked_until=at)
    Subscription.objects.update(period_end=at)
    browser = signed_in(person)
    for page, shown_day in (
        (reverse("admin:bots_bot_content", args=[bot.pk]), day),
        (reverse("admin:chats_customer_change", args=[chat.customer_id]), f"{day} 12:00"),
        (reverse("admin:settings_plan"), day),
    ):
        assert shown_day in browser.get(page).content.decode(), page


def test_the_figures_and_warnings_of_the_home_are_in_both_languages(client_a):
    person = make_person(client_a, "owner", "Ann").user
    assert person
    chat = make_chat(make_bot(client_a))
    hours_ago = timezone.now() - timedelta(hours=3)
    Conversation.objects.filter(pk=chat.pk).update(assign_type="queue", waiting_since=hours_ago)
    Subscription.objects.filter(client=client_a).update(credits_left=12345)
    seen = {}
    for person.language in ("en", "vi"):
        person.save()
        browser = signed_in(person)
        texts = shown(browser, "admin:index")
        seen[person.language] = {text for text in texts if re.search("[a-z]{2}", text)}
        assert {"en": "12,345", "vi": "12.345"}[person.language] in texts
    assert seen["en"] & seen["vi"] <= SHARED, "locale/vi lacks these words"
    assert {"longest wait 3 h", "1 conversation is past the target wait time"} <= seen["en"]
    assert "chờ lâu nhất 3 giờ" in seen["vi"]


def test_the_staffs_home_is_in_both_languages(client_a):
    staff = User.objects.create_superuser("staff@platform.example", "a-long-word-9", full_name="A")
    Document.objects.create(client=client_a, bot=make_bot(client_a), status="failed", size_bytes=1)
    seen = {}
    for staff.language in ("en", "vi"):
        staff.save()
        browser = signed_in(staff)
        texts_of = shown(browser, "admin:index")
        seen[staff.language] = {text for text in texts_of if re.search("[A-Za-z]", text)}
    assert seen["en"] & seen["vi"] <= SHARED, "locale/vi lacks these words"
    assert {"Companies", "1 new this week, 0 disabled", "after all retries"} <= seen["en"]
    assert "1 × Documents that couldn't be read" in seen["en"]


def owners_pages(rows):
    """The pages that an owner uses week by week: lists, a bot's own pages, reports, settings."""
    lists = (
        "chats_conversation", "chats_customer", "chats_feedback", "chats_questiongroup",
        "chats_replay", "chats_summary", "bots_bot", "bots_goldenquestion", "bots_goldenrun",
        "bots_function", "bots_functioncall", "bots_mcpserver", "bots_languagemodel",
        "identity_apikey", "identity_auditevent", "identity_user", "webhooks_webhookconfig",
        "webhooks_delivery", "webhooks_event", "reports_export",
    )  # fmt: skip
    yield from (reverse(f"admin:{name}_changelist") for name in lists)
    for name in ("content", "look", "behaviour", "install", "quality"):
        yield reverse(f"admin:bots_bot_{name}", args=[rows[Bot].pk])
    yield from map(reverse, ("channels", "reports_overview", "reports_adhoc", "reports_warnings"))
    # What bots say stands there in the customers' languages.
    settings_pages = {*SETTINGS_PAGES} - {"messages"}
    yield from (reverse(f"admin:settings_{name}") for name in sorted(settings_pages))
    yield reverse("admin:identity_apikey_new_key")
    yield reverse("admin:bots_function_new_function")
    yield reverse("admin:webhooks_webhookconfig_new_endpoint")
    yield reverse("admin:webhooks_webhookconfig_manage", args=[rows[WebhookConfig].pk])


@pytest.mark.full
def test_the_pages_of_an_owners_week_are_in_both_languages(db):
    rows = world("Ourownword")
    owner = rows[User]
    names = {language_name(code) for code in LANG_INFO} | {
        name for _, name in public_holidays.countries()
    }
    # Ten capitals: a client's code.
    data = re.compile(r"(?i:ourownword)|[0-9@{}<>_*/…]|^.{0,2}$|^[^A-Za-z]*$|^[A-Z]{10}$")
    left = {}
    for path in owners_pages(rows):
        seen = {}
        for owner.language in ("en", "vi"):
            owner.save()
            browser = Browser()
            browser.force_login(owner)
            reply = browser.get(path)
            assert reply.status_code == 200, path
            seen[owner.language] = {text for text in texts(reply) if not data.search(text)}
        if both := seen["en"] & seen["vi"] - SHARED - SAME_WORDS - names:
            left[path] = both
    assert left == {}, "locale/vi lacks these words"


def test_a_page_of_an_error_is_in_the_readers_language(client_a):
    """The browser's outside the site; the reader's own in it, whatever the browser says."""
    person = make_person(client_a, "owner", "Ann").user
    assert person
    for path, status in (("/no/such/path", 404), ("/admin/chatplatform/job/", 403)):
        seen = {}
        for person.language in ("en", "vi"):
            person.save()
            asked = "en" if path.startswith("/admin") else person.language
            browser = Browser(headers={"Accept-Language": asked, "Accept": "text/html"})
            browser.force_login(person)
            reply = browser.get(path)
            assert (reply.status_code, "Accept-Language" in reply["Vary"]) == (status, True)
            seen[person.language] = {t for t in texts(reply) if t != reply["X-Request-ID"]}
        assert {text for text in seen["en"] & seen["vi"] if " | " not in text} <= SHARED | {"·"}
    stale = Browser(enforce_csrf_checks=True, headers={"Accept-Language": "vi"})
    page = stale.post(reverse("admin:login"), headers={"Accept": "text/html"})
    assert (page.status_code, "Trang này đã cũ" in page.content.decode()) == (403, True)


def joined(entry: Any) -> tuple[str, str]:
    """A text and its translation, each with its plural."""
    return "".join(entry.id), "".join(entry.string)


CATALOGUES = sorted(message_catalogs.ROOT.glob("locale/*/LC_MESSAGES/*.po"))


@pytest.mark.full
def test_a_catalogue_has_every_text_of_the_source_and_no_other():
    """`make words` brings it up to date; then a person fills what has no translation."""
    assert CATALOGUES
    for path in CATALOGUES:
        entries = [entry for entry in read_po(io.BytesIO(path.read_bytes())) if entry.id]
        assert entries, path
        updated = {entry.id for entry in message_catalogs.updated(path) if entry.id}
        assert updated == {entry.id for entry in entries}, path
        assert message_catalogs.untranslated(message_catalogs.updated(path)) == [], path
        for text, translation in map(joined, entries):
            assert set(VALUE.findall(translation)) == set(VALUE.findall(text)), (path, text)


@pytest.mark.parametrize("code", [code for code, _ in settings.LANGUAGES])
def test_the_compiled_words_are_those_that_are_written(code):
    """`make words` compiles them."""
    folder = Path(settings.LOCALE_PATHS[0]) / code / "LC_MESSAGES"
    written, compiled = (
        dict(map(joined, read(io.BytesIO(file))))
        for read, file in (
            (read_po, (folder / "django.po").read_bytes()),
            (read_mo, (folder / "django.mo").read_bytes()),
        )
    )
    assert written.pop("")
    assert compiled.pop("")
    assert written
    assert written == compiled


def test_desk_and_widget_load_what_is_written():
    """`make words` builds the scripts."""
    assert len(message_catalogs.texts("desk") | message_catalogs.texts("widget")) > 250
    files = message_catalogs.translations()
    spoken = {file.parents[1].name for file in files}
    assert spoken > {code for code, _ in settings.LANGUAGES} - {"en"}
    assert spoken | {"en"} == set(all_books()), "the widget speaks what its bot speaks"
    for file in files:
        for path, script in message_catalogs.catalogues(file).items():
            assert path.read_text() == script, path
