"""Keeps spreadsheets from running the cells of a CSV file as formulas."""

import re
from typing import Any

# A cell that begins with one of these signs is a formula to a spreadsheet.
_SIGNS = "=+\\-@＝＋－＠"
_FORMULA = re.compile(f"[{_SIGNS}\t\r\n]")
# A spreadsheet that separates by semicolons also splits our quoted cells there and at line ends.
_FORMULA_INSIDE = re.compile(rf"(;\s*+|(?<!\s)[^\S\r\n]*+[\r\n]\s*+)(?=[{_SIGNS}])")


def escape_formula(value: Any) -> Any:
    """Text that no spreadsheet reads as a formula; other values are returned unchanged."""
    if not isinstance(value, str):
        return value
    inert = _FORMULA_INSIDE.sub(r"\1'", value)
    return f"'{inert}" if _FORMULA.match(inert) else inert
