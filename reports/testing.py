"""Helpers for tests of reports: parsing exported files, random filters, and checks of figures."""

import csv
import io
import re
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

from hypothesis import strategies as some

from chats.models import Feedback
from chats.testing import make_chat, put_message
from reports.services import formatting

_NAME = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def rows_of_csv(data: bytes) -> list[list[str]]:
    """The lines of a CSV file, column names first."""
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))


def rows_of_xlsx(data: bytes) -> list[list[str]]:
    """The lines of a workbook's sheet as text, headings first. Fails if a cell is a formula."""
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


PARSERS = {"csv": rows_of_csv, "xlsx": rows_of_xlsx}

# Just before the clocks go forward and back in Berlin.
CLOCK_CHANGES = (datetime(2026, 3, 28, 20, tzinfo=UTC), datetime(2026, 10, 24, 20, tzinfo=UTC))
CHANNELS, TAGS, SENTIMENTS = ["api", "web", "chatapp"], ["vip", "late"], ["positive", "negative"]
_DAYS = ["2026-03-28", "2026-03-29", "2026-03-30", "2026-10-24", "2026-10-25", "2026-10-26"]
_COUNTED = ("chats", "messages", "credits_used", "rating_count", "handed_off", "bot_resolved")
_NAMES = {formatting.label(name): name for name in _COUNTED}
_NAMES |= {"Conversation": "chat_id", "Rating": "rating"}


def fill(bot: Any, began: datetime, *, chats: int) -> None:
    """Create conversations from the time `began` on, with messages, credits, ratings and
    handovers."""
    for number in range(chats):
        at = began + timedelta(minutes=47 * number)
        is_ended = number % 3 == 0
        chat = make_chat(
            bot, created_at=at, channel=CHANNELS[number % 3], tags=TAGS[: number % 3],
            language="en" if number % 2 else "vi", sentiment=[*SENTIMENTS, None][number % 3],
            status="ended" if is_ended else "open", ended_at=at if is_ended else None,
            handed_off_at=at if number % 4 == 0 else None,
        )  # fmt: skip
        for seq in range(number % 5):
            put_message(
                chat, ["customer", "bot", "system", "agent"][seq % 4],
                receipt={"credits": number} if seq == 1 else None,
            )  # fmt: skip
        if number % 4 == 0:
            Feedback.objects.create(
                client_id=chat.client_id, conversation=chat, rating=number % 5 + 1
            )


def change_old_chat(bot: Any) -> None:
    """Add a message, a rating and a handover to the oldest open conversation that was not handed
    over."""
    chat = bot.conversations.filter(handed_off_at=None, status="open").order_by("created_at")[0]
    put_message(chat, "bot", receipt={"credits": 5})
    Feedback.objects.create(client_id=chat.client_id, conversation=chat, rating=3)
    bot.conversations.filter(pk=chat.pk).update(handed_off_at=chat.created_at)


def _some_of(values: list[str]) -> Any:
    return some.lists(some.sampled_from(values), max_size=2)


def questions() -> Any:
    """Random filters of a report."""
    period = some.lists(some.sampled_from(_DAYS), min_size=2, max_size=2).map(sorted)
    filters = some.fixed_dictionaries(
        {"timezone": some.sampled_from(["UTC", "Europe/Berlin", "Asia/Ho_Chi_Minh"])},
        optional={
            "channels": _some_of(CHANNELS), "tags": _some_of(TAGS),
            "sentiments": _some_of(SENTIMENTS), "statuses": _some_of(["open", "ended"]),
            "languages": _some_of(["en", "vi"]), "has_feedback": some.booleans(),
            "handed_off": some.booleans(), "bot_resolved": some.booleans(),
            "rating_min": some.integers(1, 5), "rating_max": some.integers(1, 5),
        },
    )  # fmt: skip
    return some.tuples(period, filters).map(
        lambda both: {"date_from": both[0][0], "date_to": both[0][1], **both[1]}
    )


def _total(table: list[list[str]], name: str) -> int:
    """The sum of a column or, if it contains yes and no, the number of yes values."""
    index = table[0].index(name)
    cells = [row[index] for row in table[1:]]
    is_yes_or_no = name in {"handed_off", "bot_resolved"} and "chat_id" in table[0]
    return sum(
        cell in {"True", "1", "TRUE", "yes"} if is_yes_or_no else int(float(cell or 0))
        for cell in cells
    )


def _totals_of_rows(table: list[list[str]]) -> dict[str, int]:
    """The totals that are computed from a table with a row for each conversation."""
    rated = [row for row in table[1:] if row[table[0].index("rating")]]
    summed = ("messages", "credits_used", "handed_off", "bot_resolved")
    return {"chats": len(table) - 1, "rating_count": len(rated)} | {
        name: _total(table, name) for name in summed
    }


def check_figures(person: Any, question: dict[str, Any]) -> dict[str, int]:
    """Check that a report's totals agree with its exported rows and groups in both file formats
    and, if there are no filters, with the overview. Returns the totals."""

    def exported(form: str, **more: Any) -> list[list[str]]:
        reply = person.post("/report/adhoc/export", question | more | {"format": form})
        heading, *rows = PARSERS[form](b"".join(reply.streaming_content))
        # A sheet has headings for people instead of column names.
        return [[_NAMES.get(cell, cell) for cell in heading], *rows]

    body = question | {"metrics": list(_COUNTED)}
    totals: dict[str, int] = person.post("/report/adhoc/search", body).json()["totals"]
    for form in PARSERS:
        assert _totals_of_rows(exported(form)) == totals, (form, question)
        for by in ("day", "hour", "channel"):
            table = exported(form, group_by=[by], metrics=list(_COUNTED))
            assert {name: _total(table, name) for name in _COUNTED} == totals, (form, by, question)
    period = {name: question[name] for name in ("date_from", "date_to", "timezone")}
    if set(question) == set(period):
        overview = person.get("/report/chat-overview", period).json()
        assert {name: overview["current"][name] for name in _COUNTED} == totals
        for series in ("series", "by_hour"):
            assert sum(row["chats"] for row in overview[series]) == totals["chats"], series
    return totals
