"""People: added, locked out, given roles and passwords."""

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from chatplatform.api.errors import ApiError, Forbidden, NotFound
from chatplatform.api.request_context import current_address
from chatplatform.jobs import enqueue
from identity.models import AttemptKind, Client, Role, User
from identity.services import attempts, audit, mails, passwords, tokens


class EmailTaken(ApiError):
    code, status = "email_taken", 409
    detail = "Someone with this e-mail address is here already; sign in or use another."


class LastOwner(ApiError):
    code, status = "last_owner", 409
    detail = "A client keeps at least one owner who can sign in: make another one first."


def list_for_client(client: Client) -> QuerySet[User]:
    """The client's people, also those who are locked out; order and page are the caller's."""
    return User.objects.for_client(client)


def create(
    client: Client,
    *,
    email: str,
    full_name: str,
    role: str,
    language: str,
    password: str | None,
    by: User | None,
) -> User:
    """A new person of `client`; 409 `email_taken` where the address is known, 429 too often.

    Without a password he is sent a link to choose one. `by` None: he registers himself.
    """
    if password is not None:
        passwords.check_rules(password)
    if by:
        _check_may_give(by, role)
        attempts.begin(AttemptKind.ADD_USER, address=current_address(), account=f"{client.pk}")
    # Asked first, so that a known address does not cost a password hash.
    if User.objects.filter(email=email.lower()).exists():
        raise EmailTaken
    try:
        with transaction.atomic():
            user = User.objects.create_user(
                email, password, client=client, full_name=full_name, role=role, language=language
            )
            audit.record(
                client.pk, "user.created", by=by, subject=_named(user), changes={"role": role}
            )
            if by:
                _greet(user, invited=password is None)
    except IntegrityError as exc:
        if "user_email" in str(exc):
            raise EmailTaken from exc
        raise
    user.refresh_from_db(fields=["created_at"])
    return user


def set_disabled(client: Client, *, user_id: int, is_disabled: bool, by: User) -> User:
    """Lock a person out, which ends all his tokens at once, or let him in again.

    His chats go back to the queue by a job.
    """
    with transaction.atomic():
        user = hold(client, user_id=user_id, by=by, stays_owner=not is_disabled)
        if user.is_disabled != is_disabled:
            user.is_disabled = is_disabled
            _save(user, "is_disabled")
            tokens.revoke_all(user)
            action = "user.disabled" if is_disabled else "user.enabled"
            audit.record(client.pk, action, by=by, subject=_named(user))
            if is_disabled:
                _release_chats(user)
    return user


def set_role(client: Client, *, user_id: int, role: str, by: User) -> User:
    """Give a person another role. His access tokens end; a refresh brings one of the new role.

    The chats of one who may only read from now on go back to the queue by a job.
    """
    _check_may_give(by, role)
    with transaction.atomic():
        user = hold(client, user_id=user_id, by=by, stays_owner=role == Role.OWNER)
        if user.role != role:
            changes = {"role": [user.role, role]}
            user.role = role
            _save(user, "role")
            audit.record(
                client.pk, "user.role_changed", by=by, subject=_named(user), changes=changes
            )
            if role == Role.VIEWER:
                _release_chats(user)
    return user


def reset_password(client: Client, *, user_id: int, password: str, by: User) -> None:
    """Set a person's password for him; whoever is signed in as him is signed out."""
    encoded = passwords.encode(password)
    with transaction.atomic():
        user = hold(client, user_id=user_id, by=by)
        passwords.store(user, encoded, by=by)


def hold(client: Client, *, user_id: int, by: User, stays_owner: bool = True) -> User:
    """The person to be changed, held with every owner until the change is done; or a refusal.

    Always in the same order: two owners who change each other wait for one another, and the
    second sees what the first did.
    """
    asked = User.objects.for_client(client).filter(pk=user_id).first()
    if asked is None:
        raise NotFound
    _check_may_change(by, asked)
    rows = User.objects.for_client(client).filter(Q(pk__in=[asked.pk, by.pk]) | Q(role=Role.OWNER))
    held = {row.pk: row for row in rows.order_by("pk").select_for_update(no_key=True)}
    user = held[asked.pk]
    owners = [row for row in held.values() if row.role == Role.OWNER and not row.is_disabled]
    if not stays_owner and owners == [user]:
        raise LastOwner
    # Once more, with the rights that are left now.
    _check_may_change(held.get(by.pk, by), user)
    return user


def _check_may_give(by: User, role: str) -> None:
    if role == Role.OWNER and not _is_above_owners(by):
        raise Forbidden("Only an owner may make an owner.")


def _check_may_change(by: User, user: User) -> None:
    if user.role == Role.OWNER and not _is_above_owners(by):
        raise Forbidden("Only an owner may change an owner.")
    if by.is_disabled or not (by.is_admin or by.is_superuser):
        raise Forbidden("Only an owner or admin may do this.")


def _is_above_owners(user: User) -> bool:
    """An owner, or platform staff in the admin site."""
    return user.role == Role.OWNER or user.is_superuser


def _save(user: User, field: str) -> None:
    """Write one field of a held row, and end the access tokens that were given before."""
    user.token_version += 1
    user.save(update_fields=[field, "token_version"])


def _release_chats(user: User) -> None:
    """He may have no chats any more: those that he has go back to the others."""
    enqueue("chats.release_agent", client_id=user.client_id, user_id=user.pk)


def _greet(user: User, *, invited: bool) -> None:
    if invited:
        enqueue("identity.send_invitation", client_id=user.client_id, user_id=user.pk)
    else:
        mails.send_to(user, "welcome", {"company": str(user.client)})


def _named(user: User) -> str:
    return f"user:{user.pk}"
