"""chatapp-services: numbers of a client, their messages, and what the provider calls."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from channels_app.providers.http import setting
from channels_app.services import agent_messaging, callbacks, connections, number_signup, templates
from channels_app.shapes.chatapp_callback import ChatappWebhook
from channels_app.shapes.connection import (
    AccountsQuery,
    ChannelAccountsResponse,
    ChannelConnection,
    ChannelHandshake,
    ChannelMessageRequest,
    ChannelMessagesQuery,
    ChatappConnectDto,
    ChatappTemplateRequest,
    ChatappTemplatesQuery,
    ChatappTemplatesResponse,
)
from channels_app.views.base import CHALLENGE, RECEIVED, CallbackViewSet, ChannelViewSet
from chatplatform.api import idempotency
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import PUBLIC, operation
from chats.shapes.message import Message, MessagesResponse
from identity.auth import ADMIN, BEARER
from identity.shapes.clients import SocialnetAccessToken

TAG = "chatapp-services"


class ChatappViewSet(ChannelViewSet):
    channel = "chatapp"

    @operation(TAG, "Store User Token", access=ADMIN)
    def store_token(self, client_id: int, body: SocialnetAccessToken) -> ChannelConnection:
        """Store a token that reaches your business accounts, encrypted; it replaces the last one.

        Numbers are listed and connected with it.
        """
        client = self.own_client(client_id)
        return connections.store_token(client, self.channel, by=self.user, **dict(body))

    @operation(
        TAG, "Client Chatapp List Accounts", access=BEARER, waits=True,
        also={409: Error, 502: Error},
    )  # fmt: skip
    def list_accounts(
        self, client_id: int, bot_id: int, query: AccountsQuery
    ) -> ChannelAccountsResponse:
        """The numbers of the business accounts that the stored token reaches."""
        return connections.list_accounts(self.bot(client_id, bot_id), self.provider, query)

    @operation(TAG, "Connect Chatapp", access=ADMIN, waits=True, also={409: Error, 502: Error})
    def connect(self, client_id: int, bot_id: int, body: ChatappConnectDto) -> ChannelConnection:
        """Connect a number with the code of the signup dialog, or with the stored token.

        Repeated, or after a disconnect, it does no harm. 409 `pin_missing` for a number that must
        be registered first, `account_taken` if another bot has it, `bot_has_account` if the bot
        has another number, `token_missing` without a code and a stored token.
        """
        return number_signup.connect(self.bot(client_id, bot_id), body, by=self.user)

    @operation(TAG, "Disconnect Chatapp", access=ADMIN, waits=True)
    def disconnect(self, client_id: int, bot_id: int) -> ChannelConnection:
        """Give up the bot's number: its token is forgotten, and its events are ignored.

        It stays registered at the provider.
        """
        return connections.disconnect(self.bot(client_id, bot_id), self.channel, by=self.user)

    @operation(TAG, "Get Bot Wa Connection", access=BEARER)
    def connection(self, client_id: int, bot_id: int) -> ChannelConnection:
        """The bot's number and how it is; `disconnected` without an id if it never had one."""
        return connections.describe(self.bot(client_id, bot_id), self.channel)

    @operation(TAG, "Get Chatapp Messages", access=BEARER, returns=MessagesResponse)
    def messages(self, client_id: int, bot_id: int, query: ChannelMessagesQuery) -> dict[str, Any]:
        """What the bot's customers and your side said on this channel, the newest first."""
        return agent_messaging.history_page(self.bot(client_id, bot_id), self.provider, query)

    @operation(
        TAG, "Post Chatapp Messages", access=BEARER, returns=Message, status=201,
        also={409: Error},
    )  # fmt: skip
    def send(self, client_id: int, bot_id: int, body: ChannelMessageRequest) -> dict[str, Any]:
        """Send a message to a customer who has written to the bot's number.

        `recipient_id` is the customer's number (digits) or id at the business. The chat is yours
        if no agent has it. 409 `reply_window_closed` 24 hours after the customer's last message.
        """
        bot = self.bot(client_id, bot_id)
        key = idempotency.stable_id()
        return Message.from_row(
            agent_messaging.send(bot, self.provider, body, by=self.user, request_id=key)
        )

    @operation(
        TAG, "Get Chatapp Templates", access=BEARER, waits=True, also={409: Error, 502: Error}
    )
    def list_templates(
        self, client_id: int, bot_id: int, query: ChatappTemplatesQuery
    ) -> ChatappTemplatesResponse:
        """The templates of the business account that has the bot's number, as the provider says.

        409 `channel_not_connected` if the bot has no number.
        """
        return templates.list_(self.bot(client_id, bot_id), query)

    @operation(
        TAG, "Post Chatapp Template", access=BEARER, returns=Message, status=201, waits=True,
        also={409: Error, 502: Error},
    )  # fmt: skip
    def send_template(
        self, client_id: int, bot_id: int, body: ChatappTemplateRequest
    ) -> dict[str, Any]:
        """Send an approved template to a customer who has written, inside the reply window or not.

        The chat is yours if no agent has it. 422 for an unknown template or a wrong number of
        values; 409 `template_not_sendable` for one that is not approved or paused, or that needs
        more than texts; 409 `no_templates` for a chat of another channel.
        """
        bot = self.bot(client_id, bot_id)
        key = idempotency.stable_id()
        return Message.from_row(templates.send(bot, body, by=self.user, request_id=key))


class ChatappCallbackViewSet(CallbackViewSet):
    channel = "chatapp"

    @operation(
        TAG, "Chatapp Webhook Verification", access=PUBLIC, returns=CHALLENGE, also={403: Error}
    )
    def shake_hands(self, query: ChannelHandshake) -> HttpResponse:
        """The provider asks whether this address is ours: the challenge, as plain text.

        503 `channel_not_configured` if the platform has no verify token for this channel.
        """
        expected = setting("CHATAPP_VERIFY_TOKEN")
        challenge = callbacks.shake_hands(expected, **dict(query))
        return HttpResponse(challenge, content_type="text/plain")

    @operation(
        TAG,
        "Chatapp Webhook",
        access=PUBLIC,
        is_counted=False,
        body=ChatappWebhook,
        returns=RECEIVED,
        also={401: Error},
    )
    def receive(self, request: HttpRequest) -> HttpResponse:
        """Events of numbers, signed with the app's secret in `X-Hub-Signature-256`.

        Stored as they are and answered; then each is processed once, however often it is sent.
        503 `channel_not_configured` if the platform has no secret to check them with.
        """
        return self.accept(request)
