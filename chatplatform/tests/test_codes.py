"""Every page that the navigation reaches speaks words, for each role."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urljoin

import pytest
from django.contrib import admin
from django.test import Client as Browser
from django.urls import resolve, reverse
from lxml import html

from bots.models import Document
from chatplatform import navigation
from chatplatform.models import Job
from chatplatform.tests.test_guard_site import world
from chats.models import Conversation
from identity.models import Client, Role, User
from identity.testing import make_person
from webhooks.models import WebhookConfig

pytestmark = pytest.mark.full

# A pair of Python, such as ('failed', 'Failed').
PAIR = re.compile(r"\('[^']*', ")
# A code of the API, such as customer_asked or user.signed_in.
RAW_CODE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]{3,}\.[a-z]+(?:_[a-z]+)*\b")
DOUBLED = re.compile(r"\b\w*(?:[^aeiou]ys|callings|configs|Feedbacks)\b")
# Where codes are meant: <code>; and what nobody sees.
VIEWING = "viewing as an owner"
UNSEEN = {"script", "style", "code", "svg", "template"}


def words(element):
    """The texts in an element that a reader sees, without symbols."""
    is_symbol = element.tag == "span" and "material-symbols" in element.get("class", "")
    if not isinstance(element.tag, str) or element.tag in UNSEEN or is_symbol:
        return
    yield element.text
    for part in element:
        yield from words(part)
        yield part.tail


def texts(reply):
    page = html.document_fromstring(reply.content.decode())
    return [text.strip() for text in words(page) if text and text.strip()]


def faults(reply):
    """What is wrong with the words of a page; addresses of mails and hosts are data."""
    shown = texts(reply)
    seen = " ".join(
        re.sub(r"\S+@\S+|https?://\S+|\w+\.example\S*|\w+\.md", "", text) for text in shown
    )
    found = [*RAW_CODE.findall(seen), *DOUBLED.findall(seen), *PAIR.findall(seen)]
    found += [text for text in shown if text in {"{}", "[]", "null"}]
    return found + (["red cross"] if "close_small" in reply.content.decode() else [])


@pytest.fixture
def rows(db):
    made = world("Ourownword")
    Conversation.objects.update(handoff_reason="customer_asked", sentiment="negative")
    made[Job] = Job.objects.create(name="work", state="dead", last_error="gone")
    return made


def entered(rows, role):
    browser = Browser()
    staff = role in {"staff", VIEWING}
    person = (
        User.objects.create_superuser("staff@example.com", full_name="Staff")
        if staff
        else make_person(rows[Client], role, "Zoe").user
    )
    browser.force_login(person)  # type: ignore[arg-type]
    if role == VIEWING:
        owner: Any = make_person(rows[Client], Role.OWNER, "Zoe").user
        browser.post(reverse("admin:identity_user_view_as", args=[owner.pk]))
    return browser


def links(browser):
    """The addresses of the navigation, as the page shows them."""
    page = browser.get("/admin/failures/").content.decode()
    nav = page[page.index('id="nav-sidebar-apps"') :]
    return re.findall(r'<a href="(/admin/[^"]*)" class="flex h-\[38px\]', nav)


def hrefs(reply):
    """Where a page leads within the platform."""
    here = reply.request["PATH_INFO"]
    found = re.findall(r'<a [^>]*?href="([^"#]+)', reply.content.decode())
    paths = (urljoin(here, unescape(link)) for link in found)
    return [path for path in paths if path.startswith("/") and not path.startswith("/static/")]


def kind_of(path):
    """An address; of those with a query, one stands for all. Rows remember their list's query."""
    address, _, query = path.partition("?")
    return address, bool(set(parse_qs(query)) - {"_changelist_filters"})


def is_file(reply):
    """Whether a browser stores it instead of showing it."""
    return reply.headers.get("Content-Disposition", "").startswith("attachment")


def walked(browser, begin):
    """What is answered at each address that links lead to, with the page that has the link."""
    waiting, seen, replies = [(path, "") for path in begin], set(), {}
    while waiting:
        path, linked_from = waiting.pop()
        if kind_of(path) in seen:
            continue
        seen.add(kind_of(path))
        reply = replies[f"{path} from {linked_from}"] = browser.get(path, follow=True)
        if is_file(reply):
            list(reply.streaming_content)  # read to its end, which closes it
        elif path.startswith("/admin/"):
            waiting += [(link, path) for link in hrefs(reply)]
    return replies


# What a page shows inside itself.
FRAMED = {"bots_bot_preview"}
# Pages beside lists and rows that nobody may miss.
OWN_PAGES = {
    VIEWING: {
        "bots_bot_new_bot", "bots_bot_content", "bots_bot_install", "chats_try_bot",
        "chats_unanswered", "failures", "identity_user_invite", "identity_apikey_new_key",
        "reports_overview", "webhooks_webhookconfig_new_endpoint", "webhooks_webhookconfig_manage",
    },
    "staff": {
        "client", "failures", "identity_client_new_company", "identity_user_view_as",
        "webhooks_webhookconfig_manage",
    },
}  # fmt: skip


# Who looks as an owner sees what owners and admins see (docs/rights.md), and the banner.
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "role",
    [
        VIEWING,
        *(pytest.param(role, marks=pytest.mark.drill) for role in (Role.AGENT, Role.VIEWER)),
        "staff",
    ],
)
def test_every_page_that_a_role_reaches_speaks_words_and_leads_on(rows, role):
    Document.objects.update(status="failed", error_code="too_large")
    WebhookConfig.objects.update(is_active=False, disabled_reason="by_hand")
    browser = entered(rows, role)
    navigation = links(browser)
    assert len(navigation) > 20 if role == "staff" else 5 <= len(navigation) <= 10
    assert len(set(navigation)) == len(navigation)
    replies = walked(browser, [*navigation, "/admin/"])
    assert len(replies) > (60 if role in {Role.AGENT, Role.VIEWER} else 80)
    assert {
        path: item.status_code for path, item in replies.items() if item.status_code != 200
    } == {}
    asked = {path.partition("?")[0].split()[0] for path in replies}
    shown = {reply.request["PATH_INFO"] for reply in replies.values()}  # where a button led on
    names = {resolve(address).url_name for address in asked | shown}
    assert names >= OWN_PAGES.get(role, set())
    pages = {path: item for path, item in replies.items() if not is_file(item)}
    kinds = {page.headers["Content-Type"].partition(";")[0] for page in pages.values()}
    assert kinds == {"text/html"}
    for path, item in pages.items():
        has_banner = b">Stop viewing as " in item.content
        is_framed = resolve(path.split()[0].partition("?")[0]).url_name in FRAMED
        assert has_banner == (role == VIEWING and not is_framed and path.startswith("/admin/")), (
            path
        )
    found = {path: faults(item) for path, item in pages.items()}
    assert {path: those for path, those in found.items() if those} == {}


def test_each_page_of_the_site_stands_in_the_navigation_once():
    pages = [page for section in navigation.SECTIONS for page in section.pages]
    placed = [page.target for page in pages if page.is_list]
    assert sorted(placed) == sorted(model._meta.label for model in admin.site._registry)


def test_the_test_itself_sees_a_code_and_a_cross(rows):
    class Reply:
        content = (
            b"<p>why: customer_asked</p><i class='close_small'><b>Deliverys</b><code>a_b</code>"
            b"<p>('failed', 'Failed')</p>"
        )

    assert faults(Reply) == ["customer_asked", "Deliverys", "('failed', ", "red cross"]
