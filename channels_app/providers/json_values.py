"""Read untrusted JSON values as the expected type."""

from typing import Any


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty object."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A JSON array. An object becomes an array of one, and anything else an empty array."""
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """The objects in a JSON array. A single object becomes an array of one."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_text(value: Any) -> str:
    """A string, or an integer as a string; empty for anything else."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
