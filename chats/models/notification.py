"""Notifications for a client's users."""

from django.db import models
from django.db.models.functions import Now

from chatplatform.ids import uuid7
from chats.models.conversation import Conversation
from chats.models.message import Message
from identity.models import TenantModel, User


class NotificationKind(models.TextChoices):
    ASSIGNED = "assigned"
    UNASSIGNED = "unassigned"
    HANDOFF = "handoff"
    UNANSWERED = "unanswered"
    MENTIONED = "mentioned"


class Notification(TenantModel):
    """Tells one of the client's users that a conversation needs attention or was reassigned."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notifications")
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE)
    # The note that mentions the user; null for all other kinds.
    message = models.ForeignKey(Message, on_delete=models.CASCADE, null=True)
    kind = models.CharField(max_length=10, choices=NotificationKind)
    assigned_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    is_read = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["user", "-id"], name="notification_list")]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}"
