"""Operations of the tag `config`: a client's chat settings and mail notifications."""

from chatplatform.api.errors import NotFound
from chatplatform.api.openapi import Error
from chatplatform.api.operation import operation
from identity.auth import ADMIN, BEARER, TenantViewSet
from identity.services import configs, mails
from identity.shapes.configs import ClientConfigDto, EmailNotificationRequest


class ConfigViewSet(TenantViewSet):
    @operation("config", "Getclientchatconfigrouter", access=BEARER)
    def retrieve(self, client_id: int) -> ClientConfigDto:
        """The settings of your chats."""
        return ClientConfigDto.from_row(configs.get(self.client, client_id))

    @operation("config", "Updateclientchatconfigrouter", access=ADMIN, also={409: Error})
    def update(self, client_id: int, body: ClientConfigDto) -> ClientConfigDto:
        """Change the fields that the body names; the others keep their value.

        Send the `version` that you read to detect a change in between: then nothing changes, and
        the 409 `stale_version` holds the current `version`.
        """
        config = configs.get(self.client, client_id)
        return ClientConfigDto.from_row(configs.update(config, body, by=self.user))


class EmailNotificationViewSet(TenantViewSet):
    @operation("config", "Update Email Notification", access=ADMIN)
    def update(self, client_id: int, body: EmailNotificationRequest) -> EmailNotificationRequest:
        """Choose who gets which notifications by mail. Fields left out keep their value."""
        if client_id != self.client.pk:
            raise NotFound
        return EmailNotificationRequest.from_row(
            mails.update_notification(self.client, body, by=self.user)
        )
