"""What the agents' desk offers beyond reading and answering, in a browser."""

import io
import re
import wave

import pytest
from PIL import Image
from playwright.sync_api import expect

from bots.testing import make_bot, trained
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import PHONE, violations
from chats.models import Conversation, Message, Notification
from chats.testing import make_chat, put_message
from chats.tests.test_desk import enter, log, row, seen_by_customer, show, write, write_in
from chats.tests.test_send_files import send
from identity.models import User
from identity.testing import make_key

SHOP = "Returns\n\nYou may return an order within 30 days.\n\nOpening\n\nWe open at nine."
QUESTION = "How long do I have to return an order?"


@pytest.fixture
def taught(client_a):
    """A server of a client whose bot knows how long orders may be returned."""
    bot = make_bot(client_a)
    trained(bot, SHOP)
    return make_key(client_a, "secret", bot.pk)


def test_the_bots_knowledge_helps_and_is_corrected(screen, taught, ben):
    User.objects.filter(pk=ben.user.pk).update(can_train=True)
    chat_id = write_in(taught, "Zoe", QUESTION)
    run_jobs()
    ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    row(screen, "Zoe").click()
    log(screen).get_by_role("button", name="Shop").click()
    expect(screen.get_by_role("dialog")).to_contain_text("within 30 days")
    screen.keyboard.press("Escape")
    screen.get_by_role("button", name="Suggest").click()
    expect(screen.locator(".suggestion")).to_contain_text("30 days")
    screen.keyboard.press("Tab")
    assert "30 days" in screen.locator("#composer").input_value()
    screen.get_by_role("button", name="Why?").first.click()
    receipt = screen.get_by_role("dialog")
    for said in ("Answered from your content.", "needs", "You may return an order"):
        expect(receipt).to_contain_text(said)
    expect(receipt.get_by_label("Question")).to_have_value(QUESTION)
    receipt.get_by_label("Correct answer").fill("You have 60 days.")
    receipt.get_by_role("button", name="Save and ask again").click()
    now = receipt.locator(".now")
    for _ in range(100):  # the worker's part, while the page waits for it
        run_jobs()
        if now.is_visible():
            break
        screen.wait_for_timeout(100)
    expect(now).to_contain_text("You have 60 days.")
    assert len(seen_by_customer(taught, chat_id)) == 2, "the customer heard nothing of it"


def test_saved_replies_mentions_and_drafts(screen, shop, ann, ben):
    texts = {"de": "Es ist spät.", "en": "Dear {customer.name}, it is late."}
    body = {"shortcut": "late", "texts": texts}
    assert ann.post("/ai/chat/saved-replies", {**body, "is_shared": True}).status_code == 201
    assert ann.put("/identity/users/me", {"full_name": "Ánn"}).status_code == 200
    chat_id = write_in(shop, "Zoe")
    enter(screen, ben)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    screen.keyboard.press("r")
    screen.keyboard.type("/lazy")
    expect(screen.get_by_text("No matching saved replies.")).to_be_visible()
    for _ in "zy":
        screen.keyboard.press("Backspace")
    expect(screen.get_by_role("option")).to_have_text("/late Dear Zoe, it is late.")
    screen.keyboard.press("Enter")
    expect(screen.locator("#composer")).to_have_value("Dear Zoe, it is late.")
    screen.keyboard.press("Control+Enter")
    screen.get_by_role("button", name="Undo").click()
    expect(screen.locator("#composer")).to_have_value("Dear Zoe, it is late.")
    screen.keyboard.press("Escape")
    screen.keyboard.press("n")
    screen.locator("#composer").fill("")
    screen.keyboard.type("Please look, @an")
    screen.get_by_role("option", name="Ánn").click()
    write(screen, screen.locator("#composer").input_value())
    expect(log(screen).locator(".is-note:not(.pending)")).to_contain_text("Please look, @Ánn")
    assert Notification.objects.get(kind="mentioned").user == ann.user
    assert seen_by_customer(shop, chat_id) == ["Where is my parcel?"]
    assert Message.objects.count() == 2


def test_an_agent_keeps_their_own_saved_replies(screen, shop, ann, ben, problems):
    path = "/ai/chat/saved-replies"
    body = {"shortcut": "late", "texts": {"en": "It is late."}, "is_shared": True}
    assert ann.post(path, body).status_code == 201
    write_in(shop, "Zoe")
    enter(screen, ben)
    screen.get_by_role("button", name="Settings").click()
    dialog = screen.get_by_role("dialog")
    dialog.get_by_role("button", name="Saved replies").click()
    expect(dialog).to_contain_text("/late shared")
    assert dialog.get_by_role("button", name="Edit late").count() == 0
    dialog.get_by_role("button", name="New saved reply").click()
    expect(dialog.get_by_label("Share with your team")).to_have_count(0)
    dialog.get_by_label("Shortcut").fill("/back")
    dialog.get_by_label("English").fill("Send it {customer.nmae}.")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("customer.nmae")
    assert all("422" in problem for problem in problems)
    problems.clear()
    dialog.get_by_label("English").fill("Send it back, {customer.name}.")
    dialog.get_by_label("Add a language").select_option("vi")
    dialog.get_by_label("Vietnamese").fill("Gửi lại nhé.")
    assert violations(screen) == []
    dialog.get_by_role("button", name="Save", exact=True).click()
    dialog.get_by_role("button", name="Edit back").click()
    dialog.get_by_label("Vietnamese").fill("")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("button", name="New saved reply")).to_be_focused()
    items = {item["shortcut"]: item for item in ben.get(path).json()["items"]}
    assert items["back"]["texts"] == {"en": "Send it back, {customer.name}."}
    assert [item["shortcut"] for item in ann.get(path).json()["items"]] == ["late"]
    screen.keyboard.press("Escape")
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    screen.locator("#composer").fill("/ba")
    screen.get_by_role("option", name="/back").click()
    expect(screen.locator("#composer")).to_have_value("Send it back, Zoe.")
    screen.locator("#composer").fill("/nothing")
    screen.get_by_role("button", name="Edit saved replies").click()
    dialog.get_by_role("button", name="Delete back").click()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(dialog.get_by_text("/back")).to_have_count(0)
    assert set(items) == {"back", "late"}
    assert [item["shortcut"] for item in ben.get(path).json()["items"]] == ["late"]


def test_several_chats_are_assigned_and_snoozed_at_once(screen, shop, ann, ben):
    for name in ("Zoe", "Yan", "Xia"):
        write_in(shop, name)
    enter(screen, ben)
    show(screen, "Unassigned")
    for name in ("Zoe", "Yan"):
        screen.get_by_label(f"Select {name}").check()
    chosen = screen.get_by_role("group", name="2 selected")
    chosen.get_by_role("button", name="Assign").click()
    screen.get_by_role("dialog").get_by_role("button", name="Ann").click()
    expect(screen.locator("button.chat")).to_have_count(1)
    assert Conversation.objects.filter(assignee=ann.user).count() == 2
    row(screen, "Xia").click()
    screen.keyboard.press("s")
    screen.get_by_role("button", name="For 1 hour").click()
    expect(screen.locator("button.chat")).to_have_count(0)
    screen.keyboard.press("z")
    expect(row(screen, "Xia")).to_be_visible()
    expect(screen.locator(".toast", has_text="snoozed")).to_have_count(0, timeout=1_500)
    screen.keyboard.press("s")
    screen.get_by_role("button", name="For 1 hour").click()
    screen.reload()  # a page that is left waits no longer
    show(screen, "Snoozed")
    expect(row(screen, "Xia")).to_be_visible()
    assert Conversation.objects.filter(status="snoozed").count() == 1


def test_known_tags_are_offered_by_their_beginning(screen, ben, client_a):
    bot = make_bot(client_a)
    chats = [make_chat(bot, customer_name=name) for name in ("Ann", "Zoe")]
    for chat, tags in zip(chats, (["refund", "delivery"], ["delivery"]), strict=True):
        assert ben.put(f"/ai/chat/{chat.pk}/tags", {"tags": tags}).status_code == 200
    enter(screen, ben)
    show(screen, "All")
    row(screen, "Zoe").click()
    expect(log(screen)).to_be_visible()
    screen.keyboard.press("t")
    field = screen.get_by_role("textbox", name="Tags")
    offered = screen.get_by_role("group", name="Your tags").get_by_role("button")
    expect(offered).to_have_text(["refund"])
    field.fill("delivery, vip, REF")
    expect(offered).to_have_text(["refund"])
    assert violations(screen) == []
    offered.click()
    expect(field).to_have_value("delivery, vip, refund")
    expect(field).to_be_focused()
    expect(offered).to_have_count(0)
    screen.keyboard.press("Enter")
    expect(screen.get_by_role("dialog")).to_have_count(0)
    expect(screen.locator("p.tags .chip")).to_have_text(["delivery", "vip", "refund"])
    # To several at once, tags are added.
    for name in ("Ann", "Zoe"):
        screen.get_by_label(f"Select {name}").check()
    chosen = screen.get_by_role("group", name="2 selected")
    chosen.get_by_role("button", name="Tags").click()
    field.fill("late")
    screen.keyboard.press("Enter")
    expect(screen.get_by_role("dialog")).to_have_count(0)
    expect(chosen).to_have_count(0)
    found = [set(one.taggings.values_list("name", flat=True)) for one in chats]
    assert found == [{"refund", "delivery", "late"}, {"delivery", "vip", "refund", "late"}]


def test_what_customers_record_is_played_in_the_inbox(screen, shop, ben, bot):
    bot.attach_enabled = True
    bot.save()
    chat_id = write_in(shop, "Zoe")
    chat = Conversation.objects.get(pk=chat_id)
    recorded = io.BytesIO()
    with wave.open(recorded, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes(bytes(32_000))
    broken = (b"clip.mp4", b"\0\0\0\x18ftypmp42" + bytes(40))
    drawn = io.BytesIO()
    Image.new("RGB", (800, 600), "teal").save(drawn, "PNG")
    files = ((b"note.wav", recorded.getvalue()), broken, (b"crack.png", drawn.getvalue()))
    assert send(shop, chat, *files).status_code < 300
    enter(screen, ben)
    show(screen, "All")
    row(screen, "Zoe").click()
    player = log(screen).locator("audio")
    player.evaluate(
        "(audio) => audio.readyState || new Promise((go) => audio.onloadedmetadata = go)"
    )
    assert player.evaluate("(audio) => audio.duration") == 2
    expect(player).to_have_attribute("aria-label", "note.wav")
    assert violations(screen) == []
    # What the browser cannot play can still be opened.
    log(screen).locator("video").evaluate("(video) => video.play().catch(() => {})")
    expect(log(screen).locator("video")).to_have_count(0)
    expect(log(screen).get_by_role("link", name="clip.mp4")).to_be_visible()
    # A picture is enlarged in its place.
    screen.set_viewport_size(PHONE)
    small = log(screen).get_by_role("button", name="crack.png")
    small.press("Enter")
    dialog = screen.get_by_role("dialog")
    expect(dialog.get_by_role("img", name="crack.png")).to_be_in_viewport()
    assert violations(screen) == []
    with screen.expect_download() as download:
        dialog.get_by_role("link", name="crack.png").click()
    assert download.value.suggested_filename == "crack.png"
    screen.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(small).to_be_focused()


def test_in_vietnamese_an_agent_pastes_a_file(screen, shop, ben):
    for name, text in (("Xia", "Hello"), ("Zoe", "Đơn hàng của tôi đâu?")):
        chat_id = write_in(shop, name, text)
        ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    enter(screen, ben)
    row(screen, "Zoe").click()
    expect(log(screen)).to_contain_text("Đơn hàng của tôi đâu?")
    screen.get_by_role("button", name="Settings").click()
    screen.get_by_role("button", name="Tiếng Việt").click()
    expect(screen.locator("html")).to_have_attribute("lang", "vi")
    expect(screen).to_have_title(re.compile("Hộp thư"))
    rows = screen.get_by_role("navigation", name="Cuộc trò chuyện").locator("button.chat")
    rows.filter(has_text="Zoe").click()
    expect(log(screen)).to_contain_text("Đơn hàng của tôi đâu?")
    screen.locator("#composer").evaluate(
        """(field) => {
            const clipboardData = new DataTransfer();
            clipboardData.items.add(new File(["20 euro"], "hóa đơn.txt", { type: "text/plain" }));
            field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
        }"""
    )
    file = screen.get_by_role("button", name="Bỏ hóa đơn.txt")
    expect(file).to_be_visible()
    rows.filter(has_text="Xia").click()
    expect(file).to_have_count(0)
    rows.filter(has_text="Zoe").click()
    expect(file).to_be_visible()
    screen.locator("#composer").fill("Đây là hóa đơn của bạn.")
    screen.keyboard.press("Control+Enter")
    screen.get_by_role("button", name="Gửi ngay").click()
    expect(log(screen).get_by_role("link", name="hóa đơn.txt")).to_be_visible()
    sent = Message.objects.get(sender_type="agent")
    assert [part["type"] for part in sent.content] == ["text", "file"]
    assert sent.text == "Đây là hóa đơn của bạn."
    assert violations(screen) == []


def test_the_desk_shows_what_a_message_of_a_channel_is_about(screen, ben, client_a):
    chat = make_chat(make_bot(client_a), channel="chatapp")
    lines = [
        {"kind": "quote", "text": "We have chairs."},
        {"kind": "product", "text": "Chair 1", "url": "https://shop.example/1"},
        {"kind": "of_tomorrow", "text": "something new"}, "odd",
    ]  # fmt: skip
    text = [{"type": "text", "text": "In red?"}]
    put_message(chat, "customer", content=text, metadata={"lines": lines})
    missed = {"lines": [{"kind": "missed_call"}], "no_words": True}
    said = [{"type": "text", "text": "Missed call"}]
    put_message(chat, "customer", content=said, metadata=missed)
    blocked = {"lines": [{"kind": "blocked"}], "no_words": True}
    put_message(chat, "system", content=said, metadata=blocked, is_note=True)
    place = {"latitude": 21.0, "longitude": 105.8}
    put_message(chat, "customer", content=[
        {"type": "location", "text": "Blue Shop", "location": place}
    ])  # fmt: skip
    enter(screen, ben)
    show(screen, "All")
    row(screen, "Zoe").click()
    expect(log(screen).get_by_role("link", name="Blue Shop")).to_be_visible()
    shown = log(screen).locator("[data-line]")
    kinds = [line.get_attribute("data-line") for line in shown.all()]
    assert kinds == ["quote", "product", "of_tomorrow", "missed_call", "blocked"]
    address = log(screen).locator('[data-line="product"] a')
    expect(address).to_have_attribute("href", "https://shop.example/1")
    expect(log(screen).get_by_text("Missed call")).to_have_count(1)
