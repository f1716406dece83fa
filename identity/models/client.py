"""The client, and the base class of models whose rows belong to a client."""

from typing import Self, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

Row = TypeVar("Row", bound=models.Model, covariant=True)


class Client(models.Model):
    """A company on the platform: the tenant. Never deleted, only disabled."""

    name = models.CharField(max_length=200)
    code = models.SlugField(max_length=60, unique=True)
    default_language = models.CharField(max_length=20, default="en")
    # The languages that the client offers and that new bots start with; empty: the languages of all
    # enabled bots.
    languages = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    timezone = models.CharField(max_length=64, default="UTC")
    is_disabled = models.BooleanField("disabled", default=False)
    # Set while the client is being moved to another cell: its requests are refused, and its jobs
    # wait.
    frozen_at = models.DateTimeField(null=True, editable=False)
    # Multiplies the request limits of the client's people and keys.
    rate_limit_factor = models.FloatField(
        default=1,
        db_default=1,
        validators=[MinValueValidator(0.01), MaxValueValidator(100)],
        help_text="Multiplies how many requests its people and keys may make in a minute.",
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            # Every claim of a job checks whether the job's client is frozen.
            models.Index(
                fields=["id"], condition=models.Q(frozen_at__isnull=False), name="client_frozen"
            )
        ]

    def __str__(self) -> str:
        return self.name


class TenantQuerySet(models.QuerySet[Row]):
    """Rows that belong to one client."""

    def for_client(self, client: Client) -> Self:
        """Only this client's rows."""
        return self.filter(client=client)


class TenantModel(models.Model):
    """A row that belongs to one client."""

    # No reverse relation: `for_client` finds a client's rows, and Django would go through dozens of
    # reverse relations in every query that defers a column of the client.
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="+")

    objects = TenantQuerySet.as_manager()

    class Meta:
        abstract = True
