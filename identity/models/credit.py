"""Plans, and the credits that clients buy and use."""

from django.db import models
from django.db.models.functions import Now

from chatplatform.ids import uuid7
from identity.models.api_key import ApiKey
from identity.models.client import Client, TenantModel
from identity.models.user import User


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
    # The client is warned only at lower levels (percent of credits_included); null: at every level.
    lowest_warning_level = models.PositiveSmallIntegerField(null=True)
    period_start = models.DateTimeField(db_default=Now())
    # Null: the period does not end.
    period_end = models.DateTimeField(null=True, blank=True)
    is_active = models.BooleanField("active", default=True)

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

    GRANT = "grant"  # included in the plan, or added because the plan is unlimited
    TOP_UP = "top_up"
    RESERVE = "reserve"  # before an AI call
    SETTLE = "settle"  # the call succeeded: the unused part of a reservation is returned
    RELEASE = "release"  # the call failed: the whole reservation is returned


class CreditEntry(TenantModel):
    """One change of a client's balance. Append-only: the amounts add up to `credits_left`.
    Only `is_open` changes later, when the AI call of a reservation has ended.
    """

    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="credit_entries")
    kind = models.CharField(max_length=10, choices=EntryKind)
    # Added to the balance; negative for a reservation.
    amount = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    # What the credits are for, such as "reply:<message id>". A job that runs again finds its
    # entry by the reference.
    reference = models.CharField(max_length=200)
    is_open = models.BooleanField("open", default=False)
    # The job that made a reservation; null if a request made it.
    job_id = models.BigIntegerField(null=True)
    # The key that opened the chat, if the key has a daily cap.
    key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, db_index=False)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "credit entries"
        constraints = [
            # After a release a reference may be reserved again, but it is never charged twice.
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
            # For the clean-up of reservations whose call never ended.
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
        # For queries of a client's orders, newest first.
        indexes = [models.Index(fields=["client", "-id"], name="credit_orders")]

    def __str__(self) -> str:
        return f"{self.amount:,} credits for {self.client}: {self.reference}"
