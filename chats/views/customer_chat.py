"""AI / client: the operations with which the client's website or server holds conversations."""

import functools
import uuid
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from chatplatform import media
from chatplatform.api import idempotency
from chatplatform.api.error_schemas import Error
from chatplatform.api.errors import json_response
from chatplatform.api.operation import PUBLIC, Form, RawResponse, operation
from chatplatform.api.pagination import Page
from chats.models import MessageStatus
from chats.schemas.conversation import (
    ChatCreation,
    ChatsQuery,
    Conversation,
    ConversationHistory,
    ConversationsResponse,
    Transcript,
    TranscriptMail,
    TranscriptQuery,
)
from chats.schemas.message import (
    ArrivalReport,
    AttachmentQuery,
    ConvMessage,
    FilesBody,
    Message,
)
from chats.schemas.people import ChatCustomer
from chats.schemas.visitor import (
    KnownVisitor,
    VisitorConversation,
    VisitorIdentity,
    VisitorMessage,
    VisitorTurn,
)
from chats.services.core import (
    attachments,
    conversations,
    message_status,
    messages,
    row_json,
)
from chats.services.data_exchange import customer_transcripts
from chats.services.desk import chat_list
from chats.services.reply import incoming
from chats.views import reply_responses
from chats.views.base import (
    TRANSCRIPT,
    ChatResponse,
    ChatsViewSet,
    EventStreamResponse,
    MessageListResponse,
    TurnResponse,
    transcript_download,
)
from identity.auth import API_KEY, SECRET_KEY, VISITOR_OR_SECRET_KEY, TenantViewSet

visitor_operation = functools.partial(operation, "AI / client", access=VISITOR_OR_SECRET_KEY)
FILES = Form(FilesBody, files=("files",))


class ClientChatViewSet(ChatsViewSet):
    @visitor_operation(
        "Create new chat conversation", costs_credits=True, returns=ChatResponse, status=201,
        also={200: ChatResponse, 404: Error},
    )  # fmt: skip
    def create(self, body: ChatCreation) -> HttpResponseBase:
        """Open a conversation, optionally with the customer's first message.

        If your setting `reuse_open` is on and the customer with this `external_id` has an open or
        snoozed conversation with this bot, the response is 200 with that conversation: the
        customer's data is updated and the message is stored there; all else stays unchanged.
        Conversations on messaging channels do not count.

        With a public key the response is a `VisitorConversation`. Its `visitor_token` gives the
        visitor access to their conversations; sent with this operation, it opens another
        conversation of the same visitor. A public key cannot set tags or metadata, and cannot
        overwrite customer data that your server or team wrote; an `external_id` needs the
        `identity_signature` (401 `identity_not_signed` if it is wrong).

        422 if a customer-info field of the bot has `required` and `ask_before_chat` and its value
        is neither in `customer` nor known, or if a value does not fit its field: `name`, `email`,
        `phone`, or else one of `attributes`. 403 `customer_blocked` if your team has blocked the
        customer.
        """
        chat, is_new = incoming.open_chat(
            self.caller, body, client_message_id=idempotency.stable_id()
        )
        return json_response(self._response(chat), 201 if is_new else 200)

    @visitor_operation("Get chat conversation")
    def retrieve(self, chat_id: uuid.UUID) -> Conversation | VisitorConversation:
        """Get a conversation; with a public key, as a `VisitorConversation` with a new
        `visitor_token`. Earlier tokens stay valid for their own 180 days."""
        return self._response(self._chat(chat_id))

    @visitor_operation(
        "Send message in existing chat conversation", costs_credits=True, returns=TurnResponse,
        also={202: TurnResponse, 409: Error}, streams=EventStreamResponse,
    )  # fmt: skip
    def send(self, request: HttpRequest, chat_id: uuid.UUID, body: ConvMessage) -> HttpResponseBase:
        """Store a customer's message, and wait for the reply, stream it, or get it later.

        After a 202, or a status `pending`, the reply appears in *Get chat conversation history*,
        and the webhook event `message.created` reports it. With `reply` `stream`, the response is a
        stream of server-sent events. Each event has JSON as its `data`: the event `message` has the
        customer's message as stored; `delta`, the next piece of the answer in `text`; `reset`,
        `{}`: discard the pieces so far; `done`, the same as the response without a stream, with the
        final text. `done` always comes last: if the bot fails, its `status` says what happens
        instead. With a public key, messages are `VisitorMessage`s and the turn is a `VisitorTurn`.
        An answer that quotes documents costs 1 credit; a language model's tokens are charged, even
        if it finds no answer. If the credits do not suffice, the bot hands the conversation over to
        people.

        A message to an ended conversation reopens it or begins the next one: see `conversation_id`
        of the stored message. Without a `client_message_id`, an `Idempotency-Key` serves as one.
        409 `attachments_off` if the bot takes no files, `client_message_id_taken` if another
        sender's message has this id; 403 `customer_blocked` if your team has blocked the customer.
        """
        body.client_message_id = body.client_message_id or idempotency.stable_id()
        turn = incoming.receive_by(self.caller, chat_id, body)
        return self._respond(request, turn, reply=body.reply)

    @visitor_operation("Get chat conversation history", returns=MessageListResponse)
    def history(self, chat_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """List the messages of a conversation without internal notes, oldest first.

        To get new messages later, repeat the request for the last page, with its `cursor` if it had
        one: that page then also has the messages stored since. With a public key, the messages have
        fewer fields.
        """
        return messages.history_page(self.caller, chat_id, query)

    @visitor_operation("Report Messages As Delivered", status=204, also={409: Error})
    def delivered(self, chat_id: uuid.UUID, body: ArrivalReport) -> None:
        """Report messages of the bot and of agents as delivered to the customer: all messages up to
        the given `message_id` or `seq` or, with `{}`, all messages.

        Each message that was not delivered yet triggers the webhook event `message.delivered`. 409
        `channel_reports` on a messaging channel, which reports delivery itself.
        """
        message_status.report(self._chat(chat_id), body, MessageStatus.DELIVERED)

    @visitor_operation("Report Messages As Read", status=204, also={409: Error})
    def read(self, chat_id: uuid.UUID, body: ArrivalReport) -> None:
        """Report messages of the bot and of agents as read by the customer: all messages up to the
        given `message_id` or `seq` or, with `{}`, all messages.

        Each message that was not read yet triggers the webhook event `message.read`. A message that
        was not delivered yet counts as delivered too, without the event `message.delivered`. 409
        `channel_reports` on a messaging channel, which reports delivery itself.
        """
        message_status.report(self._chat(chat_id), body, MessageStatus.READ)

    @visitor_operation("Get Transcript", also={409: Error})
    def transcript(self, chat_id: uuid.UUID) -> Transcript:
        """Get the transcript for the customer: each message with its sender and time.

        Internal notes and deleted messages are left out, and only the last 5,000 messages are
        included. 409 `export_off` if the bot's `export_enabled` is false.
        """
        return customer_transcripts.make(self._chat(chat_id))

    @visitor_operation("Download Transcript", returns=TRANSCRIPT, also={409: Error})
    def transcript_file(self, chat_id: uuid.UUID, query: TranscriptQuery) -> HttpResponseBase:
        """Download the transcript as plain text, named after the `chat_code`.

        It has the messages of *Get Transcript*: the last 5,000, without internal notes and deleted
        messages. 409 `export_off` if the bot's `export_enabled` is false.
        """
        chat = self._chat(chat_id)
        return transcript_download(customer_transcripts.make(chat), query, chat)

    @visitor_operation("Mail Transcript", status=202, also={409: Error, 429: None})
    def mail_transcript(self, chat_id: uuid.UUID, body: TranscriptMail) -> None:
        """Email the transcript of a conversation to an address, as a text attachment.

        A 202 means that the email will be sent. Email and transcript are in the conversation's
        language; the transcript has the messages of *Get Transcript*. 409 `export_off` if the bot's
        `export_enabled` is false; 503 `mail_not_configured` if the platform has no mail server. 429
        if a daily limit is reached: 5 emails for a conversation, 5 to an email address and, with a
        public key, 5 from a visitor and 20 from an IP address.
        """
        customer_transcripts.ask_by_mail(
            self.caller, chat_id, email=body.email, timezone=body.timezone
        )

    @visitor_operation("Update customer information in chat conversation")
    def update_customer(
        self, chat_id: uuid.UUID, body: ChatCustomer
    ) -> Conversation | VisitorConversation:
        """Update the customer's data; fields left out keep their values.

        Fields that are null keep theirs too. `attributes` are added to the stored ones; null
        removes an attribute. With a public key, values that your server or team wrote are kept too,
        without an error, and an `external_id` needs the `identity_signature` (401
        `identity_not_signed` if it is wrong). The `external_id` signs the visitor in: the visitor's
        conversations that belong to no identified customer move to the customer with this id, and
        the visitor continues with the `visitor_token` of the response. 422 for a value that does
        not fit the bot's customer-info field of this name. 403 `customer_blocked` if your team has
        blocked the customer.
        """
        return self._response(conversations.update_customer(self.caller, chat_id, body))

    @operation("AI / client", "Identify Visitor", access=API_KEY)
    def identify(self, body: VisitorIdentity) -> KnownVisitor:
        """Get the newest conversations, up to 10, of the customer with your `external_id`.

        With a public key, the id must be signed (401 `identity_not_signed`), the conversations are
        those that the customer opened with this key, and the `visitor_token` gives access to them.
        """
        return KnownVisitor.of(*conversations.identify_visitor(self.caller, body))

    @visitor_operation(
        "Send message with files in chat conversation", costs_credits=True, body=FILES,
        returns=TurnResponse, also={202: TurnResponse, 409: Error}, streams=EventStreamResponse,
        path_suffix="/",
    )  # fmt: skip
    def send_files(
        self, request: HttpRequest, chat_id: uuid.UUID, body: FilesBody
    ) -> HttpResponseBase:
        """Store a customer's message with files, and wait for the reply, stream it, or get it
        later.

        After a 202, or a status `pending`, the reply appears in *Get chat conversation history*.
        With `reply` `stream`, the response is a stream of server-sent events. Each event has JSON
        as its `data`: the event `message` has the customer's message as stored; `delta`, the next
        piece of the answer in `text`; `reset`, `{}`: discard the pieces so far; `done`, which comes
        last, the same as the response without a stream. An answer that quotes documents costs 1
        credit; a language model's tokens are charged, even if it finds no answer. If the credits do
        not suffice, the bot hands the conversation over to people. A message to an ended
        conversation reopens it or begins the next one: see `conversation_id` of the stored message.
        422 for a file whose type is not in the description of `files`.

        The message's content has a signed link to each file, valid for a day. Files are always
        served as downloads. 409 `attachments_off` if the bot takes no files,
        `client_message_id_taken` if another sender's message has this id; 403 `customer_blocked` if
        your team has blocked the customer.
        """
        body.client_message_id = body.client_message_id or idempotency.stable_id()
        chat = self._chat(chat_id)
        # Checked before anything is stored, and again under the conversation's lock.
        attachments.ensure_allowed(chat, (), body.files)
        with attachments.stored(body.files, by=self.caller) as files:
            received = incoming.receive(chat, body.without_files, files=files)
        turn = incoming.turn_of_received(received, reply_requested=body.reply != "none")
        return self._respond(request, turn, reply=body.reply)

    @operation(
        "AI / client", "Send assistant reply message in chat conversation", access=SECRET_KEY,
        returns=Message, status=201, also={409: Error},
    )  # fmt: skip
    def send_as_assistant(self, chat_id: uuid.UUID, body: ConvMessage) -> dict[str, Any]:
        """Send your own assistant's message to the customer, as the bot; `reply` is ignored.

        409 `agent_has_chat` while an agent has the conversation, `chat_ended` if it has ended,
        `client_message_id_taken` if another sender's message has this id; on a messaging channel
        also `channel_not_connected` if the account is not connected, and `reply_window_closed` if
        the customer's last message is too old for the channel.
        """
        body.client_message_id = body.client_message_id or idempotency.stable_id()
        return Message.from_row(messages.append_by_assistant(self._chat(chat_id), body))

    @visitor_operation(
        "Generate automatic AI response", costs_credits=True, returns=TurnResponse,
        also={202: TurnResponse, 409: Error}, streams=EventStreamResponse,
    )  # fmt: skip
    def auto_respond(self, request: HttpRequest, chat_id: uuid.UUID) -> HttpResponseBase:
        """Have the bot answer the customer's last message, for example one that was stored with
        `reply: none`; if the message already has a reply, the response is that reply.

        The response waits for the reply: 200 with the reply, or 202 `pending` after a minute
        without a reply; with the header `Accept: text/event-stream` it is a stream of server-sent
        events. Each event has JSON as its `data`: the event `message` has the customer's message;
        `delta`, the next piece of the answer in `text`; `reset`, `{}`: discard the pieces so far;
        `done`, which comes last, the same as the response without a stream. The bot does not answer
        while an agent has the conversation or it is snoozed (200 with `not_expected`), nor while it
        waits for an agent (200 with `handed_off`, even if `answer_while_waiting` is true).

        An answer that quotes documents costs 1 credit; a language model's tokens are charged, even
        if it finds no answer. If the credits do not suffice, the bot hands the conversation over to
        people. A new reply triggers the webhook event `message.created`, a handover also
        `conversation.handed_off`. 409 `nothing_to_answer` if the customer has not written,
        `chat_ended` if the conversation has ended; 403 `customer_blocked` if your team has blocked
        the customer.
        """
        chat = self._chat(chat_id)
        message = incoming.request_reply_again(
            chat, earlier_result_id=idempotency.earlier_result_id()
        )
        idempotency.store_result_id(str(message.pk))
        return self._respond(request, incoming.turn_of(message))

    @operation(
        "AI / client", "Get chat conversation list", access=SECRET_KEY,
        returns=ConversationsResponse,
    )  # fmt: skip
    def list(self, query: ChatsQuery) -> dict[str, Any]:
        """List the conversations of the key's bot, or of all bots if the key serves all."""
        return chat_list.list_page(self.caller, query)

    @operation(
        "AI / client", "Get chat conversation history with customer information",
        access=SECRET_KEY, returns=ConversationHistory,
    )  # fmt: skip
    def history_with_customer(self, chat_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """Get a conversation with its customer and its messages, oldest first, without internal
        notes.

        To get new messages later, repeat the request for the last page, with its `cursor` if it had
        one: that page then also has the messages stored since.
        """
        chat = self._chat(chat_id)
        items = row_json.list_page(messages.history(chat), query, by="seq")
        conversation = Conversation.from_row(chat)
        return {"conversation": conversation, "customer": conversation.customer, **items}

    @visitor_operation("Get messages by chat conversation code", returns=MessageListResponse)
    def by_code(self, chat_code: str, query: Page) -> dict[str, Any]:
        """List the messages of the conversation with this `chat_code`, oldest first, without
        internal notes.

        To get new messages later, repeat the request for the last page, with its `cursor` if it had
        one: that page then also has the messages stored since. With a public key, the messages have
        fewer fields.
        """
        chat = conversations.get(self.caller, chat_code=chat_code)
        return messages.history_page(self.caller, chat.pk, query)

    def _respond(
        self, request: HttpRequest, turn: incoming.Turn, **options: Any
    ) -> HttpResponseBase:
        """The response to a stored message, with the fields that this caller may see."""
        if self.caller.is_public_key:
            options |= {
                "shape": VisitorTurn.from_turn,
                "message_shape": VisitorMessage.from_message,
            }
        return reply_responses.respond(request, turn, **options)


class AttachmentViewSet(TenantViewSet):
    @operation(
        "AI / client", "Download Attachment", access=PUBLIC,
        returns=RawResponse(attachments.MIME_TYPES), also={403: Error},
    )  # fmt: skip
    def download(self, attachment_id: uuid.UUID, query: AttachmentQuery) -> HttpResponseBase:
        """Download a file of a message. The link's signature is the credential: 403 if it is wrong
        or older than a day. To get a new link, read the message again."""
        row, file = attachments.open_by_link(attachment_id, signature=query.signature)
        return media.file_response(
            file,
            mime_type=row.mime_type,
            cache_control="private, max-age=3600",
            # Names stored by an older version may be unsafe.
            download_as=attachments.inert_name(row.file_name, row.mime_type),
        )
