"""AI / chat: the live feed and a person's notifications."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from chatplatform.api.operation import operation
from chatplatform.api.pagination import page
from chatplatform.live.streaming import StreamingReply
from chats.services.core import staff_notifications
from chats.services.desk import feed
from chats.shapes import desk as desk_shapes
from chats.shapes.streams import FEED_EVENTS
from chats.views.base import ChatsViewSet
from identity.auth import (
    BEARER,
    BEARER_ANY_ROLE,
    BEARER_OR_TICKET,
    BEARER_OR_VISITOR,
    TenantViewSet,
    bearer_token,
    session_check,
)
from identity.services import tokens


class NotificationViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Get Assign Notification",
        access=BEARER,
        returns=desk_shapes.NotificationsResponse,
    )
    def list(self, query: desk_shapes.NotificationsQuery) -> dict[str, Any]:
        """List the caller's own notifications, newest first."""
        rows = staff_notifications.list_for_user(self.user, unread=query.unread)
        return page(rows, query, by="-id", shape=desk_shapes.AssignNotification.from_row)

    @operation("AI / chat", "Mark Notification As Read By Notification Id", access=BEARER)
    def read(self, notification_id: uuid.UUID) -> desk_shapes.AssignNotification:
        """Mark one of the caller's own notifications as read."""
        return desk_shapes.AssignNotification.from_row(
            staff_notifications.mark_read(self.user, notification_id)
        )

    @operation("AI / chat", "Mark All Notifications As Read", access=BEARER)
    def read_all(self) -> desk_shapes.ReadCount:
        """Mark all of the caller's own notifications as read."""
        return desk_shapes.ReadCount(count=staff_notifications.mark_all_read(self.user))


class FeedViewSet(ChatsViewSet):
    @operation("AI / chat", "Chat Events", access=BEARER_OR_TICKET, streams=FEED_EVENTS)
    def stream(self, request: HttpRequest, query: desk_shapes.FeedQuery) -> HttpResponseBase:
        """Stream everything that happens at your client, live, as server-sent events.

        Stored events carry their type as `event`, their id (`evt_…`) as `id`, and the data of a
        webhook. To miss nothing, reconnect with the last id as `Last-Event-ID`, as browsers do, or
        as `last_event_id` in the query. Other events have no id: `ready` at the start with who is
        `online`, `presence` when a colleague comes or goes, `typing`, and `viewing`.
        `notification.created` contains only your own notifications. The stream ends when the
        sign-in that opened it ends. Each person can have ten open streams and each client a
        thousand: 429 `too_many_feeds`.
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

    @operation("AI / chat", "Create Chat Events Ticket", access=BEARER_ANY_ROLE, status=201)
    def ticket(self, request: HttpRequest) -> desk_shapes.FeedTicket:
        """Create a one-time ticket for `GET /ai/chat/events?ticket=…`, which a browser can open."""
        ticket = tokens.make_ticket(bearer_token(request))
        return desk_shapes.FeedTicket(ticket=ticket, expires_in=tokens.TICKET_SECONDS)

    @operation("AI / chat", "Set Typing", access=BEARER_OR_VISITOR, status=204)
    def typing(self, chat_id: uuid.UUID, body: desk_shapes.Typing) -> None:
        """Show on the client's open screens that someone is typing; nothing is stored.

        If the agent who has the conversation types, its visitor sees it too (`agent.is_typing`).
        """
        feed.publish_typing(self._chat(chat_id), by=self.caller, is_typing=body.is_typing)

    @operation("AI / chat", "Set Viewing", access=BEARER, status=204)
    def viewing(self, chat_id: uuid.UUID, body: desk_shapes.Viewing) -> None:
        """Show your colleagues that you are viewing a conversation; nothing is stored."""
        feed.publish_viewing(self._chat(chat_id), by=self.user, is_viewing=body.is_viewing)
