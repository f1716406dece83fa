"""Groups of unanswered questions, and replays of replies."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from bots.models import Bot, Document
from chatplatform.ids import uuid7
from identity.models import TenantModel, User


class GroupStatus(models.TextChoices):
    """The status of a group of similar questions."""

    OPEN = "open"
    LEARNING = "learning"  # an answer was written and is being trained
    ANSWERED = "answered"  # the bot answered when it was asked again


class QuestionGroup(TenantModel):
    """Similar unanswered questions to a bot; a job groups them.

    A question joins the nearest group, and groups are never split, so they are stable. The
    questions' text is only in the messages and is deleted with them.
    """

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="question_groups")
    # Of its first question: the digest of the words, and the vector (empty without an encoder).
    digest = models.CharField(max_length=64)
    vector = models.BinaryField(default=b"")
    count = models.PositiveIntegerField(default=0)
    latest_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=10, choices=GroupStatus, default=GroupStatus.OPEN)
    # The document with the written answer.
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True)
    # The bot's answer when it was asked again, or why it had none (`fault`).
    answer = models.TextField(default="", blank=True)
    sources = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    fault = models.CharField(max_length=20, default="", blank=True)
    asked_again_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = "question without an answer"
        verbose_name_plural = "questions without an answer"
        indexes = [
            # The lists of a bot and of a client, most asked first.
            models.Index(fields=["bot", "status", "-count", "-id"], name="question_group_of_bot"),
            models.Index(fields=["client", "status", "-count", "-id"], name="question_group_list"),
        ]

    def __str__(self) -> str:
        return f"question {self.pk}"


class GroupedQuestion(TenantModel):
    """A customer's message in a group."""

    group = models.ForeignKey(QuestionGroup, on_delete=models.CASCADE, related_name="questions")
    message = models.OneToOneField("chats.Message", on_delete=models.CASCADE, related_name="+")
    asked_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["group", "-id"], name="grouped_question_of_group"),
            # Finds the questions that are older than the window.
            models.Index(fields=["asked_at"], name="grouped_question_age"),
        ]

    def __str__(self) -> str:
        return str(self.message_id)


class ReplayStatus(models.TextChoices):
    """The status of a replay."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Replay(TenantModel):
    """A replay of a bot's replies of one day with its present state; nobody is notified."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="replays")
    # In the client's time zone.
    day = models.DateField()
    status = models.CharField(max_length=10, choices=ReplayStatus, default=ReplayStatus.QUEUED)
    error = models.CharField(max_length=200, default="", blank=True)
    # The replies to replay, in order.
    message_ids = ArrayField(models.UUIDField(), default=list)
    # Not replayed: whether the day had more replies, and how many replies called functions.
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
    """How today's reply differs from the original."""

    GAINED = "gained"  # answered today, not then
    LOST = "lost"  # answered then, not today
    CHANGED = "changed"  # answered both times, from another source today
    ANSWERED = "answered"  # answered both times, from the same source
    UNANSWERED = "unanswered"  # answered neither time


class ReplayedReply(TenantModel):
    """A replayed reply: what the bot says today."""

    replay = models.ForeignKey(Replay, on_delete=models.CASCADE, related_name="replies")
    message = models.ForeignKey("chats.Message", on_delete=models.CASCADE, related_name="+")
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
