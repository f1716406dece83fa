"""AI / client: suggestions, translation, summaries of texts; AI / chat: rewriting."""

import uuid
from datetime import UTC, datetime

from chatplatform.api.operation import Deprecated, operation
from chats.schemas import agent_assist as assist_schemas
from chats.services.insight import agent_assist
from chats.views.base import PAID, ChatsViewSet
from identity.auth import BEARER, BEARER_OR_SECRET_KEY, SECRET_KEY

OLD_TRANSLATE = Deprecated(
    since=datetime(2026, 11, 1, tzinfo=UTC),
    sunset=datetime(2027, 11, 1, tzinfo=UTC),
    successor="/client/translate",
)


class AgentAssistViewSet(ChatsViewSet):
    @operation("AI / chat", "Rewrite Reply", access=BEARER, also=PAID, waits=True)
    def rewrite(
        self, chat_id: uuid.UUID, body: assist_schemas.RewriteRequest
    ) -> assist_schemas.RewrittenText:
        """Rewrite a reply before you send it: shorter, friendlier, corrected or translated.

        A language model rewrites it, and the model's tokens are charged. 503
        `engine_not_configured` without a language model, `engine_unavailable` if the model fails,
        or if the new text is in another language than yours (for `translated`, than the
        conversation) or has other figures, links or addresses.
        """
        return agent_assist.rewrite(self._chat(chat_id), body)

    @operation(
        "AI / client",
        "Generate intelligent reply suggestions for chat conversation",
        access=BEARER_OR_SECRET_KEY,
        body_is_optional=True,
        also=PAID,
        waits=True,
    )
    def suggest(
        self, chat_id: uuid.UUID, body: assist_schemas.SuggestionRequest
    ) -> assist_schemas.ReplySuggestions:
        """Suggest replies to the customer's open question, for an agent to choose from.

        A language model writes them from the bot's documents, and the model's tokens are charged.
        Without a language model, the suggestions are quotations from the documents and cost 1
        credit. If no question is open, there are no suggestions and nothing is charged.
        """
        return agent_assist.suggest(self._chat(chat_id), body)

    @operation(
        "AI / client", "Multi-language text translation", access=BEARER_OR_SECRET_KEY,
        also={**PAID, 404: None},
        waits=True,
    )  # fmt: skip
    def translate(
        self, body: assist_schemas.TranslationRequest
    ) -> assist_schemas.TranslationResponse:
        """Translate a text with a language model, whose tokens are charged; 503
        `engine_not_configured` without a language model."""
        return agent_assist.translate(self.client, body)

    @operation(
        "AI / client",
        "AI translation API",
        access=SECRET_KEY,
        also={**PAID, 404: None},
        deprecated=OLD_TRANSLATE,
        waits=True,
    )
    def translate_old(
        self, body: assist_schemas.TranslationRequest
    ) -> assist_schemas.TranslationResponse:
        """Translate a text. Use POST /client/translate instead, which does the same; both need a
        language model: 503 `engine_not_configured` without one."""
        return agent_assist.translate(self.client, body)

    @operation(
        "AI / client",
        "Intelligent content summarization with AI",
        access=SECRET_KEY,
        also=PAID,
        waits=True,
    )
    def summarize(self, body: assist_schemas.SummarizeRequest) -> assist_schemas.SummarizeResponse:
        """Summarize a text or messages.

        A language model's tokens are charged. Without a language model, the summary costs 1 credit
        and is an extract: from a text, the first sentences; from messages, the first request, the
        last two messages and the open questions.
        """
        return agent_assist.summarize(self.client, body)
