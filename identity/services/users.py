"""Adds, changes and disables clients' people and platform staff, and sets their roles and
passwords."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext_noop

from chatplatform import media
from chatplatform.api.errors import ApiError, Forbidden, Invalid, NotAuthenticated, NotFound
from chatplatform.api.request_context import current_address
from chatplatform.jobs import enqueue
from identity.models import AttemptKind, Client, Role, User
from identity.schemas.tokens import TokenResponse
from identity.schemas.users import OwnUser
from identity.services import attempts, audit, logins, mails, passwords, second_factor, tokens
from identity.services.picture_hooks import StoredPicture


class EmailTaken(ApiError):
    code, status = "email_taken", 409
    detail = gettext_noop("Someone already uses this email address. Sign in or use another one.")
    place = ("email",)


# The text of EmailTaken for somebody who adds or changes another person.
_TAKEN = gettext_noop(
    "This email address already has an account, here or at another company. Use another one."
)


class LastOwner(ApiError):
    code, status = "last_owner", 409
    detail = gettext_noop(
        "A company needs an owner who can sign in. Make someone else an owner first."
    )


class LastStaff(ApiError):
    code, status = "last_staff", 409
    detail = gettext_noop(
        "The platform needs at least one person who can sign in. Add another first."
    )


class AlreadyJoined(ApiError):
    code, status = "already_joined", 409
    detail = gettext_noop("They've already joined.")


def create(
    client: Client,
    *,
    email: str,
    full_name: str,
    role: str,
    language: str,
    password: str | None,
    by: User | None,
    can_train: bool = False,
) -> User:
    """Create a user; 409 `email_taken` if the address is in use, 429 after too many new users.

    If `by` is None, the user joins without a mail. Otherwise the user gets a welcome mail or, if
    `password` is None, an invitation with a link to choose a password.
    """
    if password is not None:
        passwords.check_rules(password)
    if by:
        _check_may_grant(by, role)
        attempts.start(AttemptKind.ADD_USER, address=current_address(), account=f"{client.pk}")
    email_taken = EmailTaken(_TAKEN if by else None)
    # The address is checked first, so that no password is hashed for an address in use.
    if User.objects.filter(email=email.lower()).exists():
        raise email_taken
    try:
        with transaction.atomic():
            rights = {"role": role, "can_train": can_train}
            user = User.objects.create_user(
                email, password, client=client, full_name=full_name, language=language, **rights
            )
            _record(user, "created", by=by, **rights)
            if by:
                _welcome(user, by, invited=password is None)
    except IntegrityError as exc:
        if "user_email" in str(exc):
            raise email_taken from exc
        raise
    user.refresh_from_db(fields=["created_at"])
    return user


def set_disabled(client: Client, *, user_id: int, is_disabled: bool, by: User) -> User:
    """Disable or enable a user, and end all their sign-ins. If the user is disabled, a job releases
    their chats."""
    with transaction.atomic():
        user = lock_for_change(client, user_id=user_id, by=by, stays_owner=not is_disabled)
        _set_disabled(user, is_disabled=is_disabled, by=by)
    return user


def set_role(
    client: Client, *, user_id: int, role: str, can_train: bool | None = None, by: User
) -> User:
    """Change a user's role and, unless `can_train` is None, whether they may also train bots.

    A new role invalidates the user's access tokens. Refreshing returns an access token with the new
    role. If the user becomes a viewer, a job releases their chats.
    """
    _check_may_grant(by, role)
    with transaction.atomic():
        user = lock_for_change(client, user_id=user_id, by=by, stays_owner=role == Role.OWNER)
        if user.role != role:
            _record(user, "role_changed", by=by, role=[user.role, role])
            user.role = role
            _save(user, "role")
            if role == Role.VIEWER:
                _release_chats(user)
        if can_train not in {None, user.can_train}:
            _update(user, {"can_train": can_train}, by=by)
    return user


def update(person: User, given: Mapping[str, Any], *, by: User) -> None:
    """Change a person's name and, if `by` is platform staff, the email address and the language.
    Admins may not change the address, because with another address they could take over the
    account. Links that were mailed to the old address become void."""
    with transaction.atomic():
        row = _lock_person(person, by=by)
        changes = {name: value for name, value in given.items() if value != getattr(row, name)}
        if not by.is_superuser and changes.keys() - {"full_name"}:
            raise Forbidden("Only platform staff can change an email address or a language.")
        if "email" in changes and User.objects.filter(email=changes["email"]).exists():
            raise EmailTaken(_TAKEN)
        if "email" in changes:
            passwords.void_links(row)
        if changes:
            _update(row, changes, by=by)


def make_staff(*, email: str, password: str) -> User:
    """Create a member of the platform staff with this password, or restore an existing account: set
    the password, enable the account, remove its second factor and end its sign-ins. 409
    `email_taken` if the address belongs to one of a client's people."""
    encoded = passwords.encode(password)
    with transaction.atomic():
        user = User.objects.select_for_update().filter(email=email.lower()).first()
        if user and user.client_id:
            raise EmailTaken
        mail = "password_changed" if user else "welcome_staff"
        if user is None:
            user = User.objects.create_superuser(email, full_name="Platform staff")
            _record(user, "created", by=None)
        elif user.is_disabled:
            _record(user, "enabled", by=None)
        User.objects.filter(pk=user.pk).update(is_disabled=False, is_superuser=True)
        second_factor.remove(user, by=user)
        passwords.set_encoded(user, encoded, by=user, mail=mail)
    return user


def set_person_disabled(person: User, *, is_disabled: bool, by: User) -> None:
    """Disable or enable a client's person or a member of the platform staff."""
    if person.client:
        set_disabled(person.client, user_id=person.pk, is_disabled=is_disabled, by=by)
    else:
        _set_staff_disabled(person.pk, is_disabled=is_disabled, by=by)


def _set_staff_disabled(user_id: int, *, is_disabled: bool, by: User) -> None:
    """Disable or enable a member of the platform staff; 409 `last_staff` if no other enabled member
    would be left."""
    with transaction.atomic():
        rows = User.objects.filter(client=None).order_by("pk").select_for_update(no_key=True)
        staff = {row.pk: row for row in rows}
        user = staff[user_id]
        if is_disabled and all(row.is_disabled for row in staff.values() if row.pk != user_id):
            raise LastStaff
        _set_disabled(user, is_disabled=is_disabled, by=by)


def update_own(user: User, body: OwnUser, *, picture: StoredPicture | None = None) -> User:
    """Change a person's own name, language and picture, and whether they are away. Values that are
    None stay unchanged. An uploaded `picture` takes precedence over `avatar_url`."""
    names = ("full_name", "language", "avatar_url", "is_away")
    given = {name: getattr(body, name) for name in names}
    if picture:
        given["avatar_url"] = picture.url
    elif given["avatar_url"] == user.picture_url:
        given["avatar_url"] = None
    changes = {
        name: value for name, value in given.items() if value not in {None, getattr(user, name)}
    }
    if changes:
        with transaction.atomic():
            if "avatar_url" in changes:
                _set_avatar_file(user, picture.name if picture else "")
            _update(user, changes, by=user)
            if "is_away" in changes:
                enqueue("chats.show_away", client_id=user.client_id, priority=-1, user_id=user.pk)
    return user


def _set_avatar_file(user: User, name: str) -> None:
    """Set the uploaded file of the person's picture; empty for no file. A job removes the previous
    file if the person belongs to a client."""
    if user.client_id:
        media.remove_later(user.client_id, [user.avatar_file.name])
    user.avatar_file = name
    user.save(update_fields=["avatar_file"])


def change_own_password(user: User, *, current: str, new: str) -> TokenResponse:
    """Set a person's own password, end every sign-in, and return the tokens of a new sign-in. A
    wrong current password counts as a failed sign-in, so that somebody with a stolen token cannot
    guess the password without limit."""
    authenticated = logins.authenticate(
        email=user.email, password=current, address=current_address()
    )
    if authenticated is None:
        raise Invalid.field(
            "body", "current_password", msg=gettext_noop("This isn't your current password.")
        )
    with transaction.atomic():
        return tokens.issue(set_own_password(authenticated, new))


def set_own_password(authenticated: User, new: str) -> User:
    """Set the password of a person who has just given the old one, and end every sign-in. 401 if
    the user's access tokens have been invalidated since the old password was checked."""
    encoded = passwords.encode(new, field="new_password")
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=authenticated.pk)
        if locked.token_version != authenticated.token_version:
            raise NotAuthenticated("Could not validate credentials")
        passwords.set_encoded(locked, encoded, by=locked)
    return locked


def reset_password(client: Client, *, user_id: int, password: str, by: User) -> None:
    """Set a user's password and end every sign-in."""
    encoded = passwords.encode(password)
    with transaction.atomic():
        user = lock_for_change(client, user_id=user_id, by=by)
        passwords.set_encoded(user, encoded, by=by)


def reset_second_factor(person: User, *, by: User) -> bool:
    """Remove another person's second factor and end their sign-ins; False if they have no second
    factor."""
    if person.pk == by.pk:
        raise Forbidden(
            "Use your password and a code to remove your own two-factor authentication."
        )
    with transaction.atomic():
        user = _lock_person(person, by=by)
        is_reset = second_factor.remove(user, by=by)
        if is_reset:
            _save(user)
            tokens.revoke_all(user)
    return is_reset


def send_reset_link(person: User, *, by: User) -> None:
    """Enqueue a mail with a link to choose a new password; 429 after too many requests."""
    with transaction.atomic():
        user = _lock_person(person, by=by)
        _record(user, "reset_sent", by=by)
        passwords.request_reset(email=user.email, address=current_address())


def sign_out_everywhere(person: User, *, by: User) -> None:
    """End every sign-in of a person, to the API and to the site."""
    with transaction.atomic():
        user = _lock_person(person, by=by)
        _save(user)
        tokens.revoke_all(user)
        _record(user, "sign_ins_ended", by=by)


def unlock(person: User, *, by: User) -> None:
    """Delete the failed attempts that keep a person from signing in."""
    with transaction.atomic():
        user = _lock_person(person, by=by)
        attempts.delete_all(AttemptKind.SIGN_IN, account=user.email)
        attempts.delete_all(AttemptKind.CODE, account=f"{user.pk}")
        _record(user, "unlocked", by=by)


def invite_again(person: User, *, by: User) -> None:
    """Enqueue a mail with a new link to choose the first password, which voids earlier links. 409
    `already_joined` if the person has a password or is platform staff, 429 after too many
    invitations."""
    if person.client is None or person.has_usable_password():
        raise AlreadyJoined
    attempts.start(AttemptKind.ADD_USER, address=current_address(), account=f"{person.client.pk}")
    with transaction.atomic():
        user = lock_for_change(person.client, user_id=person.pk, by=by)
        _record(user, "invited_again", by=by)
        _welcome(user, by, invited=True)


def lock_for_change(client: Client, *, user_id: int, by: User, stays_owner: bool = True) -> User:
    """Check that `by` may change the user, and return the user's locked row. 404 for another
    client's user, 403 if `by` may not change the user. 409 `last_owner` if `stays_owner` is False
    and no other enabled owner would be left.

    The rows of `by` and of all owners are locked as well, always in the same order. So if two
    owners change each other, the second sees the first change.
    """
    target = User.objects.for_client(client).filter(pk=user_id).first()
    if target is None:
        raise NotFound
    check_may_change(by, target)
    rows = User.objects.for_client(client).filter(Q(pk__in=[target.pk, by.pk]) | Q(role=Role.OWNER))
    locked = {row.pk: row for row in rows.order_by("pk").select_for_update(no_key=True)}
    user = locked[target.pk]
    owners = [row for row in locked.values() if row.role == Role.OWNER and not row.is_disabled]
    if not stays_owner and owners == [user]:
        raise LastOwner
    # Check again with the rights that were read under the lock.
    check_may_change(locked.get(by.pk, by), user)
    return user


def _lock_person(person: User, *, by: User) -> User:
    """Lock a client's person or a member of the platform staff, and return the row. Whether `by`
    may change a member of the platform staff is not checked here: only platform staff can open the
    page of such a member."""
    if person.client:
        return lock_for_change(person.client, user_id=person.pk, by=by)
    return User.objects.select_for_update(no_key=True).get(pk=person.pk)


def _set_disabled(user: User, *, is_disabled: bool, by: User) -> None:
    if user.is_disabled == is_disabled:
        return
    user.is_disabled = is_disabled
    _save(user, "is_disabled")
    tokens.revoke_all(user)
    _record(user, "disabled" if is_disabled else "enabled", by=by)
    if is_disabled and user.client_id:
        _release_chats(user)


def _check_may_grant(by: User, role: str) -> None:
    if role == Role.OWNER and not _is_above_owners(by):
        raise Forbidden("Only owners can add owners.")


def check_may_change(by: User, user: User) -> None:
    """Raise a 403 unless `by` may change the user's data and rights."""
    if user.role == Role.OWNER and not _is_above_owners(by):
        raise Forbidden("Only owners can change owners.")
    if by.is_disabled or not (by.is_admin or by.is_superuser):
        raise Forbidden("Only owners and admins can do this.")


def _is_above_owners(user: User) -> bool:
    """Whether the user may add and change owners: owners and platform staff may."""
    return user.role == Role.OWNER or user.is_superuser


def _save(user: User, *fields: str) -> None:
    """Save these fields of a locked row, and invalidate the user's access tokens."""
    user.token_version += 1
    user.save(update_fields=[*fields, "token_version"])


def _update(user: User, changes: dict[str, Any], *, by: User) -> None:
    for name, value in changes.items():
        setattr(user, name, value)
    user.save(update_fields=list(changes))
    _record(user, "updated", by=by, fields=sorted(changes))


def _release_chats(user: User) -> None:
    enqueue("chats.release_agent", client_id=user.client_id, priority=-1, user_id=user.pk)


def _welcome(user: User, by: User, *, invited: bool) -> None:
    if invited:
        enqueue("identity.send_invitation", client_id=user.client_id, user_id=user.pk, by_id=by.pk)
    else:
        mails.send_to(user, "welcome", {"company": str(user.client)})


def _record(user: User, action: str, *, by: User | None, **changes: Any) -> None:
    subject = f"user:{user.pk}"
    audit.record(user.client_id, f"user.{action}", by=by, subject=subject, changes=changes)
