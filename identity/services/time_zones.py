"""Labels of time zones, with the country, the city and the current time."""

import unicodedata
import zoneinfo
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import get_language

from chatplatform.call_once import call_once
from identity.schemas.fields import time_zones

# The cities to show for zones whose name lacks a city that people look for.
_CITIES = {"Asia/Ho_Chi_Minh": "Hanoi, Ho Chi Minh"}


def choices(current: str, *, now: datetime) -> list[tuple[str, str]]:
    """The names of all zones that belong to a country, of UTC and of the zone `current`, each with
    a label."""
    names = names_for_reader()
    labels = {name: _label(name, names) for name in time_zones() & {*_country_codes()}}
    named = sorted(labels, key=lambda name: alphabetical(labels[name]))
    others = sorted({"UTC", current} - {*named})
    return [(name, f"{labels.get(name, name)} · {clock(name, now=now)}") for name in named + others]


def label(name: str) -> str:
    """A zone's country and city; the zone's name if it belongs to no country."""
    return _label(name, names_for_reader())


def place(name: str) -> str:
    """The country of a zone or, if the country has several zones, the city that the zone is named
    after."""
    code = country_of(name)
    names = names_for_reader()
    is_only = bool(code) and list(_country_codes().values()).count(code) == 1
    return str(names.territories.get(code, code)) if is_only else _city(name, names)


def spoken(name: str, language: str) -> str:
    """What people call a zone's time, in their language and all year, such as "Central
    European Time"."""
    # Few replies need the package, and importing it is slow.
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415
    from babel.dates import get_timezone_name  # noqa: PLC0415

    if not country_of(name):
        return "UTC" if name in {"UTC", "Etc/UTC"} else name.rpartition("/")[2].replace("_", " ")
    try:
        locale = Locale.parse(language, sep="-")
    except (UnknownLocaleError, ValueError):
        locale = Locale("en")
    return str(get_timezone_name(ZoneInfo(name), locale=locale))


def names_for_reader() -> Any:
    """Babel's data for the reader's language, with the names of countries (`territories`) and of
    cities (`time_zones`)."""
    # Few requests need the package, and importing it is slow.
    from babel import Locale  # noqa: PLC0415

    return Locale.parse(get_language() or "en", sep="-")


def alphabetical(text: str) -> str:
    """A sort key for names, in which a letter with a diacritic comes after the plain letter."""
    return unicodedata.normalize("NFD", text)  # noqa: TID251 - short text


def clock(name: str, *, now: datetime) -> str:
    """The time of day in a zone, as HH:MM."""
    return f"{now.astimezone(ZoneInfo(name)):%H:%M}"


def country_of(name: str) -> str:
    """The ISO 3166 code of the country that a zone belongs to; empty if there is none."""
    return _country_codes().get(name, "")


@call_once
def _country_codes() -> dict[str, str]:
    rows = (line.split("\t") for line in _table("zone.tab"))
    return {row[2]: row[0] for row in rows}


def _label(name: str, names: Any) -> str:
    code = _country_codes().get(name)
    if code is None:
        return name
    return f"{names.territories.get(code, code)} · {_CITIES.get(name) or _city(name, names)}"


def _city(name: str, names: Any) -> str:
    city: str | None = names.time_zones.get(name, {}).get("city")
    return city or name.rpartition("/")[2].replace("_", " ")


def _table(name: str) -> list[str]:
    """The lines of a table of the time zone database; empty if the machine does not have the
    table."""
    paths = (Path(folder) / name for folder in zoneinfo.TZPATH)
    table_path = next((path for path in paths if path.exists()), None)
    lines = table_path.read_text(encoding="utf-8").splitlines() if table_path else []
    return [line for line in lines if line and not line.startswith("#")]
