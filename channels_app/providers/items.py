"""Bodies of callbacks, and the keys by which a repeated item is known."""

import hashlib
import json
from datetime import datetime
from typing import Any

import orjson

_MAX_CHARACTERS = 120


def parse(raw: bytes) -> Any:
    """The JSON of a callback without what PostgreSQL cannot store; None if it is none."""
    try:
        return _clean(orjson.loads(raw))
    except orjson.JSONDecodeError:
        # A lone surrogate, perhaps: the slower reader takes it.
        return _parse_slowly(raw)


def key_of(kind: str, *parts: Any) -> str:
    """A key of what identifies an item at its account, short enough for a column."""
    words = [part.isoformat() if isinstance(part, datetime) else str(part) for part in parts]
    key = ":".join([kind, *words])
    if len(key) <= _MAX_CHARACTERS:
        return key
    return f"{kind}:{hashlib.sha256(key.encode()).hexdigest()}"


def _parse_slowly(raw: bytes) -> Any:
    try:
        return _clean(json.loads(raw))
    except (ValueError, RecursionError):
        return None


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    return value
