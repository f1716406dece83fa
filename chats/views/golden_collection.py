"""AI / train: golden questions collected from what customers ask."""

from bots.schemas.golden import GoldenCollected, GoldenCollectRequest, GoldenQuestionDto
from bots.services import bots
from chatplatform.api.operation import operation
from chats.services.insight import golden_candidates
from identity.auth import TRAINER, TenantViewSet


class GoldenCollectViewSet(TenantViewSet):
    @operation("AI / train", "Collect Golden Questions", access=TRAINER)
    def collect(self, bot_id: int, body: GoldenCollectRequest) -> GoldenCollected:
        """Add golden questions from sample questions, your own answers or frequent questions.

        Questions that the bot already has are skipped, as are questions beyond its limit of 100.
        The response has only the questions that were added.
        """
        bot = bots.get(self.client, bot_id)
        rows = golden_candidates.collect(bot, body=body, by=self.user)
        return GoldenCollected(added=[GoldenQuestionDto.from_row(row) for row in rows])
