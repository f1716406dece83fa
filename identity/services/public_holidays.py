"""The public holidays of countries, as holidays of a client's business hours."""

import re
from typing import Any

from identity.schemas.configs import Holiday
from identity.services import time_zones

_MAX_NAME = 100
# The package's name for the days before the Vietnamese new year.
_DAY_BEFORE = re.compile(r"\d+ of (Lunar New Year)")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def countries() -> list[tuple[str, str]]:
    """The code and the name of each country whose holidays are known. Names are in the reader's
    language if it has a name for the country."""
    from holidays.registry import COUNTRIES  # noqa: PLC0415 - see `of_country`

    names = time_zones.names_for_reader().territories
    rows = [(row[1], names.get(row[1]) or _CAPITAL.sub(" ", row[0])) for row in COUNTRIES.values()]
    return sorted(rows, key=lambda row: time_zones.alphabetical(row[1]))


def of_country(code: str, *, years: list[int], language: str) -> list[Holiday]:
    """The public holidays of a country in these years, sorted by date. Their names are in
    `language` if the package has them, otherwise in English or in the package's default
    language."""
    # Few requests need the package, and importing it is slow.
    import holidays  # noqa: PLC0415

    supported = holidays.country_holidays(code).supported_languages
    candidates = (language, language.partition("-")[0], "en_US")
    chosen = next((name for name in candidates if name in supported), None)
    days: Any = holidays.country_holidays(code, years=years, language=chosen)
    return [
        Holiday(date=f"{day:%Y-%m-%d}", name=_DAY_BEFORE.sub(r"\1 holiday", name)[:_MAX_NAME])
        for day, name in sorted(days.items())
    ]
