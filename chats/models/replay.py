"""Replays, which regenerate a bot's past replies to show what would change."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from bots.models import Bot
from chatplatform.ids import uuid7
from chats.models.message import Message
from identity.models import TenantModel, User


class ReplayStatus(models.TextChoices):
    """The status of a replay: `queued` (a worker will begin it), `running`, `done` or `failed` (it
    stopped early)."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Replay(TenantModel):
    """A bot's replies from one day, regenerated with its current content and instructions. Nothing
    is sent."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="replays")
    # The day in the client's time zone.
    day = models.DateField()
    status = models.CharField(max_length=10, choices=ReplayStatus, default=ReplayStatus.QUEUED)
    error = models.CharField(max_length=200, default="", blank=True)
    # The ids of the replies, in the order in which they are replayed.
    message_ids = ArrayField(models.UUIDField(), default=list)
    # Whether the day had more replies than the limit.
    is_cut = models.BooleanField(default=False)
    # The number of replies that were left out because they called functions.
    with_calls = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    # The next five count the replies by `ReplayChange`.
    gained = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(db_default=0)
    answered = models.PositiveIntegerField(default=0)
    unanswered = models.PositiveIntegerField(default=0)
    engine = models.CharField(max_length=40, default="", blank=True)
    knowledge_version = models.PositiveIntegerField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["bot", "-id"], name="replay_of_bot")]

    def __str__(self) -> str:
        return f"replay of {self.day}"


class ReplayChange(models.TextChoices):
    """How the reply in the replay differs from the original: `gained` (answered only in the
    replay), `lost` (answered only originally), `changed` (answered both times, but from another
    first source), `answered` (both times, from the same first source) or `unanswered` (neither
    time)."""

    GAINED = "gained"  # answered in the replay, but not originally
    LOST = "lost"  # answered originally, but not in the replay
    CHANGED = "changed"  # answered both times, from another source in the replay
    ANSWERED = "answered"  # answered both times, from the same source
    UNANSWERED = "unanswered"  # answered neither time


class ReplayedReply(TenantModel):
    """The bot's new reply in place of one past reply, and how it differs."""

    replay = models.ForeignKey(Replay, on_delete=models.CASCADE, related_name="replies")
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")
    change = models.CharField(max_length=10, choices=ReplayChange)
    text = models.TextField(default="", blank=True)
    sources = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    decision = models.CharField(max_length=20)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["replay", "message"], name="replayed_reply_unique")
        ]
        indexes = [models.Index(fields=["replay", "change", "id"], name="replayed_reply_change")]

    def __str__(self) -> str:
        return str(self.message_id)
