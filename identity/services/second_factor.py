"""The second factor of a sign-in: a code from an app (TOTP, RFC 6238) or a recovery code. It has a
model here, because django-otp stores secrets as plain text."""

import base64
import re
import secrets
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_noop
from django_otp.oath import TOTP

from chatplatform.crypto import hash_secret
from identity.models import SecondFactor, User
from identity.services import audit, tokens

WRONG_CODE = gettext_noop("This code is wrong, expired, or already used.")
RECOVERY_CODES = 10
_ISSUER = "Chatbot Platform"
_SALT = "second-factor"
_SECRET_BYTES = 20
# How far a device's clock may be off, in 30-second steps.
_TOLERANCE = 1
# How long an offer is valid, in seconds.
_OFFER_SECONDS = 1800
# Without letters and digits that look alike, since recovery codes may be copied from paper.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class Offer:
    """A secret for an authenticator app. The form submits `signed` with the first code."""

    secret: str
    uri: str
    signed: str


def is_set(user: User) -> bool:
    """Whether the user has a second factor."""
    return SecondFactor.objects.filter(user=user).exists()


def is_missing(user: User) -> bool:
    """Whether the user belongs to the platform staff and must set up a second factor first."""
    return settings.STAFF_SECOND_FACTOR and user.is_superuser and not is_set(user)


def offer(user: User, *, signed: str = "") -> Offer:
    """An offer of the secret in `signed`, or of a new secret if `signed` is empty, expired or
    another person's. The secret is not stored yet."""
    secret = _offered(user, signed)
    if secret is None:
        secret = base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()
        signed = signing.dumps([user.pk, secret], salt=_SALT)
    query = urlencode({"secret": secret, "issuer": _ISSUER}, quote_via=quote)
    label = quote(f"{_ISSUER}:{user.email}", safe=":@")
    return Offer(secret, f"otpauth://totp/{label}?{query}", signed)


def set_up(user: User, *, signed: str, code: str, sign_in: uuid.UUID | None) -> list[str]:
    """Store the offered secret if `code` is right, and return the recovery codes, which are shown
    only once. Otherwise raise a ValidationError.

    Ends every sign-in except `sign_in`, so that anybody else who knew the password is signed out.
    """
    secret = _offered(user, signed)
    if secret is None:
        raise ValidationError(gettext_noop("This page has expired. Scan the new code."))
    step = _step(secret, code, after=0)
    if step is None:
        raise ValidationError(WRONG_CODE)
    codes = [_recovery_code() for _ in range(RECOVERY_CODES)]
    values = {"secret": secret, "latest_step": step, "recovery_hashes": _hashes(user, codes)}
    with transaction.atomic():
        _, is_new = SecondFactor.objects.get_or_create(user=user, defaults=values)
        if not is_new:
            raise ValidationError(gettext_noop("Two-factor authentication is already on."))
        tokens.revoke_others(tokens.lock_user(user.pk), keep=sign_in)
        _record(user, "second_factor.set_up", by=user)
    return codes


def accept(user: User, code: str) -> bool:
    """Whether a code from the app or a recovery code is right. Uses it up: each works once."""
    with transaction.atomic():
        factor = SecondFactor.objects.select_for_update(no_key=True).filter(user=user).first()
        if factor is None:
            return False
        step = _step(factor.secret, code, after=factor.latest_step)
        if step is not None:
            factor.latest_step = step
            factor.save(update_fields=["latest_step"])
            return True
        (hashed,) = _hashes(user, [code])
        if hashed not in factor.recovery_hashes:
            return False
        factor.recovery_hashes.remove(hashed)
        factor.save(update_fields=["recovery_hashes"])
        left = len(factor.recovery_hashes)
        _record(user, "recovery_code.used", by=user, changes={"left": left})
        return True


def recovery_codes_left(user: User) -> int:
    """The number of recovery codes that a person with a second factor has not used."""
    return len(SecondFactor.objects.get(user=user).recovery_hashes)


def remove(user: User, *, by: User) -> bool:
    """Remove the second factor; False if the user has none."""
    with transaction.atomic():
        is_removed = bool(SecondFactor.objects.filter(user=user).delete()[0])
        if is_removed:
            action = "removed" if by.pk == user.pk else "reset"
            _record(user, f"second_factor.{action}", by=by)
    return is_removed


def _offered(user: User, signed: str) -> str | None:
    """The secret of an offer; None if the offer is invalid, expired or another person's."""
    try:
        user_id, secret = signing.loads(signed, salt=_SALT, max_age=_OFFER_SECONDS)
    except signing.BadSignature:
        return None
    return str(secret) if user_id == user.pk else None


def _step(secret: str, code: str, *, after: int) -> int | None:
    """The code's 30-second step, if it is later than `after`; None if the code is wrong."""
    digits = re.sub(r"\s", "", code)
    if not re.fullmatch("[0-9]{6}", digits):
        return None
    totp: Any = TOTP(base64.b32decode(secret))  # type: ignore[no-untyped-call]
    is_right = totp.verify(int(digits), tolerance=_TOLERANCE, min_t=after + 1)
    return int(totp.t()) if is_right else None


def _recovery_code() -> str:
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(12))
    return f"{letters[:4]}-{letters[4:8]}-{letters[8:]}"


def _hashes(user: User, codes: list[str]) -> list[str]:
    """Hashes of recovery codes. Case, spaces and hyphens make no difference."""
    plain = [re.sub(r"[^a-z0-9]", "", code.lower()) for code in codes]
    return [hash_secret(f"recovery:{user.pk}:{code}") for code in plain]


def _record(user: User, action: str, *, by: User, changes: dict[str, int] | None = None) -> None:
    audit.record(user.client_id, action, by=by, subject=f"user:{user.pk}", changes=changes)
