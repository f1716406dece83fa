"""A new client sets everything up by the site alone, in a browser, as somebody new would."""

from django.urls import reverse

from bots.models import Bot
from chatplatform.testing import run_jobs
from identity.models import ApiKey, User
from identity.testing import sign_in
from webhooks.models import WebhookConfig

PAPERS = {
    "hours.txt": "Opening hours.\n\nThe shop is open from nine to five on weekdays.",
    "returns.txt": "Returns.\n\nAn order can be returned within thirty days.",
    "parking.txt": "Parking.\n\nGuests park for free behind the house.",
}


def press(screen, name):
    """Press a button that sends a form, and wait for the page that it leads to."""
    with screen.expect_navigation():
        screen.get_by_role("button", name=name, exact=True).click()


def test_a_new_client_by_the_site_alone(screen, nobody):
    registered = {
        "company_name": "Tea House", "email": "tess@tea.example", "full_name": "Tess",
        "password": "correct-horse-battery",
    }  # fmt: skip
    assert nobody.post("/identity/register-trial", registered).status_code == 201
    sign_in(screen, User.objects.get())
    screen.get_by_text("Set up your company").wait_for()
    invite(screen)
    teach(screen)
    show(screen)
    try_it(screen)
    make_a_key(screen, nobody)
    add_an_endpoint(screen)
    find_a_page(screen)


def invite(screen):
    screen.get_by_role("listitem").filter(has_text="Invite a colleague").get_by_role("link").click()
    screen.get_by_label("E-mail address").fill("ada@tea.example")
    screen.get_by_label("Name").fill("Ada")
    press(screen, "Invite")
    assert User.objects.get(email="ada@tea.example").role == "agent"


def teach(screen):
    screen.goto("/admin/")
    screen.get_by_role("listitem").filter(has_text="Create a bot").get_by_role("link").click()
    screen.get_by_label("Name").fill("Tess's helper")
    press(screen, "Create the bot")
    files = [
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        for name, text in PAPERS.items()
    ]
    screen.get_by_label("Documents").set_input_files(files)
    press(screen, "Upload")
    run_jobs()
    # The page looks by itself whether they are trained.
    screen.locator("#sources").get_by_text("Trained", exact=True).nth(2).wait_for()


def show(screen):
    """The look, and the script tag for the page."""
    frame = screen.frame_locator("iframe")
    screen.get_by_label("Welcome").fill("Welcome to the tea house!")
    screen.get_by_label("Main colour").fill("#0f766e")
    frame.get_by_text("Welcome to the tea house!").wait_for()
    colour = frame.locator(".head").evaluate("head => getComputedStyle(head).backgroundColor")
    assert colour == "rgb(15, 118, 110)"
    press(screen, "Save the look")
    screen.get_by_label("Hosts of your pages").fill("tea.example")
    press(screen, "Save the hosts")
    press(screen, "Make the script tag")
    tag = screen.get_by_label("The script tag").input_value()
    assert ApiKey.objects.get().prefix in tag
    assert "/widget/v1/loader.js" in tag
    bot = Bot.objects.get()
    assert (bot.primary_color, bot.allowed_domain) == ("#0f766e", "tea.example")


def try_it(screen):
    screen.get_by_role("link", name="Try it", exact=True).click()
    screen.get_by_label("Your question").fill("How long can I return an order?")
    press(screen, "Ask")
    run_jobs()
    screen.get_by_text("within thirty days").first.wait_for()
    screen.get_by_text("Source 1: returns").wait_for()


def make_a_key(screen, nobody):
    screen.goto(reverse("admin:identity_apikey_new_key"))
    screen.get_by_label("What it is for").fill("Our server")
    press(screen, "Make the key")
    key = screen.get_by_label("The key").input_value()
    assert nobody.get("/ai/customers", **{"API-KEY": key}).status_code == 200


def add_an_endpoint(screen):
    screen.goto(reverse("admin:webhooks_webhookconfig_new_endpoint"))
    screen.get_by_label("Address").fill("https://8.8.8.8/hook")
    press(screen, "Add the endpoint")
    screen.get_by_role("link", name="Go on to the endpoint").click()
    press(screen, "Send a test")
    screen.get_by_text("Not tried yet").wait_for()
    assert WebhookConfig.objects.get().is_active


def find_a_page(screen):
    screen.keyboard.press("Control+k")
    screen.get_by_placeholder("Type to search").fill("questions withou")
    screen.get_by_placeholder("Type to search").press("t")
    screen.locator("#command-results").get_by_text("Questions without an answer").click()
    screen.get_by_role("heading", name="Questions without an answer").wait_for()
