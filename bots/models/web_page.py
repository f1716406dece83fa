"""Crawled pages."""

from django.db import models

from bots.models.document import Document
from bots.models.web_url import WebUrl
from identity.models import TenantModel


class PageStatus(models.TextChoices):
    """The outcome of crawling one page."""

    TRAINED = "trained"
    UNCHANGED = "unchanged"
    REFUSED = "refused"  # the site, our URL check or a limit refused it; see `reason`
    FAILED = "failed"


class WebPage(TenantModel):
    """One crawled page of a WebUrl's latest crawl."""

    web_url = models.ForeignKey(WebUrl, on_delete=models.CASCADE, related_name="pages")
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True)
    url = models.CharField(max_length=2000)
    depth = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=PageStatus)
    reason = models.CharField(max_length=60, default="", blank=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    # Validators (RFC 9110) for the next crawl's conditional request.
    etag = models.CharField(max_length=300, default="", blank=True)
    last_modified = models.CharField(max_length=60, default="", blank=True)
    fetched_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["web_url", "url"], name="web_page_unique")]

    def __str__(self) -> str:
        return self.url
