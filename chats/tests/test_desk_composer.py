"""The agents' desk in a browser: help while writing, and what was written changed afterwards."""

import pytest
from django.conf import settings
from playwright.sync_api import FilePayload, expect

from bots.models import LanguageModel
from chatplatform.testing import stub_model
from chatplatform.testing.browser import violations
from chats.models import Conversation, Message
from chats.tests.test_desk import enter, log, row, seen_by_customer, show, write, write_in
from chats.tests.test_desk_list import enter_as_owner
from identity.models import ClientConfig
from identity.services import users
from identity.testing import fill_in_sign_in


@pytest.fixture
def chat_id(shop):
    return write_in(shop, "Zoe")


def open_chat(screen, person):
    enter(screen, person)
    show(screen, "Unassigned")
    row(screen, "Zoe").click()
    return screen.locator("#composer")


def test_a_saved_reply_is_used_in_the_middle_of_a_reply(screen, shop, ann, ben, chat_id):
    body = {"shortcut": "late", "texts": {"en": "it is late."}, "is_shared": True}
    assert ann.post("/ai/chat/saved-replies", body).status_code == 201
    body = {"shortcut": "again", "texts": {"en": "Your parcel is late again."}}
    assert ben.post("/ai/chat/saved-replies", body).status_code == 201
    composer = open_chat(screen, ben)
    composer.fill("Dear Zoe, Bye")
    for _ in "Bye":
        screen.keyboard.press("ArrowLeft")
    screen.keyboard.type("/la")
    expect(screen.get_by_role("option").locator("bdi")).to_have_text(["/late", "/again"])
    # Enter that ends the composition of a word chooses nothing.
    composed = "new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, bubbles: true})"
    composer.evaluate(f"(field) => field.dispatchEvent({composed})")
    screen.wait_for_timeout(200)
    expect(composer).to_have_value("Dear Zoe, /laBye")
    screen.keyboard.press("Enter")
    expect(composer).to_have_value("Dear Zoe, it is late.Bye")
    screen.keyboard.type(" ")
    expect(composer).to_have_value("Dear Zoe, it is late. Bye")
    composer.fill("and/or 24/7")
    screen.wait_for_timeout(300)
    expect(screen.get_by_role("option")).to_have_count(0)


def test_an_emoji_is_put_where_the_caret_is(screen, ben, chat_id):
    composer = open_chat(screen, ben)
    composer.fill("Hello Zoe")
    screen.keyboard.press("Home")
    screen.get_by_role("button", name="Emoji").click()
    choices = screen.get_by_role("list", name="Emoji").get_by_role("button")
    expect(choices.first).to_be_focused()
    assert violations(screen) == []
    screen.keyboard.press("ArrowRight")
    screen.keyboard.press("ArrowDown")
    sign = choices.nth(9).inner_text()
    screen.keyboard.press("Enter")
    expect(composer).to_have_value(f"{sign}Hello Zoe")
    expect(composer).to_be_focused()
    screen.get_by_role("button", name="Emoji").click()
    screen.keyboard.press("Escape")
    expect(choices).to_have_count(0)
    expect(screen.get_by_role("button", name="Emoji")).to_be_focused()


def test_the_agents_latest_message_is_edited_and_deleted(screen, shop, ben, chat_id):
    open_chat(screen, ben)
    write(screen, "It cosst 5 €.")
    expect(log(screen).locator(".agent:not(.pending)")).to_have_count(1)
    log(screen).get_by_role("button", name="Edit").click()
    dialog = screen.get_by_role("dialog")
    text = dialog.get_by_label("Message")
    expect(text).to_have_value("It cosst 5 €.")
    text.fill("It costs 5 €.")
    assert violations(screen) == []
    screen.wait_for_timeout(5_500)  # the desk is drawn anew every five seconds
    expect(text).to_have_value("It costs 5 €.")
    dialog.get_by_role("button", name="Save").click()
    expect(log(screen)).to_contain_text("It costs 5 €.")
    expect(log(screen)).to_contain_text("edited")
    assert seen_by_customer(shop, chat_id)[-1] == "It costs 5 €."
    log(screen).get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(log(screen)).to_contain_text("This message was deleted.")
    expect(log(screen).get_by_role("button", name="Edit")).to_have_count(0)
    assert Message.objects.get(sender_type="agent").text == ""


def test_enter_sends_for_who_wants_it_and_the_chat_is_ended_or_snoozed(
    screen, shop, ann, ben, chat_id, problems
):
    composer, rows = open_chat(screen, ben), screen.locator("button.chat")
    composer.fill("One")
    screen.keyboard.press("Enter")
    expect(composer).to_have_value("One\n")
    screen.get_by_role("button", name="Settings").click()
    screen.get_by_role("dialog").get_by_label("Enter sends").check()
    screen.keyboard.press("Escape")
    screen.reload()
    composer.press("Shift+Enter")
    screen.keyboard.type("Two")
    expect(composer).to_have_value("One\n\nTwo")
    screen.keyboard.press("Enter")
    expect(composer).to_have_value("")
    expect(log(screen).locator(".pending")).to_contain_text("Two")

    def send_and(what, text):
        composer.fill(text)
        screen.get_by_role("button", name="More ways to send").click()
        choice = screen.get_by_role("list", name="More ways to send").get_by_text(what)
        assert violations(screen) == []
        choice.click()

    send_and("Send and snooze…", "Three")
    screen.get_by_role("dialog").get_by_role("button", name="For 1 hour").click()
    expect(rows).to_have_count(0)
    expect(log(screen).locator(".agent:not(.pending)")).to_have_count(2)
    screen.keyboard.press("z")
    expect(log(screen).locator(".agent:not(.pending)")).to_have_count(2)
    assert Conversation.objects.get().status == "open"
    send_and("Send and end", "Four")
    expect(log(screen).locator(".agent:not(.pending)")).to_have_count(3)
    screen.reload()  # a page that is left waits no longer
    show(screen, "Ended")
    expect(row(screen, "Zoe")).to_be_visible()
    assert seen_by_customer(shop, chat_id)[1:4] == ["One\n\nTwo", "Three", "Four"]
    # What could not be sent is not followed by an end.
    other = write_in(shop, "Yan")
    show(screen, "Unassigned")
    row(screen, "Yan").click()
    Conversation.objects.filter(pk=other).update(assign_type="agent", assignee=ann.user)
    send_and("Send and end", "Five")
    expect(log(screen).locator(".pending")).to_contain_text("not sent")
    expect(screen.locator(".toast")).to_have_count(1)
    expect(screen.locator(".toast.fault")).to_contain_text("stays open")
    screen.evaluate("dispatchEvent(new Event('pagehide'))")
    expect(screen.locator(".toast")).to_have_count(1)
    assert Conversation.objects.get(pk=other).status == "open"
    assert all("409" in problem for problem in problems)
    problems.clear()


def test_a_reply_that_can_be_undone_goes_out_before_an_assignment(
    screen, shop, ann, ben, chat_id, problems
):
    composer = open_chat(screen, ben)

    def assign_to(choice):
        screen.keyboard.press("Control+Enter")
        screen.locator(".acts").get_by_role("button", name="Assign…").click()
        screen.get_by_role("dialog").get_by_role("button", name=choice).click()
        expect(screen.get_by_role("dialog")).to_have_count(0)

    composer.fill("One")
    assign_to("Return to queue")
    assert Conversation.objects.get().assign_type == "queue"
    composer.fill("Two")
    assign_to("Ann")
    assert Conversation.objects.get().assignee == ann.user
    expect(log(screen).locator(".pending")).to_have_count(0)
    assert seen_by_customer(shop, chat_id)[1:3] == ["One", "Two"]
    # What could not be sent is not followed by an assignment.
    other = write_in(shop, "Yan")
    show(screen, "Unassigned")
    row(screen, "Yan").click()
    composer.fill("Three")
    screen.keyboard.press("Control+Enter")
    Conversation.objects.filter(pk=other).update(assign_type="agent", assignee=ann.user)
    screen.locator(".acts").get_by_role("button", name="Assign…").click()
    screen.get_by_role("dialog").get_by_role("button", name="Assign to me").click()
    expect(screen.locator(".toast.fault")).to_contain_text("wasn't sent")
    assert Conversation.objects.get(pk=other).assignee == ann.user
    # Nor is what waits for the connection.
    third = write_in(shop, "Xia")
    row(screen, "Xia").click()
    screen.route("**/manual", lambda route: route.abort())
    screen.clock.install()
    composer.fill("Four")
    screen.keyboard.press("Control+Enter")
    screen.locator(".acts").get_by_role("button", name="Assign…").click()
    screen.get_by_role("dialog").get_by_role("button", name="Assign to me").click()
    expect(log(screen).locator(".pending")).to_contain_text("waiting for connection")
    screen.clock.fast_forward(16_000)
    expect(screen.locator(".toast.fault")).to_contain_text("Xia wasn't assigned")
    assert Conversation.objects.get(pk=third).assignee is None
    assert all("409" in problem or "ERR_FAILED" in problem for problem in problems)
    problems.clear()


def test_a_reply_that_was_begun_becomes_no_note(screen, shop, ann, ben, chat_id):
    composer = open_chat(screen, ben)
    composer.fill("The price is")
    assert ann.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"}).status_code == 200
    expect(screen.locator(".head")).to_contain_text("Assigned to Ann")
    for name in ("Assign…", "Snooze", "End"):
        expect(screen.locator(".acts").get_by_role("button", name=name)).to_have_count(0)
    composer.press_sequentially(" 9 EUR")
    screen.keyboard.press("Control+Enter")
    expect(screen.locator(".composer [role=alert]")).to_be_visible()
    expect(log(screen).locator(".pending")).to_have_count(0)
    screen.get_by_role("button", name="Note", exact=True).click()
    screen.keyboard.press("Control+Enter")
    screen.get_by_role("button", name="Send now").click()
    expect(log(screen).locator(".message.is-note:not(.pending)")).to_have_count(1)
    note = Message.objects.get(sender_type="agent", is_note=True)
    assert note.content[0]["text"] == "The price is 9 EUR"


def test_a_note_that_was_begun_becomes_no_reply(screen, shop, ann, ben, chat_id):
    path = f"/ai/chat/{chat_id}/assign"
    assert ann.post(path, {"assign_type": "agent"}).status_code == 200
    enter(screen, ben)
    show(screen, "All")
    row(screen, "Zoe").click()
    expect(screen.locator(".composer.is-note")).to_be_visible()
    composer = screen.locator("#composer")
    composer.fill("Careful, this customer is")
    assert ann.post(path, {"assign_type": "queue"}).status_code == 200
    expect(screen.locator(".acts").get_by_role("button", name="Assign to me")).to_be_visible()
    composer.press_sequentially(" angry")
    screen.keyboard.press("Control+Enter")
    screen.get_by_role("button", name="Send now").click()
    expect(log(screen).locator(".message.is-note:not(.pending)")).to_have_count(1)
    assert not Message.objects.filter(sender_type="agent", is_note=False).exists()
    # The next text is a reply again.
    expect(screen.locator(".composer.is-note")).to_have_count(0)


def test_a_refused_reply_is_said_in_any_chat(screen, shop, ann, ben, chat_id, problems):
    write_in(shop, "Max")
    open_chat(screen, ben).fill("Hello")
    screen.keyboard.press("Control+Enter")
    show(screen, "All")
    row(screen, "Max").click()
    Conversation.objects.filter(pk=chat_id).update(assign_type="agent", assignee=ann.user)
    toast = screen.locator(".toast.fault")
    expect(toast).to_contain_text("Your message to Zoe", timeout=10_000)
    expect(row(screen, "Zoe").locator(".fault")).to_have_text("not sent")
    toast.get_by_role("button", name="Open").click()
    expect(log(screen).locator(".pending")).to_contain_text("Hello")
    assert not Message.objects.filter(sender_type="agent").exists()
    assert all("409" in problem for problem in problems)
    problems.clear()


def test_an_undone_message_comes_back_before_what_is_typed_since(screen, ben, chat_id):
    composer = open_chat(screen, ben)
    undo = log(screen).locator(".pending").get_by_role("button", name="Undo")
    composer.fill("First")
    screen.keyboard.press("Control+Enter")
    composer.fill("Second")
    undo.click()
    expect(composer).to_have_value("First\nSecond")
    screen.get_by_role("button", name="Note", exact=True).click()
    screen.keyboard.press("Control+Enter")
    screen.get_by_role("button", name="Reply", exact=True).click()
    composer.fill("Dear Zoe")
    undo.click()
    expect(composer).to_have_value("First\nSecond\nDear Zoe")
    expect(screen.locator(".composer.is-note")).to_have_count(1)
    expect(log(screen).locator(".pending")).to_have_count(0)
    assert not Message.objects.filter(sender_type="agent").exists()


def test_the_browser_asks_before_it_leaves_files_that_are_not_sent(screen, ben, chat_id):
    asked = []

    def leave(dialog):
        asked.append(dialog.type)
        dialog.accept()

    screen.on("dialog", leave)
    composer = open_chat(screen, ben)
    composer.fill("Dear Zoe")
    screen.reload()
    assert asked == []
    expect(composer).to_have_value("Dear Zoe")
    file: FilePayload = {"name": "bill.txt", "mimeType": "text/plain", "buffer": b"20 euros"}
    screen.get_by_label("Attach files").set_input_files([file] * (settings.MAX_MESSAGE_FILES + 1))
    expect(screen.locator(".composer .files li")).to_have_count(settings.MAX_MESSAGE_FILES)
    composer.click()
    screen.reload()
    assert asked == ["beforeunload"]


def test_files_wait_while_the_agent_signs_in_again(screen, shop, ben, chat_id, problems):
    composer = open_chat(screen, ben)
    file: FilePayload = {"name": "bill.txt", "mimeType": "text/plain", "buffer": b"20 euros"}
    screen.get_by_label("Attach files").set_input_files([file])
    composer.fill("Here is your bill.")
    users.set_own_password(ben.user, "another-horse-battery")  # ends every sign-in
    screen.keyboard.press("Control+Enter")
    screen.get_by_role("button", name="Send now").click()
    again = screen.get_by_role("alert").get_by_role("link")
    with screen.context.expect_page() as opened:
        again.click()
    fill_in_sign_in(opened.value, ben.user)
    opened.value.wait_for_url(f"**/admin/desk/#{chat_id}")
    opened.value.close()
    for is_offline in (True, False):  # instead of waiting for the end of the old feed
        screen.context.set_offline(is_offline)
    expect(log(screen).get_by_label("sent")).to_have_count(1)
    sent = Message.objects.get(sender_type="agent")
    assert [part["type"] for part in sent.content] == ["text", "file"]
    problems.clear()


def test_a_reply_is_rewritten_where_a_model_is_set(screen, shop, ben, chat_id, outside_port):
    with stub_model.running("json", outside_port) as model:
        model.json_answer = {"text": "We send it tomorrow."}
        LanguageModel.objects.create(client=ben.client, base_url=model.base_url, model="stub")
        composer = open_chat(screen, ben)
        button = screen.get_by_role("button", name="Rewrite")
        expect(button).to_be_disabled()
        composer.fill("We sendd it tomorrow.")
        button.click()
        assert violations(screen) == []
        screen.get_by_role("button", name="Fix spelling").click()
        expect(composer).to_have_value("We send it tomorrow.")
        screen.get_by_role("button", name="Undo").click()
        expect(composer).to_have_value("We sendd it tomorrow.")


def test_without_a_model_whoever_asks_for_a_translation_is_told_what_it_needs(screen, shop, ben):
    write_in(shop, "Zoe", "Đơn hàng của tôi đâu?")
    open_chat(screen, ben)
    expect(log(screen)).to_contain_text("Đơn hàng của tôi đâu?")
    expect(screen.get_by_role("button", name="Suggest")).to_be_visible()
    for name in ("Rewrite", "Summarize"):
        expect(screen.get_by_role("button", name=name)).to_have_count(0)
    screen.locator("#composer").fill("On its way.")
    expect(screen.locator("[data-untranslated]")).to_have_count(0)
    translate = log(screen).get_by_role("button", name="Translate")
    translate.click()
    expect(log(screen).locator("[data-no-model]")).to_be_visible()
    expect(translate).to_have_count(0)


def test_whoever_wants_translations_without_a_model_is_told_where_to_connect_one(
    screen, shop, ann, chat_id
):
    write_in(shop, "Yan", "Đơn hàng của tôi đâu?")
    ClientConfig.objects.update(auto_translate=True)
    enter_as_owner(screen, ann)
    show(screen, "Unassigned")
    row(screen, "Yan").click()
    link = log(screen).locator("[data-no-model] a")
    expect(link).to_have_attribute("href", "/admin/bots/languagemodel/")
    warning = screen.locator("[data-untranslated]")
    expect(warning).to_have_count(0)
    screen.locator("#composer").fill("On its way.")
    expect(warning).to_be_visible()
    assert violations(screen) == []
    row(screen, "Zoe").click()
    expect(log(screen).locator(".message.customer")).to_be_visible()
    expect(link).to_have_count(0)
    screen.locator("#composer").fill("On its way.")
    expect(warning).to_have_count(0)


def test_why_a_model_did_not_help_stands_where_it_was_asked(
    screen, shop, ben, outside_port, problems
):
    write_in(shop, "Zoe", "Đơn hàng của tôi đâu?")
    with stub_model.running("400", outside_port) as model:
        LanguageModel.objects.create(client=ben.client, base_url=model.base_url, model="stub")
        composer = open_chat(screen, ben)
        translate = log(screen).get_by_role("button", name="Translate")
        translate.click()
        reason = log(screen).locator(".bubble [role=alert]")
        expect(reason).to_be_visible()
        composer.fill("We sendd it.")
        screen.get_by_role("button", name="Rewrite").click()
        screen.get_by_role("button", name="Fix spelling").click()
        expect(screen.locator(".composer [role=alert]")).to_be_visible()
        expect(composer).to_have_value("We sendd it.")
        screen.get_by_role("button", name="Summarize").click()
        expect(screen.locator(".card [role=alert]")).to_be_visible()
        expect(screen.locator(".toast")).to_have_count(0)
        model.play("json")
        model.json_answer = {"text": "Where is my order?"}
        translate.click()
        expect(log(screen).locator(".translation")).to_contain_text("Where is my order?")
        expect(reason).to_have_count(0)
    problems.clear()
