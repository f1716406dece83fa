"""The list of the inbox in a browser: its rows, filters, views, search, and what calls an agent."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from bots.testing import make_bot
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import PHONE, violations
from chats import tasks
from chats.models import Conversation, Message, Notification
from chats.testing import make_chat, put_message
from chats.tests.test_desk import enter, log, row, say, show, write_in
from identity.models import SavedView, User
from identity.testing import make_key

FOCUSED = "document.activeElement.textContent || document.activeElement.tagName"


@pytest.fixture
def server(client_a):
    """A server of a client whose bot has learned nothing yet."""
    return make_key(client_a, "secret", make_bot(client_a).pk)


def queue(bot, count, **fields):
    """Chats that wait, the first for the longest time."""
    now = timezone.now()
    return [
        make_chat(
            bot, assign_type="queue", customer_name=f"Customer {number:03}", **fields,
            waiting_since=now - timedelta(minutes=count - number),
        )
        for number in range(count)
    ]  # fmt: skip


def facts(screen, name):
    return row(screen, name).locator(".fact, .flag")


def given(ann, ben, chat_id):
    body = {"assign_type": "agent", "user_id": ben.user.pk}
    assert ann.post(f"/ai/chat/{chat_id}/assign", body).status_code == 200


def test_a_row_shows_the_customers_words_and_what_is_not_as_usual(screen, server, shop, ann, ben):
    write_in(server, "Zoe", "I want to talk to a person, my parcel is broken")
    run_jobs()
    write_in(shop, "Yan", "Where is my parcel?")
    own_id = write_in(shop, "Xia", "Wo ist mein Paket geblieben?")
    Conversation.objects.filter(pk=own_id).update(language="de")
    enter(screen, ben)
    show(screen, "Unassigned")
    expect(row(screen, "Zoe").locator(".words")).to_have_text(
        "I want to talk to a person, my parcel is broken"
    )
    expect(facts(screen, "Zoe")).to_have_count(0)
    expect(facts(screen, "Yan")).to_have_count(0)
    expect(facts(screen, "Xia")).to_have_text(["DE"])
    ben.post(f"/ai/chat/{own_id}/manual", {"text": "It is on its way."})
    show(screen, "Mine")
    expect(row(screen, "Xia").locator(".last")).to_have_text("You: It is on its way.")
    sent = Message.objects.get(conversation_id=own_id, sender_type="agent")
    ben.delete(f"/ai/chat/{own_id}/messages/{sent.pk}")
    expect(row(screen, "Xia").locator(".last")).to_have_text("This message was deleted.")
    heights = screen.locator(".row").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert set(heights) == {64}
    assert violations(screen) == []


def test_a_row_of_the_queue_shows_the_matter_from_the_first_word_on(screen, bot, ben):
    now = timezone.now()
    chat = make_chat(bot, assign_type="queue", waiting_since=now, handoff_reason="customer_asked",
                     customer_name="Zoe", language="de", priority="urgent")  # fmt: skip
    request = put_message(chat, "customer", text="Talk to a person")
    put_message(chat, "system", receipt={"handoff_reason": "customer_asked"}, in_reply_to=request)
    put_message(chat, "customer", text="Die Jacke brennt", translations={"en": "The coat burns"})
    picture = {"type": "image", "url": "https://a.example/1.png", "file_name": "IMG_1.png"}
    put_message(chat, "customer", content=[picture])
    for scheme, size in (("light", {"width": 1280, "height": 800}), ("dark", PHONE)):
        screen.emulate_media(color_scheme=scheme)
        screen.set_viewport_size(size)
        if scheme == "light":
            enter(screen, ben)
        show(screen, "Unassigned")
        shown = row(screen, "Zoe")
        expect(shown.locator(".words")).to_have_text("The coat burns")
        expect(shown.locator(".newest")).to_have_text("Photo")
        expect(facts(screen, "Zoe")).to_have_text(["DE"])
        expect(screen.locator(".row.urgent")).to_have_count(1)
        assert violations(screen) == []


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Sticker: 👍"), ("de", "Sticker: 👍"), ("vi", "Nhãn dán: 👍")]
)
def test_a_row_names_a_sticker(screen, bot, ben, language, words):
    User.objects.filter(pk=ben.user.pk).update(language=language)
    picture = {"type": "image", "url": "https://a.example/1.webp", "file_name": "sticker"}
    lines = {"lines": [{"kind": "sticker", "text": "👍"}]}
    waits = {"assign_type": "queue", "waiting_since": timezone.now()}
    for name, fields in (("Zoe", waits), ("Yan", {"assign_type": "agent", "assignee": ben.user})):
        chat = make_chat(bot, customer_name=name, **fields)
        said = put_message(chat, "customer", content=[picture], metadata=lines)
        Conversation.objects.filter(pk=chat.pk).update(last_message=said)
    enter(screen, ben)
    for view, name, place in ((1, "Zoe", ".words"), (0, "Yan", ".last")):
        screen.locator(".views button").nth(view).click()
        expect(screen.locator("button.chat", has_text=name).locator(place)).to_have_text(words)


def test_a_row_of_the_queue_follows_what_happens(screen, server, shop, ann, ben):
    chat_id = write_in(server, "Zoe", "I want to talk to a person")
    run_jobs()
    enter(screen, ben)
    show(screen, "Unassigned")
    shown = row(screen, "Zoe")
    expect(shown.locator(".words")).to_have_text("I want to talk to a person")
    say(server, chat_id, "My parcel is broken")
    expect(shown.locator(".newest")).to_have_text("My parcel is broken")
    say(server, chat_id, "Hello?")
    expect(shown.locator(".newest")).to_have_text("Hello?")
    given(ann, ann, chat_id)
    expect(shown).to_have_count(0)
    note = {"text": "needs it before Friday", "is_note": True}
    assert ann.post(f"/ai/chat/{chat_id}/manual", note).status_code == 201
    assert ann.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "queue"}).status_code == 200
    expect(shown.locator(".returned")).to_have_text("Returned by Ann: needs it before Friday")
    expect(shown.locator(".words")).to_contain_text("My parcel is broken")
    write_in(server, "Yan", "I want to talk to a person, the zip broke")
    run_jobs()
    expect(row(screen, "Yan").locator(".words")).to_contain_text("the zip broke")


def test_a_row_shows_what_decides_how_urgent_its_chat_is(screen, client_a, ann, ben):
    bot, now = make_bot(client_a, agent_reply=True), timezone.now()
    waits = {"bot": bot, "assign_type": "queue"}
    late = make_chat(
        **waits, customer_name="Late", waiting_since=now - timedelta(hours=1), sentiment="negative"
    )
    make_chat(**waits, customer_name="Fresh", waiting_since=now)
    ends_at = now + timedelta(minutes=50, seconds=40)
    for name, end in (("Closing", ends_at), ("Closed", now), ("Open", now + timedelta(hours=20))):
        make_chat(
            **waits, customer_name=name, waiting_since=now, channel="chatapp",
            reply_window_expires_at=end,
        )  # fmt: skip
    ann.post(f"/ai/chat/{late.pk}/manual", {"text": "@Ben, please look", "is_note": True})
    enter(screen, ben)
    show(screen, "Unassigned")
    expect(row(screen, "Late").locator(".called")).to_have_text("Ann mentioned you: Late")
    expect(facts(screen, "Late")).to_have_text(["Unhappy"])
    expect(row(screen, "Fresh").locator(".called")).to_have_count(0)
    expect(row(screen, "Closing").locator(".closing")).to_have_text("50 min left to reply")
    expect(row(screen, "Closed").locator(".closing")).to_have_text("Can't reply now")
    expect(row(screen, "Open").locator(".closing")).to_have_count(0)
    order = screen.locator(".order")
    expect(order).to_have_text("By priority, then longest wait")
    assert violations(screen) == []
    show(screen, "Ended")
    expect(order).to_have_text("Latest first")
    show(screen, "Unassigned")
    row(screen, "Late").click()
    expect(row(screen, "Late").locator(".called")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_row_says_how_late_the_answer_is_and_a_finished_one_has_no_clock(
    screen, client_a, ben, scheme
):
    waits = {"Fresh": 4, "Late": 7, "Overdue": 11}  # the target is 5 minutes
    bot, now = make_bot(client_a, agent_reply=True), timezone.now()
    chats = [
        make_chat(bot, assign_type="queue", customer_name=name, unread_count=1,
                  waiting_since=now - timedelta(minutes=minutes),
                  last_message_at=now - timedelta(minutes=minutes))
        for name, minutes in waits.items()
    ]  # fmt: skip
    screen.emulate_media(color_scheme=scheme)
    enter(screen, ben)
    show(screen, "Unassigned")
    shown = [row(screen, name).locator(".wait") for name in waits]
    expect(shown[0]).to_have_attribute("title", "waiting 4 min")
    expect(shown[1]).to_have_attribute("title", "waiting 7 min, past the target")
    expect(shown[2]).to_have_attribute("title", "waiting 11 min, more than twice the target")
    looks = [
        wait.evaluate("({className}) => className") + wait.locator("path").get_attribute("d")
        for wait in shown
    ]
    assert len(set(looks)) == 3
    view = screen.get_by_role("button", name="Unassigned 3 conversations")
    expect(view.locator(".count")).to_have_attribute("title", "3 conversations")
    badge = row(screen, "Late").locator(".badge")
    expect(badge).to_have_attribute("title", "1 unread message")
    expect(badge.locator(".hidden")).to_have_text("1 unread message")
    assert violations(screen) == []
    assert ben.post(f"/ai/chat/{chats[2].pk}/agent-end").status_code == 200
    show(screen, "Ended")
    expect(row(screen, "Overdue").locator(".wait")).to_have_count(0)
    expect(row(screen, "Overdue").locator("time")).to_have_text(re.compile(r"^\d\d:\d\d$"))


def test_a_customers_message_gives_an_open_chat_time_to_reply_again(screen, shop, ben):
    chat_id = write_in(shop, "Zoe")
    chat, now = Conversation.objects.filter(pk=chat_id), timezone.now()
    chat.update(channel="chatapp", reply_window_expires_at=now - timedelta(hours=1))
    enter(screen, ben)
    show(screen, "Unassigned")  # a chat of one's own is marked as read, which fetches it
    row(screen, "Zoe").click()
    expect(row(screen, "Zoe").locator(".closing")).to_be_visible()
    expect(screen.locator(".composer.is-note")).to_be_visible()
    chat.update(reply_window_expires_at=now + timedelta(hours=24))
    body = {"sender": {"type": "customer"}, "text": "Hello?"}
    assert shop.post(f"/mesaging/conversations/{chat_id}/messages", body).status_code == 201
    expect(row(screen, "Zoe").locator(".closing")).to_have_count(0)
    expect(screen.locator(".composer:not(.is-note)")).to_be_visible()


def test_the_transcript_says_why_the_agent_lost_the_chat(screen, shop, ann, ben):
    chat_id = write_in(shop, "Zoe")
    given(ann, ben, chat_id)
    Conversation.objects.update(return_at=timezone.now() - timedelta(seconds=1))
    tasks.run_timers()
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    step = screen.locator(".step").last
    expect(step).to_contain_text("Returned to the queue: The agent didn't reply in time")


def test_the_bell_calls_whom_it_concerns(screen, server, shop, ann, ben):
    write_in(server, "Nobody's", "I want to talk to a person")
    run_jobs()  # of what waits, everybody is told, and no bell rings
    first = write_in(shop, "Zoe")
    enter(screen, ben)
    bell = screen.locator(".bell")
    expect(bell).to_have_attribute("aria-label", "Notifications")
    expect(screen).to_have_title("Inbox")
    given(ann, ben, first)
    toast = screen.locator(".toast")
    expect(toast).to_contain_text("Ann assigned Zoe to you")
    expect(bell).to_have_attribute("aria-label", "1 new notification")
    expect(screen).to_have_title("(1) Inbox")
    screen.keyboard.press("g")
    expect(screen.locator(".head")).to_contain_text("Zoe")
    expect(bell).to_have_attribute("aria-label", "Notifications")
    expect(screen).to_have_title("Inbox")
    other = write_in(shop, "Yan")
    ann.post(f"/ai/chat/{other}/manual", {"text": "@Ben, please look", "is_note": True})
    expect(toast).to_contain_text("Ann mentioned you: Yan")
    expect(toast).to_have_count(1)
    box, head = toast.bounding_box(), screen.locator(".head").bounding_box()
    composer = screen.locator(".composer").bounding_box()
    assert box
    assert head
    assert composer
    assert head["y"] + head["height"] <= box["y"]
    assert box["y"] + box["height"] < composer["y"]
    assert violations(screen) == []
    screen.reload()
    expect(screen).to_have_title("(1) Inbox")  # nothing is forgotten
    bell.click()
    dialog = screen.get_by_role("dialog")
    expect(dialog.locator(".notices button")).to_have_count(2)
    expect(dialog.locator(".unread")).to_have_count(1)
    assert violations(screen) == []
    dialog.get_by_role("button", name="Mark all as read").click()
    expect(dialog.locator(".unread")).to_have_count(0)
    dialog.get_by_role("button", name="Yan").click()
    expect(screen.locator(".head")).to_contain_text("Yan")
    expect(screen).to_have_title("Inbox")
    own = Notification.objects.filter(user=ben.user).exclude(kind="handoff")
    assert set(own.values_list("is_read", flat=True)) == {True}


def test_what_an_agent_takes_calls_nobody(screen, shop, bea, ben):
    chat_id = write_in(shop, "Zoe")
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    screen.keyboard.press("a")
    expect(log(screen)).to_contain_text("You took this conversation")
    given(ben, bea, chat_id)
    expect(screen.locator(".head")).to_contain_text("Assigned to Bea")
    expect(screen.locator(".bell")).to_have_attribute("aria-label", "Notifications")
    assert "assigned Zoe" not in screen.locator("main").inner_text()


@pytest.mark.journey
def test_filters_narrow_the_list_and_are_kept_as_views(screen, client_a, ben):
    bot = make_bot(client_a, agent_reply=True)
    queue(bot, 2)
    queue(bot, 20, language="de", channel="socialnet")
    make_chat(make_bot(client_a, bot_name="Second"), assign_type="queue", customer_name="Late",
              tags=["refund"], waiting_since=timezone.now() - timedelta(hours=2), priority="high",
              sentiment="negative", unread_count=1)  # fmt: skip
    enter(screen, ben)
    show(screen, "Unassigned")
    rows = screen.locator("button.chat")
    expect(rows).to_have_count(23)
    screen.keyboard.press("f")
    dialog = screen.get_by_role("dialog")
    dialog.get_by_label("Language").select_option("de")
    dialog.get_by_label("Waiting longer than").select_option("900")
    assert violations(screen) == []
    dialog.get_by_role("button", name="Apply").click()
    expect(rows).to_have_count(6)
    screen.get_by_role("button", name="Filter…").click()
    dialog.get_by_label("Save this view as").fill("Late Germans")
    dialog.get_by_role("button", name="Save view").click()
    screen.keyboard.press("Escape")
    views = screen.get_by_role("group", name="Views")
    kept = views.get_by_role("button", name="Late Germans")
    expect(kept).to_have_attribute("aria-pressed", "true")
    screen.get_by_role("button", name=re.compile("Remove filter: German")).click()
    expect(rows).to_have_count(7)
    expect(kept).to_have_attribute("aria-pressed", "false")
    show(screen, "Unassigned")
    expect(rows).to_have_count(23)
    screen.reload()
    kept.click()
    expect(rows).to_have_count(6)
    # What comes and does not match stays out, without a reload.
    make_key(client_a, "secret", bot.pk).post(
        "/ai/client/chat", {"customer": {"name": "Newcomer"}, "message": "Where is my parcel?"}
    )
    expect(views.get_by_role("button", name="Unassigned")).to_contain_text("24")
    expect(rows).to_have_count(6)
    screen.keyboard.press("f")
    dialog.get_by_role("button", name="Delete Late Germans").click()
    expect(dialog.get_by_role("button", name="Delete Late Germans")).to_have_count(0)
    assert not SavedView.objects.exists()
    dialog.get_by_label("Language").select_option("")
    chosen = {
        "bot_id": "Second", "priority": "High", "sentiment": "negative", "is_unread": "unread",
    }  # fmt: skip
    for name, value in chosen.items():
        dialog.locator(f"[name={name}]").select_option(label=value)
    dialog.get_by_role("button", name="Apply").click()
    expect(rows).to_have_count(1)
    expect(row(screen, "Late")).to_be_visible()
    late = Conversation.objects.get(priority="high")
    assert ben.put(f"/ai/chat/{late.pk}/priority", {"priority": "low"}).status_code == 200
    expect(rows).to_have_count(0)


def test_the_palette_finds_chats_views_and_the_site(screen, shop, ann):
    write_in(shop, "Zoe", "My parcel is broken")
    enter_as_owner(screen, ann)
    screen.keyboard.press("Control+k")
    dialog = screen.get_by_role("dialog")
    screen.keyboard.type("snooz")
    dialog.get_by_role("option", name="Snoozed").wait_for()
    screen.keyboard.press("Enter")
    expect(screen.get_by_role("button", name="Snoozed")).to_have_attribute("aria-pressed", "true")
    screen.keyboard.press("Control+k")
    screen.keyboard.type("broken")
    dialog.get_by_role("option", name="Zoe").wait_for()
    assert violations(screen) == []
    screen.keyboard.press("Enter")
    expect(screen.locator(".head")).to_contain_text("Zoe")
    screen.keyboard.press("Control+k")
    screen.keyboard.type("nothing like it")
    expect(dialog.get_by_role("status")).to_have_text("No results.")
    screen.keyboard.press("Control+a")
    screen.keyboard.type("webho")
    dialog.get_by_role("option", name="Webhooks").click()
    screen.wait_for_url("**/admin/webhooks/**")


def enter_as_owner(screen, ann):
    from identity.testing import enter_site  # noqa: PLC0415

    enter_site(screen, ann.user)
    screen.goto("/admin/desk/")
    expect(screen.locator("body")).to_have_attribute("data-ready", "yes")


def test_the_list_has_no_end_and_shift_ticks_a_range(screen, client_a, ben):
    queue(make_bot(client_a, agent_reply=True), 120)
    enter(screen, ben)
    show(screen, "Unassigned")
    rows = screen.locator("button.chat")
    expect(rows).to_have_count(50)
    row(screen, "Customer 049").click()
    screen.keyboard.press("j")
    expect(screen.locator(".head")).to_contain_text("Customer 050")
    for _ in range(2):
        rows.last.scroll_into_view_if_needed()
        screen.mouse.wheel(0, 20_000)
        screen.locator(".list").evaluate("list => list.scrollTo(0, list.scrollHeight)")
        screen.wait_for_timeout(300)
    expect(rows).to_have_count(120)
    expect(screen.get_by_role("button", name="Show more")).to_have_count(0)
    screen.get_by_label("Select Customer 010").click()
    screen.get_by_label("Select Customer 014").click(modifiers=["Shift"])
    expect(screen.get_by_role("group", name="5 selected")).to_be_visible()
    screen.get_by_label("Select Customer 012").click()
    expect(screen.get_by_role("group", name="4 selected")).to_be_visible()


def test_a_search_shows_the_hit_and_opens_there(screen, client_a, ben):
    chat = make_chat(make_bot(client_a), customer_name="Zoe", assign_type="agent",
                     assignee=ben.user)  # fmt: skip
    for number in range(130):
        text = "The dachshund bit the parcel" if number == 20 else f"Line {number}"
        content = [{"type": "text", "text": text}]
        put_message(chat, "customer", text=text, content=content)
    enter(screen, ben)
    screen.keyboard.press("/")
    screen.keyboard.type("dachshund")
    expect(row(screen, "Zoe").locator("mark")).to_have_text("dachshund")
    row(screen, "Zoe").click()
    hit = log(screen).locator(".hit")
    expect(hit).to_contain_text("The dachshund bit the parcel")
    expect(hit).to_be_in_viewport()
    show(screen, "Mine")
    expect(row(screen, "Zoe").locator("mark")).to_have_count(0)


def test_a_chat_sleeps_until_a_time_to_come_and_is_woken_or_reopened(screen, shop, ben):
    chat_id = write_in(shop, "Zoe")
    ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    row(screen, "Zoe").click()
    screen.keyboard.press("s")
    dialog = screen.get_by_role("dialog")
    field = dialog.get_by_label("Choose a date and time")
    field.fill("2020-01-01T09:00")
    dialog.get_by_role("button", name="Snooze", exact=True).click()
    assert field.evaluate("field => field.validity.rangeUnderflow")
    screen.keyboard.press("Escape")
    expect(row(screen, "Zoe")).to_be_visible()
    until = (timezone.now() + timedelta(days=2)).isoformat()
    ben.post(f"/ai/chat/{chat_id}/snooze", {"until": until})
    expect(screen.locator(".head")).to_contain_text("Snoozed until")
    show(screen, "Snoozed")
    expect(facts(screen, "Zoe").first).to_contain_text("until")
    screen.get_by_role("button", name="Unsnooze").click()
    expect(screen.get_by_role("button", name="Unsnooze")).to_have_count(0)
    assert Conversation.objects.get().status == "open"
    ben.post(f"/ai/chat/{chat_id}/agent-end")
    screen.get_by_role("button", name="Reopen").click()
    expect(screen.locator(".head")).to_contain_text("Assigned to you")
    expect(screen.get_by_role("button", name="Reopen")).to_have_count(0)
    assert Conversation.objects.get().status == "open"


def test_on_a_sunday_tomorrow_and_monday_are_offered_once(screen, shop, ben):
    write_in(shop, "Zoe")
    screen.clock.set_fixed_time(datetime(2030, 6, 2, 12, tzinfo=UTC))
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    screen.keyboard.press("s")
    offered = screen.get_by_role("dialog").locator(".choices button")
    expect(offered).to_have_text(
        ["For 1 hour", "Until 18:00 today", "Until 9:00 tomorrow"], use_inner_text=True
    )


def test_the_way_back_to_the_site_is_in_sight_for_whom_it_has_a_start(screen, shop, ann, ben):
    enter(screen, ben)
    expect(screen.locator(".top .home")).to_have_count(0)
    enter_as_owner(screen, ann)
    screen.locator(".top .home").click()
    expect(screen).to_have_url(re.compile("/admin/$"))


def test_addresses_in_messages_are_links_and_nothing_else_is(screen, shop, ben):
    text = "See https://shop.example/a_(b). Mail me: zoe@x.example, +49 30 1234567 **not bold**"
    chat_id = write_in(shop, "Zoe", text)
    ben.post(f"/ai/chat/{chat_id}/manual", {"text": "**Bold**: www.shop.example javascript:a()"})
    enter(screen, ben)
    row(screen, "Zoe").click()
    links = log(screen).locator(".said a")
    expect(links).to_have_count(4)
    assert links.evaluate_all("all => all.map(one => one.getAttribute('href'))") == [
        "https://shop.example/a_(b)", "mailto:zoe@x.example", "tel:+49301234567",
        "https://www.shop.example",
    ]  # fmt: skip
    expect(log(screen).locator(".left .said")).to_have_text(text)
    expect(log(screen).locator(".right strong")).to_have_text("Bold")
    assert violations(screen) == []


def test_back_on_a_phone_leads_where_the_agent_was(screen, shop, ben):
    write_in(shop, "Zoe")
    screen.set_viewport_size(PHONE)
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    # Smaller letters would make a phone zoom in.
    letters = screen.locator("#composer").evaluate("(field) => getComputedStyle(field).fontSize")
    assert float(letters.removesuffix("px")) >= 16
    screen.get_by_role("button", name="Back to list").click()
    expect(row(screen, "Zoe")).to_be_visible()
    assert screen.evaluate("location.hash") == ""
    row(screen, "Zoe").click()
    expect(log(screen)).to_be_visible()
    screen.go_back()
    expect(row(screen, "Zoe")).to_be_visible()
    screen.go_back()
    expect(screen).not_to_have_url(re.compile("#"))


def test_nobody_writes_in_a_chat_that_is_not_loaded(screen, shop, ben, problems):
    first, second = write_in(shop, "Zoe"), write_in(shop, "Yan")
    enter(screen, ben)
    screen.route(f"**/ai/chat/{second}/history*", lambda route: route.abort())
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    composer = screen.locator("#composer")
    composer.fill("Dear Zoe")
    row(screen, "Yan").click()
    expect(log(screen)).to_contain_text("Loading…")
    expect(composer).not_to_be_editable()
    expect(screen.get_by_label("Attach files")).to_be_disabled()
    assert violations(screen) == []
    row(screen, "Zoe").click()
    expect(composer).to_have_value("Dear Zoe")
    expect(composer).to_be_editable()
    screen.unroute(f"**/ai/chat/{second}/history*")
    row(screen, "Yan").click()
    expect(composer).to_be_editable()
    assert first != second
    problems.clear()


def test_a_mixed_selection_says_what_it_leaves_out(screen, shop, ann, ben):
    write_in(shop, "Zoe")
    given(ann, ann, write_in(shop, "Yan"))
    enter(screen, ben)
    show(screen, "All")
    screen.get_by_label("Select Zoe").check()
    left_out = screen.locator(".bulk .left-out")
    expect(left_out).to_have_count(0)
    screen.get_by_label("Select Yan").check()
    expect(left_out).to_contain_text("1 is with a teammate")
    assert violations(screen) == []


def test_a_lost_network_is_noticed_at_once(screen, shop, ben, problems):
    write_in(shop, "Zoe")
    enter(screen, ben)
    screen.context.set_offline(True)
    expect(screen.get_by_role("alert")).to_contain_text("You're offline", timeout=2_000)
    screen.context.set_offline(False)
    expect(screen.get_by_role("alert")).to_have_count(0)
    say(shop, write_in(shop, "Yan"), "Hello?")
    show(screen, "Unassigned")
    expect(row(screen, "Yan")).to_be_visible()
    problems.clear()


def test_the_focus_returns_from_a_dialog(screen, shop, ann, ben):
    write_in(shop, "Zoe")
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    for how in ("Escape", "choice"):
        screen.get_by_role("button", name="Snooze", exact=True).focus()
        screen.keyboard.press("Shift+Tab")
        assert screen.evaluate(FOCUSED) == "Assign…"
        screen.keyboard.press("Enter")
        if how == "Escape":
            screen.keyboard.press("Escape")
            expect(screen.get_by_role("dialog")).to_have_count(0)
            assert screen.evaluate(FOCUSED) == "Assign…"
        else:
            screen.get_by_role("dialog").get_by_role("button", name="Ann").click()
            expect(log(screen)).to_be_focused()  # Ben may no longer assign the chat
        expect(log(screen)).to_contain_text("Where is my parcel?")  # the chat stays open
    screen.get_by_role("button", name="Settings").click()
    screen.get_by_role("dialog").get_by_role("button", name="Keyboard shortcuts").click()
    expect(screen.get_by_role("dialog")).to_contain_text("Undo")


def test_a_zoom_leaves_room_for_the_transcript_and_paper_has_nothing_else(screen, shop, ben):
    chat_id = write_in(shop, "Zoe")
    ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    row(screen, "Zoe").click()
    expect(log(screen)).to_contain_text("Where is my parcel?")
    screen.set_viewport_size({"width": 640, "height": 360})  # 1280 × 720 at 200 %
    height = log(screen).evaluate("log => log.clientHeight")
    assert height >= 160
    assert violations(screen) == []
    screen.emulate_media(media="print")
    expect(log(screen)).to_be_visible()
    for hidden in ("#composer", ".list", ".head .acts"):
        expect(screen.locator(hidden)).to_be_hidden()
