"""The agents' desk in a browser: what an agent does for a customer beside answering."""

import pytest
from playwright.sync_api import expect

from bots.models import Bot
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import PHONE, violations
from chats.models import Conversation, Customer, Feedback
from chats.tests.test_desk import enter, log, row, say, show, write_in
from chats.tests.test_desk_list import enter_as_owner
from identity.models import Role
from identity.testing import make_person


def card_of(screen):
    return screen.get_by_role("region", name="Customer and conversation")


@pytest.fixture
def zoe(screen, shop, ben):
    """Zoe's chat, open at Ben's desk."""
    chat_id = write_in(shop, "Zoe")
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    return Conversation.objects.get(pk=chat_id)


def test_what_is_known_of_a_customer_is_changed_in_place(screen, zoe, problems):
    card = card_of(screen)
    card.locator("[data-field=email]").click()
    field = card.locator("input[name=email]")
    expect(field).to_be_focused()
    field.fill("zoe@shop.example")
    assert violations(screen) == []
    screen.keyboard.press("Enter")
    expect(card.locator("[data-field=email]")).to_contain_text("zoe@shop.example")
    expect(card.locator("[data-field=email]")).to_be_focused()
    card.locator("[data-field=phone]").click()
    screen.keyboard.type("+49 30 12345678")
    screen.keyboard.press("Escape")
    expect(card.locator("[data-field=phone]")).to_be_focused()
    card.locator("[data-field=name]").click()
    card.locator("input[name=name]").fill("Zoe Diaz")
    card.get_by_role("button", name="Save").click()
    expect(row(screen, "Zoe Diaz")).to_be_visible()
    card.locator("[data-field=email]").click()
    card.locator("input[name=email]").fill("zoe@x")
    screen.keyboard.press("Enter")
    expect(card.get_by_role("alert")).to_be_visible()
    expect(card.locator("input[name=email]")).to_have_value("zoe@x")
    assert all("422" in problem for problem in problems)
    problems.clear()
    customer = Customer.objects.get()
    assert (customer.name, customer.email, customer.phone) == (
        "Zoe Diaz", "zoe@shop.example", "",
    )  # fmt: skip


def test_names_of_facts_begin_with_a_capital(screen, zoe):
    Customer.objects.update(attributes={"orders placed": 3})
    screen.reload()
    expect(card_of(screen).locator("dt", has_text="Orders placed")).to_be_visible()


def test_attributes_are_edited_added_and_removed_in_place(screen, zoe):
    known = {"plan": "gold", "orders": 3, "vip": True, "about": "line\nline", "size": {"cm": 9}}
    Customer.objects.update(attributes=known)
    screen.reload()
    card = card_of(screen)

    def edit(name, value):
        card.locator(f"[data-field='attributes.{name}']").click()
        field = card.locator(f"[name='attributes.{name}']")
        expect(field).to_be_focused()
        field.fill(value)
        card.get_by_role("button", name="Save").click()
        expect(card.locator(f"[data-field='attributes.{name}']")).to_be_focused()

    edit("plan", "silver")
    edit("orders", "4.50")
    edit("vip", "false")
    edit("about", "line\nanother")
    edit("size", '{"cm": 10}')
    card.locator("[data-add]").click()
    expect(card.locator("input[name=name]")).to_be_focused()
    assert violations(screen) == []
    screen.keyboard.type("shoe size")
    screen.keyboard.press("Tab")
    screen.keyboard.type("007")
    screen.keyboard.press("Enter")
    expect(card.locator("[data-field='attributes.shoe size']")).to_contain_text("007")
    expect(card.locator("[data-add]")).to_be_focused()
    card.locator("[data-field='attributes.plan']").click()
    assert violations(screen) == []
    card.locator("[data-remove]").click()
    expect(card.locator("[data-field='attributes.plan']")).to_have_count(0)
    expect(card.locator("[data-add]")).to_be_focused()
    assert Customer.objects.get().attributes == {
        "orders": 4.5, "vip": False, "about": "line\nanother", "size": {"cm": 10},
        "shoe size": "007",
    }  # fmt: skip
    screen.keyboard.press("z")
    expect(card.locator("[data-field='attributes.plan']")).to_contain_text("silver")


def test_what_is_refused_or_cannot_be_sent_stays_in_the_field(screen, zoe, problems):
    asked = {"name": "age", "label": {"en": "Age"}, "type": "number"}
    Bot.objects.update(customer_info_fields=[asked])
    Customer.objects.update(attributes={str(n): "x" for n in range(199)})
    screen.reload()
    card = card_of(screen)

    def add(name, value):
        card.locator("[data-add]").or_(card.locator("form [name=name]")).click()
        card.locator("form [name=name]").fill(name)
        card.locator("form [name=value]").fill(value)
        screen.keyboard.press("Enter")

    def expect_refused(value):
        expect(card.get_by_role("alert")).to_be_visible()
        expect(card.locator("form [name=value]")).to_have_value(value)

    for name, value in (("Email", "a@b.example"), ("plan", "x" * 17_000), ("age", "old")):
        add(name, value)
        expect_refused(value)
        screen.keyboard.press("Escape")
        expect(card.locator("[data-add]")).to_be_focused()
    add("age", "7")
    expect(card.locator("[data-field='attributes.age']")).to_contain_text("7")
    add("plan", "gold")
    expect_refused("gold")
    assert violations(screen) == []
    screen.keyboard.press("Escape")
    card.locator("[data-field='attributes.age']").click()
    screen.context.set_offline(True)
    card.locator("[name='attributes.age']").fill("8")
    screen.keyboard.press("Enter")
    expect(screen.locator(".toast.fault")).to_be_visible()
    expect(card.locator("[name='attributes.age']")).to_have_value("8")
    screen.context.set_offline(False)
    card.get_by_role("button", name="Save").click()
    expect(card.locator("[data-field='attributes.age']")).to_contain_text("8")
    attributes = Customer.objects.get().attributes
    assert (len(attributes), attributes["age"], "plan" in attributes) == (200, 8, False)
    problems.clear()


def test_a_refusal_that_is_not_about_the_value_is_told_in_its_own_words(screen, zoe, problems):
    answer = {"detail": "Another agent changed this.", "code": "conflict"}
    screen.route("**/ai/customers/*", lambda route: route.fulfill(status=409, json=answer))
    card = card_of(screen)
    card.locator("[data-field=email]").click()
    card.locator("input[name=email]").fill("zoe@shop.example")
    screen.keyboard.press("Enter")
    expect(screen.locator(".toast.fault")).to_contain_text("Another agent changed this.")
    expect(card.get_by_role("alert")).to_have_count(0)
    expect(card.locator("input[name=email]")).to_have_value("zoe@shop.example")
    problems.clear()


def test_a_viewer_reads_attributes(screen, shop, ben):
    write_in(shop, "Zoe")
    Customer.objects.update(attributes={"plan": "gold"})
    enter_as_owner(screen, make_person(ben.client, Role.VIEWER, "Vic"))
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    card = card_of(screen)
    expect(card.locator("dd", has_text="gold")).to_be_visible()
    expect(card.locator("[data-field], [data-add]")).to_have_count(0)


def test_a_customer_who_is_there_twice_is_merged(screen, shop, zoe):
    Customer.objects.filter(pk=zoe.customer_id).update(email="zoe@shop.example")
    info = {"name": "Zoe D.", "email": "Zoe@shop.example"}
    other = shop.post("/ai/client/chat", {"customer": info, "message": "Second"}).json()
    screen.reload()
    row(screen, "Zoe").first.wait_for()
    card = card_of(screen)
    card.get_by_role("button", name="Merge…").click()
    dialog = screen.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    assert violations(screen) == []
    dialog.get_by_role("button", name="Merge").click()
    expect(card.locator(".double")).to_have_count(0)
    expect(card.locator(".others li")).to_have_count(1)
    kept = Conversation.objects.get(pk=other["id"]).customer_id
    assert kept == Conversation.objects.get(pk=zoe.pk).customer_id == Customer.objects.get().pk


def test_an_erased_customer_leaves_the_open_inbox(screen, shop, zoe, ann):
    write_in(shop, "Yan")
    expect(screen.locator("button.chat")).to_have_count(2)
    screen.locator("#composer").fill("Dear Zoe, sent")
    screen.keyboard.press("Control+Enter")
    screen.locator("#composer").fill("Dear Zoe")
    assert ann.post(f"/ai/customers/{zoe.customer_id}/erasure").status_code == 202
    run_jobs()
    expect(screen.locator("button.chat")).to_have_count(1)
    expect(screen.get_by_text("Zoe")).to_have_count(0)
    expect(screen.locator(".toast")).to_be_visible()
    assert "#" not in screen.url
    row(screen, "Yan").click()
    expect(screen.locator("#composer")).to_have_value("")
    assert not screen.evaluate("Object.values(localStorage).join().includes('Dear Zoe')")


def test_earlier_chats_say_what_they_were_about_and_how_they_were_rated(screen, shop, zoe):
    early = shop.post("/ai/client/chat", {"message": "My invoice is wrong"}).json()
    Conversation.objects.filter(pk=early["id"]).update(customer_id=zoe.customer_id)
    chat = Conversation.objects.get(pk=early["id"])
    Feedback.objects.create(client=chat.client, conversation=chat, rating=4)
    screen.reload()
    earlier = card_of(screen).locator(".others li")
    expect(earlier).to_contain_text("My invoice is wrong")
    expect(earlier.get_by_role("img")).to_have_attribute("aria-label", "Rated 4 out of 5")
    assert violations(screen) == []
    earlier.get_by_role("button").click()
    expect(log(screen)).to_contain_text("My invoice is wrong")


def test_ratings_of_the_open_chat_appear_as_they_are_given(screen, shop, zoe, ben):
    path = f"/ai/chat/{zoe.pk}"
    sent = ben.post(f"{path}/manual", {"text": "It left us today."}).json()
    thumb = {"thumb": "down", "message_id": sent["id"], "reason": "too_slow"}
    assert shop.post(f"{path}/feedback", thumb).status_code < 300
    rated = log(screen).locator(".message.agent [data-rating=down]")
    expect(rated.get_by_role("img")).to_be_visible()
    assert ben.post(f"{path}/agent-end").status_code == 200
    stars = {"rating": 2, "comment": "<b>Two</b> days", "resolved": False}
    assert shop.post(f"{path}/feedback", stars).status_code < 300
    for _ in range(2):  # as it comes, and as it is loaded
        given = card_of(screen).locator("[data-rating='2']")
        expect(given.get_by_role("img")).to_be_visible()
        expect(card_of(screen).locator("q")).to_have_text("<b>Two</b> days")
        expect(rated).to_have_count(1)
        screen.reload()
    with screen.expect_download() as download:
        card_of(screen).get_by_role("button", name="Download transcript").click()
    assert "It left us today." in download.value.path().read_text()
    assert violations(screen) == []


def test_the_most_urgent_chat_stands_on_top(screen, shop, zoe):
    write_in(shop, "Yan")
    rows = screen.locator("button.chat")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Zoe")
    row(screen, "Yan").click()
    screen.locator(".head h2").click()
    screen.keyboard.press("p")
    dialog = screen.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Normal")).to_be_focused()
    assert violations(screen) == []
    dialog.get_by_role("button", name="Urgent").click()
    expect(rows.first).to_contain_text("Yan")
    expect(rows.first.locator("[data-priority=urgent]")).to_be_visible()
    expect(log(screen)).to_contain_text("set the priority to Urgent")
    say(shop, Conversation.objects.exclude(pk=zoe.pk).get().pk, "Hello?")
    screen.reload()
    expect(rows.first).to_contain_text("Yan")
    for box in screen.get_by_role("checkbox").all():
        box.check()
    screen.get_by_role("button", name="Priority").click()
    dialog.get_by_role("button", name="Low").click()
    expect(screen.locator("button.chat [data-priority=low]")).to_have_count(2)
    assert set(Conversation.objects.values_list("priority", flat=True)) == {"low"}


def test_on_a_phone_the_card_is_as_usable(screen, zoe):
    screen.set_viewport_size(PHONE)
    screen.locator(".head").get_by_role("button", name="Customer and conversation").click()
    card_of(screen).locator("[data-field=phone]").click()
    assert violations(screen) == []
    wide = screen.evaluate("document.documentElement.scrollWidth")
    assert wide <= PHONE["width"]
