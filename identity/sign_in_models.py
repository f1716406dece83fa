"""What comes before a sign-in."""

from django.db import models
from django.db.models.functions import Now


class Registration(models.Model):
    """A company that asked to register: its rows are made when its mailbox has answered.

    One address may ask several times; each link belongs to one row and its password.
    """

    company_name = models.CharField(max_length=200)
    full_name = models.CharField(max_length=200)
    # In lower case.
    email = models.EmailField(max_length=254, db_index=True)
    language = models.CharField(max_length=20)
    timezone = models.CharField(max_length=64)
    # As hashed for sign-ins: whoever has the link must know it too.
    password = models.CharField(max_length=128)
    # Of the newest link, a keyed hash; null: none was mailed yet.
    token_hash = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"registration {self.pk}"
