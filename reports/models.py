"""The models of reports: large exports, muted warnings, and figures of conversations."""

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
    """An ad-hoc report with many rows, written to a file by a worker. It is deleted with its file
    when it expires."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE)
    # The report's parameters, with the first and last day of its period.
    param = models.JSONField()
    status = models.CharField(max_length=7, choices=ExportStatus, default=ExportStatus.QUEUED)
    # The number of rows when the export was requested, and the percentage of them written so far.
    rows = models.PositiveIntegerField()
    progress = models.PositiveSmallIntegerField(default=0)
    file = models.FileField(upload_to="reports/", max_length=200, default="", blank=True)
    # The name of the downloaded file.
    file_name = models.CharField(max_length=120)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            # For deleting expired exports.
            models.Index(fields=["expires_at"], name="export_age")
        ]

    def __str__(self) -> str:
        return self.file_name


class WarningMute(TenantModel):
    """A kind of warning that an owner or admin of a client has muted for a time."""

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
    """Figures computed from a conversation's messages up to `last_seq`.

    A periodic job updates the row, so that reports read only later messages. If there is no row, a
    report reads all messages of the conversation.
    """

    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, primary_key=True)
    last_seq = models.PositiveIntegerField()
    # The number of messages of customer, bot and agents, without notes and welcomes.
    messages = models.PositiveIntegerField()
    has_agent = models.BooleanField()
    credits = models.BigIntegerField()
    # When the bot and an agent sent their first messages.
    first_bot_message_at = models.DateTimeField(null=True)
    first_agent_message_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.conversation_id} up to {self.last_seq}"
