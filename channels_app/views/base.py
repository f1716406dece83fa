"""The operations that channels share; each channel declares those that it has."""

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from bots.models import Bot
from bots.services import bots
from channels_app.providers import PROVIDERS, Provider
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.errors import ChannelNotConfigured, ProviderError
from channels_app.providers.http import setting
from channels_app.schemas.connection import (
    AccountsQuery,
    ChannelAccountsResponse,
    ChannelConnection,
    ChannelHandshake,
    ChannelMessageRequest,
    ChannelMessagesQuery,
    TokenConnectDto,
)
from channels_app.services import callbacks, channel_conversations, connections
from chatplatform.api import idempotency
from chatplatform.api.errors import NotFound, TooLarge, json_response
from chatplatform.api.operation import OperationViewSet, RawResponse
from chatplatform.channel_names import MessagingChannel
from chats.schemas.message import Message
from identity.auth import TenantViewSet
from identity.models import Client
from identity.schemas.clients import SocialnetAccessToken
from identity.services import clients

# The errors of operations that call a provider. Every channel needs the platform's app, except
# those whose accounts have their own tokens.
PROVIDER_ERRORS = (ProviderError, ChannelNotConfigured)
CHALLENGE = RawResponse(("text/plain",), "The challenge, unchanged.")
RECEIVED = RawResponse(("text/plain",), "`OK`: the callback was received.")
ANSWERED = RawResponse(
    ("text/plain", "application/json"),
    "The callback was received: `OK`, or a call to the provider's API as JSON.",
)


class ChannelViewSet(TenantViewSet):
    """The base of a channel's operations for people."""

    channel: ClassVar[MessagingChannel]

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.channel]

    def own_client(self, client_id: int) -> Client:
        """The caller's client; 404 for another client's id in the path."""
        if client_id != self.client.pk:
            raise NotFound
        return self.client

    def bot(self, client_id: int, bot_id: int) -> Bot:
        """One of the caller's bots; 404 for another bot, or another client's id in the path."""
        return bots.get(self.own_client(client_id), bot_id)

    def store_token(self, client_id: int, body: SocialnetAccessToken) -> ChannelConnection:
        """Store a person's access token for the channel in the path, with which you then list and
        connect accounts.

        Use this only if your own website or app already has such a token, because it offers
        socialnet's login with the platform's app, whose id the platform's operator knows; tokens of
        other apps do not work. Otherwise, let the person consent, which stores the token for you:
        with *Client Messenger Connect* on socialnet, *Connect Photoapp* on photoapp, or the sign-up
        dialog of *Connect Chatapp* on chatapp.

        For all three channels, it is a user access token of socialnet's login. It needs the
        permissions that the consent asks for: on socialnet `pages_show_list`, `pages_messaging`,
        `pages_manage_metadata`, `pages_read_engagement` and `business_management`; on photoapp
        `instagram_basic`, `instagram_manage_messages`, `pages_show_list`, `pages_messaging`,
        `pages_manage_metadata` and `business_management`; on chatapp
        `whatsapp_business_management`, `whatsapp_business_messaging` and `business_management`. The
        person must manage the accounts; for photoapp, the pages that the accounts are linked to.

        The token is stored encrypted, replaces your company's earlier token for this channel, and
        is checked only when you list or connect accounts. The response shows the token's
        `token_expires_at` and who stored it (`connected_by`), with the `status` `pending`; `id`,
        `bot_id`, `account_id` and `account_name` are null.
        """
        client = self.own_client(client_id)
        token = clients.store_channel_access_token(
            client, channel=self.channel, by=self.user, **dict(body)
        )
        return ChannelConnection.from_token(token, self.channel)

    def list_accounts(
        self, client_id: int, bot_id: int, query: AccountsQuery
    ) -> ChannelAccountsResponse:
        """List the accounts (on socialnet: pages) at the provider that you can connect to the bot.

        They are the accounts of the person whose access token your company has stored for this
        channel: by a consent (*Client Messenger Connect*, *Connect Photoapp*), by the sign-up
        dialog of *Connect Chatapp*, or with *Store User Token*. The `id` of an account connects it.
        409 `token_missing` if no token is stored, or if it has expired.
        """
        return connections.list_accounts(self.bot(client_id, bot_id), self.provider, query)

    def connection(self, client_id: int, bot_id: int) -> ChannelConnection:
        """Get the connection between the bot and its account on the channel in the path; its
        `status` is `disconnected` if the bot never had an account."""
        return connections.describe(self.bot(client_id, bot_id), self.channel)

    def connect_with_token(
        self, client_id: int, bot_id: int, body: TokenConnectDto
    ) -> ChannelConnection:
        """Connect an account to the bot with the account's token. To store a new token, connect the
        account again.

        From now on, the provider sends the account's events to the platform, and no longer to the
        webhook that it had before. Triggers the webhook event `channel.connected`. 422 if the
        provider does not know the token; any other refusal is a 502. 409 `account_taken` if another
        bot has the account, `bot_has_account` if the bot has another account.
        """
        bot = self.bot(client_id, bot_id)
        return connections.connect_with_token(bot, self.provider, body.token, by=self.user)

    def disconnect(self, client_id: int, bot_id: int) -> ChannelConnection:
        """Disconnect the bot's account: the account's tokens are deleted, and its events are
        ignored from now on.

        The provider is asked to send no more events, unless another account needs them; if that
        fails, `last_error` says so. In the account's conversations, `can_reply` becomes false.
        Triggers the webhook event `channel.disconnected`. If the account is already disconnected,
        nothing changes. 404 if the bot never had an account.
        """
        return connections.disconnect(self.bot(client_id, bot_id), self.channel, by=self.user)

    def messages(self, client_id: int, bot_id: int, query: ChannelMessagesQuery) -> dict[str, Any]:
        """List the messages of the bot's conversations on the channel in the path, newest first,
        without internal notes."""
        return channel_conversations.history_page(self.bot(client_id, bot_id), self.provider, query)

    def send(self, client_id: int, bot_id: int, body: ChannelMessageRequest) -> dict[str, Any]:
        """Send a message to a customer who has written to the bot's account.

        A 201 means that the message is stored. It is sent afterwards; the message's `status` and
        the events `message.delivered`, `message.read` and `message.failed` report the outcome. If
        no agent has the conversation, it is assigned to you; if it is snoozed, it reopens. 404 if
        the customer has never written to the account.

        409 `reply_window_closed` if you give no `tag` and the customer's last message is more than
        24 hours old (seven days on localapp; any age is fine on telegram), `already_assigned` if
        another agent has the conversation (unless you are an owner or an admin), `chat_ended` if
        the conversation has ended or, with `recipient_id`, if all of the customer's conversations
        have ended, `channel_not_connected` if the account cannot send, `client_message_id_taken` if
        another sender's message, or a note, has this id.
        """
        bot, key = self.bot(client_id, bot_id), idempotency.stable_id()
        row = channel_conversations.send(bot, self.provider, body, by=self.user, request_id=key)
        return Message.from_row(row)


class CallbackViewSet(OperationViewSet):
    """The base of a channel's operations for its provider."""

    channel: ClassVar[MessagingChannel]

    def verify_subscription(self, query: ChannelHandshake) -> HttpResponse:
        """Confirm to the provider that this URL is the platform's, by returning the provider's
        challenge as text. The provider calls this; your integration does not.

        403 if `hub.mode` is not `subscribe`, or if `hub.verify_token` is not the token that the
        platform's operator set at the provider. 503 `channel_not_configured` if the platform has no
        verify token for this channel.
        """
        expected = setting(f"{self.channel.upper()}_VERIFY_TOKEN")
        challenge = callbacks.verify_subscription(expected, **dict(query))
        return HttpResponse(challenge, content_type="text/plain")

    def receive_for(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Receive an event of a connected account. The messaging provider calls this; your
        integration does not.

        The header `X-Telegram-Bot-Api-Secret-Token` has the secret that the platform gave the
        provider when the account was connected; 401 `bad_signature` if it is missing or wrong, or
        if no such account is connected. The body is stored before the response; afterwards the
        event is processed once, however often it is sent. The response may be a call to the
        provider's API, such as the confirmation that a tapped button waits for. A body that cannot
        be read gets a 200 too, instead of a 400, 415 or 422, since sending it again would not help.
        503 `client_frozen` while the data of the account's company is being moved: the provider
        sends the event again.
        """
        return self.receive(request)

    def receive(self, request: HttpRequest) -> HttpResponse:
        """Receive events of connected accounts. The messaging provider calls this; your integration
        does not.

        The header `X-Hub-Signature-256` has `sha256=` and the body's HMAC-SHA256 with the app's
        secret, in hexadecimal; 401 `bad_signature` if it is missing or wrong. The body is stored
        before the response; afterwards each event is processed once, however often it is sent. A
        body that cannot be read gets a 200 too, instead of a 400, 415 or 422, since sending it
        again would not help. 503 `channel_not_configured` if the platform has no app secret,
        `client_frozen` while the data of an account's company is being moved: the provider sends
        the events again.
        """
        # Use read(), since a callback may be larger than the API's own limit on bodies.
        raw = request.read(settings.MAX_CALLBACK_BYTES + 1)
        if len(raw) > settings.MAX_CALLBACK_BYTES:
            raise TooLarge
        path, _, query = request.get_full_path().partition("?")
        callback = Callback(raw, path, query, request.headers)
        answer = callbacks.receive(PROVIDERS[self.channel], callback)
        if answer is None:
            return HttpResponse("OK", content_type="text/plain")
        return json_response(answer)
