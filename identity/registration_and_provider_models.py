"""Registrations of companies, and clients' own sign-in providers."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from identity.client_models import Client, TenantModel


class Registration(models.Model):
    """A company's request to register; the client is created when the mailed link is confirmed.

    An address may have several requests; each link belongs to one request and its password.
    """

    company_name = models.CharField(max_length=200)
    full_name = models.CharField(max_length=200)
    # In lower case.
    email = models.EmailField(max_length=254, db_index=True)
    language = models.CharField(max_length=20)
    timezone = models.CharField(max_length=64)
    # Hashed as for sign-ins; it must be entered to confirm the link.
    password = models.CharField(max_length=128)
    # Keyed hash of the newest link's token; null: no link was mailed yet.
    token_hash = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"registration {self.pk}"


class SignInProvider(TenantModel):
    """A client's own OpenID provider, at which its people sign in."""

    # Known before the insert, since the encryption binds the secret to the row.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client = models.OneToOneField(Client, on_delete=models.CASCADE, related_name="sign_in_provider")
    issuer = models.CharField(max_length=500)
    # What the provider calls `client_id`.
    application_id = models.CharField(max_length=255)
    application_secret = EncryptedTextField()
    # In lower case. A person's first sign-in needs a verified address in one of these domains.
    email_domains = ArrayField(models.CharField(max_length=253))
    # Whether only owners may still sign in by password.
    is_required = models.BooleanField(default=False)
    # Whether somebody without an account becomes an agent at the first sign-in.
    creates_agents = models.BooleanField(default=False)
    # Whether owners can sign in with it: true if an owner made the latest change.
    admits_owners = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.issuer


class ProviderAccount(TenantModel):
    """A person's account at the client's provider, identified by its `sub`."""

    user = models.ForeignKey("identity.User", on_delete=models.CASCADE)
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "issuer", "subject"], name="provider_account_unique"
            ),
            models.UniqueConstraint(
                fields=["client", "issuer", "user"], name="provider_account_user_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"account of {self.user_id} at {self.issuer}"
