"""photoapp-services: a client's accounts, their messages, and the provider's callbacks."""

from channels_app.schemas.connection import (
    ChannelConnection,
    PhotoappConnectDto,
    PhotoappConnectPageDto,
)
from channels_app.schemas.graph_callback import MessageHook
from channels_app.services import connections, photoapp_sign_in
from channels_app.views.base import (
    CHALLENGE,
    PROVIDER_ERRORS,
    RECEIVED,
    CallbackViewSet,
    ChannelViewSet,
)
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import PUBLIC, operation
from chats.schemas.message import Message, MessagesResponse
from identity.auth import ADMIN, BEARER

TAG = "photoapp-services"


class PhotoappViewSet(ChannelViewSet):
    channel = "photoapp"

    messages = operation(TAG, "Get Photoapp Messages", access=BEARER, returns=MessagesResponse)(
        ChannelViewSet.messages
    )
    send = operation(
        TAG, "Post Photoapp Messages", access=BEARER, returns=Message, status=201, also={409: Error}
    )(ChannelViewSet.send)
    list_accounts = operation(
        TAG, "Client Messenger List Photoapp Accounts", access=BEARER, waits=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )(ChannelViewSet.list_accounts)  # fmt: skip
    store_token = operation(TAG, "Store User Token", access=ADMIN)(ChannelViewSet.store_token)

    @operation(
        TAG, "Connect Photoapp", access=ADMIN, waits=True,
        also={400: Error, 409: Error}, errors=PROVIDER_ERRORS,
    )  # fmt: skip
    def sign_in(self, client_id: int, bot_id: int, body: PhotoappConnectDto) -> ChannelConnection:
        """Begin a person's consent at the provider, or complete it with `code` and `state`.

        First, leave out `code` and send the person to the response's `consent_url`. The provider
        redirects them to `redirect_uri` with `code` and `state`, or with `error` instead of `code`
        if they decline; then begin again. Send `code` and `state` here to store the person's token,
        list the accounts with *Client Messenger List Photoapp Accounts*, and connect one with
        *Client Messenger Connect Page*.

        With `login` `direct`, the second call connects the account at once: 409 `account_taken` if
        another bot has it, `bot_has_account` if the bot has another one. Otherwise both calls
        return the bot's connection. It stays `pending` until an account is connected.
        400 `invalid_state` if the state is missing, was used, has expired, or was issued for
        another person, bot or `redirect_uri`.
        """
        bot = self.bot(client_id, bot_id)
        return photoapp_sign_in.sign_in(bot, body, by=self.user)

    @operation(
        TAG, "Client Messenger Connect Page", access=ADMIN, waits=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )  # fmt: skip
    def connect(
        self, client_id: int, bot_id: int, body: PhotoappConnectPageDto
    ) -> ChannelConnection:
        """Connect an account to the bot with a person's stored token; repeating it is safe.

        Its customers' messages then arrive as conversations of the bot. Triggers the webhook event
        `channel.connected`. 409 `account_taken` if another bot has the account, `bot_has_account`
        if the bot has another one, `token_missing` if no valid token is stored. 502
        `provider_refused` also if the person has no page with this account.
        """
        bot = self.bot(client_id, bot_id)
        return connections.connect(bot, self.provider, body.page_id, by=self.user)

    @operation(TAG, "Get Client Ig Connection By Client Id", access=BEARER)
    def list_connections(self, client_id: int) -> list[ChannelConnection]:
        """List the connections of your bots that have or had an account here: one per bot."""
        return connections.describe_all(self.own_client(client_id), self.channel)

    disconnect = operation(TAG, "Disconnect Photoapp", access=ADMIN, waits=True)(
        ChannelViewSet.disconnect
    )


class PhotoappCallbackViewSet(CallbackViewSet):
    channel = "photoapp"

    verify_subscription = operation(
        TAG, "Photoapp Webhook Verification", access=PUBLIC, returns=CHALLENGE, also={403: Error}
    )(CallbackViewSet.verify_subscription)
    receive = operation(
        TAG, "Photoapp Webhook", access=PUBLIC, is_counted=False, body=MessageHook,
        returns=RECEIVED, also={401: Error},
    )(CallbackViewSet.receive)  # fmt: skip
