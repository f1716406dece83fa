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
        """List the models and encoders that your company has connected, newest first.

        The default model for all bots and the encoder have a null `bot_id`. A bot without its own
        model uses the default model or, if there is none, the platform's, which is not listed. API
        keys are never shown.
        """
        rows = language_models.list_for_client(self.client)
        return page(rows, query, by="-id", schema=LanguageModelDto.from_row)

    @operation("bot", "Set Language Model", access=ADMIN, also={404: Error}, waits=True)
    def store(self, query: LanguageModelQuery, body: LanguageModelDto) -> LanguageModelDto:
        """Set the default model for all of your bots or, with `bot_id`, one bot's own model.

        It is used from the next reply on. Its failures are handled like those of the platform's
        model. Settings left out keep their value, or get their default in a new model.

        `purpose=embeddings` sets the encoder for all of your bots, so a `bot_id` is a 422. The
        encoder is used once it has encoded all passages (`indexed_percent`), which starts again
        after a change of the URL or model; while it fails, the search uses words only.

        422 if the body's `bot_id` or `purpose` differs from the query's; the body may leave them
        out. 422 for a key with an http URL.
        """
        row = language_models.store(
            self.client, self._bot(query), body=body, by=self.user, purpose=query.purpose
        )
        return LanguageModelDto.from_row(row)

    @operation("bot", "Remove Language Model", access=ADMIN, status=204, also={404: Error})
    def destroy(self, query: LanguageModelQuery) -> None:
        """Remove the model and its key; does nothing if none is connected.

        Bots then use your default model or, without one, the platform's; without any, they quote
        their documents. Without your own encoder, the search uses the platform's: a worker encodes
        the passages that lack its vectors, free of charge; until it is done, the search finds these
        passages only by their words. An encoder serves all bots, so `purpose=embeddings` with a
        `bot_id` finds none: a 204, and nothing is removed.
        """
        language_models.remove(self.client, self._bot(query), by=self.user, purpose=query.purpose)

    @operation("bot", "Test Language Model", access=ADMIN, also={404: Error}, waits=True)
    def test(self, query: LanguageModelQuery) -> LanguageModelTest:
        """Test the stored model: it translates one word; an encoder encodes two.

        404 if none is connected. The test takes at most 20 seconds and costs no credits, but the
        model's provider may charge for it.
        """
        row = language_models.get(self.client, self._bot(query), purpose=query.purpose)
        return language_models.test(row)

    def _bot(self, query: LanguageModelQuery) -> Bot | None:
        with not_found_in("bot_id"):
            return None if query.bot_id is None else bots.get(self.client, query.bot_id)
