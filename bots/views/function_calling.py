"""API operations of the tag `function-calling`."""

import uuid
from typing import Any

from bots.services import bots, function_calls, functions
from bots.shapes.function_calling import (
    FunctionCallDecision,
    FunctionCallingConfigDTO,
    FunctionCallingEventDTO,
    FunctionCallingEventsQuery,
    FunctionCallingEventsResponse,
)
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import page
from identity.auth import ADMIN, BEARER, TenantViewSet


class FunctionCallingViewSet(TenantViewSet):
    @operation("function-calling", "Get Function Calling Config", access=BEARER)
    def retrieve(self, bot_id: int) -> FunctionCallingConfigDTO:
        """The functions that the bot may call, with only the names of secret headers."""
        return functions.describe(bots.get(self.client, bot_id))

    @operation("function-calling", "Upsert Function Calling Config", access=ADMIN, waits=True)
    def upsert(self, bot_id: int, body: FunctionCallingConfigDTO) -> FunctionCallingConfigDTO:
        """Replace the whole configuration.

        A function keeps its secret headers if they are left out. The configuration is stored even
        if the engine in use cannot call functions; `is_available` tells whether it can.
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
        """All calls that the bot requested, with arguments, result and error, newest first."""
        rows = function_calls.list_for_bot(bots.get(self.client, bot_id), query)
        return page(rows, query, by="-id", shape=FunctionCallingEventDTO.from_row)

    @operation("function-calling", "Decide Function Call", access=BEARER, also={409: Error})
    def decide(
        self, bot_id: int, call_id: uuid.UUID, body: FunctionCallDecision
    ) -> FunctionCallingEventDTO:
        """Approve or reject a call that waits for an agent; the first decision counts.

        A worker makes an approved call, and the bot answers with its result. 409 `already_decided`
        if the call was already decided or is older than 24 hours.
        """
        row = function_calls.decide(
            bots.get(self.client, bot_id), call_id, approve=body.approve, by=self.user
        )
        return FunctionCallingEventDTO.from_row(row)
