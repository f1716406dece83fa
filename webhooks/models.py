"""The append-only event log, and the delivery of events to clients' servers."""

from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models.functions import Now

from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from chatplatform.templatetags.codes import humanize_code
from identity.models import Client, TenantModel

# The id of the document or customer that an event is about; null for other events.
SUBJECT_ID = models.Func(
    "data",
    template="COALESCE(%(expressions)s #>> '{document,id}', %(expressions)s #>> '{customer,id}')",
    output_field=models.TextField(),
)


class Event(TenantModel):
    """An event, written in the transaction of the change it describes; never updated.

    It has the same id in webhooks and the live feed. `sequence` increases by one within a
    conversation. Its `FeedEntry` has its position in the feed. The table is partitioned by month of
    the id.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    type = models.CharField(max_length=60)
    # Conversations are in a higher app, so there is no foreign key.
    conversation_id = models.UUIDField(null=True)
    sequence = models.PositiveIntegerField(null=True)
    data = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            # The number is unique because it is assigned under the conversation's row lock.
            models.Index(
                fields=["conversation_id", "sequence"], name="event_sequence_in_conversation"
            ),
            BrinIndex(fields=["created_at"], name="event_created"),
            # For the activity of a document or customer on the site.
            models.Index(
                SUBJECT_ID,
                "id",
                condition=models.Q(conversation_id__isnull=True),
                name="event_subject",
            ),
        ]

    def __str__(self) -> str:
        return humanize_code(self.type)


class UnnumberedEvent(TenantModel):
    """Marks an event that has no feed position yet. The row is deleted when the event gets one.

    `number` is assigned under the conversation's lock, so the numbers of a conversation's events
    are in order.
    """

    event_id = models.UUIDField(primary_key=True)

    # No database constraints: locks on the client's or the event's row must not delay the feed.
    client = models.ForeignKey(
        Client, on_delete=models.CASCADE, db_index=False, db_constraint=False
    )
    number = models.BigIntegerField(
        db_default=models.Func(models.Value("webhooks_event_number"), function="nextval")
    )

    class Meta:
        indexes = [
            # For a client's next events. There is no index on the number alone: PostgreSQL would
            # use it instead, and read the rows of other clients.
            models.Index(fields=["client", "number"], name="unnumbered_event")
        ]

    def __str__(self) -> str:
        return str(self.event_id)


class FeedEntry(TenantModel):
    """An event's position in its client's feed; written after the event's commit, never updated.

    `position` increases with every entry of the client and is never reused: see `feed_order`.
    """

    # No database constraints, for the same reason as in `UnnumberedEvent`.
    event = models.OneToOneField(
        Event,
        on_delete=models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="feed_entry",
    )
    client = models.ForeignKey(
        Client, on_delete=models.CASCADE, db_index=False, db_constraint=False
    )
    position = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "position"], name="feed_entry_position")
        ]

    def __str__(self) -> str:
        return f"{self.position}: {self.event_id}"


class DisabledReason(models.TextChoices):
    """Why an endpoint is off."""

    BY_HAND = "by_hand"  # switched off by the client
    GONE = "gone"  # its server responded with 410
    FAILING = "failing"  # all its deliveries failed for five days


class WebhookConfig(TenantModel):
    """A client's endpoint: its URL, event types and health.

    The dispatcher writes the health columns only when they change. Switching the endpoint on
    resets them.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    url = models.CharField(max_length=2000)
    # Empty: every type.
    event_types = ArrayField(models.CharField(max_length=60), default=list)
    description = models.CharField(max_length=200, default="", blank=True)
    is_active = models.BooleanField("active", default=True)
    disabled_reason = models.CharField(max_length=10, choices=DisabledReason, null=True)
    disabled_at = models.DateTimeField(null=True)
    secret = EncryptedTextField()
    # After a rotation, deliveries are also signed with the old secret, until the time below.
    previous_secret = EncryptedTextField(default="")
    previous_secret_until = models.DateTimeField(null=True)
    consecutive_failures = models.PositiveIntegerField(db_default=0)
    failing_since = models.DateTimeField(null=True)
    warned_at = models.DateTimeField(null=True)
    # Nothing is sent before this time: the circuit breaker is open, or the receiver asked to wait
    # with Retry-After.
    paused_until = models.DateTimeField(null=True)
    # When the endpoint was deleted. The row stays until its deliveries are purged.
    deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = "endpoint", "endpoints"
        indexes = [
            # For `announce()`, which looks up active endpoints.
            models.Index(
                fields=["client"], condition=models.Q(is_active=True), name="endpoint_active"
            )
        ]

    def __str__(self) -> str:
        return self.url

    def secrets(self, now: datetime) -> list[str]:
        """The secrets with which to sign at this time, the newest first."""
        secrets = [self.secret]
        if self.previous_secret_until and self.previous_secret_until > now:
            secrets.append(self.previous_secret)
        return secrets


class Payload(models.Model):
    """The body sent for an event, encoded once so that every attempt sends the same bytes.

    It exists only if the event has deliveries. The table is partitioned by month of the event's id.
    """

    # Foreign keys to events have no database constraint, so that a whole month can be dropped.
    event = models.OneToOneField(
        Event, on_delete=models.CASCADE, primary_key=True, db_constraint=False
    )
    body = models.BinaryField()

    def __str__(self) -> str:
        return f"body of {self.event_id}"


class DeliveryState(models.TextChoices):
    PENDING = "pending"  # no attempt has ended yet
    FAILED = "failed"  # the latest attempt failed, another follows
    SUCCEEDED = "succeeded"
    GAVE_UP = "gave_up"  # no attempt follows unless the event is replayed


class Delivery(TenantModel):
    """One event for one endpoint. The dispatcher leases the row, and sends the event.

    `due_at` is when the next attempt is due; during an attempt, the end of its lease; null if no
    attempt follows. So if a dispatcher crashes, its deliveries are due when their leases end.
    """

    # The foreign keys have no indexes of their own, to keep the table cheap to write.
    client = models.ForeignKey(Client, on_delete=models.CASCADE, db_index=False)
    event = models.ForeignKey(
        Event,
        on_delete=models.CASCADE,
        related_name="deliveries",
        db_index=False,
        db_constraint=False,
    )
    config = models.ForeignKey(
        WebhookConfig, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    state = models.CharField(max_length=10, choices=DeliveryState, db_default=DeliveryState.PENDING)
    due_at = models.DateTimeField(null=True, db_default=Now())
    attempts = models.PositiveSmallIntegerField(db_default=0)
    # Attempts made before the latest replay, which restarts the retry delays.
    attempts_before_replay = models.PositiveSmallIntegerField(db_default=0)
    # A test is sent once and immediately, whatever the endpoint's health.
    is_test = models.BooleanField("test", db_default=False)
    lease_token = models.UUIDField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["event", "config"], name="delivery_unique")]
        indexes = [
            # For the dispatcher: endpoints with due deliveries, and their oldest delivery.
            models.Index(
                fields=["config", "due_at", "id"],
                condition=models.Q(due_at__isnull=False, is_test=False),
                name="delivery_due",
            ),
            # For the dispatcher: due tests.
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False, is_test=True),
                name="delivery_test_due",
            ),
            # For the limit on tests.
            models.Index(
                fields=["config", "created_at"],
                condition=models.Q(is_test=True),
                name="delivery_test",
            ),
            # For the dispatcher: the number of an endpoint's requests in flight.
            models.Index(
                fields=["config"],
                condition=models.Q(lease_token__isnull=False),
                name="delivery_in_flight",
            ),
            # For the page of failures: a client's recent failures.
            models.Index(
                fields=["client", "created_at"],
                condition=models.Q(state="gave_up"),
                name="delivery_gave_up",
            ),
            # For deleting old deliveries.
            BrinIndex(fields=["created_at"], name="delivery_created"),
        ]

    def __str__(self) -> str:
        return f"{self.event} · {self.config}"


class DeliveryAttempt(TenantModel):
    """One request to an endpoint, and the response. Append-only, kept for at least 30 days.

    The table is partitioned by month of `created_at`.
    """

    client = models.ForeignKey(Client, on_delete=models.CASCADE, db_index=False)
    delivery = models.ForeignKey(
        Delivery, on_delete=models.CASCADE, related_name="log", db_index=False, db_constraint=False
    )
    number = models.PositiveSmallIntegerField()
    http_status = models.PositiveSmallIntegerField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    # Null on success; see `webhooks.transport.Fault`.
    error = models.CharField(max_length=30, null=True)
    # About the first 1,000 bytes of the response, with secrets redacted.
    response_excerpt = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        # The number is unique because attempts are counted under the delivery's row lock.
        indexes = [models.Index(fields=["delivery", "number"], name="delivery_attempt_number")]

    def __str__(self) -> str:
        return f"{self.number}"
