"""Compares amounts with units, so that "a letter of 400 grams" finds the row "up to 500 g"."""

import re
from collections.abc import Sequence

import numpy as np

from bots.language.embedding import Vectors

# For each unit, what it measures and its size.
_UNITS: dict[str, tuple[str, float]] = {
    name: (kind, size)
    for kind, units in {
        "mass": {"mg": 0.001, "g gr gram grams gramm gam": 1.0, "t ton tons tonne tonnen tấn": 1e6,
                 "kg kilo kilos kilogram kilograms kilogramm ký kí cân": 1_000.0},
        "length": {"mm": 0.1, "cm": 1.0, "m metre metres meter meters mét": 100.0,
                   "km kilometre kilometres kilometer kilometers": 100_000.0},
        "volume": {"ml": 1.0, "cl": 10.0, "l litre litres liter liters lít": 1_000.0},
        "data": {"kb": 0.001, "mb": 1.0, "gb": 1_000.0, "tb": 1_000_000.0},
        "time": {"hour hours stunde stunden giờ": 1 / 24, "day days tag tage tagen ngày": 1.0,
                 "week weeks woche wochen tuần": 7.0, "year years jahr jahre jahren năm": 360.0,
                 "month months monat monate monaten tháng": 30.0},
        "euros": {"eur euro euros €": 1.0},
        "dollars": {"usd dollar dollars $": 1.0},
        "đồng": {"vnd vnđ đồng đ": 1.0},
        "people": {"people persons person guests guest personen gäste người khách": 1.0},
    }.items()
    for names, size in units.items()
    for name in names.split()
}  # fmt: skip
_NUMBER = (
    r"(?<!\d)(?:\d{1,3}(?:[,.]\d{3}){1,9}(?!\d)|\d{1,30}(?:[.,]\d{1,30})?)"
    r"|\b(?:a|an|one|ein|eine|einen|một)\b"
)
_AMOUNT = re.compile(rf"({_NUMBER})[ -]?([^\W\d_]+|[€$])", re.IGNORECASE)
# After these words an amount is a lower limit, not an upper one.
_LEAST = re.compile(
    r"\b(?:from|over|above|at least|min|minimum|ab|über|từ|trên)\b\W*$", re.IGNORECASE
)

# How many characters before an amount are searched for such words.
_REACH = 40

# The amounts for each thing that is measured.
Amounts = dict[str, list[float]]


def amounts(text: str) -> Amounts:
    """The amounts of a text, except lower limits."""
    found: Amounts = {}
    for match in _AMOUNT.finditer(text):
        unit = _UNITS.get(match[2].lower())
        if unit and not _LEAST.search(text, max(0, match.start() - _REACH), match.start()):
            found.setdefault(unit[0], []).append(_value(match[1]) * unit[1])
    return found


def _value(number: str) -> float:
    if not number[0].isdigit():
        return 1.0
    if re.fullmatch(r"\d{1,3}(?:[,.]\d{3})+", number):
        return float(re.sub(r"\D", "", number))
    return float(number.replace(",", "."))


def fitting(question: str, rows: Sequence[Amounts]) -> Vectors:
    """1 for rows with the smallest amount that is enough for the question's amount, else 0."""
    fits = np.zeros(len(rows), dtype=np.float32)
    for kind, asked in amounts(question).items():
        enough = [
            min((have for have in row.get(kind, ()) if have >= max(asked)), default=np.inf)
            for row in rows
        ]
        least = min(enough, default=np.inf)
        fits[[have == least < np.inf for have in enough]] = 1
    return fits
