"""What the widget remembers is one person's, in whichever tab and wherever it is kept."""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, Request, Route, expect

from chats.models import Conversation
from chats.tests.shop import Shop, news, running, statuses, write

# Browsers refuse storage to frames of another site, if their user wants that.
REFUSED = """if (top !== window) Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("refused", "SecurityError"); },
});"""
# A tab that hears nothing of the others before it looks.
DEAF = 'addEventListener("storage", (event) => event.stopImmediatePropagation(), true);'
# The requests that open a chat or store a message.
SENDS = re.compile(r"/ai/client/chat(/[0-9a-f-]+)?$")
# Milliseconds after which another tab sends: when the first is gone, or has had its time.
PATIENCE = {"closed": 5_000, "frozen": 30_000}
SECRET, DRAFT = "My secret order", "My secret draft"


@pytest.fixture
def shop(site_origin: str, page, bot, problems: list[str], screen: Page) -> Iterator[Shop]:
    yield from running(site_origin, page, bot, screen, problems)


@pytest.fixture(params=["frame", "page"])
def keeper(request, screen: Page) -> str:
    """Who keeps the memory: the frame, or the page, where the frame gets no storage."""
    keeper: str = request.param
    if keeper == "page":
        screen.context.add_init_script(REFUSED)
    return keeper


@pytest.fixture
def name(shop: Shop, ann, bot):
    """A function that has the shop's pages name a person; one with a "?" is not proved."""
    secret = ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]

    def sign(who: str | None) -> None:
        for attribute in ("data-external-id", "data-identity-signature"):
            shop.attributes.pop(attribute, None)
        if who:
            key = secret if not who.endswith("?") else "guessed"
            proof = hmac.new(key.encode(), who.encode(), hashlib.sha256).hexdigest()
            shop.attributes["data-external-id"] = who
            shop.attributes["data-identity-signature"] = proof

    return sign


def start(shop: Shop, screen: Page) -> FrameLocator:
    """The open widget of a tab."""
    widget = shop.open(screen)
    screen.evaluate("chatWidget.open()")
    expect(widget.get_by_label("Write a message")).to_be_visible()
    return widget


def kept(screen: Page, keeper: str) -> dict[str, object]:
    """What is remembered now."""
    place = screen.frames[1] if keeper == "frame" else screen
    texts = place.evaluate(
        "Object.entries(localStorage).filter(([name]) => name.startsWith('chat-widget:'))"
    )
    ((_, text),) = texts
    found: dict[str, object] = json.loads(text)
    return found


def above_all(first: str, second: str) -> pytest.MarkDecorator:
    """One keeper; the other one is a drill."""
    drill = pytest.param(second, marks=pytest.mark.drill)
    return pytest.mark.parametrize("keeper", [first, drill], indirect=True)


def with_keepers(name: str, *cases: Any) -> pytest.MarkDecorator:
    """Each case with each keeper; every second one is a drill."""
    return pytest.mark.parametrize(
        (name, "keeper"),
        [
            pytest.param(case, keeper, marks=[pytest.mark.drill] * ((number + is_page) % 2))
            for number, case in enumerate(cases)
            for is_page, keeper in enumerate(("frame", "page"))
        ],
        indirect=["keeper"],
    )


# Two people, and whether the first tab hears nothing of the second.
@with_keepers(
    "case",
    ("c-1", "c-2", False), ("c-1", "c-2", True), ("c-1", None, True), ("c-1", None, False),
    (None, "c-3?", False), (None, "c-3?", True),
)  # fmt: skip
def test_two_tabs_of_two_people_share_nothing(
    shop: Shop, screen: Page, name, keeper, case, problems
):
    first, second, is_deaf = case
    if is_deaf:
        screen.add_init_script(DEAF)
    name(first)
    one = start(shop, screen)
    write(one, SECRET)
    one.get_by_label("Write a message").fill(DRAFT)
    name(second)
    tab = screen.context.new_page()
    two = start(shop, tab)
    expect(two.get_by_label("Write a message")).to_have_value("")
    expect(two.locator(".message.customer")).to_have_count(0)
    write(two, "Hello from another")
    two.get_by_label("Write a message").fill("Draft of another")
    # The first tab writes on, whether it has heard of that or not.
    if is_deaf:
        one.get_by_label("Write a message").fill(f"{DRAFT}, and more")
        news(screen)
    expect(one.get_by_text(SECRET)).to_have_count(0)
    if not is_deaf:
        expect(one.get_by_label("Write a message")).to_have_value("")
    write(one, "Still the first")
    one.get_by_label("Write a message").fill("Draft of the first")
    news(screen)
    expect(one.locator(".message.customer")).to_have_count(1)
    memory = json.dumps(kept(tab, keeper))
    assert "Draft of another" in memory
    assert not re.search("secret|the first", memory)
    for _ in range(2):
        expect(two.locator(".message.customer .text")).to_have_text(["Hello from another"])
        expect(two.get_by_label("Write a message")).to_have_value("Draft of another")
        tab.reload()
    tab.close()
    said = {
        chat.messages.get(sender_type="customer").text: chat.customer.external_id
        for chat in Conversation.objects.all()
    }
    proved = {who: who if who and not who.endswith("?") else None for who in (first, second)}
    assert said == {
        SECRET: proved[first], "Still the first": proved[first],
        "Hello from another": proved[second],
    }  # fmt: skip
    # Without a proof the server knows nobody.
    assert statuses(problems) == ({"401"} if second == "c-3?" else set())


@with_keepers("is_deaf", False, True)
def test_two_tabs_of_nobody_go_on_with_the_same_chat(
    shop: Shop, screen: Page, keeper, is_deaf, problems
):
    if is_deaf:
        screen.add_init_script(DEAF)
    one = start(shop, screen)
    write(one, SECRET)
    tab = screen.context.new_page()
    two = start(shop, tab)
    expect(two.get_by_text(SECRET)).to_be_visible()
    two.get_by_role("button", name="Chat options").click()
    two.get_by_role("button", name="End chat").click()
    two.get_by_role("button", name="End chat").click()
    two.get_by_role("button", name="Start a new chat").click()
    write(two, "A new chat")
    if is_deaf:
        news(screen)
    expect(one.locator(".message.customer .text")).to_have_text(["A new chat"])
    newest = Conversation.objects.order_by("-id")[0]
    assert kept(tab, keeper)["chat"] == str(newest.pk)
    # The shop signs out, and the next visitor comes.
    tab.evaluate("chatWidget('shutdown')")
    expect(tab.locator("iframe")).to_have_count(0)
    two = start(shop, tab)
    expect(two.locator(".message.customer, .earlier")).to_have_count(0)
    write(two, "Somebody else")
    news(screen)
    expect(one.get_by_text("A new chat")).to_have_count(0)
    for _ in range(2):
        expect(two.locator(".message.customer .text")).to_have_text(["Somebody else"])
        tab.reload()
    tab.close()
    assert statuses(problems) == set()


@above_all("page", "frame")
def test_a_message_that_waits_in_two_tabs_is_sent_by_one(
    shop: Shop, screen: Page, keeper, problems
):
    one = start(shop, screen)
    held: list[Route] = []
    sent: list[str] = []

    def hold(route: Route) -> None:
        held.append(route)

    def note(request: Request) -> None:
        if request.method == "POST" and SENDS.search(request.url):
            sent.append(request.url)

    screen.context.on("request", note)
    screen.context.route(SENDS, hold)
    with screen.expect_request(SENDS):
        one.locator(".composer textarea").fill(SECRET)
        one.locator(".composer textarea").press("Enter")
    tab = screen.context.new_page()
    two = start(shop, tab)
    expect(two.locator(".waiting")).to_contain_text(SECRET)
    tab.wait_for_timeout(300)
    assert len(held) == 1
    held[0].continue_()
    screen.context.unroute(SENDS, hold)
    for widget in (one, two):
        expect(widget.locator(".message.customer .text")).to_have_text([SECRET])
        expect(widget.locator(".waiting")).to_have_count(0)
    tab.close()
    Conversation.objects.get(messages__text=SECRET)
    # One opened the chat and sent the message.
    assert len(sent) == 2
    assert statuses(problems) == set()


@with_keepers("is_deaf", True, False)
def test_two_tabs_that_write_at_once_open_one_chat(
    shop: Shop, screen: Page, keeper, is_deaf, problems
):
    if is_deaf:
        screen.context.add_init_script(DEAF)
    tab = screen.context.new_page()
    said = {screen: "First words", tab: "Second words"}
    widgets = {one: start(shop, one) for one in said}
    for one, text in said.items():
        widgets[one].locator(".composer textarea").fill(text)
    for one in said:
        one.frames[1].evaluate(
            "document.querySelector('.composer textarea').dispatchEvent("
            "new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))"
        )
    for one, widget in widgets.items():
        expect(widget.locator(".message.customer", has_text=said[one])).to_be_visible()
        expect(widget.locator(".waiting")).to_have_count(0)
    for one, widget in widgets.items():
        if is_deaf:
            news(one)
        expect(widget.locator(".message.customer")).to_have_count(2)
    tab.close()
    chat = Conversation.objects.get()
    words = chat.messages.filter(sender_type="customer").values_list("text", flat=True)
    assert sorted(words) == sorted(said.values())
    assert statuses(problems) == set()


def test_a_chat_that_another_tab_wrote_over_is_opened_again(
    shop: Shop, screen: Page, keeper, problems
):
    tab = screen.context.new_page()
    start(shop, tab)
    one = start(shop, screen)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    screen.route(SENDS, hold)
    with screen.expect_request(SENDS):
        one.locator(".composer textarea").fill(SECRET)
        one.locator(".composer textarea").press("Enter")
    tab.wait_for_timeout(300)
    place = tab.frames[1] if keeper == "frame" else tab
    place.evaluate("window.old = { ...localStorage }")
    screen.route("**/history/**", hold)
    with screen.expect_request("**/history/**"):
        held[0].continue_()
    screen.unroute(SENDS, hold)
    # Tabs in two processes may write at the same time; the last one wins.
    place.evaluate("Object.assign(localStorage, window.old)")
    tab.wait_for_timeout(300)
    held[1].continue_()
    screen.unroute("**/history/**", hold)
    expect(one.locator(".message.customer .text")).to_have_text([SECRET])
    expect(one.locator(".waiting")).to_have_count(0)
    expect(one.locator(".composer textarea")).to_have_value("")
    tab.close()
    assert Conversation.objects.get().messages.filter(sender_type="customer").count() == 1
    assert statuses(problems) == set()


@pytest.mark.parametrize("fate", ["closed", "frozen"])
def test_a_tab_that_is_closed_or_frozen_keeps_no_other_from_sending(
    shop: Shop, screen: Page, fate, problems
):
    two = start(shop, screen)
    tab = screen.context.new_page()
    one = start(shop, tab)
    if fate == "frozen":
        # It never gives up its request.
        tab.frames[1].evaluate("setTimeout = () => 0")
    tab.route(SENDS, lambda route: None)
    with tab.expect_request(SENDS):
        one.locator(".composer textarea").fill(SECRET)
        one.locator(".composer textarea").press("Enter")
    two.locator(".composer textarea").fill("Second words")
    two.locator(".composer textarea").press("Enter")
    expect(two.locator(".waiting")).to_contain_text("Second words")
    if fate == "closed":
        tab.close()
    expect(two.locator(".waiting")).to_have_count(0, timeout=PATIENCE[fate])
    expect(two.locator(".message.customer .text")).to_have_text(["Second words"])
    # It is waited for once.
    write(two, "Third words")
    tab.close()
    # What the lost tab has not sent is sent by the next one.
    two = start(shop, screen)
    said = ["Second words", "Third words", SECRET]
    expect(two.locator(".message.customer .text")).to_have_text(said)
    expect(two.locator(".waiting")).to_have_count(0)
    chat = Conversation.objects.get()
    assert chat.messages.filter(sender_type="customer").count() == 3
    assert statuses(problems) == set()


@above_all("frame", "page")
def test_a_tab_that_looks_between_two_chats_of_another_tab_finds_the_second(
    shop: Shop, screen: Page, keeper, problems
):
    screen.add_init_script(DEAF)
    one = start(shop, screen)
    write(one, SECRET)
    tab = screen.context.new_page()
    two = start(shop, tab)
    expect(two.get_by_text(SECRET)).to_be_visible()
    two.get_by_role("button", name="Chat options").click()
    two.get_by_role("button", name="End chat").click()
    two.get_by_role("button", name="End chat").click()
    two.get_by_role("button", name="Start a new chat").click()
    news(screen)
    expect(one.locator(".message.customer")).to_have_count(0)
    write(two, "A new chat")
    news(screen)
    expect(one.locator(".message.customer .text")).to_have_text(["A new chat"])
    tab.close()
    assert statuses(problems) == set()


@above_all("page", "frame")
def test_words_that_wait_in_a_chat_that_another_tab_has_left_are_back_in_the_field(
    shop: Shop, screen: Page, keeper, problems
):
    screen.add_init_script(DEAF)
    one = start(shop, screen)
    tab = screen.context.new_page()
    two = start(shop, tab)
    # The first tab reads the chat that it has opened for as long as this takes.
    waiting: list[Route] = []
    asked = re.compile("/ai/client/chat/history/")

    def hold(route: Route) -> None:
        waiting.append(route)

    screen.route(asked, hold)
    with screen.expect_request(asked):
        for text in ("First words", "Second words"):
            one.locator(".composer textarea").fill(text)
            one.locator(".composer textarea").press("Enter")
    write(two, SECRET)
    two.get_by_role("button", name="Chat options").click()
    two.get_by_role("button", name="End chat").click()
    two.get_by_role("button", name="End chat").click()
    two.get_by_role("button", name="Start a new chat").click()
    write(two, "A new chat")
    for route in waiting:
        route.continue_()
    screen.unroute(asked)
    expect(one.get_by_label("Write a message")).to_have_value("First words\nSecond words")
    expect(one.locator(".message.customer .text")).to_have_text(["A new chat"])
    tab.close()
    assert statuses(problems) == set()


@above_all("frame", "page")
def test_who_signs_in_after_the_end_finds_nothing_of_the_ended_chat(
    shop: Shop, screen: Page, name, keeper
):
    widget = start(shop, screen)
    write(widget, SECRET)
    widget.get_by_role("button", name="Chat options").click()
    widget.get_by_role("button", name="End chat").click()
    widget.get_by_role("button", name="End chat").click()
    widget.get_by_role("button", name="Start a new chat").click()
    widget.get_by_label("Write a message").fill("Half a sen")
    name("c-1")
    widget = start(shop, screen)
    expect(widget.get_by_label("Write a message")).to_have_value("Half a sen")
    expect(widget.locator(".earlier")).to_have_count(0)
    memory = kept(screen, keeper)
    assert not memory.get("token")
    assert "secret" not in json.dumps(memory)
    write(widget, "Who am I?")
    owners = [chat.customer.external_id for chat in Conversation.objects.order_by("id")]
    assert owners == [None, "c-1"]


def test_a_browser_that_keeps_nothing_keeps_a_chat_as_long_as_its_frame(shop: Shop, screen: Page):
    screen.add_init_script(REFUSED.replace("if (top !== window) ", ""))
    widget = start(shop, screen)
    write(widget, "First words")
    widget.get_by_label("Write a message").fill("Second words")
    screen.evaluate("chatWidget.identify({})")
    news(screen)
    expect(widget.locator(".message.customer .text")).to_have_text(["First words"])
    write(widget, "Second words")
    assert Conversation.objects.count() == 1


@with_keepers(
    "locks",
    "undefined", "{ request: async () => { throw new DOMException('no', 'SecurityError'); } }",
)  # fmt: skip
def test_a_browser_without_locks_sends(shop: Shop, screen: Page, keeper, locks):
    screen.add_init_script(
        f"Object.defineProperty(navigator, 'locks', {{ get: () => ({locks}) }});"
    )
    widget = start(shop, screen)
    for text in ("First words", "Second words"):
        write(widget, text)
    chat = Conversation.objects.get()
    assert chat.messages.filter(sender_type="customer").count() == 2


def test_a_customer_whom_the_page_proves_finds_their_chats_in_another_browser(
    shop: Shop, screen: Page, name
):
    name("c-1")
    write(start(shop, screen), "About shoes")
    chat = Conversation.objects.get()
    browser = screen.context.browser
    assert browser
    elsewhere = browser.new_context()
    widget = start(shop, elsewhere.new_page())
    widget.locator(".earlier button").filter(has_text="About shoes").click()
    expect(widget.locator(".message.customer .text")).to_have_text(["About shoes"])
    write(widget, "And socks")
    assert chat.messages.filter(sender_type="customer").count() == 2
    name("c-2")
    page = elsewhere.new_page()
    widget = start(shop, page)
    expect(widget.locator(".message.customer, .earlier")).to_have_count(0)
    elsewhere.close()
