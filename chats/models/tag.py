"""The tags that clients use, and the tags of their conversations."""

from django.db import models
from django.db.models.functions import Now

from chats.models.conversation import Conversation
from identity.models import TenantModel


class ClientTag(TenantModel):
    """A tag that the client uses. `Tagging` and `Conversation.tags` repeat its name."""

    name = models.CharField(max_length=60)
    # "#rrggbb", or empty.
    colour = models.CharField(max_length=7, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "name"], name="client_tag_unique")]

    def __str__(self) -> str:
        return self.name


class TagSource(models.TextChoices):
    AGENT = "agent"
    AI = "ai"
    CUSTOMER = "customer"


class Tagging(TenantModel):
    """A tag of a conversation. `Conversation.tags` repeats the tags' names for lists and
    filters."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="taggings"
    )
    name = models.CharField(max_length=60)
    source = models.CharField(max_length=8, choices=TagSource)
    confidence = models.FloatField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "name"], name="tagging_unique")
        ]
        indexes = [models.Index(fields=["client", "name"], name="tag_list")]

    def __str__(self) -> str:
        return self.name
