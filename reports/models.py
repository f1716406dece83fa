"""What is remembered of reports: counted chats, large exports, muted warnings, saved questions."""

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
    """An ad-hoc report with many rows, as a file that a worker writes. It is deleted with its file
    when its time is over."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE)
    # The body of the request, with its period as days.
    param = models.JSONField()
    status = models.CharField(max_length=7, choices=ExportStatus, default=ExportStatus.QUEUED)
    # Rows, as counted when it was asked for; a percentage of them.
    rows = models.PositiveIntegerField()
    progress = models.PositiveSmallIntegerField(default=0)
    file = models.FileField(upload_to="reports/", max_length=200, default="", blank=True)
    # The name under which it is saved.
    file_name = models.CharField(max_length=120)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            # The clean-up.
            models.Index(fields=["expires_at"], name="export_age")
        ]

    def __str__(self) -> str:
        return self.file_name


class WarningMute(TenantModel):
    """A warning that a client's admin does not want to meet for a while, whatever its rows."""

    code = models.CharField(max_length=30)
    until = models.DateTimeField()
    muted_by = models.ForeignKey(User, on_delete=models.CASCADE)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "code"], name="warning_muted_once")
        ]

    def __str__(self) -> str:
        return f"{self.code} until {self.until}"


class SavedReport(TenantModel):
    """A question of an ad-hoc report that a client asks again, under a name."""

    name = models.CharField(max_length=80)
    # The fields of the page's form.
    question = models.JSONField()
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "name"], name="saved_report_once")]

    def __str__(self) -> str:
        return self.name


class ChatFigures(TenantModel):
    """What was said in a chat, counted up to its message `last_seq`, so that a report reads only
    the messages behind it. A worker keeps it; a chat without it is counted whole."""

    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, primary_key=True)
    last_seq = models.PositiveIntegerField()
    # Of customer, bot and agents; no notes and welcomes.
    messages = models.PositiveIntegerField()
    has_agent = models.BooleanField()
    credits = models.BigIntegerField()
    # When the bot and a person first wrote.
    bot_at = models.DateTimeField(null=True)
    person_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.conversation_id} up to {self.last_seq}"
