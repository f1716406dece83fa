"""API keys."""

from django.db import models
from django.db.models.functions import Now

from identity.models.client import Client, TenantModel
from identity.models.user import User


class KeyScope(models.TextChoices):
    SECRET = "secret"
    PUBLIC = "public"


class ApiKey(TenantModel):
    """A key for a server (`secret`) or a website (`public`, one bot): its prefix and keyed hash."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="api_keys")
    # The key's bot; bots are in a higher app, so there is no foreign key. A secret key without one
    # serves every bot of the client.
    bot_id = models.BigIntegerField(null=True)
    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=10, choices=KeyScope)
    prefix = models.CharField(max_length=12, unique=True)
    secret_hash = models.CharField(max_length=64)
    # The full text of a public key, which every visitor of its website can read. Empty for a secret
    # key, and for a public key created before this column.
    public_key = models.CharField(max_length=100, db_default="", blank=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    # A request limit below the scope's; null: the scope's limit.
    requests_per_minute = models.PositiveIntegerField(null=True)
    # Credits that chats opened with the key may cost in a day (UTC); null: no cap of its own.
    daily_credits = models.PositiveIntegerField(null=True)
    # Whether tools of the MCP server that write to customers may be called with the key.
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
