"""API operations for the websites that a bot is trained on."""

from typing import Any

from bots.schemas.web_url import WebUrlDto, WebUrlsResponse
from bots.services import bots, web_urls
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import BEARER, TRAINER, TenantViewSet


class WebUrlViewSet(TenantViewSet):
    @operation(
        "AI / train",
        "Add Web Url",
        access=TRAINER,
        status=202,
        also={409: Error},
        waits=True,
        is_atomic=True,
    )
    def create(self, bot_id: int, body: WebUrlDto) -> WebUrlDto:
        """Train the bot on a web page, optionally with the pages it links to, or on the pages of a
        sitemap.

        A worker fetches what the site's robots.txt allows: in a crawl, at most 200 pages are
        stored, 2,000,000 bytes each and 100,000,000 bytes in all, within seven minutes. *Get Web
        Urls* shows the progress. 409 `web_url_exists` if the bot already has this URL,
        `web_url_limit` if it has 50.
        """
        return web_urls.create(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Update Web Url By Id", access=TRAINER, also={409: Error}, waits=True)
    def update(self, bot_id: int, web_url_id: int, body: WebUrlDto) -> WebUrlDto:
        """Change a website that the bot is trained on; fields left out keep their value. A new
        `url` or `crawl_depth` starts a crawl at once.

        The bot uses the old pages until that crawl has ended. Then it deletes those on another host
        than the new `url` and, unless a page failed or was refused or a limit was reached, those
        that it did not find. If it could store no page, it has failed, and all old pages stay. If
        the bot's `hold_back_worse` is true, a deletion may first have to pass a golden run. *Get
        Web Urls* shows the progress. 409 `web_url_exists` if the bot already has this URL.
        """
        bot = bots.get(self.client, bot_id)
        return web_urls.update(bot, web_url_id=web_url_id, body=body, by=self.user)

    @operation("AI / train", "Get Web Urls", access=BEARER, returns=WebUrlsResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the bot's websites with their crawled pages, newest first."""
        rows = web_urls.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", schema=WebUrlDto.from_row)

    @operation("AI / train", "Delete Web Url By", access=TRAINER, status=204)
    def destroy(self, bot_id: int, web_url_id: int) -> None:
        """Delete a website with its crawled pages; the bot stops using them at once."""
        bot = bots.get(self.client, bot_id)
        web_urls.delete(bot, web_url_id=web_url_id, by=self.user)
