"""Sign-in to photoapp: with the page that an account is linked to, or with the account itself."""

from dataclasses import replace

from bots.models import Bot
from channels_app.providers import PROVIDERS
from channels_app.providers.photoapp import PhotoappDirect
from channels_app.schemas.connection import ChannelConnection, PhotoappConnectDto
from channels_app.services import connections, oauth_authorizations
from identity.models import User

_DIRECT = PhotoappDirect()


def sign_in(bot: Bot, body: PhotoappConnectDto, *, by: User) -> ChannelConnection:
    """Begin a consent, or complete it with its code. Completing a direct login also connects the
    account."""
    redirect_uri, code, state = body.redirect_uri, body.code, body.state
    provider = _DIRECT if body.login == "direct" else PROVIDERS["photoapp"]
    if provider is not _DIRECT or code is None:
        return connections.consent(
            bot, provider, redirect_uri=redirect_uri, code=code, state=state, by=by
        )
    authorization = oauth_authorizations.complete(
        state or "", by=by, bot_id=bot.pk, channel="photoapp", redirect_uri=redirect_uri
    )
    tokens = oauth_authorizations.redeem(_DIRECT, authorization, code)
    found = _DIRECT.find(tokens.access_token)
    with connections.connecting(bot, "photoapp", found.id):
        _DIRECT.subscribe(found)
        return connections.store(bot, "photoapp", replace(found, tokens=tokens), by=by)
