"""Request and response schemas of a bot's MCP servers."""

import uuid
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from bots.models import Function, McpServer
from bots.schemas.function_calling import MAX_FUNCTIONS
from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import NOT_BLANK, JsonObject, Moment, Schema, Text, example, read_only

ToolState = Literal["allowed", "not_allowed", "changed", "gone", "unusable"]


class McpToolChoice(Schema):
    """A tool that the bot may call."""

    name: Text = Field(min_length=1, max_length=200, description="The tool's name on its server.")
    requires_approval: Literal["none", "agent", "customer"] = Field(
        "none",
        description="Who must approve each call before it is made. `none`: nobody. `agent`: an"
        " agent, with *Decide Function Call* or on the site. `customer`: the customer, whom the bot"
        " asks.",
    )
    version: Text | None = Field(
        None,
        max_length=64,
        description="The `version` of the tool that you reviewed: 422 if the tool has changed"
        " since. If left out, this is not checked.",
    )


class McpServerRequest(Schema):
    """A server whose tools a bot may call."""

    model_config = example(name="Shop", url="https://shop.example/mcp", token="7d1f0c")

    name: Text | None = Field(
        None,
        min_length=1,
        max_length=60,
        pattern=NOT_BLANK,
        description="The server's name; unique per bot.",
    )
    url: Text | None = Field(
        None,
        max_length=2_000,
        pattern=r"^https?://[^\s?#]+$",
        description="Public http or https URL of the server's streamable HTTP endpoint, without a"
        " query or fragment.",
    )
    token: Text | None = Field(
        None,
        max_length=2_000,
        pattern=r"^[\x21-\x7e]*$",
        description="The bearer token for the server, if it needs one. Stored encrypted, never"
        " shown, and sent only over https. If a change leaves it out, the stored token is kept; 422"
        " if there is one and the scheme, host or port of the URL changes. An empty string removes"
        " it.",
        json_schema_extra={"writeOnly": True},
    )
    is_enabled: bool | None = Field(
        None,
        description="Whether the bot may call the server's tools; true for a new server. While"
        " false, the choice of tools is kept.",
    )
    allowed: list[McpToolChoice] | None = Field(
        None,
        max_length=MAX_FUNCTIONS,
        description="The tools that the bot may call, at most 20 together with its other functions;"
        " they replace those chosen before. If left out, a new server has none, and a change keeps"
        " those chosen before. Choosing tools enables function calling if it was never configured;"
        " while function calling is disabled, no tool is called.",
    )


class McpServerChange(McpServerRequest):
    """A change to an MCP server; fields left out are kept."""

    id: uuid.UUID = read_only("The server's id.", path="mcp_server_id")
    has_token: bool = read_only("Whether a token is stored.")
    tools: list[JsonObject] = read_only(
        "The server's tools, and the chosen ones that it no longer offers.",
    )
    listed_at: Moment = read_only("When the server's tools were last read.")
    created_at: Moment = read_only("When the server was connected.")


class McpToolDto(Schema):
    """A tool of an MCP server."""

    name: str = Field(description="The tool's name on its server.")
    description: str = Field(description="What the tool does, in the server's words.")
    parameters: JsonObject = Field(description="JSON Schema of the tool's arguments.")
    version: str = Field(
        description="A hash of the tool's name, description and parameters: it changes with them.",
    )
    state: ToolState = Field(
        description="`allowed`: the bot may call the tool. `not_allowed`: it was not chosen."
        " `changed`: it was chosen, but has changed since and is refused until it is chosen again."
        " `gone`: it was chosen, but the server no longer offers it. `unusable`: it cannot be"
        " chosen; `problem` says why."
    )
    requires_approval: Literal["none", "agent", "customer"] | None = Field(
        description="Who must approve each call: `none` (nobody), an `agent` or the `customer`;"
        " null: the tool is not chosen."
    )
    function: str | None = Field(
        description="The tool's name for the model and in the log; null: the tool is not chosen."
    )
    problem: str | None = Field(description="Why the tool cannot be chosen; null if it can.")


_TOOL = {
    "name": "find_parcel", "description": "Find a parcel.", "version": "9f86d081884c7d65",
    "parameters": {"type": "object", "properties": {"number": {"type": "string"}}},
    "state": "allowed", "requires_approval": "none", "function": "find_parcel", "problem": None,
}  # fmt: skip


class McpServerDto(Schema):
    """An MCP server of a bot, with the tools that it last offered."""

    id: uuid.UUID = Field(description="The server's id.")
    name: str = Field(description="The server's name.", examples=["Shop"])
    url: str = Field(description="The server's URL.", examples=["https://shop.example/mcp"])
    has_token: bool = Field(description="Whether a token is stored.")
    is_enabled: bool = Field(description="Whether the bot may call the chosen tools.")
    tools: list[McpToolDto] = Field(
        description="The server's tools, and the chosen ones that it no longer offers.",
        examples=[[_TOOL]],
    )
    listed_at: Moment = Field(description="When the server's tools were last read.")
    created_at: Moment = Field(description="When the server was connected.")

    @classmethod
    def from_server(cls, row: McpServer, functions: Sequence[Function]) -> "McpServerDto":
        chosen = {function.tool: function for function in functions}
        tools = [_shown(tool, chosen.pop(tool["name"], None)) for tool in row.tools]
        return cls.copy_from(
            row,
            has_token=bool(row.token),
            tools=[*tools, *(_gone(function) for function in chosen.values())],
        )


class McpServersResponse(ListPage[McpServerDto]):
    """One page of the list of MCP servers, newest first."""


def _shown(tool: JsonObject, function: Function | None) -> McpToolDto:
    state: ToolState = "not_allowed"
    if tool["problem"]:
        state = "unusable"
    elif function:
        state = "changed" if function.needs_review else "allowed"
    return _tool(tool, function, state)


def _gone(function: Function) -> McpToolDto:
    tool = {
        "name": function.tool, "description": function.description,
        "parameters": function.parameters, "version": function.tool_version, "problem": "",
    }  # fmt: skip
    return _tool(tool, function, "gone")


def _tool(tool: JsonObject, function: Function | None, state: ToolState) -> McpToolDto:
    approval: Any = function.requires_approval if function else None
    return McpToolDto.model_construct(
        **{name: tool[name] for name in ("name", "description", "parameters", "version")},
        state=state,
        requires_approval=approval,
        function=function.name if function else None,
        problem=tool["problem"] or None,
    )
