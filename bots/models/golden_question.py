"""A bot's golden questions, and the golden runs that ask them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext

from bots.models.bot import Bot
from bots.models.prompt import Prompt
from chatplatform.ids import uuid7
from identity.models import TenantModel, User


class GoldenOrigin(models.TextChoices):
    """Where a golden question comes from: `written` by a person, or taken from the widget's
    `samples`, the questions with written `answers`, or what customers `asked` most."""

    WRITTEN = "written"
    SAMPLES = "samples"  # the widget's sample questions
    ANSWERS = "answers"  # the client's questions with written answers
    ASKED = "asked"  # the customers' most frequent questions


class GoldenQuestion(TenantModel):
    """A question that the bot must answer correctly, optionally with follow-up messages. Changes to
    a bot can be tested against all of its golden questions."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="golden_questions")
    question = models.CharField(max_length=300)
    # Title, file name or URL of the source that the answer must cite; empty: any source.
    expected_source = models.CharField(max_length=300, default="", blank=True)
    # Words that the answer must contain.
    expected_words = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    # What the right answer says, for a model to judge by; empty: no model judges the answer.
    expected_answer = models.CharField(max_length=500, db_default="", default="", blank=True)
    # The customer's follow-up messages, each with its own expected source, words and answer.
    turns = models.JSONField(db_default=models.Value([], models.JSONField()), default=list)
    origin = models.CharField(max_length=10, choices=GoldenOrigin, default=GoldenOrigin.WRITTEN)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = "test question", "test questions"
        constraints = [
            models.UniqueConstraint(fields=["bot", "question"], name="golden_question_unique")
        ]

    def __str__(self) -> str:
        return self.question


class GoldenStatus(models.TextChoices):
    """The state of a run: `queued` (a worker will begin it), `running`, `done` or `failed` (it
    stopped early)."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class GoldenOutcome(models.TextChoices):
    """Whether a run published the change it tested or held it back."""

    PUBLISHED = "published"
    HELD = "held"


class GoldenRun(TenantModel):
    """A golden run: asks the bot all of its golden questions, either as the bot is or with a change
    under test."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="golden_runs")
    status = models.CharField(max_length=10, choices=GoldenStatus, default=GoldenStatus.QUEUED)
    error = models.CharField(max_length=300, default="", blank=True)
    # The change under test; each part may be null or empty.
    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, null=True)
    threshold = models.FloatField(null=True)
    document_ids = ArrayField(models.BigIntegerField(), default=list)
    # Whether this run decides if the change is published, and its decision.
    is_publish_gate = models.BooleanField(default=False)
    outcome = models.CharField(max_length=10, choices=GoldenOutcome, default="", blank=True)
    # The questions as they were when the run was started. The `was_passed` of each says whether it
    # passed in the latest finished run that tested no change; null if it was not in that run.
    questions = models.JSONField(default=list)
    results = models.JSONField(default=list)
    passed = models.PositiveSmallIntegerField(default=0)
    # Regressions: questions that passed before and fail now. Improvements: the reverse.
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
        if self.status in {GoldenStatus.QUEUED, GoldenStatus.RUNNING}:
            return gettext("%(bot)s · test in progress") % {"bot": self.bot}
        text = gettext("%(bot)s · %(passed)s of %(asked)s passed")
        return text % {"bot": self.bot, "passed": self.passed, "asked": len(self.questions)}
