"""The views that channels share; each channel declares the operations that it has."""

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from bots.models import Bot
from bots.services import bots
from channels_app.providers import PROVIDERS, Provider
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.http import setting
from channels_app.services import agent_messaging, callbacks, connections
from channels_app.shapes.connection import (
    AccountsQuery,
    ChannelAccountsResponse,
    ChannelConnection,
    ChannelHandshake,
    ChannelMessageRequest,
    ChannelMessagesQuery,
    TokenConnectDto,
)
from chatplatform.api import idempotency
from chatplatform.api.errors import NotFound, TooLarge, json_response
from chatplatform.api.operation import OperationViewSet, RawResponse
from chatplatform.channel_names import MessagingChannel
from chats.shapes.message import Message
from identity.auth import TenantViewSet
from identity.models import Client
from identity.services import clients
from identity.shapes.clients import SocialnetAccessToken

CHALLENGE = RawResponse(("text/plain",), "The challenge, as it was sent.")
RECEIVED = RawResponse(("text/plain",), "Received: `OK`.")
ANSWERED = RawResponse(("text/plain", "application/json"), "Received: `OK`, or a call in JSON.")


class ChannelViewSet(TenantViewSet):
    """The base of a channel's operations for people."""

    channel: ClassVar[MessagingChannel]

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.channel]

    def own_client(self, client_id: int) -> Client:
        """The caller's client; 404 if the path names another."""
        if client_id != self.client.pk:
            raise NotFound
        return self.client

    def bot(self, client_id: int, bot_id: int) -> Bot:
        """One of the caller's bots; 404 for any other bot, or if the path names another client."""
        return bots.get(self.own_client(client_id), bot_id)

    def store_token(self, client_id: int, body: SocialnetAccessToken) -> ChannelConnection:
        """Store a person's token, encrypted; accounts are listed and connected with it.

        It replaces the token that was stored for this channel before.
        """
        client = self.own_client(client_id)
        token = clients.store_channel_access_token(
            client, channel=self.channel, by=self.user, **dict(body)
        )
        return ChannelConnection.from_token(token, self.channel)

    def list_accounts(
        self, client_id: int, bot_id: int, query: AccountsQuery
    ) -> ChannelAccountsResponse:
        """List the accounts that can be connected with the stored token of a person.

        409 `token_missing` if there is no valid one.
        """
        return connections.list_accounts(self.bot(client_id, bot_id), self.provider, query)

    def connection(self, client_id: int, bot_id: int) -> ChannelConnection:
        """Get the bot's account with its status, which is `disconnected` if it never had one."""
        return connections.describe(self.bot(client_id, bot_id), self.channel)

    def connect_with_token(
        self, client_id: int, bot_id: int, body: TokenConnectDto
    ) -> ChannelConnection:
        """Connect the account that a token is for; repeat it to store a new token.

        422 if the provider does not know the token. 409 `account_taken` if another bot has the
        account, `bot_has_account` if the bot has another account.
        """
        bot = self.bot(client_id, bot_id)
        return connections.connect_with_token(bot, self.provider, body.token, by=self.user)

    def disconnect(self, client_id: int, bot_id: int) -> ChannelConnection:
        """Disconnect the bot's account: its tokens are deleted, and its events are ignored."""
        return connections.disconnect(self.bot(client_id, bot_id), self.channel, by=self.user)

    def messages(self, client_id: int, bot_id: int, query: ChannelMessagesQuery) -> dict[str, Any]:
        """List the messages of the bot's conversations on this channel, newest first."""
        return agent_messaging.history_page(self.bot(client_id, bot_id), self.provider, query)

    def send(self, client_id: int, bot_id: int, body: ChannelMessageRequest) -> dict[str, Any]:
        """Send a message to a customer who has written to the bot's account.

        If no agent has the conversation, it is assigned to you. 409 `reply_window_closed` after the
        reply window (24 hours after the customer's last message, if the channel has one), unless a
        `tag` lifts that limit; `already_assigned` if another agent has the conversation,
        `chat_ended` if it has ended, `channel_not_connected` if the account cannot send.
        """
        bot, key = self.bot(client_id, bot_id), idempotency.stable_id()
        row = agent_messaging.send(bot, self.provider, body, by=self.user, request_id=key)
        return Message.from_row(row)


class CallbackViewSet(OperationViewSet):
    """The base of a channel's operations for its provider."""

    channel: ClassVar[MessagingChannel]

    def verify_subscription(self, query: ChannelHandshake) -> HttpResponse:
        """Confirm to the provider that this address is ours, by returning its challenge as text.

        403 for a wrong verify token. 503 `channel_not_configured` if the platform has no verify
        token for this channel.
        """
        expected = setting(f"{self.channel.upper()}_VERIFY_TOKEN")
        challenge = callbacks.verify_subscription(expected, **dict(query))
        return HttpResponse(challenge, content_type="text/plain")

    def receive_for(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Receive an event of an account, with the secret that the account was connected with.

        The body is stored before the answer; afterwards the event is processed once, however often
        it is sent. The answer may be a call of the provider's API, such as one that ends the wait
        after a tapped button.
        """
        return self.receive(request)

    def receive(self, request: HttpRequest) -> HttpResponse:
        """Receive events of accounts, signed with the app's secret in `X-Hub-Signature-256`.

        The body is stored before the answer; afterwards each event is processed once, however
        often it is sent. 503 `channel_not_configured` if the platform has no app secret.
        """
        # Use read(), since a batch may be larger than the API's own limit on bodies.
        raw = request.read(settings.MAX_CALLBACK_BYTES + 1)
        if len(raw) > settings.MAX_CALLBACK_BYTES:
            raise TooLarge
        path, _, query = request.get_full_path().partition("?")
        callback = Callback(raw, path, query, request.headers)
        answer = callbacks.receive(PROVIDERS[self.channel], callback)
        if answer is None:
            return HttpResponse("OK", content_type="text/plain")
        return json_response(answer)
