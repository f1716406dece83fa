"""socialnet-services: a client's pages, their messages, and the provider's callbacks."""

from channels_app.schemas.connection import (
    ChannelConnection,
    MessengerConnectDto,
    MessengerConnectPageDto,
)
from channels_app.schemas.graph_callback import MessageHook
from channels_app.services import connections
from channels_app.views.base import (
    CHALLENGE,
    PROVIDER_ERRORS,
    RECEIVED,
    CallbackViewSet,
    ChannelViewSet,
)
from chatplatform.api.error_schemas import Error
from chatplatform.api.errors import Invalid
from chatplatform.api.operation import PUBLIC, operation
from chats.schemas.message import Message, MessagesResponse
from identity.auth import ADMIN, BEARER

TAG = "socialnet-services"


class SocialnetViewSet(ChannelViewSet):
    channel = "socialnet"

    messages = operation(TAG, "Get Socialnet Messages", access=BEARER, returns=MessagesResponse)(
        ChannelViewSet.messages
    )
    send = operation(
        TAG, "Post Socialnet", access=BEARER, returns=Message, status=201, also={409: Error}
    )(ChannelViewSet.send)
    list_accounts = operation(
        TAG, "Client Messenger List Pages", access=BEARER, waits=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )(ChannelViewSet.list_accounts)  # fmt: skip
    # The same as Add Socialnet Access Token.
    store_token = operation(TAG, "Store User Token", access=ADMIN)(ChannelViewSet.store_token)

    @operation(
        TAG, "Client Messenger Connect", access=ADMIN, waits=True,
        also={400: Error}, errors=PROVIDER_ERRORS,
    )  # fmt: skip
    def sign_in(self, client_id: int, bot_id: int, body: MessengerConnectDto) -> ChannelConnection:
        """Begin the consent of a person to connect their accounts at the provider, or complete it
        with `code` and `state`.

        First, leave out `code` and send the person to the response's `consent_url`. The provider
        redirects them to `redirect_uri` with `code` and `state`, or with `error` instead of `code`
        if they decline; then begin again. Send `code` and `state` here to store the person's token,
        list the pages with *Client Messenger List Pages*, and connect one with *Client Messenger
        Connect Page*.

        Both responses are the bot's connection. It is `pending`, without an account, until a page
        is connected. 400 `invalid_state` if the state is missing, was used, has expired, or was
        issued for another person, bot or `redirect_uri`.
        """
        bot = self.bot(client_id, bot_id)
        return connections.consent(bot, self.provider, by=self.user, **dict(body))

    @operation(
        TAG, "Client Messenger Connect Page", access=ADMIN, waits=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )  # fmt: skip
    def connect(
        self, client_id: int, bot_id: int, body: MessengerConnectPageDto
    ) -> ChannelConnection:
        """Connect the page with this `page_id` to the bot; repeating the request is safe.

        The page must be one that *Client Messenger List Pages* lists: the same stored access token
        is used. Messages of the page's customers then become conversations of the bot. Triggers the
        webhook event `channel.connected`. 409 `account_taken` if another bot has the page,
        `bot_has_account` if the bot has another page, `token_missing` if no valid token is stored.
        502 `provider_refused` if the provider refuses, for example because the token's person does
        not manage the page.
        """
        bot = self.bot(client_id, bot_id)
        if body.page_id is None:
            raise Invalid.field("body", "page_id", msg="Field required", type="missing")
        return connections.connect(bot, self.provider, body.page_id, by=self.user)

    connection = operation(TAG, "Get Client Socialnet Connection Info", access=BEARER)(
        ChannelViewSet.connection
    )

    @operation(TAG, "Disconnect A Page Of Client", access=ADMIN, waits=True, body_is_optional=True)
    def disconnect_page(
        self, client_id: int, bot_id: int, body: MessengerConnectPageDto
    ) -> ChannelConnection:
        """Disconnect a page from the bot: the page's token is deleted, and its events are ignored
        from now on.

        Without a `page_id`, the bot's current page is disconnected. The provider is asked to send
        no more events, unless another account needs them; if that fails, `last_error` says so. In
        the page's conversations, `can_reply` becomes false. Triggers the webhook event
        `channel.disconnected`. If the page is already disconnected, nothing changes. 404 if the bot
        never had the page.
        """
        bot = self.bot(client_id, bot_id)
        return connections.disconnect(bot, self.channel, body.page_id, by=self.user)

    @operation(
        TAG, "Reconnect A Page Of Client", access=ADMIN, waits=True, body_is_optional=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )  # fmt: skip
    def reconnect(
        self, client_id: int, bot_id: int, body: MessengerConnectPageDto
    ) -> ChannelConnection:
        """Reconnect a page that this bot had before, with the access token that your company has
        stored for this channel.

        Without a `page_id`, the bot's current or last page is reconnected; 404 if the bot never had
        the page. The page's conversations continue: their `can_reply` is true again. Triggers the
        webhook event `channel.connected`. 409 `account_taken` if another bot has the page,
        `bot_has_account` if the bot has another page, `token_missing` if no valid token is stored.
        502 `provider_refused` if the provider refuses, for example because the token's person does
        not manage the page.
        """
        bot = self.bot(client_id, bot_id)
        return connections.reconnect(bot, self.provider, body.page_id, by=self.user)


class SocialnetCallbackViewSet(CallbackViewSet):
    channel = "socialnet"

    verify_subscription = operation(
        TAG, "Socialnet Webhook Verification", access=PUBLIC, returns=CHALLENGE, also={403: Error}
    )(CallbackViewSet.verify_subscription)
    receive = operation(
        TAG, "Socialnet Webhook", access=PUBLIC, is_counted=False, body=MessageHook,
        returns=RECEIVED, also={401: Error},
    )(CallbackViewSet.receive)  # fmt: skip
