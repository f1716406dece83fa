"""The base of all schemas (pydantic models) and the types of their fields."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Self

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import SchemaValidator

# All JSON parsers agree on whole numbers up to this number (RFC 8259, section 6; RFC 7493).
MAX_NUMBER = 2**53 - 1
# The smallest fraction in free-form JSON: PostgreSQL would write 1e-300 as 302 characters.
MIN_FRACTION = 1e-30
# The largest value of a bigint column.
MAX_ID = 2**63 - 1
MAX_FREE_BYTES = 16_384
# A pattern for a text with a visible character. Python strips U+001C to U+001F as spaces, but `\s`
# does not match them in JSON Schema.
NOT_BLANK = r"[^\s\x1c-\x1f]"
# The deepest nesting of objects and lists, including the outermost.
MAX_LEVELS = 16
# The context in which requests are validated: `read_only` fields are ignored.
REQUEST = {"is_request": True}


def _check_text(text: str) -> str:
    """Refuse NUL, which PostgreSQL cannot store, and lone surrogates, which UTF-8 cannot encode."""
    if "\x00" in text:
        raise ValueError("must not contain the NUL character")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("must not contain a lone surrogate")
    return text


def _check_json(value: Any, depth: int = 0) -> Any:
    """Check free-form JSON: its strings, at most 16 levels, and at most 200 keys in an object."""
    if depth == MAX_LEVELS and isinstance(value, (dict, list)):
        raise ValueError(f"must not be nested deeper than {MAX_LEVELS} levels")
    if isinstance(value, str):
        return _check_text(value)
    if isinstance(value, dict):
        if len(value) > 200:
            raise ValueError("must not have more than 200 keys")
        return {_check_text(str(k)): _check_json(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_check_json(item, depth + 1) for item in value]
    return value


def _check_numbers(value: Any) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, (int, float)) and value:
        # `not … <=` refuses NaN too.
        if not abs(value) <= MAX_NUMBER:
            raise ValueError(
                f"numbers must be between -{MAX_NUMBER} and {MAX_NUMBER}; send others as strings"
            )
        if abs(value) < MIN_FRACTION:
            raise ValueError(f"numbers must be 0, or at least {MIN_FRACTION} away from 0")


def within_limits(value: dict[str, Any]) -> dict[str, Any]:
    """Check free-form JSON: numbers that all JSON parsers read alike, and at most 16 KiB."""
    _check_numbers(value)
    if len(orjson.dumps(value)) > MAX_FREE_BYTES:
        raise ValueError(f"must not be larger than {MAX_FREE_BYTES:,} bytes as JSON")
    return value


def _refuse_timestamps(value: Any) -> Any:
    """Refuse numbers: pydantic would read a lone year as seconds since 1970."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    if isinstance(value, (int, float)):
        raise ValueError("must be a time with its zone, such as 2026-11-21T03:00:00Z, not a number")
    return value


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("must have a time zone, such as a trailing Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be in the years 1 to 9999 in UTC") from None


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and `Z`: 2026-11-21T03:00:00.123Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def canonical_language(code: Any) -> Any:
    """A language code in the spelling that BCP 47 recommends: `zh-Hant-TW` for `ZH_hant_tw`."""
    if not isinstance(code, str):
        return code
    first, *others = code.replace("_", "-").split("-")
    sizes: dict[int, Callable[[str], str]] = {2: str.upper, 4: str.title}
    return "-".join([first.lower(), *(sizes.get(len(part), str.lower)(part) for part in others)])


Text = Annotated[str, AfterValidator(_check_text)]
# A JSON object without the limits of `FreeObject`, which its field may limit in its own way.
JsonObject = Annotated[dict[str, Any], AfterValidator(_check_json)]
FreeObject = Annotated[JsonObject, AfterValidator(within_limits)]
Moment = Annotated[
    datetime,
    BeforeValidator(_refuse_timestamps),
    AfterValidator(_utc),
    PlainSerializer(iso, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
# A URL that the platform generates.
Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]
RowId = Annotated[int, Field(ge=1, le=MAX_ID)]
# A BCP 47 code in its canonical spelling; below, any spelling that requests may use.
LANGUAGE_PATTERN = re.compile(r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")
_ANY_SPELLING = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$", max_length=20, examples=["en", "pt-BR"]
    ),
]
Language = Annotated[
    str,
    BeforeValidator(canonical_language, json_schema_input_type=_ANY_SPELLING),
    Field(pattern=LANGUAGE_PATTERN.pattern, max_length=20, examples=["en"]),
]


@dataclass(frozen=True)
class InRequest:
    """Annotates a field with sentences that extend its description in requests only."""

    rule: str
    # Whether a POST, which creates the object, needs the field; an update keeps its value.
    is_required_to_create: bool = False


def _path_parameter_of(field: FieldInfo) -> str:
    """The path parameter that the field may repeat; empty if there is none."""
    marks = field.json_schema_extra
    return str(marks.get("x-path-parameter", "")) if isinstance(marks, dict) else ""


def _rules_of(field: FieldInfo) -> list[str]:
    """The sentences that extend the field's description in requests."""
    rules = [mark.rule for mark in field.metadata if isinstance(mark, InRequest)]
    if path := _path_parameter_of(field):
        rules.append(f"Ignored, but if the path contains `{path}`, another value is a 422.")
    return rules


class Schema(BaseModel):
    """A documented body or query. Unknown fields are refused, and every field has a description."""

    model_config = ConfigDict(
        extra="forbid",
        strict=False,
        from_attributes=True,
        # A response has every field, including fields that a request may leave out.
        json_schema_serialization_defaults_required=True,
    )
    # Whether fields that a request leaves out keep their values, if the object exists already. Then
    # a default only describes a new object: a client must not send it.
    keeps_values: ClassVar[bool] = False
    _copied: ClassVar[tuple[str, ...]]
    # The names of the fields declared with `read_only()`.
    _read_only: ClassVar[frozenset[str]]

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        cls._copied = tuple(name for name, field in cls.model_fields.items() if not field.exclude)
        cls._read_only = frozenset(
            name
            for name, field in cls.model_fields.items()
            if isinstance(field.json_schema_extra, dict) and "readOnly" in field.json_schema_extra
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: Any, handler: GetJsonSchemaHandler, /
    ) -> dict[str, Any]:
        schema = handler(core_schema)
        if handler.mode == "validation":
            parts = handler.resolve_ref_schema(schema).get("properties", {})
            for name, field in cls.model_fields.items():
                for rule in _rules_of(field):
                    parts[name]["description"] += f" {rule}"
        return schema

    @model_validator(mode="before")
    @classmethod
    def _leave_out_read_only(cls, values: Any, info: ValidationInfo) -> Any:
        if cls._read_only and info.context is REQUEST and isinstance(values, dict):
            return {name: value for name, value in values.items() if name not in cls._read_only}
        return values

    @classmethod
    def copy_from(cls, row: object, **fields: Any) -> Self:
        """An instance from a stored row: `fields` as given, the others from the row's attributes.

        Fields with `exclude=True` are left out. Nothing is validated: rows that an older version
        stored must stay readable.
        """
        return super().model_construct(
            **{name: fields[name] if name in fields else getattr(row, name) for name in cls._copied}
        )


def example(**fields: Any) -> ConfigDict:
    """A `model_config` that shows these fields as an example in the document."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


def shown_example(schema: type[BaseModel]) -> Any:
    """The fields that `example` was given; None if the schema has no example."""
    extra: Any = schema.model_config.get("json_schema_extra")
    return extra["examples"][0] if isinstance(extra, dict) else None


def read_only(description: str, *, path: str = "", **extra: Any) -> Any:
    """A field that only the server sets: requests may send it, but it is ignored. Declare the type
    that it has in replies.

    `path` is the name of a path parameter; a value that differs from the parameter's is a 422.
    """
    marks: dict[str, Any] = {"readOnly": True} | ({"x-path-parameter": path} if path else {})
    # A factory keeps the default out of the document: only requests may leave the field out.
    return Field(
        default_factory=lambda: None, description=description, json_schema_extra=marks, **extra
    )


def without_default(schema: dict[str, Any]) -> None:
    """Drop the schema's default: the field is required when creating and optional in updates."""
    schema.pop("default", None)


def required_to_create(schema: type[BaseModel]) -> list[str]:
    """The fields that only a POST needs."""
    return [
        name
        for name, field in schema.model_fields.items()
        if any(getattr(mark, "is_required_to_create", False) for mark in field.metadata)
    ]


def path_mismatches(
    schema: type[BaseModel], values: Mapping[str, Any], path: Mapping[str, Any]
) -> list[str]:
    """The fields that repeat a path parameter but differ from it."""
    return [
        name
        for name, field in schema.model_fields.items()
        if (parameter := _path_parameter_of(field)) in path
        and values.get(name) is not None
        and str(values[name]) != str(path[parameter])
    ]


@cache
def strict_validator(schema: type[BaseModel]) -> SchemaValidator:
    """A strict validator for JSON, for which `"yes"` is not a boolean, and `"7"` and `true` are not
    numbers.

    Forms and query strings contain only strings, so they use the usual validator.
    """
    # The schemas' prebuilt validators are not strict.
    return SchemaValidator(_strict(schema.__pydantic_core_schema__), _use_prebuilt=False)


def _strict(schema: Any) -> Any:
    if isinstance(schema, (list, tuple)):
        return type(schema)(_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return schema
    # `schema` may also map the names of a schema's fields, such as `type`, to their schemas.
    is_strict = schema.get("type") in ("bool", "int", "float")
    strict = {"strict": True} if is_strict else {}
    return {name: _strict(part) for name, part in schema.items()} | strict


def describe_error(error: Any) -> dict[str, str]:
    """`msg` and `type` of a pydantic error; a string's length is in characters.

    Pydantic itself writes "items" if the string may also be null.
    """
    kind = error["type"]
    if not isinstance(error["input"], str) or kind not in {"too_long", "too_short"}:
        return {"msg": error["msg"], "type": kind}
    bound = "at most" if kind == "too_long" else "at least"
    count = error["ctx"].get("max_length") or error["ctx"].get("min_length")
    characters = "character" if count == 1 else "characters"
    return {"msg": f"String should have {bound} {count} {characters}", "type": f"string_{kind}"}
