"""What an owner does with figures, in a browser: a report as a spreadsheet, and the credits."""

from datetime import timedelta
from operator import mul
from pathlib import Path

import pytest
from django.utils import timezone

from chats.models import Feedback
from chats.testing import make_chat, put_message
from identity.models import Client, CreditOrder, Role, Subscription
from identity.services import credits
from identity.testing import enter_site, make_person
from reports.testing import rows_of_xlsx


def sheet(screen, report):
    """The spreadsheet of a report, which its owner finds by its name."""
    screen.get_by_role("link", name=report).click()
    with screen.expect_download() as download:
        screen.get_by_role("button", name="XLSX").click()
    today = timezone.localdate()
    period = f"{today - timedelta(days=29)} - {today}"
    assert download.value.suggested_filename == f"{report} {period}.xlsx"
    return rows_of_xlsx(Path(download.value.path()).read_bytes())


def test_who_answers_fastest_and_how_good_the_bot_is_as_a_spreadsheet(screen, ann, bot):
    now = timezone.now()
    people = [make_person(ann.client, Role.AGENT, name).user for name in ("Slow", "Quick")]
    for person, minutes in zip(people, (30, 2), strict=True):
        began = now - timedelta(minutes=minutes)
        chat = make_chat(bot, created_at=began, handed_off_at=began, assign_type="agent",
                         assignee=person, first_response_at=began)  # fmt: skip
        put_message(chat, "bot", created_at=began)
        put_message(chat, "agent", created_at=now)
        Feedback.objects.create(client=ann.client, conversation=chat, rating=4)
    make_chat(bot, created_at=now, status="ended", ended_at=now)
    enter_site(screen, ann.user)
    screen.get_by_role("link", name="Reports").first.click()
    screen.get_by_role("link", name="Explore").click()
    header, *rows = sheet(screen, "Team speed")
    assert header[:3] == [
        "Agent", "Conversations", "First human response (median), minutes",
    ]  # fmt: skip
    assert [row[0] for row in rows[:2]] == ["Quick", "Slow"]
    assert [round(float(row[2])) for row in rows[:2]] == [2, 30]
    header, *weeks = sheet(screen, "Bot quality")
    # One week, or two if the week began less than half an hour ago.
    places = header.index("Conversations"), header.index("Bot resolution rate")
    counts, rates = ([float(week[place]) for week in weeks] for place in places)
    assert sum(counts) == 3
    assert sum(map(mul, counts, rates)) == pytest.approx(1, abs=0.01)
    # A report of one's own is asked for without a word of the address bar.
    screen.get_by_text("Filters").click()
    screen.locator("[name=handed_off]").select_option("true")
    screen.get_by_role("button", name="Apply").click()
    screen.get_by_role("link", name="Remove filter: Handed over: yes").click()
    screen.get_by_role("link", name="Remove filter: Handed over: yes").wait_for(state="hidden")


def test_how_long_the_credits_last_and_what_more_costs(screen, ann, bot):
    make_chat(bot)
    credits.reserve(ann.client.pk, cost=100, reference="reply:1")
    Client.objects.filter(pk=ann.client.pk).update(created_at=timezone.now() - timedelta(days=4))
    Subscription.objects.filter(client=ann.client).update(plan="standard", period_end=None)
    enter_site(screen, ann.user)
    screen.get_by_role("link", name="Credits").click()
    assert screen.locator("[data-forecast]").get_attribute("data-forecast") == "63"
    form = screen.locator("#order")
    form.get_by_label("Credits").select_option(label="5,000 credits · 45 EUR")
    form.get_by_role("button").click()
    screen.locator("[data-order=pending]").wait_for()
    assert CreditOrder.objects.get().amount == 5000
