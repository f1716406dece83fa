"""Customers' ratings."""

from django.db import models
from django.db.models.functions import Now

from chats.models.conversation import Conversation
from chats.models.message import Message
from identity.models import TenantModel


class Thumb(models.TextChoices):
    UP = "up"
    DOWN = "down"


class Feedback(TenantModel):
    """A customer's rating of a conversation (stars) or of a message (stars or a thumb).

    A conversation and each of its messages have at most one rating.
    """

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="feedbacks"
    )
    message = models.ForeignKey(Message, on_delete=models.CASCADE, null=True)
    rating = models.PositiveSmallIntegerField(null=True)
    thumb = models.CharField(max_length=4, choices=Thumb, null=True)
    resolved = models.BooleanField(null=True)
    reason = models.CharField(max_length=20, null=True)
    comment = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())
    # When the rating was last changed.
    updated_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=models.Q(message__isnull=True),
                name="feedback_chat_unique",
            ),
            models.UniqueConstraint(fields=["message"], name="feedback_message_unique"),
            models.CheckConstraint(
                condition=models.Q(rating__gte=1, rating__lte=5, thumb__isnull=True)
                | models.Q(rating__isnull=True, thumb__isnull=False, message__isnull=False),
                name="feedback_rating",
            ),
        ]
        indexes = [models.Index(fields=["client", "-id"], name="feedback_list")]

    def __str__(self) -> str:
        return str(self.conversation)
