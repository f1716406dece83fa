"""Sign-ins to the site: Django sessions, stored with a reference to their person.

The settings name this module as the session engine, so the store is called `SessionStore`.
"""

import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, login, logout
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from chatplatform.api.request_context import current_address
from chatplatform.crypto import hash_secret
from chatplatform.ids import uuid7
from identity.models import RefreshToken, SiteSession, User
from identity.services import audit, logins, tokens

_BEGAN, _AWAITED, _TOKEN_FAMILY = "began", "awaited", "token_family"
# Seconds within which the code of the second factor must follow a right password.
_AWAITS_SECONDS = 600
# Marks in the header User-Agent, and the usual names; the first match counts.
_BROWSERS = {
    "Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows",
    "Mac OS X": "macOS", "Linux": "Linux",
}  # fmt: skip


class SessionStore(DatabaseStore):
    """Rows of `SiteSession`."""

    # Whether a script made this request by itself, which must not prolong the sign-in.
    is_unattended = False

    @classmethod
    def get_model_class(cls) -> type[SiteSession]:
        return SiteSession

    def _get_session_from_db(self) -> SiteSession | None:
        key = SiteSession.key_of(self.session_key)
        row = SiteSession.objects.filter(pk=key, expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
        return row

    def exists(self, session_key: str) -> bool:
        return SiteSession.objects.filter(pk=SiteSession.key_of(session_key)).exists()

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row: Any = super().create_model_instance(data)
        row.session_key = SiteSession.key_of(row.session_key)
        row.user_id, row.token_family = data.get(SESSION_KEY), data.get(_TOKEN_FAMILY)
        return row

    def save(self, must_create: bool = False) -> None:  # noqa: FBT001, FBT002 - Django's
        """Save and so prolong the session, unless the request is unattended and changed nothing."""
        if must_create or self.modified or not self.is_unattended:
            super().save(must_create)

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session; an impersonation in it ends and is recorded."""
        key = SiteSession.key_of(session_key or self.session_key)
        tokens.end_sessions(SiteSession.objects.filter(pk=key))


def await_code(request: HttpRequest, user: User, *, then: str) -> None:
    """Remember that a person's password was right, that the second factor's code must follow, and
    the address to open `then`."""
    request.session.flush()
    request.session[_AWAITED] = [user.pk, user.token_version, time.time(), then]


def awaited(request: HttpRequest) -> tuple[User, str] | None:
    """The person whose code is awaited and the address to open then; None after ten minutes."""
    user_id, token_version, since, then = request.session.get(_AWAITED, (0, 0, 0, ""))
    if time.time() - since > _AWAITS_SECONDS:
        return None
    rows = User.objects.select_related("client")
    user = rows.filter(pk=user_id, token_version=token_version).first()
    return (user, then) if user and user.is_active else None


def begin(request: HttpRequest, user: User) -> None:
    """Sign in a person whose identity was checked; 401 if their password changed since."""
    with transaction.atomic():
        logins.begin(user)
        login(request, user)
        request.session.pop(_AWAITED, None)
        request.session[_BEGAN] = {
            "at": timezone.now().isoformat(),
            "address": current_address(),
            "browser": request.headers.get("User-Agent", "")[:200],
        }
        request.session[_TOKEN_FAMILY] = str(uuid7())
        request.session.save()


def access_token(request: HttpRequest, user: User) -> str:
    """An API access token for a person who is signed in to the site; it ends with the session."""
    return tokens.access_token(user, family=uuid.UUID(request.session[_TOKEN_FAMILY]))


def family_of(request: HttpRequest) -> uuid.UUID | None:
    """The family of the tokens of the request's sign-in; None if it can have none."""
    family = request.session.get(_TOKEN_FAMILY)
    return uuid.UUID(family) if family else None


def end(request: HttpRequest, user: User) -> None:
    """Sign a person out of this browser."""
    with transaction.atomic():
        audit.record(user.client_id, "user.signed_out", by=user, subject=f"user:{user.pk}")
        logout(request)


def device_of(user_agent: str) -> str:
    """Browser and system, such as "Firefox, Windows"; empty if both are unknown."""
    found = [
        next((name for sign, name in signs.items() if sign in user_agent), "")
        for signs in (_BROWSERS, _SYSTEMS)
    ]
    return ", ".join(filter(None, found))


@dataclass(frozen=True)
class SignIn:
    """One of a person's sign-ins, to the site or (`is_program`) to the API."""

    id: str
    browser: str
    address: str
    began_at: datetime | None
    used_at: datetime
    is_program: bool = False
    is_current: bool = False

    @property
    def device(self) -> str:
        """Browser and system, such as "Firefox, Windows"."""
        return device_of(self.browser) or self.browser


def list_own(user: User, *, current: str | None) -> list[SignIn]:
    """A person's sign-ins, latest use first; `current` is the key of the request's browser."""
    idle = timedelta(seconds=settings.SESSION_COOKIE_AGE)
    found = []
    for row in SiteSession.objects.filter(user=user, expire_date__gt=timezone.now()):
        began = SessionStore().decode(row.session_data).get(_BEGAN, {})
        found.append(
            SignIn(
                id=hash_secret(row.session_key),
                browser=began.get("browser", ""),
                address=began.get("address", ""),
                began_at=datetime.fromisoformat(began["at"]) if began else None,
                used_at=row.expire_date - idle,
                is_current=row.pk == SiteSession.key_of(current),
            )
        )
    for token in _live_tokens(user):
        found.append(
            SignIn(str(token.family), "", "", None, used_at=token.created_at, is_program=True)
        )
    return sorted(found, key=lambda item: item.used_at, reverse=True)


def end_own(user: User, sign_in: str) -> bool:
    """End one of a person's sign-ins; False if it is not theirs, or has ended."""
    keys = SiteSession.objects.filter(user=user).values_list("session_key", flat=True)
    families = {token.family for token in _live_tokens(user)}
    with transaction.atomic():
        ended = any(
            tokens.end_sessions(SiteSession.objects.filter(pk=key))
            for key in keys
            if hash_secret(key) == sign_in
        ) or any(tokens.revoke_family(family) for family in families if str(family) == sign_in)
        if ended:
            audit.record(user.client_id, "user.signed_out", by=user, subject=f"user:{user.pk}")
    return ended


def _live_tokens(user: User) -> QuerySet[RefreshToken]:
    """The tokens that can still be refreshed: one for each sign-in to the API."""
    return RefreshToken.objects.filter(
        user=user, rotated_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )


def purge_expired() -> None:
    """Delete sessions that have expired."""
    tokens.end_sessions(SiteSession.objects.filter(expire_date__lt=timezone.now()))
