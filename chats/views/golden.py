"""The view that collects golden questions."""

from bots.services import bots
from bots.shapes.golden import GoldenCollected, GoldenCollectRequest, GoldenQuestionDto
from chatplatform.api.operation import operation
from chats.services.insight import golden_candidates
from identity.auth import TRAINER, TenantViewSet


class GoldenCollectViewSet(TenantViewSet):
    @operation("AI / train", "Collect Golden Questions", access=TRAINER)
    def collect(self, bot_id: int, body: GoldenCollectRequest) -> GoldenCollected:
        """Collect golden questions from samples, your own answers or frequent questions."""
        bot = bots.get(self.client, bot_id)
        rows = golden_candidates.collect(bot, body=body, by=self.user)
        return GoldenCollected(added=[GoldenQuestionDto.from_row(row) for row in rows])
