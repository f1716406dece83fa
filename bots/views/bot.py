"""bot: the bots of a client."""

from typing import Any

from rest_framework.request import Request

from bots.serializers.bot import BotDto, BotsResponse
from bots.serializers.languages import BotLanguageConfigDto
from bots.services import bots, languages
from chatplatform.api import TenantViewSet, operation
from chatplatform.openapi import Error
from chatplatform.pagination import Page, page
from identity.auth import ADMIN, API_KEY, BEARER


class BotViewSet(TenantViewSet):
    @operation("bot", "Get All Bot", access=BEARER, query=Page, returns=BotsResponse)
    def list(self, request: Request, query: Page) -> dict[str, Any]:
        """Your bots, oldest first."""
        return page(bots.list_(self.client), query, shape=BotDto.of)

    @operation("bot", "Get Bot By Id", access=BEARER, returns=BotDto)
    def retrieve(self, request: Request, bot_id: int) -> BotDto:
        """One of your bots."""
        return bots.describe(self.client, bot_id)

    @operation(
        "bot", "Create Bot", access=ADMIN, body=BotDto, returns=BotDto, status=201,
        also={409: Error},
    )  # fmt: skip
    def create(self, request: Request, body: BotDto) -> BotDto:
        """Make a bot. What is left out takes the documented default; at most 200 a client."""
        return bots.create(self.client, given=body)

    @operation("bot", "Update Bot", access=ADMIN, body=BotDto, returns=BotDto)
    def update(self, request: Request, bot_id: int, body: BotDto) -> BotDto:
        """Change the fields that the body names; the others keep their value."""
        return bots.update(bots.get(self.client, bot_id), given=body)


class LanguageViewSet(TenantViewSet):
    """Two operations of the tag `identity` that tell of bots: they are served here, since bots lie
    above that app."""

    @operation(
        "identity", "Get Client Config Languages", access=BEARER, returns=BotLanguageConfigDto
    )
    def retrieve(self, request: Request) -> BotLanguageConfigDto:
        """All languages that your bots are offered in; the default is your company's."""
        return languages.of_client(self.client)

    @operation(
        "identity",
        "Get Client Config Languages By Api Key",
        access=API_KEY,
        returns=BotLanguageConfigDto,
    )
    def retrieve_by_key(self, request: Request) -> BotLanguageConfigDto:
        """The languages of the key's bot; of all bots for a secret key that serves every bot."""
        return languages.of_key(self.key)
