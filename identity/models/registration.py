"""Registrations of companies."""

from django.db import models
from django.db.models.functions import Now


class Registration(models.Model):
    """A company's request to register; the client is created when the mailed link is confirmed.

    There may be several requests with the same email address; each has its own link and password.
    """

    company_name = models.CharField(max_length=200)
    full_name = models.CharField(max_length=200)
    # In lower case.
    email = models.EmailField(max_length=254, db_index=True)
    language = models.CharField(max_length=20)
    timezone = models.CharField(max_length=64)
    # Hashed like users' passwords. To confirm, the person must enter it again.
    password = models.CharField(max_length=128)
    # A keyed hash of the token in the latest link; null: no link was mailed yet.
    token_hash = models.CharField(max_length=64, unique=True, null=True)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"registration {self.pk}"
