"""Operations of the tag `config` that need this app, which is above `identity`."""

from chatplatform.api.operation import operation
from chats.services.core import platform_message_texts
from chats.shapes.platform_messages import PlatformWords
from identity.auth import ADMIN, BEARER, TenantViewSet
from identity.services import configs


class PlatformMessagesViewSet(TenantViewSet):
    @operation("config", "Get Platform Words", access=BEARER)
    def retrieve(self, client_id: int) -> PlatformWords:
        """Get the platform's messages to customers, in every language, and your own texts."""
        return platform_message_texts.of_config(configs.get(self.client, client_id))

    @operation("config", "Update Platform Words", access=ADMIN)
    def update(self, client_id: int, body: PlatformWords) -> PlatformWords:
        """Replace the platform's messages with your own, language by language.

        The body holds all of your texts: sentences and languages that it leaves out return to the
        platform's texts.
        """
        return platform_message_texts.replace(
            configs.get(self.client, client_id), body, by=self.user
        )
