"""AI / chat: the agents' work on conversations and customers, previews, and the live feed."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from bots.models import Bot
from chatplatform import media, web_push
from chatplatform.api import idempotency
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import Form, RawResponse, operation
from chatplatform.api.pagination import Page, page
from chatplatform.live.streaming import StreamingReply
from chats.models import Customer
from chats.schemas import desk as desk_schemas
from chats.schemas.bot_preview import GenerateChatRequest, GeneratedChat
from chats.schemas.conversation import (
    ChatCounts,
    ChatsQuery,
    ChatsResponse,
    Conversation,
    ConversationsResponse,
    TranscriptQuery,
)
from chats.schemas.message import HistoryQuery, Message, MessagesResponse
from chats.schemas.people import (
    CustomerDto,
    CustomerErasure,
    CustomersQuery,
    CustomersResponse,
)
from chats.schemas.reply_explanation import ReplyReceipt
from chats.schemas.streams import FEED_EVENTS, reply_events
from chats.schemas.visitor import VisitorConversation
from chats.services.core import agent_messages, attachments, push, row_json, team_notifications
from chats.services.data_exchange import customer_transcripts, erasing, exporting
from chats.services.desk import (
    agent_actions,
    chat_list,
    customer_editing,
    feed,
    inbox,
    inbox_views,
    saved_replies,
)
from chats.services.reply import incoming, preview_chats
from chats.views import reply_responses
from chats.views.base import TRANSCRIPT, ChatsViewSet, transcript_download
from identity.auth import (
    ADMIN,
    BEARER,
    BEARER_ANY_ROLE,
    BEARER_OR_SECRET_KEY,
    BEARER_OR_TICKET,
    BEARER_OR_VISITOR,
    TenantViewSet,
    bearer_token,
    session_check,
)
from identity.services import site_sessions, tokens

CUSTOMER_FILE = RawResponse(("application/zip",), "The customer's data, as a download.")
FILES = Form(desk_schemas.ManualChatFilesDto, files=("files",))


class ChatViewSet(ChatsViewSet):
    @operation("AI / chat", "Assign Chat", access=BEARER, also={409: Error})
    def assign(self, chat_id: uuid.UUID, body: desk_schemas.ChatAssignDto) -> Conversation:
        """Assign a conversation to an agent, the queue or the bot, as `assign_type` says; `user_id`
        names the agent.

        A snoozed conversation stays snoozed. Any agent can assign a conversation that no agent has.
        If an agent has it, only that agent, an owner or an admin can assign it; others get 409
        `already_assigned`, as does the second of two people who claim it at once.

        409 `stale_version` if the conversation is no longer at `expected_version`. 409
        `bot_disabled` if the bot takes no conversations: it is disabled, or its `agent_reply` is
        true (people answer instead of the bot). 409 `agent_gone` if the agent was disabled or
        became a viewer during this request. 409 `chat_ended` if the conversation has ended. 422 if
        the person with `user_id` cannot be assigned conversations: a viewer, or somebody who is
        disabled or has not accepted the invitation.
        """
        chat = self._chat(chat_id)
        return Conversation.from_row(agent_actions.assign(chat, body, by=self.user))

    @operation("AI / chat", "Chat Unassign", access=BEARER, also={409: Error})
    def unassign(self, chat_id: uuid.UUID) -> Conversation:
        """Return a conversation to the bot, or to the queue if the bot is disabled or its
        `agent_reply` is true (people answer instead of the bot).

        409 `already_assigned` if another agent has it and you are not an owner or an admin,
        `chat_ended` if it has ended.
        """
        return Conversation.from_row(agent_actions.unassign(self._chat(chat_id), by=self.user))

    @operation(
        "AI / chat", "Manual Chat", access=BEARER, returns=Message, status=201, also={409: Error}
    )
    def manual(self, chat_id: uuid.UUID, body: desk_schemas.ManualChatMessageDto) -> dict[str, Any]:
        """Send a message to the customer, or add an internal note.

        A message to the customer assigns the conversation to you if no agent has it, and reopens it
        if it is snoozed. If another agent has the conversation, only an owner or an admin may write
        to the customer (409 `already_assigned`). If the bot's `mail_answers` is true, a visitor of
        the website whose email address is known gets the message by email if it has not arrived
        after three minutes.

        409 `chat_ended` if the conversation has ended; on a messaging channel also
        `channel_not_connected` if the account is not connected, and `reply_window_closed` if the
        customer's last message is too old for the channel. Notes can always be added. 409
        `client_message_id_taken` if another sender's message has this id, or if your message with
        this id is a note and this one is not (or the reverse).
        """
        return Message.from_row(agent_actions.send(self._chat(chat_id), body, by=self.user))

    @operation(
        "AI / chat", "Manual Chat With Files", access=BEARER, body=FILES, returns=Message,
        status=201, also={409: Error},
    )  # fmt: skip
    def manual_files(
        self, chat_id: uuid.UUID, body: desk_schemas.ManualChatFilesDto
    ) -> dict[str, Any]:
        """Send files to the customer, or add them to an internal note.

        The message's content has a signed link to each file, valid for a day. Files are always
        served as downloads. Like a text, files for the customer assign the conversation to you if
        no agent has it, reopen it if it is snoozed, and may be mailed, as in *Manual Chat*. 409
        `already_assigned` if another agent has the conversation and you are not an owner or an
        admin, `chat_ended` if it has ended; on a messaging channel also `channel_not_connected` if
        the account is not connected, and `reply_window_closed` if the customer's last message is
        too old for the channel. Notes can always be added. 409 `client_message_id_taken` if another
        sender's message has this id, or if your message with this id is a note and this one is not
        (or the reverse).
        """
        chat = self._chat(chat_id)
        with attachments.stored(body.files) as files:
            message = agent_actions.send(chat, body.without_files, by=self.user, files=files)
        return Message.from_row(message)

    @operation("AI / chat", "Edit Message", access=BEARER, returns=Message, also={409: Error})
    def edit_message(
        self, chat_id: uuid.UUID, message_id: uuid.UUID, body: desk_schemas.MessageEdit
    ) -> dict[str, Any]:
        """Replace the text of your latest message to the customer, who sees that it was edited.

        Messages of others, such as the customer, and notes may follow it. The message's
        translations are removed, and made again if your setting `auto_translate` is on. 409
        `not_latest_message` for a message of somebody else, an earlier message of yours, or a
        deleted message; `sent_by_channel` on a messaging channel, which has already sent the
        message; `chat_ended` if the conversation has ended. 404 for a note, which cannot be edited.
        """
        chat = self._chat(chat_id)
        return Message.from_row(agent_messages.edit(chat, message_id, body.text, by=self.user))

    @operation("AI / chat", "Delete Message", access=BEARER, returns=Message, also={409: Error})
    def delete_message(self, chat_id: uuid.UUID, message_id: uuid.UUID) -> dict[str, Any]:
        """Delete the text and files of your latest message to the customer, who sees that it was
        deleted.

        Messages of others, such as the customer, and notes may follow it. 409 `not_latest_message`
        for a message of somebody else, an earlier message of yours, or a deleted message;
        `sent_by_channel` on a messaging channel, which has already sent the message; `chat_ended`
        if the conversation has ended. 404 for a note, which cannot be deleted.
        """
        chat = self._chat(chat_id)
        return Message.from_row(agent_messages.delete(chat, message_id, by=self.user))

    @operation("AI / chat", "Get Chat History", access=BEARER, returns=MessagesResponse)
    def history(self, chat_id: uuid.UUID, query: HistoryQuery) -> dict[str, Any]:
        """List a conversation's messages with its internal notes, oldest first by default.

        To get new messages later, oldest first: repeat the request for the last page, with its
        `cursor` if it had one: that page then also has the messages stored since.
        """
        by = "-seq" if query.sort == "newest" else "seq"
        return row_json.list_page(inbox.transcript_for(self.caller, chat_id), query, by=by)

    @operation("AI / chat", "Download Chat Transcript", access=BEARER, returns=TRANSCRIPT)
    def transcript(self, chat_id: uuid.UUID, query: TranscriptQuery) -> HttpResponseBase:
        """Download a conversation as plain text, as *Download Transcript* gives it to the customer,
        even if the bot's `export_enabled` is false."""
        chat = self._chat(chat_id)
        return transcript_download(customer_transcripts.make_for_team(chat), query, chat)

    @operation("AI / chat", "Get Chat Steps", access=BEARER)
    def steps(self, chat_id: uuid.UUID) -> desk_schemas.ChatSteps:
        """List what happened to a conversation besides messages, such as handover, assignment and
        end: the newest 200 steps, oldest first."""
        rows = inbox.steps(self._chat(chat_id))
        return desk_schemas.ChatSteps(items=[desk_schemas.ChatStep.from_event(row) for row in rows])

    @operation("AI / chat", "Get Reply Receipt", access=BEARER)
    def receipt(self, chat_id: uuid.UUID, message_id: uuid.UUID) -> ReplyReceipt:
        """Get the receipt of a bot's message, which explains how the message came about: the
        passages found, with scores; the threshold, the instructions, the language model and the
        credits.

        404 for messages of customers and agents, which have no receipt.
        """
        return inbox.receipt(self._chat(chat_id), message_id)

    @operation("AI / chat", "Get Chat History", access=BEARER, returns=ConversationsResponse)
    def of_customer(self, customer_id: int, query: Page) -> dict[str, Any]:
        """List all conversations of a customer, newest first, without test conversations
        (previews)."""
        rows = inbox.chats_of(self.client, Customer, customer_id)
        return row_json.list_page(rows, query, by="-id")

    @operation("AI / chat", "Get Chat History", access=BEARER, returns=ConversationsResponse)
    def of_bot(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List all conversations of a bot, newest first, without test conversations (previews)."""
        rows = inbox.chats_of(self.client, Bot, bot_id)
        return row_json.list_page(rows, query, by="-id")

    @operation("AI / chat", "Get Chats", access=BEARER, returns=ChatsResponse)
    def list(self, query: ChatsQuery) -> dict[str, Any]:
        """List your company's conversations, sorted by newest activity, wait or priority."""
        return chat_list.list_page(self.caller, query, for_desk=True)

    @operation("AI / chat", "Get Chat Counts", access=BEARER)
    def counts(self) -> ChatCounts:
        """Count the conversations in each built-in view of your inbox, without test conversations
        (previews).

        To list the conversations of a view, send *Get Chats* the filters in the description of the
        view's field, and `previews=false`.
        """
        return inbox.counts(self.user)

    @operation("AI / chat", "Get Chat By Id", access=BEARER)
    def retrieve(self, chat_id: uuid.UUID) -> Conversation:
        """Get one conversation, with the same fields as in *Get Chats* and in webhook events."""
        return Conversation.from_row(self._chat(chat_id))

    @operation("AI / chat", "End A Chat By Id", access=BEARER_OR_VISITOR, also={409: Error})
    def end(self, chat_id: uuid.UUID) -> Conversation | VisitorConversation:
        """End a conversation: as an agent with an access token, or on the customer's behalf with an
        API key.

        `ended_by` becomes `agent` or `customer`. Triggers the webhook event `conversation.ended`.
        Afterwards, your settings apply: with `ask_feedback`, the customer is asked for a rating;
        with `auto_summary`, `auto_tag` and `auto_sentiment`, the conversation is summarized, it is
        tagged, and the customer's sentiment is judged. Each of these three costs 1 credit or, with
        a language model, the model's tokens.

        409 `chat_ended` if it has already ended, `already_assigned` if another agent has it and you
        are not an owner or an admin. 403 `customer_blocked` if an API key ends the conversation of
        a blocked customer.
        """
        chat = self._chat(chat_id)
        return self._response(agent_actions.end(chat, by=self.caller.user))

    @operation("AI / chat", "Agent End A Chat By Id", access=BEARER, also={409: Error})
    def agent_end(self, chat_id: uuid.UUID) -> Conversation:
        """End a conversation as an agent; `ended_by` becomes `agent`.

        The rating, the summary and the other consequences are as in *End A Chat By Id*. 409
        `chat_ended` if it has already ended, `already_assigned` if another agent has it and you are
        not an owner or an admin.
        """
        return Conversation.from_row(agent_actions.end(self._chat(chat_id), by=self.user))

    @operation("AI / chat", "Snooze Chat", access=BEARER, also={409: Error})
    def snooze(self, chat_id: uuid.UUID, body: desk_schemas.ChatSnoozeDto) -> Conversation:
        """Snooze a conversation until a given time; a message from the customer or an agent reopens
        it sooner.

        409 `chat_ended` if it has ended, `already_assigned` if another agent has it and you are not
        an owner or an admin.
        """
        chat = self._chat(chat_id)
        return Conversation.from_row(agent_actions.snooze(chat, until=body.until, by=self.user))

    @operation("AI / chat", "Set Chat Priority", access=BEARER, also={409: Error})
    def prioritize(self, chat_id: uuid.UUID, body: desk_schemas.ChatPriorityDto) -> Conversation:
        """Set how urgent a conversation is for your team: its `priority`. Triggers the webhook
        event `conversation.prioritized`. 409 `chat_ended` if it has ended."""
        chat = self._chat(chat_id)
        return Conversation.from_row(
            agent_actions.prioritize(chat, priority=body.priority, by=self.user)
        )

    @operation("AI / chat", "Reopen Chat", access=BEARER, also={409: Error})
    def reopen(self, chat_id: uuid.UUID) -> Conversation:
        """Reopen a conversation. A snoozed conversation stays with its agent, the queue or the bot;
        an ended conversation is assigned to you; an open conversation stays as it is.

        409 `already_assigned` if another agent has the snoozed conversation and you are not an
        owner or an admin, `chat_continued` if the customer has a newer conversation.
        """
        return Conversation.from_row(agent_actions.reopen(self._chat(chat_id), by=self.user))

    @operation("AI / chat", "Mark Chat As Read", access=BEARER)
    def read(self, chat_id: uuid.UUID) -> Conversation:
        """Mark all messages of the customer as read: `unread_count` becomes 0.

        Each unread message triggers the webhook event `message.read`; but on a messaging channel,
        no event is triggered, and the customer is shown a read receipt if the channel has them.
        """
        return Conversation.from_row(agent_actions.mark_read(self._chat(chat_id)))


class SavedReplyViewSet(ChatsViewSet):
    @operation(
        "AI / chat", "Get Saved Replies", access=BEARER, returns=desk_schemas.SavedRepliesResponse
    )
    def list(self, query: desk_schemas.SavedRepliesQuery) -> dict[str, Any]:
        """List your own and the shared saved replies, sorted by shortcut; with `q`, replies whose
        shortcut begins with it come first."""
        rows, order = saved_replies.list_for_user(self.user, query), ("rank", "shortcut", "id")
        return page(rows, query, by=order, schema=desk_schemas.SavedReplyDto.from_row)

    @operation("AI / chat", "Create Saved Reply", access=BEARER, status=201, also={409: Error})
    def create(self, body: desk_schemas.SavedReplyDto) -> desk_schemas.SavedReplyDto:
        """Save a text that you send often: for yourself or, with `is_shared`, for the whole team.

        403 if you share a reply without being an owner or an admin. 409 `shortcut_taken` if another
        of your own replies has this shortcut or, for a shared reply, if another shared reply has
        it.
        """
        return desk_schemas.SavedReplyDto.from_row(saved_replies.create(self.user, body))

    @operation("AI / chat", "Update Saved Reply", access=BEARER, also={409: Error})
    def update(
        self, saved_reply_id: int, body: desk_schemas.SavedReplyDto
    ) -> desk_schemas.SavedReplyDto:
        """Change one of your own saved replies or, as an owner or an admin, a shared saved reply.
        Fields left out keep their value.

        `texts` replaces the texts in all languages. Only owners and admins can change a shared
        reply, or share one with `is_shared`; otherwise 403. With `is_shared` false, a shared reply
        becomes your own. 404 for a colleague's own reply. 409 `shortcut_taken` if another of your
        own replies has this shortcut or, for a shared reply, if another shared reply has it.
        """
        return desk_schemas.SavedReplyDto.from_row(
            saved_replies.update(self.user, saved_reply_id, body)
        )

    @operation("AI / chat", "Delete Saved Reply", access=BEARER, status=204)
    def destroy(self, saved_reply_id: int) -> None:
        """Delete one of your own saved replies or, as an owner or an admin, a shared saved reply;
        otherwise 403 for a shared reply, and 404 for a colleague's own reply."""
        saved_replies.delete(self.user, saved_reply_id)

    @operation("AI / chat", "Render Saved Reply", access=BEARER)
    def render(
        self, chat_id: uuid.UUID, saved_reply_id: int, query: desk_schemas.RenderQuery
    ) -> desk_schemas.RenderedReply:
        """Get a saved reply with its variables filled in for a conversation; nothing is sent."""
        chat = self._chat(chat_id)
        return saved_replies.render(self.user, saved_reply_id, chat, language=query.language)


class DeskViewViewSet(TenantViewSet):
    @operation("AI / chat", "Get Inbox Views", access=BEARER_ANY_ROLE)
    def list(self) -> desk_schemas.DeskViews:
        """List your saved views of the inbox and the views that colleagues share, sorted by
        name."""
        found = inbox_views.list_for_user(self.user)
        return desk_schemas.DeskViews(items=[desk_schemas.DeskView.of(*pair) for pair in found])

    @operation("AI / chat", "Save Inbox View", access=BEARER_ANY_ROLE, also={409: Error})
    def save(self, body: desk_schemas.DeskView) -> desk_schemas.DeskView:
        """Save a view of the inbox, or replace your view with the same name.

        409 `too_many_views` if you already have 30 views.
        """
        return desk_schemas.DeskView.of(inbox_views.save(self.user, body), may_delete=True)

    @operation(
        "AI / chat", "Delete Inbox View", access=BEARER_ANY_ROLE, status=204, also={403: Error}
    )
    def destroy(self, view_id: int) -> None:
        """Delete one of your saved views of the inbox; owners and admins can also delete a
        colleague's shared view."""
        inbox_views.delete(self.user, view_id)


class CustomerViewSet(TenantViewSet):
    @operation("AI / chat", "Get Customers", access=BEARER_OR_SECRET_KEY, returns=CustomersResponse)
    def list(self, query: CustomersQuery) -> dict[str, Any]:
        """List your customers, newest first; a key of one bot gets only that bot's customers."""
        rows = customer_editing.list_(self.caller, query)
        return page(rows, query, by="-id", schema=CustomerDto.from_row)

    @operation("AI / chat", "Get Customer By Id", access=BEARER_OR_SECRET_KEY)
    def retrieve(self, customer_id: int) -> CustomerDto:
        """Get a customer; 404 if the customer was merged into another one."""
        return CustomerDto.from_row(customer_editing.get(self.caller, customer_id))

    @operation("AI / chat", "Update Customer", access=BEARER_OR_SECRET_KEY, also={409: Error})
    def update(self, customer_id: int, body: CustomerDto) -> CustomerDto:
        """Change a customer's data; fields left out keep their values, null clears a field.

        `attributes` are added to the stored ones; null removes an attribute. Blocking the customer
        ends the customer's conversations that are in the queue or with an agent. 422 if a value
        does not fit the customer-info field with this name, as defined by a bot that the customer
        has a conversation with. 409 `external_id_taken` if another customer has this `external_id`.
        """
        return CustomerDto.from_row(customer_editing.edit(self.caller, customer_id, body))

    @operation("AI / chat", "Merge Customers", access=BEARER_OR_SECRET_KEY, also={409: Error})
    def merge(self, customer_id: int, merged_id: int) -> CustomerDto:
        """Merge the customer `merged_id` into `customer_id`, with conversations, channel identities
        and attributes. The response is the customer `customer_id`.

        If both have a value for a field or an attribute, the value of `customer_id` is kept, even
        for the external id: a later request with the other external id creates a new customer. A
        block of either customer applies; of two blocks, the longer one. The `opt_out` that excludes
        more applies: `all` before `offers` before `none`. The conversations move unchanged. From
        then on, requests for the customer `merged_id` get a 404, although earlier messages keep
        this id as that of their sender. This cannot be undone. Triggers the webhook event
        `customer.merged`. 409 `same_customer` if both ids are the same, 422 if the `attributes` of
        both together are too many (200) or too large (16,384 bytes of JSON).
        """
        return CustomerDto.from_row(
            customer_editing.merge(self.caller, customer_id, merged_id=merged_id)
        )

    @operation("AI / chat", "Export Customer", access=ADMIN, returns=CUSTOMER_FILE, waits=True)
    def export(self, customer_id: int) -> HttpResponseBase:
        """Export everything stored about a customer as a ZIP: data, conversations, messages, files.

        Conversations and messages have the format of the two operations *Migration tool*; internal
        notes are included.
        """
        return media.file_response(
            exporting.write_customer(self.caller, customer_id),
            mime_type="application/zip",
            cache_control="no-store",
            download_as=f"customer-{customer_id}.zip",
        )

    @operation("AI / chat", "Erase Customer", access=ADMIN, status=202)
    def erase(self, customer_id: int) -> CustomerErasure:
        """Erase a customer permanently, with conversations, files and events; your company's
        exported reports are deleted too.

        This runs in the background; *Get Customer Erasure* shows the progress. The audit log keeps
        the customer's id and who requested the erasure. Until the erasure ends, a repeated request
        returns the same erasure.
        """
        return CustomerErasure.copy_from(erasing.request(self.caller, customer_id))

    @operation("AI / chat", "Get Customer Erasure", access=ADMIN)
    def erasure(self, erasure_id: uuid.UUID) -> CustomerErasure:
        """Get a customer's erasure, with its `status` and how many conversations are erased."""
        return CustomerErasure.copy_from(erasing.get(self.client, erasure_id))


class PreviewViewSet(ChatsViewSet):
    @operation(
        "AI / chat",
        "Generate Chat",
        access=BEARER,
        costs_credits=True,
        returns=GeneratedChat,
        also={202: GeneratedChat, 402: Error, 409: Error},
        streams=reply_events(GeneratedChat),
    )
    def start_preview(
        self, request: HttpRequest, bot_id: int, body: GenerateChatRequest
    ) -> HttpResponseBase:
        """Try a bot: open a test conversation (preview) with your messages and generate the bot's
        reply.

        `messages` is the whole dialogue, and required. Nothing is sent to a customer, and nobody is
        notified. The response is a 200 with the reply or, if it is not ready within a minute, a 202
        whose `status` is `pending`; then the reply appears later in `GET
        /ai/chat/{chat_id}/history`. With `stream`, the response is a stream of server-sent events.
        Each event has JSON as its `data`: the event `message` has your last message as stored;
        `delta`, the next piece of the reply in `text`; `reset`, `{}`: discard the pieces so far;
        `done`, which comes last, the same as the response without `stream`.

        402 `insufficient_credits` if the credits do not cover a reply; if they run out while the
        bot replies, the response is a 200 whose `status` is `handed_off`. 409 `preview_off` if the
        bot's `allow_preview` is false.
        """
        message = preview_chats.open_preview(
            self.client, bot_id, body, by=self.user, client_message_id=idempotency.stable_id()
        )
        turn = incoming.turn_of(message)
        return reply_responses.respond(
            request, turn, reply=body.reply, shape=preview_chats.with_receipt
        )

    @operation(
        "AI / chat",
        "Generate Chat",
        access=BEARER,
        costs_credits=True,
        body_is_optional=True,
        returns=GeneratedChat,
        also={202: GeneratedChat, 402: Error, 409: Error},
        streams=reply_events(GeneratedChat),
    )
    def continue_preview(
        self, request: HttpRequest, chat_id: uuid.UUID, body: GenerateChatRequest
    ) -> HttpResponseBase:
        """Generate the bot's next reply in a conversation. In a test conversation (preview), you
        can send new `messages` for it; without `messages`, the bot replies to the customer's last
        message.

        The reply is stored in the conversation and is not a draft: in a customer's conversation, it
        is sent to the customer. `messages` contains only what comes after the dialogue so far.
        Without `messages`, if the last message already has a reply, this reply is returned and no
        other reply is generated.

        The response is a 200 with the reply. If the bot does not reply, it is also a 200, whose
        `status` is `not_expected` while an agent has the conversation or it is snoozed, and
        `handed_off` while it waits for an agent or if the credits run out while the bot replies. If
        the reply is not ready within a minute, it is a 202 whose `status` is `pending`; then the
        reply appears later in `GET /ai/chat/{chat_id}/history`. With `stream`, the response is a
        stream of server-sent events. Each event has JSON as its `data`: the event `message` has the
        message that the bot replies to; `delta`, the next piece of the reply in `text`; `reset`,
        `{}`: discard the pieces so far; `done`, which comes last, the same as the response without
        `stream`.

        402 `insufficient_credits` if the credits do not cover a reply. 409 `not_a_preview` for
        `messages` in a customer's conversation, `nothing_to_answer` if the customer has not
        written, `chat_ended` if the conversation has ended. 403 `customer_blocked` if the customer
        is blocked.
        """
        chat = self._chat(chat_id)
        message = preview_chats.continue_chat(
            chat,
            body,
            client_message_id=idempotency.stable_id(),
            earlier_result_id=idempotency.earlier_result_id(),
        )
        idempotency.store_result_id(str(message.pk))
        turn = incoming.turn_of(message)
        return reply_responses.respond(
            request, turn, reply=body.reply, shape=preview_chats.with_receipt
        )


class NotificationViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Get Assign Notification",
        access=BEARER,
        returns=desk_schemas.NotificationsResponse,
    )
    def list(self, query: desk_schemas.NotificationsQuery) -> dict[str, Any]:
        """List your notifications, newest first. Your own actions aren't included."""
        rows = team_notifications.list_for_user(
            self.user, unread=query.unread, personal=query.personal
        )
        return page(rows, query, by="-id", schema=desk_schemas.AssignNotification.from_row)

    @operation("AI / chat", "Mark Notification As Read By Notification Id", access=BEARER_ANY_ROLE)
    def read(self, notification_id: uuid.UUID) -> desk_schemas.AssignNotification:
        """Mark one of your notifications as read; the response is the notification."""
        return desk_schemas.AssignNotification.from_row(
            team_notifications.mark_read(self.user, notification_id)
        )

    @operation("AI / chat", "Mark All Notifications As Read", access=BEARER_ANY_ROLE)
    def read_all(self) -> desk_schemas.ReadCount:
        """Mark all of your notifications as read."""
        return desk_schemas.ReadCount(count=team_notifications.mark_all_read(self.user))


class PushViewSet(TenantViewSet):
    @operation("AI / chat", "Get Push Key", access=BEARER_ANY_ROLE)
    def key_for_browsers(self) -> desk_schemas.PushKey:
        """Get the key with which a browser subscribes to push notifications."""
        return desk_schemas.PushKey(public_key=web_push.public_key())

    @operation(
        "AI / chat",
        "Get Push Subscriptions",
        access=BEARER_ANY_ROLE,
        returns=desk_schemas.PushSubscriptionsResponse,
    )
    def list(self, query: Page) -> dict[str, Any]:
        """List the browsers in which you get push notifications, newest first."""
        rows = push.list_for_user(self.user)
        return page(rows, query, by="-id", schema=desk_schemas.PushSubscription.from_row)

    @operation("AI / chat", "Create Push Subscription", access=BEARER_ANY_ROLE, status=201)
    def create(
        self, request: HttpRequest, body: desk_schemas.NewPushSubscription
    ) -> desk_schemas.PushSubscription:
        """Subscribe this browser to push notifications about what you have not read within five
        seconds.

        Give the browser's `PushManager.subscribe()` the key of *Get Push Key* as
        `applicationServerKey`, and send here what the subscription's `toJSON()` returns. The
        notifications tell you that a conversation was assigned to you, that a note mentions you, or
        that a customer wrote in one of your conversations; each is JSON with the conversation's
        `chat_id` and a `title` to show. The subscription ends when the sign-in that created it
        ends. Sending the same `endpoint` again replaces the subscription; beyond 20 browsers, the
        oldest subscriptions are removed.
        """
        row = push.subscribe(
            self.user,
            body,
            sign_in=tokens.sign_in_of(bearer_token(request)),
            device=site_sessions.device_of(request.headers.get("User-Agent", "")),
        )
        return desk_schemas.PushSubscription.from_row(row)

    @operation("AI / chat", "Delete Push Subscription", access=BEARER_ANY_ROLE, status=204)
    def destroy(self, subscription_id: uuid.UUID) -> None:
        """Stop push notifications in one of your browsers."""
        push.unsubscribe(self.user, subscription_id)


class FeedViewSet(ChatsViewSet):
    @operation("AI / chat", "Chat Events", access=BEARER_OR_TICKET, streams=FEED_EVENTS)
    def stream(self, request: HttpRequest, query: desk_schemas.FeedQuery) -> HttpResponseBase:
        """Stream your company's events live, as server-sent events.

        Events of the event log have their type, such as `message.created`, as `event`, and their id
        (`evt_…`) as `id`. Their data is the body of a webhook, but without `is_thin` and always
        with `data`. To miss nothing, reconnect with the last id as `Last-Event-ID`, as browsers
        do, or as `last_event_id` in the query: the stream continues after any event that the log
        still has; any other id is a 422.

        Other events have no id: `ready` at the start, with who is `online` and who is `away`;
        `presence` when a colleague comes or goes; `away` when somebody sets themselves as away or
        available; `typing`; `viewing`; and `deleted` when a conversation was deleted.
        `notification.created` contains only your own notifications. After every 15 seconds without
        an event, a comment line keeps the connection open. The stream ends when the sign-in that
        opened it ends. Each person can have ten open streams, and each company a thousand unless
        its rate limits differ: 429 `too_many_feeds`.
        """
        in_header = request.headers.get("Last-Event-ID")
        location = ("header", "Last-Event-ID") if in_header else ("query", "last_event_id")
        follow, end = feed.events_for(
            self.user,
            last_event_id=in_header or query.last_event_id,
            error_location=location,
            is_still_admitted=session_check(request),
        )
        return StreamingReply(
            follow, as_stream=True, status_of=lambda _: 200, endless=True, on_end=end
        )

    @operation(
        "AI / chat", "Create Chat Events Ticket", access=BEARER_ANY_ROLE, status=201,
        gives_credentials=True,
    )  # fmt: skip
    def ticket(self, request: HttpRequest) -> desk_schemas.FeedTicket:
        """Create a one-time ticket for *Chat Events*: a browser's `EventSource`, which cannot send
        an access token, opens `GET /ai/chat/events?ticket=…`.

        The ticket is valid for a minute and opens one stream, which lasts as long as your sign-in.
        To reconnect, create another ticket and send `last_event_id` too.
        """
        ticket = tokens.make_ticket(bearer_token(request))
        return desk_schemas.FeedTicket(ticket=ticket, expires_in=tokens.TICKET_SECONDS)

    @operation("AI / chat", "Set Typing", access=BEARER_OR_VISITOR, status=204)
    def typing(self, chat_id: uuid.UUID, body: desk_schemas.Typing) -> None:
        """Show that you (with an access token) or the customer (with an API key) is typing, or has
        stopped; nothing is stored.

        Your team sees it in *Chat Events*. If you have the conversation, the customer on your
        website sees it too (`agent.is_typing`); on a messaging channel that can show it, the
        customer sees that somebody is typing.
        """
        feed.publish_typing(self._chat(chat_id), by=self.caller, is_typing=body.is_typing)

    @operation("AI / chat", "Set Viewing", access=BEARER, status=204)
    def viewing(self, chat_id: uuid.UUID, body: desk_schemas.Viewing) -> None:
        """Show your colleagues that you are viewing a conversation; nothing is stored."""
        feed.publish_viewing(self._chat(chat_id), by=self.user, is_viewing=body.is_viewing)
