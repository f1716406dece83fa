"""The messages of the Model Context Protocol: JSON-RPC 2.0."""

from typing import Annotated, Any, Literal

from pydantic import Field

from chatplatform.api.schemas import MAX_NUMBER, JsonObject, Schema, Text, example


class McpRequest(Schema):
    """A request of an MCP client, or a notification, which has no `id`."""

    model_config = example(jsonrpc="2.0", id=1, method="tools/list")

    jsonrpc: Literal["2.0"] = Field(description="Always `2.0`.")
    id: Annotated[int, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)] | Text | None = Field(
        None,
        description="The client's own id for the request, which the response repeats; null or"
        " missing in a notification.",
    )
    method: Text = Field(
        max_length=100,
        description="`initialize`, `server/discover`, `ping`, `tools/list`, `tools/call`, or a"
        " notification.",
    )
    params: JsonObject | None = Field(
        None, description="The method's parameters, as the Model Context Protocol defines them."
    )


class McpResult(Schema):
    """The result of a request."""

    jsonrpc: Literal["2.0"] = Field(description="Always `2.0`.")
    id: int | str = Field(description="The request's id.")
    result: dict[str, Any] = Field(
        description="What the method returned, as the Model Context Protocol defines it."
    )


class McpFault(Schema):
    """The error because of which a request has no result."""

    jsonrpc: Literal["2.0"] = Field(description="Always `2.0`.")
    id: int | str = Field(description="The request's id.")
    error: dict[str, Any] = Field(description="The `code` and `message` of JSON-RPC.")
