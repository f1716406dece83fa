"""Sign-in by password and second factor, with limits on wrong guesses (docs/decisions/0008)."""

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from chatplatform.api.errors import Invalid, NotAuthenticated
from identity.models import Attempt, AttemptKind, User
from identity.schemas.tokens import Body_login_for_access_token2_identity_token2_post as LoginBody
from identity.schemas.tokens import TokenResponse
from identity.services import attempts, audit, second_factor, sign_in_providers, tokens
from identity.services.move_freeze import ensure_not_frozen


class UnsupportedGrantType(tokens.OAuthError):
    """The `grant_type` is unknown: a 400 instead of a 422, as RFC 6749 (5.2) requires."""

    code, status = "unsupported_grant_type", 400


class OtpRequired(tokens.OAuthError, NotAuthenticated):
    """The password is right, but the code of the second factor is missing."""

    code = "otp_required"


class ProviderRequired(tokens.InvalidGrant):
    """The password is right, but the person's company requires its own sign-in provider."""

    code = "provider_required"
    detail = gettext_noop("Your company uses single sign-on, so sign in with your company account.")


def grant(body: LoginBody, *, address: str) -> TokenResponse:
    """Tokens for a password or a refresh token, depending on `grant_type`."""
    if body.grant_type == "password":
        return sign_in(
            email=_required(body.username, "username"),
            password=_required(body.password, "password"),
            otp=body.otp,
            address=address,
            scope=body.scope or "",
        )
    if body.grant_type == "refresh_token":
        refresh_token = _required(body.refresh_token, "refresh_token")
        return tokens.rotate(refresh_token, scope=body.scope or "")
    raise UnsupportedGrantType("grant_type must be `password` or `refresh_token`.")


def _required(value: str | None, name: str) -> str:
    if not value:
        raise Invalid.field("body", name, msg="Field required", type="missing")
    return value


def sign_in(
    *, email: str, password: str, otp: str | None, address: str, scope: str = ""
) -> TokenResponse:
    """Tokens for a person who gives the right password and, if they have a second factor, a code.
    Otherwise 401 `invalid_grant`, `otp_required` or `provider_required`, or 429 after too many
    failures."""
    user = authenticate(email=email, password=password, address=address)
    if user is None:
        raise tokens.InvalidGrant(gettext_noop("Incorrect email or password."))
    if second_factor.is_set(user):
        if not otp:
            raise OtpRequired("Send the code of your second factor as `otp`.")
        check_code(user, otp, address=address)
    with transaction.atomic():
        record_sign_in(user)
        return tokens.issue(user, scope=scope)


def record_sign_in(user: User) -> None:
    """Record a sign-in in the caller's transaction. 401 if the user was disabled or their access
    tokens were invalidated since the password was checked, 503 `client_frozen` if the client is
    being moved. Locks the user's row, so that code which ends all sign-ins waits and then ends this
    one too."""
    ensure_not_frozen(user.client)
    is_unchanged = User.objects.filter(
        pk=user.pk, token_version=user.token_version, is_disabled=False
    ).update(last_login=timezone.now())
    if not is_unchanged:
        raise tokens.InvalidGrant(gettext_noop("Incorrect email or password."))
    audit.record(user.client_id, "user.signed_in", by=user, subject=f"user:{user.pk}")


def check_code(user: User, code: str, *, address: str) -> None:
    """Check a code of the second factor: 401 `invalid_grant` if it is wrong, or 429 after too many
    failures."""
    attempt = attempts.start(AttemptKind.CODE, address=address, account=f"{user.pk}")
    if not second_factor.accept(user, code):
        _audit_lock(attempt, user)
        raise tokens.InvalidGrant(second_factor.WRONG_CODE)
    attempts.clear_failures(attempt)


def authenticate(
    *, email: str, password: str, address: str, admits_staff: bool = False
) -> User | None:
    """The user with this email address and password; None if either is wrong, or if the user may
    not sign in. Platform staff may sign in only if `admits_staff` is set.

    401 `provider_required` if the user's company requires its own provider. 429 after too many
    failures, even for the right password.
    """
    attempt = attempts.start(AttemptKind.SIGN_IN, address=address, account=email.lower())
    user = User.objects.select_related("client").filter(email=email.lower()).first()
    if _is_correct(user, password, admits_staff=admits_staff):
        attempts.clear_failures(attempt)
        if user and sign_in_providers.is_required(user):
            raise ProviderRequired(ProviderRequired.detail)
        return user
    _audit_lock(attempt, user)
    return None


def can_use_password(user: User) -> bool:
    """Whether the person has a password and is not required to sign in at a provider."""
    return user.has_usable_password() and not sign_in_providers.is_required(user)


def _is_correct(user: User | None, password: str, *, admits_staff: bool) -> bool:
    if user is None or not user.has_usable_password():
        # Hashing takes as long as a real check, so that the response time does not reveal which
        # accounts exist.
        make_password(password)
        return False
    is_admitted = bool(user.client_id) or (admits_staff and user.is_superuser)
    return user.check_password(password) and user.is_active and is_admitted


def _audit_lock(attempt: Attempt, user: User | None) -> None:
    """Record that an account was locked, once for each lock, so that further guesses do not fill
    the log."""
    if attempts.reaches_limit(attempt) and user:
        audit.record(user.client_id, "user.locked", by=None, subject=f"user:{user.pk}")
