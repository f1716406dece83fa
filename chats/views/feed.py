"""AI / chat: the live feed of staff screens."""

import uuid

from django.http import HttpResponseBase
from rest_framework.request import Request

from chatplatform.api import TenantViewSet, operation
from chats.serializers import feed as f
from chats.services import conversations, feed
from identity.auth import (
    BEARER_ANY_ROLE,
    BEARER_OR_API_KEY,
    BEARER_OR_TICKET,
    bearer_token,
    standing,
)
from identity.services import tickets


class FeedViewSet(TenantViewSet):
    @operation(
        "AI / chat", "Chat Events", access=BEARER_OR_TICKET, query=f.FeedQuery, streams=True,
    )  # fmt: skip
    def stream(self, request: Request, query: f.FeedQuery) -> HttpResponseBase:
        """Everything that happens at your client, live, as server-sent events.

        Stored events carry their type as `event` and their id (`evt_…`) as `id`, and hold what a
        webhook would. Come back with the last one as `Last-Event-ID` (browsers do so by
        themselves; `last_event_id` in the query for others) and nothing is missed. Beside them,
        without an id: `ready` at the beginning, `typing`, `presence`, and `notification.created`
        for you alone. The stream ends when the sign-in that opened it does.
        """
        asked = request.headers.get("Last-Event-ID") or query.last_event_id
        return feed.stream(
            self.user, last_event_id=asked, is_still_admitted=standing(request._request)
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
