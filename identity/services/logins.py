"""Signing in by password, with a guard against guessing (docs/decisions/0008)."""

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import ApiError, Invalid
from identity.models import Attempt, AttemptKind, User
from identity.services import attempts, audit, tokens
from identity.shapes.tokens import Body_login_for_access_token2_identity_token2_post as LoginBody
from identity.shapes.tokens import TokenResponse


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
    user = check(email=email, password=password, address=address)
    if user is None:
        raise tokens.InvalidGrant("Incorrect username or password")
    assert user.client_id, "staff have no access tokens"
    with transaction.atomic():
        # What was checked must still stand: a password that changes meanwhile opens nothing.
        # This write also holds the row until the tokens are there to be ended with the others.
        stands = User.objects.filter(
            pk=user.pk, token_version=user.token_version, is_disabled=False
        ).update(last_login=timezone.now())
        if not stands:
            raise tokens.InvalidGrant("Incorrect username or password")
        audit.record(user.client_id, "user.signed_in", by=user, subject=f"user:{user.pk}")
        return tokens.issue(user)


def check(*, email: str, password: str, address: str, staff: bool = False) -> User | None:
    """Whose password this is: one of a client's people, or of the platform's `staff`.

    None where it is nobody's; 429 after too many failures, also for the right one.
    """
    attempt = attempts.begin(AttemptKind.SIGN_IN, address=address, account=email.lower())
    user = User.objects.select_related("client").filter(email=email.lower()).first()
    if _fits(user, password, staff=staff):
        attempts.forgive(attempt)
        return user
    _tell_of_lock(attempt, user)
    return None


def _fits(user: User | None, password: str, *, staff: bool) -> bool:
    if user is None or not user.has_usable_password():
        # As long as a real check takes: the time must not tell who has an account.
        make_password(password)
        return False
    belongs = user.is_staff if staff else bool(user.client_id)
    return user.check_password(password) and user.is_active and belongs


def _tell_of_lock(attempt: Attempt, user: User | None) -> None:
    """Once a lock, not once a try: a guesser must not fill the log."""
    if attempts.locks(attempt) and user and user.client_id:
        audit.record(user.client_id, "user.locked", by=None, subject=f"user:{user.pk}")
