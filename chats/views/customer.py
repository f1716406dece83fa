"""AI / client: what a customer's page or the client's own server does with a chat."""

import io
import uuid
from typing import Any

from django.http import HttpResponseBase
from rest_framework.request import Request

from chatplatform import media
from chatplatform.api import idempotency
from chatplatform.api.errors import json_response
from chatplatform.api.openapi import Error, File
from chatplatform.api.operation import PUBLIC, Form, operation
from chatplatform.api.pagination import Page, page
from chats.services.core import attachments, conversations, message_status, messages
from chats.services.desk import inbox
from chats.services.exchange import customer_transcripts
from chats.services.reply import incoming
from chats.shapes.conversation import (
    ChatCreation,
    ChatsQuery,
    Conversation,
    ConversationHistory,
    ConversationsResponse,
    Transcript,
)
from chats.shapes.message import (
    ArrivalReport,
    AttachmentQuery,
    ChatTurn,
    ConvMessage,
    FilesBody,
    Message,
    MessagesResponse,
)
from chats.shapes.people import CustomerInfo
from chats.views import reply_responses
from identity.auth import API_KEY, SECRET_KEY, TenantViewSet

FILES = Form(FilesBody, files=("files",))


class ClientChatViewSet(TenantViewSet):
    @operation(
        "AI / client", "Create new chat conversation", access=API_KEY, returns=Conversation,
        status=201, also={200: Conversation},
    )  # fmt: skip
    def create(self, body: ChatCreation) -> HttpResponseBase:
        """Open a conversation, with the customer's first message if there is one.

        If your setting `reuse_open` is on and the customer's `external_id` has an open chat with
        this bot, the answer is 200 with that chat: the customer's data is updated and the message
        stored there; all else stays as it is.
        """
        chat, is_new = incoming.open_chat(self.key, body, client_message_id=idempotency.stable_id())
        return json_response(Conversation.from_row(chat), 201 if is_new else 200)

    @operation(
        "AI / client",
        "Send message in existing chat conversation",
        access=API_KEY,
        returns=ChatTurn,
        also={202: ChatTurn, 409: Error},
        streams=True,
    )
    def send(self, request: Request, chat_id: uuid.UUID, body: ConvMessage) -> HttpResponseBase:
        """Store a customer's message. The reply is waited for, streamed, or comes later.

        As server-sent events: `message` (as stored), `delta` (text of the answer as it is made),
        `reset` (discard the deltas so far), `done` (the whole turn; its text is what counts).
        """
        body.client_message_id = body.client_message_id or idempotency.stable_id()
        message, is_new = incoming.receive_by(self.key, chat_id, body)
        return reply_responses.respond(request, message, reply=body.reply, is_new=is_new)

    @operation(
        "AI / client", "Get chat conversation history", access=API_KEY, returns=MessagesResponse
    )
    def history(self, chat_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """The messages of a conversation without internal notes, oldest first."""
        return messages.history_page(self.key, chat_id, query)

    @operation(
        "AI / client", "Report Messages As Delivered", access=API_KEY, status=204, also={409: Error}
    )
    def delivered(self, chat_id: uuid.UUID, body: ArrivalReport) -> None:
        """The customer's page has messages of bot and agents: `message.delivered`, once for each.

        409 `channel_reports` for a chat on a channel.
        """
        chat = conversations.get(self.caller, pk=chat_id)
        message_status.report_delivered(chat, body)

    @operation(
        "AI / client", "Report Messages As Read", access=API_KEY, status=204, also={409: Error}
    )
    def read(self, chat_id: uuid.UUID, body: ArrivalReport) -> None:
        """The customer has read messages of bot and agents: `message.read`, once for each.

        409 `channel_reports` for a chat on a channel.
        """
        chat = conversations.get(self.caller, pk=chat_id)
        message_status.report_read(chat, body)

    @operation("AI / client", "Get Transcript", access=API_KEY, also={409: Error})
    def transcript(self, chat_id: uuid.UUID) -> Transcript:
        """The customer takes the chat along: what was said, by whom and when.

        No internal notes. 409 `export_off` if the bot's `export_enabled` is false. Of a very long
        chat the last 5,000 messages.
        """
        return customer_transcripts.make(conversations.get(self.caller, pk=chat_id))

    @operation(
        "AI / client", "Download Transcript", access=API_KEY, returns=File, also={409: Error}
    )
    def transcript_file(self, chat_id: uuid.UUID) -> HttpResponseBase:
        """The transcript as plain text, as a download."""
        transcript = customer_transcripts.make(conversations.get(self.caller, pk=chat_id))
        return media.file_response(
            io.BytesIO(transcript.as_text().encode()),
            mime_type="text/plain; charset=utf-8",
            cache_control="private, no-store",
            download_as=f"{transcript.chat_code}.txt",
        )

    @operation("AI / client", "Update customer information in chat conversation", access=API_KEY)
    def update_customer(self, chat_id: uuid.UUID, body: CustomerInfo) -> Conversation:
        """Update what is known of the customer; fields left out keep their value."""
        chat = conversations.get(self.caller, pk=chat_id)
        return Conversation.from_row(conversations.update_customer(chat, body, by=self.key))

    @operation(
        "AI / client",
        "Send message with files in chat conversation",
        access=API_KEY,
        body=FILES,
        returns=ChatTurn,
        also={202: ChatTurn, 409: Error},
        streams=True,
        path_suffix="/",
    )
    def send_files(self, request: Request, chat_id: uuid.UUID, body: FilesBody) -> HttpResponseBase:
        """Store a customer's message with files; it is answered like a message without files.

        The message's content has a signed link to each file, valid for a day. A file is always
        served as a download.
        """
        body.client_message_id = body.client_message_id or idempotency.stable_id()
        chat = conversations.get(self.caller, pk=chat_id)
        with attachments.stored(body.files) as files:
            message, is_new = incoming.receive(chat, body.words, files=files)
        return reply_responses.respond(request, message, reply=body.reply, is_new=is_new)

    @operation(
        "AI / client",
        "Send assistant reply message in chat conversation",
        access=SECRET_KEY,
        returns=Message,
        status=201,
        also={409: Error},
    )
    def send_as_assistant(self, chat_id: uuid.UUID, body: ConvMessage) -> dict[str, Any]:
        """Answer from your own system in the bot's name; 409 while an agent has the chat."""
        body.client_message_id = body.client_message_id or idempotency.stable_id()
        chat = conversations.get(self.caller, pk=chat_id)
        return Message.from_row(messages.append_by_assistant(chat, body))

    @operation(
        "AI / client",
        "Generate automatic AI response",
        access=API_KEY,
        returns=ChatTurn,
        also={202: ChatTurn, 409: Error},
        streams=True,
    )
    def auto_respond(self, request: Request, chat_id: uuid.UUID) -> HttpResponseBase:
        """Have the bot answer the customer's last message; an existing reply is returned again."""
        chat = conversations.get(self.caller, pk=chat_id)
        message = incoming.request_reply_again(
            chat, earlier_result_id=idempotency.earlier_result_id()
        )
        idempotency.store_result_id(str(message.pk))
        return reply_responses.respond(request, message)

    @operation(
        "AI / client",
        "Get chat conversation list",
        access=SECRET_KEY,
        returns=ConversationsResponse,
    )
    def list(self, query: ChatsQuery) -> dict[str, Any]:
        """The chats of the key's bot, or of all bots, those with the newest activity first."""
        rows = inbox.chats(self.caller, query)
        return page(rows, query, by=inbox.order_of(query), shape=Conversation.from_row)

    @operation(
        "AI / client",
        "Get chat conversation history with customer information",
        access=SECRET_KEY,
        returns=ConversationHistory,
    )
    def history_with_customer(self, chat_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """A conversation with its customer and its messages, oldest first."""
        chat = conversations.get(self.caller, pk=chat_id)
        items = page(messages.history(chat), query, by="seq", shape=Message.from_row)
        shown = Conversation.from_row(chat)
        return {"conversation": shown, "customer": shown.customer, **items}

    @operation(
        "AI / client",
        "Get messages by chat conversation code",
        access=API_KEY,
        returns=MessagesResponse,
    )
    def by_code(self, chat_code: str, query: Page) -> dict[str, Any]:
        """The messages of the conversation with this code, oldest first."""
        chat = conversations.get(self.caller, chat_code=chat_code)
        return page(messages.history(chat), query, by="seq", shape=Message.from_row)


class AttachmentViewSet(TenantViewSet):
    @operation("AI / client", "Download Attachment", access=PUBLIC, returns=File)
    def download(self, attachment_id: uuid.UUID, query: AttachmentQuery) -> HttpResponseBase:
        """A file of a message, as a download; the link's signature is the credential."""
        row, file = attachments.open_by_link(attachment_id, signature=query.signature)
        return media.file_response(
            file,
            mime_type=row.mime_type,
            cache_control="private, max-age=3600",
            download_as=row.file_name,
        )
