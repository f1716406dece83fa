"""Values of JSON that may hold anything, read as the type that is expected."""

from typing import Any


def as_dict(value: Any) -> dict[str, Any]:
    """A JSON object; empty if it is none."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A JSON array; empty if it is none."""
    return value if isinstance(value, list) else []


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """The objects of a JSON array; empty if it is none."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_text(value: Any) -> str:
    """A string, or a number as one; empty if it is neither."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
