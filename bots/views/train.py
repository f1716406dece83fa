"""AI / train: what a bot is told and trained on."""

from typing import Any

from rest_framework.request import Request

from bots.serializers.train import (
    Body_upload_files_ai__bot_id__train_document_post,
    DocumentDto,
    DocumentsResponse,
    PromptDto,
)
from bots.serializers.web_url import WebUrlDto, WebUrlsResponse
from bots.services import bots, prompts, training, web_urls
from chatplatform.api import Form, TenantViewSet, operation
from chatplatform.openapi import Error
from chatplatform.pagination import Page, page
from identity.auth import BEARER

UPLOAD = Form(Body_upload_files_ai__bot_id__train_document_post, files=("files",))


class PromptViewSet(TenantViewSet):
    @operation("AI / train", "Create Prompt", access=BEARER, body=PromptDto, returns=PromptDto)
    def create(self, request: Request, bot_id: int, body: PromptDto) -> PromptDto:
        """A new version, which the bot follows from now on; the old ones stay."""
        bot = bots.get(self.client, bot_id)
        return PromptDto.of(prompts.create(bot, given=body, by=self.user))

    @operation("AI / train", "Get Current Prompt", access=BEARER, returns=PromptDto)
    def retrieve(self, request: Request, bot_id: int) -> PromptDto:
        """The version that the bot follows; 404 before the first."""
        return PromptDto.of(prompts.get_current(bots.get(self.client, bot_id)))


class DocumentViewSet(TenantViewSet):
    @operation(
        "AI / train", "Upload Files", access=BEARER, body=UPLOAD, returns=DocumentsResponse,
        status=202, also={409: Error},
    )  # fmt: skip
    def create(
        self,
        request: Request,
        bot_id: int,
        body: Body_upload_files_ai__bot_id__train_document_post,
    ) -> dict[str, Any]:
        """Train the bot on files: all of them are accepted, or none.

        A worker reads and indexes them; `Get Files` shows how far it is. Bytes that the bot
        already has give the document that it has.
        """
        documents = training.upload(bots.get(self.client, bot_id), files=body.files)
        return {"items": [DocumentDto.of(one) for one in documents], "next_cursor": None}

    @operation("AI / train", "Delete Document By Id", access=BEARER, status=204)
    def destroy(self, request: Request, bot_id: int, document_id: int) -> None:
        """Forget a document and everything the bot knew from it."""
        training.delete(bots.get(self.client, bot_id), document_id=document_id)

    @operation("AI / train", "Get Files", access=BEARER, query=Page, returns=DocumentsResponse)
    def list(self, request: Request, bot_id: int, query: Page) -> dict[str, Any]:
        """The bot's documents, newest first, with how far their training is."""
        rows = training.of_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", shape=DocumentDto.of)


class WebUrlViewSet(TenantViewSet):
    @operation(
        "AI / train", "Add Web Url", access=BEARER, body=WebUrlDto, returns=WebUrlDto,
        status=202, also={409: Error},
    )  # fmt: skip
    def create(self, request: Request, bot_id: int, body: WebUrlDto) -> WebUrlDto:
        """Train the bot on a page, on the pages linked from it, or on those of a sitemap.

        A worker fetches them as the site's robots.txt allows; `Get Web Urls` shows how far it is.
        """
        return web_urls.add(bots.get(self.client, bot_id), given=body)

    @operation(
        "AI / train", "Update Web Url By Id", access=BEARER, body=WebUrlDto, returns=WebUrlDto,
        also={409: Error},
    )  # fmt: skip
    def update(self, request: Request, bot_id: int, web_url_id: int, body: WebUrlDto) -> WebUrlDto:
        """Change what is named. Another `url` or `crawl_depth` is crawled at once."""
        bot = bots.get(self.client, bot_id)
        return web_urls.update(bot, web_url_id=web_url_id, given=body)

    @operation("AI / train", "Get Web Urls", access=BEARER, query=Page, returns=WebUrlsResponse)
    def list(self, request: Request, bot_id: int, query: Page) -> dict[str, Any]:
        """The bot's addresses, newest first, with what became of their pages."""
        rows = web_urls.of_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", shape=WebUrlDto.of)

    @operation("AI / train", "Delete Web Url By", access=BEARER, status=204)
    def destroy(self, request: Request, bot_id: int, web_url_id: int) -> None:
        """Forget an address and everything the bot knew from its pages."""
        bot = bots.get(self.client, bot_id)
        web_urls.delete(bot, web_url_id=web_url_id, by=self.user)
