"""API keys."""

from django.db import models
from django.db.models.functions import Now

from identity.models.client import Client, TenantModel
from identity.models.user import User


class KeyScope(models.TextChoices):
    SECRET = "secret"
    PUBLIC = "public"


class ApiKey(TenantModel):
    """An API key for a server (`secret`), or for a website and one bot (`public`). For a secret
    key, only the prefix and a keyed hash are stored."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="api_keys")
    # The id of the key's bot; not a foreign key, since bots are in a higher app. Null: a secret key
    # for all of the client's bots.
    bot_id = models.BigIntegerField(null=True)
    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=10, choices=KeyScope)
    prefix = models.CharField(max_length=12, unique=True)
    secret_hash = models.CharField(max_length=64)
    # The full text of a public key, which every visitor of the website can read anyway. Empty for
    # secret keys, and for public keys that are older than this column.
    public_key = models.CharField(max_length=100, db_default="", blank=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    # A request limit that is lower than the usual limit of the scope; null: the usual limit.
    requests_per_minute = models.PositiveIntegerField(null=True)
    # The maximum number of credits that conversations opened with the key may cost in a day (UTC);
    # null: no cap.
    daily_credits = models.PositiveIntegerField(null=True)
    # Whether MCP tools that message customers may be called with the key.
    mcp_write = models.BooleanField(db_default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scope="secret") | models.Q(bot_id__isnull=False),
                name="public_key_has_bot",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"
