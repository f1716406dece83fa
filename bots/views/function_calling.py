"""API operations for function calling: a bot's functions, their calls, and MCP servers."""

import uuid
from typing import Any

from bots.schemas.function_calling import (
    FunctionCallDecision,
    FunctionCallingConfigDTO,
    FunctionCallingEventDTO,
    FunctionCallingEventsQuery,
    FunctionCallingEventsResponse,
)
from bots.schemas.mcp_server import (
    McpServerChange,
    McpServerDto,
    McpServerRequest,
    McpServersResponse,
)
from bots.services import bots, function_call_approvals, functions, mcp_servers
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import ADMIN, BEARER, TenantViewSet


class FunctionCallingViewSet(TenantViewSet):
    @operation("function-calling", "Get Function Calling Config", access=BEARER)
    def retrieve(self, bot_id: int) -> FunctionCallingConfigDTO:
        """Get the functions that the bot may call: HTTP requests to your systems. Of their secret
        headers, only the names are returned."""
        return functions.describe(bots.get(self.client, bot_id))

    @operation("function-calling", "Upsert Function Calling Config", access=ADMIN, waits=True)
    def upsert(self, bot_id: int, body: FunctionCallingConfigDTO) -> FunctionCallingConfigDTO:
        """Replace the functions that the bot may call: functions left out are removed; tools of MCP
        servers stay.

        A function keeps its secret headers if they are left out. The functions are stored even if
        the bot has no language model to choose them: see `is_available`.
        """
        return functions.replace(bots.get(self.client, bot_id), body=body, by=self.user)


class FunctionCallViewSet(TenantViewSet):
    @operation(
        "function-calling",
        "Get Function Calling Events",
        access=BEARER,
        returns=FunctionCallingEventsResponse,
    )
    def list(self, bot_id: int, query: FunctionCallingEventsQuery) -> dict[str, Any]:
        """List the function calls that the bot requested, with arguments, result and error, newest
        first."""
        rows = function_call_approvals.list_for_bot(bots.get(self.client, bot_id), query)
        return page(rows, query, by="-id", schema=FunctionCallingEventDTO.from_row)

    @operation("function-calling", "Decide Function Call", access=BEARER, also={409: Error})
    def decide(
        self, bot_id: int, call_id: uuid.UUID, body: FunctionCallDecision
    ) -> FunctionCallingEventDTO:
        """Approve or reject a function call that waits for an agent; the first decision counts.

        A worker makes an approved call, and the bot answers the customer with the result; *Get
        Function Calling Events* shows the call and its result. 409 `already_decided` if the call
        was already decided or is older than 24 hours.
        """
        row = function_call_approvals.decide(
            bots.get(self.client, bot_id), call_id, approve=body.approve, by=self.user
        )
        return FunctionCallingEventDTO.from_row(row)


class McpServerViewSet(TenantViewSet):
    @operation("function-calling", "Get MCP Servers", access=BEARER, returns=McpServersResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the MCP servers of the bot with their tools, newest first."""
        rows = mcp_servers.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", schema=mcp_servers.describe)

    @operation(
        "function-calling", "Connect MCP Server", access=ADMIN, status=201, waits=True,
        also={409: Error},
    )  # fmt: skip
    def create(self, bot_id: int, body: McpServerRequest) -> McpServerDto:
        """Connect an MCP server (Model Context Protocol), whose tools the bot can call, and list
        its tools; the bot may call only the tools in `allowed`.

        `name` and `url` are required. To see the tools before choosing, leave out `allowed` and
        choose with *Update MCP Server*. 409 `mcp_unusable` if the server cannot be reached or gives
        no usable answer, `mcp_limit` if the bot has five servers.
        """
        bot = bots.get(self.client, bot_id)
        return mcp_servers.describe(mcp_servers.connect(bot, body=body, by=self.user))

    @operation("function-calling", "Update MCP Server", access=ADMIN, waits=True, also={409: Error})
    def update(self, bot_id: int, mcp_server_id: uuid.UUID, body: McpServerChange) -> McpServerDto:
        """Change an MCP server, switch it off, or choose which of its tools the bot may call.

        Fields left out are kept. 409 `mcp_unusable` if a new URL or token does not work.
        """
        bot = bots.get(self.client, bot_id)
        row = mcp_servers.update(bot, mcp_server_id, body=body, by=self.user)
        return mcp_servers.describe(row)

    @operation(
        "function-calling", "Refresh MCP Server", access=ADMIN, waits=True, also={409: Error}
    )
    def refresh(self, bot_id: int, mcp_server_id: uuid.UUID) -> McpServerDto:
        """Ask an MCP server for its tools again, and store the list.

        The bot can no longer call a chosen tool that has changed or is gone: its `state` in `tools`
        says which. *Update MCP Server* allows a changed one again. 409 `mcp_unusable` if the server
        gives no usable answer; then the stored list stays.
        """
        bot = bots.get(self.client, bot_id)
        return mcp_servers.describe(mcp_servers.refresh(bot, mcp_server_id))

    @operation("function-calling", "Remove MCP Server", access=ADMIN, status=204)
    def destroy(self, bot_id: int, mcp_server_id: uuid.UUID) -> None:
        """Remove an MCP server, its token and the functions of its tools; the log of calls is
        kept."""
        mcp_servers.delete(bots.get(self.client, bot_id), mcp_server_id, by=self.user)
