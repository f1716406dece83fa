"""Files attached to messages."""

from django.conf import settings
from django.core.signing import TimestampSigner
from django.db import models
from django.db.models.functions import Now

from chatplatform.ids import uuid7
from chats.models.conversation import Conversation
from chats.models.message import Message
from identity.models import TenantModel

ATTACHMENT_SALT = "chats.attachment"
ATTACHMENT_PATH = "/ai/attachment/"


class Attachment(TenantModel):
    """A file attached to a message, stored in the media store under a random name."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="attachments"
    )
    message = models.ForeignKey(
        Message, on_delete=models.CASCADE, null=True, related_name="attachments"
    )
    file = models.FileField(upload_to="attachments/", max_length=200)
    file_name = models.CharField(max_length=255)
    # Detected from the file's bytes; what the sender declares is ignored.
    mime_type = models.CharField(max_length=120)
    size_bytes = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.file_name

    @staticmethod
    def signed_url(attachment_id: str) -> str:
        """A URL that opens the file for a day without any other credential."""
        _, signature = TimestampSigner(salt=ATTACHMENT_SALT).sign(attachment_id).split(":", 1)
        return f"{Attachment.url_prefix()}{attachment_id}?signature={signature}"

    @staticmethod
    def url_prefix() -> str:
        """The prefix of every signed URL."""
        return f"{settings.PUBLIC_URL.rstrip('/')}{ATTACHMENT_PATH}"
