"""The pages of the reports in the site: each figure leads to its rows."""

import io
import re
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client as Browser
from django.utils import timezone

from bots.testing import make_bot
from chatplatform.testing.browser import PHONE, violations
from chats.models import Feedback
from chats.testing import make_chat, put_message
from identity.models import AuditEvent, Role, SavedView
from identity.testing import enter_site, make_person, signed_in
from reports.models import Export, WarningMute
from reports.schemas import adhoc as schemas
from reports.testing import rows_of_csv, rows_of_xlsx

OVERVIEW, ADHOC, WARNINGS = "/admin/reports/", "/admin/reports/adhoc/", "/admin/reports/warnings/"
OCTOBER = {"date_from": "2026-10-01", "date_to": "2026-10-31"}
# How many reports every client has; those that were saved follow.
READY = 4


def saved(browser):
    reports = browser.get(ADHOC).context["reports"]
    return [(pk, name, path) for pk, name, path, _ in reports[READY:]]


@pytest.fixture
def october(bot, ben):
    """Chats of October, of each kind that a figure counts."""
    began = datetime(2026, 10, 5, 9, tzinfo=UTC)
    resolved = {"status": "ended", "ended_at": began + timedelta(hours=2)}
    return [
        make_chat(bot, created_at=began, channel="web", tags=["vip"], **resolved),
        make_chat(bot, created_at=began, handed_off_at=began, handoff_reason="no_answer",
                  assign_type="agent", assignee=ben.user),
        make_chat(bot, created_at=began + timedelta(days=2), sentiment="negative"),
    ]  # fmt: skip


@pytest.mark.full
def test_every_figure_leads_to_its_rows(ann, ben, october):
    browser = signed_in(ben.user)
    page = browser.get(OVERVIEW, OCTOBER)
    cards = {card.title: card for card in page.context["cards"]}
    for title in ("Conversations", "Resolved by the bot", "Handed over", "Ended", "Open", "Ratings",
                  "Negative sentiment", "Positive sentiment"):  # fmt: skip
        rows = browser.get(cards[title].path).context["rows"]
        assert str(len(rows)) == cards[title].value.split()[0], title
    counted = [cards[title].value for title in ("Conversations", "Resolved by the bot")]
    assert counted == ["3", "1 (33%)"]
    for title, parts in page.context["parts"]:
        for part in parts:
            rows = browser.get(part.path).context
            total = {one.title: one.value for one in rows["totals"]}
            assert int(total["Conversations"]) >= part.figures.chats > 0, (title, part)
    (_, chart), (_, hours) = page.context["charts"]
    days = [bar for bar in chart.bars if bar.height]
    assert len(chart.bars) == 31
    assert (chart.highest, chart.names) == ("2", ["1 Oct", "16 Oct", "31 Oct"])
    assert (chart.unit, chart.axis, hours.axis) == ("Conversations", "Day", "Hour")
    assert hours.names == ["0:00", "12:00", "23:00"]
    for word in ("16 Oct", "31 Oct", "12:00"):
        assert f"<span>{word}</span>" in page.content.decode()
    year = browser.get(OVERVIEW, {"date_from": "2025-11-01", "date_to": "2026-10-31"})
    assert year.context["charts"][0][1].names == ["1 Nov 2025", "2 May", "31 Oct"]
    assert [len(browser.get(bar.path).context["rows"]) for bar in days] == [2, 1]
    assert days[0].label == "5 Oct: 2 conversations, 1 resolved by the bot"


def test_a_table_is_exported_as_it_is_shown(ann, october, settings, tmp_path):
    browser = signed_in(ann.user)
    asked = OCTOBER | {"group_by": ["tag", "sentiment"], "metrics": ["chats"], "sort": "-chats"}
    page = browser.get(ADHOC, asked)
    shown = [[cell for cell, _ in row] for row in page.context["rows"]]
    assert sum(int(row[-1]) for row in shown) == 3
    reply = browser.post(f"{ADHOC}export/", {**dict(page.context["asked"]), **asked})
    table = rows_of_csv(b"".join(reply.streaming_content))  # type: ignore[attr-defined]
    assert [[cell or "–" for cell in row] for row in table[1:]] == [
        [cell if cell == "–" else cell.lower() for cell in row] for row in shown
    ]
    settings.EXPORT_INLINE_LIMIT = 1
    reply = browser.post(f"{ADHOC}export/", OCTOBER)
    assert reply.status_code == 302
    assert reply["Location"] == "/admin/reports/export/"
    export = Export.objects.get()
    assert export.rows == 3
    # A worker of the release before may write it, and knows no more than the API's body.
    body = schemas.ExportAdhocReportParam.model_validate(export.param)
    assert export.param == body.model_dump(mode="json", exclude_unset=True)


def test_a_sheet_is_made_for_people(ann, bot, october):
    """Dates are dates in the client's zone; headings are words; the header stays in sight."""
    ann.client.timezone = "Asia/Ho_Chi_Minh"
    ann.client.save()
    reply = signed_in(ann.user).post(f"{ADHOC}export/", OCTOBER | {"format": "xlsx"})
    data = b"".join(reply.streaming_content)  # type: ignore[attr-defined]
    assert "Conversations 2026-10-01 - 2026-10-31.xlsx" in reply["Content-Disposition"]
    header, first, *_ = rows_of_xlsx(data)
    cells = dict(zip(header, first, strict=True))
    assert not {"Chat", "Agent id"} & set(header)
    assert header[1] == "Started, Asia/Ho_Chi_Minh"
    # 7 October 16:00, where it is nine in UTC, as spreadsheets count days.
    assert float(cells[header[1]]) == pytest.approx(46302 + 16 / 24)
    assert (cells["Sentiment"], cells["Handed over"], cells["Tags"]) == ("Negative", "no", "")
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        sheet, styles = (book.read(f"xl/{name}.xml").decode()
                         for name in ("worksheets/sheet1", "styles"))  # fmt: skip
    assert 'state="frozen"' in sheet
    assert "customWidth" in sheet
    assert "yyyy\\-mm\\-dd" in styles or "yyyy-mm-dd" in styles
    # CSV stays as programs read it: names and values of the API, and nothing for nothing.
    reply = signed_in(ann.user).post(f"{ADHOC}export/", OCTOBER | {"format": "csv"})
    table = rows_of_csv(b"".join(reply.streaming_content))  # type: ignore[attr-defined]
    row = dict(zip(table[0], table[1], strict=True))
    assert row["created_at"].startswith("2026-10-07T09:00")
    assert (row["sentiment"], row["ended_at"], row["rating"]) == ("negative", "", "")


def test_figures_are_compared_with_the_period_before(ann, bot, october):
    for day in (5, 6):  # September: two conversations, both resolved
        began = datetime(2026, 9, day, tzinfo=UTC)
        make_chat(bot, created_at=began, status="ended", ended_at=began + timedelta(hours=4))
    cards = {
        card.title: card for card in signed_in(ann.user).get(OVERVIEW, OCTOBER).context["cards"]
    }
    titles = ("Conversations", "Resolved by the bot", "Conversation duration")
    assert [(cards[title].change, cards[title].is_better) for title in titles] == [
        ("+50%", None), ("-67 points", False), ("2 h faster", True),
    ]  # fmt: skip
    page = signed_in(ann.user).get(ADHOC, OCTOBER | {"metrics": ["chats", "handed_off"]})
    (chats, handed_off) = page.context["totals"]
    assert (chats.change, handed_off.note, handed_off.change) == ("+50%", "was 0", "")


def test_a_filter_is_a_chip_that_removes_it(ann, bot, october):
    asked = {"bot_ids": [bot.pk, 10**6], "sentiments": "positive", "handed_off": "false"}
    page = signed_in(ann.user).get(ADHOC, {**OCTOBER, **asked})
    chips = dict(page.context["chips"])
    # Of the period no conversation is positive, yet the filter stays in sight and in the form.
    assert set(chips) == {
        "Handed over: no", "Bots: Helper", "Bots: 1000000", "Sentiment: Positive",
    }  # fmt: skip
    assert not page.context["rows"]
    page = signed_in(ann.user).get(chips["Sentiment: Positive"])
    assert len(page.context["rows"]) == 2
    assert "Sentiment: Positive" not in dict(page.context["chips"])


def test_groups_have_a_chart_with_its_unit(ann, bot, october):
    for chat in october[1:]:
        put_message(chat, "agent")
    asked = OCTOBER | {"group_by": ["agent"], "metrics": ["chats", "person_response_p50"],
                       "sort": "person_response_p50"}  # fmt: skip
    page = signed_in(ann.user).get(ADHOC, asked)
    title = "First human response (median) by agent"
    assert (page.context["chart_title"], page.context["chart"]) == (title, None)
    assert [name for name, _, _ in page.context["bars"]] == ["Unassigned", "Ben"]
    now = timezone.now()
    make_chat(bot, created_at=now - timedelta(days=20))
    make_chat(bot)  # in the week that is not over
    dates = {"date_from": f"{now - timedelta(days=21):%Y-%m-%d}", "date_to": f"{now:%Y-%m-%d}"}
    page = signed_in(ann.user).get(ADHOC, dates | {"group_by": "week", "metrics": "chats"})
    assert [name.endswith("(so far)") for name in page.context["chart"].names] == [False, True]
    page = signed_in(ann.user).get(
        ADHOC, OCTOBER | {"group_by": "day", "metrics": "bot_resolved_share"}
    )
    chart = page.context["chart"]
    assert (chart.unit, chart.axis) == ("Bot resolution rate", "Day")
    assert (chart.highest, chart.names) == ("50%", ["5 Oct", "7 Oct"])
    assert page.context["bars"] == []


def test_the_pages_policy_admits_no_foreign_and_no_inline_script(ann, october):
    for path in (OVERVIEW, ADHOC, WARNINGS):
        page = signed_in(ann.user).get(path, OCTOBER if path != WARNINGS else {})
        parts = (part.split() for part in page["Content-Security-Policy"].split(";"))
        policy = {name: values for name, *values in parts}
        # The layout's Alpine evaluates attributes, hence 'unsafe-eval'; the theme styles inline.
        assert policy.pop("script-src") == ["'self'", "'unsafe-eval'"], path
        assert policy.pop("style-src") == ["'self'", "'unsafe-inline'"], path
        assert policy.pop("img-src") == ["'self'", "data:"], path
        assert [name for name, values in policy.items() if values == ["'self'"]] == [
            "font-src", "connect-src", "form-action",
        ]  # fmt: skip
        assert all(values in (["'self'"], ["'none'"]) for values in policy.values()), path
        assert not re.search(rb"<script(?![^>]* src=)[^>]*>\s*\S", page.content), path


def test_an_agent_exports_no_other_clients_chats(ben, cara, october):
    theirs = make_bot(cara.client, bot_name="Foreign helper")
    make_chat(theirs, chat_code="SHOP-FOREIGN", created_at=october[0].created_at)
    browser = signed_in(ben.user)
    reply = browser.post(f"{ADHOC}export/", OCTOBER)
    table = rows_of_csv(b"".join(reply.streaming_content))  # type: ignore[attr-defined]
    assert len(table) == 1 + len(october)
    assert "FOREIGN" not in str(table).upper()
    reply = browser.post(f"{ADHOC}export/", OCTOBER | {"bot_ids": [theirs.pk]})
    assert len(rows_of_csv(b"".join(reply.streaming_content))) == 1  # type: ignore[attr-defined]


@pytest.mark.full
def test_rows_lead_to_their_chats(ann, october):
    browser = signed_in(ann.user)
    rows = browser.get(ADHOC, OCTOBER).context["rows"]
    paths = {path for row in rows for _, path in row if path}
    assert paths == {f"/admin/chats/conversation/{chat.pk}/change/" for chat in october}
    assert {browser.get(path).status_code for path in paths} == {200}


@pytest.mark.parametrize(("last", "chats"), [("2026-10-06", []), ("2026-10-31", [1])])
def test_the_choices_count_the_chats_of_the_period(ann, october, last, chats):
    choices = signed_in(ann.user).get(ADHOC, OCTOBER | {"date_to": last}).context["choices"]
    (sentiments,) = (options for name, _, options in choices if name == "sentiments")
    assert [count for _, _, count, _ in sentiments] == chats


@pytest.mark.full
def test_questions_are_saved_under_a_name(ann, cara, october):
    viewer, browser = (
        signed_in(make_person(ann.client, Role.VIEWER, "Vic").user),
        signed_in(ann.user),
    )
    asked = {"group_by": ["day"], "channels": ["web"]}
    for name in ("Web", "Web", ""):
        browser.post(f"{ADHOC}save/", asked | {"name": name})
    viewer.post(f"{ADHOC}save/", asked | {"name": "Mine"})
    ((_, _, path),) = saved(viewer)
    ((pk, name, _),) = saved(browser)
    (row,) = viewer.get(f"{path}&date_from=2026-10-01").context["rows"]
    assert (name, [cell for cell, _ in row]) == ("Web", ["5 Oct", "1", "0"])
    for other in (viewer, signed_in(cara.user)):
        assert other.post(f"{ADHOC}save/", {"delete": pk}).status_code == 302
    assert SavedView.objects.count() == 1
    assert not saved(signed_in(cara.user))
    assert browser.post(f"{ADHOC}save/", {"delete": pk}).status_code == 302
    assert SavedView.objects.count() == 0
    recorded = AuditEvent.objects.filter(action__startswith="saved_view.").order_by("pk")
    assert [(row.action, row.subject, row.user, row.changes) for row in recorded] == [
        (f"saved_view.{what}", f"saved_view:{pk}", ann.user, {"page": "reports.adhoc"})
        for what in ("saved", "saved", "deleted")
    ]


@pytest.mark.full
def test_what_cannot_be_asked_is_refused_in_words(ann, cara, bot, staff):
    browser = signed_in(ann.user)
    for query in ({"date_from": "x"}, {"date_from": "2020-01-01"}, {"bot": "x"}, {"bot": 10**30}):
        assert browser.get(OVERVIEW, query).status_code == 422, query
    for query in ({"group_by": "joy"}, {"cursor": "x"}, {"sort": "joy"}, {"rating_min": "9"}):
        reply = browser.get(ADHOC, query)
        assert (reply.status_code, bool(reply.context["problems"])) == (422, True), query
    assert signed_in(cara.user).get(OVERVIEW, {"bot": bot.pk}).status_code == 422
    assert Browser().get(OVERVIEW).status_code == 302
    assert staff.get(OVERVIEW)["Location"] == "/admin/reports/export/"
    assert staff.get(ADHOC).status_code == 403


def test_the_days_that_are_shown_stand_in_the_form(ann, october, time_machine):
    time_machine.move_to(datetime(2026, 10, 20, 9, tzinfo=UTC))
    browser = signed_in(ann.user)
    days = {"date_from": "2026-09-21", "date_to": "2026-10-20"}
    page = browser.get(ADHOC)
    assert {name: page.context["entered"][name] for name in days} == days
    assert b'value="2026-09-21"' in page.content
    # A question that is saved with them still means the last 30 days.
    browser.post(f"{ADHOC}save/", days | {"name": "Lately"})
    browser.post(f"{ADHOC}save/", days | {"date_to": "2026-10-05", "name": "Then"})
    time_machine.move_to(datetime(2026, 10, 21, 9, tzinfo=UTC))
    shown = {}
    browser = signed_in(ann.user)
    for _, name, path in saved(browser):
        form = browser.get(path).context["entered"]
        shown[name] = (form["date_from"], form["date_to"])
    assert shown == {
        "Lately": ("2026-09-22", "2026-10-21"),
        "Then": ("2026-09-21", "2026-10-05"),
    }


def test_what_is_refused_is_told_in_words_and_stays_in_the_form(ann, bot):
    browser = signed_in(ann.user)
    backwards = {"date_from": "2026-10-31", "date_to": "2026-10-01"}
    asked: dict[str, Any] = {
        "q": "tea",
        "channels": ["web"],
        "group_by": ["day"],
        "handed_off": "true",
    }
    page = browser.get(ADHOC, backwards | asked)
    assert page.context["problems"] == ["From must not be after To"]
    assert page.context["entered"] == backwards | asked
    assert ("day", "Day", True) in page.context["groups"][0]
    page = browser.get(ADHOC, OCTOBER | {"rating_min": "9"})
    assert page.context["problems"] == ["Minimum rating: Input should be less than or equal to 5"]
    assert b'name="rating_min" min="1" max="5" value="9"' in page.content
    reply = browser.post(f"{ADHOC}export/", backwards | asked)
    assert "q=tea" in reply["Location"]
    page = browser.get(OVERVIEW, backwards | {"bot": bot.pk})
    assert (page.context["problems"], page.context["bot"]) == (["From must not be after To"], bot)
    assert page.context["dates"] == backwards
    page = browser.get(OVERVIEW, {"date_from": "2020-01-01"})
    assert page.context["problems"] == ["From: Choose a period of up to 366 days."]
    assert page.context["dates"]["date_from"] == "2020-01-01"
    page = browser.get(OVERVIEW, OCTOBER | {"bot": "x"})
    assert page.context["problems"] == ["This bot doesn't exist."]
    assert page.context["dates"] == OCTOBER


def test_figures_have_units_and_days_names(ann, october):
    for chat in october:
        chat.first_response_at = chat.created_at + timedelta(seconds=1.4)
        chat.save()
    Feedback.objects.create(client=ann.client, conversation=october[0], rating=4)
    Feedback.objects.create(client=ann.client, conversation=october[1], rating=3)
    asked = OCTOBER | {
        "group_by": ["weekday", "hour", "handoff_reason"],
        "metrics": ["handed_off", "first_response_p50", "rating_mean"],
    }
    page = signed_in(ann.user).get(ADHOC, asked)
    assert [(one.title, one.value) for one in page.context["totals"]] == [
        ("Handed over", "1"), ("First response (median)", "1 s"), ("Rating (average)", "3.5"),
    ]  # fmt: skip
    assert page.context["columns"][:4] == [
        "Weekday", "Hour", "Handover reason", "Handed over",
    ]  # fmt: skip
    rows = [[cell for cell, _ in row[:3]] for row in page.context["rows"]]
    assert rows == [
        ["Monday", "9:00", "The bot had no answer"], ["Monday", "9:00", "–"],
        ["Wednesday", "9:00", "–"],
    ]  # fmt: skip


@pytest.mark.full
def test_warnings_are_muted_by_admins(ann, ben, bot):
    make_chat(bot, sentiment="negative")
    browser = signed_in(ann.user)
    assert (
        signed_in(ben.user).post(WARNINGS, {"code": "negative_sentiment", "days": 1}).status_code
        == 403
    )
    browser.post(WARNINGS, {"code": "joy", "days": 1})
    assert not WarningMute.objects.exists()
    browser.post(WARNINGS, {"code": "negative_sentiment", "days": 7})
    (row,) = browser.get(WARNINGS).context["warnings"]
    assert row.muted_by == "Ann"
    assert abs(row.muted_until - timezone.now() - timedelta(days=7)) < timedelta(minutes=5)
    assert not browser.get("/admin/").context["warnings"]
    browser.post(WARNINGS, {"code": "negative_sentiment", "days": 0})
    assert browser.get(WARNINGS).context["warnings"][0].muted_until is None


def test_the_pages_shut_nobody_out(screen, ann, october):
    enter_site(screen, ann.user)
    screen.get_by_role("heading", name=ann.client.name).wait_for()
    found = {}
    asked = "?date_from=2026-10-01&date_to=2026-10-31"
    for path in (OVERVIEW + asked, ADHOC + asked, WARNINGS):
        for scheme in ("light", "dark"):
            screen.emulate_media(color_scheme=scheme)
            screen.goto(path)  # a page that is open keeps its colours
            for size in (PHONE, {"width": 1280, "height": 800}):
                screen.set_viewport_size(size)
                if problems := violations(screen):
                    found[f"{path} {scheme} {size['width']}"] = problems
                wider = "document.documentElement.scrollWidth > innerWidth"
                assert not screen.evaluate(wider), (path, size)
    assert found == {}
    screen.goto(OVERVIEW + asked)
    screen.get_by_role("link", name="Resolved by the bot 1").click()
    screen.get_by_role("cell", name=october[0].chat_code).wait_for()


def test_a_sheet_has_minutes_and_says_who_has_none(ann, bot, october):
    form = OCTOBER | {
        "format": "xlsx",
        "group_by": ["agent"],
        "metrics": ["chats", "resolution_p50"],
    }
    reply = signed_in(ann.user).post(f"{ADHOC}export/", form)
    header, *rows = rows_of_xlsx(b"".join(reply.streaming_content))  # type: ignore[attr-defined]
    assert header[-1].endswith(", minutes")
    assert [row[-1] for row in rows if row[-1]] == ["120"]
    assert {row[-3] for row in rows} == {"Ben", "Unassigned"}


def test_a_change_without_a_sensible_share_is_not_told_in_hundreds(ann, bot):
    for count, month in ((1, 9), (12, 10)):
        for _ in range(count):
            make_chat(bot, created_at=datetime(2026, month, 6, tzinfo=UTC))
    cards = {
        card.title: card for card in signed_in(ann.user).get(OVERVIEW, OCTOBER).context["cards"]
    }
    assert "%" not in cards["Conversations"].change
    assert "10" in cards["Conversations"].change
