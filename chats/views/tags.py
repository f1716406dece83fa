"""AI / chat: the tags of a client and of its conversations."""

import uuid

from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chats.schemas import tags as tag_schemas
from chats.services.core import tags
from chats.services.insight import chat_analysis
from chats.views.base import HOW_AI_TAGS, PAID, ChatsViewSet
from identity.auth import ADMIN, BEARER


class TagViewSet(ChatsViewSet):
    @operation("AI / chat", "Get Client Tags", access=BEARER)
    def client_tags(self) -> tag_schemas.ClientTags:
        """List your 1,000 most used tags, each with its number of conversations."""
        return tags.list_for_client(self.client)

    @operation("AI / chat", "Create Client Tag", access=ADMIN, status=201, also={409: Error})
    def create_tag(self, body: tag_schemas.ClientTagRequest) -> tag_schemas.Tag:
        """Add a tag to your list. A tag is also added when it is first given to a conversation.

        409 `tag_exists` if you have a tag of this name.
        """
        return tags.create(self.user, body)

    @operation("AI / chat", "Update Client Tag", access=ADMIN, also={409: Error})
    def update_tag(self, tag_id: int, body: tag_schemas.ClientTagRequest) -> tag_schemas.Tag:
        """Rename a tag or change its colour; fields left out keep their value.

        Conversations get the new name in the background, and `count` includes a conversation only
        after that. Each conversation triggers the webhook event `tags.updated`. 409 `tag_exists` if
        another tag has this name: merge the two with *Merge Client Tag* instead.
        """
        return tags.update(self.user, tag_id, body)

    @operation("AI / chat", "Merge Client Tag", access=ADMIN)
    def merge_tag(self, tag_id: int, body: tag_schemas.TagMerge) -> tag_schemas.Tag:
        """Replace a tag with the tag `into`, which is returned, and delete it.

        Conversations get the new tag in the background, and `count` includes a conversation only
        after that. Each conversation triggers the webhook event `tags.updated`. 422 if no other tag
        has the name `into`.
        """
        return tags.merge(self.user, tag_id, into=body.into)

    @operation("AI / chat", "Delete Client Tag", access=ADMIN, status=204)
    def delete_tag(self, tag_id: int) -> None:
        """Delete a tag from your list, and in the background from all conversations; each
        conversation triggers the webhook event `tags.updated`."""
        tags.delete(self.user, tag_id)

    @operation("AI / chat", "Create Tags For Chat", access=BEARER)
    def add_tags(self, chat_id: uuid.UUID, body: tag_schemas.Tags) -> tag_schemas.Tags:
        """Add tags to a conversation; the response has all of its tags.

        Names that are not in your list of tags are added to it. 422 if the conversation would have
        more than 20 tags.
        """
        return tag_schemas.Tags.from_rows(tags.add(self._chat(chat_id), names=body.names))

    @operation("AI / chat", "Update Tags For Chat", access=BEARER)
    def replace_tags(self, chat_id: uuid.UUID, body: tag_schemas.Tags) -> tag_schemas.Tags:
        """Replace all tags of a conversation, including those added by AI.

        A tag that stays keeps its `source`. Names that are not in your list of tags are added to
        it. An empty list removes all tags of the conversation.
        """
        return tag_schemas.Tags.from_rows(tags.replace(self._chat(chat_id), names=body.names))

    @operation(
        "AI / chat", "Auto Generate Tag With Ai", access=BEARER, also=PAID, waits=True,
        more=HOW_AI_TAGS,
    )  # fmt: skip
    def auto_tag(self, chat_id: uuid.UUID) -> tag_schemas.Tags:
        """Let AI add the tags that it is confident of; returns all tags of the conversation."""
        return tag_schemas.Tags.from_rows(chat_analysis.auto_tag(self._chat(chat_id)))

    @operation("AI / chat", "Auto Generate Tag With Ai Temp", access=BEARER, also=PAID, waits=True)
    def propose_tags(self, chat_id: uuid.UUID) -> tag_schemas.Tags:
        """Get the tags that AI proposes for a conversation, best first; nothing is stored.

        The response includes tags that are too uncertain for *Auto Generate Tag With Ai*; the price
        is the same.
        """
        return tag_schemas.Tags.from_suggested(chat_analysis.propose_tags(self._chat(chat_id)))
