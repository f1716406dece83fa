"""Signing in by password, with a guard against guessing."""

import ipaddress
import math
from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone

from chatplatform.crypto import hash_secret
from chatplatform.errors import ApiError, Invalid
from identity.models import LoginFailure, User
from identity.serializers import (
    Body_login_for_access_token2_identity_token2_post as LoginBody,
)
from identity.serializers import TokenResponse
from identity.services import tokens

# Failures within the window after which nobody gets in, not even with the right password.
WINDOW = timedelta(minutes=15)
FAILURES_FOR_ACCOUNT = 10
FAILURES_FROM_ADDRESS = 100


class TooManyFailures(ApiError):
    code, status = "too_many_requests", 429
    detail = "Too many failed sign-ins; wait and try again."

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__()
        self.retry_after_seconds = retry_after_seconds

    def response(self) -> HttpResponse:
        response = super().response()
        response["Retry-After"] = str(self.retry_after_seconds)
        return response


class UnsupportedGrantType(ApiError):
    """400 and not 422: what RFC 6749 (5.2) has for a grant that a server does not know."""

    code, status = "unsupported_grant_type", 400
    detail = "grant_type must be `password` or `refresh_token`."

    def __init__(self) -> None:
        super().__init__(error=self.code, error_description=self.detail)


def grant(asked: LoginBody, *, address: str) -> TokenResponse:
    """Tokens for what a sign-in form presents: a password, or a refresh token."""
    if asked.grant_type == "password":
        return sign_in(
            email=_needed(asked.username, "username"),
            password=_needed(asked.password, "password"),
            address=address,
        )
    if asked.grant_type == "refresh_token":
        return tokens.rotate(_needed(asked.refresh_token, "refresh_token"))
    raise UnsupportedGrantType


def _needed(value: str | None, name: str) -> str:
    if not value:
        raise Invalid.field("body", name, msg="Field required", type="missing")
    return value


def sign_in(*, email: str, password: str, address: str) -> TokenResponse:
    """Tokens for the right password; 401 `invalid_grant`, or 429 after too many failures."""
    attempt = _begin(email, address)
    user = _get_user(email, password)
    if user is None:
        raise tokens.InvalidGrant("Incorrect username or password")
    LoginFailure.objects.filter(account_hash=attempt.account_hash, address=attempt.address).delete()
    User.objects.filter(pk=user.pk).update(last_login=timezone.now())
    return tokens.issue(user)


def _begin(email: str, address: str) -> LoginFailure:
    """Count this try as failed until it succeeds, so that tries at one moment see each other."""
    now = timezone.now()
    attempt = LoginFailure.objects.create(
        account_hash=hash_secret(email.lower()), address=_network(address), created_at=now
    )
    earlier = LoginFailure.objects.filter(
        address=attempt.address, created_at__gt=now - WINDOW, pk__lt=attempt.pk
    )
    wait = max(
        _wait(earlier.filter(account_hash=attempt.account_hash), FAILURES_FOR_ACCOUNT, now),
        _wait(earlier, FAILURES_FROM_ADDRESS, now),
    )
    if wait:
        # Not counted: who keeps trying must not keep the door shut for ever.
        attempt.delete()
        raise TooManyFailures(wait)
    LoginFailure.objects.filter(address=attempt.address, created_at__lte=now - WINDOW).delete()
    return attempt


def _wait(failures: QuerySet[LoginFailure], limit: int, now: datetime) -> int:
    """Seconds until fewer than `limit` failures lie in the window; 0 where that is so now."""
    moments = failures.order_by("-created_at", "-pk").values_list("created_at", flat=True)
    decisive = moments[limit - 1 : limit].first()
    return max(1, math.ceil((decisive + WINDOW - now).total_seconds())) if decisive else 0


def _get_user(email: str, password: str) -> User | None:
    user = User.objects.select_related("client").filter(email=email.lower()).first()
    if user is None or not user.has_usable_password():
        # As long as a real check takes: the time must not tell who has an account.
        make_password(password)
        return None
    if not user.check_password(password) or not user.is_active or not user.client_id:
        return None
    return user


def _network(address: str) -> str:
    """The address as it is counted: a household has 2^64 addresses of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network(f"{address.partition('%')[0]}/64", strict=False))


def forget_old_failures() -> None:
    """Delete tries that no limit counts any more."""
    LoginFailure.objects.filter(created_at__lt=timezone.now() - WINDOW).delete()
