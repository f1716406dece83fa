"""A person signs up in the provider's own dialog, which hands a code to the page that opened it."""

from channels_app.providers.chatapp.accounts import APP
from channels_app.providers.graph import consent
from channels_app.providers.types import Tokens


def redeem(code: str) -> Tokens:
    """The token for a code of the dialog, which knows no `redirect_uri`; usually for good."""
    return consent.token(APP, {"code": code})
