"""At the desk an agent chooses a template, fills it in and sends it after the reply window, or to a
number that has never written."""

from datetime import timedelta

import pytest
from django.utils import timezone

from channels_app.tests.chatapp import WABA
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import violations
from chats.models import Conversation, Customer
from identity.models import ClientConfig
from identity.testing import enter_site

pytestmark = pytest.mark.django_db(transaction=True)


def test_in_the_browser_a_template_is_filled_in_and_sent(
    screen_beside_sim, chatapp, number, quiet, ben
):
    buttons = [{"type": "URL", "text": "Track", "url": "https://shop.example/t/{{1}}"}]
    chatapp.sim.simulator.world.templates_of(WABA).append({
        "id": "2", "name": "parcel", "language": "en_US", "status": "APPROVED",
        "category": "UTILITY", "components": [
            {"type": "HEADER", "format": "IMAGE"}, {"type": "BODY", "text": "Hello {{1}}"},
            {"type": "BUTTONS", "buttons": buttons},
        ],
    })  # fmt: skip
    chatapp.write("Is anybody there?")
    run_jobs()
    Conversation.objects.update(reply_window_expires_at=timezone.now() - timedelta(hours=1))
    chatapp.sim.advance(86_400 + 60)
    screen = screen_beside_sim
    enter_site(screen, ben.user)
    screen.goto(f"/admin/desk/#{Conversation.objects.get().pk}")
    screen.get_by_role("button", name="Template", exact=True).click()
    dialog = screen.get_by_role("dialog")
    dialog.get_by_role("combobox").select_option("1")
    picture = f"{chatapp.sim.origin}/media/sample-image/p.jpg"
    dialog.get_by_label("Link to the image").fill(picture)
    dialog.get_by_label("Value for 1").fill("An")
    dialog.get_by_label("Value for Track").fill("A-17")
    assert violations(screen) == []
    dialog.get_by_role("button", name="Send").click()
    dialog.wait_for(state="detached")
    screen.get_by_text("Hello An", exact=True).wait_for()
    run_jobs()
    assert chatapp.replies() == ["Hello An"]
    (sent,) = [call["body"]["template"] for call in chatapp.sim.calls(what="sends")
               if "template" in call["body"]]  # fmt: skip
    assert [row["type"] for row in sent["components"]] == ["header", "body", "button"]


@pytest.mark.parametrize("language", ["de", "vi"])
def test_in_the_browser_a_price_is_written_in_the_language(
    screen_beside_sim, chatapp, number, quiet, ben, language
):
    type(ben.user).objects.update(language=language)
    ClientConfig.objects.update(message_prices={"utility": 0.05})
    enter_site(screen_beside_sim, ben.user)
    screen_beside_sim.goto("/admin/desk/")
    screen_beside_sim.locator("body[data-ready]").wait_for()
    new = {"de": "Neue Unterhaltung", "vi": "Cuộc trò chuyện mới"}[language]
    screen_beside_sim.get_by_role("button", name=new).click()
    price = screen_beside_sim.locator("[data-price]")
    price.wait_for()
    assert price.inner_text().endswith("0,05")


def test_in_the_browser_a_template_opens_a_chat_with_a_new_number(
    screen_beside_sim, chatapp, number, quiet, ben
):
    screen = screen_beside_sim
    enter_site(screen, ben.user)
    screen.goto("/admin/desk/")
    screen.locator("body[data-ready]").wait_for()
    # A price that is entered while the desk is open.
    ClientConfig.objects.update(message_prices={"utility": 0.0125})
    screen.get_by_role("button", name="New conversation").click()
    dialog = screen.get_by_role("dialog")
    number = dialog.get_by_label("Phone number")
    for wrong in ("0905 550 100", "call me", "+84 90"):
        number.fill(wrong)
        fault = number.evaluate("field => field.validationMessage")
        assert "such as +49 151 12345678" in fault, wrong
    number.fill("+84 (0)905-550.100")
    dialog.get_by_label("agree").fill("in the shop")
    dialog.get_by_label("Value for 1").fill("Mai")
    assert "0.0125" in dialog.locator("[data-price]").inner_text()
    assert violations(screen) == []
    dialog.get_by_role("button", name="Send").click()
    dialog.wait_for(state="detached")
    screen.get_by_text("Welcome, Mai!", exact=True).wait_for()
    chat = Conversation.objects.get()
    assert screen.evaluate("location.hash") == f"#{chat.pk}"
    assert (chat.assignee, chat.metadata) == (ben.user, {"consent": "in the shop"})
    # Whoever said STOP is not written to, and the dialog says so.
    Customer.objects.update(opt_out="all")
    screen.get_by_role("button", name="New conversation").click()
    dialog.get_by_label("Phone number").fill("84905550100")
    dialog.get_by_label("agree").fill("in the shop")
    dialog.get_by_label("Value for 1").fill("Mai")
    dialog.get_by_role("button", name="Send").click()
    dialog.get_by_role("alert").wait_for()
    run_jobs()
    calls = chatapp.sim.calls(what="sends")
    assert [call["body"]["to"] for call in calls if "template" in call["body"]] == ["84905550100"]
