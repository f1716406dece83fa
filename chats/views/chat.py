"""AI / chat: what a client's people do with its chats, and the live feed of their screens."""

import uuid
from typing import Any

from django.http import HttpResponseBase
from rest_framework.request import Request

from chatplatform.api import idempotency
from chatplatform.api.openapi import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chatplatform.web.streaming import StreamingReply
from chats.models import Conversation
from chats.services.core import conversations, feedback, notifications, tags
from chats.services.desk import agent_actions, assignment, feed, inbox
from chats.services.exchange import previews
from chats.services.insight import insights, summary_runs
from chats.shapes import conversation as conversation_shapes
from chats.shapes import desk as desk_shapes
from chats.shapes import feed as feed_shapes
from chats.shapes import insight as insight_shapes
from chats.shapes import message as message_shapes
from chats.shapes import preview as preview_shapes
from chats.views import reply_responses
from identity.auth import (
    BEARER,
    BEARER_ANY_ROLE,
    BEARER_OR_API_KEY,
    BEARER_OR_TICKET,
    TenantViewSet,
    bearer_token,
    session_check,
)
from identity.services import tickets


class PreviewViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Generate Chat",
        access=BEARER,
        body=preview_shapes.GenerateChatRequest,
        returns=preview_shapes.GeneratedChat,
        also={202: preview_shapes.GeneratedChat, 409: Error},
        streams=True,
    )
    def begin(
        self, request: Request, bot_id: int, body: preview_shapes.GenerateChatRequest
    ) -> HttpResponseBase:
        """Try a bot: opens a preview chat with what was said and generates the reply."""
        message = previews.open_preview(
            self.client, bot_id, body, by=self.user, client_message_id=idempotency.stable_id()
        )
        return reply_responses.respond(
            request, message, reply=body.reply, shape=previews.with_receipt
        )

    @operation(
        "AI / chat",
        "Generate Chat",
        access=BEARER,
        body=preview_shapes.GenerateChatRequest,
        body_is_optional=True,
        returns=preview_shapes.GeneratedChat,
        also={202: preview_shapes.GeneratedChat, 409: Error},
        streams=True,
    )
    def go_on(
        self, request: Request, chat_id: uuid.UUID, body: preview_shapes.GenerateChatRequest
    ) -> HttpResponseBase:
        """The next reply. In a preview `messages` say more; without any, the last is answered."""
        chat = conversations.get_for_client(self.client, chat_id)
        message = previews.continue_chat(
            chat,
            body,
            client_message_id=idempotency.stable_id(),
            earlier_result_id=idempotency.earlier_result_id(),
        )
        idempotency.store_result_id(str(message.pk))
        return reply_responses.respond(
            request, message, reply=body.reply, shape=previews.with_receipt
        )


class ChatViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Assign Chat",
        access=BEARER,
        body=desk_shapes.ChatAssignDto,
        returns=conversation_shapes.Conversation,
        also={409: Error},
    )
    def assign(
        self, chat_id: uuid.UUID, body: desk_shapes.ChatAssignDto
    ) -> conversation_shapes.Conversation:
        """Give a chat to an agent, to the queue or to the bot.

        Of two agents who claim at once one has it, the other gets 409 `already_assigned`. What an
        agent has is moved by that agent or an admin only.
        """
        chat = conversations.get_for_client(self.client, chat_id)
        return conversation_shapes.Conversation.from_row(
            assignment.assign(chat, body, by=self.user)
        )

    @operation(
        "AI / chat",
        "Chat Unassign",
        access=BEARER,
        returns=conversation_shapes.Conversation,
        also={409: Error},
    )
    def unassign(self, chat_id: uuid.UUID) -> conversation_shapes.Conversation:
        """Back to the bot, or to the queue where the bot is off."""
        chat = conversations.get_for_client(self.client, chat_id)
        return conversation_shapes.Conversation.from_row(assignment.unassign(chat, by=self.user))

    @operation(
        "AI / chat",
        "Manual Chat",
        access=BEARER,
        body=desk_shapes.ManualChatMessageDto,
        returns=message_shapes.Message,
        status=201,
        also={409: Error},
    )
    def manual(self, chat_id: uuid.UUID, body: desk_shapes.ManualChatMessageDto) -> dict[str, Any]:
        """Say something to the customer yourself, or leave an internal note.

        A chat that nobody has is yours by it. In another agent's chat an admin may write.
        """
        chat = conversations.get_for_client(self.client, chat_id)
        return message_shapes.Message.from_row(agent_actions.send(chat, body, by=self.user))

    @operation(
        "AI / chat",
        "Get Chat History",
        access=BEARER,
        query=Page,
        returns=message_shapes.MessagesResponse,
    )
    def history(self, chat_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """The messages of a chat with its internal notes, oldest first."""
        chat = conversations.get_for_client(self.client, chat_id)
        return page(inbox.transcript(chat), query, by="seq", shape=message_shapes.Message.from_row)

    @operation(
        "AI / chat",
        "Get Chat History",
        access=BEARER,
        query=Page,
        returns=conversation_shapes.ConversationsResponse,
    )
    def of_customer(self, customer_id: int, query: Page) -> dict[str, Any]:
        """All chats of one customer, the newest first."""
        rows = inbox.chats_of_customer(self.client, customer_id)
        return page(rows, query, by="-id", shape=conversation_shapes.Conversation.from_row)

    @operation(
        "AI / chat",
        "Get Chat History",
        access=BEARER,
        query=Page,
        returns=conversation_shapes.ConversationsResponse,
    )
    def of_bot(self, bot_id: int, query: Page) -> dict[str, Any]:
        """All chats of one bot, the newest first."""
        rows = inbox.chats_of_bot(self.client, bot_id)
        return page(rows, query, by="-id", shape=conversation_shapes.Conversation.from_row)

    @operation(
        "AI / chat",
        "Get Chats",
        access=BEARER,
        query=conversation_shapes.ChatsQuery,
        returns=conversation_shapes.ConversationsResponse,
    )
    def list(self, query: conversation_shapes.ChatsQuery) -> dict[str, Any]:
        """The client's chats, those with the newest activity first."""
        rows = inbox.chats(self.caller, query)
        return page(
            rows, query, by=inbox.NEWEST_ACTIVITY, shape=conversation_shapes.Conversation.from_row
        )

    @operation(
        "AI / chat",
        "End A Chat By Id",
        access=BEARER_OR_API_KEY,
        returns=conversation_shapes.Conversation,
        also={409: Error},
    )
    def end(self, chat_id: uuid.UUID) -> conversation_shapes.Conversation:
        """The customer ends the chat; 409 `chat_ended` where it has ended already."""
        chat = conversations.get_for_caller(self.caller, chat_id)
        return conversation_shapes.Conversation.from_row(agent_actions.end_for_customer(chat))

    @operation(
        "AI / chat",
        "Agent End A Chat By Id",
        access=BEARER,
        returns=conversation_shapes.Conversation,
        also={409: Error},
    )
    def agent_end(self, chat_id: uuid.UUID) -> conversation_shapes.Conversation:
        """An agent ends the chat; 409 where it has ended already, or where another agent has it."""
        chat = conversations.get_for_client(self.client, chat_id)
        return conversation_shapes.Conversation.from_row(agent_actions.end(chat, by=self.user))

    @operation(
        "AI / chat",
        "Snooze Chat",
        access=BEARER,
        body=desk_shapes.ChatSnoozeDto,
        returns=conversation_shapes.Conversation,
        also={409: Error},
    )
    def snooze(
        self, chat_id: uuid.UUID, body: desk_shapes.ChatSnoozeDto
    ) -> conversation_shapes.Conversation:
        """Put a chat off: the time, or the customer by writing, opens it again."""
        chat = conversations.get_for_client(self.client, chat_id)
        return conversation_shapes.Conversation.from_row(
            agent_actions.snooze(chat, until=body.until, by=self.user)
        )

    @operation(
        "AI / chat", "Mark Chat As Read", access=BEARER, returns=conversation_shapes.Conversation
    )
    def read(self, chat_id: uuid.UUID) -> conversation_shapes.Conversation:
        """All that the customer wrote was seen: `unread_count` is 0."""
        chat = conversations.get_for_client(self.client, chat_id)
        return conversation_shapes.Conversation.from_row(agent_actions.mark_read(chat))


class NotificationViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Get Assign Notification",
        access=BEARER,
        query=desk_shapes.NotificationsQuery,
        returns=desk_shapes.NotificationsResponse,
    )
    def list(self, query: desk_shapes.NotificationsQuery) -> dict[str, Any]:
        """The caller's own notifications, newest first."""
        rows = notifications.list_for_user(self.user, unread=query.unread)
        return page(rows, query, by="-id", shape=desk_shapes.AssignNotification.from_row)

    @operation(
        "AI / chat",
        "Mark Notification As Read By Notification Id",
        access=BEARER,
        returns=desk_shapes.AssignNotification,
    )
    def read(self, notification_id: uuid.UUID) -> desk_shapes.AssignNotification:
        """Note that the caller has read one of his own notifications."""
        return desk_shapes.AssignNotification.from_row(
            notifications.mark_read(self.user, notification_id)
        )


class InsightViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Chat Summary Calculate",
        access=BEARER,
        body=insight_shapes.SummaryCalculateRequest,
        body_is_optional=True,
        returns=insight_shapes.SummaryJob,
        status=202,
        also={409: Error},
    )
    def calculate(self, body: insight_shapes.SummaryCalculateRequest) -> insight_shapes.SummaryJob:
        """Summarise every matching chat that has no current summary, by workers.

        One run a client at a time: 409 `summary_running` with its `job_id` while one is not over.
        """
        return insight_shapes.SummaryJob.from_row(
            summary_runs.start(self.client, by=self.user, given=body)
        )

    @operation(
        "AI / chat", "Chat Summary Calculate", access=BEARER, returns=insight_shapes.SummaryJob
    )
    def calculation(self, job_id: uuid.UUID) -> insight_shapes.SummaryJob:
        """How far a run is."""
        return insight_shapes.SummaryJob.from_row(summary_runs.get(self.client, job_id))

    @operation(
        "AI / chat",
        "Summarize Chat By Id",
        access=BEARER,
        returns=insight_shapes.ChatSummary,
        also={402: Error, 503: Error},
        waits=True,
    )
    def summarize(self, chat_id: uuid.UUID) -> insight_shapes.ChatSummary:
        """The summary of a chat; made, stored and charged only where the last is not current."""
        return insight_shapes.ChatSummary.from_row(insights.summarise(self._chat(chat_id)))

    @operation("AI / chat", "Get Client Tags", access=BEARER, returns=insight_shapes.Tags)
    def client_tags(self) -> insight_shapes.Tags:
        """Your tags with the number of chats of each; the 1,000 most used."""
        return tags.list_for_client(self.client)

    @operation(
        "AI / chat",
        "Create Tags For Chat",
        access=BEARER,
        body=insight_shapes.Tags,
        returns=insight_shapes.Tags,
    )
    def add_tags(self, chat_id: uuid.UUID, body: insight_shapes.Tags) -> insight_shapes.Tags:
        """Give a chat more tags; the answer holds all that it has then."""
        return insight_shapes.Tags.from_rows(tags.add(self._chat(chat_id), names=body.names))

    @operation(
        "AI / chat",
        "Update Tags For Chat",
        access=BEARER,
        body=insight_shapes.Tags,
        returns=insight_shapes.Tags,
    )
    def replace_tags(self, chat_id: uuid.UUID, body: insight_shapes.Tags) -> insight_shapes.Tags:
        """Give a chat these tags in place of all others, whoever gave them."""
        return insight_shapes.Tags.from_rows(tags.replace(self._chat(chat_id), names=body.names))

    @operation(
        "AI / chat",
        "Auto Generate Tag With Ai",
        access=BEARER,
        returns=insight_shapes.Tags,
        also={402: Error, 503: Error},
        waits=True,
    )
    def auto_tag(self, chat_id: uuid.UUID) -> insight_shapes.Tags:
        """Have an engine give a chat the tags that it is sure of; the answer holds all tags."""
        return insight_shapes.Tags.from_rows(insights.auto_tag(self._chat(chat_id)))

    @operation(
        "AI / chat",
        "Auto Generate Tag With Ai Temp",
        access=BEARER,
        returns=insight_shapes.Tags,
        also={402: Error, 503: Error},
        waits=True,
    )
    def propose_tags(self, chat_id: uuid.UUID) -> insight_shapes.Tags:
        """Tags that would fit and that the chat does not have; nothing is stored."""
        return insight_shapes.Tags.proposed(insights.propose_tags(self._chat(chat_id)))

    @operation(
        "AI / chat",
        "Generate Sentiment Manual",
        access=BEARER,
        returns=insight_shapes.ChatSentiment,
        also={402: Error, 503: Error},
        waits=True,
    )
    def judge(self, chat_id: uuid.UUID) -> insight_shapes.ChatSentiment:
        """Judge how the customer feels; stored on the chat and on the messages that were read."""
        return insights.analyse_sentiment(self._chat(chat_id))

    @operation(
        "AI / chat",
        "Create Chat Feed Back",
        access=BEARER_OR_API_KEY,
        body=insight_shapes.ChatFeedBackDto,
        returns=insight_shapes.ChatFeedBackDto,
        also={409: Error},
    )
    def rate(
        self, chat_id: uuid.UUID, body: insight_shapes.ChatFeedBackDto
    ) -> insight_shapes.ChatFeedBackDto:
        """A customer's rating of a chat, or of one answer in it; each once."""
        chat = conversations.get_for_caller(self.caller, chat_id)
        return insight_shapes.ChatFeedBackDto.from_row(feedback.create(chat, body))

    @operation(
        "AI / chat",
        "Get Chat Feedbacks",
        access=BEARER,
        query=insight_shapes.FeedbacksQuery,
        returns=insight_shapes.FeedbacksResponse,
    )
    def ratings(self, query: insight_shapes.FeedbacksQuery) -> dict[str, Any]:
        """Your customers' ratings, newest first."""
        rows = feedback.list_for_client(self.client, query)
        return page(rows, query, by="-id", shape=insight_shapes.ChatFeedBackDto.from_row)

    def _chat(self, chat_id: uuid.UUID) -> Conversation:
        return conversations.get_for_client(self.client, chat_id)


class FeedViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Chat Events",
        access=BEARER_OR_TICKET,
        query=feed_shapes.FeedQuery,
        streams=True,
    )
    def stream(self, request: Request, query: feed_shapes.FeedQuery) -> HttpResponseBase:
        """Everything that happens at your client, live, as server-sent events.

        Stored events carry their type as `event` and their id (`evt_…`) as `id`, and hold what a
        webhook would. Come back with the last one as `Last-Event-ID` (browsers do so by
        themselves; `last_event_id` in the query for others) and nothing is missed. Beside them,
        without an id: `ready` at the beginning with who is `online`, then `presence` when one of
        your colleagues comes or goes, and `typing`. `notification.created` holds your own
        notifications alone. The stream ends when the sign-in that opened it does.
        """
        in_header = request.headers.get("Last-Event-ID")
        location = ("header", "Last-Event-ID") if in_header else ("query", "last_event_id")
        follow = feed.events_for(
            self.user,
            last_event_id=in_header or query.last_event_id,
            error_location=location,
            is_still_admitted=session_check(request._request),
        )
        return StreamingReply(follow, as_stream=True, status_of=lambda _: 200)

    @operation(
        "AI / chat",
        "Create Chat Events Ticket",
        access=BEARER_ANY_ROLE,
        returns=feed_shapes.FeedTicket,
        status=201,
    )
    def ticket(self, request: Request) -> feed_shapes.FeedTicket:
        """A one-time ticket for `GET /ai/chat/events?ticket=…`, which a browser can open."""
        made = tickets.make(bearer_token(request._request))
        return feed_shapes.FeedTicket(ticket=made, expires_in=tickets.LIFETIME_SECONDS)

    @operation(
        "AI / chat", "Set Typing", access=BEARER_OR_API_KEY, body=feed_shapes.Typing, status=204
    )
    def typing(self, chat_id: uuid.UUID, body: feed_shapes.Typing) -> None:
        """Show on the client's open screens that someone is typing; nothing is stored."""
        chat = conversations.get_for_caller(self.caller, chat_id)
        feed.publish_typing(chat, by=self.caller, is_typing=body.is_typing)
