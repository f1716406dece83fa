"""Operations of the tag `config`: how a client's chats behave, and who is told what."""

from rest_framework.request import Request

from chatplatform.api import TenantViewSet, operation
from chatplatform.errors import NotFound
from identity import serializers as s
from identity.auth import ADMIN
from identity.services import mails


class EmailNotificationViewSet(TenantViewSet):
    """Who of the client is told what by mail."""

    @operation(
        "config",
        "Update Email Notification",
        access=ADMIN,
        body=s.EmailNotificationRequest,
        returns=s.EmailNotificationRequest,
    )
    def update(
        self, request: Request, client_id: int, body: s.EmailNotificationRequest
    ) -> s.EmailNotificationRequest:
        """Choose who is told what by mail. What is left out keeps its value."""
        if client_id != self.client.pk:
            raise NotFound
        return s.EmailNotificationRequest.of(
            mails.update_notification(self.client, given=body, by=self.user)
        )
