"""Sign-ins to the site, which are Django sessions stored with a reference to their user.

This module is the SESSION_ENGINE, so the store must be called `SessionStore`.
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
# The number of seconds in which a person must enter the code of the second factor after the right
# password.
_CODE_SECONDS = 600
# Parts of the `User-Agent` header, and the usual names for them. The first match counts.
_BROWSERS = {
    "Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows",
    "Mac OS X": "macOS", "Linux": "Linux",
}  # fmt: skip


class SessionStore(DatabaseStore):
    """Stores sessions as rows of `SiteSession`."""

    # Whether a script sent this request while nobody used the page. Such a request must not prolong
    # the sign-in.
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
        """Save the session, which prolongs it. An unattended request that changed nothing is not
        saved."""
        if must_create or self.modified or not self.is_unattended:
            super().save(must_create)

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session. If it has an impersonation, that ends too, and its end is
        recorded."""
        key = SiteSession.key_of(session_key or self.session_key)
        tokens.end_sessions(SiteSession.objects.filter(pk=key))


def await_code(request: HttpRequest, user: User, *, then: str) -> None:
    """Remember in the session that a person's password was right and that a code must follow.
    `then` is the URL to open after the code."""
    request.session.flush()
    request.session[_AWAITED] = [user.pk, user.token_version, time.time(), then]


def awaited(request: HttpRequest) -> tuple[User, str] | None:
    """The person whose code is awaited, and the URL to open after the code. None if no code is
    awaited, after ten minutes, or if the person was disabled or their access tokens were
    invalidated."""
    user_id, token_version, began_at, then = request.session.get(_AWAITED, (0, 0, 0, ""))
    if time.time() - began_at > _CODE_SECONDS:
        return None
    rows = User.objects.select_related("client")
    user = rows.filter(pk=user_id, token_version=token_version).first()
    return (user, then) if user and user.is_active else None


def begin(request: HttpRequest, user: User) -> None:
    """Sign in a person whose identity was checked. 401 if the person was disabled or their access
    tokens were invalidated since the check."""
    with transaction.atomic():
        logins.record_sign_in(user)
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
    """An API access token for a person who is signed in to the site. It becomes invalid when the
    session ends."""
    return tokens.access_token(user, family=uuid.UUID(request.session[_TOKEN_FAMILY]))


def family_of(request: HttpRequest) -> uuid.UUID | None:
    """The token family of the request's session; None if the session has none."""
    family = request.session.get(_TOKEN_FAMILY)
    return uuid.UUID(family) if family else None


def end(request: HttpRequest, user: User) -> None:
    """Sign a person out of this browser."""
    with transaction.atomic():
        audit.record(user.client_id, "user.signed_out", by=user, subject=f"user:{user.pk}")
        logout(request)


def device_of(user_agent: str) -> str:
    """The browser and the operating system, such as "Firefox, Windows"; empty if both are
    unknown."""
    names = [
        next((name for part, name in known.items() if part in user_agent), "")
        for known in (_BROWSERS, _SYSTEMS)
    ]
    return ", ".join(filter(None, names))


@dataclass(frozen=True)
class SignIn:
    """One of a person's sign-ins: to the API if `is_program` is set, otherwise to the site."""

    id: str
    browser: str
    address: str
    began_at: datetime | None
    used_at: datetime
    is_program: bool = False
    is_current: bool = False

    @property
    def device(self) -> str:
        """The browser and the operating system, such as "Firefox, Windows". If both are unknown,
        the whole `User-Agent` header."""
        return device_of(self.browser) or self.browser


def list_own(user: User, *, current: str | None) -> list[SignIn]:
    """A person's sign-ins, most recently used first; `current` is the request's session key."""
    idle = timedelta(seconds=settings.SESSION_COOKIE_AGE)
    sign_ins = []
    for row in SiteSession.objects.filter(user=user, expire_date__gt=timezone.now()):
        began = SessionStore().decode(row.session_data).get(_BEGAN, {})
        sign_ins.append(
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
        sign_ins.append(
            SignIn(str(token.family), "", "", None, used_at=token.created_at, is_program=True)
        )
    return sorted(sign_ins, key=lambda item: item.used_at, reverse=True)


def end_own(user: User, sign_in: str) -> bool:
    """End one of a person's own sign-ins; False if the person does not have that sign-in."""
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
    """The person's refresh tokens that can still be used. There is one for each sign-in to the
    API."""
    return RefreshToken.objects.filter(
        user=user, rotated_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )


def purge_expired() -> None:
    """Delete sessions that have expired."""
    tokens.end_sessions(SiteSession.objects.filter(expire_date__lt=timezone.now()))
