"""OAuth authorizations: a person consents at the provider and returns with our signed state."""

import base64
import hashlib
import re
import secrets
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.core import signing
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_noop

from channels_app.models import ChannelConnection, OAuthAuthorization
from channels_app.providers import Provider
from channels_app.providers.types import Tokens
from chatplatform.api.errors import ApiError, Invalid
from identity.models import User

LIFETIME = timedelta(hours=1)
_SALT = "channels_app.oauth_authorization"
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class InvalidState(ApiError):
    code, status = "invalid_state", 400
    detail = gettext_noop(
        "This state wasn't issued to you for this bot, was already used, or has expired. Start"
        " the authorization again."
    )


def start(
    provider: Provider,
    connection: ChannelConnection,
    *,
    by: User,
    redirect_uri: str,
    account_id: str = "",
) -> str:
    """Store an authorization, and return the URL of the provider's consent page.

    The page redirects the person to `redirect_uri`, at some providers through our own callback. If
    `account_id` is given, the authorization is only for this account.
    """
    _check(redirect_uri)
    verifier = secrets.token_urlsafe(32)
    digest = hashlib.sha256(verifier.encode()).digest()
    authorization = OAuthAuthorization(
        client=connection.client,
        connection=connection,
        user=by,
        account_id=account_id,
        redirect_uri=redirect_uri,
        code_verifier=verifier,
        expires_at=timezone.now() + LIFETIME,
    )
    url = provider.consent_url(
        redirect_uri=redirect_uri,
        state=signing.dumps(authorization.pk.hex, salt=_SALT),
        challenge=base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
    )
    authorization.save()
    return url


def complete(
    state: str, *, by: User, bot_id: int, channel: str, redirect_uri: str
) -> OAuthAuthorization:
    """Mark the authorization with this state as used, and return it.

    400 `invalid_state` if it was started with other values, was already used, or has expired.
    """
    authorization = find(state)
    is_same = authorization.user_id == by.pk and authorization.redirect_uri == redirect_uri
    connection = authorization.connection
    if not is_same or (connection.bot_id, connection.channel) != (bot_id, channel):
        raise InvalidState
    consume(authorization)
    return authorization


def find(state: str) -> OAuthAuthorization:
    """The authorization with this state; 400 if the state is not ours."""
    try:
        authorization_id = uuid.UUID(signing.loads(state, salt=_SALT))
    except (signing.BadSignature, ValueError, TypeError, AttributeError) as exc:
        raise InvalidState from exc
    rows = OAuthAuthorization.objects.select_related(
        "connection__bot", "connection__client", "user"
    )
    authorization: OAuthAuthorization | None = rows.filter(pk=authorization_id).first()
    if authorization is None:
        raise InvalidState
    return authorization


def consume(authorization: OAuthAuthorization) -> None:
    """Mark an authorization as used; only one of two simultaneous requests succeeds.

    400 if it was already used or has expired.
    """
    unused = OAuthAuthorization.objects.filter(pk=authorization.pk, used_at=None)
    if not unused.filter(expires_at__gt=Now()).update(used_at=Now()):
        raise InvalidState


def redeem(provider: Provider, authorization: OAuthAuthorization, code: str) -> Tokens:
    """Get tokens from the provider for the code that it returned with an authorization's state."""
    return provider.redeem_code(
        code, redirect_uri=authorization.redirect_uri, verifier=authorization.code_verifier
    )


def return_url(authorization: OAuthAuthorization, outcome: Mapping[str, Any]) -> str:
    """The authorization's `redirect_uri` with the outcome added to its query."""
    parts = urlsplit(authorization.redirect_uri)
    query = "&".join(filter(None, [parts.query, urlencode(outcome)]))
    return urlunsplit(parts._replace(query=query))


def delete_old() -> None:
    """Delete authorizations that expired more than a day ago."""
    OAuthAuthorization.objects.filter(expires_at__lt=timezone.now() - timedelta(days=1)).delete()


def _check(redirect_uri: str) -> None:
    """422 unless it is an https URL, or in development an http URL of this machine."""
    try:
        parts = urlsplit(redirect_uri)
        is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK and settings.DEVELOPMENT
        is_good = bool(parts.hostname) and (parts.scheme == "https" or is_local)
        # If a URL contains white space, a backslash or an "@", browsers and Python may disagree
        # about its host.
        is_plain = not re.search(r"[\s\\]", redirect_uri) and "@" not in parts.netloc
        is_good = is_good and is_plain and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise Invalid.field("body", "redirect_uri", msg="Use the https URL of your page.")
