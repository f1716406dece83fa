"""The messaging providers; to add one, write its class and add a line to `PROVIDERS`."""

from channels_app.providers.base import Provider
from channels_app.providers.chatapp import Chatapp
from channels_app.providers.localapp import Localapp
from channels_app.providers.photoapp import Photoapp
from channels_app.providers.socialnet import Socialnet
from channels_app.providers.telegram import Telegram

__all__ = ["PROVIDERS", "Provider"]

PROVIDERS: dict[str, Provider] = {
    "socialnet": Socialnet(),
    "photoapp": Photoapp(),
    "localapp": Localapp(),
    "chatapp": Chatapp(),
    "telegram": Telegram(),
}
