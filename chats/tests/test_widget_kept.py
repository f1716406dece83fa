"""What a customer has typed in the widget is kept, and what they are shown is whole and theirs."""

import hashlib
import hmac
from collections.abc import Iterator

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from chats.tests.shop import Shop, news, running, statuses, write
from identity.models import Client, ClientConfig

FIELD = {"required": True, "options": [], "ask_before_chat": True, "question": {}}


@pytest.fixture
def shop(site_origin: str, page, bot, problems: list[str], screen: Page) -> Iterator[Shop]:
    yield from running(site_origin, page, bot, screen, problems)


def proof_of(external_id: str, key: str) -> str:
    return hmac.new(key.encode(), external_id.encode(), hashlib.sha256).hexdigest()


def payload(name: str, buffer: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": buffer}


def test_a_form_that_is_refused_keeps_its_answers_and_the_question(
    shop: Shop, screen: Page, bot, problems: list[str]
):
    bot.customer_info_fields = [
        {"name": "name", "label": {"en": "Name"}, "type": "text", **FIELD},
        {"name": "email", "label": {"en": "E-mail"}, "type": "email", **FIELD},
    ]
    bot.save()
    widget = shop.open(screen)
    name, mail = widget.get_by_label("Name"), widget.get_by_label("E-mail")
    widget.get_by_role("button", name="Open the chat").click()
    name.fill("Zoe")
    mail.fill("zoe@x")
    widget.get_by_role("button", name="Start chat").click()
    expect(mail).to_have_accessible_description("Enter a valid email address.")
    name.press("Escape")
    screen.reload()
    widget.get_by_role("button", name="Open the chat").click()
    expect(name).to_have_value("Zoe")
    expect(mail).to_have_value("zoe@x")
    mail.fill("zoe@x.example")
    widget.get_by_role("button", name="Start chat").click()
    order = {"name": "order", "label": {"en": "Order"}, "type": "text", **FIELD}
    bot.customer_info_fields = [*bot.customer_info_fields, order]
    bot.save()
    widget.get_by_label("Write a message").fill("Where is my parcel?")
    widget.get_by_label("Write a message").press("Enter")
    expect(widget.get_by_label("Order")).to_have_accessible_description("Please fill this in.")
    expect(widget.get_by_text("Where is my parcel?")).to_be_visible()
    expect(mail).to_have_value("zoe@x.example")
    assert statuses(problems) == {"422"}
    widget.get_by_label("Order").fill("A-17")
    widget.get_by_role("button", name="Start chat").click()
    expect(widget.locator(".message.customer time")).to_be_visible()
    customer = Conversation.objects.get().customer
    told = (customer.name, customer.email, customer.attributes)
    assert told == ("Zoe", "zoe@x.example", {"order": "A-17"})
    assert Message.objects.get(sender_type="customer").text == "Where is my parcel?"


def test_what_is_not_sent_is_back_in_the_field_with_its_reason(
    shop: Shop, screen: Page, bot, problems: list[str]
):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    field, attach = widget.get_by_label("Write a message"), widget.get_by_label("Attach files")
    field.fill("Half a sen")
    composed = "new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, bubbles: true})"
    field.evaluate(f"(field) => field.dispatchEvent({composed})")
    field.press("Escape")
    screen.reload()
    widget.get_by_role("button", name="Open the chat").click()
    expect(field).to_have_value("Half a sen")
    refused = {
        "setup.exe": (b"MZ\x90\x00\x03", "This file type can't be sent."),
        "logo.svg": (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "This file type"),
        "empty.txt": (b"", "This file is empty."),
    }
    bad = [payload(name, content) for name, (content, _) in refused.items()]
    attach.set_input_files([payload("good.txt", b"Shoes, 20 euros"), *bad])
    for name, (_, reason) in refused.items():
        expect(widget.locator(".files .refused", has_text=name)).to_contain_text(reason)
    field.press("Enter")
    expect(field).to_have_value("Half a sen")
    expect(widget.locator(".files li")).to_have_count(4)
    for name in refused:
        widget.get_by_role("button", name=f"Remove {name}").click()
    bot.attach_enabled = False
    bot.save()
    field.press("Enter")
    switched_off = widget.locator(".files .refused", has_text="good.txt")
    expect(switched_off).to_contain_text("Files are turned off in this chat.")
    expect(field).to_have_value("Half a sen")
    expect(attach).to_have_count(0)
    widget.get_by_role("button", name="Remove good.txt").click()

    def refuse(route: Route) -> None:
        route.fulfill(status=403, json={"detail": "No"})

    screen.context.route("**/ai/client/chat/*-*", refuse)
    field.press("Enter")
    expect(widget.get_by_text("It's back in the message box")).to_be_visible()
    expect(field).to_have_value("Half a sen")
    screen.context.unroute("**/ai/client/chat/*-*", refuse)
    assert statuses(problems) == {"409", "403"}
    field.press("Enter")
    expect(widget.locator(".message.customer time")).to_be_visible()
    expect(field).to_have_value("")
    assert Message.objects.get(sender_type="customer").text == "Half a sen"


def test_what_is_too_long_is_said_and_kept(shop: Shop, screen: Page):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    field = widget.get_by_label("Write a message")
    field.focus()
    screen.keyboard.insert_text("ă" * 8_000 + "🙂" * 500)
    expect(widget.locator("[data-too-long]")).to_contain_text("500")
    field.press("Enter")
    expect(field).to_have_value("ă" * 8_000 + "🙂" * 500)
    assert not Message.objects.exists()
    field.fill("ă" * 8_000)
    expect(widget.locator("[data-too-long]")).to_have_count(0)
    field.press("Enter")
    expect(widget.locator(".message.customer time")).to_be_visible()
    assert Message.objects.get(sender_type="customer").text == "ă" * 8_000


def test_files_that_are_not_sent_outlive_closing_and_a_reload(
    shop: Shop, screen: Page, problems: list[str]
):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    field, attached = widget.get_by_label("Write a message"), widget.locator(".files li")
    drop = """(place) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["Shoes, 20 euros"], "list.txt"));
        for (const type of ["dragover", "drop"]) {
            const event = new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true });
            if (place.dispatchEvent(event)) throw new Error("The browser opens the file.");
        }
    }"""
    expect(field).to_be_visible()
    widget.locator(".log").evaluate(drop)
    expect(attached).to_contain_text("list.txt")
    field.press("Escape")
    widget.get_by_role("button", name="Open the chat").click()
    expect(attached).to_contain_text("list.txt")
    screen.reload()
    expect(attached).to_contain_text("list.txt")
    # Sent, and cut off by a reload before the server had it.
    screen.context.route("**/ai/client/chat/files/**", lambda route: route.abort())
    field.fill("My list")
    field.press("Enter")
    expect(widget.locator(".waiting")).to_contain_text("My list")
    expect(attached).to_have_count(0)
    screen.wait_for_timeout(300)
    screen.context.unroute("**/ai/client/chat/files/**")
    screen.reload()
    expect(widget.locator(".message.customer time")).to_be_visible()
    expect(widget.get_by_role("link", name="list.txt")).to_be_visible()
    sent = Message.objects.get(sender_type="customer")
    assert (sent.text, sent.content[1]["file_name"]) == ("My list", "list.txt")
    screen.reload()
    expect(widget.locator(".message.customer time")).to_be_visible()
    expect(attached).to_have_count(0)
    assert not Conversation.objects.exclude(pk=sent.conversation_id).exists()
    problems.clear()


def test_an_agents_words_are_shown_translated_also_when_that_comes_later(
    shop: Shop, screen: Page, ben, model
):
    ClientConfig.objects.update(auto_translate=True)
    Client.objects.update(default_language="en")
    model.json_answer = {"text": "Ihr Paket kommt morgen an.", "source_language": "en"}
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Guten Tag, wo ist meine Bestellung geblieben?")
    chat = Conversation.objects.get()
    assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Your parcel arrives tomorrow."})
    news(screen)
    said = widget.locator(".message.agent")
    expect(said).to_contain_text("Your parcel arrives tomorrow.")
    run_jobs()
    for _ in range(2):
        expect(said.locator(".text")).to_have_text("Ihr Paket kommt morgen an.")
        expect(said).to_contain_text("Translated from English")
        screen.reload()
    said.get_by_role("button", name="Show original").click()
    expect(said.locator(".text")).to_have_text("Your parcel arrives tomorrow.")
    expect(widget.locator(".message.customer .text")).to_contain_text("Guten Tag")
    assert Message.objects.get(sender_type="agent").status == "read"


def put_tag_in_again(screen: Page, attributes: dict[str, str]) -> None:
    """What a page without reloads does when its visitor signs in."""
    screen.evaluate(
        """(attributes) => {
            const tag = document.querySelector("script[data-key]");
            const again = document.createElement("script");
            for (const { name, value } of tag.attributes) again.setAttribute(name, value);
            for (const name in attributes) again.setAttribute(name, attributes[name]);
            tag.replaceWith(again);
        }""",
        attributes,
    )


def test_a_chat_is_shown_to_nobody_but_the_person_whose_it_is(
    shop: Shop, screen: Page, ann, bot, problems: list[str]
):
    secret = ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]
    widget = shop.open(screen)
    secret_words = widget.get_by_text("My secret order")

    def sign(external_id: str, key: str = secret) -> None:
        shop.attributes["data-external-id"] = external_id
        shop.attributes["data-identity-signature"] = proof_of(external_id, key)

    def sign_out() -> None:
        del shop.attributes["data-external-id"], shop.attributes["data-identity-signature"]

    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "My secret order")
    second = screen.context.new_page()
    stale = shop.open(second)
    expect(stale.get_by_text("My secret order")).to_be_visible()
    sign("c-1")
    screen.reload()
    expect(secret_words).to_be_visible()
    write(widget, "It is still me")
    chat = Conversation.objects.get()
    assert chat.customer.external_id == "c-1"
    news(second)
    expect(stale.get_by_text("It is still me")).to_be_visible()
    # The next one signs in, without a reload: the page puts the tag in again.
    sign("c-2")
    put_tag_in_again(screen, shop.attributes)
    expect(secret_words).to_have_count(0)
    write(widget, "Hello from another person")
    news(second)
    expect(stale.get_by_text("My secret order")).to_have_count(0)
    expect(stale.get_by_text("Hello from another person")).to_have_count(0)
    second.close()
    sign_out()
    screen.reload()
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Nobody in particular")
    expect(widget.locator(".message.customer")).to_have_count(1)
    assert statuses(problems) == set()
    # Whom the shop names and cannot prove is nobody, and sees nothing of anybody.
    sign("c-3", key="guessed")
    screen.reload()
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Who am I?")
    expect(widget.locator(".message.customer")).to_have_count(1)
    assert statuses(problems) == {"401"}
    owners = [item.customer.external_id for item in Conversation.objects.order_by("id")]
    assert owners == ["c-1", "c-2", None, None]


def test_a_customer_is_described_by_the_page_unless_the_company_knows_better(
    shop: Shop, screen: Page, ann, bot, problems: list[str]
):
    bot.customer_info_fields = [
        {"name": "email", "label": {"en": "E-mail"}, "type": "email", **FIELD},
    ]
    bot.save()
    secret = ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]
    shop.attributes |= {
        "data-external-id": "c-1",
        "data-identity-signature": proof_of("c-1", secret),
        "data-name": "Zoe",
        "data-email": "zoe@shop.example",
    }
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    expect(widget.get_by_label("E-mail")).to_have_value("zoe@shop.example")
    described = "**/ai/client/chat/customer/*"
    with screen.expect_response(described):
        widget.get_by_role("button", name="Start chat").click()
        write(widget, "Hello")
    customer = Conversation.objects.get().customer
    found = (customer.external_id, customer.name, customer.email)
    assert found == ("c-1", "Zoe", "zoe@shop.example")
    # Nothing is sent twice, and what the company has written stays.
    requests: list[str] = []
    screen.on("request", lambda request: requests.append(request.url))
    change = {"name": "Zoe Diaz"}
    assert ann.put(f"/ai/customers/{customer.pk}", change).status_code == 200
    screen.reload()
    expect(widget.get_by_text("Hello", exact=True)).to_be_visible()
    signed = {key: shop.attributes[f"data-{name}"] for key, name in (
        ("externalId", "external-id"), ("identitySignature", "identity-signature"),
    )}  # fmt: skip
    more = {"name": "Z", "attributes": {"plan": "gold"}}
    assert not [url for url in requests if "/customer/" in url]
    with screen.expect_response(described):
        screen.evaluate("(who) => chatWidget.identify(who)", signed | more)
    customer.refresh_from_db()
    assert (customer.name, customer.attributes) == ("Zoe Diaz", {"plan": "gold"})
    # A value that does not fit changes nothing, and stops no chat.
    with screen.expect_response(described):
        screen.evaluate("(who) => chatWidget.identify(who)", signed | {"email": "zoe@"})
    write(widget, "Still here")
    customer.refresh_from_db()
    assert customer.email == "zoe@shop.example"
    assert statuses(problems) == {"422"}


def test_words_on_their_way_are_not_lost_when_the_page_names_the_visitor(
    shop: Shop, screen: Page, ann, bot, problems: list[str]
):
    secret = ann.post(f"/ai/bot/{bot.pk}/identity-secret").json()["secret"]
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held:
            route.continue_()
        held.append(route)

    screen.context.route("**/ai/client/chat", hold)
    with screen.expect_request("**/ai/client/chat"):
        widget.get_by_label("Write a message").fill("Is it here?")
        widget.get_by_label("Write a message").press("Enter")
    who = {"externalId": "c-1", "identitySignature": proof_of("c-1", secret)}
    screen.evaluate("(who) => chatWidget.identify(who)", who)
    expect(widget.locator(".waiting")).to_be_visible()
    held[0].continue_()
    expect(widget.locator(".message.customer time")).to_be_visible()
    message = Message.objects.get(sender_type="customer")
    assert (message.text, message.conversation.customer.external_id) == ("Is it here?", "c-1")
    assert statuses(problems) <= {"422", "409"}


def test_the_widget_outlives_pages_that_take_it_away_and_answers_that_do_not_come(
    shop: Shop, screen: Page, ben, problems: list[str]
):
    widget = shop.open(screen)
    widget.get_by_role("button", name="Open the chat").click()
    write(widget, "Where are you?")
    field = widget.get_by_label("Write a message")
    field.fill("Half a sen")
    copy = "document.body.replaceWith(document.body.cloneNode(true))"
    for take in ("document.querySelector('iframe').remove()", copy, copy):
        screen.evaluate(take)
        screen.evaluate("chatWidget.open()")
        expect(field).to_have_value("Half a sen")
        expect(screen.locator("iframe")).to_have_count(1)
        expect(widget.locator(".message.customer")).to_contain_text("Where are you?")
    chat = Conversation.objects.get()
    answers: list[int | None] = [None, 404]

    def answer(route: Route) -> None:
        status = answers.pop(0) if answers else 200
        if status == 200:
            route.continue_()
        elif status:
            route.fulfill(status=status, json={"code": "not_found", "detail": "Not found"})

    screen.clock.install()
    screen.reload()
    expect(field).to_have_value("Half a sen")
    screen.context.route(f"**/ai/client/chat/{chat.pk}", answer)
    with screen.expect_request(f"**/ai/client/chat/{chat.pk}"):
        news(screen)
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "In Hue."})
    screen.clock.run_for(30_000)
    expect(widget.locator(".message.agent")).to_contain_text("In Hue.")
    # It is gone for good: that is said, and what was said and typed stays.
    answers[:] = [404] * 50
    news(screen)
    for _ in range(4):
        screen.clock.run_for(8_000)
    expect(widget.get_by_text("This chat is no longer available.")).to_be_visible()
    expect(widget.locator(".message.agent")).to_contain_text("In Hue.")
    expect(field).to_have_value("Half a sen")
    screen.reload()
    expect(field).to_have_value("Half a sen")
    assert statuses(problems) == {"404"}
