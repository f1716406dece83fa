"""AI / client: suggestions, translation and summaries of texts."""

import uuid
from datetime import UTC, datetime

from chatplatform.api.openapi import Error
from chatplatform.api.operation import Deprecated, operation
from chats.services.core import conversations
from chats.services.insight import assist
from chats.shapes import insight as insight_shapes
from identity.auth import API_KEY, SECRET_KEY, TenantViewSet

OLD_TRANSLATE = Deprecated(
    since=datetime(2026, 11, 1, tzinfo=UTC),
    sunset=datetime(2027, 11, 1, tzinfo=UTC),
    successor="/client/translate",
)


class ClientLanguageViewSet(TenantViewSet):
    @operation(
        "AI / client",
        "Generate intelligent reply suggestions for chat conversation",
        access=SECRET_KEY,
        body_is_optional=True,
        also={402: Error, 503: Error},
        waits=True,
    )
    def suggest(
        self, chat_id: uuid.UUID, body: insight_shapes.SuggestionRequest
    ) -> insight_shapes.ReplySuggestions:
        """Replies to the customer's last message, for an agent to choose from.

        A model writes them from the bot's documents; without one they are the documents' own
        words, and what agents answered to questions like it.
        """
        return assist.suggest(conversations.get_for_key(self.key, chat_id), body)

    @operation(
        "AI / client",
        "Multi-language text translation",
        access=API_KEY,
        also={402: Error, 503: Error},
        waits=True,
    )
    def translate(
        self, body: insight_shapes.TranslationRequest
    ) -> insight_shapes.TranslationResponse:
        """A text in another language. Needs a model: 503 `engine_not_configured` without one."""
        return assist.translate(self.client, body)

    @operation(
        "AI / client",
        "AI translation API",
        access=API_KEY,
        also={402: Error, 503: Error},
        deprecated=OLD_TRANSLATE,
        waits=True,
    )
    def translate_old(
        self, body: insight_shapes.TranslationRequest
    ) -> insight_shapes.TranslationResponse:
        """Use POST /client/translate, which answers the same."""
        return assist.translate(self.client, body)

    @operation(
        "AI / client",
        "Intelligent content summarization with AI",
        access=API_KEY,
        also={402: Error, 503: Error},
        waits=True,
    )
    def summarize(self, body: insight_shapes.SummarizeRequest) -> insight_shapes.SummarizeResponse:
        """A text, or messages, in few words.

        Without a model it is an extract and no composed summary: the text's first sentences, or of
        messages the first request, the latest two and the open questions.
        """
        return assist.summarise(self.client, body)
