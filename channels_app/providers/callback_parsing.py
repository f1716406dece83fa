"""Parse callback bodies, and build the keys that identify a repeated item."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import orjson
from django.utils import timezone

from channels_app.providers.events import Unsupported
from channels_app.providers.types import Place

_MAX_KEY_CHARACTERS = 120
# The maximum nesting of lists and objects; providers' bodies have about ten levels.
_MAX_DEPTH = 50
# The beginning of 2010, in seconds since 1970; no message is older.
_EARLIEST = 1_262_304_000
# The maximum length of an integer; no id is longer.
_MAX_DIGITS = 40
# Matches brackets, and strings as a whole, so that brackets inside strings do not count.
_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)


class Unreadable(ValueError):
    """The body of a callback is not in the provider's format."""


@dataclass(frozen=True)
class Callback:
    """A provider's request to us. Its headers are not stored."""

    body: bytes
    # As requested, still percent-encoded.
    path: str = ""
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def json(self) -> Any:
        """The parsed body; raises Unreadable if it is not JSON."""
        found = parse(self.body)
        if found is None:
            raise Unreadable("This isn't valid JSON.")
        return found


def parse(raw: bytes) -> Any:
    """The parsed JSON of a callback, or None if it cannot be parsed.

    Characters that PostgreSQL cannot store are removed or replaced. Numbers that are not finite,
    and lists and objects nested deeper than 50 levels, become None.
    """
    for attempt in (_loads, _loads_shallow):
        with suppress(ValueError, RecursionError):
            return _clean(attempt(raw), _MAX_DEPTH)
    return None


def parse_string(text: str) -> Any:
    """The parsed JSON in a string of a callback, or None; as tolerant and as clean as `parse`."""
    return parse(text.encode("utf-8", "replace"))


def key_of(kind: str, *parts: Any) -> str:
    """The key of an item from the values that identify it, hashed if too long for the column."""
    words = [part.isoformat() if isinstance(part, datetime) else str(part) for part in parts]
    key = ":".join([kind, *words])
    if len(key) <= _MAX_KEY_CHARACTERS:
        return key
    return f"{kind}:{hashlib.sha256(key.encode()).hexdigest()}"


def place_of(latitude: Any, longitude: Any, name: str = "") -> Place | None:
    """A place; None if the values are not valid degrees."""
    try:
        place = Place(float(latitude), float(longitude), name)
    except (TypeError, ValueError, OverflowError):
        return None
    return place if abs(place.latitude) <= 90 and abs(place.longitude) <= 180 else None


def moment(value: Any) -> datetime | None:
    """The time given in seconds or milliseconds since 1970; None if no message can have this time,
    such as 0."""
    try:
        number = int(value)
        if number < _EARLIEST:
            return None
        return datetime.fromtimestamp(number if number < 10**11 else number / 1000, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def unsupported(raw: Any, account_id: str, at: datetime | None, kind: str) -> Unsupported:
    """An `Unsupported` item, for an event that chats do not show."""
    return Unsupported(
        account_id=account_id, at=at or timezone.now(), kind=kind, key=key_of("other", repr(raw))
    )


def _loads(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        # The slower parser accepts a lone surrogate, and control characters inside strings.
        return _loads_tolerantly(raw)


def _loads_shallow(raw: bytes) -> Any:
    """Parse a body that is nested too deeply for the parsers, or is not UTF-8."""
    kept, depth, end = list[bytes](), 0, 0
    for token in _STRUCTURE.finditer(raw):
        if token[0] in b"[{":
            depth += 1
            if depth == _MAX_DEPTH + 1:
                kept += [raw[end : token.start()], b"null"]
        elif token[0] in b"]}":
            depth -= 1
            if depth == _MAX_DEPTH:
                end = token.end()
    kept.append(raw[end:])
    return _loads_tolerantly(b"".join(kept).decode("utf-8", "replace"))


def _loads_tolerantly(text: str | bytes) -> Any:
    return json.loads(text, strict=False, parse_int=_whole_number)


def _whole_number(digits: str) -> int | None:
    """The integer that the digits mean; None if it is longer than any id: Python refuses to
    convert very long integers."""
    return int(digits) if len(digits) <= _MAX_DIGITS else None


def _clean(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | dict) and not depth:
        return None
    if isinstance(value, list):
        return [_clean(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {_clean(key, 0): _clean(item, depth - 1) for key, item in value.items()}
    return value
