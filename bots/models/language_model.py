"""Language models that clients have connected."""

from django.db import models

from bots.models.bot import Bot
from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from identity.models import TenantModel


class LanguageModel(TenantModel):
    """A language model that a client has connected, for one bot or all of its bots."""

    # Generated before the insert, since the encryption binds the API key to the row's id.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.OneToOneField(
        Bot, on_delete=models.CASCADE, null=True, related_name="language_model"
    )
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=100)
    api_key = EncryptedTextField(default="", blank=True)
    reads_pictures = models.BooleanField(default=False, db_default=False)
    # The model of the same server that transcribes voice notes; empty: none does.
    transcription_model = models.CharField(max_length=100, default="", db_default="", blank=True)
    credits_per_1000_tokens = models.PositiveSmallIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client"], condition=models.Q(bot=None), name="language_model_client_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} of {self.bot or self.client}"
