"""Groups of unanswered questions."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from bots.models import Bot, Document
from chats.models.message import Message
from identity.models import TenantModel


class GroupStatus(models.TextChoices):
    """The status of a group of similar questions: `open` (there is no answer), `learning` (a
    written answer is being trained or held back) or `answered` (the bot answered when it was asked
    again)."""

    OPEN = "open"
    LEARNING = "learning"  # somebody wrote an answer, but the bot cannot use it yet
    ANSWERED = "answered"  # the bot answered when it was asked again


class QuestionGroup(TenantModel):
    """A group of similar questions that a bot did not answer. A job groups the questions.

    A question joins the most similar group or starts a new one. Groups are never merged or split.
    The text of the questions is stored only in the messages and is deleted with them.
    """

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="question_groups")
    # The digest of the first question's words, and the vector of that question, which is empty if
    # there was no encoder.
    digest = models.CharField(max_length=64)
    vector = models.BinaryField(default=b"")
    count = models.PositiveIntegerField(default=0)
    latest_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=10, choices=GroupStatus, default=GroupStatus.OPEN)
    # The document that contains the answer that somebody wrote.
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True)
    # The result of asking the bot again: its answer and the sources, or why it did not answer
    # (`fault`).
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
        # The admin site annotates rows with their question.
        return " ".join(getattr(self, "question", "").split()) or f"question {self.pk}"


class GroupedQuestion(TenantModel):
    """A customer's message that belongs to a group."""

    group = models.ForeignKey(QuestionGroup, on_delete=models.CASCADE, related_name="questions")
    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="+")
    asked_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["group", "-id"], name="grouped_question_of_group"),
            # Finds the questions that are too old to stay in a group.
            models.Index(fields=["asked_at"], name="grouped_question_age"),
        ]

    def __str__(self) -> str:
        return str(self.message_id)
