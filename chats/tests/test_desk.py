"""The agents' desk in a browser, on a real web process."""

import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from chatplatform.testing import run_jobs
from chatplatform.testing.browser import PHONE, violations
from chatplatform.testing.web_process import free_port, web
from chats.models import Conversation, Customer, Message
from identity.services import users
from identity.testing import enter_site, fill_in_sign_in

A_DAY = timedelta(days=1)
HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script> {{7*7}} \u202eright to left\u202c ",
    "x" * 8000,
    "😀" * 300,
)


def write_in(shop, name, text="Where is my parcel?"):
    """A customer opens a chat; its id."""
    reply = shop.post("/ai/client/chat", {"customer": {"name": name}, "message": text})
    return reply.json()["id"]


def say(shop, chat_id, text):
    reply = shop.post(f"/ai/client/chat/{chat_id}", {"text": text, "reply": "none"})
    assert reply.status_code in {200, 201, 202}, reply.content


def seen_by_customer(shop, chat_id):
    rows = shop.get(f"/ai/client/chat/history/{chat_id}").json()["items"]
    return [row["content"][0]["text"] for row in rows]


def enter(screen: Page, person) -> None:
    enter_site(screen, person.user)
    screen.wait_for_url("**/admin/desk/")
    expect(screen.locator("body")).to_have_attribute("data-ready", "yes")


def show(screen: Page, view: str) -> None:
    screen.get_by_role("group", name="Views").get_by_role("button", name=view).click()


def row(screen: Page, name: str):
    return screen.get_by_role("navigation", name="Conversations").locator(
        "button.chat", has_text=name
    )


def log(screen: Page):
    return screen.get_by_role("log")


def write(screen: Page, text: str) -> None:
    """Write a message and send it without the five seconds for second thoughts."""
    screen.locator("#composer").fill(text)
    screen.keyboard.press("Control+Enter")
    screen.get_by_role("button", name="Send now").click()


@pytest.mark.journey
def test_an_agent_takes_a_chat_both_write_and_it_ends_without_a_reload(screen, shop, ben):
    enter(screen, ben)
    show(screen, "Unassigned")
    expect(screen.get_by_text("The queue is empty.")).to_be_visible()
    chat_id = write_in(shop, "Zoe")
    row(screen, "Zoe").click()
    expect(log(screen)).to_contain_text("Where is my parcel?")
    screen.get_by_role("button", name="Assign to me").click()
    expect(log(screen)).to_contain_text("You took this conversation")
    write(screen, "It left us today.")
    expect(log(screen).get_by_label("sent")).to_be_visible()
    assert seen_by_customer(shop, chat_id)[-1] == "It left us today."
    say(shop, chat_id, "Thank you!")
    expect(log(screen)).to_contain_text("Thank you!")
    screen.keyboard.press("Escape")
    screen.keyboard.press("n")
    write(screen, "A friendly one")
    expect(log(screen).locator(".is-note:not(.pending)")).to_contain_text("A friendly one")
    assert "A friendly one" not in seen_by_customer(shop, chat_id)
    screen.get_by_role("button", name="End", exact=True).click()
    screen.reload()  # a page that is left waits no longer
    show(screen, "Ended")
    expect(row(screen, "Zoe").locator(".facts")).to_contain_text("Ended")
    row(screen, "Zoe").click()
    expect(log(screen)).to_contain_text("You ended the conversation")
    screen.get_by_role("button", name="Settings").click()
    screen.get_by_role("button", name="Sign out").click()
    screen.get_by_role("button", name="Sign in").wait_for()
    texts = [message.text for message in Message.objects.order_by("seq")]
    assert texts == ["Where is my parcel?", "It left us today.", "Thank you!", "A friendly one"]


def test_an_agent_blocks_and_unblocks_a_customer(screen, shop, ben):
    """A customer who floods an agent is stopped for a week."""
    chat_id = write_in(shop, "Zoe")
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    card = screen.get_by_role("region", name="Customer and conversation")
    card.get_by_role("button", name="Block…").click()
    assert violations(screen) == []
    screen.get_by_role("dialog").locator("[name=reason]").fill("Insults")
    screen.get_by_role("dialog").get_by_role("button", name="1 week").click()
    card.get_by_role("button", name="Unblock").wait_for()
    expect(card).to_contain_text("Insults")
    expect(screen.locator(".head")).to_contain_text("Blocked until")
    until = Customer.objects.get().blocked_until
    assert until
    assert abs(until - timezone.now() - 7 * A_DAY) < timedelta(minutes=5)
    refused = shop.post(f"/ai/client/chat/{chat_id}", {"text": "You!"})
    assert refused.json()["code"] == "customer_blocked"
    card.get_by_role("button", name="Unblock").click()
    card.get_by_role("button", name="Block…").wait_for()
    say(shop, chat_id, "Sorry")
    expect(log(screen)).to_contain_text("Sorry")


def test_an_agent_hands_a_chat_over_for_tomorrow_and_says_why(screen, shop, ann, ben):
    """A colleague takes over tomorrow at nine, and knows why."""
    chat_id = write_in(shop, "Zoe")
    assert ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"}).status_code == 200
    enter(screen, ben)
    row(screen, "Zoe").click()
    screen.get_by_role("button", name="Assign…").click()
    dialog = screen.get_by_role("dialog")
    dialog.get_by_label("Note for your team").fill("She wants a refund.")
    dialog.get_by_label("Snooze").select_option(label="Until 9:00 tomorrow")
    assert violations(screen) == []
    dialog.get_by_role("button", name="Ann").click()
    expect(screen.locator(".toast")).to_contain_text(re.compile("Ann.*, 0?9:00"))
    expect(screen.locator(".head")).to_contain_text("Assigned to Ann")
    expect(log(screen)).to_contain_text("She wants a refund.")
    chat = Conversation.objects.get()
    assert (chat.assignee_id, chat.status) == (ann.user.pk, "snoozed")
    assert chat.snoozed_until
    until, tomorrow = chat.snoozed_until.astimezone(), datetime.now().astimezone().date() + A_DAY
    assert (until.date(), until.hour) == (tomorrow, 9)
    assert "She wants a refund." not in seen_by_customer(shop, chat_id)


def test_who_is_away_sees_it_after_a_reload_and_colleagues_see_it_too(screen, shop, ann, ben):
    write_in(shop, "Zoe")
    enter(screen, ben)
    away = screen.get_by_role("navigation", name="Conversations").locator("[data-away=true]")
    expect(away).to_have_count(0)
    screen.get_by_role("button", name="Settings").click()
    dialog = screen.get_by_role("dialog")
    dialog.locator("[data-away=false]").get_by_role("button").click()
    expect(dialog.locator("[data-away=true]")).to_be_visible()
    assert violations(screen) == []
    screen.keyboard.press("Escape")
    screen.reload()
    expect(away).to_be_visible()
    other = screen.context.new_page()
    other.goto("/admin/desk/")
    expect(other.locator("[data-away=true]")).to_be_visible()
    away.get_by_role("button").click()
    expect(away).to_have_count(0)
    run_jobs()
    expect(other.locator("[data-away=true]")).to_have_count(0)
    other.close()
    ann.put("/identity/users/me", {"is_away": True})
    run_jobs()
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    screen.get_by_role("button", name="Assign to me").click()
    screen.get_by_role("button", name="Assign…").click()
    expect(dialog.get_by_role("button", name="Ann")).to_contain_text("away")


def test_what_a_dialog_cannot_store_stays_in_it_with_the_reason(screen, shop, ann, ben, problems):
    chat_id = write_in(shop, "Zoe")
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    dialog = screen.get_by_role("dialog")
    screen.context.set_offline(True)
    expect(screen.get_by_role("alert")).to_contain_text("You're offline")
    card = screen.get_by_role("region", name="Customer and conversation")
    card.get_by_role("button", name="Block…").click()
    dialog.locator("[name=reason]").fill("Insults")
    dialog.get_by_role("button", name="1 week").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.locator("[name=reason]")).to_have_value("Insults")
    screen.keyboard.press("Escape")
    screen.get_by_role("button", name="Assign…").click()
    note = dialog.get_by_label("Note for your team")
    note.fill("She wants a refund.")
    dialog.get_by_role("button", name="Ann").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(note).to_have_value("She wants a refund.")
    assert violations(screen) == []
    screen.context.set_offline(False)
    dialog.get_by_role("button", name="Ann").click()
    expect(dialog).to_have_count(0)
    expect(screen.locator(".head")).to_contain_text("Assigned to Ann")
    notes = Message.objects.filter(conversation=chat_id, is_note=True)
    assert [message.text for message in notes] == ["She wants a refund."]
    problems.clear()


def test_who_signs_in_again_goes_on_with_what_they_wrote(screen, shop, ben, problems):
    chat_id = write_in(shop, "Zoe")
    ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    row(screen, "Zoe").click()
    users.set_own_password(ben.user, "another-horse-battery")  # ends every sign-in
    write(screen, "Half a thought")
    again = screen.get_by_role("alert").get_by_role("link")
    expect(again).to_be_visible()
    screen.locator("#composer").fill("Another half")
    again.click()
    fill_in_sign_in(screen, ben.user)
    screen.wait_for_url(f"**/admin/desk/#{chat_id}")
    expect(log(screen).get_by_label("sent")).to_be_visible()
    expect(screen.locator("#composer")).to_have_value("Another half")
    assert seen_by_customer(shop, chat_id)[-1] == "Half a thought"
    problems.clear()


@pytest.mark.journey
def test_of_two_agents_one_gets_the_chat_and_the_other_is_told(screen, shop, ann, ben, problems):
    chat_id = write_in(shop, "Zoe")
    enter(screen, ben)
    show(screen, "Unassigned")
    viewing = f"/ai/chat/{chat_id}/viewing"
    with screen.expect_response(f"**{viewing}"):
        row(screen, "Zoe").click()
    with screen.expect_response(f"**{viewing}"):  # whoever comes is told who is there
        ann.post(viewing, {})
    expect(screen.locator(".head")).to_contain_text("Also viewing: Ann")
    ann.post(viewing, {"is_viewing": False})
    expect(screen.locator(".head")).not_to_contain_text("Also viewing")

    held = []
    screen.route("**/assign", lambda route: held.append(route))
    screen.get_by_role("button", name="Assign to me").click()
    while not held:
        screen.wait_for_timeout(10)
    assert ann.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"}).status_code == 200
    held[0].continue_()
    expect(screen.get_by_role("status").last).to_contain_text("Ann already took this conversation")
    expect(screen.locator(".head")).to_contain_text("Assigned to Ann")
    assert len(problems) == 2
    assert all("409" in problem for problem in problems)
    problems.clear()


def test_a_list_that_comes_late_does_not_undo_what_was_heard_meanwhile(screen, shop, ann, ben):
    chat_id, other_id = write_in(shop, "Zoe"), write_in(shop, "Max")
    enter(screen, ben)
    show(screen, "Unassigned")
    expect(row(screen, "Zoe")).to_be_visible()
    late = []
    screen.route("**/ai/chats?*", lambda route: late.append((route, route.fetch())))
    show(screen, "Unassigned")
    while not late:
        screen.wait_for_timeout(10)
    assert ann.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"}).status_code == 200
    say(shop, other_id, "Still there?")
    expect(row(screen, "Zoe")).to_have_count(0)
    expect(row(screen, "Max")).to_contain_text("Still there?")
    route, as_it_was = late[0]
    with screen.expect_response("**/ai/chats?*"):
        route.fulfill(response=as_it_was)
    screen.unroute("**/ai/chats?*")
    shop.post("/ai/client/chat", {"customer": {"name": "Yan"}, "message": "Hello?"})
    expect(row(screen, "Yan")).to_be_visible()
    expect(row(screen, "Zoe")).to_have_count(0)
    expect(row(screen, "Max")).to_contain_text("Still there?")


def test_the_keyboard_alone_carries_an_agent_through_their_chats(screen, shop, ben):
    ids = [write_in(shop, f"Customer {number}") for number in range(3)]
    enter(screen, ben)
    screen.keyboard.press("2")
    expect(screen.locator("button.chat")).to_have_count(3)
    screen.keyboard.press("j")
    for number in range(3):
        expect(screen.locator(".head")).to_contain_text(f"Customer {number}")
        screen.keyboard.press("a")
        expect(log(screen)).to_contain_text("You took this conversation")
        screen.keyboard.press("r")
        screen.keyboard.type("Done.")
        screen.keyboard.press("Control+Enter")
        screen.keyboard.press("Escape")
        screen.keyboard.press("1")
        screen.keyboard.press("e")
        screen.keyboard.press("2")
        screen.keyboard.press("j")
    screen.keyboard.press("5")
    expect(screen.locator("button.chat")).to_have_count(3)
    assert [seen_by_customer(shop, chat_id)[-1] for chat_id in ids] == ["Done."] * 3


@pytest.mark.parametrize("text", HOSTILE, ids=["markup", "long", "emoji"])
def test_hostile_text_is_text(screen, shop, ben, text):
    chat_id = write_in(shop, text[:150], text)
    enter(screen, ben)
    show(screen, "Unassigned")
    screen.locator("button.chat").click()
    expect(log(screen).locator(".said")).to_have_text(text.strip())
    scripts = "script:not([src], [type='application/json'])"
    assert screen.locator(f"img, {scripts}").count() == 0
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert screen.evaluate(fits)
    screen.set_viewport_size(PHONE)
    assert screen.evaluate(fits)
    assert chat_id in screen.url


def test_links_are_links_and_customers_without_a_name_look_unlike(screen, shop, ben):
    for _ in range(2):
        write_in(shop, "", "See https://shop.example/a_(b), or write to zoe@x.example.")
    enter(screen, ben)
    show(screen, "Unassigned")
    faces = screen.locator("button.chat .face")
    expect(faces).to_have_count(2)
    looks = faces.evaluate_all("(faces) => faces.map((face) => face.className)")
    assert len(set(looks)) == 2
    screen.locator("button.chat").first.click()
    expect(log(screen).locator(".face")).to_have_count(1)
    expect(screen.locator(".head .face svg, .card .face svg, .log .face svg")).to_have_count(3)
    expect(faces.locator("svg")).to_have_count(2)  # and no letters of "Visitor"
    links = log(screen).locator(".said a")
    expect(links).to_have_count(2)
    addresses = [link.get_attribute("href") for link in links.all()]
    assert addresses == ["https://shop.example/a_(b)", "mailto:zoe@x.example"]


def test_a_name_turns_no_sentence_round(screen, shop, ann, ben):
    ann.put("/identity/users/me", {"full_name": "Ann\u202e"})
    chat_id = write_in(shop, "Zoe")
    ann.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    show(screen, "All")
    row(screen, "Zoe").click()
    expect(screen.get_by_role("heading", name="Zoe").first).to_be_visible()
    assert "Assigned to Ann" in screen.locator("main").inner_text()


def test_what_was_written_later_comes_later(screen, shop, ben, problems):
    chat_id = write_in(shop, "Zoe")
    ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    row(screen, "Zoe").click()
    screen.route("**/manual", lambda route: route.abort(), times=1)
    write(screen, "First")
    expect(log(screen)).to_contain_text("waiting for connection")
    write(screen, "Second")
    expect(log(screen).get_by_label("sent")).to_have_count(2)
    assert seen_by_customer(shop, chat_id)[-2:] == ["First", "Second"]
    problems.clear()


def test_two_pages_of_a_person_keep_the_drafts_of_both(screen, shop, ben):
    for name in ("Zoe", "Yan"):
        ben.post(f"/ai/chat/{write_in(shop, name)}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    other = screen.context.new_page()
    other.goto("/admin/desk/")
    for page, name in ((screen, "Zoe"), (other, "Yan")):
        row(page, name).click()
        page.locator("#composer").fill(f"Dear {name}")
    other.close()
    screen.reload()
    for name in ("Zoe", "Yan"):
        row(screen, name).click()
        expect(screen.locator("#composer")).to_have_value(f"Dear {name}")


def test_the_browser_keeps_no_draft_of_a_chat_that_ended_or_was_given_up(screen, shop, ben):
    ids = {name: write_in(shop, name) for name in ("Xia", "Yan", "Zoe")}
    for chat_id in ids.values():
        ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    for name in ids:
        row(screen, name).click()
        screen.locator("#composer").fill(f"Dear {name}")
    assert set(stored_drafts(screen, ben)) == {*ids.values()}
    ben.post(f"/ai/chat/{ids['Yan']}/assign", {"assign_type": "queue"})
    ben.post(f"/ai/chat/{ids['Zoe']}/agent-end")
    for name in ("Yan", "Zoe"):
        expect(row(screen, name)).to_have_count(0)
    assert set(stored_drafts(screen, ben)) == {ids["Xia"]}
    # Nobody's words vanish while they type.
    expect(screen.locator("#composer")).to_have_value("Dear Zoe")
    screen.reload()
    expect(screen.locator("#composer")).to_have_value("")
    row(screen, "Xia").click()
    expect(screen.locator("#composer")).to_have_value("Dear Xia")


def stored_drafts(screen, person):
    key = f"desk.{person.user.pk}.drafts"
    return screen.evaluate(f"JSON.parse(localStorage.getItem('{key}'))")


def test_a_full_storage_stops_no_agent(screen, shop, ben):
    chat_id = write_in(shop, "Zoe")
    ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    screen.evaluate(
        """() => { for (let size = 1 << 22, at = 0; size >= 1; ) {
            try { localStorage.setItem(`full${at++}`, "x".repeat(size)); }
            catch { size >>= 1; }
        } }"""
    )
    show(screen, "All")
    row(screen, "Zoe").click()
    write(screen, "It is on its way.")
    expect(log(screen).get_by_label("sent")).to_have_count(1)
    assert seen_by_customer(shop, chat_id)[-1] == "It is on its way."
    screen.goto("about:blank")  # its last requests end before the test's rows are removed


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.drill)])
def test_nobody_is_shut_out(screen, shop, ben, scheme):
    chat_id = write_in(shop, "Zoe")
    ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    ben.post(f"/ai/chat/{chat_id}/manual", {"text": "Hello"})
    ben.post(f"/ai/chat/{chat_id}/manual", {"text": "A note", "is_note": True})
    screen.emulate_media(color_scheme=scheme)
    enter(screen, ben)
    row(screen, "Zoe").click()
    expect(log(screen)).to_contain_text("A note")
    assert violations(screen) == []
    screen.keyboard.press("n")
    screen.keyboard.press("Escape")
    assert violations(screen) == []
    screen.keyboard.press("?")
    assert violations(screen) == []
    screen.keyboard.press("Escape")
    screen.set_viewport_size(PHONE)
    assert violations(screen) == []
    sizes = screen.locator("button:visible, a:visible").evaluate_all(
        "all => all.map(one => [one.textContent, one.getBoundingClientRect()])"
        ".filter(([, box]) => box.width < 44 || box.height < 44).map(([name]) => name)"
    )
    assert sizes == []
    screen.get_by_role("button", name=re.compile("Back")).click()
    expect(row(screen, "Zoe")).to_be_visible()
    assert violations(screen) == []


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.long
def test_nothing_is_lost_or_double_when_the_server_dies_and_the_network_fails(browser, shop, ben):
    chat_id, other_id = write_in(shop, "Zoe"), write_in(shop, "Yan")
    for item in (chat_id, other_id):
        ben.post(f"/ai/chat/{item}/assign", {"assign_type": "agent"})
    port = free_port()
    context = browser.new_context(base_url=f"http://127.0.0.1:{port}")
    screen = context.new_page()
    with web(port=port):
        enter(screen, ben)
        row(screen, "Yan").click()
        screen.locator("#composer").fill("Half a thought")
        row(screen, "Zoe").click()
        expect(log(screen)).to_contain_text("Where is my parcel?")
        # Stored, but the answer is lost: the same message is sent again.
        screen.route("**/manual", lambda route: (route.fetch(), route.abort()), times=1)
        write(screen, "First")
        expect(log(screen).get_by_label("sent")).to_have_count(1)
    expect(screen.get_by_role("alert")).to_contain_text("You're offline")
    write(screen, "Second")
    say(shop, chat_id, "Are you there?")
    context.set_offline(True)
    with web(port=port):
        expect(log(screen)).to_contain_text("waiting for connection")
        context.set_offline(False)
        expect(log(screen)).to_contain_text("Are you there?")
        expect(log(screen).get_by_label("sent")).to_have_count(2)
        row(screen, "Yan").click()
        expect(screen.locator("#composer")).to_have_value("Half a thought")
        screen.reload()
        expect(screen.locator("#composer")).to_have_value("Half a thought")
        expect(log(screen)).to_contain_text("Where is my parcel?")
        context.close()
    texts = ["Where is my parcel?", "First", "Are you there?", "Second"]
    assert seen_by_customer(shop, chat_id) == texts
