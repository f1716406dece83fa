"""The widget's talk: what is said is easy to read, and it is told what happens to it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from chatplatform.live import valkey
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import violations
from chats.models import Conversation
from chats.services.core import presence
from chats.testing import make_chat
from chats.tests.shop import Shop, news, running, write
from identity.models import ClientConfig

MARKS = """**Sizes** and `EU 42`:

- small
- large

1. Go to [the shop](https://shop.example/a_(b))
2. Write to help@shop.example or call +49 30 1234567 (or https://shop.example/c)

```
total = 3 * 4
```"""


@pytest.fixture
def shop(site_origin: str, page, bot, problems: list[str], screen: Page) -> Iterator[Shop]:
    yield from running(site_origin, page, bot, screen, problems)


PHONE_FIELD = {
    "name": "phone", "label": {"en": "Phone"}, "type": "phone", "required": False, "options": [],
    "ask_before_chat": False, "question": {},
}  # fmt: skip


def begun(shop: Shop, screen: Page, text: str = "Hello"):
    """The open widget, and a chat in which the visitor said something."""
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, text)
    return widget, Conversation.objects.get()


def test_marks_and_links_are_drawn_and_what_visitors_type_stays_as_it_is(
    shop: Shop, screen: Page, ben
):
    widget, chat = begun(shop, screen, "**Bold** of you, zoe@x.example")
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200
    assert ben.post(f"/ai/chat/{chat.pk}/manual", {"text": MARKS}).status_code == 201
    news(screen)
    said = widget.locator(".message.agent .text")
    expect(said.locator("strong")).to_have_text("Sizes")
    expect(said.locator("p code")).to_have_text("EU 42")
    expect(said.locator("ul li")).to_have_text(["small", "large"])
    expect(said.locator("ol li")).to_have_count(2)
    expect(said.locator("pre")).to_have_text("total = 3 * 4")
    links = [(link.inner_text(), link.get_attribute("href")) for link in said.locator("a").all()]
    assert links == [
        ("the shop", "https://shop.example/a_(b)"),
        ("help@shop.example", "mailto:help@shop.example"),
        ("+49 30 1234567", "tel:+49301234567"),
        ("https://shop.example/c", "https://shop.example/c"),
    ]
    own = widget.locator(".message.customer .text")
    expect(own).to_have_text("**Bold** of you, zoe@x.example")
    expect(own.get_by_role("link")).to_have_attribute("href", "mailto:zoe@x.example")


def test_sources_have_numbers_and_the_titles_of_their_sections(shop: Shop, screen: Page):
    widget, chat = begun(shop, screen, "How long may I return an order?")
    run_jobs()
    expect(widget.locator(".message.bot").last).to_contain_text("thirty days")
    rules = {"document_id": 7, "title": "rules-v3.pdf", "page": None, "url": f"{shop.url}rules"}
    cited = [
        rules | {"section": "Returns", "quote": "Thirty days.", "number": 4},
        rules | {"section": "Refunds", "quote": "By your card.", "number": 2},
        rules | {"section": "Returns", "quote": "With its receipt.", "number": 7},
    ]
    text = "**Thirty days** [4, 7], by your card [2]. See box [9]."
    answer = chat.messages.filter(sender_type="bot", is_welcome=False)
    answer.update(content=[{"type": "text", "text": text}], citations=cited)
    screen.reload()
    said = widget.locator(".message.bot").last
    expect(said.locator(".text")).to_have_text("Thirty days¹, by your card². See box [9].")
    expect(said.locator(".sources summary")).to_have_text(["¹ Returns", "² Refunds"])
    said.locator("summary").first.click()
    expect(said.locator("blockquote").nth(1)).to_be_visible()
    link = said.get_by_role("link", name="View source")
    expect(link).to_have_attribute("href", f"{shop.url}rules#:~:text=Thirty%20days.")


def test_who_reads_further_up_is_left_there_and_told_of_news(shop: Shop, screen: Page, ben):
    widget, chat = begun(shop, screen)
    path = f"/ai/chat/{chat.pk}/manual"
    assert ben.post(path, {"text": "word\n" * 80}).status_code == 201
    news(screen)
    log = widget.locator(".log")
    expect(widget.locator(".message.agent")).to_have_count(1)
    newer = widget.get_by_role("button", name="New message")
    expect(newer).to_have_count(0)
    log.evaluate("(log) => { log.scrollTop = 0; }")
    screen.wait_for_timeout(100)
    ben.post(path, {"text": "Last words"})
    news(screen)
    expect(newer).to_be_in_viewport()
    assert log.evaluate("(log) => log.scrollTop") == 0
    newer.click()
    expect(widget.get_by_text("Last words")).to_be_in_viewport()
    expect(newer).to_have_count(0)
    # One's own words show the end.
    log.evaluate("(log) => { log.scrollTop = 0; }")
    screen.wait_for_timeout(100)
    write(widget, "Mine")
    expect(widget.get_by_text("Mine")).to_be_in_viewport()


def test_the_head_stays_in_its_place_after_a_reload_of_a_long_chat(shop: Shop, screen: Page, ben):
    widget, chat = begun(shop, screen)
    for number in range(8):
        said = {"text": f"Line {number}\n" * 6}
        assert ben.post(f"/ai/chat/{chat.pk}/manual", said).status_code == 201
    screen.reload()
    expect(widget.get_by_text("Line 7").last).to_be_in_viewport()
    panel = widget.locator(".panel")
    fits = "(place) => place.scrollHeight <= place.clientHeight"
    assert panel.evaluate(fits)
    # Also where a browser wants to bring something into view.
    widget.locator(".message .unseen").last.evaluate("(place) => place.scrollIntoView()")
    top = "(place) => place.getBoundingClientRect().top"
    assert widget.locator(".head").evaluate(top) == panel.evaluate(top) + 1
    assert panel.evaluate("(place) => { place.scrollTop = 99; return place.scrollTop; }") == 0


def test_an_answer_is_awaited_after_a_reload(shop: Shop, screen: Page):
    widget, _ = begun(shop, screen, "How long may I return an order?")
    dots = widget.locator(".draft .dots")
    expect(dots).to_be_visible()
    screen.reload()
    expect(dots).to_be_visible()
    run_jobs()
    expect(widget.locator(".message.bot").last).to_contain_text("thirty days")
    expect(dots).to_have_count(0)


def test_ones_own_words_are_sent_and_seen_and_one_persons_messages_are_grouped(
    shop: Shop, screen: Page, ben
):
    widget, chat = begun(shop, screen, "I want to talk to a human agent")
    run_jobs()
    write(widget, "It is about my order")
    state = widget.locator("[data-state]")
    expect(state).to_have_attribute("data-state", "sent")
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200
    assert ben.post(f"/ai/chat/{chat.pk}/read", {}).status_code < 300
    news(screen)
    expect(state).to_have_attribute("data-state", "seen")
    for text in ("Hello", "One moment"):
        ben.post(f"/ai/chat/{chat.pk}/manual", {"text": text})
    news(screen)
    expect(widget.locator(".message.agent")).to_have_count(2)
    expect(widget.locator(".message.agent .by")).to_have_count(1)
    expect(widget.locator(".message.agent.continued")).to_contain_text("One moment")
    status = widget.get_by_role("status")
    expect(status).to_contain_text("Ben")
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "bot"}).status_code == 200
    news(screen)
    expect(status).not_to_contain_text("Ben")
    expect(status).to_contain_text(chat.bot.bot_name)


def closed_now() -> list[dict[str, str | int]]:
    """Hours of tomorrow alone, by the client's clock."""
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).weekday()
    return [{"weekday": tomorrow, "opens": "09:00", "closes": "17:00"}]


def test_who_waits_is_told_when_somebody_is_there_and_may_leave_a_mailbox(
    shop: Shop, screen: Page, ben, client_a
):
    ClientConfig.objects.update(business_hours=closed_now())
    widget, chat = begun(shop, screen, "I want to talk to a human agent")
    run_jobs()
    news(screen)
    status = widget.get_by_role("status")
    expect(status).to_contain_text("We're closed. Back on ")
    expect(status).to_contain_text(" at 09:00.")
    expect(status).not_to_contain_text("number")
    mailbox = widget.get_by_label("Leave your email")
    mailbox.fill("zoe@example")
    screen.reload()
    expect(mailbox).to_have_value("zoe@example")
    assert violations(screen.frames[1]) == []
    mailbox.fill("zoe@example.com")
    mailbox.press("Enter")
    expect(status).to_contain_text("We'll also email you at zoe@example.com.")
    expect(mailbox).to_have_count(0)
    chat.refresh_from_db()
    assert chat.customer.email == "zoe@example.com"
    # Open, but nobody is at the desk: that is said too, and not a place in a line.
    ClientConfig.objects.update(business_hours=[])
    valkey.shared().delete(presence._key(client_a.pk))
    screen.reload()
    expect(status).to_contain_text("No one is online right now.")
    presence.touch(ben.user)
    screen.reload()
    expect(status).to_contain_text("number 1")
    expect(status).not_to_contain_text("Nobody")


def test_widget_and_bot_tell_the_same_opening(shop: Shop, screen: Page, bot, client_a):
    """In the visitor's time zone, with the company's beside it where it differs."""
    type(client_a).objects.update(timezone="Asia/Tokyo")
    words = {"en": "We are back on {opens}."}
    ClientConfig.objects.update(business_hours=closed_now(), out_of_hours_message=words)
    widget, chat = begun(shop, screen, "I want to talk to a human agent")
    run_jobs()
    news(screen)
    [said] = chat.messages.filter(sender_type="system").values_list("text", flat=True)
    day, clock = said.removeprefix("We are back on ").removesuffix(" Japan Time).").split(", ", 1)
    shown = re.compile(rf"We're closed\. Back on {day} at {re.escape(clock)} Japan [A-Z\w ]+\)\.")
    expect(widget.get_by_role("status")).to_contain_text(shown)
    expect(widget.get_by_label("Leave your email")).to_be_visible()
    # The company asks for phone numbers, and has this visitor's.
    chat.customer.phone = "+81 3 1234 5678"
    chat.customer.save()
    bot.customer_info_fields = [PHONE_FIELD]
    bot.save()
    screen.reload()
    expect(widget.get_by_role("status")).to_contain_text("We're closed.")
    expect(widget.get_by_label("Leave your email")).to_have_count(0)


def test_whom_a_person_has_not_answered_yet_is_told_as_who_waits(
    shop: Shop, screen: Page, ben, client_a
):
    widget, chat = begun(shop, screen, "I want to talk to a human agent")
    run_jobs()
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200
    presence.touch(ben.user)
    screen.reload()
    status, mailbox = widget.get_by_role("status"), widget.get_by_label("Leave your email")
    expect(widget.get_by_role("heading", level=1)).to_have_text("Ben")
    expect(status).not_to_be_empty()
    expect(status).not_to_contain_text("Ben")
    # He leaves before he has written.
    valkey.shared().delete(presence._key(client_a.pk))
    screen.reload()
    expect(status).to_contain_text("No one is online right now.")
    expect(mailbox).to_be_visible()
    assert ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Here I am"}).status_code == 201
    news(screen)
    expect(status).to_contain_text("Ben")
    expect(mailbox).to_have_count(0)
    # And before the customer has written again.
    valkey.shared().delete(presence._key(client_a.pk))
    screen.reload()
    write(widget, "Are you there?")
    expect(status).to_contain_text("No one is online right now.")
    expect(mailbox).to_be_visible()


def test_it_begins_with_how_soon_somebody_answers_earlier_chats_and_questions(
    shop: Shop, screen: Page, ben, bot, client_a
):
    for _ in range(5):
        taken = make_chat(bot, assign_type="queue")
        assert ben.post(f"/ai/chat/{taken.pk}/manual", {"text": "Here I am"}).status_code == 201
        ago = timezone.now() - timedelta(minutes=4, seconds=30)
        Conversation.objects.filter(pk=taken.pk).update(handed_off_at=ago)
    bot.sample_questions.create(client=client_a, question="When do you open?", language="en")
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    expect(widget.locator(".soon")).to_contain_text("5 minutes")
    field = widget.get_by_label("Write a message")
    write(widget, "About shoes")
    expect(widget.locator(".soon")).to_have_count(0)
    field.fill("Half a sen")
    of_visitors = Conversation.objects.filter(visitor_id__isnull=False)
    shoes = of_visitors.get()
    widget.get_by_role("button", name="Back to home screen").click()
    expect(widget.get_by_text("About shoes")).to_have_count(1)
    assert violations(screen.frames[1]) == []
    ben.post(f"/ai/chat/{shoes.pk}/manual", {"text": "Blue ones"})
    news(screen)
    widget.locator(".earlier button").filter(has_text="Blue ones").click()
    expect(widget.locator(".message.agent")).to_contain_text("Blue ones")
    expect(field).to_have_value("Half a sen")
    assert ben.post(f"/ai/chat/{shoes.pk}/end").status_code == 200
    news(screen)
    widget.get_by_role("button", name="Back to home screen").click()
    field.fill("")
    widget.get_by_role("button", name="When do you open?").click()
    expect(widget.locator(".message.customer time")).to_have_count(1)
    assert of_visitors.count() == 2, "what has ended does not go on"
    screen.reload()
    widget.get_by_role("button", name="Back to home screen").click()
    expect(widget.locator(".earlier button")).to_have_count(2)
    widget.locator(".earlier button").filter(has_text="Blue ones").click()
    expect(widget.locator(".message.customer")).to_contain_text("About shoes")


def test_who_has_rated_is_not_asked_again(shop: Shop, screen: Page, ben):
    widget, chat = begun(shop, screen)
    assert ben.post(f"/ai/chat/{chat.pk}/end").status_code == 200
    news(screen)
    widget.get_by_label("4 out of 5").check()
    widget.get_by_role("button", name="Send rating").click()
    expect(widget.locator(".stars")).to_have_count(0)
    widget.get_by_role("button", name="Back to home screen").click()
    widget.locator(".earlier button").click()
    expect(widget.get_by_role("button", name="Start a new chat")).to_be_visible()
    expect(widget.locator(".stars")).to_have_count(0)
    screen.reload()
    expect(widget.get_by_role("button", name="Start a new chat")).to_be_visible()
    expect(widget.locator(".stars")).to_have_count(0)


def test_the_transcript_has_the_readers_times(shop: Shop, screen: Page, bot):
    bot.export_enabled = True
    bot.save()
    widget, _ = begun(shop, screen)
    zone = screen.evaluate("new Intl.DateTimeFormat().resolvedOptions().timeZone")
    widget.get_by_role("button", name="Chat options").click()
    with screen.expect_download() as download:
        widget.get_by_role("button", name="Download transcript").click()
    assert f"({zone})" in download.value.path().read_text().partition("\n")[0]


def test_escape_closes_the_menu_alone(shop: Shop, screen: Page):
    widget, _ = begun(shop, screen)
    more = widget.get_by_role("button", name="Chat options")
    more.click()
    end = widget.get_by_role("button", name="End chat")
    end.press("Escape")
    expect(end).to_have_count(0)
    expect(more).to_be_focused()
    more.press("Enter")
    widget.get_by_label("Write a message").press("Escape")
    expect(end).to_have_count(0)
    more.press("Enter")
    widget.locator(".log").click(position={"x": 5, "y": 5})
    expect(end).to_have_count(0)
    widget.get_by_label("Write a message").press("Escape")
    expect(widget.get_by_role("button", name="Open the chat")).to_be_focused()


def test_no_field_makes_a_phone_zoom_in(shop: Shop, screen: Page, bot):
    bot.export_enabled = True
    bot.save()
    widget, chat = begun(shop, screen)
    widget.get_by_role("button", name="Chat options").click()
    widget.get_by_role("button", name="Email transcript").click()
    sizes = """[...document.querySelectorAll("input, textarea, select")].map((field) =>
        parseFloat(getComputedStyle(field).fontSize))"""
    assert min(screen.frames[1].evaluate(sizes)) >= 16
    assert chat.status == "open"
