"""Websites that bots are trained on."""

from django.db import models
from django.db.models.functions import Now

from bots.models.bot import Bot
from identity.models import TenantModel


class WebUrlStatus(models.TextChoices):
    """The state of a website: `queued` (waits for its crawl), `training` (the crawl included),
    `trained` or `failed`."""

    QUEUED = "queued"
    TRAINING = "training"
    TRAINED = "trained"
    FAILED = "failed"


class WebUrl(TenantModel):
    """A website that a bot is trained on: one page, a page and the pages that it links to, or the
    pages in a sitemap."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="web_urls")
    url = models.CharField(max_length=2000)
    # How many links away from `url` the crawl goes: 0 to 3.
    crawl_depth = models.PositiveSmallIntegerField(default=0)
    # Hours between two automatic crawls; null: further crawls start only on request.
    refresh_hours = models.PositiveIntegerField(null=True)
    status = models.CharField(max_length=10, choices=WebUrlStatus, default=WebUrlStatus.QUEUED)
    progress = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=60, default="", blank=True)
    error_message = models.CharField(max_length=500, default="", blank=True)
    page_count = models.PositiveIntegerField(default=0)
    last_fetched_at = models.DateTimeField(null=True)
    next_fetch_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = "web address", "web addresses"
        constraints = [models.UniqueConstraint(fields=["bot", "url"], name="web_url_unique")]
        indexes = [
            models.Index(fields=["bot", "id"], name="web_url_list"),
            # Finds the websites that are due for a crawl.
            models.Index(fields=["next_fetch_at"], name="web_url_due"),
            # Finds a client's failed websites, for the page of failures.
            models.Index(
                fields=["client"], condition=models.Q(status="failed"), name="web_url_failed"
            ),
        ]

    def __str__(self) -> str:
        return self.url
