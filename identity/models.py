"""Clients, their people, keys, settings and credits."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models.functions import Now

from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from identity.audit_models import AuditAnchor as AuditAnchor
from identity.audit_models import AuditEvent as AuditEvent
from identity.audit_models import AuditLink as AuditLink
from identity.client_models import Client as Client
from identity.client_models import TenantModel as TenantModel
from identity.registration_and_provider_models import ProviderAccount as ProviderAccount
from identity.registration_and_provider_models import Registration as Registration
from identity.registration_and_provider_models import SignInProvider as SignInProvider


class AssignStrategy(models.TextChoices):
    """How a waiting chat gets its agent."""

    MANUAL = "manual"
    ROUND_ROBIN = "round_robin"
    LEAST_BUSY = "least_busy"


class ClientConfig(TenantModel):
    """A client's chat settings; `version` grows with every change."""

    client = models.OneToOneField(Client, on_delete=models.CASCADE, related_name="config")
    # [{"weekday": 0..6 (Monday first), "opens": "09:00", "closes": "17:00"}]; empty: always open.
    business_hours = models.JSONField(default=list)
    # [{"date": "2026-12-25", "name": "", "hours": [{"opens", "closes"}]}]; no hours: closed.
    holidays = models.JSONField(default=list)
    # Language to text, like handoff_message.
    out_of_hours_message = models.JSONField(default=dict)
    assign_strategy = models.CharField(
        max_length=12, choices=AssignStrategy, default=AssignStrategy.MANUAL
    )
    # A strategy assigns an agent at most this many open chats; the agent may still take more.
    agent_capacity = models.PositiveSmallIntegerField(default=5)
    handoff_on_request = models.BooleanField(default=True)
    handoff_on_no_answer = models.BooleanField(default=True)
    # Whether the bot asks the customer to rephrase the first question that it cannot answer. Null:
    # yes in chats of the widget and of messaging channels, no in those of the client's server.
    ask_again_before_handoff = models.BooleanField(null=True)
    # Whether the bot goes on answering while a chat waits for an agent.
    answer_while_waiting = models.BooleanField(default=True, db_default=True)
    handoff_message = models.JSONField(default=dict)
    # Other system messages that the client has replaced: name to language to text.
    system_messages = models.JSONField(default=dict)
    # Lowest probability (0..1) at which the bot answers; below it the bot hands over.
    answer_threshold = models.FloatField(default=0.77)
    # Whether the extractive answer replaces that of a failed model; if not, the bot hands over.
    fallback_to_extractive = models.BooleanField(default=True)
    # Whether a second model call checks that the documents support each answer.
    confirm_answers = models.BooleanField(default=True, db_default=True)
    # Customer messages within this time get one common reply; 0: one reply for each.
    burst_wait_ms = models.PositiveIntegerField(default=0)
    # An open chat ends after this many minutes without a message; 0: never.
    inactivity_end_minutes = models.PositiveIntegerField(default=1440)
    # For this many minutes after its end a customer's message reopens a chat; 0: never.
    reopen_window_minutes = models.PositiveIntegerField(default=1440)
    # Whether an identified customer has at most one open chat with a bot.
    reuse_open = models.BooleanField(default=False)
    # Whether customers are asked for a rating when their chat has ended.
    ask_feedback = models.BooleanField(default=True)
    # For how many minutes a customer may correct a rating; 0: never.
    feedback_edit_minutes = models.PositiveIntegerField(default=60)
    first_response_target_seconds = models.PositiveIntegerField(default=300)
    auto_summary = models.BooleanField(default=False)
    auto_tag = models.BooleanField(default=False)
    auto_sentiment = models.BooleanField(default=False)
    auto_translate = models.BooleanField(default=False)
    mask_personal_data = models.BooleanField(default=False)
    # Days for which ended chats are kept; null: forever.
    retention_days = models.PositiveIntegerField(null=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name, verbose_name_plural = "chat settings", "chat settings"

    def __str__(self) -> str:
        return f"Chat settings of {self.client}"


class EmailNotification(TenantModel):
    """Who gets which notifications by mail. Without a row nobody gets any."""

    client = models.OneToOneField(
        Client, on_delete=models.CASCADE, related_name="email_notification"
    )
    recipients = ArrayField(models.EmailField(max_length=254), default=list)
    on_assigned = models.BooleanField(default=False)
    on_unanswered = models.BooleanField(default=False)
    on_handoff = models.BooleanField(default=False)
    on_channel_error = models.BooleanField(default=False)
    on_low_credit = models.BooleanField(default=False)
    # Whether the agent of a chat gets the mails about it too.
    to_assignee = models.BooleanField(default=True)
    unanswered_after_minutes = models.PositiveIntegerField(default=15)

    def __str__(self) -> str:
        return f"mails of {self.client_id}"


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
        """Only this client's people."""
        return self.filter(client=client)


class User(AbstractBaseUser, PermissionsMixin):
    """One of a client's people, or platform staff (superuser without a client)."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, null=True, related_name="users")
    # In lower case, so that an address belongs to one account.
    email = models.EmailField(max_length=254, unique=True)
    full_name = models.CharField(max_length=200)
    # Shown to customers beside the name.
    avatar_url = models.CharField(max_length=500, default="", blank=True)
    role = models.CharField(max_length=10, choices=Role, default=Role.AGENT)
    language = models.CharField(max_length=20, default="en")
    # Whether the person may train bots regardless of the role.
    can_train = models.BooleanField(default=False)
    is_disabled = models.BooleanField(default=False)
    # Incremented to end all access tokens issued before.
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
        """The person's name, under the method name that Django's templates call."""
        return self.full_name

    @property
    def is_active(self) -> bool:  # type: ignore[override]
        """Whether the account may sign in, under the name that Django reads."""
        return not self.is_disabled and not (self.client and self.client.is_disabled)

    @property
    def is_staff(self) -> bool:
        """Whether the user may enter the site: platform staff, and the people of clients."""
        return self.is_superuser or self.client_id is not None

    @property
    def is_admin(self) -> bool:
        """Whether the user may change what belongs to the whole client."""
        return self.role in {Role.OWNER, Role.ADMIN}


class RefreshToken(TenantModel):
    """One refresh token, as a keyed hash. A family is one sign-in and all its rotations."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="refresh_tokens")
    family = models.UUIDField()
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    rotated_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["family"], name="refresh_family")]

    def __str__(self) -> str:
        return f"refresh token {self.pk} of {self.user_id}"


class SiteSession(AbstractBaseSession):
    """One sign-in to the site: a Django session with a reference to its person."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="sessions")
    # The family of the access tokens issued for the session; they end with it.
    token_family = models.UUIDField(null=True, unique=True)


class Impersonation(models.Model):
    """An impersonation: the session's person sees the site as `user`, one of a client's people."""

    session = models.OneToOneField(
        SiteSession, on_delete=models.CASCADE, related_name="impersonation"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="impersonations")

    def __str__(self) -> str:
        return f"view as {self.user_id}"


class SavedView(models.Model):
    """A person's saved view of one of the site's lists: filters, order and columns."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_views")
    # The list, such as "chats.conversation".
    list_name = models.CharField(max_length=60)
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, blank=True)
    # Whether colleagues see it too.
    is_shared = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "list_name", "name"], name="saved_view_unique")
        ]

    def __str__(self) -> str:
        return self.name


class SecondFactor(models.Model):
    """A person's TOTP secret and hashes of recovery codes; without a row a password suffices."""

    # Known before the insert, since the encryption binds the secret to the row.
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
    """Operations with a limit on attempts."""

    SIGN_IN = "sign_in"
    CODE = "code"
    ASK_RESET = "ask_reset"
    TRY_RESET = "try_reset"
    REGISTER = "register"
    CONFIRM = "confirm"
    PROVIDER = "provider"
    # These need a credential, but anybody can register for one, and they send mail to strangers.
    ADD_USER = "add_user"
    TEST_MAIL = "test_mail"
    # Mailed transcripts, counted for each chat, mailbox and visitor.
    MAIL_CHAT = "mail_chat"
    MAIL_TO = "mail_to"
    MAIL_GUEST = "mail_guest"


class Attempt(models.Model):
    """An attempt that counts against a limit; a successful sign-in deletes the earlier ones."""

    kind = models.CharField(max_length=10, choices=AttemptKind)
    # A keyed hash, since people sometimes type a password into the e-mail field.
    account_hash = models.CharField(max_length=64)
    address = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        # Recent attempts from an address, and for an account.
        indexes = [
            models.Index(fields=["kind", "address", "created_at"], name="attempt_address"),
            models.Index(fields=["kind", "account_hash"], name="attempt_account"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} from {self.address} at {self.created_at}"


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
    # A request limit below that of the scope; null: the scope's limit.
    requests_per_minute = models.PositiveIntegerField(null=True)
    # Credits that chats opened with the key may cost in a day (UTC); null: no cap of its own.
    daily_credits = models.PositiveIntegerField(null=True)

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


class Subscription(TenantModel):
    """A client's plan and its credits."""

    client = models.OneToOneField(Client, on_delete=models.CASCADE, related_name="subscription")
    plan = models.CharField(max_length=10, choices=Plan, default=Plan.TRIAL)
    credits_included = models.PositiveIntegerField(default=1000)
    # Changed only by identity.services.credits, which writes a CreditEntry with each change.
    credits_left = models.PositiveBigIntegerField(default=0)
    credits_used = models.PositiveBigIntegerField(default=0)
    # The lowest warning level (per cent of credits_included) since credits were added; null: none.
    lowest_warning_level = models.PositiveSmallIntegerField(null=True)
    period_start = models.DateTimeField(db_default=Now())
    # Null: the period does not end.
    period_end = models.DateTimeField(null=True, blank=True)
    is_active = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(period_end__gt=models.F("period_start")),
                name="subscription_period_has_length",
                violation_error_message="A period must end after it starts.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_plan_display()} of {self.client}"


class EntryKind(models.TextChoices):
    """Why a balance changed."""

    GRANT = "grant"  # included in a plan or its next period
    TOP_UP = "top_up"
    RESERVE = "reserve"  # before an AI call
    SETTLE = "settle"  # the unused part of a reservation comes back (or 0)
    RELEASE = "release"  # the call failed: the whole reservation comes back


class CreditEntry(TenantModel):
    """One change of a client's balance. Append-only: the amounts sum to `credits_left`.
    Only `is_open` changes later, when the call of a reservation has ended.
    """

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="credit_entries")
    kind = models.CharField(max_length=10, choices=EntryKind)
    # Added to the balance; negative for a reservation.
    amount = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    # What the credits are for, such as "reply:<message id>"; a repeated job finds its entry by it.
    reference = models.CharField(max_length=200)
    is_open = models.BooleanField(default=False)
    # The job that made a reservation; null if a request made it.
    job_id = models.BigIntegerField(null=True)
    # The key that opened the chat, if the key has a daily cap.
    key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, db_index=False)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "credit entries"
        constraints = [
            # Released credits may be reserved again; nothing is paid twice.
            models.UniqueConstraint(
                fields=["client", "reference", "kind"],
                condition=models.Q(kind__in=["grant", "top_up", "settle"]),
                name="credit_entry_unique",
            ),
            models.UniqueConstraint(
                fields=["client", "reference"],
                condition=models.Q(is_open=True),
                name="credit_reservation_unique",
            ),
        ]
        indexes = [
            models.Index(fields=["client", "id"], name="credit_ledger"),
            models.Index(fields=["client", "reference"], name="credit_reference"),
            models.Index(fields=["client", "created_at"], name="credit_by_date"),
            # The clean-up: reservations whose call never ended.
            models.Index(
                fields=["created_at"], condition=models.Q(is_open=True), name="credit_open"
            ),
            models.Index(
                fields=["key", "created_at"],
                condition=models.Q(key__isnull=False),
                name="credit_of_key",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.amount:,} credits"


class OrderStatus(models.TextChoices):
    PENDING = "pending"
    PAID = "paid"
    REFUSED = "refused"


class CreditOrder(TenantModel):
    """Credits that a client wants to buy; they are added to the ledger when the order is paid."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    amount = models.PositiveIntegerField()
    # Chosen by the client; also the reference of the ledger entry.
    reference = models.CharField(max_length=200)
    status = models.CharField(max_length=8, choices=OrderStatus, default=OrderStatus.PENDING)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "reference"], name="credit_order_unique")
        ]
        # A client's orders, newest first.
        indexes = [models.Index(fields=["client", "-id"], name="credit_orders")]

    def __str__(self) -> str:
        return f"{self.amount:,} credits for {self.client}: {self.reference}"


class PasswordReset(TenantModel):
    """A one-time link to set a password, sent by mail; only its keyed hash is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"password reset of {self.user_id}"


class ChannelToken(TenantModel):
    """A client's own access token at a messaging provider, encrypted; one for each channel."""

    # Known before the insert, since the encryption binds the token to the row.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    channel = models.CharField(max_length=10)
    access_token = EncryptedTextField()
    user_external_id = models.CharField(max_length=200, default="", blank=True)
    expires_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "channel"], name="channel_token_unique")
        ]

    def __str__(self) -> str:
        return f"{self.channel} token of {self.client_id}"
