"""AI / chat: ratings of conversations and answers."""

import uuid
from typing import Any

from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import page
from chats.schemas import feedback as feedback_schemas
from chats.services.core import feedback
from chats.views.base import ChatsViewSet
from identity.auth import BEARER, BEARER_OR_VISITOR


class FeedbackViewSet(ChatsViewSet):
    @operation("AI / chat", "Create Chat Feed Back", access=BEARER_OR_VISITOR, also={409: Error})
    def rate(
        self, chat_id: uuid.UUID, body: feedback_schemas.ChatFeedBackDto
    ) -> feedback_schemas.ChatFeedBackDto:
        """Rate a conversation in stars, or one answer in it in stars or by thumb.

        A second rating of the same conversation or answer corrects the first one within the
        `feedback_edit_minutes` of your settings; after that, it gets 409 `feedback_given`. 403
        `customer_blocked` if your team has blocked the customer.
        """
        return feedback_schemas.ChatFeedBackDto.from_row(feedback.submit(self._chat(chat_id), body))

    @operation(
        "AI / chat", "Get Chat Feedbacks", access=BEARER, returns=feedback_schemas.FeedbacksResponse
    )
    def ratings(self, query: feedback_schemas.FeedbacksQuery) -> dict[str, Any]:
        """List your customers' ratings, newest first."""
        rows = feedback.list_for_client(self.client, query)
        return page(rows, query, by="-id", schema=feedback_schemas.ChatFeedBackDto.from_row)
