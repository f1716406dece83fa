"""The shapes of function calling: what a bot may call, and what it called."""

import re
import uuid
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field, model_validator

from bots.models import Function, FunctionCall, FunctionCalling
from chatplatform.api.pagination import Page
from chatplatform.api.shapes import JsonObject, Moment, Shape, Text, example, read_only

MAX_FUNCTIONS = 20
MAX_HEADERS = 20
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]{0,1998}[\x21-\x7e])?")
# What the connection itself or this platform says.
_OURS = frozenset(
    {
        "host", "content-length", "connection", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "expect", "accept-encoding", "idempotency-key", "http2-settings",
    }
)  # fmt: skip


def _headers(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"{name[:60]!r} is not the name of a header")
        if name.lower() in _OURS:
            raise ValueError(f"{name} is set by the platform")
        if not _HEADER_VALUE.fullmatch(value):
            raise ValueError(f"{name} needs 1 to 2,000 printable ASCII characters on one line")
    if len({name.lower() for name in given}) != len(given):
        raise ValueError("must not name a header twice")
    return given


Headers = Annotated[dict[str, str], Field(max_length=MAX_HEADERS), AfterValidator(_headers)]
Status = Literal["waiting", "running", "succeeded", "failed", "refused", "rejected"]
FunctionName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$", max_length=64)]


class FunctionHttpDTO(Shape):
    """Where a function lives on the web, and what it is sent."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = Field(
        description="HTTP method. A GET counts as harmless: it alone may be repeated."
    )
    url: Text = Field(
        min_length=1,
        max_length=2_000,
        description="Public http or https address. `{name}` in its path or query is replaced by"
        " that argument, percent-encoded; also `{customer.external_id}` and `{chat.id}`.",
        examples=["https://shop.example/customers/{customer.external_id}/orders/{order_id}"],
    )
    headers: Headers = Field(
        default_factory=dict, description="Headers that are no secrets; at most 20."
    )
    timeout_seconds: int = Field(
        10, ge=1, le=30, description="Seconds that the whole exchange may take, 1..30."
    )
    body_template: Text = Field(
        "",
        max_length=10_000,
        description="JSON with `{{name}}` where an argument belongs: bare for its JSON value, in a"
        " string for its text; also `{{customer.external_id}}` and `{{chat.id}}`. Empty: the"
        " arguments as one object. Not with GET and DELETE, which send no body.",
        examples=['{"order": {{order_id}}, "customer": "{{customer.external_id}}"}'],
    )


class FunctionDTO(Shape):
    """An HTTP action that the bot may take."""

    name: FunctionName = Field(
        description="Its name for the model and in the log: letters, digits, `_`, `-`; unique in"
        " the bot.",
        examples=["get_order_status"],
    )
    description: Text = Field(
        min_length=1,
        max_length=1_000,
        pattern=r"\S",
        description="What it does and when to use it: the model chooses by this.",
    )
    parameters: JsonObject = Field(
        description="JSON Schema 2020-12 of the arguments, `type: object` at its top; at most"
        " 20,000 characters, 12 levels; references within itself only, no `pattern`.",
        examples=[{"type": "object", "properties": {"order_id": {"type": "string"}},
                   "required": ["order_id"], "additionalProperties": False}],
    )  # fmt: skip
    http: FunctionHttpDTO = Field(description="The request that a call makes.")
    secret_headers: Headers | None = Field(
        None,
        exclude=True,
        description="Headers with credentials, stored encrypted and never shown. Left out: those"
        " stored for this name stay, while scheme, host and port of the address stay; `{}`"
        " removes them.",
        json_schema_extra={"writeOnly": True},
    )
    secret_header_names: list[str] | None = read_only("Names of the stored secret headers.")
    requires_approval: Literal["none", "agent", "customer"] = Field(
        "none", description="Who must agree to each call before it is made."
    )

    @model_validator(mode="before")
    @classmethod
    def _names_are_ours(cls, given: Any) -> Any:
        if isinstance(given, dict) and "secret_header_names" in given:
            raise ValueError("secret_header_names is set by the server")
        return given

    @classmethod
    def from_row(cls, row: Function, secret_names: list[str]) -> "FunctionDTO":
        return cls.model_construct(
            name=row.name,
            description=row.description,
            parameters=row.parameters,
            http=FunctionHttpDTO.model_construct(
                method=cast("Any", row.method),
                url=row.url,
                headers=row.headers,
                timeout_seconds=row.timeout_seconds,
                body_template=row.body_template,
            ),
            secret_header_names=secret_names,
            requires_approval=cast("Any", row.requires_approval),
        )


class FunctionCallingConfigDTO(Shape):
    """What a bot may call."""

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
        5, ge=1, le=10, description="Calls that one reply may ask for, 1..10; more are refused."
    )
    functions: list[FunctionDTO] = Field(
        max_length=MAX_FUNCTIONS,
        description="The functions, at most 20; a POST replaces them all.",
    )
    is_available: bool | None = read_only("Whether the engine in use can call functions.")
    unavailable_reason: str | None = read_only("Which setting is missing, where it cannot.")
    updated_at: Moment | None = read_only("When it was changed last; null: never set.")

    @model_validator(mode="after")
    def _names_differ(self) -> "FunctionCallingConfigDTO":
        if len({one.name for one in self.functions}) != len(self.functions):
            raise ValueError("each function needs a name of its own")
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


class FunctionCallingEventDTO(Shape):
    """One call that a bot asked for, whatever became of it."""

    id: uuid.UUID = Field(description="UUIDv7; also the Idempotency-Key of the request.")
    bot_id: int = Field(description="The bot that asked.")
    chat_id: uuid.UUID | None = Field(None, description="The conversation that it was for.")
    function: str = Field(description="The name that the model asked for, known or not.")
    arguments: JsonObject = Field(
        description="What the model gave; `raw` holds what could not be read as JSON."
    )
    status: Status = Field(
        description="`waiting`: for an approval. `running`: under way. `succeeded`: answered 2xx."
        " `failed`: by the server or the network. `refused`: by our checks. `rejected`: by the"
        " person who was asked, or unanswered for 24 hours."
    )
    http_status: int | None = Field(None, description="What the server answered, if it did.")
    result_excerpt: str = Field(
        description="The answer as the model read it: at most 4,000 characters, secrets removed."
    )
    duration_ms: int | None = Field(None, description="How long the request took.")
    error: str | None = Field(None, description="What went wrong, if anything.")
    requires_approval: Literal["none", "agent", "customer"] = Field(
        description="Who had to agree when it was asked for."
    )
    decided_by: int | None = Field(None, description="The person of yours who decided, if one.")
    decided_at: Moment | None = Field(None, description="When it was approved or rejected.")
    created_at: Moment = Field(description="When the model asked.")

    @classmethod
    def from_row(cls, row: FunctionCall) -> "FunctionCallingEventDTO":
        return cls.model_construct(
            id=row.pk,
            bot_id=row.bot_id,
            chat_id=row.conversation_id,
            function=row.function_name,
            arguments=row.arguments,
            status=cast("Any", row.status),
            http_status=row.http_status,
            result_excerpt=row.result_excerpt,
            duration_ms=row.duration_ms,
            error=row.error or None,
            requires_approval=cast("Any", row.requires_approval),
            decided_by=row.decided_by_id,
            decided_at=row.decided_at,
            created_at=row.created_at,
        )


class FunctionCallingEventsQuery(Page):
    """Which calls to list."""

    function: Text | None = Field(None, max_length=200, description="Only of this name.")
    status: Status | None = Field(None, description="Only in this state.")
    chat_id: uuid.UUID | None = Field(None, description="Only of this conversation.")


class FunctionCallingEventsResponse(Shape):
    """A page of calls, newest first."""

    items: list[FunctionCallingEventDTO] = Field(description="The calls of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")


class FunctionCallDecision(Shape):
    """An agent's word on a call that waits for it."""

    model_config = example(approve=True)

    approve: bool = Field(description="true: make the call. false: it is never made.")
