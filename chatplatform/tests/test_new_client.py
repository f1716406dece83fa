"""A new client sets everything up by the site alone, in a browser, as somebody new would."""

import pytest
from django.core import mail
from django.urls import reverse
from standardwebhooks import Webhook

from bots.models import Bot
from bots.tests.test_extract import docx_bytes, page, pdf_bytes
from bots.tests.test_office_files import words, xlsx_bytes
from bots.tests.web_site import html, serving
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import save
from identity.models import ApiKey, Client, User
from webhooks.models import WebhookConfig

PAPERS = {
    "hours.pdf": pdf_bytes(page("Opening hours", "The shop is open from nine to five.")),
    "returns.docx": docx_bytes(),
    "prices.xlsx": xlsx_bytes(words("Item", "Price") + words("Green tea", "4 euros")),
}


@pytest.fixture
def outside(outside_port, settings):
    """The new client's own server: its web site, and where it takes webhooks."""
    with serving(outside_port) as server:
        settings.EGRESS_ALLOW = [server.host_port]
        settings.CRAWL_DELAY_SECONDS = 0
        server.pages["/help"] = html("Guests of the tea house park for free behind the house.")
        yield server


def press(screen, name):
    """Press a button that sends a form, and wait for the page that it leads to."""
    with screen.expect_navigation():
        screen.get_by_role("button", name=name, exact=True).click()


@pytest.mark.journey
@pytest.mark.long
def test_a_new_client_by_the_site_alone(screen, nobody, outside, deliver):
    register(screen)
    invite(screen)
    teach(screen, outside)
    show(screen)
    try_it(screen)
    make_a_key(screen, nobody)
    add_an_endpoint(screen, outside, deliver)
    find_a_page(screen)


def register(screen):
    screen.goto("/")
    screen.get_by_role("link", name="Sign in").click()
    screen.get_by_role("link", name="Register your company").click()
    screen.get_by_label("Company").fill("Tea House")
    screen.get_by_label("Your name").fill("Tess")
    screen.get_by_label("Email address").fill("tess@tea.example")
    screen.get_by_label("Password").fill("correct-horse-battery")
    press(screen, "Register")
    screen.get_by_text("Get started").wait_for()
    here = screen.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    assert Client.objects.get().timezone == here


def invite(screen):
    screen.get_by_role("listitem").filter(has_text="Invite a teammate").get_by_role("link").click()
    screen.get_by_label("Email address").fill("ada@tea.example")
    screen.get_by_label("Name").fill("Ada")
    press(screen, "Send invitation")
    assert User.objects.get(email="ada@tea.example").role == "agent"
    run_jobs()
    assert [sent.to for sent in mail.outbox] == [["ada@tea.example"]]


def teach(screen, outside):
    screen.goto("/admin/")
    screen.get_by_role("listitem").filter(has_text="Create a bot").get_by_role("link").click()
    screen.get_by_label("Name").fill("Tess's helper")
    press(screen, "Create bot")
    files = [
        {"name": name, "mimeType": "application/octet-stream", "buffer": paper}
        for name, paper in PAPERS.items()
    ]
    screen.get_by_role("link", name="Add content").first.click()
    screen.locator("#files_files").set_input_files(files)
    press(screen, "Upload")
    screen.get_by_role("link", name="Add content").first.click()
    screen.get_by_role("link", name="Website", exact=True).click()
    screen.get_by_label("URL").fill(outside.at("/help"))
    press(screen, "Add website")
    run_jobs()
    # The page looks by itself whether they are read.
    screen.locator("#content-list").get_by_text("Ready", exact=True).nth(3).wait_for()


def show(screen):
    """The look, and the script tag for the page."""
    screen.get_by_role("link", name="Appearance", exact=True).click()
    frame = screen.frame_locator("iframe")
    screen.get_by_label("Primary color").fill("#0f766e")
    screen.get_by_role("tab", name="Messages").click()
    screen.get_by_label("Welcome").first.fill("Welcome to the tea house!")
    frame.get_by_text("Welcome to the tea house!").wait_for()
    colour = frame.locator(".head").evaluate("head => getComputedStyle(head).backgroundColor")
    assert colour == "rgb(15, 118, 110)"
    save(screen, "welcome")
    screen.get_by_role("link", name="Install", exact=True).click()
    screen.get_by_label("Allowed websites").fill("https://tea.example/")
    save(screen, "hosts")
    tag = screen.get_by_label("Script tag").input_value()
    assert ApiKey.objects.get().prefix in tag
    assert "/widget/v1/loader.js" in tag
    bot = Bot.objects.get()
    assert (bot.primary_color, bot.allowed_domain) == ("#0f766e", "tea.example,www.tea.example")


def try_it(screen):
    screen.get_by_role("link", name="Test", exact=True).click()
    ask(screen, "How much is the green tea?")
    screen.get_by_text("4 euros").first.wait_for()
    screen.locator("#tried [data-source='1']").get_by_text("prices").wait_for()
    ask(screen, "Where can guests park?")
    screen.get_by_text("behind the house").first.wait_for()


def ask(screen, question):
    screen.get_by_label("Your question").fill(question)
    press(screen, "Ask")
    run_jobs()


def make_a_key(screen, nobody):
    screen.goto(reverse("admin:identity_apikey_new_key"))
    screen.get_by_label("Name").fill("Our server")
    screen.get_by_role("button", name="Create key", exact=True).click()
    key = screen.get_by_label("API key").input_value()
    assert nobody.get("/ai/customers", **{"API-KEY": key}).status_code == 200


def add_an_endpoint(screen, outside, deliver):
    screen.goto(reverse("admin:webhooks_webhookconfig_new_endpoint"))
    screen.get_by_label("URL").fill(outside.at("/hook"))
    screen.get_by_role("button", name="Add webhook", exact=True).click()
    secret = screen.locator("[data-secret]").input_value()
    screen.get_by_role("button", name="I've saved it").click()
    screen.locator("[data-state=pending]").wait_for()
    deliver()
    screen.locator("[data-state=succeeded]").wait_for()
    ((headers, body),) = outside.posts
    assert Webhook(secret).verify(body, headers)
    assert WebhookConfig.objects.get().is_active


def find_a_page(screen):
    screen.keyboard.press("Control+k")
    screen.get_by_placeholder("Type to search").fill("unanswered question")
    screen.get_by_placeholder("Type to search").press("s")
    screen.locator("#command-results").get_by_text("Unanswered questions").click()
    screen.get_by_role("heading", name="Unanswered questions").wait_for()
