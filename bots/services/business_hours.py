"""Computes when a business is open, from the hours and holidays of the bot or else of its client.

Days and hours are in the client's time zone.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import translation
from django.utils.formats import date_format

from bots.models import Bot
from identity.models import ClientConfig
from identity.services import time_zones

# The number of days to search for the next or a previous opening: a bit more than a year.
_SEARCH_DAYS = 370
_ONE_DAY = timedelta(days=1)
# An opening less than this far ahead is described by its weekday, without the date.
_NEAR = timedelta(days=6)


def is_open(config: ClientConfig, bot: Bot, at: datetime) -> bool:
    """Whether `at` is within the business hours."""
    return any(opens <= at < closes for opens, closes in _spans(config, bot, day(config, at)))


def next_opening(config: ClientConfig, bot: Bot, at: datetime) -> datetime | None:
    """The next opening, in UTC; None if `at` is within the business hours, or if there is no
    opening for over a year."""
    today = day(config, at)
    for ahead in range(_SEARCH_DAYS):
        for opens, closes in _spans(config, bot, today + ahead * _ONE_DAY):
            if at < closes:
                return None if opens <= at else opens
    return None


def with_opening(
    text: str,
    config: ClientConfig,
    bot: Bot,
    at: datetime,
    *,
    language: str,
    zone: str | None = None,
) -> str:
    """A text with `{opens}` replaced by the next opening in the reader's time zone, or removed if
    there is none. The time is the client's if the reader's `zone` is unknown. If the reader's zone
    has another time, the client's is added: "Monday, 15:00 (09:00 Central European Time)". The
    widget does the same in `availability.js`."""
    opens = next_opening(config, bot, at) if "{opens}" in text else None
    if opens is None:
        return text.replace("{opens}", "").strip()
    pattern = "l" if opens - at < _NEAR else "l j F"

    def written(zone: str) -> tuple[str, str]:
        local = opens.astimezone(ZoneInfo(zone))
        return date_format(local, pattern), f"{local:%H:%M}"

    # Django has no translation for plain `zh`.
    with translation.override("zh-hans" if language == "zh" else language):
        own = config.client.timezone
        own_day, own_time = written(own)
        day, clock = written(zone or own)
        words = f"{day}, {clock}"
        if (day, clock) != (own_day, own_time):
            own_words = own_time if day == own_day else f"{own_day}, {own_time}"
            words += f" ({own_words} {time_zones.spoken(own, language)})"
    return text.replace("{opens}", words)


def closed_since(config: ClientConfig, bot: Bot, at: datetime) -> datetime | None:
    """The last closing time, in UTC; None if `at` is within the business hours.

    If there was none for 370 days, the time 370 days before `at`.
    """
    if is_open(config, bot, at):
        return None
    earlier = (closes for _, closes in _spans_back(config, bot, at) if closes <= at)
    return next(earlier, at - _SEARCH_DAYS * _ONE_DAY)


def subtract_open_time(
    config: ClientConfig, bot: Bot, at: datetime, open_for: timedelta
) -> datetime:
    """The latest moment from which the open time until `at` adds up to `open_for`.

    If the 370 days before `at` have less open time, a moment before them.
    """
    remaining = open_for
    for opens, closes in _spans_back(config, bot, at):
        end = min(closes, at)
        if end - opens >= remaining:
            return end - remaining
        remaining -= max(end - opens, timedelta())
    return at - _SEARCH_DAYS * _ONE_DAY - open_for


def has_hours(config: ClientConfig, bot: Bot) -> bool:
    """Whether any hours or holidays are set; without either, the business is always open."""
    return bool(week(config, bot) or holidays(config, bot))


def week(config: ClientConfig, bot: Bot) -> list[dict[str, Any]]:
    """The hours of each weekday; if empty, the business is always open."""
    own: list[dict[str, Any]] | None = bot.business_hours
    return config.business_hours if own is None else own


def holidays(config: ClientConfig, bot: Bot) -> list[dict[str, Any]]:
    """The dates whose hours differ from their weekday's hours."""
    own: list[dict[str, Any]] | None = bot.holidays
    return config.holidays if own is None else own


def day(config: ClientConfig, at: datetime) -> date:
    """The date of a moment in the client's time zone."""
    assert at.tzinfo
    return at.astimezone(ZoneInfo(config.client.timezone)).date()


def _spans_back(
    config: ClientConfig, bot: Bot, at: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """The opening spans up to the day of `at`, latest first."""
    today = day(config, at)
    for ago in range(_SEARCH_DAYS):
        yield from reversed(_spans(config, bot, today - ago * _ONE_DAY))


def _spans(config: ClientConfig, bot: Bot, on: date) -> list[tuple[datetime, datetime]]:
    """The opening spans of a day, in UTC and in order."""
    weekly = week(config, bot)
    special = (entry["hours"] for entry in holidays(config, bot) if entry["date"] == f"{on}")
    hours = next(special, None)
    if hours is None and not weekly:
        hours = [{"opens": "00:00", "closes": "24:00"}]
    if hours is None:
        hours = [entry for entry in weekly if entry["weekday"] == on.weekday()]
    zone = ZoneInfo(config.client.timezone)
    # When clocks go back, an hour occurs twice: a span opens in the first occurrence (fold 0) and
    # closes in the second (fold 1). When clocks go forward, a span in the skipped hour is empty.
    return [
        (_moment(on, entry["opens"], zone, fold=0), _moment(on, entry["closes"], zone, fold=1))
        for entry in hours
    ]


def _moment(on: date, clock: str, zone: ZoneInfo, *, fold: int) -> datetime:
    if clock == "24:00":
        on, clock = on + _ONE_DAY, "00:00"
    local = datetime.combine(on, time.fromisoformat(clock), tzinfo=zone)
    return local.replace(fold=fold).astimezone(UTC)
