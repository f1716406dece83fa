"""API operations for bots, and for the languages that they support."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from bots.schemas.bot import BotDto, BotLanguageConfigDto, BotsResponse, ToggleDisableBotDto
from bots.schemas.widget import (
    BotConfigDto,
    BotIdentitySecret,
    SampleQuestions,
    SampleQuestionsQuery,
    SampleQuestionsResponse,
    WidgetQuery,
)
from bots.services import bots, supported_languages, visitor_identity, welcome, widget_config
from chatplatform.api.error_schemas import Error
from chatplatform.api.errors import json_response
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import ADMIN, API_KEY, BEARER, BEARER_OR_API_KEY, TenantViewSet

# How many seconds a browser caches a configuration.
CONFIG_SECONDS = 60


class BotViewSet(TenantViewSet):
    @operation(
        "bot",
        "Get Config By Api Key With Auth",
        access=API_KEY,
        returns=BotConfigDto,
        also={304: None, 404: Error},
    )
    def config(self, request: HttpRequest, query: WidgetQuery) -> HttpResponse:
        """Get the configuration of a bot's widget, with the widget's texts in one language.

        Cache it as the header `Cache-Control` says; then send its `ETag` as `If-None-Match`: 304 if
        nothing has changed. A public key works in browsers only on the hosts in the bot's
        `allowed_domain`: 403 if the header `Origin` names another host. A disabled bot has a
        configuration too, since people answer its conversations.
        """
        bot = bots.for_key(self.key, bot_id=query.bot_id)
        result = widget_config.for_bot(bot, language=query.language)
        tag = widget_config.etag(result)
        headers = {
            "ETag": tag,
            "Cache-Control": f"private, max-age={CONFIG_SECONDS}",
            "Vary": "API-KEY",
        }
        if _matches(request.headers.get("If-None-Match", ""), tag):
            return HttpResponse(status=304, headers=headers)
        return json_response(result, headers=headers)

    @operation("bot", "Get All Bot", access=BEARER, returns=BotsResponse)
    def list(self, query: Page) -> dict[str, Any]:
        """List your bots with their settings, including disabled ones, oldest first."""
        return page(bots.list_for_client(self.client), query, schema=BotDto.from_row)

    @operation("bot", "Get Bot By Id", access=BEARER)
    def retrieve(self, bot_id: int) -> BotDto:
        """Get one of your bots, with all of its settings."""
        return bots.describe(self.client, bot_id)

    @operation("bot", "Create Bot", access=ADMIN, status=201, also={409: Error})
    def create(self, body: BotDto) -> BotDto:
        """Create a bot; fields left out get their defaults.

        409 `bot_limit` if you already have 200 bots.
        """
        return bots.create(self.client, body=body, by=self.user)

    @operation("bot", "Update Bot", access=ADMIN)
    def update(self, bot_id: int, body: BotDto) -> BotDto:
        """Change a bot's settings; fields left out keep their value. The response is the whole
        bot."""
        return bots.update(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("bot", "Toggle Disable Bot", access=ADMIN)
    def toggle_disable(self, bot_id: int, body: ToggleDisableBotDto) -> BotDto:
        """Disable a bot, so that people answer its conversations, or enable it again.

        While it is disabled, new conversations go to the queue; a conversation that the bot has
        goes to the queue when the customer next writes. When the bot is enabled again,
        conversations in the queue stay there. The bot's `agent_reply` is not changed: while it is
        true, people answer new conversations even if the bot is enabled.
        """
        bot = bots.get(self.client, bot_id)
        return bots.set_disabled(bot, is_disabled=body.is_disabled, by=self.user)

    @operation(
        "bot", "Replace Bot Identity Secret", access=ADMIN, status=201, gives_credentials=True
    )
    def replace_identity_secret(self, bot_id: int) -> BotIdentitySecret:
        """Create the secret with which your server signs customers' ids; it is shown only once.

        Sign `external_id` with it for `identity_signature`. Signatures with the previous secret
        become invalid.
        """
        secret = visitor_identity.replace_secret(bots.get(self.client, bot_id), by=self.user)
        return BotIdentitySecret(secret=secret)

    @operation("bot", "Delete Bot", access=ADMIN, status=204, also={409: Error})
    def destroy(self, bot_id: int) -> None:
        """Delete a bot with its documents and revoke its keys.

        409 `delete_not_available` if the bot's `delete_available` is false (*Update Bot* changes
        it); 409 `bot_has_chats` if the bot has any conversations, even ended ones or test
        conversations (previews), since they would be lost: disable the bot instead.
        """
        bots.delete(bots.get(self.client, bot_id), by=self.user)

    @operation("bot", "Get Bot Sample Questions", access=BEARER_OR_API_KEY)
    def sample_questions(self, bot_id: int, query: SampleQuestionsQuery) -> SampleQuestionsResponse:
        """Get the questions that the widget suggests to customers: the questions that you wrote, in
        your order.

        `language` selects the questions in that language. If you wrote none, the response has up to
        six questions that were found in the trained documents, starting with important documents.
        """
        key = self.caller.key
        bot = bots.for_key(key, bot_id=bot_id) if key else bots.get(self.client, bot_id)
        items = welcome.questions(bot, language=query.language)
        return SampleQuestionsResponse(items=items, next_cursor=None)

    @operation("bot", "Update Bot Sample Questions", access=ADMIN)
    def replace_questions(self, bot_id: int, body: SampleQuestions) -> SampleQuestionsResponse:
        """Replace the questions that the widget suggests.

        If you send an empty list, the response's `items` are empty, and the widget suggests
        questions from the documents. 422 if a question is listed twice in one language, or if the
        bot has `languages` and the question's language is not one of them.
        """
        bot = bots.get(self.client, bot_id)
        items = welcome.replace_questions(bot, body=body, by=self.user)
        return SampleQuestionsResponse(items=items, next_cursor=None)


class LanguageViewSet(TenantViewSet):
    """Operations of the tag `identity` that need the app `bots`, which is above `identity`."""

    @operation("identity", "Get Client Config Languages", access=BEARER)
    def retrieve(self) -> BotLanguageConfigDto:
        """Get your company's languages: the languages that you have set or, if you have set none,
        those that your enabled bots speak."""
        return supported_languages.of_client(self.client)

    @operation("identity", "Update Client Config Languages", access=ADMIN)
    def update(self, body: BotLanguageConfigDto) -> BotLanguageConfigDto:
        """Set your company's languages and its default language; new bots get them.

        Existing bots keep their languages. If `languages` is empty, your company's languages are
        those that your enabled bots speak.
        """
        return supported_languages.update(self.client, body=body, by=self.user)

    @operation("identity", "Get Client Config Languages By Api Key", access=API_KEY)
    def retrieve_by_key(self) -> BotLanguageConfigDto:
        """Get the languages of the key's bot, or your company's if the key serves all bots."""
        return supported_languages.of_key(self.key)


def _matches(if_none_match: str, tag: str) -> bool:
    """Whether an If-None-Match header (RFC 9110, 13.1.2) contains this ETag."""
    names = {part.strip().removeprefix("W/") for part in if_none_match.split(",")}
    return tag in names or names == {"*"}
