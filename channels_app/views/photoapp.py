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
        """Begin the consent of a person to connect their accounts at the provider, or complete it
        with `code` and `state`.

        First, leave out `code` and send the person to the response's `consent_url`. The provider
        redirects them to `redirect_uri` with `code` and `state`, or with `error` instead of `code`
        if they decline; then begin again. Send `code` and `state` here to store the person's token,
        list the accounts with *Client Messenger List Photoapp Accounts*, and connect one with
        *Client Messenger Connect Page*.

        With `login` `direct`, the second request connects the account at once: 409 `account_taken`
        if another bot has the account, `bot_has_account` if the bot has another account. Otherwise
        both requests return the bot's connection. It stays `pending` until an account is connected.
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
        """Connect the account with this `page_id` to the bot; repeating the request is safe.

        `page_id` is the id of the account, or of the page to which the account is linked. The
        account must be one that *Client Messenger List Photoapp Accounts* lists: the same stored
        access token is used. Messages of the account's customers then become conversations of the
        bot. Triggers the webhook event `channel.connected`. 409 `account_taken` if another bot has
        the account, `bot_has_account` if the bot has another account, `token_missing` if no valid
        token is stored. 502 `provider_refused` if the provider refuses, for example because the
        token's person does not manage a page with this account.
        """
        bot = self.bot(client_id, bot_id)
        return connections.connect(bot, self.provider, body.page_id, by=self.user)

    @operation(TAG, "Get Client Ig Connection By Client Id", access=BEARER)
    def list_connections(self, client_id: int) -> list[ChannelConnection]:
        """List the connections of your bots to photoapp accounts: the current or latest one of each
        bot."""
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
