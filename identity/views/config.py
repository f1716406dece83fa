"""Operations of the tag `config`: how a client's chats behave, and who is told what."""

from rest_framework.request import Request

from chatplatform.api import TenantViewSet, operation
from chatplatform.errors import NotFound
from chatplatform.openapi import Error
from identity import serializers as s
from identity.auth import ADMIN, BEARER
from identity.services import configs, mails


class ConfigViewSet(TenantViewSet):
    @operation("config", "Getclientchatconfigrouter", access=BEARER, returns=s.ClientConfigDto)
    def retrieve(self, request: Request, client_id: int) -> s.ClientConfigDto:
        """How your chats behave."""
        return s.ClientConfigDto.of(configs.get(self.client, client_id))

    @operation(
        "config",
        "Updateclientchatconfigrouter",
        access=ADMIN,
        body=s.ClientConfigDto,
        returns=s.ClientConfigDto,
        also={409: Error},
    )
    def update(
        self, request: Request, client_id: int, body: s.ClientConfigDto
    ) -> s.ClientConfigDto:
        """Change the fields that the body names; the others keep their value.

        Send the `version` that you read to be told of a change in between: then nothing changes,
        and the 409 `stale_version` holds the current `version`.
        """
        config = configs.get(self.client, client_id)
        return s.ClientConfigDto.of(configs.update(config, given=body, by=self.user))


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
