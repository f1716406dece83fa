"""Public holidays of a country, as holidays of a client's business hours."""

import re
import unicodedata
from typing import Any

from django.utils.translation import get_language

from identity.shapes.configs import Holiday

_MAX_NAME = 100
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def countries() -> list[tuple[str, str]]:
    """The code and the name, in the reader's language, of each country whose holidays are known."""
    from babel import Locale  # noqa: PLC0415 - see `of_country`
    from holidays.registry import COUNTRIES  # noqa: PLC0415

    names = Locale.parse(get_language() or "en", sep="-").territories
    rows = [(row[1], names.get(row[1]) or _CAPITAL.sub(" ", row[0])) for row in COUNTRIES.values()]
    # A letter with a mark follows the plain one.
    return sorted(rows, key=lambda row: unicodedata.normalize("NFD", row[1]))  # noqa: TID251 - short


def of_country(code: str, *, years: list[int], language: str) -> list[Holiday]:
    """The holidays of these years by date, named in the language if their names are known in it."""
    # Few requests need the package, and importing it takes long.
    import holidays  # noqa: PLC0415

    offered = holidays.country_holidays(code).supported_languages
    spelled = (language, language.partition("-")[0], "en_US")
    named = next((name for name in spelled if name in offered), None)
    found: Any = holidays.country_holidays(code, years=years, language=named)
    return [
        Holiday(date=f"{day:%Y-%m-%d}", name=name[:_MAX_NAME])
        for day, name in sorted(found.items())
    ]
