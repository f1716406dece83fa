"""API operations for a bot's instructions and their versions."""

from typing import Any

from bots.schemas.prompt import PromptDto, PromptVersion, PromptVersionsResponse
from bots.services import bots, prompt_versions
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import BEARER, TRAINER, TenantViewSet


class PromptViewSet(TenantViewSet):
    @operation("AI / train", "Create Prompt", access=TRAINER)
    def create(self, bot_id: int, body: PromptDto) -> PromptDto:
        """Store a new version of the bot's instructions and make it current; earlier versions are
        kept.

        If the bot's `hold_back_worse` is true, the version may first have to pass a golden run (a
        test with the bot's golden questions): until then, its `is_current` is false.
        """
        bot = bots.get(self.client, bot_id)
        return PromptDto.from_row(prompt_versions.create(bot, body=body, by=self.user))

    @operation("AI / train", "Get Current Prompt", access=BEARER)
    def retrieve(self, bot_id: int, query: PromptVersion) -> PromptDto:
        """Get the bot's current instructions or, with `version`, another version of them; 404 if
        the bot has no instructions, or no version with this number."""
        bot = bots.get(self.client, bot_id)
        if query.version is None:
            return PromptDto.from_row(prompt_versions.get_current(bot))
        return PromptDto.from_row(prompt_versions.get_version(bot, version=query.version))

    @operation("AI / train", "Get Prompt Versions", access=BEARER, returns=PromptVersionsResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the versions of the bot's instructions, newest first."""
        rows = prompt_versions.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-version", schema=PromptDto.from_row)

    @operation("AI / train", "Restore Prompt Version", access=TRAINER)
    def restore(self, bot_id: int, version: int) -> PromptDto:
        """Make an earlier version of the instructions current again, by storing a copy as a new
        version.

        If the version is already current, it is returned unchanged. If the bot's `hold_back_worse`
        is true, the copy may first have to pass a golden run (a test with the bot's golden
        questions): until then, its `is_current` is false.
        """
        bot = bots.get(self.client, bot_id)
        return PromptDto.from_row(prompt_versions.restore(bot, version=version, by=self.user))
