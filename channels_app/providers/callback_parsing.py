"""Bodies of callbacks, what all of them hold, and the keys by which a repeated item is known."""

import hashlib
import json
import math
from datetime import datetime
from typing import Any

import orjson

from channels_app.providers.types import Place

_MAX_CHARACTERS = 120
# Lists and objects inside each other; the providers' own bodies have about ten.
_MAX_DEPTH = 50


def parse(raw: bytes) -> Any:
    """The JSON of a callback without what PostgreSQL cannot store; None if it cannot be read."""
    try:
        return _clean(_loads(raw), _MAX_DEPTH)
    except (ValueError, RecursionError):
        return None


def key_of(kind: str, *parts: Any) -> str:
    """A key of what identifies an item at its account, short enough for a column."""
    words = [part.isoformat() if isinstance(part, datetime) else str(part) for part in parts]
    key = ":".join([kind, *words])
    if len(key) <= _MAX_CHARACTERS:
        return key
    return f"{kind}:{hashlib.sha256(key.encode()).hexdigest()}"


def place_of(latitude: Any, longitude: Any) -> Place | None:
    """A place; None if these are no degrees."""
    try:
        place = Place(float(latitude), float(longitude))
    except (TypeError, ValueError, OverflowError):
        return None
    return place if abs(place.latitude) <= 90 and abs(place.longitude) <= 180 else None


def _loads(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        # A lone surrogate, perhaps: the slower reader takes it.
        return json.loads(raw)


def _clean(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | dict) and not depth:
        raise ValueError("too deep")
    if isinstance(value, list):
        return [_clean(each, depth - 1) for each in value]
    if isinstance(value, dict):
        return {_clean(key, 0): _clean(each, depth - 1) for key, each in value.items()}
    return value
