"""Connect chatapp numbers with the values that the provider's signup dialog returned."""

from django.utils.translation import gettext_noop

from bots.models import Bot
from channels_app.providers.chatapp import Chatapp, accounts
from channels_app.schemas.connection import ChannelConnection, ChatappConnectDto
from channels_app.services import connections
from chatplatform.api.errors import ApiError
from identity.models import User

_CHATAPP = Chatapp()


class PinMissing(ApiError):
    code, status = "pin_missing", 409
    detail = gettext_noop("This number isn't registered yet. Enter a six-digit PIN.")
    place = ("pin",)


def connect(bot: Bot, body: ChatappConnectDto, *, by: User) -> ChannelConnection:
    """Exchange the dialog's code, if any, for a token to store; register and connect the number.

    409 `pin_missing` if the number must be registered and the body has no PIN.
    """
    number_id = body.phone.phone_number_id
    connections.ensure_free(bot, "chatapp", number_id)
    if body.code:
        connections.store_tokens(bot.client, "chatapp", _CHATAPP.redeem_code(body.code), by=by)
    token = connections.user_token(bot.client, "chatapp")
    number = accounts.find_number(
        token, number_id, business_account_id=body.business_account_id or ""
    )
    if not number.is_registered and not body.phone.pin:
        raise PinMissing
    with connections.connecting(bot, "chatapp", number_id):
        connected = _CHATAPP.connect_number(token, number, pin=body.phone.pin or "")
        return connections.store(bot, "chatapp", connected, by=by)
