"""Business hours: a client's, its holidays, and a bot's own."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bots.models import Bot
from bots.services import business_hours
from identity.models import Client, ClientConfig

BERLIN = "Europe/Berlin"
MONDAY, FRIDAY, SATURDAY, SUNDAY = "2026-11-23", "2026-11-27", "2026-11-28", "2026-11-29"


def hours(*spans):
    return [{"weekday": day, "opens": opens, "closes": closes} for day, opens, closes in spans]


def holiday(date, *spans):
    return {"date": date, "hours": [{"opens": opens, "closes": closes} for opens, closes in spans]}


def opens(zone, *spans, holidays=()):
    return ClientConfig(
        client=Client(timezone=zone), business_hours=hours(*spans), holidays=list(holidays)
    )


def at(text, zone="UTC"):
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def is_open(config, moment, bot=None):
    return business_hours.is_open(config, bot or Bot(), moment)


WEEKDAYS = [(day, "09:00", "17:00") for day in range(5)]


def test_without_hours_it_is_always_open():
    assert is_open(opens("UTC"), at("2026-11-22T03:00"))
    assert business_hours.next_opening(opens("UTC"), Bot(), at("2026-11-22T03:00")) is None


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-11-23T08:59:59", False),
        ("2026-11-23T09:00:00", True),
        ("2026-11-23T16:59:59", True),
        ("2026-11-23T17:00:00", False),
        ("2026-11-24T10:00:00", False),
    ],
)
def test_open_from_the_first_minute_until_closing(moment, expected):
    config = opens(BERLIN, (0, "09:00", "17:00"))
    assert is_open(config, at(moment, BERLIN)) is expected
    # The same moment in another time zone.
    assert is_open(config, at(moment, BERLIN).astimezone(UTC)) is expected


def test_the_weekday_is_that_of_the_clients_time_zone():
    config = opens("Asia/Ho_Chi_Minh", (0, "00:00", "24:00"))
    assert is_open(config, at("2026-11-22T17:00")), "Monday has begun there"
    assert not is_open(config, at("2026-11-23T17:00")), "and ended"
    assert is_open(config, at("2026-11-23T16:59"))


def test_hours_over_midnight_are_two_entries():
    config = opens("UTC", (4, "22:00", "24:00"), (5, "00:00", "02:00"))
    assert not is_open(config, at(f"{FRIDAY}T21:59"))
    assert is_open(config, at(f"{FRIDAY}T23:59"))
    assert is_open(config, at(f"{SATURDAY}T00:00"))
    assert not is_open(config, at(f"{SATURDAY}T02:00"))


def test_opening_follows_daylight_saving_time():
    config = opens(BERLIN, *[(day, "09:00", "17:00") for day in range(7)])
    assert not is_open(config, at("2026-07-01T06:59"))
    assert is_open(config, at("2026-07-01T07:00"))
    assert not is_open(config, at("2026-12-01T07:59"))
    assert is_open(config, at("2026-12-01T08:00"))


def test_the_repeated_hour_is_open_twice_and_the_skipped_one_never():
    config = opens(BERLIN, (6, "02:00", "03:00"))
    assert is_open(config, at("2026-10-25T00:30"))
    assert is_open(config, at("2026-10-25T01:30"))
    assert not is_open(config, at("2026-10-25T02:00"))
    # On 29 March the local time jumps from two to three.
    assert not is_open(config, at("2026-03-29T00:59"))
    assert not is_open(config, at("2026-03-29T01:00"))


def test_a_holiday_has_hours_of_its_own_or_none():
    config = opens(
        BERLIN,
        *WEEKDAYS,
        holidays=[holiday("2026-12-24", ("10:00", "12:00")), holiday("2026-12-25")],
    )
    for moment, expected in [
        ("2026-12-23T16:00", True),
        ("2026-12-24T09:30", False),
        ("2026-12-24T10:00", True),
        ("2026-12-24T12:00", False),
        ("2026-12-25T10:00", False),
        ("2026-12-28T10:00", True),
    ]:
        assert is_open(config, at(moment, BERLIN)) is expected, moment
    # It closes a client that is always open, and opens one on its day of rest.
    always = opens("UTC", holidays=[holiday(MONDAY)])
    assert not is_open(always, at(f"{MONDAY}T12:00"))
    assert is_open(always, at("2026-11-24T00:00"))
    sunday = opens("UTC", *WEEKDAYS, holidays=[holiday(SUNDAY, ("10:00", "14:00"))])
    assert is_open(sunday, at(f"{SUNDAY}T11:00"))


def test_a_bots_own_hours_and_holidays_replace_the_clients():
    config = opens("UTC", *WEEKDAYS, holidays=[holiday(MONDAY)])
    monday, sunday = at(f"{MONDAY}T12:00"), at(f"{SUNDAY}T12:00")
    assert not is_open(config, monday)
    assert is_open(config, monday, Bot(holidays=[]))
    weekend = Bot(business_hours=hours((6, "10:00", "14:00")))
    assert is_open(config, sunday, weekend)
    assert not is_open(config, monday, weekend), "the client's holidays hold still"
    assert is_open(config, sunday, Bot(business_hours=[])), "always open"


def test_the_next_opening():
    config = opens(BERLIN, *WEEKDAYS, holidays=[holiday(MONDAY)])

    def following(moment):
        return business_hours.next_opening(config, Bot(), at(moment, BERLIN))

    assert following(f"{FRIDAY}T12:00") is None, "it is open"
    assert following(f"{FRIDAY}T08:00") == at(f"{FRIDAY}T09:00", BERLIN)
    assert following("2026-11-20T17:00") == at("2026-11-24T09:00", BERLIN), "after a holiday"
    # The clocks change on the Sunday in between.
    assert following("2026-03-27T18:00") == at("2026-03-30T07:00")
    never = opens("UTC", (0, "09:00", "09:01"), holidays=[])
    closed = Bot(holidays=[holiday(str(day)) for day in mondays()])
    assert business_hours.next_opening(never, closed, at(f"{SUNDAY}T00:00")) is None


def mondays():
    first = datetime.fromisoformat("2026-11-30").date()
    return [first + timedelta(weeks=week) for week in range(60)]


def test_closed_since():
    config = opens(BERLIN, *WEEKDAYS)

    def since(moment):
        return business_hours.closed_since(config, Bot(), at(moment, BERLIN))

    assert since(f"{FRIDAY}T12:00") is None
    assert since(f"{SUNDAY}T12:00") == at(f"{FRIDAY}T17:00", BERLIN)
    assert since(f"{FRIDAY}T08:00") == at("2026-11-26T17:00", BERLIN)


@pytest.mark.parametrize(
    ("moment", "minutes", "expected"),
    [
        (f"{FRIDAY}T12:00", 30, f"{FRIDAY}T11:30"),
        (f"{FRIDAY}T09:10", 30, "2026-11-26T16:40"),
        (f"{SUNDAY}T12:00", 30, f"{FRIDAY}T16:30"),
        (f"{MONDAY}T09:00", 8 * 60 * 5, "2026-11-16T09:00"),
        (f"{FRIDAY}T17:00", 8 * 60, f"{FRIDAY}T09:00"),
    ],
)
def test_only_business_hours_count_as_waiting(moment, minutes, expected):
    config = opens(BERLIN, *WEEKDAYS)
    found = business_hours.subtract_open_time(
        config, Bot(), at(moment, BERLIN), timedelta(minutes=minutes)
    )
    assert found == at(expected, BERLIN)


def test_a_night_in_which_the_clock_changes_is_as_long_as_it_is():
    config = opens(BERLIN)
    for end, start in [
        ("2026-03-29T04:00", "2026-03-28T21:00"),
        ("2026-10-25T04:00", "2026-10-24T23:00"),
    ]:
        found = business_hours.subtract_open_time(
            config, Bot(), at(end, BERLIN), timedelta(hours=6)
        )
        assert found == at(start, BERLIN)
