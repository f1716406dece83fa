"""Golden questions of a bot, and the runs that ask them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from chatplatform.ids import uuid7
from identity.models import TenantModel, User


class GoldenOrigin(models.TextChoices):
    """Where a golden question was taken from."""

    WRITTEN = "written"
    SAMPLES = "samples"  # the widget's sample questions
    ANSWERS = "answers"  # questions that the client has answered itself
    ASKED = "asked"  # what customers ask most


class GoldenQuestion(TenantModel):
    """A question that a bot must answer rightly: any change is tried against all of them."""

    bot = models.ForeignKey("bots.Bot", on_delete=models.CASCADE, related_name="golden_questions")
    question = models.CharField(max_length=300)
    # The title, file name or address of a source that must be cited; empty: any.
    expected_source = models.CharField(max_length=300, default="", blank=True)
    # Words that must stand in the answer.
    expected_words = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    origin = models.CharField(max_length=10, choices=GoldenOrigin, default=GoldenOrigin.WRITTEN)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bot", "question"], name="golden_question_once")
        ]

    def __str__(self) -> str:
        return self.question


class GoldenStatus(models.TextChoices):
    """The state of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class GoldenOutcome(models.TextChoices):
    """What became of the change that a run was to let through."""

    PUBLISHED = "published"
    HELD = "held"


class GoldenRun(TenantModel):
    """All golden questions of a bot, asked at one time; perhaps with a change that is tried."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey("bots.Bot", on_delete=models.CASCADE, related_name="golden_runs")
    status = models.CharField(max_length=10, choices=GoldenStatus, default=GoldenStatus.QUEUED)
    error = models.CharField(max_length=300, default="", blank=True)
    # The change that is tried: each may be null or empty.
    prompt = models.ForeignKey("bots.Prompt", on_delete=models.CASCADE, null=True)
    threshold = models.FloatField(null=True)
    document_ids = ArrayField(models.BigIntegerField(), default=list)
    # Whether the change waits for this run, and what became of it.
    publishes = models.BooleanField(default=False)
    outcome = models.CharField(max_length=10, choices=GoldenOutcome, default="", blank=True)
    # As they were at the start, each with whether it passed in the run before.
    questions = models.JSONField(default=list)
    results = models.JSONField(default=list)
    passed = models.PositiveSmallIntegerField(default=0)
    # Questions that passed before and fail now, and the reverse.
    broke = models.JSONField(default=list)
    better = models.JSONField(default=list)
    engine = models.CharField(max_length=40, default="", blank=True)
    knowledge_version = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["bot", "-id"], name="golden_runs")]

    def __str__(self) -> str:
        return f"golden questions of {self.bot}, {len(self.results)} of {len(self.questions)}"
