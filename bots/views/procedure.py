"""API operations for a bot's procedures."""

from bots.schemas.procedure import Procedures
from bots.services import bots, procedures
from chatplatform.api.operation import operation
from identity.auth import BEARER, TRAINER, TenantViewSet


class ProcedureViewSet(TenantViewSet):
    @operation("AI / train", "Update Procedures", access=TRAINER)
    def update(self, bot_id: int, body: Procedures) -> Procedures:
        """Replace the bot's procedures: what the bot does step by step when customers want
        something.

        422 if a step is invalid or calls a function that the bot does not have; the error names the
        line.
        """
        return procedures.update(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Get Procedures", access=BEARER)
    def retrieve(self, bot_id: int) -> Procedures:
        """Get the bot's procedures: what the bot does step by step when customers want
        something."""
        return Procedures.from_bot(bots.get(self.client, bot_id))
