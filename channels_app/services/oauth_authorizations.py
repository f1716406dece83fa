"""Consents: a person visits the provider's consent page and returns with a state that we signed."""

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

from channels_app.models import ChannelConnection, Consent
from channels_app.providers import Provider
from channels_app.providers.types import Tokens
from chatplatform.api.errors import ApiError, Invalid
from identity.models import User

LIFETIME = timedelta(hours=1)
_SALT = "channels_app.consent"
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class InvalidState(ApiError):
    code, status = "invalid_state", 400
    detail = (
        "This state was not made for you and this bot, was used already, or is too old: begin the"
        " consent again."
    )


def begin(
    provider: Provider,
    connection: ChannelConnection,
    *,
    by: User,
    redirect_uri: str,
    account_id: str = "",
) -> str:
    """Store a consent and return the provider's consent page, which leads to `redirect_uri`.

    `account_id` limits the consent to this account.
    """
    _check(redirect_uri)
    verifier = secrets.token_urlsafe(32)
    digest = hashlib.sha256(verifier.encode()).digest()
    consent = Consent(
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
        state=signing.dumps(consent.pk.hex, salt=_SALT),
        challenge=base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
    )
    consent.save()
    return url


def end(state: str, *, by: User, bot_id: int, channel: str, redirect_uri: str) -> Consent:
    """Mark the consent that a state names as used, and return it.

    400 `invalid_state` if it was begun for something else, was used, or is too old.
    """
    consent = find(state)
    is_same = consent.user_id == by.pk and consent.redirect_uri == redirect_uri
    connection = consent.connection
    if not is_same or (connection.bot_id, connection.channel) != (bot_id, channel):
        raise InvalidState
    use(consent)
    return consent


def find(state: str) -> Consent:
    """The consent that a state names, with its connection; 400 if the state is not ours."""
    try:
        consent_id = uuid.UUID(signing.loads(state, salt=_SALT))
    except (signing.BadSignature, ValueError, TypeError, AttributeError) as exc:
        raise InvalidState from exc
    rows = Consent.objects.select_related("connection__bot", "connection__client", "user")
    consent: Consent | None = rows.filter(pk=consent_id).first()
    if consent is None:
        raise InvalidState
    return consent


def use(consent: Consent) -> None:
    """Mark a consent as used; 400 if it was used or is too old. Of two requests one succeeds."""
    rows = Consent.objects.filter(pk=consent.pk, used_at=None, expires_at__gt=Now())
    if not rows.update(used_at=Now()):
        raise InvalidState


def redeem(provider: Provider, consent: Consent, code: str) -> Tokens:
    """Exchange the code that came back with a consent's state for tokens."""
    return provider.redeem_code(
        code, redirect_uri=consent.redirect_uri, verifier=consent.code_verifier
    )


def way_back(consent: Consent, outcome: Mapping[str, Any]) -> str:
    """The consent's `redirect_uri` with the outcome added to its query."""
    parts = urlsplit(consent.redirect_uri)
    query = "&".join(filter(None, [parts.query, urlencode(outcome)]))
    return urlunsplit(parts._replace(query=query))


def delete_old() -> None:
    """Delete consents that expired more than a day ago."""
    Consent.objects.filter(expires_at__lt=timezone.now() - timedelta(days=1)).delete()


def _check(redirect_uri: str) -> None:
    """422 unless it is an https address, or one of this machine in development."""
    try:
        parts = urlsplit(redirect_uri)
        is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK and settings.DEVELOPMENT
        is_good = bool(parts.hostname) and (parts.scheme == "https" or is_local)
        # Browsers may read another host from such an address than we do.
        is_plain = not re.search(r"[\s\\]", redirect_uri) and "@" not in parts.netloc
        is_good = is_good and is_plain and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise Invalid.field("body", "redirect_uri", msg="Use the https address of your page.")
