"""Request and response schemas of function calling: a bot's configuration and its call log."""

import re
import uuid
from typing import Annotated, Any, Literal

from django.utils.translation import gettext
from pydantic import AfterValidator, Field, model_validator

from bots.models import Function, FunctionCall, FunctionCalling
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import (
    NOT_BLANK,
    InRequest,
    JsonObject,
    Moment,
    Schema,
    Text,
    example,
    read_only,
)

MAX_FUNCTIONS = 20
MAX_HEADERS = 20
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]{0,1998}[\x21-\x7e])?")
# Headers that the connection or this platform sets.
_RESERVED_HEADERS = frozenset(
    {
        "host", "content-length", "connection", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "expect", "accept-encoding", "idempotency-key", "http2-settings",
    }
)  # fmt: skip


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(gettext("“%(name)s” isn't a valid header name") % {"name": name[:60]})
        if name.lower() in _RESERVED_HEADERS:
            raise ValueError(gettext("%(name)s is set by the platform") % {"name": name})
        if not _HEADER_VALUE.fullmatch(value):
            text = gettext("%(name)s needs 1 to 2,000 printable ASCII characters on one line")
            raise ValueError(text % {"name": name})
    if len({name.lower() for name in headers}) != len(headers):
        raise ValueError(gettext("must not list the same header twice"))
    return headers


Headers = Annotated[dict[str, str], Field(max_length=MAX_HEADERS), AfterValidator(_headers)]
Status = Literal["waiting", "running", "succeeded", "failed", "refused", "rejected"]
FunctionName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$", max_length=64)]


class FunctionHttpDTO(Schema):
    """The HTTP request of a function."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = Field(
        description="The HTTP method. Only GET counts as safe, and may be repeated after an"
        " interruption."
    )
    url: Annotated[
        Text,
        InRequest("422 if the host does not exist: the host in this document's example does not."),
    ] = Field(
        min_length=1,
        max_length=2_000,
        description="Public http or https URL. `{name}` in its path or query is replaced by that"
        " argument, percent-encoded; so are `{customer.external_id}`, the customer's id in your"
        " system, and `{chat.id}`, the conversation's id. A call is refused if it lacks an argument"
        " of the path, or uses the `external_id` of a customer who has none.",
        examples=["https://shop.example/customers/{customer.external_id}/orders/{order_id}"],
    )
    headers: Headers = Field(
        default_factory=dict, description="Headers without secrets; at most 20."
    )
    timeout_seconds: int = Field(
        10, ge=1, le=30, description="The time limit for the whole exchange in seconds, 1..30."
    )
    body_template: Text = Field(
        "",
        max_length=10_000,
        description="The request's body: JSON in which `{{name}}` is replaced by that argument:"
        " inside a string by its text, elsewhere by its JSON value. `{{customer.external_id}}` and"
        " `{{chat.id}}` are replaced too. Empty: the body is one object with all arguments. Must be"
        " empty for GET and DELETE, which send no body.",
        examples=['{"order": {{order_id}}, "customer": "{{customer.external_id}}"}'],
    )


def _safe_approval(values: dict[str, Any]) -> Literal["none", "customer"]:
    """The default of `requires_approval`: `none` for GET, which only reads, else `customer`."""
    http: FunctionHttpDTO | None = values.get("http")
    return "none" if http is None or http.method == "GET" else "customer"


class FunctionDTO(Schema):
    """An HTTP request that the bot may make."""

    name: FunctionName = Field(
        description="The function's name for the model and in the log: letters, digits, `_` and"
        " `-`; unique per bot.",
        examples=["get_order_status"],
    )
    description: Text = Field(
        min_length=1,
        max_length=1_000,
        pattern=NOT_BLANK,
        description="What the function does and when to call it. The model chooses functions by"
        " this text.",
    )
    parameters: JsonObject = Field(
        description="JSON Schema 2020-12 of the arguments with `type: object` at the top level; at"
        " most 20,000 characters and 12 levels. References may only point into the schema itself,"
        " and `pattern` is not allowed.",
        examples=[{"type": "object", "properties": {"order_id": {"type": "string"}},
                   "required": ["order_id"], "additionalProperties": False}],
    )  # fmt: skip
    http: FunctionHttpDTO = Field(description="The request that a call makes.")
    secret_headers: Headers | None = Field(
        None,
        exclude=True,
        description="Headers with credentials, stored encrypted and never shown. If left out, the"
        " function of this name keeps its stored ones; 422 if it has any and the scheme, host or"
        " port of the URL changes. `{}` removes them.",
        json_schema_extra={"writeOnly": True},
    )
    secret_header_names: list[str] = read_only("The names of the stored secret headers.")
    requires_approval: Literal["none", "agent", "customer"] = Field(
        default_factory=_safe_approval,
        description="Who must approve each call before it is made. `none`: nobody. `agent`: an"
        " agent, with *Decide Function Call* or on the site. `customer`: the customer, whom the bot"
        " asks. If left out: `none` for GET, `customer` for other methods, which may change data.",
    )

    @classmethod
    def from_row(cls, row: Function, secret_names: list[str]) -> "FunctionDTO":
        return cls.copy_from(
            row, http=FunctionHttpDTO.copy_from(row), secret_header_names=secret_names
        )


class FunctionCallingConfigDTO(Schema):
    """The functions that a bot may call."""

    keeps_values = True
    model_config = example(
        is_enabled=True,
        max_calls_per_reply=5,
        functions=[
            {
                "name": "get_order",
                "description": "Says where an order of the customer is.",
                "parameters": {
                    "type": "object",
                    "properties": {"order_id": {"type": "string", "maxLength": 20}},
                    "required": ["order_id"],
                    "additionalProperties": False,
                },
                "http": {
                    "method": "GET",
                    "url": "https://shop.example/customers/{customer.external_id}/orders/{order_id}",
                    "timeout_seconds": 10,
                },
                "secret_headers": {"Authorization": "Bearer 7d1f0c"},
                "requires_approval": "none",
            }
        ],
    )

    is_enabled: bool = Field(description="Whether the bot calls functions at all.")
    max_calls_per_reply: int = Field(
        5,
        ge=1,
        le=10,
        description="The maximum number of calls per reply, 1..10; further calls are refused.",
    )
    functions: list[FunctionDTO] = Field(
        max_length=MAX_FUNCTIONS,
        description="The functions that you defined; a POST replaces them. At most 20, together"
        " with the bot's tools of MCP servers, which this list does not contain.",
    )
    is_available: bool = read_only(
        "Whether a model can choose functions. Without one, only procedures call them."
    )
    unavailable_reason: str | None = read_only(
        "Why no model can choose functions; null if one can.",
    )
    updated_at: Moment | None = read_only("When the configuration was last changed; null: never.")

    @model_validator(mode="after")
    def _names_differ(self) -> "FunctionCallingConfigDTO":
        if len({function.name for function in self.functions}) != len(self.functions):
            raise ValueError(gettext("each function needs a unique name"))
        return self

    @classmethod
    def from_row(
        cls,
        row: FunctionCalling | None,
        functions: list[FunctionDTO],
        *,
        unavailable_reason: str | None,
    ) -> "FunctionCallingConfigDTO":
        return cls.model_construct(
            is_enabled=bool(row and row.is_enabled),
            max_calls_per_reply=row.max_calls_per_reply if row else 5,
            functions=functions,
            is_available=unavailable_reason is None,
            unavailable_reason=unavailable_reason,
            updated_at=row.updated_at if row else None,
        )


class FunctionCallingEventDTO(Schema):
    """One call that a bot requested, whether it was made or not."""

    id: uuid.UUID = Field(description="UUIDv7; also the Idempotency-Key of the request.")
    bot_id: int = Field(description="The id of the bot that requested the call.")
    chat_id: uuid.UUID | None = Field(
        None,
        description="The conversation in which the call was requested; null: a person tried out the"
        " function.",
    )
    function: str = Field(
        description="The name that the model or the procedure requested, even if no such function"
        " exists."
    )
    arguments: JsonObject = Field(
        description="The arguments from the model or the procedure; if they were not valid JSON,"
        " their text is in `raw`."
    )
    status: Status = Field(
        description="`waiting`: it needs an approval or, if `decided_at` is set, was approved and"
        " will be made. `running`: in progress. `succeeded`: the server responded with 2xx."
        " `failed`: an error of the server or the network. `refused`: the platform's checks did not"
        " allow it. `rejected`: not approved, or not decided within 24 hours."
    )
    http_status: int | None = Field(
        None, description="HTTP status of the response; null if there was none."
    )
    result_excerpt: str = Field(
        description="The response as the model reads it, at most 4,000 characters, without secrets."
    )
    duration_ms: int | None = Field(
        None,
        description="Duration of the request in milliseconds; null if unknown.",
    )
    error: str | None = Field(
        None,
        description="Why the call was refused or failed, or that its result is unknown: a text of"
        " at most 500 characters. For `rejected`: `expired` (not decided in time) or `not"
        " confirmed` (the customer answered neither yes nor no); null if somebody rejected it."
        " Null for all other calls.",
    )
    requires_approval: Literal["none", "agent", "customer"] = Field(
        description="Who must approve the call: `none` (nobody), an `agent` or the `customer`."
    )
    decided_by: int | None = Field(
        None,
        description="The id of the person who approved, rejected or tried out the call; null if"
        " nobody on your team did, for example because the customer decided.",
    )
    decided_at: Moment | None = Field(
        None,
        description="When the call was approved, rejected or tried out; null if nobody decided.",
    )
    created_at: Moment = Field(description="When the call was requested.")

    @classmethod
    def from_row(cls, row: FunctionCall) -> "FunctionCallingEventDTO":
        return cls.copy_from(
            row,
            chat_id=row.conversation_id,
            function=row.function_name,
            error=row.error or None,
            decided_by=row.decided_by_id,
        )


class FunctionCallingEventsQuery(Page):
    """Filters for the log of calls."""

    function: Text | None = Field(None, max_length=200, description="Only calls of this function.")
    status: Status | None = Field(
        None,
        description="Only calls with this status: `waiting` (for an approval), `running`,"
        " `succeeded`, `failed`, `refused` (by the platform's checks) or `rejected` (not"
        " approved).",
    )
    chat_id: uuid.UUID | None = Field(
        None, description="Only calls of the conversation with this id."
    )


class FunctionCallingEventsResponse(ListPage[FunctionCallingEventDTO]):
    """One page of the list of calls, newest first."""


class FunctionCallDecision(Schema):
    """An agent's decision on a call that waits for approval."""

    model_config = example(approve=True)

    approve: bool = Field(description="true: make the call; false: reject it.")
