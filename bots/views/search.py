"""The API operation that searches a bot's content."""

from bots.language import detection
from bots.schemas.search import ContentQuery, FoundContent, FoundPassage
from bots.services import bots, retrieval
from chatplatform.api.errors import NotFound
from chatplatform.api.operation import operation
from identity.auth import BEARER_OR_SECRET_KEY, TenantViewSet


class ContentSearchViewSet(TenantViewSet):
    @operation("AI / train", "Search Content", access=BEARER_OR_SECRET_KEY)
    def search(self, bot_id: int, query: ContentQuery) -> FoundContent:
        """Find the passages of the bot's content that best answer a question; costs no credits.

        The bot uses the same search to answer customers.
        """
        bot = bots.get(self.client, bot_id)
        if self.caller.key and self.caller.key.bot_id not in {None, bot.pk}:
            raise NotFound
        language = query.language or detection.detect(
            query.q, default=bot.default_language, offered=bot.languages
        )
        result = retrieval.search(bot, query.q, language=language, limit=query.limit)
        passages = [
            FoundPassage(
                document_id=hit.passage.document_id,
                title=hit.passage.title,
                url=hit.passage.url or None,
                page=hit.passage.page,
                section=hit.passage.heading or None,
                text=hit.passage.text,
                score=round(float(hit.score), 4),
            )
            for hit in result.hits
        ]
        return FoundContent(passages=passages, confidence=round(float(result.confidence), 4))
