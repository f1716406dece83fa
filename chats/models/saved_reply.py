"""Texts that agents send often."""

from django.db import models
from django.db.models.functions import Now

from identity.models import TenantModel, User


class SavedReply(TenantModel):
    """A text that agents send often, saved for one agent or the whole team."""

    # Null if the whole team may use the text.
    owner = models.ForeignKey(User, on_delete=models.CASCADE, null=True)
    shortcut = models.CharField(max_length=40)
    # The text in each language, with variables such as the customer's name.
    texts = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "shortcut", "owner"],
                nulls_distinct=False,
                name="saved_reply_shortcut",
            )
        ]

    def __str__(self) -> str:
        return self.shortcut
