"""telegram-services: a client's bots at the provider, their messages, and their callbacks."""

from typing import Any

from channels_app.providers.errors import ProviderError
from channels_app.shapes.connection import ChannelMessageRequest
from channels_app.shapes.telegram_callback import TelegramUpdate
from channels_app.views.base import ANSWERED, CallbackViewSet, ChannelViewSet
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import PUBLIC, operation
from chats.shapes.message import Message, MessagesResponse
from identity.auth import ADMIN, BEARER

TAG = "telegram-services"


class TelegramViewSet(ChannelViewSet):
    channel = "telegram"

    connect = operation(
        TAG,
        "Connect Telegram",
        access=ADMIN,
        waits=True,
        also={409: Error},
        errors=(ProviderError,),
    )(ChannelViewSet.connect_with_token)
    disconnect = operation(TAG, "Disconnect Telegram", access=ADMIN, waits=True)(
        ChannelViewSet.disconnect
    )
    connection = operation(TAG, "Get Client Telegram Connection Info", access=BEARER)(
        ChannelViewSet.connection
    )
    messages = operation(TAG, "Get Telegram Messages", access=BEARER, returns=MessagesResponse)(
        ChannelViewSet.messages
    )

    @operation(
        TAG, "Post Telegram Messages", access=BEARER, returns=Message, status=201, also={409: Error}
    )
    def send(self, client_id: int, bot_id: int, body: ChannelMessageRequest) -> dict[str, Any]:
        """Send a message to a customer who has written to the bot's account.

        A 201 means that the message is stored. It is sent afterwards; its `status` and the events
        `message.delivered`, `message.read` and `message.failed` tell the outcome. If no agent has
        the conversation, it is assigned to you; if it is snoozed, it reopens. 404 if the customer
        has never written to the account.

        You may write at any time after the customer's last message. 409 `already_assigned` if
        another agent has the conversation (unless you are an owner or an admin), `chat_ended` if
        the conversation has ended or, with `recipient_id`, if all of the customer's conversations
        have ended, `channel_not_connected` if the account cannot send, `client_message_id_taken`
        if another sender's message, or a note, has this id.
        """
        return super().send(client_id, bot_id, body)


class TelegramCallbackViewSet(CallbackViewSet):
    channel = "telegram"

    receive_for = operation(
        TAG, "Telegram Webhook", access=PUBLIC, is_counted=False, body=TelegramUpdate,
        returns=ANSWERED, also={401: Error},
    )(CallbackViewSet.receive_for)  # fmt: skip
