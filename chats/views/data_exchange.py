"""Operations of the tag `messaging`, with which another system holds conversations, and those of
the tag `AI / client` for the export and for deleting documents."""

import uuid
from typing import Any

from bots.schemas.document import DeletedCount
from bots.schemas.widget import KeyBotQuery
from bots.services import bots, documents
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.schemas import chat_analysis as analysis_schemas
from chats.schemas import data_exchange as exchange_schemas
from chats.schemas import messaging as messaging_schemas
from chats.schemas import tags as tag_schemas
from chats.services.data_exchange import exporting, messaging_api
from chats.services.desk import inbox
from chats.services.insight import chat_analysis
from chats.views.base import HOW_AI_TAGS, PAID, ChatsViewSet
from identity.auth import SECRET_KEY, TenantViewSet


class MigrationViewSet(TenantViewSet):
    """The migration tool: an export in portable form, for `manage.py import_conversations`."""

    @operation(
        "AI / client",
        "Migration tool - Migrate chat messages",
        access=SECRET_KEY,
        returns=exchange_schemas.MessageEntitiesResponse,
    )
    def messages(self, query: exchange_schemas.MigratePage) -> dict[str, Any]:
        """List all messages of the key's conversations, oldest first, including internal notes.

        Send the last `resume_cursor` as `cursor` to continue after an interruption, or later with
        newer messages. A message is listed 5 seconds after it was stored, so that none is skipped.
        """
        return page(
            exporting.messages(self.key, query),
            query,
            schema=exchange_schemas.MessageEntity.from_row,
            resumable=True,
        )

    @operation(
        "AI / client",
        "Migration tool - Migrate chat conversations",
        access=SECRET_KEY,
        returns=exchange_schemas.ConversationEntitiesResponse,
    )
    def conversations(self, query: exchange_schemas.MigratePage) -> dict[str, Any]:
        """List all conversations of the key, oldest first, without their messages.

        Send the last `resume_cursor` as `cursor` to continue after an interruption, or later with
        newer conversations. A conversation is listed 5 seconds after it was opened, so that none is
        skipped.
        """
        return page(
            exporting.conversations(self.key, query),
            query,
            schema=exchange_schemas.ConversationEntity.from_row,
            resumable=True,
        )


class ClientDocumentsViewSet(TenantViewSet):
    @operation("AI / client", "Delete All Documents", access=SECRET_KEY, also={404: Error})
    def destroy(self, query: KeyBotQuery) -> DeletedCount:
        """Delete all documents of the key's bot, or of the bot `bot_id` if the key serves all bots:
        files, crawled pages, texts and answers.

        The URLs of websites stay, and the websites are crawled again at their next time.
        """
        bot = bots.for_key(self.key, bot_id=query.bot_id)
        return DeletedCount(deleted=documents.delete_all(bot, by=self.key))


class MessagingViewSet(ChatsViewSet):
    @operation(
        "messaging",
        "Create Message",
        access=SECRET_KEY,
        costs_credits=True,
        returns=exchange_schemas.MessageEntity,
        status=201,
        also={409: Error},
    )
    def send(
        self, conversation_id: uuid.UUID, body: messaging_schemas.MessageRequest
    ) -> dict[str, Any]:
        """Store a message from any sender. With `sent_at`, the message is history and has no
        effects.

        With `generate_reply`, *List Messages* shows the bot's reply later. Repeating a
        `client_message_id` stores nothing: the response is a 201 with the stored message.

        409 `agent_gone` if the message is from an agent who has not accepted the invitation yet,
        and no agent has the conversation; `chat_ended` if the conversation has ended, except for
        messages of the customer; `agent_has_chat` for a message of the bot while an agent has it;
        `already_answered` if the bot or system has replied to the message in `in_reply_to` already;
        `attachments_off` for a customer's files if the bot takes none; `client_message_id_taken` if
        another sender's message has this id; on a messaging channel also `channel_not_connected` if
        the account is not connected, and `reply_window_closed` if the customer's last message is
        too old for the channel. 403 `customer_blocked` for a message of a blocked customer.
        """
        return exchange_schemas.MessageEntity.from_row(
            messaging_api.send(self._chat(conversation_id), body)
        )

    @operation(
        "messaging",
        "List Messages",
        access=SECRET_KEY,
        returns=messaging_schemas.MessagingMessagesResponse,
    )
    def messages(self, conversation_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """List the messages of a conversation, including internal notes, oldest first.

        To get new messages later, repeat the request for the last page, with its `cursor` if it had
        one: that page then also has the messages stored since.
        """
        rows = inbox.transcript(self._chat(conversation_id)).prefetch_related("feedback_set")
        return page(rows, query, by="seq", schema=exchange_schemas.MessageEntity.from_row)

    @operation("messaging", "Create Conversation", access=SECRET_KEY, status=201, also={404: Error})
    def create(
        self, body: messaging_schemas.ConversationRequest
    ) -> messaging_schemas.ConversationResponse:
        """Open a conversation with the key's bot; agents and webhooks treat it like any other. A
        customer may have several open ones.

        A key that serves all bots gets a 422 if your company has several: use a key for one bot.
        403 `customer_blocked` if your team has blocked the requester. 409 `agent_gone` if
        `responsible` is an agent who has not accepted the invitation yet.
        """
        return messaging_schemas.ConversationResponse.from_row(messaging_api.open_(self.key, body))

    @operation(
        "messaging",
        "List Conversations",
        access=SECRET_KEY,
        returns=messaging_schemas.ConversationResponses,
    )
    def list(self, query: messaging_schemas.MessagingQuery) -> dict[str, Any]:
        """List the conversations of the key's bot, or of all bots if the key serves all, the latest
        opened first.

        The list includes conversations of every channel, whoever opened them, but no test
        conversations (previews).
        """
        return page(
            messaging_api.list_(self.key, query),
            query,
            by="-id",
            schema=messaging_schemas.ConversationResponse.from_row,
        )

    @operation("messaging", "Get Conversation", access=SECRET_KEY)
    def retrieve(self, conversation_id: uuid.UUID) -> messaging_schemas.ConversationResponse:
        """Get a conversation from any channel, with its customer and its agent."""
        return messaging_schemas.ConversationResponse.from_row(self._chat(conversation_id))

    @operation("messaging", "End Conversation", access=SECRET_KEY, also={409: Error})
    def end(self, conversation_id: uuid.UUID) -> messaging_schemas.ConversationResponse:
        """End a conversation; its `ended_by` becomes `api`. 409 `chat_ended` if it has already
        ended.

        Triggers the webhook event `conversation.ended`. Afterwards, your settings apply: with
        `ask_feedback`, the customer is asked for a rating; with `auto_summary`, `auto_tag` and
        `auto_sentiment`, the conversation is summarized, it is tagged, and the customer's sentiment
        is judged. Each of these three costs 1 credit or, with a language model, the model's tokens.
        """
        return messaging_schemas.ConversationResponse.from_row(
            messaging_api.end(self._chat(conversation_id))
        )

    @operation("messaging", "Get Conversation Summary", access=SECRET_KEY)
    def summary(self, conversation_id: uuid.UUID) -> analysis_schemas.ChatSummary:
        """Get the newest summary of a conversation; 404 if it has no summary yet."""
        return analysis_schemas.ChatSummary.from_row(
            messaging_api.summary(self._chat(conversation_id))
        )

    @operation("messaging", "Create Conversation Summary", access=SECRET_KEY, also=PAID, waits=True)
    def make_summary(self, conversation_id: uuid.UUID) -> analysis_schemas.ChatSummary:
        """Get a conversation's summary. A new summary is written only if none covers all messages;
        it costs 1 credit or, with a language model, the model's tokens."""
        return analysis_schemas.ChatSummary.from_row(
            chat_analysis.summarize(self._chat(conversation_id))
        )

    @operation(
        "messaging", "Create Conversation Ai Tags", access=SECRET_KEY, also=PAID, waits=True,
        more=HOW_AI_TAGS,
    )  # fmt: skip
    def make_ai_tags(self, conversation_id: uuid.UUID) -> tag_schemas.Tags:
        """Let AI add the tags that it is confident of. The response lists the tags that AI has
        added to the conversation, now or earlier, and none that people added."""
        return tag_schemas.Tags.from_rows(messaging_api.make_ai_tags(self._chat(conversation_id)))

    @operation("messaging", "Get Conversation Ai Tags", access=SECRET_KEY)
    def ai_tags(self, conversation_id: uuid.UUID) -> tag_schemas.Tags:
        """List the tags that AI has added to a conversation; tags that people added are left
        out."""
        return tag_schemas.Tags.from_rows(messaging_api.ai_tags(self._chat(conversation_id)))
