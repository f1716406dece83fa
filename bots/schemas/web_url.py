"""Request and response schemas of the websites that a bot is trained on."""

from typing import Annotated, Literal

from pydantic import Field

from bots.models import WebPage, WebUrl, WebUrlStatus
from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import InRequest, Moment, Schema, Text, read_only, without_default

# The statuses of a WebPage, and `training` while its document is queued or in training.
ShownPageStatus = Literal["training", "trained", "unchanged", "refused", "failed"]
MAX_SHOWN_PAGES = 50


class WebUrlError(Schema):
    """Why training on a website failed."""

    code: str = Field(
        description="Why the first crawled page failed: a page's `reason`, such as `not_found`;"
        " `no_page_trained` if pages were fetched but none could be trained;"
        " `files_unavailable` (the platform's file storage was unavailable for over an hour) or"
        " `interrupted` (the crawl was interrupted too often)."
    )
    message: str = Field(description="The reason as a sentence.")


class WebPageDto(Schema):
    """One page of the latest crawl."""

    url: str = Field(description="The page's normalized URL.")
    status: ShownPageStatus = Field(
        description="`training`, `trained`, `unchanged` since the previous crawl, `refused` (by the"
        " site, or by a limit or guard of the platform) or `failed`."
    )
    reason: str | None = Field(
        description="Why the page was refused or failed: `blocked` (its URL is not allowed),"
        " `other_host` (it redirects to another website), `too_many_redirects`, `robots` (the"
        " site's robots.txt forbids it), `robots_unreachable` (robots.txt could not be read),"
        " `noindex` (the page asks not to be indexed), `duplicate` (of another page),"
        " `unsupported_type`, `empty`, `too_large`, `page_limit`, `time_limit` or `byte_limit` (of"
        " a crawl), `bot_limit` (of a bot's crawled pages), `not_found`, `http_error`, `timeout`,"
        " `connection_failed`, `malformed`, or the code of a document's error; else null."
    )
    http_status: int | None = Field(
        description="HTTP status of the response; null if there was none."
    )
    fetched_at: Moment = Field(description="When the page was requested.")

    @classmethod
    def from_row(cls, page: WebPage) -> "WebPageDto":
        """An instance from a row annotated by `web_urls.with_shown_status`."""
        return cls.copy_from(
            page,
            status=page.shown_status,  # type: ignore[attr-defined]
            reason=page.shown_reason or None,  # type: ignore[attr-defined]
        )


class PageCounts(Schema):
    """The number of pages of the latest crawl in each status."""

    training: int = Field(0, description="Pages that were fetched and are queued or in training.")
    trained: int = Field(
        0,
        description="Pages that were trained because they are new or have changed.",
    )
    unchanged: int = Field(0, description="Pages that were trained before and have not changed.")
    refused: int = Field(0, description="Pages that were refused; each page's `reason` says why.")
    failed: int = Field(
        0, description="Pages that could not be fetched or read; each page's `reason` says why."
    )


class WebUrlDto(Schema):
    """A website that a bot is trained on: one page, a page and those it links to, or a sitemap."""

    keeps_values = True
    id: int = read_only("The website's id.", path="web_url_id")
    url: Annotated[
        Text,
        InRequest(
            "Required to add a website. 422 if the host does not exist: the host in this document's"
            " example does not.",
            is_required_to_create=True,
        ),
    ] = Field(
        "",
        min_length=1,
        max_length=2_000,
        description="Public http or https URL of a web page or a sitemap; stored without its"
        " fragment and tracking parameters.",
        examples=["https://shop.example/help"],
        json_schema_extra=without_default,
    )
    crawl_depth: int = Field(
        0,
        ge=0,
        le=3,
        description="How many links away from `url` the crawl goes, 0..3; it stays on the same"
        " host, with or without `www.`.",
    )
    refresh_hours: int | None = Field(
        None,
        ge=1,
        le=8_760,
        description="Hours between two crawls, 1..8,760; null, the default: the website is crawled"
        " only once.",
    )
    status: WebUrlStatus = read_only(
        "`queued` (waits for its crawl), `training` (the crawl included), `trained` or `failed`"
        " (see `error`)."
    )
    progress: int = read_only(
        "Progress in percent: 0..49 while pages are fetched, 50..99 while they are trained, then"
        " 100."
    )
    error: WebUrlError | None = read_only("Why the latest crawl failed; else null.")
    page_count: int = read_only("How many pages the latest crawl stored.")
    last_fetched_at: Moment | None = read_only("When the latest crawl ended; null: never.")
    page_counts: PageCounts = read_only("The number of pages in each status.")
    pages: list[WebPageDto] = read_only(
        f"Up to {MAX_SHOWN_PAGES} pages of the latest crawl, failed and refused ones first."
    )

    @classmethod
    def from_row(cls, row: WebUrl) -> "WebUrlDto":
        """An instance from a row annotated by `web_urls.with_pages`."""
        error = WebUrlError(code=row.error_code, message=row.error_message)
        return cls.copy_from(
            row,
            status=WebUrlStatus(row.status),
            error=error if row.error_code else None,
            page_counts=PageCounts.model_construct(
                **{name: getattr(row, f"{name}_pages") for name in PageCounts.model_fields}
            ),
            pages=[WebPageDto.from_row(page) for page in row.shown_pages],  # type: ignore[attr-defined]
        )


class WebUrlsResponse(ListPage[WebUrlDto]):
    """One page of the list of websites, newest first."""
