"""Exportadhocreportrouter: the rows of a report as a file, which add up to what the search says."""

import csv
import io
import re
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from chats.models import Conversation, Feedback, Message
from chats.testing import make_chat
from reports.services import exports

pytestmark = pytest.mark.django_db(transaction=True)
EXPORT, SEARCH = "/report/adhoc/export", "/report/adhoc/search"
OCTOBER = {"date_from": "2026-10-01", "date_to": "2026-10-31"}
_NAME = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def download(person, **body):
    reply = person.post(EXPORT, OCTOBER | body)
    assert reply.status_code == 200, reply.content
    return b"".join(reply.streaming_content), reply


def rows_of_csv(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))


def rows_of_xlsx(data):
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    table = []
    for row in sheet.iter(f"{_NAME}row"):
        cells: dict[str, str] = {}
        for cell in row:
            assert cell.find(f"{_NAME}f") is None, "a formula"
            column = re.sub(r"\d", "", cell.attrib["r"])
            cells[column] = "".join(cell.itertext())
        table.append(cells)
    letters = list(table[0])
    return [[cells.get(letter, "") for letter in letters] for cells in table]


def total(table, name):
    place = table[0].index(name)
    return sum(int(float(row[place] or 0)) for row in table[1:])


def test_it_is_a_download_with_a_row_for_each_chat(ann, bot):
    chats = [make_chat(bot, created_at=datetime(2026, 10, day, tzinfo=UTC)) for day in (3, 4)]
    data, reply = download(ann, file_name="Oktober", columns=["chat_id", "bot_name", "messages"])
    assert reply["Content-Disposition"] == 'attachment; filename="Oktober.csv"'
    assert rows_of_csv(data) == [
        ["chat_id", "bot_name", "messages"],
        *[[str(chat.pk), "Helper", "0"] for chat in chats[::-1]],
    ]
    data, reply = download(ann, format="xlsx", group_by=["bot"])
    assert reply["Content-Type"] == exports.MIME_TYPES["xlsx"]
    assert rows_of_xlsx(data) == [
        ["bot", "bot_name", "chats", "messages"], [str(bot.pk), "Helper", "2", "0"],
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", "\t=1", "=cmd|' /C'!A0"])
def test_no_text_becomes_a_formula(ann, bot, text):
    make_chat(bot, created_at=datetime(2026, 10, 3, tzinfo=UTC), tags=[text])
    asked: dict[str, Any] = {"columns": ["tags"]}
    assert rows_of_csv(download(ann, **asked)[0])[1] == [f"'{text}"]
    assert rows_of_xlsx(download(ann, format="xlsx", **asked)[0])[1] == [text]


def test_an_export_that_is_too_large_is_refused(ann, bot, monkeypatch):
    monkeypatch.setattr(exports, "MAX_ROWS", 1)
    for day in (3, 4):
        make_chat(bot, created_at=datetime(2026, 10, day, tzinfo=UTC))
    for body in ({}, {"group_by": ["day"]}):
        reply = ann.post(EXPORT, OCTOBER | body)
        assert (reply.status_code, reply.json()["code"]) == (409, "report_too_large")
        assert reply.json()["rows"] == 2


@pytest.mark.parametrize(
    "body",
    [{"columns": ["joy"]}, {"columns": ["chat_id"], "group_by": ["day"]}, {"format": "pdf"},
     {"file_name": "../a"}, {"limit": 3}],
)  # fmt: skip
def test_what_a_report_does_not_have_is_refused(ann, body):
    assert ann.post(EXPORT, OCTOBER | body).status_code == 422


def test_rows_come_page_by_page_and_none_is_missed(ann, bot, monkeypatch):
    monkeypatch.setattr(exports, "_AT_ONCE", 2)
    same = datetime(2026, 10, 3, tzinfo=UTC)
    made = {str(make_chat(bot, created_at=same).pk) for _ in range(5)}
    table = rows_of_csv(download(ann, columns=["chat_id"])[0])[1:]
    assert ({row[0] for row in table}, len(table)) == (made, 5)


def test_another_clients_chats_are_not_in_it(cara, bot):
    make_chat(bot, created_at=datetime(2026, 10, 3, tzinfo=UTC))
    assert len(rows_of_csv(download(cara)[0])) == 1


CHANNELS, TAGS, ZONES = ["api", "web", "chatapp"], ["vip", "late"], ["UTC", "Europe/Berlin"]


@pytest.fixture
def many(bot):
    """Chats around the end of summer time, with messages, credits and ratings."""
    begin = datetime(2026, 10, 24, 20, tzinfo=UTC)
    for number in range(40):
        chat = make_chat(
            bot, created_at=begin + timedelta(minutes=47 * number), channel=CHANNELS[number % 3],
            tags=TAGS[: number % 3], language="en" if number % 2 else "vi",
        )  # fmt: skip
        for seq in range(number % 5):
            Message.objects.create(
                client_id=chat.client_id, conversation=chat, seq=seq + 1, content=[],
                sender_type=["customer", "bot", "system"][seq % 3],
                receipt={"credits": number} if seq == 1 else None,
            )  # fmt: skip
        if number % 4 == 0:
            Feedback.objects.create(
                client_id=chat.client_id, conversation=chat, rating=number % 5 + 1
            )
    return begin


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    filters=some.fixed_dictionaries(
        {"timezone": some.sampled_from(ZONES)},
        optional={
            "channels": some.lists(some.sampled_from(CHANNELS), max_size=2),
            "tags": some.lists(some.sampled_from(TAGS), max_size=2),
            "languages": some.lists(some.sampled_from(["en", "vi"]), max_size=1),
            "has_feedback": some.booleans(),
            "rating_min": some.integers(1, 5),
            "date_from": some.sampled_from(["2026-10-24", "2026-10-25"]),
            "date_to": some.sampled_from(["2026-10-25", "2026-10-26"]),
        },
    ),
    by=some.sampled_from(["day", "hour", "channel", "language"]),
)
def test_the_rows_of_an_export_add_up_to_the_totals_of_the_search(ann, many, filters, by):
    names = ["chats", "messages", "credits_used", "rating_count"]
    found = ann.post(SEARCH, OCTOBER | filters | {"metrics": names}).json()["totals"]
    for form, rows_of in (("csv", rows_of_csv), ("xlsx", rows_of_xlsx)):
        table = rows_of(download(ann, **filters, format=form)[0])
        rated = [row for row in table[1:] if row[table[0].index("rating")]]
        assert {
            "chats": len(table) - 1, "messages": total(table, "messages"),
            "credits_used": total(table, "credits_used"), "rating_count": len(rated),
        } == found  # fmt: skip
        groups = rows_of(download(ann, **filters, format=form, group_by=[by], metrics=names)[0])
        assert {name: total(groups, name) for name in names} == found
    assert Conversation.objects.count() == 40
