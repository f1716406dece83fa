"""Compares amounts with units, so that "a letter of 400 grams" finds the row "up to 500 g"."""

import re
from collections.abc import Sequence

import numpy as np

from bots.language import language_data
from bots.language.embedding import Vectors

# For each unit, what it measures and its size.
_SIZES = {
    "milligram": ("mass", 0.001), "gram": ("mass", 1.0), "kilogram": ("mass", 1_000.0),
    "tonne": ("mass", 1e6), "millimetre": ("length", 0.1), "centimetre": ("length", 1.0),
    "metre": ("length", 100.0), "kilometre": ("length", 100_000.0), "millilitre": ("volume", 1.0),
    "centilitre": ("volume", 10.0), "litre": ("volume", 1_000.0), "kilobyte": ("data", 0.001),
    "megabyte": ("data", 1.0), "gigabyte": ("data", 1_000.0), "terabyte": ("data", 1_000_000.0),
    "hour": ("time", 1 / 24), "day": ("time", 1.0), "week": ("time", 7.0), "month": ("time", 30.0),
    "year": ("time", 360.0), "euro": ("euros", 1.0), "dollar": ("dollars", 1.0),
    "dong": ("đồng", 1.0), "person": ("people", 1.0),
}  # fmt: skip
_UNITS = {
    name: _SIZES[unit]
    for words in (language_data.INTERNATIONAL, *language_data.LEXICONS.values())
    for unit, names in words.get("units", {}).items()
    for name in names
}
_NUMBER = (
    r"(?<!\d)(?:\d{1,3}(?:[,.]\d{3}){1,9}(?!\d)|\d{1,30}(?:[.,]\d{1,30})?)"
    rf"|\b{language_data.pattern('amounts', 'one')}\b"
)
_AMOUNT = re.compile(rf"({_NUMBER})[ -]?([^\W\d_]+|[€$])", re.IGNORECASE)
# Matches words after which an amount is a lower limit, not an upper one.
_LEAST = re.compile(rf"\b{language_data.pattern('amounts', 'at_least')}\b\W*$", re.IGNORECASE)
# How many characters before an amount are searched for words that make it a lower limit.
_REACH = 40

# Amounts by the quantity that they measure, such as "mass".
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
    """1 for rows with the smallest amount that suffices for the question's amount, 0 for others."""
    fits = np.zeros(len(rows), dtype=np.float32)
    for kind, asked in amounts(question).items():
        enough = [
            min((have for have in row.get(kind, ()) if have >= max(asked)), default=np.inf)
            for row in rows
        ]
        smallest = min(enough, default=np.inf)
        fits[[have == smallest < np.inf for have in enough]] = 1
    return fits
