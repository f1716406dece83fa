"""Signing in by password, with a guard against guessing (docs/decisions/0008)."""

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import ApiError, Invalid
from identity.models import Attempt, AttemptKind, User
from identity.services import attempts, audit, tokens
from identity.shapes.users import Body_login_for_access_token2_identity_token2_post as LoginBody
from identity.shapes.users import TokenResponse


class UnsupportedGrantType(ApiError):
    """400 and not 422, as in RFC 6749 (5.2)."""

    code, status = "unsupported_grant_type", 400
    detail = "grant_type must be `password` or `refresh_token`."

    def __init__(self) -> None:
        super().__init__(error=self.code, error_description=self.detail)


def grant(body: LoginBody, *, address: str) -> TokenResponse:
    """Tokens for a password or a refresh token, as the form says."""
    if body.grant_type == "password":
        return sign_in(
            email=_required(body.username, "username"),
            password=_required(body.password, "password"),
            address=address,
        )
    if body.grant_type == "refresh_token":
        return tokens.rotate(_required(body.refresh_token, "refresh_token"))
    raise UnsupportedGrantType


def _required(value: str | None, name: str) -> str:
    if not value:
        raise Invalid.field("body", name, msg="Field required", type="missing")
    return value


def sign_in(*, email: str, password: str, address: str) -> TokenResponse:
    """Tokens for the right password; 401 `invalid_grant`, or 429 after too many failures."""
    user = authenticate(email=email, password=password, address=address)
    if user is None:
        raise tokens.InvalidGrant("Incorrect username or password")
    assert user.client_id, "staff have no access tokens"
    with transaction.atomic():
        # Refuse if the password changed since the check. The update also locks the row, so that
        # whoever revokes the user's tokens waits for these and revokes them too.
        is_unchanged = User.objects.filter(
            pk=user.pk, token_version=user.token_version, is_disabled=False
        ).update(last_login=timezone.now())
        if not is_unchanged:
            raise tokens.InvalidGrant("Incorrect username or password")
        audit.record(user.client_id, "user.signed_in", by=user, subject=f"user:{user.pk}")
        return tokens.issue(user)


def authenticate(*, email: str, password: str, address: str, staff: bool = False) -> User | None:
    """The user with this e-mail address and password: a client's, or with `staff` the platform's.

    None if there is none; 429 after too many failures, even for the right password.
    """
    attempt = attempts.start(AttemptKind.SIGN_IN, address=address, account=email.lower())
    user = User.objects.select_related("client").filter(email=email.lower()).first()
    if _is_right(user, password, staff=staff):
        attempts.clear_failures(attempt)
        return user
    _audit_lock(attempt, user)
    return None


def _is_right(user: User | None, password: str, *, staff: bool) -> bool:
    if user is None or not user.has_usable_password():
        # Takes as long as a real check, so that the time does not reveal accounts.
        make_password(password)
        return False
    belongs = user.is_staff if staff else bool(user.client_id)
    return user.check_password(password) and user.is_active and belongs


def _audit_lock(attempt: Attempt, user: User | None) -> None:
    """Once for each lock, so that guessing does not fill the log."""
    if attempts.reaches_limit(attempt) and user and user.client_id:
        audit.record(user.client_id, "user.locked", by=None, subject=f"user:{user.pk}")
