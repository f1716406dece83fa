"""Crawling: the pages of one host, fetched within limits and as its robots.txt allows.

Knows HTTP and markup but no rows: `crawl()` yields the outcome of each page.
"""

from bots.knowledge.crawler.fetcher import USER_AGENT
from bots.knowledge.crawler.types import KnownPage, Limits, Outcome, Page
from bots.knowledge.crawler.walk import crawl

__all__ = ["USER_AGENT", "KnownPage", "Limits", "Outcome", "Page", "crawl"]
