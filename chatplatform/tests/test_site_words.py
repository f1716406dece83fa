"""Every page that the navigation reaches speaks words, for each role."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.test import Client as Browser
from django.urls import reverse

from bots.models import Bot, Document
from chatplatform import navigation
from chatplatform.models import Job
from chatplatform.tests.test_guard_site import PAGES, url, world
from chats.models import Conversation
from identity.models import Client, Role, User
from identity.testing import make_person
from webhooks.models import WebhookConfig

# A code of the API, such as customer_asked or user.signed_in.
RAW_CODE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]{3,}\.[a-z]+(?:_[a-z]+)*\b")
DOUBLED = re.compile(r"\b\w*(?:[^aeiou]ys|callings|configs|Feedbacks)\b")
# Where codes are meant: <code>; and what nobody sees.
UNSEEN = {"script", "style", "code", "svg", "template"}


class Words(HTMLParser):
    """The texts that a reader sees, without symbols."""

    def __init__(self):
        super().__init__()
        self.unseen, self.found = [], []

    def handle_starttag(self, tag, attrs):
        is_symbol = "material-symbols" in (dict(attrs).get("class") or "")
        if tag in UNSEEN or (is_symbol and tag == "span") or self.unseen and tag == self.unseen[-1]:
            self.unseen.append(tag)

    def handle_endtag(self, tag):
        if self.unseen and tag == self.unseen[-1]:
            self.unseen.pop()

    def handle_data(self, data):
        if not self.unseen and data.strip():
            self.found.append(data.strip())


def texts(reply):
    page = Words()
    page.feed(reply.content.decode())
    return page.found


def faults(reply):
    """What is wrong with the words of a page; addresses of mails and hosts are data."""
    seen = " ".join(
        re.sub(r"\S+@\S+|https?://\S+|\w+\.example\S*|\w+\.md", "", text) for text in texts(reply)
    )
    found = [*RAW_CODE.findall(seen), *DOUBLED.findall(seen)]
    return found + (["red cross"] if "close_small" in reply.content.decode() else [])


@pytest.fixture
def rows(db):
    made = world("Ourownword")
    Conversation.objects.update(handoff_reason="customer_asked", sentiment="negative")
    made[Job] = Job.objects.create(name="work", state="dead", last_error="gone")
    return made


def entered(rows, role):
    browser = Browser()
    staff = role == "staff"
    person = (
        User.objects.create_superuser("staff@example.com", full_name="Staff")
        if staff
        else make_person(rows[Client], role, "Zoe").user
    )
    browser.force_login(person)  # type: ignore[arg-type]
    return browser


def links(browser):
    """The addresses of the navigation, as the page shows them."""
    page = browser.get("/admin/sign-ins/").content.decode()
    nav = page[page.index('id="nav-sidebar-apps"') :]
    return re.findall(r'<a href="(/admin/[^"]*)" class="flex h-\[38px\]', nav)


@pytest.mark.parametrize("role", [*Role.values, "staff"])
def test_pages_of_the_navigation_show_no_code_and_no_cross(rows, role):
    browser = entered(rows, role)
    reached = links(browser)
    assert len(reached) >= 15
    assert len(set(reached)) == len(reached)
    replies = {path: browser.get(path, follow=True) for path in reached}
    assert {path for path, reply in replies.items() if reply.status_code != 200} == set()
    assert {path: found for path, reply in replies.items() if (found := faults(reply))} == {}


def own_pages(rows):
    """Pages beside lists and rows."""
    bot, chat = rows[Bot], rows[Conversation]
    return [
        reverse("admin:bots_bot_new_bot"),
        reverse("admin:bots_bot_set_up", args=[bot.pk]),
        reverse("admin:chats_try_bot", args=[bot.pk]),
        reverse("admin:chats_conversation_change", args=[chat.pk]),
        reverse("admin:identity_user_invite"),
        reverse("admin:identity_apikey_new_key"),
        reverse("admin:identity_creditorder_order"),
        reverse("admin:webhooks_webhookconfig_new_endpoint"),
        reverse("admin:webhooks_webhookconfig_manage", args=[rows[WebhookConfig].pk]),
        reverse("failures"),
    ]


def test_own_pages_show_no_code_and_no_link_of_the_site_is_dead(rows):
    Document.objects.update(status="failed", error_code="too_large")
    WebhookConfig.objects.update(is_active=False, disabled_reason="by_hand")
    browser = entered(rows, Role.OWNER)
    replies = {path: browser.get(path) for path in (*own_pages(rows), "/admin/")}
    assert {path for path, reply in replies.items() if reply.status_code != 200} == set()
    assert {path: found for path, reply in replies.items() if (found := faults(reply))} == {}
    lists = [browser.get(path) for path in links(browser)]
    hrefs = {
        href.split("#")[0]
        for reply in (*replies.values(), *lists)
        for href in re.findall(r'href="(/[^"]*)"', reply.content.decode())
        if not href.startswith("/static/")
    }
    assert len(hrefs) > 60
    assert {href for href in hrefs if browser.get(href, follow=True).status_code >= 400} == set()


@pytest.mark.parametrize("what", ["change", "history"])
def test_the_page_of_each_row_shows_no_code_and_no_cross(rows, what):
    browser = entered(rows, "staff")
    found = {
        model: faults(browser.get(url(model, what, rows[model].pk)))
        for model in PAGES
        if model in rows
    }
    assert len(found) > 20
    assert {model: those for model, those in found.items() if those} == {}


def test_each_page_of_the_site_stands_in_the_navigation_once():
    placed = [page[2] for pages in navigation.PAGES.values() for page in pages if len(page) == 3]
    assert sorted(placed) == sorted(model._meta.label for model in admin.site._registry)


def test_the_test_itself_sees_a_code_and_a_cross(rows):
    class Reply:
        content = (
            b"<p>why: customer_asked</p><i class='close_small'><b>Deliverys</b><code>a_b</code>"
        )

    assert faults(Reply) == ["customer_asked", "Deliverys", "red cross"]
