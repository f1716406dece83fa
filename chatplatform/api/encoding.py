"""`as_json()`: how everything that leaves the platform is written as JSON."""

import json
from typing import Any

import orjson
from pydantic import BaseModel


def as_json(data: Any) -> bytes:
    """`data` as JSON; shapes may stand anywhere in it.

    No stored number may make an answer fail: a whole number beyond 64 bits, which orjson refuses,
    is written by the slower encoder of the standard library.
    """
    try:
        return orjson.dumps(data, default=_dumped)
    except orjson.JSONEncodeError:
        return json.dumps(data, default=_plain, allow_nan=False, separators=(",", ":")).encode()


def _dumped(value: Any) -> Any:
    """A shape: asked by orjson only for what it does not know."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    raise TypeError(f"{type(value).__name__} has no place in a reply")


def _plain(value: Any) -> Any:
    """What orjson knows and the standard library does not, such as a time or a UUID."""
    return _dumped(value) if isinstance(value, BaseModel) else orjson.loads(orjson.dumps(value))
