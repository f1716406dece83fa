"""What happened: the append-only event log."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models.functions import Now

from chatplatform.ids import uuid7
from identity.models import Client, OfClient


class Event(models.Model):
    """Something that happened, written in the transaction of the change; never changed after.

    The same id names the webhook delivery, the live stream's event and this row. `sequence` grows
    by one within a conversation.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    type = models.CharField(max_length=60)
    # Conversations lie above this app: the number alone is kept.
    conversation_id = models.UUIDField(null=True)
    sequence = models.PositiveIntegerField(null=True)
    data = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation_id", "sequence"], name="event_sequence_in_conversation"
            )
        ]
        indexes = [
            # A client's log, oldest first.
            models.Index(fields=["client", "id"], name="event_log"),
            BrinIndex(fields=["created_at"], name="event_created"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.pk}"
