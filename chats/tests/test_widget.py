"""The widget in a browser, on a page of another origin."""

import hashlib
import hmac
import io
import json
import re
import wave
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image
from playwright.sync_api import Error, FilePayload, Locator, Page, Route, expect

from chatplatform.testing import run_jobs
from chatplatform.testing.browser import PHONE, violations
from chats.models import Conversation, Customer, Feedback, Message
from chats.tests.shop import ANSWERED, Shop, running, write


@pytest.fixture
def shop(site_origin: str, page, bot, problems: list[str], screen: Page) -> Iterator[Shop]:
    yield from running(site_origin, page, bot, screen, problems)


def words_in(language: str) -> dict[str, str]:
    """The widget's words in a language, by the English ones."""
    script = (settings.BASE_DIR / f"chats/static/widget/translations/{language}.js").read_text()
    found: dict[str, str] = json.loads(script.partition("texts: ")[2].rpartition(" };")[0])
    return found


def contrast_on_white(place: Locator) -> float:
    """Of the letters' colour, as WCAG counts it."""
    colour = place.evaluate("(place) => getComputedStyle(place).color")
    shares = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    light = sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 1.05 / (light + 0.05)


@pytest.mark.journey
@pytest.mark.long
def test_a_customer_asks_gets_a_person_and_rates(shop: Shop, screen: Page, ben):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "How long may I return an order?")
    run_jobs()
    expect(widget.locator(".message.bot").last).to_contain_text("thirty days")
    widget.locator(".sources summary").click()
    expect(widget.locator(".sources blockquote")).to_contain_text(ANSWERED)
    write(widget, "Who won the chess olympiad?")
    run_jobs()
    options = widget.locator(".message.bot .option")
    expect(options.last).to_have_text("Talk to a person")
    offered = options.all_inner_texts()
    widget.get_by_role("button", name="Chat options").click()
    widget.locator(".menu").get_by_role("button", name="Talk to a person").click()
    expect(widget.locator(".message.customer time")).to_have_count(3)
    run_jobs()
    expect(widget.locator(".message.bot .option")).to_have_count(0)
    expect(widget.locator(".offered li")).to_have_text(offered)
    expect(widget.get_by_text("No one is online right now.")).to_be_visible()
    chat = Conversation.objects.get()
    at = f"/ai/chat/{chat.pk}"
    assert ben.post(f"{at}/assign", {"assign_type": "agent"}).status_code == 200
    expect(widget.get_by_role("heading", level=1)).to_have_text("Ben")
    ben.post(f"{at}/manual", {"text": "Note to self", "is_note": True})
    ben.post(f"{at}/typing", {})
    expect(widget.get_by_role("img", name="Ben is typing")).to_be_in_viewport()
    ben.post(f"{at}/manual", {"text": "Hello, this is Ben."})
    expect(widget.locator(".message.agent")).to_have_text(re.compile("Hello, this is Ben."))
    assert "Note to self" not in widget.locator("body").inner_text()
    write(widget, "Thank you, Ben")
    recipient = Message.objects.get(text="Thank you, Ben").recipient
    assert recipient
    assert recipient["name"] == "Ben"
    assert ben.post(f"{at}/end").status_code == 200
    unlit = widget.locator(".stars label").first
    assert unlit.inner_text() == "☆"
    assert contrast_on_white(unlit) >= 3
    widget.get_by_label("4 out of 5").check()
    assert widget.locator(".stars").inner_text().split() == list("★★★★☆")
    expect(widget.get_by_role("button", name="Send rating")).to_be_in_viewport(ratio=1)
    widget.get_by_label("Tell us more").fill("Quick")
    widget.get_by_role("button", name="Send rating").click()
    expect(widget.get_by_text("Thank you!")).to_be_visible()
    rated = Feedback.objects.get()
    assert (rated.rating, rated.comment, str(rated.conversation_id)) == (4, "Quick", str(chat.pk))
    assert Conversation.objects.count() == 1


@pytest.mark.long
def test_nothing_is_lost_or_doubled_without_a_connection(
    shop: Shop, screen: Page, problems: list[str]
):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    lost: list[str] = []

    def lose_first_answers(route: Route) -> None:
        """The server serves it, and its answer does not arrive. A stream ends empty besides."""
        path = urlsplit(route.request.url).path
        times = lost.count(path)
        if route.request.method != "POST" or times == (1 if path.endswith("/chat") else 2):
            route.continue_()
            return
        lost.append(path)
        if times == 0 and not path.endswith("/chat"):
            route.fulfill(content_type="text/event-stream", body="")
            return
        with suppress(Error):  # a stream goes on for longer
            route.fetch(timeout=1_000)
        route.abort()

    screen.context.route(re.compile("/ai/client/chat(/[0-9a-f-]{36})?$"), lose_first_answers)
    write(widget, "First words")
    screen.context.set_offline(True)
    for text in ("Second words", "Third words"):
        widget.get_by_label("Write a message").fill(text)
        widget.get_by_label("Write a message").press("Enter")
    expect(widget.get_by_text("You're offline.")).to_be_visible()
    expect(widget.locator(".waiting")).to_have_count(2)
    screen.context.set_offline(False)
    expect(widget.locator(".waiting")).to_have_count(0)
    said = Message.objects.filter(sender_type="customer").order_by("seq")
    assert [message.text for message in said] == ["First words", "Second words", "Third words"]
    assert (len(lost), Conversation.objects.count()) == (3, 1)
    problems.clear()


def test_messages_that_could_not_be_read_are_read_again(shop: Shop, screen: Page, ben, problems):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "I want to talk to a human agent")
    chat = Conversation.objects.get()
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200
    expect(widget.get_by_role("heading", level=1)).to_have_text("Ben")
    refused: list[str] = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.abort()

    screen.context.route("**/ai/client/chat/history/**", refuse_once)
    assert ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "This is Ben."}).status_code == 201
    expect(widget.locator(".message.agent")).to_contain_text("This is Ben.")
    assert refused
    problems.clear()


def test_a_blocked_customer_is_told_and_keeps_their_words(
    shop: Shop, screen: Page, ben, problems: list[str]
):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Get me a person")
    chat = Conversation.objects.get()
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "queue"}).status_code == 200
    screen.reload()
    expect(widget.locator(".notices [role=status]")).not_to_be_empty()
    Customer.objects.update(blocked_until=timezone.now() + timedelta(days=1))
    field = widget.get_by_label("Write a message")
    field.fill("You!")
    field.press("Enter")
    widget.get_by_text("You can't send messages right now.").wait_for()
    expect(field).to_have_value("You!")
    # Nobody is to come, and no answer to be mailed.
    expect(widget.locator(".notices [role=status]")).to_be_empty()
    expect(widget.locator(".later")).to_have_count(0)
    Customer.objects.update(blocked_until=None)
    field.press("Enter")
    expect(field).to_have_value("")
    expect(widget.locator(".waiting")).to_have_count(0)
    said = Message.objects.filter(sender_type="customer").order_by("seq")
    assert [message.text for message in said] == ["Get me a person", "You!"]
    problems.clear()


def test_a_customer_whose_block_ends_the_chat_is_not_asked_how_it_was(
    shop: Shop, screen: Page, ben
):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Get me a person")
    chat = Conversation.objects.get()
    until = (timezone.now() + timedelta(days=1)).isoformat()
    ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"})
    assert ben.put(f"/ai/customers/{chat.customer_id}", {"blocked_until": until}).status_code == 200
    screen.frames[1].evaluate("dispatchEvent(new Event('online'))")
    widget.get_by_text("This chat has ended.").wait_for()
    expect(widget.locator(".rating")).to_have_count(0)
    expect(widget.get_by_role("button", name="Start a new chat")).to_have_count(0)
    ben.put(f"/ai/customers/{chat.customer_id}", {"blocked_until": None})
    screen.frames[1].evaluate("dispatchEvent(new Event('online'))")
    expect(widget.locator(".rating")).to_be_visible()


def test_hostile_words_are_shown_as_text_and_everybody_can_read_the_chat(
    shop: Shop, screen: Page, ben, server, bot
):
    ben.put("/identity/users/me", {"full_name": "Ben\u202e"})
    hostile = "<img src=x onerror=alert(1)><b>&amp;</b> \u202egnorw\u202d http://x.example/?q=<i>"
    bot.style = {"dark_mode": "system"}
    bot.primary_color = "#ffe600"
    bot.save()
    screen.set_viewport_size(PHONE)
    screen.emulate_media(color_scheme="dark")
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, hostile)
    chat = Conversation.objects.get()
    made_up = f"![picture](http://x.example/x.png?q=1) {hostile}"
    said = server.post(f"/ai/client/chat/assistant/{chat.pk}", {"text": made_up})
    assert said.status_code == 201, "a bot's words are no markup either"
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200
    for text in (hostile, "x" * 8_000, "\U0001f9ed" * 300):
        assert ben.post(f"/ai/chat/{chat.pk}/manual", {"text": text}).status_code == 201
    expect(widget.locator(".message.agent")).to_have_count(3)
    expect(widget.get_by_text("You're chatting with Ben.", exact=True)).to_have_count(1)
    for side, words in (("customer", hostile), ("agent", hostile), ("bot", made_up)):
        shown = widget.locator(f".message.{side} .text").all()
        assert words in [item.evaluate("(place) => place.textContent") for item in shown]
    assert widget.locator(".message img, .message b, .message i").count() == 0
    frame = screen.frames[1]
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.evaluate("innerWidth") == PHONE["width"]
    expect(widget.get_by_role("button", name="Large window")).to_have_count(0)
    expect(widget.locator("html")).to_have_attribute("data-dark", "true")
    small = """[...document.querySelectorAll("button, textarea, label.icon")].filter((target) => {
        const { width, height } = target.getBoundingClientRect();
        return width < 44 || height < 44;
    }).map((target) => target.outerHTML)"""
    assert frame.evaluate(small) == []
    assert violations(frame) == []
    screen.emulate_media(color_scheme="light")
    expect(widget.locator("html")).to_have_attribute("data-dark", "false")


@pytest.mark.long
def test_a_picture_comes_into_view_and_a_broken_one_and_a_place_are_words(
    shop: Shop, screen: Page, ben
):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Show me")
    at = f"/ai/chat/{Conversation.objects.get().pk}/manual"
    broken = {"type": "image", "url": f"{shop.url}gone.png", "file_name": "gone.png"}
    assert ben.post(at, {"text": "Look", "attachments": [broken]}).status_code == 201
    words = widget.get_by_role("link", name="The image gone.png can't be shown")
    expect(words).to_be_visible()
    spoken = io.BytesIO()
    with wave.open(spoken, "wb") as sound:
        sound.setparams((1, 2, 8_000, 0, "NONE", ""))
        sound.writeframes(bytes(8_000))
    note = SimpleUploadedFile("note.wav", spoken.getvalue(), "audio/wav")
    assert ben.upload(f"{at}/files", files=note, text="Listen").status_code == 201
    expect(widget.get_by_label("note.wav")).to_have_js_property("duration", 0.5)
    place = {"type": "location", "location": {"latitude": 10.5, "longitude": 106}}
    city = {"type": "location", "location": {"city": "Huế", "country": "VN"}}
    assert ben.post(at, {"text": "Here", "attachments": [place, city]}).status_code == 201
    expect(widget.get_by_text("Location: 10.5, 106")).to_be_visible()
    expect(widget.get_by_text("Location: Huế, VN")).to_be_visible()
    drawn = io.BytesIO()
    Image.new("RGB", (200, 200), "red").save(drawn, format="PNG")
    drawn.name = "shoe.png"
    for number in range(3):
        drawn.seek(0)
        text = f"Shoe {number}"
        assert ben.upload(f"{at}/files", files=drawn, text=text).status_code == 201
    expect(widget.get_by_role("img", name="shoe.png")).to_have_count(3)
    picture = widget.get_by_role("img", name="shoe.png").last
    expect(picture).to_have_js_property("naturalWidth", 200)
    expect(picture).to_be_in_viewport(ratio=0.9)
    enlarged = widget.get_by_role("dialog", name="shoe.png")
    for close in (lambda: enlarged.click(), lambda: screen.keyboard.press("Escape")):
        picture.click()
        expect(enlarged.locator("img")).to_be_in_viewport(ratio=1)
        assert violations(screen.frames[1]) == []
        close()
        expect(enlarged).to_have_count(0)
        expect(picture).to_be_visible()
    # A picture that grew after the log moved and before the browser said so.
    log = widget.locator(".log")
    log.evaluate(
        """(log) => {
            log.lastElementChild.style.paddingTop = "600px";
            log.dispatchEvent(new Event("scroll"));
        }"""
    )
    # The keyboard of a phone takes half of the room.
    screen.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"] // 2})
    expect(picture).to_be_in_viewport(ratio=0.9)
    log.evaluate("(log) => { log.scrollTop = 0; }")
    expect(picture).not_to_be_in_viewport()
    screen.set_viewport_size(PHONE)
    expect(picture).not_to_be_in_viewport()


@pytest.mark.journey
def test_a_chat_goes_on_after_a_reload_and_in_a_second_tab(shop: Shop, screen: Page, ben):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").press("Enter")
    write(widget, "Where are you?")
    frame = screen.locator("iframe")
    before, large = frame.bounding_box(), widget.get_by_role("button", name="Large window")
    large.press("Enter")
    expect(large).to_have_attribute("aria-pressed", "true")
    after = frame.bounding_box()
    assert before
    assert after
    assert after["width"] > before["width"] + 300
    assert after["height"] > before["height"] + 50
    second = screen.context.new_page()
    other = shop.open(second)
    expect(other.locator(".message.customer")).to_contain_text("Where are you?")
    other.get_by_label("Write a message").press("Escape")
    expect(other.get_by_role("button", name="Open the chat")).to_be_focused()
    chat = Conversation.objects.get()
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "In Hue."})
    # It looks every ten seconds, and at once when the network is back: no clock decides here.
    second.frames[1].evaluate("dispatchEvent(new Event('online'))")
    expect(other.locator(".badge")).to_have_text("1")
    source = {"document_id": 7, "title": "Guide", "url": None}
    passages = [source | {"page": page, "quote": f"{page}"} for page in (2, 3, 2)]
    Message.objects.filter(text="In Hue.").update(citations=passages)
    screen.reload()
    widget.get_by_role("button", name="Open the chat").click()
    expect(widget.locator(".message.agent")).to_contain_text("In Hue.")
    assert frame.bounding_box() == after
    # Two passages of one page are one source.
    expect(widget.locator(".sources summary")).to_have_text(["¹ Guide, page 2", "² Guide, page 3"])
    expect(widget.locator(".sources blockquote")).to_have_text(["2", "2", "3"])
    assert Conversation.objects.count() == 1
    second.close()


@pytest.mark.journey
def test_a_visitor_agrees_and_says_who_they_are_before_the_chat(shop: Shop, screen: Page, bot):
    bot.terms = {"vi": "Chúng tôi lưu cuộc trò chuyện."}
    field = {"required": True, "options": [], "ask_before_chat": True, "question": {}}
    bot.customer_info_fields = [
        {"name": "name", "label": {"vi": "Tên"}, "type": "text", **field},
        {"name": "pairs", "label": {"vi": "Số đôi"}, "type": "number", **field},
    ]
    bot.save()
    shop.attributes["data-language"] = "vi"
    widget = shop.open(screen)
    widget.get_by_role("button", name="Mở khung trò chuyện").click()
    assert violations(screen.frames[1]) == []
    widget.get_by_role("button", name="Tôi đồng ý").click()
    widget.get_by_label("Tên").fill("Zoe")
    widget.get_by_label("Số đôi").fill("2")
    widget.get_by_role("button", name="Bắt đầu").click()
    widget.get_by_label("Nhập tin nhắn").fill("Xin chào")
    widget.get_by_label("Nhập tin nhắn").press("Enter")
    expect(widget.locator(".message.customer time")).to_be_visible()
    customer = Conversation.objects.get().customer
    assert (customer.name, customer.attributes) == ("Zoe", {"pairs": 2})
    screen.reload()
    expect(widget.locator(".message.customer")).to_contain_text("Xin chào")


def test_a_customer_is_known_by_the_shops_signature_and_nobody_else_sees_the_chat(
    shop: Shop, screen: Page, ann, bot
):
    secret = ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]
    shop.attributes["data-external-id"] = "c-17"
    shop.attributes["data-identity-signature"] = hmac.new(
        secret.encode(), b"c-17", hashlib.sha256
    ).hexdigest()
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "My secret order")
    assert Conversation.objects.get().customer.external_id == "c-17"
    del shop.attributes["data-external-id"]
    screen.reload()
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Who was here?")
    expect(widget.get_by_text("My secret order")).to_have_count(0)
    first, second = Conversation.objects.order_by("id")
    assert (second.customer.external_id, second.visitor_id == first.visitor_id) == (None, False)


@pytest.mark.long
def test_on_an_arabic_page_it_runs_from_right_to_left_with_banner_file_thumb_and_mail(
    shop: Shop, screen: Page, ann, bot
):
    bot.languages, bot.export_enabled = ["en", "ar"], True
    bot.welcome_message = {"ar": "\u0645\u0631\u062d\u0628\u0627"}
    bot.save()
    drawn = io.BytesIO()
    Image.new("RGB", (30, 10), "red").save(drawn, format="PNG")
    banner = SimpleUploadedFile("banner.png", drawn.getvalue())
    assert (
        ann.upload(f"/ai/{bot.pk}/upload-banner-image", file=banner, alt="Sale").status_code < 300
    )
    shop.attributes["data-language"] = "ar"
    say = words_in("ar")
    sent = say["The transcript is on its way to {email}."].format(email="zoe@example.com")
    widget = shop.open(screen)
    widget.get_by_role("button", name=say["Open the chat"]).click()
    expect(widget.get_by_text("\u0645\u0631\u062d\u0628\u0627")).to_be_visible()
    expect(widget.get_by_role("img", name="Sale")).to_have_js_property("naturalWidth", 30)
    buffer = b"Shoes, 20 euros"
    file: FilePayload = {"name": "receipt.txt", "mimeType": "text/plain", "buffer": buffer}
    widget.get_by_label(say["Attach files"]).set_input_files(file)
    write(widget, "How long may I return an order?")
    run_jobs()
    expect(widget.get_by_role("link", name="receipt.txt")).to_be_visible()
    expect(widget.locator(".message.bot").last).to_contain_text("thirty days")

    def left_of(place: str) -> float:
        box = widget.locator(place).last.bounding_box()
        assert box
        return box["x"]

    assert left_of(".message.customer .bubble") < left_of(".message.bot .bubble")
    assert left_of(f'[aria-label="{say["Close the chat"]}"]') < left_of("h1")
    widget.get_by_role("button", name=say["Helpful"], exact=True).click()
    expect(widget.get_by_role("button", name=say["Helpful"], exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    answer = Message.objects.filter(sender_type="bot").latest("seq")
    assert Feedback.objects.get().message == answer
    widget.get_by_role("button", name=say["Chat options"]).click()
    widget.get_by_role("button", name=say["Email transcript"]).click()
    assert violations(screen.frames[1]) == []
    widget.get_by_label(say["Email address"]).fill("zoe@example.com")
    widget.get_by_label(say["Email address"]).press("Enter")
    expect(widget.get_by_text(sent)).to_be_visible()
    run_jobs()
    assert [sent.to for sent in mail.outbox] == [["zoe@example.com"]]
