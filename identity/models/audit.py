"""The audit log, and the hash chain that reveals changes to it."""

from django.db import models
from django.db.models.functions import Now

from chatplatform.crypto import EncryptedTextField
from identity.models.api_key import ApiKey
from identity.models.client import Client, TenantModel
from identity.models.user import User

# Separators in codes become spaces for display.
_SPACES = str.maketrans("._:", "   ")


class AuditEvent(TenantModel):
    """An action, such as a change, a sign-in or an export, and who took it. Append-only; contains
    no secrets.

    An event outlives the rows that it references, so there are no foreign key constraints.
    """

    client = models.ForeignKey(Client, on_delete=models.DO_NOTHING, db_constraint=False)
    # Null if an API key or the platform itself acted.
    user = models.ForeignKey(User, on_delete=models.DO_NOTHING, null=True, db_constraint=False)
    api_key = models.ForeignKey(ApiKey, on_delete=models.DO_NOTHING, null=True, db_constraint=False)
    # For example "user.role_changed".
    action = models.CharField(max_length=60)
    # The object of the action, for example "user:12".
    subject = models.CharField(max_length=100, default="", blank=True)
    # The changed fields. Their values are included unless they are secret or a customer's data.
    changes = models.JSONField(default=dict)
    address = models.CharField(max_length=64, default="", blank=True)
    request_id = models.CharField(max_length=64, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["client", "-id"], name="audit_log"),
            # For the history of one row, on the site.
            models.Index(fields=["subject", "-id"], name="audit_history"),
        ]

    def __str__(self) -> str:
        text = f"{self.action} of {self.subject}" if self.subject else self.action
        return text.translate(_SPACES).capitalize()


class AuditLink(TenantModel):
    """A link in a client's hash chain: a hash over an event and the previous link's hash.

    A database trigger writes a client's links one at a time, at commit. The application may only
    read them.
    """

    client = models.ForeignKey(
        Client, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    event = models.OneToOneField(
        AuditEvent, on_delete=models.DO_NOTHING, db_constraint=False, related_name="link"
    )
    hash = models.CharField(max_length=64)

    class Meta:
        indexes = [models.Index(fields=["client", "-id"], name="audit_chain")]

    def __str__(self) -> str:
        return f"link of {self.event_id}"


class AuditAnchor(TenantModel):
    """Replaces the events of a month that were removed because of their age. The chain continues
    from the anchor's hash."""

    client = models.ForeignKey(Client, on_delete=models.DO_NOTHING, db_constraint=False)
    # The first day of the month.
    month = models.DateField()
    # The number of removed links, and the hash of the last one.
    rows = models.PositiveIntegerField()
    hash = models.CharField(max_length=64)
    # The text of `statement()`, encrypted with FIELD_KEYS, which proves that the platform wrote it.
    seal = EncryptedTextField()

    class Meta:
        indexes = [models.Index(fields=["client", "-id"], name="audit_anchor")]

    def __str__(self) -> str:
        return f"anchor of {self.month:%Y-%m}"

    def statement(self, previous: str) -> str:
        """The text in the seal; `previous` is the hash of the client's previous anchor, if any."""
        return f"{self.client_id} {self.month} {self.rows} {previous or '-'} {self.hash}"
