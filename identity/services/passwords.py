"""Passwords: their rules, changes, and resets by mail. A reset token is created in the job that
sends it, and only a keyed hash of it is stored."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_noop

from chatplatform import jobs
from chatplatform.api.errors import ApiError, Invalid
from chatplatform.crypto import hash_secret
from identity.models import AttemptKind, PasswordReset, User
from identity.services import attempts, audit, mails, tokens
from identity.services.move_freeze import ensure_not_frozen

RESET_LIFETIME = timedelta(hours=1)
# For how long a reset link stays valid even if newer links are requested.
RESET_LINK_GRACE = timedelta(minutes=10)
# Longer than for a reset, because invited people may not read the mail at once.
INVITATION_LIFETIME = timedelta(days=3)


class ResetTokenInvalid(ApiError):
    code, status = "reset_token_invalid", 400
    detail = gettext_noop("This link is no longer valid. Request a new one.")


def check_rules(password: str, *, field: str = "password") -> None:
    """Raise a 422 if the password is too short, too common or only digits."""
    try:
        validate_password(password)
    except ValidationError as exc:
        raise Invalid.field("body", field, msg=" ".join(exc.messages)) from exc


def encode(password: str, *, field: str = "password") -> str:
    """Check a password and return its hash. Hashing is slow on purpose, so call this outside of
    transactions."""
    check_rules(password, field=field)
    return make_password(password)


def set_encoded(user: User, encoded: str, *, by: User, mail: str = "password_changed") -> None:
    """Set the hash of a new password for a user whose row is locked. Ends the user's sign-ins,
    voids mailed links, and enqueues a mail about the change."""
    user.password = encoded
    user.token_version += 1
    user.save(update_fields=["password", "token_version"])
    tokens.revoke_all(user)
    void_links(user)
    audit.record(user.client_id, "user.password_set", by=by, subject=f"user:{user.pk}")
    mails.send_to(user, mail)


def void_links(user: User) -> None:
    """Void the unused links to choose a password that were mailed to a user whose row is locked."""
    _links(user).delete()


def _links(user: User) -> QuerySet[PasswordReset]:
    return PasswordReset.objects.filter(user=user, used_at=None)


def request_reset(*, email: str, address: str) -> None:
    """Enqueue the mail with a reset link.

    The job looks up the account, so that neither the response nor its timing reveals which accounts
    exist.
    """
    attempts.start(AttemptKind.ASK_RESET, address=address, account=email)
    jobs.enqueue("identity.send_reset_link", client_id=None, email=email, asked_from=address)


def send_reset_link(*, email: str, asked_from: str) -> None:
    """Mail a new link to the client's person with this address, if that person may sign in and the
    limit on mails is not reached."""
    user = User.objects.select_related("client").filter(email=email).first()
    if user is None or not user.is_active or user.client_id is None:
        return
    with mails.limit_link_mails(f"reset:{email}") as may_send:
        if may_send:
            token = _make_token(
                user, RESET_LIFETIME, "password_reset.asked", asked_from=asked_from,
                protects_recent=True,
            )  # fmt: skip
            mails.deliver("password_reset", to=[user.email], language=user.language,
                          context={"name": user.full_name, "link": _link(token)})  # fmt: skip


def send_invitation(*, user_id: int, by_id: int | None) -> None:
    """Mail a new user an invitation with a link to choose the first password. The mail names the
    inviter and the role. Does nothing if the user has a password or is disabled."""
    user = User.objects.select_related("client").filter(pk=user_id).first()
    if user is None or not user.is_active or user.has_usable_password():
        return
    by = User.objects.filter(pk=by_id).first() if by_id else None
    token = _make_token(user, INVITATION_LIFETIME, "user.invited", by=by)
    inviter = by.full_name if by and by.client_id == user.client_id else ""
    context = {"name": user.full_name, "company": str(user.client), "link": _link(token),
               "inviter": inviter, "role": user.role,
               "trains": "yes" if user.can_train and not user.is_admin else ""}  # fmt: skip
    mails.deliver("invitation", to=[user.email], language=user.language, context=context)


def use_reset(*, token: str, password: str, address: str) -> User:
    """Set the password of the user to whom a link was sent, and return the user. Each link works
    once; 400 `reset_token_invalid` if it is no longer valid."""
    reset = check_reset(token=token, address=address)
    encoded = encode(password, field="new_password")
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).get(pk=reset.user_id)
        ensure_not_frozen(user.client)
        unused = PasswordReset.objects.filter(pk=reset.pk, used_at=None)
        is_first_use = unused.update(used_at=timezone.now())
        if not is_first_use or user.is_disabled:
            raise ResetTokenInvalid
        audit.record(reset.client_id, "password_reset.used", by=user, subject=f"user:{user.pk}")
        set_encoded(user, encoded, by=user)
    return user


def purge_expired() -> None:
    """Delete links that expired more than a day ago."""
    PasswordReset.objects.filter(expires_at__lt=timezone.now() - timedelta(days=1)).delete()


def _make_token(
    user: User,
    lifetime: timedelta,
    action: str,
    *,
    by: User | None = None,
    asked_from: str = "",
    protects_recent: bool = False,
) -> str:
    """Create a token for the user, void the user's earlier tokens, and record the action in the
    audit log. Sets `user.email` to the stored address.

    With `protects_recent`, links younger than ten minutes stay valid. Otherwise a stranger, who can
    request links too, could void each link before it is read.
    """
    assert user.client_id
    token = secrets.token_urlsafe(32)
    with jobs.commit():
        # The lock makes concurrent calls wait, so that each sees the links of the earlier calls and
        # the current address.
        user.email = User.objects.select_for_update(no_key=True).get(pk=user.pk).email
        earlier = _links(user)
        if protects_recent:
            earlier = earlier.filter(created_at__lt=Now() - RESET_LINK_GRACE)
        earlier.delete()
        PasswordReset.objects.create(
            client_id=user.client_id,
            user=user,
            token_hash=hash_secret(token),
            expires_at=timezone.now() + lifetime,
        )
        changes = {"asked_from": asked_from} if asked_from else {}
        audit.record(user.client_id, action, by=by, subject=f"user:{user.pk}", changes=changes)
    return token


def _link(token: str) -> str:
    """The link to mail. Its host never comes from a request. The token is in the fragment, which
    browsers do not send."""
    return f"{settings.PASSWORD_RESET_URL}#token={token}"


def check_reset(*, token: str, address: str) -> PasswordReset:
    """The reset that a link's token belongs to. If the token is invalid, raises a 400
    `reset_token_invalid` and counts an attempt. 429 after too many attempts."""
    unused = PasswordReset.objects.filter(token_hash=hash_secret(token), used_at=None)
    try:
        attempt = attempts.start(AttemptKind.TRY_RESET, address=address)
    except attempts.TooManyAttempts:
        # A right token that comes after too many wrong tokens was probably guessed, so it is
        # voided.
        unused.update(used_at=timezone.now())
        raise
    rows = unused.select_related("user__client")
    reset: PasswordReset | None = rows.filter(expires_at__gt=timezone.now()).first()
    if reset is None or not reset.user.is_active:
        raise ResetTokenInvalid
    attempt.delete()
    return reset
