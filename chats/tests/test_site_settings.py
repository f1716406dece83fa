"""An owner sets the company up in the browser, and customers notice it."""

import time_machine
from django.urls import reverse
from playwright.sync_api import expect

from chatplatform.testing.browser import PHONE, save, violations
from chats.models import Message
from chats.testing import make_chat
from identity.models import Client, ClientConfig, EmailNotification
from identity.pages.admin_site import SETTINGS_PAGES
from identity.testing import enter_site

CLOSED = "Chúng tôi mở cửa lại lúc chín giờ."
# A Sunday, at noon in Hanoi.
SUNDAY = "2026-12-06 05:00:00+00:00"


def open_page(screen, name):
    screen.goto(reverse(f"admin:settings_{name}"))


def test_a_company_says_where_it_is_and_when_it_is_open(screen, ann, bot, server):
    enter_site(screen, ann.user)
    open_page(screen, "company")
    screen.locator("#id_name").fill("Hoa Sen Tea")
    screen.get_by_label("Time zone").select_option("Asia/Ho_Chi_Minh")
    screen.get_by_label("Vietnamese").check()
    screen.get_by_label("English").check()
    screen.get_by_label("Default language").select_option("vi")
    save(screen, "company")
    client = Client.objects.get(pk=ann.client.pk)
    assert (client.name, client.timezone) == ("Hoa Sen Tea", "Asia/Ho_Chi_Minh")
    assert (client.default_language, client.languages) == ("vi", ["en", "vi"])

    open_page(screen, "hours")
    screen.locator("select.week-mode").select_option("hours")
    monday, saturday = screen.locator("[data-day='0']"), screen.locator("[data-day='5']")
    monday.locator("input[type=time]").first.fill("09:00")
    monday.locator("input[type=time]").last.fill("20:00")
    monday.locator("[data-copy-hours]").click()
    saturday.locator("input[type=checkbox]").check()
    saturday.locator("input[type=time]").first.fill("09:00")
    saturday.locator("input[type=time]").last.fill("18:00")
    screen.locator("#hours textarea[lang=vi]").fill(CLOSED)
    save(screen, "hours")
    screen.get_by_label("Country").select_option("VN")
    screen.locator("#country-form button[type=submit]").click()
    screen.locator("[data-holiday]").first.wait_for()
    config = ClientConfig.objects.get(client=client)
    assert [(one["weekday"], one["opens"], one["closes"]) for one in config.business_hours] == [
        *((day, "09:00", "20:00") for day in range(5)), (5, "09:00", "18:00"),
    ]  # fmt: skip
    assert all(day["hours"] == [] for day in config.holidays)
    assert any(day["date"].endswith("-01-01") for day in config.holidays)

    with time_machine.travel(SUNDAY):
        chat = make_chat(bot, assign_type="queue", language="vi")
        body = {"text": "Có ai ở đó không? Tôi cần giúp đỡ.", "reply": "none"}
        assert server.post(f"/ai/client/chat/{chat.pk}", body).status_code < 300
    told = Message.objects.filter(conversation=chat, sender_type="system")
    assert [message.text for message in told] == [CLOSED]


def test_conversations_go_to_the_least_busy_and_a_long_wait_is_mailed(screen, ann):
    enter_site(screen, ann.user)
    open_page(screen, "handover")
    screen.get_by_label("Assignment").select_option("least_busy")
    screen.get_by_label("Maximum open conversations per agent").fill("4")
    save(screen, "handover")
    config = ClientConfig.objects.get(client=ann.client)
    assert (config.assign_strategy, config.agent_capacity) == ("least_busy", 4)
    open_page(screen, "notifications")
    assert screen.get_by_label("Recipients").input_value() == ann.user.email
    screen.get_by_label("A customer waits too long").check()
    screen.get_by_label("Wait limit").fill("10")
    save(screen, "notifications")
    row = EmailNotification.objects.get(client=ann.client)
    assert (row.recipients, row.on_unanswered, row.unanswered_after_minutes) == (
        [ann.user.email], True, 10,
    )  # fmt: skip


def test_a_form_is_sent_once_and_shows_that_it_is_on_its_way(screen, ann):
    enter_site(screen, ann.user)
    open_page(screen, "notifications")
    form, held = screen.locator("#notifications-form"), []
    button = form.locator("button[type=submit]")

    def hold(route):
        held.append(route) if route.request.method == "POST" else route.continue_()

    screen.route("**/notifications/**", hold)
    screen.get_by_label("A customer waits too long").check()
    button.click()
    expect(button).to_be_disabled()
    expect(button).to_have_attribute("data-sending", "")
    form.evaluate("form => form.requestSubmit()")
    (sent,) = held
    sent.continue_()
    screen.get_by_role("status").wait_for()
    expect(screen.locator("[data-sending]")).to_have_count(0)


def test_settings_shut_nobody_out(screen, ann):
    ClientConfig.objects.filter(client=ann.client).update(
        business_hours=[{"weekday": 0, "opens": "09:00", "closes": "17:00"}],
        holidays=[{"date": "2099-01-01", "name": "New Year", "hours": []}],
    )
    enter_site(screen, ann.user)
    found = {}
    for scheme, size in (("light", PHONE), ("dark", {"width": 1280, "height": 800})):
        screen.emulate_media(color_scheme=scheme)
        screen.set_viewport_size(size)
        for name in SETTINGS_PAGES:
            open_page(screen, name)
            width = screen.evaluate("document.documentElement.scrollWidth")
            problems = violations(screen) + [f"width {width}"] * (width > size["width"])
            if problems:
                found[name, scheme] = problems
    assert found == {}
