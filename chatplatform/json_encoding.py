"""Encodes responses, events and webhook deliveries as JSON."""

import json
from typing import Any

import orjson
from pydantic import BaseModel


def as_json(data: Any) -> bytes:
    """`data` as JSON; it may contain schemas. orjson refuses integers beyond 64 bits: data with
    such numbers is encoded by the slower standard library."""
    try:
        return orjson.dumps(data, default=_dump_model)
    except orjson.JSONEncodeError:
        return json.dumps(data, default=_to_plain, allow_nan=False, separators=(",", ":")).encode()


def _dump_model(value: Any) -> Any:
    """Convert a schema; orjson calls this for types that it does not know."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    raise TypeError(f"{type(value).__name__} cannot be encoded as JSON")


def _to_plain(value: Any) -> Any:
    """Convert what the standard library cannot encode, such as a schema, a time or a UUID."""
    return _dump_model(value) if isinstance(value, BaseModel) else orjson.loads(orjson.dumps(value))
