"""Crawls the pages of one host within limits, as its robots.txt allows.

The crawler does not touch the database: `crawl()` yields the outcome of each page.
"""

from bots.ingest.crawler.fetcher import USER_AGENT
from bots.ingest.crawler.types import KnownPage, Limits, Outcome, Page
from bots.ingest.crawler.walk import crawl

__all__ = ["USER_AGENT", "KnownPage", "Limits", "Outcome", "Page", "crawl"]
