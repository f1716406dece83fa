"""Getchatoverviewrouter: how chats went in a period, beside the period before."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bots.testing import make_bot
from chats.testing import make_chat, put_message

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/report/chat-overview"
WEEK = {"date_from": "2026-11-09", "date_to": "2026-11-15", "timezone": "UTC"}


def at(day: int, hour: int = 12, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


def say(chat: Any, sender_type: str, seconds: int, **fields: Any) -> None:
    at = chat.created_at + timedelta(seconds=seconds)
    put_message(chat, sender_type, created_at=at, **fields)


def read(person, path=PATH, **query):
    reply = person.get(path, WEEK | query)
    assert reply.status_code == 200, reply.content
    return reply.json()


def test_the_period_stands_beside_the_one_before(ann, bot):
    for day in (8, 9, 10, 10, 15, 16, 2, 1):
        make_chat(bot, created_at=at(day))
    overview = read(ann)
    periods = [(overview[name]["date_from"], overview[name]["date_to"], overview[name]["chats"])
               for name in ("previous", "current")]  # fmt: skip
    assert periods == [("2026-11-02", "2026-11-08", 2), ("2026-11-09", "2026-11-15", 4)]
    days = {row["day"]: row["chats"] for row in overview["series"]}
    assert list(days.values()) == [1, 2, 0, 0, 0, 0, 1]
    assert list(days) == [f"2026-11-{day:02}" for day in range(9, 16)]


def test_first_answers_of_bot_and_person_are_told_apart(ann, bot):
    chat = make_chat(bot, created_at=at(10), first_response_at=at(10) + timedelta(seconds=4),
                     handed_off_at=at(10) + timedelta(seconds=100))  # fmt: skip
    say(chat, "bot", 0, is_welcome=True)
    say(chat, "customer", 1)
    say(chat, "bot", 4, receipt={"credits": 2})
    say(chat, "agent", 90, is_note=True)
    say(chat, "agent", 130)
    current = read(ann)["current"]
    means = {name: current[f"{name}_seconds"]["mean"] for name in (
        "first_response", "bot_response", "person_response", "resolution")}  # fmt: skip
    assert means == {
        "first_response": 4, "bot_response": 4, "person_response": 30, "resolution": None,
    }  # fmt: skip
    assert (current["messages"], current["credits_used"], current["handed_off"]) == (3, 2, 1)


def test_parts_add_up_and_agree_with_the_search(ann, ben, bot, client_a):
    other = make_bot(client_a, bot_name="Other")
    make_chat(bot, created_at=at(9), channel="web", sentiment="negative", tags=["vip"])
    make_chat(bot, created_at=at(10, 7), assign_type="agent", assignee=ben.user,
              handed_off_at=at(10, 8), handoff_reason="no_answer")  # fmt: skip
    make_chat(other, created_at=at(11), status="ended", ended_at=at(11, 13))
    make_chat(other, created_at=at(11), is_preview=True)
    overview = read(ann)
    for part in ("series", "by_hour", "by_channel", "by_bot", "by_agent", "by_tag", "by_language"):
        assert sum(row["chats"] for row in overview[part]) == overview["current"]["chats"] == 3
    assert [(row["name"], row["chats"]) for row in overview["by_bot"]] == [
        ("Helper", 2), ("Other", 1),
    ]  # fmt: skip
    assert {row["name"]: row["chats"] for row in overview["by_agent"]} == {None: 2, "Ben": 1}
    hours = {row["hour"]: row["chats"] for row in overview["by_hour"]}
    assert hours == dict.fromkeys(range(24), 0) | {7: 1, 12: 2}
    assert {row["tag"]: row["chats"] for row in overview["by_tag"]} == {None: 2, "vip": 1}
    handed_off = overview["by_handoff_reason"]
    assert [(row["handoff_reason"], row["chats"]) for row in handed_off] == [("no_answer", 1)]
    names = ["chats", "messages", "customers", "bot_resolved", "handed_off", "ended", "open"]
    totals = ann.post("/report/adhoc/search", WEEK | {"metrics": names}).json()["totals"]
    assert {name: overview["current"][name] for name in names} == totals
    assert overview["current"]["sentiment"] == {"positive": 0, "neutral": 0, "negative": 1}


def test_a_bots_overview_is_of_its_chats(ann, bot, client_a):
    make_chat(bot, created_at=at(9))
    make_chat(make_bot(client_a), created_at=at(9))
    overview = read(ann, f"{PATH}/{bot.pk}")
    assert (overview["current"]["chats"], len(overview["by_bot"])) == (1, 1)


def test_another_clients_chats_and_bots_are_not_there(ann, cara, bot):
    make_chat(bot, created_at=at(9))
    assert read(cara)["current"]["chats"] == 0
    assert cara.get(f"{PATH}/{bot.pk}").status_code == 404


@pytest.mark.parametrize(
    "query", [{"date_from": "2025-01-01"}, {"date_from": "2026-11-20"}, {"timezone": "x"}]
)
def test_a_period_that_is_none_is_refused(ann, query):
    assert ann.get(PATH, WEEK | query).status_code == 422
