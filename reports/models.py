"""The rows of reports: large exports, muted warnings, message counts."""

from django.db import models
from django.db.models.functions import Now

from chatplatform.ids import uuid7
from chats.models import Conversation
from identity.models import TenantModel, User


class ExportStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Export(TenantModel):
    """An ad-hoc report with many rows, which a worker writes to a file.

    It is deleted with its file when it expires.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE)
    # The body of the request, with the period as fixed days.
    param = models.JSONField()
    status = models.CharField(max_length=7, choices=ExportStatus, default=ExportStatus.QUEUED)
    # The number of rows, counted at the request; the percentage written.
    rows = models.PositiveIntegerField()
    progress = models.PositiveSmallIntegerField(default=0)
    file = models.FileField(upload_to="reports/", max_length=200, default="", blank=True)
    # The name of the downloaded file.
    file_name = models.CharField(max_length=120)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            # For the clean-up.
            models.Index(fields=["expires_at"], name="export_age")
        ]

    def __str__(self) -> str:
        return self.file_name


class WarningMute(TenantModel):
    """A warning that a client's admin muted for a while, whatever its rows."""

    code = models.CharField(max_length=30)
    muted_until = models.DateTimeField()
    muted_by = models.ForeignKey(User, on_delete=models.CASCADE)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "code"], name="warning_mute_unique")
        ]

    def __str__(self) -> str:
        return f"{self.code} until {self.muted_until}"


class ChatStats(TenantModel):
    """The counts of a conversation's messages up to `last_seq`.

    A report reads only later messages. A worker updates it; without it, a report counts all
    messages.
    """

    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, primary_key=True)
    last_seq = models.PositiveIntegerField()
    # Messages of customer, bot and agents, without notes and welcomes.
    messages = models.PositiveIntegerField()
    has_agent = models.BooleanField()
    credits = models.BigIntegerField()
    # When the bot and an agent first wrote.
    first_bot_message_at = models.DateTimeField(null=True)
    first_agent_message_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.conversation_id} up to {self.last_seq}"
