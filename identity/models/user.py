"""The users, who are people of clients or platform staff, and their saved views."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Now

from chatplatform import media
from identity.models.client import Client


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

    def for_client(self, client: Client) -> models.QuerySet["User"]:
        """Only this client's users."""
        return self.filter(client=client)


class User(AbstractBaseUser, PermissionsMixin):
    """One of a client's people, or a member of the platform staff, who is a superuser without a
    client."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, null=True, related_name="users")
    # In lower case, so that no two accounts have the same address.
    email = models.EmailField(max_length=254, unique=True)
    full_name = models.CharField(max_length=200)
    # Shown to customers next to the name.
    avatar_url = models.CharField(max_length=500, default="", blank=True)
    # The uploaded picture that `avatar_url` points to, if any.
    avatar_file = models.FileField(
        upload_to="banners/", max_length=200, default="", db_default="", blank=True
    )
    role = models.CharField(max_length=10, choices=Role, default=Role.AGENT)
    language = models.CharField(max_length=20, default="en")
    # Whether the person may train bots regardless of the role.
    can_train = models.BooleanField(default=False)
    is_disabled = models.BooleanField("disabled", default=False)
    # Whether the person takes no new chats for now; they set it in the inbox.
    is_away = models.BooleanField("away", default=False, db_default=False)
    # Incremented to invalidate all access tokens issued before.
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
            )
        ]

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        """The person's name. Django's templates call a method with this name."""
        return self.full_name

    @property
    def picture_url(self) -> str:
        """The picture's current URL. The URL of an uploaded picture is computed, because the
        platform's URL may have changed since the upload."""
        return media.public_url(str(self.avatar_file)) if self.avatar_file else self.avatar_url

    @property
    def is_active(self) -> bool:  # type: ignore[override]
        """Whether the account may sign in. Django requires this name."""
        return not self.is_disabled and not (self.client and self.client.is_disabled)

    @property
    def is_invited(self) -> bool:
        """Whether the user is one of a client's people, is not disabled, and has neither chosen a
        password nor signed in yet."""
        has_never_signed_in = self.last_login is None and not self.has_usable_password()
        return has_never_signed_in and self.client_id is not None and not self.is_disabled

    @property
    def is_staff(self) -> bool:
        """Whether the user may use the site, which clients' people and platform staff may. Django
        requires this name."""
        return self.is_superuser or self.client_id is not None

    @property
    def is_admin(self) -> bool:
        """Whether the user is an owner or an admin of the client."""
        return self.role in {Role.OWNER, Role.ADMIN}


class SavedView(models.Model):
    """A person's saved view of one of the site's lists, or a saved report: a query with a name."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_views")
    # The list, such as "chats.conversation", or "reports.adhoc" for a saved report.
    list_name = models.CharField(max_length=60)
    name = models.CharField(max_length=80)
    query = models.TextField(blank=True)
    # Whether colleagues see it too.
    is_shared = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "list_name", "name"], name="saved_view_unique")
        ]

    def __str__(self) -> str:
        return self.name
