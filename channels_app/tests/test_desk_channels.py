"""The desk follows what happens at a provider: refused replies, lost connections, customers who
wrote STOP."""

from datetime import timedelta

import pytest
from django.utils import timezone

from channels_app.tests.chatapp import connect
from channels_app.tests.helpers import run_waiting
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import violations
from chats.models import Conversation, Customer, Message
from identity.testing import enter_site

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(screen_beside_sim, ben):
    """`desk(chat)`: Ben's desk with this chat open."""

    def opened(chat):
        enter_site(screen_beside_sim, ben.user)
        screen_beside_sim.goto(f"/admin/desk/#{chat.pk}")
        screen_beside_sim.locator("body[data-ready]").wait_for()
        return screen_beside_sim

    return opened


def chat_with(channel, user):
    """A chat that waits for an agent, with a customer of this name."""
    channel.write("Is anybody there?", user=user)
    run_jobs()
    chat = Conversation.objects.latest("created_at")
    Customer.objects.filter(pk=chat.customer_id).update(name=user.title())
    return chat


def answer(screen, text):
    screen.locator("#composer").fill(text)
    screen.get_by_role("button", name="Send ").first.click()
    screen.get_by_role("button", name="Send now").click()
    screen.locator(".message.pending").wait_for(state="detached")


@pytest.mark.full
def test_in_the_browser_a_refused_reply_is_told_elsewhere_and_sent_again(chatapp, quiet, ben, desk):
    chat, other = chat_with(chatapp, "an"), chat_with(chatapp, "bo")
    ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"})
    ben.post(f"/ai/chat/{other.pk}/assign", {"assign_type": "agent"})
    chatapp.sim.fault("recipient_gone", what="sends")
    screen = desk(chat)
    answer(screen, "Here I am")
    screen.locator(".row", has_text="Bo").locator("button.chat").click()
    screen.get_by_role("heading", name="Bo").first.wait_for()
    run_jobs()
    toast = screen.locator(".toast.fault")
    toast.wait_for()
    assert "An wasn't sent: Contact the customer another way." in toast.inner_text()
    assert screen.locator(".row", has_text="An").locator(".fault").inner_text() == "not sent"
    toast.get_by_role("button", name="Open").click()
    screen.locator("#composer").fill("half a thought")
    bubble = screen.locator(".message.agent")
    bubble.get_by_role("button", name="Try again").click()
    assert screen.locator("#composer").input_value() == "half a thought"
    screen.get_by_role("button", name="Send now").click()
    screen.locator(".message.agent:not(.pending)").nth(1).wait_for()
    assert screen.get_by_role("button", name="Try again").count() == 0
    assert violations(screen) == []
    run_jobs()
    assert chatapp.replies() == ["Here I am"]


@pytest.mark.full
def test_in_the_browser_a_rejected_file_is_sent_again(chatapp, quiet, ben, desk):
    chat = chat_with(chatapp, "an")
    ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"})
    screen = desk(chat)
    attach = screen.get_by_label("Attach files")
    attach.set_input_files([{"name": "shoe.png", "mimeType": "image/png", "buffer": PNG}])
    chatapp.sim.fault("recipient_gone", what="sends")
    answer(screen, "")
    run_jobs()
    screen.reload()  # the jobs run in the test, whose links have another host
    screen.get_by_role("button", name="Try again").click()
    pending = screen.locator(".message.pending")
    assert "shoe.png" in pending.inner_text()
    assert screen.get_by_role("button", name="Try again").count() == 0
    pending.get_by_role("button", name="Undo").click()
    pending.wait_for(state="detached")
    assert screen.locator(".files li").count() == 0  # it stays in the transcript
    screen.get_by_role("button", name="Try again").click()
    screen.get_by_role("button", name="Send now").click()
    pending.wait_for(state="detached")
    run_jobs()
    assert screen.get_by_role("button", name="Try again").count() == 0
    first, second = Message.objects.filter(sender_type="agent").order_by("seq")
    assert (first.status, second.status) == ("failed", "sent")
    [part] = second.content
    assert (part["type"], part["file_name"]) == ("image", "shoe.png")
    assert violations(screen) == []


@pytest.mark.full
def test_in_the_browser_the_composer_follows_the_channel(chatapp, quiet, ben, ann, desk):
    chat = chat_with(chatapp, "an")
    screen = desk(chat)
    note = screen.locator(".hindrance")
    assert note.count() == 0
    ann.put(chatapp.bot_path("disconnect"), {})
    note.wait_for()
    assert "isn't connected" in note.inner_text()
    assert screen.get_by_role("button", name="Reply", exact=True).is_disabled()
    chatapp.store_token()
    connect(chatapp)
    note.wait_for(state="detached")
    # The provider says that the window is over; until now, the platform thought otherwise.
    chatapp.sim.fault("window_closed", what="sends")
    answer(screen, "Still there?")
    run_jobs()
    note.wait_for()
    assert "once the customer sends a message" in note.inner_text()
    assert "Send a template, or wait" in screen.locator(".foot + .fault").inner_text()
    assert screen.get_by_role("button", name="Try again").count() == 0


@pytest.mark.full
def test_in_the_browser_the_composer_closes_when_the_window_ends(chatapp, quiet, ann, desk):
    chat = chat_with(chatapp, "an")
    soon = timezone.now() + timedelta(seconds=8)
    Conversation.objects.update(reply_window_expires_at=soon)
    screen = desk(chat)
    screen.locator(".hindrance").wait_for(timeout=20_000)
    assert "once the customer sends a message" in screen.locator(".hindrance").inner_text()
    # What one can act on comes first.
    ann.put(chatapp.bot_path("disconnect"), {})
    screen.reload()
    screen.locator(".hindrance").wait_for()
    assert "isn't connected" in screen.locator(".hindrance").inner_text()


@pytest.mark.full
def test_in_the_browser_stop_is_seen_where_one_writes(chatapp, quiet, ben, desk):
    chat = chat_with(chatapp, "an")
    screen = desk(chat)
    screen.set_viewport_size({"width": 390, "height": 800})
    chatapp.write("STOP")
    run_jobs()
    notice = screen.locator("[data-opted-out]")
    notice.wait_for()
    assert notice.is_visible()
    screen.locator("[data-line=opted_out]").wait_for()
    assert violations(screen) == []
    chatapp.write("start")
    run_jobs()
    notice.wait_for(state="detached")
    screen.locator("[data-line=opted_in]").wait_for()
    assert not Message.objects.filter(sender_type="bot").exists()
    assert not run_waiting()
