"""The shapes of web pages that a bot learns from."""

from typing import Any, Literal

from pydantic import Field

from bots.models import WebPage, WebUrl, WebUrlStatus
from chatplatform.api.shapes import Moment, Shape, Text, read_only

# As a WebPage's status, and while a worker still learns what was fetched.
ShownPageStatus = Literal["training", "trained", "unchanged", "refused", "failed"]
MAX_SHOWN_PAGES = 50


def _without_default(schema: dict[str, Any]) -> None:
    """Needed to add one, left out to keep it: neither is a default."""
    schema.pop("default", None)


class WebUrlError(Shape):
    """Why nothing could be learned from an address."""

    code: str = Field(
        description="The reason of the first page, such as `not_found`, `robots` or `timeout`;"
        " `no_page_trained` where pages were fetched and none held text; `interrupted`."
    )
    message: str = Field(description="The same in a sentence.")


class WebPageDto(Shape):
    """What the latest crawl found at one address."""

    url: str = Field(description="The page's address, normalized.")
    status: ShownPageStatus = Field(
        description="`training`, `trained`, `unchanged` since the crawl before, `refused` (by its"
        " site, or by a limit or guard of ours) or `failed`."
    )
    reason: str | None = Field(
        description="Why it was refused or failed: `blocked`, `other_host`, `too_many_redirects`,"
        " `robots`, `robots_unreachable`, `noindex`, `duplicate`, `unsupported_type`, `empty`,"
        " `too_large`, `page_limit`, `time_limit`, `byte_limit`, `bot_limit`, `not_found`,"
        " `http_error`, `timeout`, `connection_failed`, `malformed`, or the code of a document's"
        " error; else null."
    )
    http_status: int | None = Field(description="Status of its answer; null where there was none.")
    fetched_at: Moment = Field(description="When it was asked for.")

    @classmethod
    def from_row(cls, page: WebPage) -> "WebPageDto":
        """A row with the `shown_status` and `shown_reason` of `web_urls.with_shown_status`."""
        return cls.model_construct(
            url=page.url,
            status=page.shown_status,  # type: ignore[attr-defined]
            reason=page.shown_reason or None,  # type: ignore[attr-defined]
            http_status=page.http_status,
            fetched_at=page.fetched_at,
        )


class PageCounts(Shape):
    """Pages of the latest crawl by what became of them."""

    training: int = Field(0, description="Fetched; a worker learns them.")
    trained: int = Field(0, description="Known to the bot, new or changed.")
    unchanged: int = Field(0, description="Known to the bot, as they were.")
    refused: int = Field(0, description="Not taken; see their reasons.")
    failed: int = Field(0, description="Could not be had or read; see their reasons.")


class WebUrlDto(Shape):
    """An address that a bot learns from: one page, the pages linked from it, or a sitemap."""

    id: int | None = read_only("The address's id.")
    url: Text = Field(
        "",
        min_length=1,
        max_length=2_000,
        description="A public http or https address of a page or of a sitemap; kept normalized:"
        " without fragment and tracking parameters. Needed to add one.",
        examples=["https://shop.example/help"],
        json_schema_extra=_without_default,
    )
    crawl_depth: int = Field(
        0,
        ge=0,
        le=3,
        description="How many links away from `url` pages are read, 0..3, on its host alone.",
    )
    refresh_hours: int | None = Field(
        None, ge=1, le=8_760, description="Hours after which it is read again; null: never."
    )
    status: WebUrlStatus | None = read_only(
        "`queued`, `training` (crawled or learned), `trained` or `failed` (see `error`)."
    )
    progress: int | None = read_only("How far it is, 0..100; up to 50 pages are fetched.")
    error: WebUrlError | None = read_only("Why the latest crawl brought nothing; else null.")
    page_count: int | None = read_only("Pages that the latest crawl found and kept.")
    last_fetched_at: Moment | None = read_only("When the latest crawl ended; null: not yet.")
    page_counts: PageCounts | None = read_only("How many pages there are of each status.")
    pages: list[WebPageDto] | None = read_only(
        f"Up to {MAX_SHOWN_PAGES} pages of the latest crawl, those with a reason first."
    )

    @classmethod
    def from_row(cls, row: WebUrl) -> "WebUrlDto":
        """A row with the pages and counts of `web_urls.with_pages`."""
        error = WebUrlError(code=row.error_code, message=row.error_message)
        return cls.model_construct(
            id=row.pk,
            url=row.url,
            crawl_depth=row.crawl_depth,
            refresh_hours=row.refresh_hours,
            status=WebUrlStatus(row.status),
            progress=row.progress,
            error=error if row.error_code else None,
            page_count=row.page_count,
            last_fetched_at=row.last_fetched_at,
            page_counts=PageCounts.model_construct(
                **{name: getattr(row, f"{name}_pages") for name in PageCounts.model_fields}
            ),
            pages=[WebPageDto.from_row(page) for page in row.shown_pages],  # type: ignore[attr-defined]
        )


class WebUrlsResponse(Shape):
    """A page of addresses, newest first."""

    items: list[WebUrlDto] = Field(description="The addresses of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")
