"""API operations for the language models and encoders that clients connect."""

from typing import Any

from bots.models import Bot
from bots.schemas.language_model import (
    LanguageModelDto,
    LanguageModelQuery,
    LanguageModelsResponse,
    LanguageModelTest,
)
from bots.services import bots, language_models
from chatplatform.api.error_schemas import Error
from chatplatform.api.errors import not_found_in
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import ADMIN, TenantViewSet


class LanguageModelViewSet(TenantViewSet):
    @operation("bot", "Get Language Models", access=ADMIN, returns=LanguageModelsResponse)
    def list(self, query: Page) -> dict[str, Any]:
        """List the language models and encoders that your company has connected, newest first.

        The default model for all bots and the encoder have a null `bot_id`. A bot without a model
        of its own uses the default model or, if there is none, the platform's model, which is not
        listed. API keys are never shown.
        """
        rows = language_models.list_for_client(self.client)
        return page(rows, query, by="-id", schema=LanguageModelDto.from_row)

    @operation("bot", "Set Language Model", access=ADMIN, also={404: Error}, waits=True)
    def store(self, query: LanguageModelQuery, body: LanguageModelDto) -> LanguageModelDto:
        """Set the language model for all of your bots or, with `bot_id`, for one bot; with
        `purpose=embeddings`, set the encoder, with which the search of all bots finds passages.

        Bots use the language model from the next reply on. If it fails to answer a customer, your
        setting `fallback_to_extractive` applies, as it does for the platform's model. Fields left
        out keep their value, or get their default if no model was set. An encoder is used once it
        has encoded all passages: then `indexed_percent` is 100. A new URL or model name starts the
        encoding again. While the encoder fails, the search finds passages only by their words.

        422 if the body's `bot_id` or `purpose` differs from the query (the body may leave them
        out), if an encoder is set with a `bot_id`, or if there is an API key and `base_url` is not
        https.
        """
        row = language_models.store(
            self.client, self._bot(query), body=body, by=self.user, purpose=query.purpose
        )
        return LanguageModelDto.from_row(row)

    @operation("bot", "Remove Language Model", access=ADMIN, status=204, also={404: Error})
    def destroy(self, query: LanguageModelQuery) -> None:
        """Remove the language model or, with `purpose=embeddings`, the encoder, and its API key;
        does nothing if none is connected.

        Bots then use your default model or, without one, the platform's model; if there is no
        model, they quote their documents. Without your own encoder, the search uses the platform's
        encoder: a worker encodes the passages that the platform's encoder has not encoded yet, free
        of charge; until it is done, the search finds these passages only by their words. An encoder
        serves all bots: with a `bot_id`, `purpose=embeddings` removes nothing and the response is a
        204.
        """
        language_models.remove(self.client, self._bot(query), by=self.user, purpose=query.purpose)

    @operation("bot", "Test Language Model", access=ADMIN, also={404: Error}, waits=True)
    def test(self, query: LanguageModelQuery) -> LanguageModelTest:
        """Test the connected language model, which translates one word, or with
        `purpose=embeddings` the encoder, which encodes two words.

        404 if none is connected. The test takes at most 20 seconds and costs no credits, but the
        model's provider may charge for it.
        """
        row = language_models.get(self.client, self._bot(query), purpose=query.purpose)
        return language_models.test(row)

    def _bot(self, query: LanguageModelQuery) -> Bot | None:
        with not_found_in("bot_id"):
            return None if query.bot_id is None else bots.get(self.client, query.bot_id)
