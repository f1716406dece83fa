"""AI / chat: what a client's people do with its chats, and the live feed of their screens."""

import uuid
from typing import Any

from django.http import HttpResponseBase
from rest_framework.request import Request

from chatplatform.api import TenantViewSet, operation
from chatplatform.openapi import Error
from chatplatform.pagination import Page, page
from chats.models import Conversation
from chats.serializers import conversation as c
from chats.serializers import desk as d
from chats.serializers import feed as f
from chats.serializers import generate as g
from chats.serializers import insight as i
from chats.serializers import message as m
from chats.services import (
    assignment,
    conversations,
    desk,
    feed,
    feedback,
    inbox,
    insights,
    notifications,
    previews,
    summaries,
    tags,
    turns,
)
from identity.auth import (
    BEARER,
    BEARER_ANY_ROLE,
    BEARER_OR_API_KEY,
    BEARER_OR_TICKET,
    bearer_token,
    standing,
)
from identity.services import tickets


class PreviewViewSet(TenantViewSet):
    @operation(
        "AI / chat", "Generate Chat", access=BEARER, body=g.GenerateChatRequest,
        returns=g.GeneratedChat, also={202: g.GeneratedChat, 409: Error}, streams=True,
    )  # fmt: skip
    def begin(self, request: Request, bot_id: int, body: g.GenerateChatRequest) -> HttpResponseBase:
        """Try a bot: opens a preview chat with what was said and generates the reply."""
        message = previews.begin(self.client, bot_id, body, by=self.user)
        return turns.respond(
            message, reply=turns.asked(request, body.reply), shape=previews.generated
        )

    @operation(
        "AI / chat", "Generate Chat", access=BEARER, body=g.GenerateChatRequest,
        body_is_optional=True, returns=g.GeneratedChat, also={202: g.GeneratedChat, 409: Error},
        streams=True,
    )  # fmt: skip
    def go_on(
        self, request: Request, chat_id: uuid.UUID, body: g.GenerateChatRequest
    ) -> HttpResponseBase:
        """The next reply. In a preview `messages` say more; without any, the last is answered."""
        chat = conversations.of_client(self.client, chat_id)
        message = previews.go_on(chat, body)
        return turns.respond(
            message, reply=turns.asked(request, body.reply), shape=previews.generated
        )


class ChatViewSet(TenantViewSet):
    @operation(
        "AI / chat", "Assign Chat", access=BEARER, body=d.ChatAssignDto, returns=c.Conversation,
        also={409: Error},
    )  # fmt: skip
    def assign(self, request: Request, chat_id: uuid.UUID, body: d.ChatAssignDto) -> c.Conversation:
        """Give a chat to an agent, to the queue or to the bot.

        Of two agents who claim at once one has it, the other gets 409 `already_assigned`. What an
        agent has is moved by that agent or an admin only.
        """
        chat = conversations.of_client(self.client, chat_id)
        return c.Conversation.of(assignment.assign(chat, body, by=self.user))

    @operation(
        "AI / chat", "Chat Unassign", access=BEARER, returns=c.Conversation, also={409: Error}
    )
    def unassign(self, request: Request, chat_id: uuid.UUID) -> c.Conversation:
        """Back to the bot, or to the queue where the bot is off."""
        chat = conversations.of_client(self.client, chat_id)
        return c.Conversation.of(assignment.unassign(chat, by=self.user))

    @operation(
        "AI / chat", "Manual Chat", access=BEARER, body=d.ManualChatMessageDto, returns=m.Message,
        status=201, also={409: Error},
    )  # fmt: skip
    def manual(
        self, request: Request, chat_id: uuid.UUID, body: d.ManualChatMessageDto
    ) -> dict[str, Any]:
        """Say something to the customer yourself, or leave an internal note.

        A chat that nobody has is yours by it. In another agent's chat an admin may write.
        """
        chat = conversations.of_client(self.client, chat_id)
        return m.Message.of(desk.send(chat, body, by=self.user))

    @operation(
        "AI / chat", "Get Chat History", access=BEARER, query=Page, returns=m.MessagesResponse
    )
    def history(self, request: Request, chat_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """The messages of a chat with its internal notes, oldest first."""
        chat = conversations.of_client(self.client, chat_id)
        return page(inbox.transcript(chat), query, by="seq", shape=m.Message.of)

    @operation(
        "AI / chat", "Get Chat History", access=BEARER, query=Page, returns=c.ConversationsResponse
    )
    def of_customer(self, request: Request, customer_id: int, query: Page) -> dict[str, Any]:
        """All chats of one customer, the newest first."""
        rows = inbox.of_customer(self.client, customer_id)
        return page(rows, query, by="-id", shape=c.Conversation.of)

    @operation(
        "AI / chat", "Get Chat History", access=BEARER, query=Page, returns=c.ConversationsResponse
    )
    def of_bot(self, request: Request, bot_id: int, query: Page) -> dict[str, Any]:
        """All chats of one bot, the newest first."""
        rows = inbox.of_bot(self.client, bot_id)
        return page(rows, query, by="-id", shape=c.Conversation.of)

    @operation(
        "AI / chat", "Get Chats", access=BEARER, query=c.ChatsQuery, returns=c.ConversationsResponse
    )
    def list(self, request: Request, query: c.ChatsQuery) -> dict[str, Any]:
        """The client's chats, those with the newest activity first."""
        rows = inbox.chats(self.caller, query)
        return page(rows, query, by=inbox.NEWEST_ACTIVITY, shape=c.Conversation.of)

    @operation(
        "AI / chat", "End A Chat By Id", access=BEARER_OR_API_KEY, returns=c.Conversation,
        also={409: Error},
    )  # fmt: skip
    def end(self, request: Request, chat_id: uuid.UUID) -> c.Conversation:
        """The customer ends the chat; 409 `chat_ended` where it has ended already."""
        chat = conversations.of_caller(self.caller, chat_id)
        return c.Conversation.of(desk.end_for_customer(chat))

    @operation(
        "AI / chat", "Agent End A Chat By Id", access=BEARER, returns=c.Conversation,
        also={409: Error},
    )  # fmt: skip
    def agent_end(self, request: Request, chat_id: uuid.UUID) -> c.Conversation:
        """An agent ends the chat; 409 where it has ended already, or where another agent has it."""
        chat = conversations.of_client(self.client, chat_id)
        return c.Conversation.of(desk.end(chat, by=self.user))

    @operation(
        "AI / chat", "Snooze Chat", access=BEARER, body=d.ChatSnoozeDto, returns=c.Conversation,
        also={409: Error},
    )  # fmt: skip
    def snooze(self, request: Request, chat_id: uuid.UUID, body: d.ChatSnoozeDto) -> c.Conversation:
        """Put a chat off: the time, or the customer by writing, opens it again."""
        chat = conversations.of_client(self.client, chat_id)
        return c.Conversation.of(desk.snooze(chat, until=body.until, by=self.user))

    @operation("AI / chat", "Mark Chat As Read", access=BEARER, returns=c.Conversation)
    def read(self, request: Request, chat_id: uuid.UUID) -> c.Conversation:
        """All that the customer wrote was seen: `unread_count` is 0."""
        chat = conversations.of_client(self.client, chat_id)
        return c.Conversation.of(desk.mark_read(chat))


class NotificationViewSet(TenantViewSet):
    @operation(
        "AI / chat", "Get Assign Notification", access=BEARER, query=d.NotificationsQuery,
        returns=d.NotificationsResponse,
    )  # fmt: skip
    def list(self, request: Request, query: d.NotificationsQuery) -> dict[str, Any]:
        """The caller's own notifications, newest first."""
        rows = notifications.of_user(self.user, unread=query.unread)
        return page(rows, query, by="-id", shape=d.AssignNotification.of)

    @operation(
        "AI / chat", "Mark Notification As Read By Notification Id", access=BEARER,
        returns=d.AssignNotification,
    )  # fmt: skip
    def read(self, request: Request, notification_id: uuid.UUID) -> d.AssignNotification:
        """Note that the caller has read one of his own notifications."""
        return d.AssignNotification.of(notifications.mark_read(self.user, notification_id))


class InsightViewSet(TenantViewSet):
    @operation(
        "AI / chat", "Chat Summary Calculate", access=BEARER, body=i.SummaryCalculateRequest,
        body_is_optional=True, returns=i.SummaryJob, status=202, also={409: Error},
    )  # fmt: skip
    def calculate(self, request: Request, body: i.SummaryCalculateRequest) -> i.SummaryJob:
        """Summarise every matching chat that has no current summary, by workers.

        One run a client at a time: 409 `summary_running` with its `job_id` while one is not over.
        """
        return i.SummaryJob.of(summaries.start(self.client, by=self.user, given=body))

    @operation("AI / chat", "Chat Summary Calculate", access=BEARER, returns=i.SummaryJob)
    def calculation(self, request: Request, job_id: uuid.UUID) -> i.SummaryJob:
        """How far a run is."""
        return i.SummaryJob.of(summaries.get(self.client, job_id))

    @operation(
        "AI / chat", "Summarize Chat By Id", access=BEARER, returns=i.ChatSummary,
        also={402: Error, 503: Error}, calls_out=True,
    )  # fmt: skip
    def summarize(self, request: Request, chat_id: uuid.UUID) -> i.ChatSummary:
        """The summary of a chat; made, stored and charged only where the last is not current."""
        return i.ChatSummary.of(insights.summarise(self._chat(chat_id)))

    @operation("AI / chat", "Get Client Tags", access=BEARER, returns=i.Tags)
    def client_tags(self, request: Request) -> i.Tags:
        """Your tags with the number of chats of each; the 1,000 most used."""
        return tags.list_(self.client)

    @operation(
        "AI / chat", "Create Tags For Chat", access=BEARER, body=i.Tags, returns=i.Tags
    )  # fmt: skip
    def add_tags(self, request: Request, chat_id: uuid.UUID, body: i.Tags) -> i.Tags:
        """Give a chat more tags; the answer holds all that it has then."""
        return i.Tags.of(tags.add(self._chat(chat_id), names=body.names))

    @operation(
        "AI / chat", "Update Tags For Chat", access=BEARER, body=i.Tags, returns=i.Tags
    )  # fmt: skip
    def replace_tags(self, request: Request, chat_id: uuid.UUID, body: i.Tags) -> i.Tags:
        """Give a chat these tags in place of all others, whoever gave them."""
        return i.Tags.of(tags.replace(self._chat(chat_id), names=body.names))

    @operation(
        "AI / chat", "Auto Generate Tag With Ai", access=BEARER, returns=i.Tags,
        also={402: Error, 503: Error}, calls_out=True,
    )  # fmt: skip
    def auto_tag(self, request: Request, chat_id: uuid.UUID) -> i.Tags:
        """Have an engine give a chat the tags that it is sure of; the answer holds all tags."""
        return i.Tags.of(insights.auto_tag(self._chat(chat_id)))

    @operation(
        "AI / chat", "Auto Generate Tag With Ai Temp", access=BEARER, returns=i.Tags,
        also={402: Error, 503: Error}, calls_out=True,
    )  # fmt: skip
    def propose_tags(self, request: Request, chat_id: uuid.UUID) -> i.Tags:
        """Tags that would fit and that the chat does not have; nothing is stored."""
        return i.Tags.proposed(insights.propose_tags(self._chat(chat_id)))

    @operation(
        "AI / chat", "Generate Sentiment Manual", access=BEARER, returns=i.ChatSentiment,
        also={402: Error, 503: Error}, calls_out=True,
    )  # fmt: skip
    def judge(self, request: Request, chat_id: uuid.UUID) -> i.ChatSentiment:
        """Judge how the customer feels; stored on the chat and on the messages that were read."""
        return insights.judge(self._chat(chat_id))

    @operation(
        "AI / chat", "Create Chat Feed Back", access=BEARER_OR_API_KEY, body=i.ChatFeedBackDto,
        returns=i.ChatFeedBackDto, also={409: Error},
    )  # fmt: skip
    def rate(
        self, request: Request, chat_id: uuid.UUID, body: i.ChatFeedBackDto
    ) -> i.ChatFeedBackDto:
        """A customer's rating of a chat, or of one answer in it; each once."""
        chat = conversations.of_caller(self.caller, chat_id)
        return i.ChatFeedBackDto.of(feedback.create(chat, body))

    @operation(
        "AI / chat", "Get Chat Feedbacks", access=BEARER, query=i.FeedbacksQuery,
        returns=i.FeedbacksResponse,
    )  # fmt: skip
    def ratings(self, request: Request, query: i.FeedbacksQuery) -> dict[str, Any]:
        """Your customers' ratings, newest first."""
        rows = feedback.list_(self.client, query)
        return page(rows, query, by="-id", shape=i.ChatFeedBackDto.of)

    def _chat(self, chat_id: uuid.UUID) -> Conversation:
        return conversations.of_client(self.client, chat_id)


class FeedViewSet(TenantViewSet):
    @operation(
        "AI / chat", "Chat Events", access=BEARER_OR_TICKET, query=f.FeedQuery, streams=True,
    )  # fmt: skip
    def stream(self, request: Request, query: f.FeedQuery) -> HttpResponseBase:
        """Everything that happens at your client, live, as server-sent events.

        Stored events carry their type as `event` and their id (`evt_…`) as `id`, and hold what a
        webhook would. Come back with the last one as `Last-Event-ID` (browsers do so by
        themselves; `last_event_id` in the query for others) and nothing is missed. Beside them,
        without an id: `ready` at the beginning with who is `online`, then `presence` when one of
        your colleagues comes or goes, and `typing`. `notification.created` holds your own
        notifications alone. The stream ends when the sign-in that opened it does.
        """
        in_header = request.headers.get("Last-Event-ID")
        return feed.stream(
            self.user,
            last_event_id=in_header or query.last_event_id,
            named_in=("header", "Last-Event-ID") if in_header else ("query", "last_event_id"),
            is_still_admitted=standing(request._request),
        )

    @operation(
        "AI / chat", "Create Chat Events Ticket", access=BEARER_ANY_ROLE, returns=f.FeedTicket,
        status=201,
    )  # fmt: skip
    def ticket(self, request: Request) -> f.FeedTicket:
        """A one-time ticket for `GET /ai/chat/events?ticket=…`, which a browser can open."""
        made = tickets.make(bearer_token(request._request))
        return f.FeedTicket(ticket=made, expires_in=tickets.LIFETIME_SECONDS)

    @operation(
        "AI / chat", "Set Typing", access=BEARER_OR_API_KEY, body=f.Typing, status=204
    )  # fmt: skip
    def typing(self, request: Request, chat_id: uuid.UUID, body: f.Typing) -> None:
        """Show on the client's open screens that someone is typing; nothing is stored."""
        chat = conversations.of_caller(self.caller, chat_id)
        feed.say_typing(chat, by=self.caller, is_typing=body.is_typing)
