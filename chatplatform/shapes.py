"""The base of every shape (a pydantic model): what a request may hold, how a reply is written."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer


def _clean(text: str) -> str:
    """PostgreSQL cannot store NUL, and UTF-8 cannot carry a lone surrogate: refuse both."""
    if "\x00" in text:
        raise ValueError("must not contain the NUL character")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("must not contain a lone surrogate")
    return text


def _clean_tree(value: Any, depth: int = 0) -> Any:
    """Free JSON: strings checked as above, at most 16 levels deep and 200 keys an object."""
    if depth > 16:
        raise ValueError("must not be nested deeper than 16 levels")
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        if len(value) > 200:
            raise ValueError("must not hold more than 200 keys")
        return {_clean(str(k)): _clean_tree(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_clean_tree(item, depth + 1) for item in value]
    return value


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("must carry a time zone, for example a closing Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie within the years 1 to 9999 in UTC") from None


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and `Z`: 2026-11-21T03:00:00.123Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Text = Annotated[str, AfterValidator(_clean)]
FreeObject = Annotated[dict[str, Any], AfterValidator(_clean_tree)]
Moment = Annotated[datetime, AfterValidator(_utc), PlainSerializer(iso, return_type=str)]
Language = Annotated[
    str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=20, examples=["en", "vi"])
]


class Shape(BaseModel):
    """A documented body. Unknown fields of a request are refused; every field is described."""

    model_config = ConfigDict(extra="forbid", strict=False, from_attributes=True)


def example(**fields: Any) -> ConfigDict:
    """`model_config` of a shape whose document shows such a body."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


def read_only(description: str, **extra: Any) -> Any:
    """A field that the server sets: in every reply, refused (422) in a request."""
    return Field(None, description=description, json_schema_extra={"readOnly": True}, **extra)


def read_only_fields(shape: type[BaseModel]) -> set[str]:
    """Names of the fields that a request must not hold."""
    return {
        name
        for name, field in shape.model_fields.items()
        if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get("readOnly")
    }
