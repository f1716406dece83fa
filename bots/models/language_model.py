"""Language models and encoders that clients have connected."""

from django.db import models

from bots.models.bot import Bot
from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from identity.models import TenantModel


class ModelPurpose(models.TextChoices):
    """What a connected model is for."""

    CHAT = "chat"  # writes answers
    EMBEDDINGS = "embeddings"  # computes vectors for the search


class LanguageModel(TenantModel):
    """A model that a client has connected: a language model for one or all of the client's bots, or
    an encoder for all of them."""

    # Generated before the insert, since the encryption binds the API key to the row's id.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.OneToOneField(
        Bot, on_delete=models.CASCADE, null=True, related_name="language_model"
    )
    purpose = models.CharField(
        max_length=10,
        choices=ModelPurpose,
        default=ModelPurpose.CHAT,
        db_default=ModelPurpose.CHAT,
    )
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=100)
    api_key = EncryptedTextField(default="", blank=True)
    reads_pictures = models.BooleanField(default=False, db_default=False)
    # The model on the same server that transcribes voice notes; empty if there is none.
    transcription_model = models.CharField(max_length=100, default="", db_default="", blank=True)
    credits_per_1000_tokens = models.PositiveSmallIntegerField(default=1)
    # An encoder's confidence weights; null until they are fitted and the encoder can be used.
    gate = models.JSONField(null=True)
    # The percentage of the client's passages that have this encoder's vectors.
    indexed_percent = models.PositiveSmallIntegerField(default=0, db_default=0)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "purpose"],
                condition=models.Q(bot=None),
                name="language_model_client_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} of {self.bot or self.client}"
