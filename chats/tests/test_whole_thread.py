"""A customer's widget and an agent's desk, side by side, in one chat from its start to its end.

The suite has its parts: `test_widget` and `test_desk` lose the server and the network too.
"""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from bots.testing import trained
from chatplatform.testing import run_jobs
from chatplatform.testing.web_process import free_port, web
from chats.models import Conversation, Feedback, Message
from chats.tests import shop as widgets
from chats.tests import test_desk as desk

STAMP = "window.stamp = 1"
STAMPED = "window.stamp === 1"


def wait_in_widget(widget, text: str) -> None:
    """The customer writes what cannot be sent now."""
    widget.get_by_label("Write a message").fill(text)
    widget.get_by_label("Write a message").press("Enter")
    expect(widget.locator(".waiting")).to_contain_text(text)


def both_show(screen: Page, widget, text: str) -> None:
    """Everybody sees it, once and as stored."""
    expect(widget.locator(".message:not(.waiting) .text", has_text=text)).to_have_count(1)
    expect(desk.log(screen).locator(".said", has_text=text)).to_have_count(1)


def begin(screen: Page, widget) -> None:
    """The bot answers with its source, the customer asks for a person, and Ben takes the chat."""
    widget.get_by_role("button", name="Open the chat").click()
    widgets.write(widget, "How long may I return an order?")
    run_jobs()
    widget.locator(".sources summary").click()
    expect(widget.locator(".sources blockquote")).to_contain_text(widgets.ANSWERED)
    widgets.write(widget, "I want to talk to a human agent")
    run_jobs()
    screen.locator("button.chat").click()
    screen.get_by_role("button", name="Assign to me").click()
    expect(widget.get_by_role("heading", level=1)).to_have_text("Ben")
    desk.write(screen, "Ben here.")
    both_show(screen, widget, "Ben here.")
    widgets.write(widget, "My parcel is blue")
    both_show(screen, widget, "My parcel is blue")


def write_without_server(screen: Page, widget) -> None:
    expect(screen.get_by_role("alert")).to_contain_text("You're offline")
    wait_in_widget(widget, "Are you there?")
    widget.get_by_label("Write a message").fill("Another half")


def write_without_network(screen: Page, widget, contexts: tuple[BrowserContext, ...]) -> None:
    for context in contexts:
        context.set_offline(True)
    desk.write(screen, "It is on its way.")
    wait_in_widget(widget, "Another half, now whole")
    for context in contexts:
        context.set_offline(False)
    both_show(screen, widget, "It is on its way.")
    both_show(screen, widget, "Another half, now whole")
    expect(desk.log(screen).locator(".pending")).to_have_count(0)


def end_and_rate(screen: Page, widget) -> None:
    screen.get_by_role("button", name="End", exact=True).click()
    widget.get_by_label("5 out of 5").check()
    widget.get_by_role("button", name="Send rating").click()
    expect(widget.get_by_text("Thank you!")).to_be_visible()


@pytest.mark.drill
@pytest.mark.usefixtures("transactional_db")
def test_a_chat_goes_through_a_dead_server_and_a_dead_network_without_a_reload(
    browser, page, bot, ben
):
    bot.allowed_domain = "localhost"
    bot.save()
    trained(bot, f"Returns. {widgets.ANSWERED}")
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    shop = widgets.Shop(origin, page.headers["API-KEY"])
    contexts = browser.new_context(), browser.new_context(base_url=origin)
    customer, screen = (context.new_page() for context in contexts)

    with web(port=port):
        desk.enter(screen, ben)
        desk.show(screen, "Unassigned")
        widget = shop.open(customer)
        for window in (screen, customer):
            window.evaluate(STAMP)
        begin(screen, widget)
        screen.locator("#composer").fill("Half a thought")
    write_without_server(screen, widget)
    with web(port=port):
        both_show(screen, widget, "Are you there?")
        expect(screen.locator("#composer")).to_have_value("Half a thought")
        expect(widget.get_by_label("Write a message")).to_have_value("Another half")
        write_without_network(screen, widget, contexts)
        end_and_rate(screen, widget)
        assert all(window.evaluate(STAMPED) for window in (screen, customer))
        for context in contexts:
            context.close()
    shop.server.shutdown()
    shop.server.server_close()
    assert_all_is_stored_once(by=ben)


def assert_all_is_stored_once(by) -> None:
    chat = Conversation.objects.get()
    assert (chat.status, chat.assignee, Feedback.objects.get().rating) == ("ended", by.user, 5)
    said = Message.objects.filter(sender_type__in=["customer", "agent"]).order_by("seq")
    texts = [message.text for message in said]
    assert texts[:5] == [
        "How long may I return an order?",
        "I want to talk to a human agent",
        "Ben here.",
        "My parcel is blue",
        "Are you there?",
    ]
    # Both came back at once: who was first is not said.
    assert sorted(texts[5:]) == ["Another half, now whole", "It is on its way."]
