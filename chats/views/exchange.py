"""AI / client: the export for another system, and the deletion of all documents."""

from typing import Any

from bots.services import bots, documents
from bots.shapes.train import DeletedCount
from bots.shapes.widget import KeyBotQuery
from chatplatform.api.operation import operation
from chatplatform.api.pagination import page
from chats.services.exchange import exporting
from chats.shapes import exchange as exchange_shapes
from identity.auth import SECRET_KEY, TenantViewSet


class MigrationViewSet(TenantViewSet):
    """The migration tool: everything in portable form, for `manage.py import_conversations`."""

    @operation(
        "AI / client",
        "Migration tool - Migrate chat messages",
        access=SECRET_KEY,
        returns=exchange_shapes.MessageEntitiesResponse,
    )
    def messages(self, query: exchange_shapes.MigratePage) -> dict[str, Any]:
        """All messages of the key's chats in a stable order, internal notes too.

        Keep `next_cursor` to go on after a break. A message is listed 5 seconds after it came, so
        that none is passed over.
        """
        return page(
            exporting.messages(self.key), query, shape=exchange_shapes.MessageEntity.from_row
        )

    @operation(
        "AI / client",
        "Migration tool - Migrate chat conversations",
        access=SECRET_KEY,
        returns=exchange_shapes.ConversationEntitiesResponse,
    )
    def conversations(self, query: exchange_shapes.MigratePage) -> dict[str, Any]:
        """All chats of the key in a stable order; their messages have a list of their own.

        Keep `next_cursor` to go on after a break. A chat is listed 5 seconds after it began.
        """
        return page(
            exporting.conversations(self.key),
            query,
            shape=exchange_shapes.ConversationEntity.from_row,
        )


class ClientDocumentsViewSet(TenantViewSet):
    @operation("AI / client", "Delete All Documents", access=SECRET_KEY)
    def destroy(self, query: KeyBotQuery) -> DeletedCount:
        """Forget all that the key's bot was trained on: files and web pages, in whatever state.

        Once more deletes nothing and says 0. Web addresses stay, and are read again when due.
        """
        bot = bots.for_key(self.key, bot_id=query.bot_id)
        return DeletedCount(deleted=documents.delete_all(bot, by=self.key))
