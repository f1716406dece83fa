"""Searchadhocreportrouter and its filter options: figures of chats, and their rows."""

import zoneinfo
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from chatplatform.testing import run_jobs
from chats.models import Conversation, Feedback
from chats.testing import make_chat, put_message
from identity.models import Role
from identity.testing import make_person
from reports.schemas.adhoc import PeriodQuery
from reports.services import periods

pytestmark = pytest.mark.django_db(transaction=True)
SEARCH, OPTIONS = "/report/adhoc/search", "/report/adhoc/filter-options"
NOVEMBER = {"date_from": "2026-11-01", "date_to": "2026-11-30", "timezone": "UTC"}


def search(person, **body):
    reply = person.post(SEARCH, NOVEMBER | body)
    assert reply.status_code == 200, reply.content
    return reply.json()


@pytest.fixture
def chat_at(bot):
    """`chat_at(day, hour, …)`: a chat that began then, in November 2026, UTC."""

    def make(day: int, hour: int = 12, *, month: int = 11, said: int = 0, **fields: Any):
        at = datetime(2026, month, day, hour, tzinfo=UTC)
        chat = make_chat(bot, created_at=at, **fields)
        for _ in range(said):
            put_message(chat, "customer", created_at=at)
        return chat

    return make


def test_the_database_knows_every_time_zone_and_means_the_same(ann):
    zones = {
        periods.resolve(ann.client, PeriodQuery(timezone=name)).zone
        for name in zoneinfo.available_timezones() - {"localtime"}
    }
    noons = [datetime(2026, month, 1, 12, tzinfo=UTC) for month in (1, 7)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT zone, at, at AT TIME ZONE zone FROM unnest(%s::text[]) zone,"
            " unnest(%s::timestamptz[]) at",
            [list(zones), noons],
        )
        rows = cursor.fetchall()
    assert len(rows) > 800
    different = [
        (zone, local) for zone, at, local in rows
        if at.astimezone(zoneinfo.ZoneInfo(zone)).replace(tzinfo=None) != local
    ]  # fmt: skip
    assert different == []


def test_a_zone_that_sounds_like_an_abbreviation_has_summer_time(ann, chat_at):
    chat_at(30, 22, month=6)  # July has begun
    july = {"date_from": "2026-07-01", "date_to": "2026-07-31", "timezone": "CET"}
    assert search(ann, **july, group_by=["day"])["rows"] == [
        {"day": "2026-07-01", "chats": 1, "messages": 0}
    ]


def test_viewers_read_reports_too(client_a, chat_at):
    chat_at(1)
    viewer = make_person(client_a, Role.VIEWER, "Vic")
    assert search(viewer)["totals"]["chats"] == 1
    reply = viewer.post("/report/adhoc/export", NOVEMBER | {"format": "csv"})
    assert reply.status_code == 200
    reply.close()


def test_chats_are_grouped_by_the_days_of_a_time_zone(ann, chat_at):
    chat_at(1, 23, said=2)  # the second of November in Hanoi
    chat_at(2, 1, said=1)
    chat_at(31, 20, month=10)  # the first of November in Hanoi
    report = search(ann, group_by=["day"], timezone="Asia/Ho_Chi_Minh")
    assert report["rows"] == [
        {"day": "2026-11-01", "chats": 1, "messages": 0},
        {"day": "2026-11-02", "chats": 2, "messages": 3},
    ]
    assert report["totals"] == {"chats": 3, "messages": 3}
    assert [column["name"] for column in report["columns"]] == ["day", "chats", "messages"]
    assert search(ann, group_by=["day"])["totals"]["chats"] == 2, "in UTC one began in October"


def test_a_day_in_which_the_clock_is_set_back_has_25_hours(ann, chat_at):
    chat_at(24, 22, month=10)  # midnight in Berlin, which ends its summer time on the 25th
    chat_at(25, 22, month=10)  # 23:00 in Berlin
    chat_at(25, 23, month=10)  # the next day
    day = {"date_from": "2026-10-25", "date_to": "2026-10-25", "timezone": "Europe/Berlin"}
    assert search(ann, **day, group_by=["hour"])["rows"] == [
        {"hour": 0, "chats": 1, "messages": 0}, {"hour": 23, "chats": 1, "messages": 0},
    ]  # fmt: skip


def test_messages_are_what_customers_bots_and_agents_said(ann, chat_at):
    chat = chat_at(3, said=1)
    put_message(chat, "bot", receipt={"credits": 3})
    put_message(chat, "agent")
    put_message(chat, "agent", is_note=True)
    put_message(chat, "bot", is_welcome=True)
    put_message(chat, "system", receipt={"credits": 2})
    chat_at(4, said=5, is_preview=True)
    totals = search(ann, metrics=["chats", "messages", "credits_used"])["totals"]
    assert totals == {"chats": 1, "messages": 3, "credits_used": 5}


def test_what_the_bot_resolved_and_what_was_handed_over(ann, chat_at):
    ended: Any = {"status": "ended", "ended_at": datetime(2026, 11, 5, 13, tzinfo=UTC)}
    chat_at(5, **ended)
    put_message(chat_at(5, **ended), "agent")
    chat_at(5, **ended, handed_off_at=timezone.now())
    chat_at(5)
    names = ["chats", "bot_resolved", "handed_off", "ended", "open", "resolution_p50"]
    assert search(ann, metrics=names)["totals"] == {
        "chats": 4, "bot_resolved": 1, "handed_off": 1, "ended": 3, "open": 1,
        "resolution_p50": 3600,
    }  # fmt: skip


def test_a_handover_counts_also_when_the_bot_has_the_chat_again(ann, server, bot):
    chat = server.post("/ai/client/chat", {"message": "I want to talk to a person"}).json()
    run_jobs()
    ann.post(f"/ai/chat/{chat['id']}/assign", {"assign_type": "bot"})
    assert Conversation.objects.get().assign_type == "bot"
    reply = ann.post(SEARCH, {"metrics": ["handed_off"]})
    assert reply.json()["totals"] == {"handed_off": 1}


def test_times_and_ratings(ann, chat_at):
    for seconds, rating in ((10, 5), (20, 4), (60, None)):
        chat = chat_at(6)
        Conversation.objects.filter(pk=chat.pk).update(
            first_response_at=chat.created_at + timedelta(seconds=seconds)
        )
        if rating:
            Feedback.objects.create(client_id=chat.client_id, conversation=chat, rating=rating)
    names = ["first_response_p50", "first_response_mean", "rating_mean", "rating_count"]
    assert search(ann, metrics=names)["totals"] == {
        "first_response_p50": 20, "first_response_mean": 30, "rating_mean": 4.5, "rating_count": 2,
    }  # fmt: skip
    assert search(ann, rating_min=5)["totals"]["chats"] == 1
    assert search(ann, has_feedback=False)["totals"]["chats"] == 1


def test_a_chat_with_two_tags_counts_for_both_and_once_in_the_totals(ann, chat_at):
    chat_at(7, tags=["vip", "late"], said=2)
    chat_at(7, tags=["vip"], said=1)
    chat_at(7)
    report = search(ann, group_by=["tag"], sort="-chats")
    assert report["rows"] == [
        {"tag": "vip", "chats": 2, "messages": 3}, {"tag": "late", "chats": 1, "messages": 2},
        {"tag": None, "chats": 1, "messages": 0},
    ]  # fmt: skip
    assert report["totals"] == {"chats": 3, "messages": 3}


def test_without_groups_a_row_is_a_chat_and_pages_miss_none(ann, bot, chat_at):
    made = [str(chat_at(day).pk) for day in range(1, 6)]
    seen, cursor = [], None
    while True:
        report = search(ann, limit=2, cursor=cursor)
        seen += report["rows"]
        assert report["totals"]["chats"] == 5
        cursor = report["next_cursor"]
        if cursor is None:
            break
    assert [row["chat_id"] for row in seen] == made[::-1]
    assert (seen[0]["bot"], seen[0]["bot_name"], seen[0]["status"]) == (bot.pk, "Helper", "open")
    assert seen[0]["created_at"] == "2026-11-05T12:00:00.000Z"
    assert [row["chat_id"] for row in search(ann, sort="created_at")["rows"]] == made


def test_groups_come_in_pages_too(ann, chat_at):
    for day in range(1, 5):
        chat_at(day)
    first = search(ann, group_by=["day"], limit=3)
    last = search(ann, group_by=["day"], limit=3, cursor=first["next_cursor"])
    assert len(first["rows"]) == 3
    assert ([row["day"] for row in last["rows"]], last["next_cursor"]) == (["2026-11-04"], None)
    reply = ann.post(SEARCH, NOVEMBER | {"group_by": ["hour"], "cursor": first["next_cursor"]})
    assert reply.status_code == 422, "a cursor is of one report"
    rows = search(ann, limit=2)["next_cursor"]
    for other in ({"tags": ["vip"]}, {"date_to": "2026-11-29"}):
        assert ann.post(SEARCH, NOVEMBER | other | {"cursor": rows}).status_code == 422
    assert len(search(ann, limit=3, cursor=rows)["rows"]) == 2


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"channels": ["web"]}, 1), ({"statuses": ["ended"]}, 1), ({"tags": ["vip", "x"]}, 1),
        ({"sentiments": ["negative"]}, 1), ({"languages": ["vi"]}, 1), ({"ended_by": ["agent"]}, 1),
        ({"q": "Zoe"}, 2), ({"q": "Nobody"}, 0), ({"bot_ids": [999999]}, 0),
        ({"channels": ["web"], "statuses": ["open"]}, 0), ({"assignee_ids": [999999]}, 0),
    ],
)  # fmt: skip
def test_filters_choose_chats(ann, chat_at, filters, count):
    chat_at(8, channel="web", status="ended", ended_by="agent", tags=["vip"], language="vi",
            sentiment="negative", ended_at=timezone.now())  # fmt: skip
    chat_at(9)
    assert search(ann, **filters)["totals"]["chats"] == count


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"group_by": ["colour"]}, "weekday"), ({"metrics": ["joy"]}, "rating_mean"),
        ({"sort": "joy"}, "-created_at"),
        ({"group_by": ["day"], "sort": "created_at"}, "-messages"),
        ({"group_by": ["day", "day"]}, "twice"), ({"date_from": "2026-12-01"}, "after"),
        ({"timezone": "Mars/Base"}, "zone"), ({"timezone": "localtime"}, "zone"),
        ({"date_from": "1900-01-01"}, "2000"),
        ({"metrics": []}, "at least 1"), ({"limit": 101}, "100"), ({"cursor": "x"}, "cursor"),
        ({"colour": 1}, "colour"), ({"client_id": 2}, "client_id"), ({"_connector": "OR"}, "_conn"),
        ({"tags__regex": "."}, "tags__regex"), ({"customer__email": "a@b.example"}, "customer__"),
        ({"tags": ["x"] * 10_000}, "100"), ({"bot_ids": [2**63]}, "bot_ids"),
        ({"sort": "customer__email"}, "-created_at"), ({"group_by": ["client_id"]}, "weekday"),
        ({"metrics": ["password"]}, "rating_mean"), ({"limit": 10**9}, "100"),
        ({"offset": 2**63}, "offset"), ({"q": "word " * 2000}, "200"),
        ({"countries": [{"__gt": ""}]}, "countries"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused_with_what_is(ann, body, words):
    reply = ann.post(SEARCH, NOVEMBER | body)
    assert (reply.status_code, words in reply.content.decode()) == (422, True), reply.content


def test_another_clients_chats_count_nowhere(ann, cara, chat_at):
    chat_at(10, said=3)
    assert search(cara, metrics=["chats", "messages"])["totals"] == {"chats": 0, "messages": 0}
    assert cara.get(OPTIONS, NOVEMBER).json()["bots"] == []


def test_without_dates_it_is_the_last_thirty_days(ann, bot):
    for days in (0, 29, 31):
        make_chat(bot, created_at=timezone.now() - timedelta(days=days))
    assert ann.post(SEARCH, {}).json()["totals"]["chats"] == 2


def test_options_have_live_counts(ann, ben, bot, chat_at):
    chat_at(11, tags=["vip", "late"], channel="web", location={"country": "VN"}, language="vi")
    chat_at(12, tags=["vip"], assign_type="agent", assignee=ben.user)
    chat_at(13, is_preview=True, tags=["vip"])
    found = ben.get(OPTIONS, NOVEMBER).json()
    assert found["bots"] == [{"id": bot.pk, "name": "Helper", "chats": 2}]
    assert found["assignees"] == [{"id": ben.user.pk, "name": "Ben", "chats": 1}]
    counted = {name: {row["value"]: row["chats"] for row in rows} for name, rows in found.items()
               if name not in {"bots", "assignees"}}  # fmt: skip
    assert counted == {
        "channels": {"web": 1, "api": 1}, "statuses": {"open": 2}, "tags": {"vip": 2, "late": 1},
        "sentiments": {}, "languages": {"vi": 1, "en": 1}, "ended_by": {}, "countries": {"VN": 1},
    }  # fmt: skip
    for name in ("channels", "tags", "languages", "countries"):
        for row in found[name]:
            assert search(ann, **{name: [row["value"]]})["totals"]["chats"] == row["chats"]


@pytest.mark.parametrize("sort", ["rating_mean", "-rating_mean"])
def test_groups_without_a_figure_come_last(ann, chat_at, sort):
    chat_at(9)
    Feedback.objects.create(client=ann.client, conversation=chat_at(10), rating=4)
    rows = search(ann, group_by=["day"], metrics=["rating_mean"], sort=sort)["rows"]
    assert [row["rating_mean"] for row in rows] == [4, None]


@pytest.mark.parametrize("name", ["handed_off", "bot_resolved"])
def test_a_figure_is_a_filter_too(ann, chat_at, name):
    chat_at(9)
    chat_at(10, status="ended", ended_at=timezone.now())
    chat_at(11, status="ended", ended_at=timezone.now(), handed_off_at=timezone.now())
    taken = chat_at(12, status="ended", ended_at=timezone.now())
    put_message(taken, "agent")
    counted = search(ann, metrics=["chats", name])["totals"]
    assert search(ann, **{name: True}, metrics=["chats"])["totals"]["chats"] == counted[name] == 1
    assert search(ann, **{name: False}, metrics=["chats"])["totals"]["chats"] == 3
