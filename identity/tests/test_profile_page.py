"""People change their own profile in the site."""

from django.contrib.messages import get_messages
from django.urls import reverse
from playwright.sync_api import expect

from identity.testing import enter_site

PAGE = reverse("admin:profile")
GERMAN = {"form": "profile", "full_name": "Ann", "avatar_url": "", "language": "de"}


def test_the_page_after_a_change_of_language_is_in_the_new_one(site):
    reply = site.post(PAGE, GERMAN)
    assert [str(said) for said in get_messages(reply.wsgi_request)] == ["Gespeichert."]
    page = site.get(reply["Location"])
    assert page["Content-Language"] == "de"
    assert "Saved." not in page.content.decode()


def test_a_new_language_is_everywhere_on_the_page_at_once(screen, ann):
    enter_site(screen, ann.user)
    screen.goto(PAGE)
    screen.get_by_label("Language").select_option("de")
    screen.get_by_role("button", name="Save").click()
    expect(screen.get_by_role("status")).to_have_text("Gespeichert.")
    expect(screen.locator("html")).to_have_attribute("lang", "de")
    expect(screen.get_by_role("link", name="Aktive Sitzungen").first).to_be_visible()
    # Another change keeps the page.
    screen.evaluate("document.documentElement.dataset.kept = ''")
    screen.get_by_label("Name*", exact=True).fill("Anna")
    screen.get_by_role("button", name="Speichern").click()
    expect(screen.get_by_role("status")).to_have_text("Gespeichert.")
    expect(screen.locator("html[data-kept]")).to_have_count(1)
