"""Customers, and requests to erase them."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Now, Upper
from django.utils import timezone
from django.utils.translation import gettext

from chatplatform.ids import uuid7
from identity.models import TenantModel, User


class OptOut(models.TextChoices):
    """What a customer of a messaging channel no longer wants to receive."""

    NONE = "none"
    OFFERS = "offers"
    # No messages at all: templates are refused. This ends when the customer writes again.
    ALL = "all"


class Customer(TenantModel):
    """A person who writes to a client, or one of the client's users who tests a bot."""

    external_id = models.CharField(max_length=200, null=True)
    name = models.CharField(max_length=200, default="", blank=True)
    email = models.CharField(max_length=254, default="", blank=True)
    phone = models.CharField(max_length=40, default="", blank=True)
    avatar_url = models.CharField(max_length=500, default="", blank=True)
    # For an imported customer without an external id: the id in the source of the import.
    import_source_id = models.CharField(max_length=200, null=True)
    attributes = models.JSONField(default=dict)
    # The names of columns and attributes (`attributes.…`) that a visitor wrote. A public key may
    # set empty fields, but overwrite only these.
    self_reported_fields = models.JSONField(default=list)
    # Messages from the customer are refused until this time.
    blocked_until = models.DateTimeField(null=True)
    # The reason for the block, for the team to see.
    block_reason = models.CharField(max_length=300, null=True)
    opt_out = models.CharField(
        max_length=6, choices=OptOut, default=OptOut.NONE, db_default=OptOut.NONE
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "external_id"], name="customer_external_id"),
            models.UniqueConstraint(
                fields=["client", "import_source_id"], name="customer_import_source_id"
            ),
        ]
        indexes = [
            # Finds customers by a part of their name, email, phone number or external id.
            GinIndex(
                OpClass(Upper("name"), "gin_trgm_ops"),
                OpClass(Upper("email"), "gin_trgm_ops"),
                OpClass(Upper("phone"), "gin_trgm_ops"),
                OpClass(Upper("external_id"), "gin_trgm_ops"),
                name="customer_search",
            ),
            models.Index(fields=["client", "-id"], name="customer_list"),
        ]

    def __str__(self) -> str:
        return self.name or self.email or self.phone or gettext("Visitor")

    @property
    def is_blocked(self) -> bool:
        return self.blocked_until is not None and self.blocked_until > timezone.now()


class ErasureStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class CustomerErasure(TenantModel):
    """A request to erase a customer, and its progress. It keeps only the customer's id."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    customer_id = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=ErasureStatus, default=ErasureStatus.QUEUED)
    chats_total = models.PositiveIntegerField()
    chats_erased = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "customer_id"],
                condition=models.Q(status__in=["queued", "running"]),
                name="erasure_unique",
            )
        ]

    def __str__(self) -> str:
        return f"erasure of customer {self.customer_id}"
