"""The public holidays of countries, as entries for the holidays in a client's business hours."""

import re
from typing import Any

from identity.services import time_zones
from identity.shapes.configs import Holiday

_MAX_NAME = 100
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def countries() -> list[tuple[str, str]]:
    """The code and the name, in the reader's language, of each country whose holidays are known."""
    from holidays.registry import COUNTRIES  # noqa: PLC0415 - see `of_country`

    names = time_zones.names_for_reader().territories
    rows = [(row[1], names.get(row[1]) or _CAPITAL.sub(" ", row[0])) for row in COUNTRIES.values()]
    return sorted(rows, key=lambda row: time_zones.alphabetical(row[1]))


def of_country(code: str, *, years: list[int], language: str) -> list[Holiday]:
    """The public holidays of these years by date, with names in the language if the package has
    them."""
    # Few requests need the package, and importing it is slow.
    import holidays  # noqa: PLC0415

    supported = holidays.country_holidays(code).supported_languages
    candidates = (language, language.partition("-")[0], "en_US")
    chosen = next((name for name in candidates if name in supported), None)
    days: Any = holidays.country_holidays(code, years=years, language=chosen)
    return [
        Holiday(date=f"{day:%Y-%m-%d}", name=name[:_MAX_NAME]) for day, name in sorted(days.items())
    ]
