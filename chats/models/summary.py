"""Summaries of conversations, and runs that write many summaries."""

from django.db import models
from django.db.models.functions import Now

from bots.models import Bot
from chatplatform.ids import uuid7
from chats.models.conversation import Conversation
from identity.models import TenantModel, User


class Summary(TenantModel):
    """A summary of a conversation; the newest one is the current one."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="summaries"
    )
    summary = models.TextField()
    language = models.CharField(max_length=20)
    key_points = models.JSONField(default=list)
    customer_intent = models.TextField(default="", blank=True)
    resolution = models.TextField(default="", blank=True)
    # The number of messages that the summary covers. If the conversation has more, the summary is
    # outdated.
    message_count = models.PositiveIntegerField()
    engine = models.CharField(max_length=60)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "summaries"
        indexes = [models.Index(fields=["conversation", "-id"], name="summary_latest")]

    def __str__(self) -> str:
        return str(self.conversation)


class SummaryJobStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class SummaryJob(TenantModel):
    """A request to summarize every matching conversation, with its progress."""

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
    # The id of the last conversation that was processed; an interrupted run resumes after it.
    position = models.UUIDField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"summaries {self.done}/{self.total}"
