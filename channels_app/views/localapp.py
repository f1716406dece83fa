"""localapp-services: a client's Official Accounts, their messages, and the provider's callbacks."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from channels_app.providers import PROVIDERS
from channels_app.schemas.connection import (
    ChannelConnection,
    LocalappOAConnectDto,
)
from channels_app.schemas.localapp_callback import LocalappConsentAnswer, LocalappEvent
from channels_app.services import connections
from channels_app.views.base import RECEIVED, CallbackViewSet, ChannelViewSet
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import PUBLIC, operation
from chats.schemas.message import Message, MessagesResponse
from identity.auth import ADMIN, BEARER

TAG = "localapp-services"


class LocalappViewSet(ChannelViewSet):
    channel = "localapp"

    @operation(TAG, "Client Messenger Connect", access=ADMIN)
    def sign_in(self, client_id: int, bot_id: int, body: LocalappOAConnectDto) -> ChannelConnection:
        """Ask a person for their consent: send them to `consent_url`, where they choose the
        account.

        The provider redirects them to `GET /localapp/callback`, which connects the account to the
        bot and redirects them to `redirect_uri`: with `status=connected` and `account_id` or, if
        that fails, with `status=pending`, `error` and `error_description`: `error=consent_refused`
        if they decline, `error=account_taken` if another bot has the account,
        `error=bot_has_account` if the bot has another account. Connecting triggers the webhook
        event `channel.connected`.

        The response is a `pending` connection, with its `id` and `bot_id`, and without an account.
        *Get Client Localapp Connection Info* shows this connection. If the bot has an account that
        is not `disconnected`, it shows that account instead, which does not change until the person
        has consented. An expired or disconnected account is reconnected in the same way, and its
        conversations continue. 503 `channel_not_configured` if the platform has no app for this
        channel.
        """
        bot = self.bot(client_id, bot_id)
        return connections.begin_consent(
            bot, self.provider, redirect_uri=body.redirect_uri, account_id=body.oa_id, by=self.user
        )

    @operation(TAG, "Disconnect A Page Of Client", access=ADMIN)
    def disconnect(self, client_id: int, bot_id: int) -> ChannelConnection:
        """Disconnect the bot's account: the account's tokens are deleted, and its events are
        ignored from now on.

        The provider keeps sending the events, since it cannot be asked to stop. In the account's
        conversations, `can_reply` becomes false. Triggers the webhook event `channel.disconnected`.
        If the account is already disconnected, nothing changes. 404 if the bot never had an
        account.
        """
        return super().disconnect(client_id, bot_id)

    connection = operation(TAG, "Get Client Localapp Connection Info", access=BEARER)(
        ChannelViewSet.connection
    )
    messages = operation(TAG, "Get Localapp Messages", access=BEARER, returns=MessagesResponse)(
        ChannelViewSet.messages
    )

    send = operation(
        TAG, "Post Localapp Messages", access=BEARER, returns=Message, status=201, also={409: Error}
    )(ChannelViewSet.send)


class LocalappCallbackViewSet(CallbackViewSet):
    channel = "localapp"

    @operation(TAG, "Localapp Callback", access=PUBLIC, status=302, waits=True, also={400: Error})
    def end_consent(self, query: LocalappConsentAnswer) -> HttpResponse:
        """Complete a consent by connecting the account. The messaging provider sends the person's
        browser here; your integration does not call this.

        Redirects the browser to the `redirect_uri` with which the consent was begun. Its query then
        has `channel`, `bot_id`, `status`, and `account_id`, or `error` and `error_description`. 400
        `invalid_state` if the state was not issued by the platform, was used, or has expired.
        """
        provider = PROVIDERS[self.channel]
        url = connections.end_consent(
            provider, state=query.state, code=query.code, account_id=query.oa_id
        )
        return HttpResponseRedirect(url)

    @operation(
        TAG, "Localapp Callback", access=PUBLIC, is_counted=False, body=LocalappEvent,
        returns=RECEIVED, also={401: Error},
    )  # fmt: skip
    def receive(self, request: HttpRequest) -> HttpResponse:
        """Receive an event of a connected account. The messaging provider calls this; your
        integration does not.

        The header `X-ZEvent-Signature` has `mac=` and a signature with the webhook's key; 401
        `bad_signature` if it is missing or wrong. The body is stored before the response;
        afterwards the event is processed once, however often it is sent. A call without an event
        and a signature, with which the provider checks the URL, gets a 200, and so does a body that
        cannot be read. 503 `channel_not_configured` if the platform has no key with which to verify
        the signature, `client_frozen` while the data of the account's company is being moved: the
        provider sends the event again.
        """
        return super().receive(request)
