"""The operations of the tag `config` that need this app; the others are in `identity`."""

from chatplatform.api.operation import operation
from chats.schemas.automated_messages import PlatformWords
from chats.services.core import automated_message_texts
from identity.auth import ADMIN, BEARER, TenantViewSet
from identity.services import configs


class AutomatedMessagesViewSet(TenantViewSet):
    @operation("config", "Get Platform Words", access=BEARER)
    def retrieve(self, client_id: int) -> PlatformWords:
        """Get the platform's messages to customers: the platform's texts in every language, and
        your own texts."""
        return automated_message_texts.of_config(configs.get(self.client, client_id))

    @operation("config", "Update Platform Words", access=ADMIN)
    def update(self, client_id: int, body: PlatformWords) -> PlatformWords:
        """Replace the platform's messages to customers with your own texts, language by language.

        Send all of your texts. A sentence or language that you leave out falls back to the
        platform's text.
        """
        return automated_message_texts.replace(
            configs.get(self.client, client_id), body, by=self.user
        )
