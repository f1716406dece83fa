"""What stands unsaved in a page's forms stays, whatever comes of another form or of its own."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from bots.models import Document
from identity.models import SiteSession
from identity.testing import enter_site

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "Parking is behind the house."


@pytest.fixture
def filled(screen: Page, ann, bot) -> Page:
    """The set-up page with something written in every form."""
    enter_site(screen, ann.user)
    screen.goto(reverse("admin:bots_bot_set_up", args=[bot.pk]))
    screen.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    for name, words in WRITTEN.items():
        screen.locator(f"#{name}").fill(words)
    screen.locator("#files_files").set_input_files(
        {"name": "a.txt", "mimeType": "text/plain", "buffer": b"Open at nine."}
    )
    return screen


WRITTEN = {
    "web_url": "https://shop.example/help", "text_title": "Parking", "text_text": TEXT,
    "question_question": "May I park?", "question_answer": "Yes.", "prompt_content": "Be brief.",
    "look_welcome_message": "Welcome!", "hosts_allowed_domain": "shop.example",
    "key_daily_credits": "40",
}  # fmt: skip


def send(screen: Page, name: str) -> None:
    screen.locator(f"#{name}-form button[type=submit]").click()


def expect_kept(screen: Page, *, but: str = "-") -> None:
    for name, words in WRITTEN.items():
        if not name.startswith(but):
            expect(screen.locator(f"#{name}")).to_have_value(words)
    assert screen.locator("#files_files").evaluate("input => input.files.length") == 1


def test_sending_one_form_leaves_the_others(filled, bot):
    send(filled, "text")
    expect(filled.get_by_role("status")).to_have_text("Saved: the bot reads it now.")
    expect(filled.locator("#sources")).to_contain_text("Parking")
    expect(filled.locator("#text_text")).to_have_value("")
    expect_kept(filled, but="text")
    send(filled, "key")
    expect(filled.locator("#tag")).to_contain_text("It works nowhere yet")
    send(filled, "hosts")
    expect(filled.locator("#tag")).not_to_contain_text("It works nowhere yet")
    expect(filled.locator("#script-tag")).to_have_value(bot.client.api_keys.get().public_key.join(
        ['<script src="' + filled.url.split("/admin")[0] + '/widget/v1/loader.js" data-key="',
         '" async></script>']))  # fmt: skip
    bot.refresh_from_db()
    assert (bot.allowed_domain, Document.objects.count()) == ("shop.example", 1)


def test_a_refused_form_keeps_its_values_too(filled):
    filled.locator("#web_url").fill("http://10.0.0.1/")
    send(filled, "web")
    expect(filled.locator("#web-form .errors")).to_contain_text("The destination")
    expect(filled.locator("#web_url")).to_have_value("http://10.0.0.1/")
    expect_kept(filled, but="web")


def test_nothing_is_lost_where_nobody_answers_or_the_sign_in_has_ended(filled, ann, problems):
    filled.context.set_offline(True)
    send(filled, "text")
    expect(filled.get_by_role("alert")).to_contain_text("the server did not answer")
    expect_kept(filled)
    filled.context.set_offline(False)
    SiteSession.objects.all().delete()
    send(filled, "text")
    expect(filled.get_by_role("alert")).to_contain_text("you are signed out")
    expect_kept(filled)
    assert not Document.objects.exists()
    again = filled.context.new_page()
    enter_site(again, ann.user)
    send(filled, "text")
    expect(filled.get_by_role("status")).to_have_text("Saved: the bot reads it now.")
    expect_kept(filled, but="text")
    assert Document.objects.get().content == TEXT
    problems.clear()
