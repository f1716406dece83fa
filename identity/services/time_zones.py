"""Time zones as people look for them: by country and city, with the time that it is there."""

import zoneinfo
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from chatplatform.call_once import call_once
from identity.shapes.fields import time_zones

# Zones whose name lacks a city that people look for.
_CITIES = {"Asia/Ho_Chi_Minh": "Hanoi, Ho Chi Minh"}


def choices(current: str, *, now: datetime) -> list[tuple[str, str]]:
    """The zones of all countries, UTC and the current one, each with a label."""
    named = sorted(time_zones() & {*_country_codes()}, key=label)
    others = {"UTC", current} - {*named}
    return [(name, f"{label(name)} · {clock(name, now=now)}") for name in [*named, *sorted(others)]]


def label(name: str) -> str:
    """A zone's country and city; its name if it belongs to no country."""
    code = _country_codes().get(name)
    if code is None:
        return name
    city = _CITIES.get(name) or name.rpartition("/")[2].replace("_", " ")
    return f"{_country_names().get(code, code)} · {city}"


def clock(name: str, *, now: datetime) -> str:
    """The time of day in a zone, as HH:MM."""
    return f"{now.astimezone(ZoneInfo(name)):%H:%M}"


def country_of(name: str) -> str:
    """The code (ISO 3166) of the country of a zone; empty if there is none."""
    return _country_codes().get(name, "")


@call_once
def _country_codes() -> dict[str, str]:
    rows = (line.split("\t") for line in _table("zone.tab"))
    return {row[2]: row[0] for row in rows}


@call_once
def _country_names() -> dict[str, str]:
    return dict(line.split("\t") for line in _table("iso3166.tab"))


def _table(name: str) -> list[str]:
    """The rows of a table beside the time zones; none if the machine has only the zones."""
    paths = (Path(folder) / name for folder in zoneinfo.TZPATH)
    found = next((path for path in paths if path.exists()), None)
    lines = found.read_text(encoding="utf-8").splitlines() if found else []
    return [line for line in lines if line and not line.startswith("#")]
