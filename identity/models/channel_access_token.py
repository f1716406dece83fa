"""The access tokens with which clients connect accounts at messaging providers."""

from django.db import models

from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from identity.models.client import TenantModel
from identity.models.user import User


class ChannelAccessToken(TenantModel):
    """The access token that one of the client's people has at a messaging provider. It is used to
    connect accounts, and is stored encrypted. A client has one token for each channel."""

    # Set before the insert, since the encryption binds the token to the row.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    channel = models.CharField(max_length=10)
    access_token = EncryptedTextField()
    user_external_id = models.CharField(max_length=200, default="", blank=True)
    expires_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "channel"], name="channel_access_token_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.channel} token of {self.client_id}"
