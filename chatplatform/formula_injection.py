"""What spreadsheets make of the cells of a CSV file."""

import re
from typing import Any

# What they take for a formula at the beginning of a cell.
_SIGNS = "=+\\-@＝＋－＠"
_FORMULA = re.compile(f"[{_SIGNS}\t\r\n]")
# Where semicolons separate, our quoted cells are cut there and at their ends of lines.
_FORMULA_INSIDE = re.compile(rf"(;\s*+|(?<!\s)[^\S\r\n]*+[\r\n]\s*+)(?=[{_SIGNS}])")


def escape_formula(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula; other values stay as they are."""
    if not isinstance(value, str):
        return value
    inert = _FORMULA_INSIDE.sub(r"\1'", value)
    return f"'{inert}" if _FORMULA.match(inert) else inert
