"""The shapes of errors in the OpenAPI document: one for each set of fields; `Error` unites them."""

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from chatplatform.api.errors import CODES, ApiError, Invalid
from chatplatform.api.shapes import Shape


class ValidationError(Shape):
    """One thing wrong with a request."""

    loc: list[str | int] = Field(
        description='The place, such as `["body", "name"]` or `["query", "limit"]`.'
    )
    msg: str = Field(description="What is wrong, in a sentence.")
    type: str = Field(
        description="Machine-readable kind: `missing`, `string_type`, `extra_forbidden`, …"
    )


class HTTPValidationError(Shape):
    """The request does not fit its documented shape; nothing was changed."""

    detail: list[ValidationError] = Field(description="All faults of the request.")


class Error(Shape):
    """A refusal or a fault; the `code` determines the further fields."""

    detail: str = Field(description="A sentence that says what to do.")
    code: str = Field(description="Stable, machine-readable kind.")
    request_id: str = Field(description="The request's id in our logs; also in X-Request-ID.")


@cache
def shapes_of_errors() -> list[type[BaseModel]]:
    """One shape for each set of further fields, with the codes that carry them."""
    codes: dict[type[ApiError], set[str]] = {ApiError: {*CODES.values()}}
    for refusal in _subclasses(ApiError):
        if "code" in vars(refusal) and not issubclass(refusal, Invalid):
            declarer = next(base for base in refusal.__mro__ if "more" in vars(base))
            codes.setdefault(declarer, set()).add(refusal.code)
    return [_shape(declarer, codes[declarer]) for declarer in sorted(codes, key=_name)]


def _subclasses(base: type[ApiError]) -> list[type[ApiError]]:
    return [item for child in base.__subclasses__() for item in (child, *_subclasses(child))]


def _name(declarer: type[ApiError]) -> str:
    if declarer is ApiError:
        return "PlainError"
    return declarer.__name__.removesuffix("Error") + "Error"


def _shape(declarer: type[ApiError], codes: set[str]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        name: (kind, Field(description=description))
        for name, (kind, description) in declarer.more.items()
    }
    described = Field(description="Stable, machine-readable kind.")
    fields["code"] = (Literal[tuple(sorted(codes))], described)
    doc = "A refusal or a fault without further fields."
    if declarer is not ApiError:
        doc = declarer.__doc__ or declarer.detail
    return create_model(_name(declarer), __base__=Error, __doc__=doc, **fields)
