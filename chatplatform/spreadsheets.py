"""What spreadsheets make of the cells of a CSV file."""

from typing import Any

# What they take for a formula at the beginning of a cell.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


def no_formula(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula; other values stay as they are."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
