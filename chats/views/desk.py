"""AI / chat: the agents' work on conversations and customers, and previews of a bot."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from bots.models import Bot
from chatplatform import media
from chatplatform.api import idempotency
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import Form, RawResponse, operation
from chatplatform.api.pagination import Page, page
from chats.models import Customer
from chats.services.core import attachments, row_json
from chats.services.desk import (
    agent_actions,
    customer_records,
    inbox,
    manual_assignment,
    saved_replies,
)
from chats.services.exchange import bot_previews, customer_export, erasing
from chats.services.reply import incoming
from chats.shapes import desk as desk_shapes
from chats.shapes.bot_preview import GenerateChatRequest, GeneratedChat
from chats.shapes.conversation import ChatCounts, ChatsQuery, Conversation, ConversationsResponse
from chats.shapes.message import HistoryQuery, Message, MessagesResponse
from chats.shapes.people import (
    CustomerDto,
    CustomerErasure,
    CustomersQuery,
    CustomersResponse,
)
from chats.shapes.reply_explanation import ReplyReceipt
from chats.shapes.streams import reply_events
from chats.shapes.visitor import VisitorConversation
from chats.views import reply_responses
from chats.views.base import ChatsViewSet
from identity.auth import ADMIN, BEARER, BEARER_OR_SECRET_KEY, BEARER_OR_VISITOR, TenantViewSet

CUSTOMER_FILE = RawResponse(("application/zip",), "What is stored of the customer, as a download.")
FILES = Form(desk_shapes.ManualChatFilesDto, files=("files",))


class ChatViewSet(ChatsViewSet):
    @operation("AI / chat", "Assign Chat", access=BEARER, also={409: Error})
    def assign(self, chat_id: uuid.UUID, body: desk_shapes.ChatAssignDto) -> Conversation:
        """Assign a conversation to an agent, the queue or the bot.

        If two agents claim it at once, one gets it and the other gets 409 `already_assigned`. Only
        its agent or an admin can reassign an agent's conversation.
        """
        chat = self._chat(chat_id)
        return Conversation.from_row(manual_assignment.assign(chat, body, by=self.user))

    @operation("AI / chat", "Chat Unassign", access=BEARER, also={409: Error})
    def unassign(self, chat_id: uuid.UUID) -> Conversation:
        """Return a conversation to the bot, or to the queue if the bot is disabled."""
        return Conversation.from_row(manual_assignment.unassign(self._chat(chat_id), by=self.user))

    @operation(
        "AI / chat", "Manual Chat", access=BEARER, returns=Message, status=201, also={409: Error}
    )
    def manual(self, chat_id: uuid.UUID, body: desk_shapes.ManualChatMessageDto) -> dict[str, Any]:
        """Send a message to the customer, or add an internal note.

        A conversation that no agent has is assigned to you. An admin may write in another agent's
        conversation.
        """
        return Message.from_row(agent_actions.send(self._chat(chat_id), body, by=self.user))

    @operation(
        "AI / chat", "Manual Chat With Files", access=BEARER, body=FILES, returns=Message,
        status=201, also={409: Error},
    )  # fmt: skip
    def manual_files(
        self, chat_id: uuid.UUID, body: desk_shapes.ManualChatFilesDto
    ) -> dict[str, Any]:
        """Send files to the customer, or add them to an internal note.

        The message's content has a signed link to each file, valid for a day. Files are always
        served as downloads.
        """
        chat = self._chat(chat_id)
        with attachments.stored(body.files) as files:
            message = agent_actions.send(chat, body.words, by=self.user, files=files)
        return Message.from_row(message)

    @operation("AI / chat", "Get Chat History", access=BEARER, returns=MessagesResponse)
    def history(self, chat_id: uuid.UUID, query: HistoryQuery) -> dict[str, Any]:
        """List a conversation's messages with its internal notes, oldest first by default."""
        by = "-seq" if query.sort == "newest" else "seq"
        return row_json.list_page(inbox.transcript_for(self.caller, chat_id), query, by=by)

    @operation("AI / chat", "Get Chat Steps", access=BEARER)
    def steps(self, chat_id: uuid.UUID) -> desk_shapes.ChatSteps:
        """List what happened to a conversation: who was assigned to it, returned it, ended it."""
        rows = inbox.steps(self._chat(chat_id))
        return desk_shapes.ChatSteps(items=[desk_shapes.ChatStep.from_event(row) for row in rows])

    @operation("AI / chat", "Get Reply Receipt", access=BEARER)
    def receipt(self, chat_id: uuid.UUID, message_id: uuid.UUID) -> ReplyReceipt:
        """Explain a bot's message: passages with scores, threshold, instructions, engine, credits.

        404 for messages of customers and agents, which have no receipt.
        """
        return inbox.receipt(self._chat(chat_id), message_id)

    @operation("AI / chat", "Get Chat History", access=BEARER, returns=ConversationsResponse)
    def of_customer(self, customer_id: int, query: Page) -> dict[str, Any]:
        """List all conversations of a customer, newest first."""
        rows = inbox.chats_of(self.client, Customer, customer_id)
        return row_json.list_page(rows, query, by="-id")

    @operation("AI / chat", "Get Chat History", access=BEARER, returns=ConversationsResponse)
    def of_bot(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List all conversations of a bot, newest first."""
        rows = inbox.chats_of(self.client, Bot, bot_id)
        return row_json.list_page(rows, query, by="-id")

    @operation("AI / chat", "Get Chats", access=BEARER, returns=ConversationsResponse)
    def list(self, query: ChatsQuery) -> dict[str, Any]:
        """List the client's conversations, by newest activity or by longest wait."""
        rows = inbox.chats(self.caller, query)
        return row_json.list_page(rows, query, by=inbox.order_of(query))

    @operation("AI / chat", "Get Chat Counts", access=BEARER)
    def counts(self) -> ChatCounts:
        """Count the conversations in each view of your desk, without previews."""
        return inbox.counts(self.user)

    @operation("AI / chat", "Get Chat By Id", access=BEARER)
    def retrieve(self, chat_id: uuid.UUID) -> Conversation:
        """Get one conversation, in the form that lists and events have."""
        return Conversation.from_row(self._chat(chat_id))

    @operation("AI / chat", "End A Chat By Id", access=BEARER_OR_VISITOR, also={409: Error})
    def end(self, chat_id: uuid.UUID) -> Conversation | VisitorConversation:
        """End a conversation: for the customer with an API key, as an agent with an access token.

        409 `chat_ended` if it has already ended; also 409 if another agent has it.
        """
        chat = self._chat(chat_id)
        return self._shown(agent_actions.end(chat, by=self.caller.user))

    @operation("AI / chat", "Agent End A Chat By Id", access=BEARER, also={409: Error})
    def agent_end(self, chat_id: uuid.UUID) -> Conversation:
        """End a conversation as an agent; 409 if it has already ended or another agent has it."""
        return Conversation.from_row(agent_actions.end(self._chat(chat_id), by=self.user))

    @operation("AI / chat", "Snooze Chat", access=BEARER, also={409: Error})
    def snooze(self, chat_id: uuid.UUID, body: desk_shapes.ChatSnoozeDto) -> Conversation:
        """Snooze a conversation until a given time; a customer's message reopens it sooner."""
        chat = self._chat(chat_id)
        return Conversation.from_row(agent_actions.snooze(chat, until=body.until, by=self.user))

    @operation("AI / chat", "Mark Chat As Read", access=BEARER)
    def read(self, chat_id: uuid.UUID) -> Conversation:
        """Mark all messages of the customer as read: `unread_count` becomes 0.

        Each unread message triggers `message.read`, unless the conversation is on a messaging
        channel.
        """
        return Conversation.from_row(agent_actions.mark_read(self._chat(chat_id)))


class SavedReplyViewSet(ChatsViewSet):
    @operation(
        "AI / chat", "Get Saved Replies", access=BEARER, returns=desk_shapes.SavedRepliesResponse
    )
    def list(self, query: desk_shapes.SavedRepliesQuery) -> dict[str, Any]:
        """List your own and the shared saved replies, by shortcut."""
        rows = saved_replies.list_for_user(self.user, query)
        return page(rows, query, by=("shortcut", "id"), shape=desk_shapes.SavedReplyDto.from_row)

    @operation("AI / chat", "Create Saved Reply", access=BEARER, status=201, also={409: Error})
    def create(self, body: desk_shapes.SavedReplyDto) -> desk_shapes.SavedReplyDto:
        """Save a text that you send often; 409 `shortcut_taken` if the shortcut is in use."""
        return desk_shapes.SavedReplyDto.from_row(saved_replies.create(self.user, body))

    @operation("AI / chat", "Update Saved Reply", access=BEARER, also={409: Error})
    def update(
        self, saved_reply_id: int, body: desk_shapes.SavedReplyDto
    ) -> desk_shapes.SavedReplyDto:
        """Change a saved reply; only admins can change a shared one."""
        return desk_shapes.SavedReplyDto.from_row(
            saved_replies.update(self.user, saved_reply_id, body)
        )

    @operation("AI / chat", "Delete Saved Reply", access=BEARER, status=204)
    def destroy(self, saved_reply_id: int) -> None:
        """Delete a saved reply; only admins can delete a shared one."""
        saved_replies.delete(self.user, saved_reply_id)

    @operation("AI / chat", "Render Saved Reply", access=BEARER)
    def render(
        self, chat_id: uuid.UUID, saved_reply_id: int, query: desk_shapes.RenderQuery
    ) -> desk_shapes.RenderedReply:
        """Fill in a saved reply's variables for a conversation. Nothing is sent."""
        chat = self._chat(chat_id)
        return saved_replies.render(self.user, saved_reply_id, chat, language=query.language)


class CustomerViewSet(TenantViewSet):
    @operation("AI / chat", "Get Customers", access=BEARER_OR_SECRET_KEY, returns=CustomersResponse)
    def list(self, query: CustomersQuery) -> dict[str, Any]:
        """List the customers, newest first; a key of one bot gets only those who wrote to it."""
        rows = customer_records.list_(self.caller, query)
        return page(rows, query, by="-id", shape=CustomerDto.from_row)

    @operation("AI / chat", "Get Customer By Id", access=BEARER_OR_SECRET_KEY)
    def retrieve(self, customer_id: int) -> CustomerDto:
        """Get a customer; 404 if they were merged into another one."""
        return CustomerDto.from_row(customer_records.get(self.caller, customer_id))

    @operation("AI / chat", "Update Customer", access=BEARER_OR_SECRET_KEY, also={409: Error})
    def update(self, customer_id: int, body: CustomerDto) -> CustomerDto:
        """Change a customer's data; fields left out keep their values, null clears a field.

        Attributes are merged; null removes one. 409 `external_id_taken` if another customer has
        this `external_id`.
        """
        return CustomerDto.from_row(customer_records.edit(self.caller, customer_id, body))

    @operation("AI / chat", "Merge Customers", access=BEARER_OR_SECRET_KEY, also={409: Error})
    def merge(self, customer_id: int, merged_id: int) -> CustomerDto:
        """Merge two customers: conversations, channel identities and attributes move to the first.

        If both have a value, the first customer's is kept, also for the external id. The second id
        answers 404 from then on; messages keep the sender's old id.
        """
        return CustomerDto.from_row(
            customer_records.merge(self.caller, customer_id, merged_id=merged_id)
        )

    @operation("AI / chat", "Export Customer", access=ADMIN, returns=CUSTOMER_FILE, waits=True)
    def export(self, customer_id: int) -> HttpResponseBase:
        """Export everything stored about a customer as a ZIP: data, conversations, messages, files.

        Conversations and messages have the format of the migration tool and include internal notes.
        """
        return media.file_response(
            customer_export.write(self.caller, customer_id),
            mime_type="application/zip",
            cache_control="no-store",
            download_as=f"customer-{customer_id}.zip",
        )

    @operation("AI / chat", "Erase Customer", access=ADMIN, status=202)
    def erase(self, customer_id: int) -> CustomerErasure:
        """Erase a customer permanently, with conversations, files, events and your exports.

        A worker does it; `Get Customer Erasure` shows the progress. The audit log keeps the
        customer's number and who asked. Repeated requests are one erasure.
        """
        return CustomerErasure.copy_from(erasing.ask(self.caller, customer_id))

    @operation("AI / chat", "Get Customer Erasure", access=ADMIN)
    def erasure(self, erasure_id: uuid.UUID) -> CustomerErasure:
        """Get the progress of an erasure."""
        return CustomerErasure.copy_from(erasing.get(self.client, erasure_id))


class PreviewViewSet(ChatsViewSet):
    @operation(
        "AI / chat",
        "Generate Chat",
        access=BEARER,
        costs_credits=True,
        returns=GeneratedChat,
        also={202: GeneratedChat, 409: Error},
        streams=reply_events(GeneratedChat),
    )
    def start_preview(
        self, request: HttpRequest, bot_id: int, body: GenerateChatRequest
    ) -> HttpResponseBase:
        """Try a bot: open a preview conversation with these messages and generate the reply."""
        message = bot_previews.open_preview(
            self.client, bot_id, body, by=self.user, client_message_id=idempotency.stable_id()
        )
        turn = incoming.turn_of(message)
        return reply_responses.respond(
            request, turn, reply=body.reply, shape=bot_previews.with_receipt
        )

    @operation(
        "AI / chat",
        "Generate Chat",
        access=BEARER,
        costs_credits=True,
        body_is_optional=True,
        returns=GeneratedChat,
        also={202: GeneratedChat, 409: Error},
        streams=reply_events(GeneratedChat),
    )
    def continue_preview(
        self, request: HttpRequest, chat_id: uuid.UUID, body: GenerateChatRequest
    ) -> HttpResponseBase:
        """Generate the next reply: to further `messages` in a preview, else to the last message."""
        chat = self._chat(chat_id)
        message = bot_previews.continue_chat(
            chat,
            body,
            client_message_id=idempotency.stable_id(),
            earlier_result_id=idempotency.earlier_result_id(),
        )
        idempotency.store_result_id(str(message.pk))
        turn = incoming.turn_of(message)
        return reply_responses.respond(
            request, turn, reply=body.reply, shape=bot_previews.with_receipt
        )
