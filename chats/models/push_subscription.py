"""Browsers that receive push notifications."""

from django.db import models
from django.db.models.functions import Now

from chatplatform.ids import uuid7
from identity.models import TenantModel, User


class PushSubscription(TenantModel):
    """A browser in which a user gets push notifications even if the inbox is closed. It ends with
    the sign-in that created it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="push_subscriptions")
    # The id shared by all tokens of the sign-in that created the subscription.
    sign_in = models.UUIDField()
    endpoint = models.CharField(max_length=1000, unique=True)
    # The browser's encryption keys, in URL-safe Base64.
    p256dh = models.CharField(max_length=100)
    auth = models.CharField(max_length=40)
    # Browser and system, such as "Firefox, Windows".
    device = models.CharField(max_length=200, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"push to {self.user_id}, {self.device}"
