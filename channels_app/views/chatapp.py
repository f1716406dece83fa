"""chatapp-services: a client's numbers, their messages, and the provider's callbacks."""

from typing import Any

from channels_app.schemas.chatapp_callback import ChatappWebhook
from channels_app.schemas.connection import (
    ChannelConnection,
    ChatappConnectDto,
    ChatappTemplateRequest,
    ChatappTemplatesQuery,
    ChatappTemplatesResponse,
)
from channels_app.services import number_signup, templates
from channels_app.views.base import (
    CHALLENGE,
    PROVIDER_ERRORS,
    RECEIVED,
    CallbackViewSet,
    ChannelViewSet,
)
from chatplatform.api import idempotency
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import PUBLIC, operation
from chats.schemas.message import Message, MessagesResponse
from identity.auth import ADMIN, BEARER

TAG = "chatapp-services"


class ChatappViewSet(ChannelViewSet):
    channel = "chatapp"

    store_token = operation(TAG, "Store User Token", access=ADMIN)(ChannelViewSet.store_token)
    list_accounts = operation(
        TAG, "Client Chatapp List Accounts", access=BEARER, waits=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )(ChannelViewSet.list_accounts)  # fmt: skip

    @operation(
        TAG, "Connect Chatapp", access=ADMIN, waits=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )  # fmt: skip
    def connect(self, client_id: int, bot_id: int, body: ChatappConnectDto) -> ChannelConnection:
        """Connect a phone number to the bot, with the code of the provider's sign-up dialog or with
        the access token that your company has stored for this channel.

        Repeating the request is safe, but a code can be used only once: leave it out, since its
        token is stored by then. The request also reconnects a disconnected number. Triggers the
        webhook event `channel.connected`. 409 `pin_missing` if the number must be registered and no
        pin is given, `account_taken` if another bot has the number, `bot_has_account` if the bot
        has another number, `token_missing` if there is neither a code nor a valid stored token.
        """
        return number_signup.connect(self.bot(client_id, bot_id), body, by=self.user)

    disconnect = operation(TAG, "Disconnect Chatapp", access=ADMIN, waits=True)(
        ChannelViewSet.disconnect
    )
    connection = operation(TAG, "Get Bot Wa Connection", access=BEARER)(ChannelViewSet.connection)
    messages = operation(TAG, "Get Chatapp Messages", access=BEARER, returns=MessagesResponse)(
        ChannelViewSet.messages
    )

    send = operation(
        TAG, "Post Chatapp Messages", access=BEARER, returns=Message, status=201,
        also={409: Error},
    )(ChannelViewSet.send)  # fmt: skip

    @operation(
        TAG, "Get Chatapp Templates", access=BEARER, waits=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )  # fmt: skip
    def list_templates(
        self, client_id: int, bot_id: int, query: ChatappTemplatesQuery
    ) -> ChatappTemplatesResponse:
        """List the message templates of the business account to which the bot's number belongs.

        Each request fetches the templates from the provider. 409 `channel_not_connected` if the bot
        has no number that can send.
        """
        return templates.list_(self.bot(client_id, bot_id), query)

    @operation(
        TAG, "Post Chatapp Template", access=BEARER, returns=Message, status=201, waits=True,
        also={409: Error}, errors=PROVIDER_ERRORS,
    )  # fmt: skip
    def send_template(
        self, client_id: int, bot_id: int, body: ChatappTemplateRequest
    ) -> dict[str, Any]:
        """Send an approved message template to a customer, even after the reply window has closed.

        *Get Chatapp Templates* lists them. A 201 means that the message is stored. It is sent
        afterwards; the message's `status` and the events `message.delivered`, `message.read` and
        `message.failed` report the outcome. Before that, the template is fetched from the provider:
        if this fails, the response is a 502, and nothing is stored or sent. If no agent has the
        conversation, it is assigned to you; if it is snoozed, it reopens.

        With `consent`, you may also send the template to a number that has never written to the
        bot, which opens a conversation. Without `consent`, such a number is a 404. If all
        conversations of a returning customer have ended, `recipient_id` is a 409 `chat_ended`:
        continue the latest with *Reopen Chat* first.

        422 for an unknown template, or for values or a header that do not fit it. 403
        `customer_blocked` if the customer is blocked. 409 `template_not_sendable` for the reason in
        the template's `problem`, `no_templates` if the conversation is on another channel,
        `customer_opted_out` if the customer wants no messages, or no offers and the template is
        `marketing`, `already_assigned` if another agent has the conversation (unless you are an
        owner or an admin), `chat_ended` if it has ended, `channel_not_connected` if the bot has no
        number that can send, `client_message_id_taken` if another sender's message, or a note, has
        this id.
        """
        bot = self.bot(client_id, bot_id)
        key = idempotency.stable_id()
        return Message.from_row(templates.send(bot, body, by=self.user, request_id=key))


class ChatappCallbackViewSet(CallbackViewSet):
    channel = "chatapp"

    verify_subscription = operation(
        TAG, "Chatapp Webhook Verification", access=PUBLIC, returns=CHALLENGE, also={403: Error}
    )(CallbackViewSet.verify_subscription)
    receive = operation(
        TAG, "Chatapp Webhook", access=PUBLIC, is_counted=False, body=ChatappWebhook,
        returns=RECEIVED, also={401: Error},
    )(CallbackViewSet.receive)  # fmt: skip
