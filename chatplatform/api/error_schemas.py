"""The schemas of errors in the OpenAPI document."""

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from chatplatform.api.errors import CODES, ApiError, Invalid
from chatplatform.api.schemas import Schema


class ValidationError(Schema):
    """One error in a request."""

    loc: list[str | int] = Field(
        description='Where the error is, such as `["body", "name"]` or `["query", "limit"]`.'
    )
    msg: str = Field(description="What is wrong, in a sentence.")
    type: str = Field(
        description="Machine-readable kind: `missing`, `string_type`, `extra_forbidden`, …"
    )


class HTTPValidationError(Schema):
    """A field is missing or invalid; the error names it. Nothing was changed."""

    detail: list[ValidationError] = Field(description="The errors in the request.")


class Error(Schema):
    """An error. Its `code` determines which of the other fields it has."""

    detail: str = Field(description="A sentence for people: what is wrong, or what to do.")
    code: str = Field(description="A stable, machine-readable code.")
    request_id: str = Field(
        description="The request's id in the platform's logs, as in X-Request-ID."
    )


@cache
def _classes() -> tuple[type[ApiError], ...]:
    """The error classes that set a code, except `Invalid` and its subclasses."""
    return tuple(
        error
        for error in _subclasses(ApiError)
        if "code" in vars(error) and not issubclass(error, Invalid)
    )


@cache
def codes_with_status(status: int) -> frozenset[str]:
    """The codes of errors with this status."""
    return frozenset(error.code for error in _classes() if error.status == status)


@cache
def error_schema() -> type[BaseModel]:
    """The schema of all errors except `Invalid`: every code, and the additional fields of some
    codes."""
    codes = sorted({*CODES.values(), *(error.code for error in _classes())})
    fields: dict[str, Any] = {
        "code": (
            Literal[tuple(codes)] | str,
            Field(description="A stable, machine-readable code; one of these, or a newer one."),
        )
    }
    for error in _classes():
        for name, (kind, description) in error.more.items():
            having = {f"`{other.code}`" for other in _classes() if name in other.more}
            text = f"{description} Only with {', '.join(sorted(having))}."
            fields[name] = (kind, Field(None, description=text))
    return create_model("Error", __base__=Error, __doc__=Error.__doc__, **fields)


def _subclasses(base: type[ApiError]) -> list[type[ApiError]]:
    return [item for child in base.__subclasses__() for item in (child, *_subclasses(child))]
