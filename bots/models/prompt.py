"""Versions of bots' instructions."""

from django.db import models
from django.db.models.functions import Now

from bots.models.bot import Bot
from identity.models import TenantModel, User


class Prompt(TenantModel):
    """One version of a bot's instructions. A new version becomes current at once, unless
    `publish_gate` holds it back until a golden run has tested it."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="prompts")
    version = models.PositiveIntegerField()
    content = models.TextField()
    tone = models.CharField(max_length=50, default="", blank=True)
    language = models.CharField(max_length=20, default="", blank=True)
    model = models.CharField(max_length=100, default="", blank=True)
    temperature = models.FloatField(null=True)
    is_current = models.BooleanField("current", default=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bot", "version"], name="prompt_version"),
            models.UniqueConstraint(
                fields=["bot"], condition=models.Q(is_current=True), name="prompt_one_current"
            ),
        ]

    def __str__(self) -> str:
        return f"prompt {self.version} of bot {self.bot_id}"
