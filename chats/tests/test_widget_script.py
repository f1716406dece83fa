"""The widget and the page around it: what the page may ask, is told, and when it speaks first."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from chatplatform.testing import run_jobs
from chatplatform.testing.browser import violations
from chats.models import Conversation, Message
from chats.tests.shop import Shop, news, running, write

# The chat is called before its script is there, as a page with an `async` tag may do.
EARLY = """
    window.chatWidget = (...rest) => (chatWidget.q = chatWidget.q || []).push(rest);
    window.told = [];
    for (const name of ["ready", "open", "close", "message", "unread"]) {
        chatWidget("on", name, (detail) => {
            told.push([name, detail?.from ?? detail ?? null]);
            document.documentElement.dataset.told = name;
        });
    }
"""
IN_THE_BACKGROUND = """(isHidden) => {
    Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    dispatchEvent(new Event("online"));
}"""


@pytest.fixture
def shop(site_origin: str, page, bot, problems: list[str], screen: Page) -> Iterator[Shop]:
    yield from running(site_origin, page, bot, screen, problems)


def test_a_page_opens_asks_hides_and_is_told(shop: Shop, screen: Page, ben):
    screen.add_init_script(f"if (top === window) {{ {EARLY} chatWidget('open'); }}")
    widget = shop.open(screen)
    field, frame = widget.get_by_label("Write a message"), screen.locator("iframe")
    expect(field).to_be_visible()
    screen.evaluate("chatWidget('ask', 'Where is my order?')")
    expect(widget.locator(".message.customer time")).to_be_visible()
    assert Message.objects.get(sender_type="customer").text == "Where is my order?"
    screen.evaluate("chatWidget.hide()")
    expect(frame).to_be_hidden()
    screen.evaluate("document.body.replaceWith(document.body.cloneNode(true))")
    screen.evaluate("chatWidget('show')")
    expect(frame).to_be_visible()
    expect(field).to_be_visible()
    screen.evaluate("chatWidget.hide()")
    expect(frame).to_be_hidden()
    screen.evaluate("chatWidget.open()")
    expect(field).to_be_visible()
    screen.evaluate("chatWidget('close')")
    expect(field).to_have_count(0)
    chat = Conversation.objects.get()
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Secret words"})
    screen.frames[1].evaluate("dispatchEvent(new Event('online'))")
    expect(screen.locator("html")).to_have_attribute("data-told", "unread")
    told = screen.evaluate("told")
    assert told[:2] == [["ready", None], ["open", None]]
    assert told[-3:] == [["close", None], ["message", "agent"], ["unread", 1]]
    assert "Secret" not in str(told), "what was said is nobody's but the visitor's"
    preview = widget.locator(".teaser")
    expect(preview).to_have_text("BenSecret words")
    # The frame is a part of the shop's page, which has headings and landmarks of its own.
    of_pages = ("landmark-one-main", "page-has-heading-one", "region")
    assert [found for found in violations(screen.frames[1]) if not found.startswith(of_pages)] == []
    widget.get_by_role("button", name="Dismiss").click()
    launcher = widget.get_by_role("button", name="Open the chat, 1 unread")
    expect(launcher).to_be_focused()
    news(screen)
    expect(preview).to_have_count(0)
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "More words"})
    news(screen)
    preview.get_by_text("More words").click()
    expect(field).to_be_visible()
    expect(preview).to_have_count(0)


def test_a_page_that_signs_its_visitor_out_leaves_nothing_behind(shop: Shop, screen: Page):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "My secret order")
    screen.evaluate("chatWidget('shutdown')")
    expect(screen.locator("iframe")).to_have_count(0)
    assert screen.evaluate("window.chatWidget === undefined")
    screen.reload()
    widget.get_by_role("button", name="Open the chat").click()
    expect(widget.get_by_label("Write a message")).to_be_visible()
    expect(widget.get_by_text("My secret order")).to_have_count(0)


def test_who_looks_elsewhere_hears_a_sound_and_reads_it_in_the_title(shop: Shop, screen: Page, ben):
    screen.add_init_script(
        """window.notes = 0;
        const { start } = OscillatorNode.prototype;
        OscillatorNode.prototype.start = function (...at) {
            notes += 1;
            start.apply(this, at);
        };"""
    )
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Hello")
    frame = screen.frames[1]
    frame.evaluate(IN_THE_BACKGROUND, True)
    chat = Conversation.objects.get()
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hi"})
    frame.evaluate(IN_THE_BACKGROUND, True)
    expect(screen).to_have_title(re.compile("^1 "))
    assert frame.evaluate("notes") == 2
    frame.evaluate(IN_THE_BACKGROUND, False)
    expect(screen).to_have_title("Shop")
    widget.get_by_role("button", name="Chat options").click()
    widget.get_by_role("button", name="Turn sound off").click()
    frame.evaluate(IN_THE_BACKGROUND, True)
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Still there?"})
    frame.evaluate(IN_THE_BACKGROUND, True)
    expect(screen).to_have_title(re.compile("^1 "))
    assert frame.evaluate("notes") == 2


def test_it_speaks_first_on_the_pages_and_to_the_visitors_of_the_rule(
    shop: Shop, screen: Page, bot
):
    bot.engaging_message = {"en": "Need help?"}
    bot.engaging_pages, bot.engaging_seconds = "/prices, /shop/*", 5
    bot.engaging_visitors = "returning"
    bot.save()
    screen.clock.install()
    widget = shop.open(screen)
    launcher = widget.get_by_role("button", name="Open the chat")
    teaser = widget.get_by_text("Need help?")
    expect(launcher).to_be_visible()
    screen.clock.run_for(10_000)
    expect(teaser).to_have_count(0)
    # Another page without a reload, to a visitor who is new.
    visit = "(path) => { history.pushState(0, '', path); document.body.append('.'); }"
    screen.evaluate(visit, "/shop/shoes")
    screen.clock.run_for(10_000)
    expect(teaser).to_have_count(0)
    screen.clock.run_for(40 * 60_000)
    screen.reload()
    expect(launcher).to_be_visible()
    screen.clock.run_for(4_000)
    expect(teaser).to_have_count(0)
    screen.clock.run_for(2_000)
    expect(teaser).to_be_visible()
    # The frame is no higher than what it shows: the page beside it can be pressed.
    box = screen.locator("iframe").bounding_box()
    assert box
    assert box["height"] < 180
    under = "([x, y]) => document.elementFromPoint(x, y)?.tagName ?? ''"
    foot = box["y"] + box["height"] - 40
    assert screen.evaluate(under, [box["x"] + 60, foot]) != "IFRAME"
    for inside in ([box["x"] + 60, box["y"] + 30], [box["x"] + box["width"] - 40, foot]):
        assert screen.evaluate(under, inside) == "IFRAME"
    run_jobs()
