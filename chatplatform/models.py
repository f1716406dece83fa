"""Jobs, the responses stored for repeated requests, and the encryption keys in use."""

from django.db import models
from django.db.models.functions import Now

from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7


class JobState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"  # by a person


class Job(models.Model):
    """A piece of work, enqueued in the transaction of the change that causes it.

    A worker claims it with a lease, which the worker renews while it works. `ordering_key` keeps
    the jobs of one subject in order: only the oldest unfinished job may run. The primary keys of
    these jobs grow in commit order, because the subject's row is locked while they are enqueued.
    """

    id = models.BigAutoField(primary_key=True)
    client_id = models.BigIntegerField(null=True)
    name = models.CharField(max_length=80)
    args = models.JSONField(default=dict)
    # In each queue, a client's job with the lowest number runs first.
    priority = models.BigIntegerField(db_default=0)
    dedupe_key = models.CharField(max_length=200, null=True)
    ordering_key = models.CharField(max_length=80, null=True)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    due_at = models.DateTimeField(db_default=Now())
    dispatched_at = models.DateTimeField(null=True)
    dispatches = models.PositiveSmallIntegerField(db_default=0)
    attempts = models.PositiveSmallIntegerField(db_default=0)
    # Null: the number in the job's declaration. Each wait for the file store adds one.
    max_attempts = models.PositiveSmallIntegerField(null=True)
    lease_until = models.DateTimeField(null=True)
    lease_token = models.UUIDField(null=True)
    # The number of the lock of the process that runs the job (`worker_locks`); null if unknown.
    lease_holder = models.BigIntegerField(null=True)
    # How many processes in a row have crashed while they ran the job.
    crashes = models.PositiveSmallIntegerField(db_default=0)
    progress = models.PositiveSmallIntegerField(default=0)
    last_error = models.TextField(default="", blank=True)
    trace_id = models.CharField(max_length=128, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # The same work is queued only once. While it runs, it may be queued again, because the
            # running job may have read old state.
            models.UniqueConstraint(
                fields=["name", "dedupe_key"],
                condition=models.Q(state="queued"),
                name="job_queued_unique",
            ),
            # Only one job of an ordering key runs, even if claims race.
            models.UniqueConstraint(
                fields=["ordering_key"],
                condition=models.Q(state="running"),
                name="job_running_unique",
            ),
            # A process runs at most one job that has crashed two processes or more: if this process
            # crashes too, the job is the cause (`leases.DEATHS`).
            models.UniqueConstraint(
                fields=["lease_holder"],
                condition=models.Q(state="running", crashes__gte=2),
                name="job_suspect_unique",
            ),
        ]
        indexes = [
            # For the relay: due jobs.
            models.Index(fields=["due_at"], condition=models.Q(state="queued"), name="job_due"),
            # For the relay's sweep: jobs whose lease has ended.
            models.Index(
                fields=["lease_until"], condition=models.Q(state="running"), name="job_leased"
            ),
            # For the claim: older jobs with the same ordering key.
            models.Index(
                fields=["ordering_key", "id"],
                condition=models.Q(state__in=["queued", "running"]),
                name="job_ordering",
            ),
            # For the clean-up: old finished jobs.
            models.Index(
                fields=["finished_at"],
                condition=models.Q(state__in=["done", "cancelled"]),
                name="job_ended",
            ),
            # For the metrics: the number of dead jobs.
            models.Index(fields=["name"], condition=models.Q(state="dead"), name="job_dead"),
        ]

    def __str__(self) -> str:
        return f"{self.name} #{self.pk} ({self.state})"


class FairShare(models.Model):
    """When a client was last served in a queue of fair jobs."""

    queue = models.CharField(max_length=20)
    client_id = models.BigIntegerField()
    served_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "client_id"], name="fair_share_unique")
        ]

    def __str__(self) -> str:
        return f"share of client {self.client_id} in {self.queue}"


class IdempotentResponse(models.Model):
    """The response to a request with an Idempotency-Key, stored for a day, or for a minute if it
    contains credentials.

    It is encrypted, since some responses show a secret once, such as a new API key.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    client_id = models.BigIntegerField()
    # A hash of the client, the caller, the path and the key.
    key_hash = models.CharField(max_length=64)
    # A hash of the query and the body: another body with the same key is refused.
    fingerprint = models.CharField(max_length=64)
    # JSON: the response, or only the result's id if a repetition creates the response again.
    response = EncryptedTextField(default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client_id", "key_hash"], name="idempotent_response_unique"
            )
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotent_response_age")]

    def __str__(self) -> str:
        return f"answer {self.pk}"


class EncryptionKey(models.Model):
    """The fingerprint of a key of FIELD_KEYS that may have encrypted secrets.

    A process that starts with a new newest key records it; a process that lacks a recorded key does
    not start (`chatplatform.encryption_key_check`). `rotate_keys` deletes the keys that it has
    replaced.
    """

    fingerprint = models.CharField(max_length=16, primary_key=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"key {self.fingerprint}"
