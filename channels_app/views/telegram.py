"""telegram-services: a client's bots at the provider, their messages, and their callbacks."""

from channels_app.providers.errors import ProviderError
from channels_app.schemas.telegram_callback import TelegramUpdate
from channels_app.views.base import ANSWERED, CallbackViewSet, ChannelViewSet
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import PUBLIC, operation
from chats.schemas.message import Message, MessagesResponse
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

    send = operation(
        TAG, "Post Telegram Messages", access=BEARER, returns=Message, status=201, also={409: Error}
    )(ChannelViewSet.send)


class TelegramCallbackViewSet(CallbackViewSet):
    channel = "telegram"

    receive_for = operation(
        TAG, "Telegram Webhook", access=PUBLIC, is_counted=False, body=TelegramUpdate,
        returns=ANSWERED, also={401: Error},
    )(CallbackViewSet.receive_for)  # fmt: skip
