"""Access and refresh tokens, the sign-ins that they belong to, and one-time tickets."""

import logging
import secrets
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.tokens import AccessToken

from chatplatform.api.errors import ApiError, NotAuthenticated
from chatplatform.crypto import hash_secret
from chatplatform.ids import uuid7
from chatplatform.live import pubsub
from chatplatform.sql import Columns, fetch_row
from identity.models import Client, RefreshToken, SiteSession, User
from identity.schemas.tokens import TokenResponse
from identity.services import audit, impersonation
from identity.services.move_freeze import ensure_not_frozen

log = logging.getLogger(__name__)
_NOT_VALID = "The refresh token is no longer valid. Sign in again."
# An access token's user id, token version and token family.
Claims = tuple[int, int, uuid.UUID]
TICKET_SECONDS = 60
# The scopes that a sign-in can request besides the rights of the role.
SCOPES = {"mcp:write"}

_USER, _CLIENT = Columns(User), Columns(Client)
# Runs in every API request of a person.
_USER_OF_SESSION = f"""
SELECT {_USER.column_list("person")}, {_CLIENT.column_list("client")}
FROM identity_user person JOIN identity_client client ON client.id = person.client_id
WHERE person.id = %(user)s AND person.token_version = %(version)s
  AND NOT person.is_disabled AND NOT client.is_disabled
  AND (EXISTS (SELECT FROM identity_refreshtoken token
               WHERE token.user_id = person.id AND token.family = %(family)s
                 AND token.revoked_at IS NULL)
       OR EXISTS (SELECT FROM identity_sitesession session
                  WHERE session.user_id = person.id AND session.token_family = %(family)s))
"""


class OAuthError(ApiError):
    """A refused request for tokens. The response has the error fields of RFC 6749 besides those of
    this API."""

    more: ClassVar = {
        "error": (str, "The same as `code`."),
        "error_description": (str, "The same sentence as `detail`."),
    }

    def __init__(self, detail: str) -> None:
        super().__init__(detail, error=self.code, error_description=detail)


class InvalidGrant(OAuthError, NotAuthenticated):
    """A password, a code of the second factor or a refresh token that is wrong, expired or used."""

    code = "invalid_grant"


def issue(user: User, *, scope: str = "") -> TokenResponse:
    """The tokens of a new sign-in. `scope` contains the requested scopes; those in `SCOPES` are
    granted."""
    granted = sorted(SCOPES & set(scope.split()))
    return _issue(user, family=uuid7(), granted=granted, scopes=granted)


def _issue(
    user: User, *, family: uuid.UUID, granted: Sequence[str], scopes: Sequence[str]
) -> TokenResponse:
    """An access token with `scopes`, and a refresh token with `granted`, all scopes of the
    sign-in."""
    assert user.client_id, "platform staff use the admin site"
    refresh_token = secrets.token_urlsafe(48)
    RefreshToken.objects.create(
        client_id=user.client_id,
        user=user,
        family=family,
        token_hash=hash_secret(refresh_token),
        scope=" ".join(granted),
        expires_at=timezone.now() + settings.REFRESH_TOKEN_LIFETIME,
    )
    return TokenResponse(
        access_token=access_token(user, family=family, scopes=scopes),
        token_type="bearer",
        expires_in=int(settings.ACCESS_TOKEN_LIFETIME.total_seconds()),
        refresh_token=refresh_token,
        scope=" ".join([user.role, *scopes]),
    )


def access_token(user: User, *, family: uuid.UUID, scopes: Sequence[str] = ()) -> str:
    """A new access token of a sign-in to the API or to the site."""
    token: Any = AccessToken()
    token["user_id"] = str(user.pk)
    token["tv"] = user.token_version
    token["sid"] = str(family)
    if scopes:
        token["scope"] = " ".join(scopes)
    # A host whose clock is behind would refuse the token as issued in the future.
    del token["iat"]
    return str(token)


def find_user(access_token: str) -> User | None:
    """The user of an access token, with the client; None if the token is invalid or its sign-in
    has ended."""
    claims = parse_claims(access_token)
    return find_user_by_claims(claims) if claims else None


def find_user_by_claims(claims: Claims) -> User | None:
    """The user of a token with these claims, with the client; None if the token's sign-in has
    ended. Takes one query."""
    user_id, token_version, family = claims
    row = fetch_row(_USER_OF_SESSION, {"user": user_id, "version": token_version, "family": family})
    if row is None:
        return None
    user = _USER.row(row[: len(_USER)])
    user.client = _CLIENT.row(row[len(_USER) :])
    return user


def rotate(refresh_token: str, *, scope: str = "") -> TokenResponse:
    """Exchange a refresh token for a new pair of tokens. The access token has all scopes of the
    sign-in or, if `scope` is not empty, only those in `scope`. If a refresh token is used twice,
    its sign-in ends."""
    row = RefreshToken.objects.filter(token_hash=hash_secret(refresh_token)).first()
    if row is None or row.revoked_at or row.expires_at <= timezone.now():
        raise InvalidGrant(_NOT_VALID)
    with transaction.atomic():
        user = lock_user(row.user_id)
        if not user.is_active:
            raise InvalidGrant(_NOT_VALID)
        ensure_not_frozen(user.client)
        # Only one of two concurrent requests counts as the first use.
        unused = RefreshToken.objects.filter(pk=row.pk, rotated_at=None, revoked_at=None)
        if unused.update(rotated_at=timezone.now()):
            granted, requested = row.scope.split(), scope.split()
            scopes = [name for name in granted if not requested or name in requested]
            return _issue(user, family=row.family, granted=granted, scopes=scopes)
        # Only the first of several further uses is recorded.
        if revoke_family(row.family):
            log.warning("refresh token %s was used twice: its family is revoked", row.pk)
            subject = f"user:{row.user_id}"
            audit.record(row.client_id, "refresh_token.reused", by=None, subject=subject)
    raise InvalidGrant("The refresh token was already used. Sign in again.")


def lock_user(user_id: int) -> User:
    """Read and lock the user's row, so that a concurrent `revoke_all` waits, and then also revokes
    the tokens issued in the meantime."""
    rows = User.objects.select_for_update(no_key=True, of=("self",)).select_related("client")
    return rows.get(pk=user_id)


def revoke(token: str, *, by: User) -> None:
    """Sign out: end the sign-in of this person's access or refresh token, with all its tokens. Any
    other token is ignored."""
    user_id, family = _find_sign_in(token) or (None, None)
    if family is None or user_id != by.pk:
        return
    assert by.client_id
    with transaction.atomic():
        revoke_family(family)
        audit.record(by.client_id, "user.signed_out", by=by, subject=f"user:{by.pk}")


def find_user_by_token(token: str) -> User | None:
    """The user of an access or refresh token, with the client; None if the token is unknown or its
    sign-in has ended."""
    sign_in = _find_sign_in(token)
    user = User.objects.filter(pk=sign_in[0]).first() if sign_in else None
    if sign_in is None or user is None:
        return None
    return find_user_by_claims((user.pk, user.token_version, sign_in[1]))


def _find_sign_in(token: str) -> tuple[int, uuid.UUID] | None:
    """The user's id and the family of an access or refresh token; None for any other text."""
    if claims := parse_claims(token):
        return claims[0], claims[2]
    rows = RefreshToken.objects.filter(token_hash=hash_secret(token))
    return rows.values_list("user_id", "family").first()


def revoke_family(family: uuid.UUID) -> int:
    """End one sign-in with all its tokens. Returns the number of revoked refresh tokens."""
    end_sessions(SiteSession.objects.filter(token_family=family))
    live = RefreshToken.objects.filter(family=family, revoked_at=None)
    return live.update(revoked_at=timezone.now())


def revoke_all(user: User) -> None:
    """End every sign-in of a user, to the API and to the site. The caller must have locked the
    user's row."""
    end_sessions(SiteSession.objects.filter(user=user))
    RefreshToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


def revoke_others(user: User, *, keep: uuid.UUID | None) -> None:
    """End every sign-in of a user except the one with the token family `keep`. If `keep` is None,
    only sessions without a token family are kept."""
    end_sessions(SiteSession.objects.filter(user=user).exclude(token_family=keep))
    others = RefreshToken.objects.filter(user=user, revoked_at=None)
    if keep:
        others = others.exclude(family=keep)
    others.update(revoked_at=timezone.now())


def end_sessions(rows: QuerySet[SiteSession]) -> int:
    """End sign-ins to the site and their impersonations. Returns the number of ended sign-ins."""
    with transaction.atomic():
        impersonation.end(rows)
        return rows.delete()[0]


def parse_claims(access_token: str) -> Claims | None:
    """The claims of an access token; None if it was not issued here or has expired."""
    try:
        token: Any = AccessToken(access_token)  # type: ignore[arg-type]
        return int(token["user_id"]), int(token["tv"]), uuid.UUID(token["sid"])
    except (TokenError, KeyError, ValueError, TypeError, AttributeError):
        return None


def scopes_of(access_token: str) -> frozenset[str]:
    """The scopes in an access token; empty if it has none or is invalid."""
    try:
        token: Any = AccessToken(access_token)  # type: ignore[arg-type]
        return frozenset(str(token.get("scope", "")).split())
    except TokenError:
        return frozenset()


def sign_in_of(access_token: str) -> uuid.UUID:
    """The token family of an access token, which identifies its sign-in; 401 if the token is
    invalid."""
    claims = parse_claims(access_token)
    if claims is None:
        raise NotAuthenticated
    return claims[2]


def make_ticket(access_token: str) -> str:
    """Create a ticket: it replaces a valid access token in one URL within a minute, since a
    browser's EventSource cannot send headers. Valkey stores only the token's claims; 503 if it is
    unavailable."""
    ticket = secrets.token_urlsafe(32)
    claims = parse_claims(access_token)
    pubsub.store(_ticket_name(ticket), orjson.dumps(claims), seconds=TICKET_SECONDS)
    return ticket


def redeem_ticket(ticket: str) -> Claims | None:
    """The claims of a ticket; None if it is unknown, used or expired."""
    stored = pubsub.pop(_ticket_name(ticket))
    if stored is None:
        return None
    user_id, token_version, family = orjson.loads(stored)
    return user_id, token_version, uuid.UUID(family)


def _ticket_name(ticket: str) -> str:
    return f"ticket:{hash_secret(ticket)}"


def purge_expired() -> None:
    """Delete refresh tokens that expired longer ago than the lifetime of an access token: until
    then, access tokens of their family are valid only if they exist."""
    RefreshToken.objects.filter(
        expires_at__lt=timezone.now() - settings.ACCESS_TOKEN_LIFETIME
    ).delete()
