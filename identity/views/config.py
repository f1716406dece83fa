"""Operations of the tag `config`: how a client's chats behave, and who is told what."""

from rest_framework.request import Request

from chatplatform.api.errors import NotFound
from chatplatform.api.openapi import Error
from chatplatform.api.operation import operation
from identity.auth import ADMIN, BEARER, TenantViewSet
from identity.services import configs, mails
from identity.shapes import identity as identity_shapes


class ConfigViewSet(TenantViewSet):
    @operation(
        "config",
        "Getclientchatconfigrouter",
        access=BEARER,
        returns=identity_shapes.ClientConfigDto,
    )
    def retrieve(self, request: Request, client_id: int) -> identity_shapes.ClientConfigDto:
        """How your chats behave."""
        return identity_shapes.ClientConfigDto.from_row(configs.get(self.client, client_id))

    @operation(
        "config",
        "Updateclientchatconfigrouter",
        access=ADMIN,
        body=identity_shapes.ClientConfigDto,
        returns=identity_shapes.ClientConfigDto,
        also={409: Error},
    )
    def update(
        self, request: Request, client_id: int, body: identity_shapes.ClientConfigDto
    ) -> identity_shapes.ClientConfigDto:
        """Change the fields that the body names; the others keep their value.

        Send the `version` that you read to be told of a change in between: then nothing changes,
        and the 409 `stale_version` holds the current `version`.
        """
        config = configs.get(self.client, client_id)
        return identity_shapes.ClientConfigDto.from_row(
            configs.update(config, given=body, by=self.user)
        )


class EmailNotificationViewSet(TenantViewSet):
    """Who of the client is told what by mail."""

    @operation(
        "config",
        "Update Email Notification",
        access=ADMIN,
        body=identity_shapes.EmailNotificationRequest,
        returns=identity_shapes.EmailNotificationRequest,
    )
    def update(
        self, request: Request, client_id: int, body: identity_shapes.EmailNotificationRequest
    ) -> identity_shapes.EmailNotificationRequest:
        """Choose who is told what by mail. What is left out keeps its value."""
        if client_id != self.client.pk:
            raise NotFound
        return identity_shapes.EmailNotificationRequest.from_row(
            mails.update_notification(self.client, given=body, by=self.user)
        )
