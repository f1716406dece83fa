"""Rows of a client that belong to no conversation: what its agents reuse."""

from django.db import models
from django.db.models.functions import Now

from identity.models import TenantModel, User


class SavedReply(TenantModel):
    """A text that agents send often: of one of them, or of the whole client."""

    # Null: everybody's.
    owner = models.ForeignKey(User, on_delete=models.CASCADE, null=True)
    shortcut = models.CharField(max_length=40)
    # Text by language, with variables.
    texts = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "shortcut", "owner"],
                nulls_distinct=False,
                name="saved_reply_shortcut",
            )
        ]

    def __str__(self) -> str:
        return self.shortcut


class ClientTag(TenantModel):
    """A tag that the client uses. `Tagging` and `Conversation.tags` repeat its name."""

    name = models.CharField(max_length=60)
    # "#rrggbb", or empty.
    colour = models.CharField(max_length=7, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "name"], name="client_tag_once")]

    def __str__(self) -> str:
        return self.name
