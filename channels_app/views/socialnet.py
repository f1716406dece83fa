"""socialnet-services: pages of a client, their messages, and what the provider calls."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from channels_app.providers.http import setting
from channels_app.services import agent_messaging, callbacks, connections
from channels_app.shapes.connection import (
    AccountsQuery,
    ChannelAccountsResponse,
    ChannelConnection,
    ChannelHandshake,
    ChannelMessageRequest,
    ChannelMessagesQuery,
    MessengerConnectDto,
    MessengerConnectPageDto,
)
from channels_app.shapes.graph_callback import MessageHook
from channels_app.views.base import CHALLENGE, RECEIVED, CallbackViewSet, ChannelViewSet
from chatplatform.api import idempotency
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import PUBLIC, operation
from chats.shapes.message import Message, MessagesResponse
from identity.auth import ADMIN, BEARER
from identity.shapes.clients import SocialnetAccessToken

TAG = "socialnet-services"


class SocialnetViewSet(ChannelViewSet):
    channel = "socialnet"

    @operation(TAG, "Get Socialnet Messages", access=BEARER, returns=MessagesResponse)
    def messages(self, client_id: int, bot_id: int, query: ChannelMessagesQuery) -> dict[str, Any]:
        """What the bot's customers and your side said on this channel, the newest first."""
        return agent_messaging.history_page(self.bot(client_id, bot_id), self.provider, query)

    @operation(TAG, "Post Socialnet", access=BEARER, returns=Message, status=201, also={409: Error})
    def send(self, client_id: int, bot_id: int, body: ChannelMessageRequest) -> dict[str, Any]:
        """Send a message to a customer who has written to the bot's page.

        The chat is yours if no agent has it. 409 `reply_window_closed` 24 hours after the
        customer's last message, unless a `tag` says why it may be sent all the same.
        """
        bot = self.bot(client_id, bot_id)
        key = idempotency.stable_id()
        return Message.from_row(
            agent_messaging.send(bot, self.provider, body, by=self.user, request_id=key)
        )

    @operation(
        TAG, "Client Messenger List Pages", access=BEARER, waits=True, also={409: Error, 502: Error}
    )
    def list_accounts(
        self, client_id: int, bot_id: int, query: AccountsQuery
    ) -> ChannelAccountsResponse:
        """The pages for which the person whose token is stored may message."""
        return connections.list_accounts(self.bot(client_id, bot_id), self.provider, query)

    @operation(TAG, "Store User Token", access=ADMIN)
    def store_token(self, client_id: int, body: SocialnetAccessToken) -> ChannelConnection:
        """Store a person's token, encrypted; pages are listed and connected with it.

        The same as Add Socialnet Access Token: it replaces the token that was stored before.
        """
        client = self.own_client(client_id)
        return connections.store_token(client, self.channel, by=self.user, **dict(body))

    @operation(
        TAG, "Client Messenger Connect", access=ADMIN, waits=True,
        also={400: Error, 409: Error, 502: Error},
    )  # fmt: skip
    def sign_in(self, client_id: int, bot_id: int, body: MessengerConnectDto) -> ChannelConnection:
        """Have a person consent: without `code` the reply holds the page to send them to.

        It sends them back to `redirect_uri` with `code` and `state`: send both here, and the
        person's token is stored. Then list the pages, and connect one. 400 `invalid_state` for a
        state that is missing, used, too old, or another person's or bot's.
        """
        bot = self.bot(client_id, bot_id)
        return connections.consent(bot, self.provider, by=self.user, **dict(body))

    @operation(
        TAG, "Client Messenger Connect Page", access=ADMIN, waits=True,
        also={409: Error, 502: Error},
    )  # fmt: skip
    def connect(
        self, client_id: int, bot_id: int, body: MessengerConnectPageDto
    ) -> ChannelConnection:
        """Connect a page to the bot, with the person's stored token. Repeated, it does no harm.

        409 `account_taken` if another bot has the page, `bot_has_account` if the bot has another
        page, `token_missing` if nobody has consented.
        """
        bot = self.bot(client_id, bot_id)
        return connections.connect(bot, self.provider, body.page_id, by=self.user)

    @operation(TAG, "Get Client Socialnet Connection Info", access=BEARER)
    def connection(self, client_id: int, bot_id: int) -> ChannelConnection:
        """The bot's page and how it is; `disconnected` without an id if it never had one."""
        return connections.describe(self.bot(client_id, bot_id), self.channel)

    @operation(TAG, "Disconnect A Page Of Client", access=ADMIN, waits=True)
    def disconnect(
        self, client_id: int, bot_id: int, body: MessengerConnectPageDto
    ) -> ChannelConnection:
        """Give up the page: its token is forgotten, and its events are ignored from now on."""
        bot = self.bot(client_id, bot_id)
        return connections.disconnect(bot, self.channel, body.page_id, by=self.user)

    @operation(
        TAG, "Reconnect A Page Of Client", access=ADMIN, waits=True, also={409: Error, 502: Error}
    )
    def reconnect(
        self, client_id: int, bot_id: int, body: MessengerConnectPageDto
    ) -> ChannelConnection:
        """Connect a page again that this bot had, with the person's stored token."""
        bot = self.bot(client_id, bot_id)
        return connections.reconnect(bot, self.provider, body.page_id, by=self.user)


class SocialnetCallbackViewSet(CallbackViewSet):
    channel = "socialnet"

    @operation(
        TAG, "Socialnet Webhook Verification", access=PUBLIC, returns=CHALLENGE, also={403: Error}
    )
    def shake_hands(self, query: ChannelHandshake) -> HttpResponse:
        """The provider asks whether this address is ours: the challenge, as plain text.

        503 `channel_not_configured` if the platform has no verify token for this channel.
        """
        expected = setting("SOCIALNET_VERIFY_TOKEN")
        challenge = callbacks.shake_hands(expected, **dict(query))
        return HttpResponse(challenge, content_type="text/plain")

    @operation(
        TAG,
        "Socialnet Webhook",
        access=PUBLIC,
        is_counted=False,
        body=MessageHook,
        returns=RECEIVED,
        also={401: Error},
    )
    def receive(self, request: HttpRequest) -> HttpResponse:
        """Events of pages, signed with the app's secret in `X-Hub-Signature-256`.

        Stored as they are and answered; then each is processed once, however often it is sent.
        503 `channel_not_configured` if the platform has no secret to check them with.
        """
        return self.accept(request)
