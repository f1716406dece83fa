"""photoapp-services: accounts of a client, their messages, and what the provider calls."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from channels_app.providers.http import setting
from channels_app.services import agent_messaging, callbacks, connections, photoapp_logins
from channels_app.shapes.connection import (
    AccountsQuery,
    ChannelAccountsResponse,
    ChannelConnection,
    ChannelHandshake,
    ChannelMessageRequest,
    ChannelMessagesQuery,
    PhotoappConnectDto,
    PhotoappConnectPageDto,
)
from channels_app.shapes.graph_callback import MessageHook
from channels_app.views.base import CHALLENGE, RECEIVED, CallbackViewSet, ChannelViewSet
from chatplatform.api import idempotency
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import PUBLIC, operation
from chats.shapes.message import Message, MessagesResponse
from identity.auth import ADMIN, BEARER
from identity.shapes.clients import SocialnetAccessToken

TAG = "photoapp-services"


class PhotoappViewSet(ChannelViewSet):
    channel = "photoapp"

    @operation(TAG, "Get Photoapp Messages", access=BEARER, returns=MessagesResponse)
    def messages(self, client_id: int, bot_id: int, query: ChannelMessagesQuery) -> dict[str, Any]:
        """What the bot's customers and your side said on this channel, the newest first."""
        return agent_messaging.history_page(self.bot(client_id, bot_id), self.provider, query)

    @operation(
        TAG, "Post Photoapp Messages", access=BEARER, returns=Message, status=201, also={409: Error}
    )
    def send(self, client_id: int, bot_id: int, body: ChannelMessageRequest) -> dict[str, Any]:
        """Send a message to a customer who has written to the bot's account.

        The chat is yours if no agent has it. 409 `reply_window_closed` 24 hours after the
        customer's last message, unless a `tag` says why it may be sent all the same.
        """
        bot = self.bot(client_id, bot_id)
        key = idempotency.stable_id()
        return Message.from_row(
            agent_messaging.send(bot, self.provider, body, by=self.user, request_id=key)
        )

    @operation(
        TAG, "Client Messenger List Photoapp Accounts", access=BEARER, waits=True,
        also={409: Error, 502: Error},
    )  # fmt: skip
    def list_accounts(
        self, client_id: int, bot_id: int, query: AccountsQuery
    ) -> ChannelAccountsResponse:
        """The accounts that are linked to the pages of the person whose token is stored."""
        return connections.list_accounts(self.bot(client_id, bot_id), self.provider, query)

    @operation(TAG, "Store User Token", access=ADMIN)
    def store_token(self, client_id: int, body: SocialnetAccessToken) -> ChannelConnection:
        """Store a person's token, encrypted; accounts are listed and connected with it.

        It replaces the token that was stored for this channel before.
        """
        client = self.own_client(client_id)
        return connections.store_token(client, self.channel, by=self.user, **dict(body))

    @operation(
        TAG, "Connect Photoapp", access=ADMIN, waits=True, also={400: Error, 409: Error, 502: Error}
    )
    def sign_in(self, client_id: int, bot_id: int, body: PhotoappConnectDto) -> ChannelConnection:
        """Have a person consent: without `code` the reply holds the page to send them to.

        It sends them back to `redirect_uri` with `code` and `state`: send both here, and the
        person's token is stored. Then list the accounts, and connect one. With the `login` `direct`
        the account itself is connected at once. 400 `invalid_state` for
        a state that is missing, used, too old, or another person's or bot's.
        """
        bot = self.bot(client_id, bot_id)
        return photoapp_logins.sign_in(bot, body, by=self.user)

    @operation(
        TAG, "Client Messenger Connect Page", access=ADMIN, waits=True,
        also={409: Error, 502: Error},
    )  # fmt: skip
    def connect(
        self, client_id: int, bot_id: int, body: PhotoappConnectPageDto
    ) -> ChannelConnection:
        """Connect an account to the bot, with the person's stored token. Repeated, it does no harm.

        409 `account_taken` if another bot has the account, `bot_has_account` if the bot has
        another one, `token_missing` if nobody has consented.
        """
        bot = self.bot(client_id, bot_id)
        return connections.connect(bot, self.provider, body.page_id, by=self.user)

    @operation(TAG, "Get Client Ig Connection By Client Id", access=BEARER)
    def list_connections(self, client_id: int) -> list[ChannelConnection]:
        """The connection of each of your bots that has or had an account here, newest first."""
        return connections.describe_all(self.own_client(client_id), self.channel)

    @operation(TAG, "Disconnect Photoapp", access=ADMIN, waits=True)
    def disconnect(self, client_id: int, bot_id: int) -> ChannelConnection:
        """Give up the bot's account: its token is forgotten, and its events are ignored."""
        return connections.disconnect(self.bot(client_id, bot_id), self.channel, by=self.user)


class PhotoappCallbackViewSet(CallbackViewSet):
    channel = "photoapp"

    @operation(
        TAG, "Photoapp Webhook Verification", access=PUBLIC, returns=CHALLENGE, also={403: Error}
    )
    def shake_hands(self, query: ChannelHandshake) -> HttpResponse:
        """The provider asks whether this address is ours: the challenge, as plain text.

        503 `channel_not_configured` if the platform has no verify token for this channel.
        """
        expected = setting("PHOTOAPP_VERIFY_TOKEN")
        challenge = callbacks.shake_hands(expected, **dict(query))
        return HttpResponse(challenge, content_type="text/plain")

    @operation(
        TAG,
        "Photoapp Webhook",
        access=PUBLIC,
        is_counted=False,
        body=MessageHook,
        returns=RECEIVED,
        also={401: Error},
    )
    def receive(self, request: HttpRequest) -> HttpResponse:
        """Events of accounts, signed with the app's secret in `X-Hub-Signature-256`.

        Stored as they are and answered; then each is processed once, however often it is sent.
        503 `channel_not_configured` if the platform has no secret to check them with.
        """
        return self.accept(request)
