"""A client's rows without a conversation: saved replies, tags, summary jobs, erasures."""

from django.db import models
from django.db.models.functions import Now

from bots.models import Bot
from chatplatform.ids import uuid7
from identity.models import TenantModel, User


class SavedReply(TenantModel):
    """A text that agents send often, saved for one agent or the whole team."""

    # Null: shared.
    owner = models.ForeignKey(User, on_delete=models.CASCADE, null=True)
    shortcut = models.CharField(max_length=40)
    # Text by language, with variables.
    texts = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "shortcut", "owner"],
                nulls_distinct=False,
                name="saved_reply_shortcut",
            )
        ]

    def __str__(self) -> str:
        return self.shortcut


class ClientTag(TenantModel):
    """A tag that the client uses. `Tagging` and `Conversation.tags` repeat its name."""

    name = models.CharField(max_length=60)
    # "#rrggbb", or empty.
    colour = models.CharField(max_length=7, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "name"], name="client_tag_unique")]

    def __str__(self) -> str:
        return self.name


class SummaryJobStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class SummaryJob(TenantModel):
    """A request to summarise every matching conversation, with its progress."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, null=True)
    created_from = models.DateTimeField(null=True)
    created_to = models.DateTimeField(null=True)
    force = models.BooleanField(default=False)
    status = models.CharField(
        max_length=8, choices=SummaryJobStatus, default=SummaryJobStatus.QUEUED
    )
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    # The last conversation that was processed; an interrupted run resumes after it.
    position = models.UUIDField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"summaries {self.done}/{self.total}"


class ErasureStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class CustomerErasure(TenantModel):
    """A request to erase a customer, with its progress; it keeps only the customer's number."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    customer_id = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=ErasureStatus, default=ErasureStatus.QUEUED)
    chats_total = models.PositiveIntegerField()
    chats_erased = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "customer_id"],
                condition=models.Q(status__in=["queued", "running"]),
                name="erasure_unique",
            )
        ]

    def __str__(self) -> str:
        return f"erasure of customer {self.customer_id}"
