"""What customers asked in vain, in groups; and replies that were made again."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from bots.models import Bot, Document
from chatplatform.ids import uuid7
from identity.models import TenantModel, User


class GroupStatus(models.TextChoices):
    """Where a group of like questions stands."""

    OPEN = "open"
    LEARNING = "learning"  # an answer was written, and is being trained
    ANSWERED = "answered"  # asked again, it had an answer


class QuestionGroup(TenantModel):
    """Questions to a bot that are alike and had no answer; a job puts them together.

    A question joins the nearest group, and no group is taken apart later, so groups stay as they
    are. Their words are in the messages alone, and go with them.
    """

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="question_groups")
    # Of its first question: a digest of the words, and the vector; empty without an encoder.
    digest = models.CharField(max_length=64)
    vector = models.BinaryField(default=b"")
    count = models.PositiveIntegerField(default=0)
    latest_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=10, choices=GroupStatus, default=GroupStatus.OPEN)
    # The answer that was written for it.
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True)
    # What the bot said when the question was asked again, or why it had no answer.
    answer = models.TextField(default="", blank=True)
    sources = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    fault = models.CharField(max_length=20, default="", blank=True)
    asked_again_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = "question without an answer"
        verbose_name_plural = "questions without an answer"
        indexes = [
            # A bot's list, most asked first; and of all bots of a client.
            models.Index(fields=["bot", "status", "-count", "-id"], name="question_group_of_bot"),
            models.Index(fields=["client", "status", "-count", "-id"], name="question_group_list"),
        ]

    def __str__(self) -> str:
        return f"question {self.pk}"


class GroupedQuestion(TenantModel):
    """A customer's message in its group."""

    group = models.ForeignKey(QuestionGroup, on_delete=models.CASCADE, related_name="questions")
    message = models.OneToOneField("chats.Message", on_delete=models.CASCADE, related_name="+")
    asked_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["group", "-id"], name="grouped_question_of_group"),
            # What is older than the window.
            models.Index(fields=["asked_at"], name="grouped_question_age"),
        ]

    def __str__(self) -> str:
        return str(self.message_id)


class ReplayStatus(models.TextChoices):
    """Where a replay of a day stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Replay(TenantModel):
    """A day's replies of a bot, made again with what the bot is now. Nobody is told of them."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="replays")
    # In the client's time zone.
    day = models.DateField()
    status = models.CharField(max_length=10, choices=ReplayStatus, default=ReplayStatus.QUEUED)
    error = models.CharField(max_length=200, default="", blank=True)
    # The replies that are made again, in their order; the counts of what has become of them.
    message_ids = ArrayField(models.UUIDField(), default=list)
    # The day holds more of them, or replies that called functions, which are not made again.
    is_cut = models.BooleanField(default=False)
    with_calls = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
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
    """What would be different today."""

    GAINED = "gained"  # it would be answered today
    LOST = "lost"  # it would not be answered today
    CHANGED = "changed"  # it would be answered from another source
    ANSWERED = "answered"  # then and today, from the same source
    UNANSWERED = "unanswered"  # neither


class ReplayedReply(TenantModel):
    """A reply of a replay: what the bot says today."""

    replay = models.ForeignKey(Replay, on_delete=models.CASCADE, related_name="replies")
    message = models.ForeignKey("chats.Message", on_delete=models.CASCADE, related_name="+")
    change = models.CharField(max_length=10, choices=ReplayChange)
    text = models.TextField(default="", blank=True)
    sources = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    decision = models.CharField(max_length=20)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["replay", "message"], name="replayed_once")]
        indexes = [models.Index(fields=["replay", "change", "id"], name="replayed_by_change")]

    def __str__(self) -> str:
        return str(self.message_id)
