"""Views of models of a client's or a bot's own."""

from typing import Any

from bots.models import Bot
from bots.services import bots, language_models
from bots.shapes.language_model import (
    LanguageModelDto,
    LanguageModelQuery,
    LanguageModelsResponse,
    LanguageModelTest,
)
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import ADMIN, TenantViewSet


class LanguageModelViewSet(TenantViewSet):
    @operation("bot", "Get Language Models", access=ADMIN, returns=LanguageModelsResponse)
    def list(self, query: Page) -> dict[str, Any]:
        """The models of the client's and of its bots' own, newest first.

        A bot without one uses the client's; a client without one the platform's.
        """
        rows = language_models.list_for_client(self.client)
        return page(rows, query, by="-id", shape=LanguageModelDto.from_row)

    @operation("bot", "Set Language Model", access=ADMIN, waits=True)
    def store(self, query: LanguageModelQuery, body: LanguageModelDto) -> LanguageModelDto:
        """Set the model that writes for the client, or for the named bot alone.

        It counts from the next reply on. What happens when it fails is as with the platform's.
        """
        bot = self._bot(query)
        row = language_models.store(self.client, bot, body=body, by=self.user)
        return LanguageModelDto.from_row(row)

    @operation("bot", "Remove Language Model", access=ADMIN, status=204)
    def destroy(self, query: LanguageModelQuery) -> None:
        """Forget the model and its key. Without one nothing happens."""
        language_models.remove(self.client, self._bot(query), by=self.user)

    @operation("bot", "Test Language Model", access=ADMIN, waits=True)
    def test(self, query: LanguageModelQuery) -> LanguageModelTest:
        """Ask the stored model to translate one word, and say what came of it.

        404 without one. It costs no credits; the model's provider may bill it. It takes at most
        20 seconds.
        """
        return language_models.test(language_models.get(self.client, self._bot(query)))

    def _bot(self, query: LanguageModelQuery) -> Bot | None:
        return None if query.bot_id is None else bots.get(self.client, query.bot_id)
