"""Who: clients, their people, their keys and what they may use."""

from typing import Any, Self

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Now


class Client(models.Model):
    """A company on the platform: the tenant. Never deleted, only disabled."""

    name = models.CharField(max_length=200)
    code = models.SlugField(max_length=60, unique=True)
    default_language = models.CharField(max_length=20, default="en")
    timezone = models.CharField(max_length=64, default="UTC")
    is_disabled = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name


class OfClient(models.QuerySet[Any]):
    """Rows that belong to one client."""

    def of(self, client: Client) -> Self:
        """Only this client's rows."""
        return self.filter(client=client)


class ClientConfig(models.Model):
    """How a client's chats behave; one row a client, `version` grows with every change."""

    client = models.OneToOneField(Client, on_delete=models.CASCADE, related_name="config")
    # Probability (0..1) from which the bot answers by itself; below it hands over.
    answer_threshold = models.FloatField(default=0.77)
    handoff_message = models.JSONField(default=dict)
    # What follows when the model fails: the extractive answer, or a person.
    fallback_to_extractive = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)

    objects = OfClient.as_manager()

    def __str__(self) -> str:
        return f"config of {self.client_id}"


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    AGENT = "agent"
    VIEWER = "viewer"


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_superuser=True, **fields)

    def of(self, client: Client) -> models.QuerySet["User"]:
        """Only this client's people."""
        return self.filter(client=client)


class User(AbstractBaseUser, PermissionsMixin):
    """A person: one of a client's people, or platform staff (superuser, no client)."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, null=True, related_name="users")
    # Kept in lower case, so that one address is one account.
    email = models.EmailField(max_length=254, unique=True)
    full_name = models.CharField(max_length=200)
    role = models.CharField(max_length=10, choices=Role, default=Role.AGENT)
    language = models.CharField(max_length=20, default="en")
    is_disabled = models.BooleanField(default=False)
    # Grows when the password changes or access is taken away: older access tokens end.
    token_version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["full_name"]
    objects = UserManager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(client__isnull=False) | models.Q(is_superuser=True),
                name="user_has_client",
            ),
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def is_active(self) -> bool:  # type: ignore[override]
        """Django's name for an account that may sign in."""
        return not self.is_disabled and not (self.client and self.client.is_disabled)

    @property
    def is_staff(self) -> bool:
        """May enter the admin site."""
        return self.is_superuser

    @property
    def is_admin(self) -> bool:
        """May change what belongs to the whole client."""
        return self.role in {Role.OWNER, Role.ADMIN}


class RefreshToken(models.Model):
    """One refresh token, as a keyed hash. A family is one sign-in and all its rotations."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="refresh_tokens")
    family = models.UUIDField()
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    rotated_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = OfClient.as_manager()

    class Meta:
        indexes = [models.Index(fields=["family"], name="refresh_family")]

    def __str__(self) -> str:
        return f"refresh token {self.pk} of {self.user_id}"


class LoginFailure(models.Model):
    """One try to sign in that failed, or that is being checked; gone when its user gets in."""

    # A keyed hash: people type passwords where the e-mail address belongs.
    account_hash = models.CharField(max_length=64)
    address = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        # How many of late: from one address, and from there for one account.
        indexes = [
            models.Index(fields=["address", "created_at"], name="login_failure_address"),
            models.Index(fields=["account_hash", "address"], name="login_failure_account"),
        ]

    def __str__(self) -> str:
        return f"from {self.address} at {self.created_at}"


class KeyScope(models.TextChoices):
    SECRET = "secret"
    PUBLIC = "public"


class ApiKey(models.Model):
    """A key of a server (`secret`) or a web page (`public`, one bot), as prefix and keyed hash."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="api_keys")
    # The bot it speaks for; bots lie above this app, so the number alone is kept. A secret key
    # without one serves every bot of the client.
    bot_id = models.BigIntegerField(null=True)
    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=10, choices=KeyScope)
    prefix = models.CharField(max_length=12, unique=True)
    secret_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scope="secret") | models.Q(bot_id__isnull=False),
                name="public_key_has_bot",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"


class Plan(models.TextChoices):
    TRIAL = "trial"
    STANDARD = "standard"
    UNLIMITED = "unlimited"


class Subscription(models.Model):
    """What a client's plan includes and what is left of it, in credits."""

    client = models.OneToOneField(Client, on_delete=models.CASCADE, related_name="subscription")
    plan = models.CharField(max_length=10, choices=Plan, default=Plan.TRIAL)
    credits_included = models.PositiveIntegerField(default=1000)
    credits_left = models.PositiveIntegerField(default=1000)
    period_start = models.DateTimeField(db_default=Now())
    period_end = models.DateTimeField(null=True)
    is_active = models.BooleanField(default=True)

    objects = OfClient.as_manager()

    def __str__(self) -> str:
        return f"{self.plan} of {self.client_id}"
