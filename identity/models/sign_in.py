"""Sessions, tokens, second factors, attempts that count against limits, and clients' own sign-in
providers."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models.functions import Now

from chatplatform.crypto import EncryptedTextField, hash_secret
from chatplatform.ids import uuid7
from identity.models.client import Client, TenantModel
from identity.models.user import User


class RefreshToken(TenantModel):
    """A refresh token, stored as a keyed hash. All tokens of one sign-in have the same `family`."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="refresh_tokens")
    family = models.UUIDField()
    token_hash = models.CharField(max_length=64, unique=True)
    # The scopes of the sign-in besides the role, separated by spaces.
    scope = models.CharField(max_length=100, db_default="", blank=True)
    expires_at = models.DateTimeField()
    rotated_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["family"], name="refresh_family")]

    def __str__(self) -> str:
        return f"refresh token {self.pk} of {self.user_id}"


class SiteSession(AbstractBaseSession):
    """One sign-in to the site: a Django session with a reference to its user.

    `session_key` is a hash of the browser's cookie, so that nobody who reads the table can use a
    session.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="sessions")
    # The family of the access tokens issued for the session. They become invalid when it ends.
    token_family = models.UUIDField(null=True, unique=True)

    @staticmethod
    def key_of(cookie: str | None) -> str:
        """The `session_key` for a browser's session cookie; empty if there is no cookie."""
        return hash_secret(f"session:{cookie}")[:40] if cookie else ""


class Impersonation(models.Model):
    """An impersonation: the staff member who signed in with `session` sees the site as `user`, one
    of a client's people."""

    session = models.OneToOneField(
        SiteSession, on_delete=models.CASCADE, related_name="impersonation"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="impersonations")

    def __str__(self) -> str:
        return f"view as {self.user_id}"


class SecondFactor(models.Model):
    """A person's TOTP secret and hashes of recovery codes. People without a row need no code to
    sign in."""

    # Set before the insert, since the encryption binds the secret to the row.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="second_factor")
    # In base32, as authenticator apps expect it.
    secret = EncryptedTextField(tenant_attribute="user_id")
    # The 30-second step of the latest accepted code: each code works once.
    latest_step = models.BigIntegerField()
    recovery_hashes = ArrayField(models.CharField(max_length=64))
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"second factor of {self.user_id}"


class AttemptKind(models.TextChoices):
    """The operations that have a limit on attempts."""

    SIGN_IN = "sign_in"
    CODE = "code"
    ASK_RESET = "ask_reset"
    TRY_RESET = "try_reset"
    REGISTER = "register"
    CONFIRM = "confirm"
    PROVIDER = "provider"
    # The next two need a credential, but anyone can register to get one and then send mail to any
    # address.
    ADD_USER = "add_user"
    TEST_MAIL = "test_mail"
    # Requests for a company's sign-in link, and mails with a link that were sent to a mailbox.
    ASK_LINK = "ask_link"
    LINK_MAIL = "link_mail"
    # Mailed transcripts, counted per chat, per mailbox and per visitor.
    MAIL_CHAT = "mail_chat"
    MAIL_TO = "mail_to"
    MAIL_GUEST = "mail_guest"


class Attempt(models.Model):
    """An attempt that counts against a limit. A successful sign-in deletes the account's earlier
    attempts from the same address."""

    kind = models.CharField(max_length=10, choices=AttemptKind)
    # A keyed hash, because people sometimes type a password into the email field.
    account_hash = models.CharField(max_length=64)
    address = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        # For queries of recent attempts by IP address and by account.
        indexes = [
            models.Index(fields=["kind", "address", "created_at"], name="attempt_address"),
            models.Index(fields=["kind", "account_hash"], name="attempt_account"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} from {self.address} at {self.created_at}"


class PasswordReset(TenantModel):
    """A one-time link to set a password, sent by mail. Only a keyed hash of its token is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"password reset of {self.user_id}"


class SignInProvider(TenantModel):
    """A client's own OpenID provider, at which its people sign in."""

    # Set before the insert, since the encryption binds the secret to the row.
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
    # Whether people without an account become agents at their first sign-in.
    creates_agents = models.BooleanField(default=False)
    # Whether owners can sign in with this provider: true if an owner made the latest change.
    admits_owners = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.issuer


class ProviderAccount(TenantModel):
    """A person's account at the client's provider. The provider's `sub` claim identifies it."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
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
