"""An owner's tasks with conversations in the browser: read one, fix an answer, erase a customer."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from bots.models import Document, GoldenQuestion
from bots.testing import trained
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import PHONE, violations
from chats.models import Conversation, Customer, CustomerErasure
from chats.testing import make_chat
from identity.testing import enter_site, make_person, signed_in

pytestmark = pytest.mark.django_db(transaction=True)

LIST = reverse("admin:chats_conversation_changelist")
QUESTION = "When is the shop open?"


def site_of(person):
    return signed_in(person.user)


@pytest.mark.journey
def test_a_row_of_the_list_is_a_card_and_leads_to_the_conversation(screen, ann, bot, add_message):
    chat = make_chat(bot, customer_name="Zoe")
    for number in range(60):
        add_message(chat, "customer", f"Line {number}. " + "and so on " * 20)
    Conversation.objects.update(last_message=chat.messages.last())
    enter_site(screen, ann.user)
    screen.set_viewport_size(PHONE)
    screen.goto(LIST)
    card = screen.locator("#result_list .row")
    assert card.bounding_box()["height"] <= 88
    assert violations(screen) == []
    card.click()
    screen.wait_for_url(f"**{reverse('admin:chats_conversation_change', args=[chat.pk])}**")
    assert screen.get_by_role("heading", level=1).inner_text() == "Zoe"
    newest = screen.locator(".message").last
    assert "Line 59." in newest.inner_text()
    box, frame = newest.bounding_box(), screen.locator(".transcript-panel").bounding_box()
    assert box["y"] + box["height"] <= frame["y"] + frame["height"]
    assert screen.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert violations(screen) == []
    screen.locator("[data-earlier]").click()
    screen.get_by_text("Line 0.").wait_for()
    assert screen.locator(".message").count() == 60
    assert (
        screen.get_by_role("link", name="Open in inbox")
        .get_attribute("href")
        .endswith(f"#{chat.pk}")
    )


@pytest.mark.journey
def test_an_owner_keeps_a_good_answer_and_fixes_a_wrong_one(screen, ann, bot):
    """Ask the bot, put one answer right, and make sure that it stays right."""
    trained(bot, "The shop is open from nine to five on weekdays.", title="Old hours")
    enter_site(screen, ann.user)
    screen.goto(reverse("admin:chats_try_bot", args=[bot.pk]))
    screen.locator("#service-form [name=question]").fill(QUESTION)
    screen.locator("#service-form [type=submit]").click()
    screen.wait_for_url("**/try/*/*-*/")
    run_jobs()
    finding = screen.locator("[data-finding]")
    finding.wait_for()
    assert violations(screen) == []
    finding.locator("[data-fix] summary").click()
    assert finding.locator("input[name$=-question]:visible").input_value() == QUESTION
    finding.locator("textarea").fill("From ten to six, every day.")
    finding.locator("[data-save]").click()
    screen.wait_for_url("**fixed=**")
    run_jobs()
    now = screen.locator("[data-now]")
    now.wait_for()
    assert "From ten to six, every day." in now.inner_text()
    screen.locator("[data-good]").click()
    screen.locator("[data-golden]").wait_for()
    assert GoldenQuestion.objects.get().question == QUESTION
    assert Document.objects.filter(source="question_answer").count() == 1


def test_an_owner_blocks_a_customer_for_a_week_on_a_phone(screen, ann, bot):
    """A customer who floods the team is stopped for a week, and then let in again."""
    customer = make_chat(bot, customer_name="Zoe").customer
    enter_site(screen, ann.user)
    screen.set_viewport_size(PHONE)
    page = reverse("admin:chats_customer_change", args=[customer.pk])
    screen.goto(page)
    assert screen.get_by_role("link", name="Edit").is_visible()
    assert not screen.get_by_role("link", name="Block").is_visible()
    screen.get_by_role("button", name="More").click()
    assert violations(screen) == []
    screen.get_by_role("link", name="Block").click()
    screen.get_by_label("Duration").select_option("7")
    screen.locator("#service-form [type=submit]").click()
    screen.locator("[data-blocked]").wait_for()
    customer.refresh_from_db()
    assert abs(customer.blocked_until - timezone.now() - timedelta(days=7)) < timedelta(minutes=5)
    screen.get_by_role("button", name="More").click()
    screen.get_by_role("link", name="Unblock").click()
    screen.locator("#service-form [type=submit]").click()
    screen.wait_for_url(f"**{page}")
    assert screen.locator("[data-blocked]").count() == 0
    customer.refresh_from_db()
    assert not customer.is_blocked


def test_an_owner_erases_a_customer(screen, ann, bot, add_message):
    """Everything that is known of a customer is deleted."""
    chat = make_chat(bot, customer_name="Zoe")
    add_message(chat, "customer", "Forget me.")
    kept = make_chat(bot, customer_name="Max")
    enter_site(screen, ann.user)
    screen.goto(reverse("admin:chats_customer_changelist"))
    screen.get_by_role("link", name="Zoe").click()
    screen.get_by_role("link", name="Delete").click()
    assert Customer.objects.count() == 2
    assert not CustomerErasure.objects.exists()
    screen.locator("#service-form [type=submit]").click()
    screen.wait_for_url(f"**{reverse('admin:chats_customer_changelist')}")
    run_jobs()
    assert list(Conversation.objects.all()) == [kept]
    assert list(Customer.objects.values_list("name", flat=True)) == ["Max"]


def test_a_customer_is_edited_by_whoever_answers_and_erased_by_admins(ann, ben, cara, bot):
    chat = make_chat(bot, customer_name="Zoe")
    Customer.objects.update(phone="12345")
    edit, block, erase = (
        reverse(f"admin:chats_customer_{name}", args=[chat.customer_id])
        for name in ("edit", "block", "erase_one")
    )
    form = {"name": "Zoe Martin", "email": "zoe@example.com", "phone": "12345"}
    viewer = site_of(make_person(ann.client, "viewer", "Vic"))
    cara_site = site_of(cara)
    for browser, path, status in (
        (viewer, edit, 403), (viewer, block, 403), (viewer, erase, 403),
        (site_of(ben), erase, 403),
        (cara_site, edit, 404), (cara_site, block, 404), (cara_site, erase, 404),
    ):  # fmt: skip
        assert browser.post(path, form).status_code == status
    assert not CustomerErasure.objects.exists()
    assert (Customer.objects.get().name, Customer.objects.get().is_blocked) == ("Zoe", False)
    assert site_of(ben).post(edit, form).status_code == 302
    found = Customer.objects.get()
    assert (found.name, found.email, found.phone) == ("Zoe Martin", "zoe@example.com", "12345")


def test_a_preview_is_in_no_list_of_customers_or_conversations(ann, bot):
    path = reverse("admin:chats_try_bot", args=[bot.pk])
    browser = site_of(ann)
    browser.post(path, {"question": QUESTION})
    preview = Conversation.objects.get()
    for name in ("conversation", "customer"):
        listed = browser.get(reverse(f"admin:chats_{name}_changelist"))
        assert not listed.context["cl"].result_list
    page = browser.get(reverse("admin:chats_conversation_change", args=[preview.pk]))
    assert not re.search(r"/admin/desk/#", page.content.decode())
