"""What happened: the append-only event log, and its delivery to clients' servers."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models.functions import Now

from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from identity.models import Client, OfClient


class Event(models.Model):
    """Something that happened, written in the transaction of the change; never changed after.

    The same id names the webhook delivery, the live stream's event and this row. `sequence` grows
    by one within a conversation. The feed's order is (`rank`, `position`): see
    `webhooks.services.events.after`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    type = models.CharField(max_length=60)
    # Conversations lie above this app: the number alone is kept.
    conversation_id = models.UUIDField(null=True)
    sequence = models.PositiveIntegerField(null=True)
    data = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    # The transaction that wrote it, or that of its conversation's event before where that is later.
    rank = models.BigIntegerField(db_default=0)
    position = models.BigIntegerField(
        db_default=models.Func(models.Value("webhooks_event_position"), function="nextval")
    )

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation_id", "sequence"], name="event_sequence_in_conversation"
            )
        ]
        indexes = [
            # A client's log, in the order of the feed.
            models.Index(fields=["client", "rank", "position"], name="event_feed"),
            BrinIndex(fields=["created_at"], name="event_created"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.pk}"


class FeedEpoch(models.Model):
    """One row: what is added to a transaction's number to make a rank.

    Numbers of transactions begin anew in a database that was restored from a dump; ranks go on.
    """

    lead = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"+{self.lead}"


class DisabledReason(models.TextChoices):
    """Why an endpoint gets nothing."""

    BY_HAND = "by_hand"  # the client switched it off
    GONE = "gone"  # it answered 410
    FAILING = "failing"  # days of nothing but failures


class EndpointQuerySet(OfClient["WebhookConfig"]):
    def current(self) -> Self:
        """Without those that were deleted."""
        return self.filter(deleted_at=None)


class WebhookConfig(models.Model):
    """A client's endpoint: where events are delivered, which, and how it fares.

    The health columns are written by the courier alone, and only when they change.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    url = models.CharField(max_length=2000)
    # Empty: every type.
    event_types = ArrayField(models.CharField(max_length=60), default=list)
    description = models.CharField(max_length=200, default="", blank=True)
    is_active = models.BooleanField(default=True)
    disabled_reason = models.CharField(max_length=10, choices=DisabledReason, null=True)
    disabled_at = models.DateTimeField(null=True)
    secret = EncryptedTextField()
    # After a rotation the old one signs along until this moment.
    previous_secret = EncryptedTextField(default="")
    previous_secret_until = models.DateTimeField(null=True)
    failures_in_row = models.PositiveIntegerField(db_default=0)
    failing_since = models.DateTimeField(null=True)
    warned_at = models.DateTimeField(null=True)
    # The breaker is open, or the receiver asked for time: nothing is sent before.
    paused_until = models.DateTimeField(null=True)
    # Kept for its deliveries' sake until those are forgotten.
    deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = EndpointQuerySet.as_manager()

    class Meta:
        indexes = [
            # announce(): who listens?
            models.Index(
                fields=["client"], condition=models.Q(is_active=True), name="endpoint_listening"
            )
        ]

    def __str__(self) -> str:
        return self.url

    def secrets(self, now: datetime) -> list[str]:
        """Whatever signs at this moment, the newest first."""
        found = [self.secret]
        if self.previous_secret_until and self.previous_secret_until > now:
            found.append(self.previous_secret)
        return found


class Payload(models.Model):
    """The very bytes that are sent for an event: made once, so that every attempt sends the same.

    There is one only where an endpoint was, or is to be, sent the event.
    """

    event = models.OneToOneField(Event, on_delete=models.CASCADE, primary_key=True)
    body = models.BinaryField()

    def __str__(self) -> str:
        return f"body of {self.event_id}"


class DeliveryState(models.TextChoices):
    PENDING = "pending"  # no attempt has ended yet
    FAILED = "failed"  # the latest attempt failed, another follows
    SUCCEEDED = "succeeded"
    GAVE_UP = "gave_up"  # no attempt follows, unless it is replayed


class Delivery(models.Model):
    """One event on its way to one endpoint: a row of work, taken by the courier under a lease.

    `due_at` is when the next attempt is due; while one is made, when its lease ends; null when
    there is nothing left to do. A courier that dies therefore loses nothing.
    """

    # Found by event or by what is due: no further index, since every event passes here.
    client = models.ForeignKey(Client, on_delete=models.CASCADE, db_index=False)
    event = models.ForeignKey(
        Event, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    config = models.ForeignKey(
        WebhookConfig, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    state = models.CharField(max_length=10, choices=DeliveryState, db_default=DeliveryState.PENDING)
    due_at = models.DateTimeField(null=True, db_default=Now())
    attempts = models.PositiveSmallIntegerField(db_default=0)
    # Attempts made before the latest replay: the ladder begins anew with it.
    attempts_before = models.PositiveSmallIntegerField(db_default=0)
    # Sent on demand: once, at once, whatever the endpoint's health.
    is_test = models.BooleanField(db_default=False)
    lease_token = models.UUIDField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event", "config"], name="delivery_once"),
        ]
        indexes = [
            # The courier: which endpoints have work, and the oldest of it.
            models.Index(
                fields=["config", "due_at", "id"],
                condition=models.Q(due_at__isnull=False, is_test=False),
                name="delivery_due",
            ),
            # The courier: tests that somebody waits for.
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False, is_test=True),
                name="delivery_test_due",
            ),
            # The limit of tests.
            models.Index(
                fields=["config", "created_at"],
                condition=models.Q(is_test=True),
                name="delivery_test",
            ),
            # The courier: how many are on their way to an endpoint.
            models.Index(
                fields=["config"],
                condition=models.Q(lease_token__isnull=False),
                name="delivery_on_its_way",
            ),
            # Housekeeping.
            BrinIndex(fields=["created_at"], name="delivery_created"),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.config_id} ({self.state})"


class DeliveryAttempt(models.Model):
    """One request to an endpoint and what came back. Append-only, kept for 30 days."""

    client = models.ForeignKey(Client, on_delete=models.CASCADE, db_index=False)
    delivery = models.ForeignKey(
        Delivery, on_delete=models.CASCADE, related_name="log", db_index=False
    )
    number = models.PositiveSmallIntegerField()
    http_status = models.PositiveSmallIntegerField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    # Null where it succeeded; see `webhooks.delivery.Fault`.
    error = models.CharField(max_length=30, null=True)
    # The first 1,000 bytes or so of the answer, without what looks like a secret.
    response_excerpt = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = OfClient.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["delivery", "number"], name="attempt_once"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}"
