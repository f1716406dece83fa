"""Browsers in which people want push notifications."""

from django.db import models
from django.db.models.functions import Now

from chatplatform.ids import uuid7
from identity.models import TenantModel, User


class PushSubscription(TenantModel):
    """A browser in which a person is notified even without an open inbox; it ends with the sign-in
    that asked for it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="push_subscriptions")
    # The family of its access tokens.
    sign_in = models.UUIDField()
    endpoint = models.CharField(max_length=1000, unique=True)
    # For the encryption, in Base64 for URLs.
    p256dh = models.CharField(max_length=100)
    auth = models.CharField(max_length=40)
    # Browser and system, such as "Firefox, Windows".
    device = models.CharField(max_length=200, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"push to {self.user_id}, {self.device}"
