"""AI / chat: the staff's preview of a bot."""

import uuid

from django.http import HttpResponseBase
from rest_framework.request import Request

from chatplatform.api import idempotency
from chatplatform.api.openapi import Error
from chatplatform.api.operation import operation
from chats.services.core import conversations
from chats.services.exchange import previews
from chats.shapes import preview as preview_shapes
from chats.views import reply_responses
from identity.auth import BEARER, TenantViewSet


class PreviewViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Generate Chat",
        access=BEARER,
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
