"""Authentication: the caller of a request, the kinds of access that operations declare, the site's
authentication backend, and the password hasher."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.http import HttpRequest

from chatplatform.api import cors, rate_limits
from chatplatform.api.errors import Forbidden, NotAuthenticated
from chatplatform.api.operation import Access, OperationViewSet
from chatplatform.api.rate_limits import Quota, counted_address, scaled
from chatplatform.api.request_context import current_address
from identity.models import ApiKey, Client, KeyScope, Role, User
from identity.services import api_keys, logins, tokens, visitor_tokens
from identity.services.bot_hooks import bots
from identity.services.move_freeze import ensure_not_frozen

MAX_PASSWORD_CHARACTERS = 128
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class Principal:
    """The caller of a request: a client's user or API key. A caller with a public key may also be a
    known visitor."""

    client: Client
    user: User | None = None
    key: ApiKey | None = None
    # The id in the visitor token sent with a public key; None if none was sent.
    visitor_id: int | None = None
    client_id: int = field(init=False)
    is_public_key: bool = field(init=False)

    def __post_init__(self) -> None:
        is_public_key = self.key is not None and self.key.scope == KeyScope.PUBLIC
        object.__setattr__(self, "client_id", self.client.pk)
        object.__setattr__(self, "is_public_key", is_public_key)

    @property
    def is_anonymous_visitor(self) -> bool:
        """Whether the caller has a public key and no visitor token."""
        return self.is_public_key and self.visitor_id is None

    @property
    def rights(self) -> tuple[str, ...]:
        """The rights that `Access` checks. For a person, the role, and `trainer` if they have
        `can_train`. For a key, `secret key` or `public key`."""
        if self.key:
            return (f"{self.key.scope} key",)
        assert self.user
        return (self.user.role, "trainer") if self.user.can_train else (self.user.role,)

    def quotas(self, address: str, *, costs_credits: bool) -> tuple[Quota, ...]:
        """The request limits that apply to the caller.

        A person or a secret key has one limit. A public key also has a limit for each IP address
        and, if the request costs credits, limits on replies. For a visitor with a token whose
        request costs no credits, a limit for the visitor and a higher limit for the address apply
        instead, so that many visitors can share an address.
        """
        factor = self.client.rate_limit_factor
        if self.key is None:
            return (Quota("person", str(self), scaled(rate_limits.PERSON, factor)),)
        base = rate_limits.PUBLIC_KEY if self.is_public_key else rate_limits.SECRET_KEY
        usual = scaled(base, factor)
        key_limit = min(usual, self.key.requests_per_minute or usual)
        key_quota = Quota("key", str(self.key.pk), key_limit)
        if not self.is_public_key:
            return (key_quota,)
        key_and_address = f"{self.key.pk}:{counted_address(address)}"
        if self.visitor_id is not None and not costs_credits:
            visitor_limit = scaled(rate_limits.VISITOR, factor)
            address_limit = min(scaled(rate_limits.ADDRESS_VISITORS, factor), key_quota.amount)
            return (
                Quota("visitor", str(self), visitor_limit),
                Quota("address_visitors", key_and_address, address_limit),
                key_quota,
            )
        address_limit = min(scaled(rate_limits.PUBLIC_KEY_AND_ADDRESS, factor), key_quota.amount)
        quotas = (Quota("page", key_and_address, address_limit), key_quota)
        return (*self._reply_quotas(key_and_address), *quotas) if costs_credits else quotas

    def _reply_quotas(self, key_and_address: str) -> tuple[Quota, ...]:
        """The limits on requests with a public key that may cause a reply."""
        factor = self.client.rate_limit_factor
        address_limit = scaled(rate_limits.ADDRESS_REPLIES, factor)
        address_quota = Quota("visitors", key_and_address, address_limit)
        if self.visitor_id is None:
            newcomers = scaled(rate_limits.NEWCOMERS, factor)
            return (Quota("newcomers", key_and_address, newcomers), address_quota)
        burst = scaled(rate_limits.VISITORS_BURST, factor)
        return (
            Quota("replies", str(self), scaled(rate_limits.VISITORS_REPLIES, factor)),
            Quota("burst", str(self), burst, rate_limits.BURST_SECONDS),
            address_quota,
        )

    def __str__(self) -> str:
        if self.key:
            visitor = f":visitor:{self.visitor_id}" if self.visitor_id else ""
            return f"key:{self.key.pk}{visitor}"
        return f"user:{self.user.pk if self.user else None}"


class TenantViewSet(OperationViewSet):
    """A viewset that knows the request's caller, and the caller's `client`, `user` and `key`."""

    # Unset in operations that anyone may call.
    caller: Principal

    @property
    def client(self) -> Client:
        return self.caller.client

    @property
    def user(self) -> User:
        assert self.caller.user, "this operation admits keys too"
        return self.caller.user

    @property
    def key(self) -> ApiKey:
        assert self.caller.key, "this operation admits people too"
        return self.caller.key


class Argon2(Argon2PasswordHasher):
    """Argon2id with two passes over 48 MiB in one lane, which takes about 80 ms on one core. With
    Django's defaults, a few simultaneous sign-ins would use up a small machine's cores and
    memory."""

    time_cost = 2
    memory_cost = 49_152  # KiB
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        if len(password) > MAX_PASSWORD_CHARACTERS:
            raise ValueError(f"A password has at most {MAX_PASSWORD_CHARACTERS} characters.")
        return str(super().encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        return len(password) <= MAX_PASSWORD_CHARACTERS and bool(super().verify(password, encoded))


class SiteBackend(ModelBackend):
    """Checks passwords for the site. Failed sign-ins to the site and to the API count against the
    same limit."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **_: Any,
    ) -> User | None:
        if not username or not password or len(password) > MAX_PASSWORD_CHARACTERS:
            return None
        return logins.authenticate(
            email=username, password=password, address=current_address(), admits_staff=True
        )

    def get_user(self, user_id: int) -> User | None:
        user = User.objects.select_related("client").filter(pk=user_id).first()
        return user if user and user.is_active else None


class MissingApiKey(NotAuthenticated):
    """The request has no API key."""

    detail = "Send the header API-KEY."
    headers: ClassVar[dict[str, str]] = {"WWW-Authenticate": "API-KEY"}


class InvalidApiKey(NotAuthenticated):
    """The key is unknown, wrong, expired or revoked, or belongs to a disabled client."""

    detail = "Invalid API key"
    headers: ClassVar[dict[str, str]] = {"WWW-Authenticate": "API-KEY"}


class InvalidVisitorToken(NotAuthenticated):
    code = "invalid_visitor_token"
    detail = "This Visitor-Token is no longer valid. Leave it out to start as a new visitor."
    headers: ClassVar[dict[str, str]] = {"WWW-Authenticate": "API-KEY"}


def bearer_token(request: HttpRequest) -> str:
    """The text after `Authorization: Bearer`; empty if there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _principal(user: User) -> Principal:
    assert user.client, "only users of a client have access tokens"
    ensure_not_frozen(user.client)
    return Principal(user.client, user=user)


def _person(request: HttpRequest) -> Principal | None:
    """The person to whom the access token belongs; None if there is no token. Raises a 401 if the
    token is invalid, or a 503 if the client is frozen."""
    token = bearer_token(request)
    if not token:
        return None
    user = tokens.find_user(token)
    if user is None:
        raise NotAuthenticated("Could not validate credentials")
    return _principal(user)


def _person_or_ticket(request: HttpRequest) -> Principal | None:
    ticket = request.GET.get("ticket")
    if ticket is None:
        return _person(request)
    claims = tokens.redeem_ticket(ticket)
    user = tokens.find_user_by_claims(claims) if claims else None
    if claims is None or user is None:
        raise NotAuthenticated("This ticket has expired or was already used. Request a new one.")
    request.claims = claims  # type: ignore[attr-defined]
    return _principal(user)


def _person_or_token_in_form(request: HttpRequest) -> Principal | None:
    token = request.POST.get("token") if "Authorization" not in request.headers else None
    if not token:
        return _person(request)
    user = tokens.find_user_by_token(token)
    return _principal(user) if user else None


def session_check(request: HttpRequest) -> Callable[[], bool]:
    """Return a function that checks whether the request's sign-in is still valid and the client is
    not frozen. Streams call the function periodically."""
    claims = getattr(request, "claims", None) or tokens.parse_claims(bearer_token(request))

    def is_still_admitted() -> bool:
        user = tokens.find_user_by_claims(claims) if claims else None
        return bool(user and user.client and not user.client.frozen_at)

    return is_still_admitted


def _api_key(request: HttpRequest) -> Principal | None:
    """The caller with the key in the `API-KEY` header; None if there is no header. Raises a 401 if
    the key is invalid, or a 503 if the client is frozen.

    Raises a 403 if a website that the bot does not allow sends a public key. This check does not
    prove who the caller is: our own widget may send any public key, and so may programs, which need
    not send an `Origin`.
    """
    presented = request.headers.get("API-KEY")
    if not presented:
        return None
    key = api_keys.get_valid(presented)
    if key is None:
        raise InvalidApiKey
    ensure_not_frozen(key.client)
    origin = request.headers.get("Origin")
    # The widget's Content-Security-Policy limits which pages may embed it.
    is_own = origin is not None and origin.partition("://")[2] == request.get_host()
    if key.scope == KeyScope.PUBLIC and origin is not None and not is_own:
        if not (key.bot_id and origin_matches(origin, bots().allowed_hosts(key.bot_id))):
            raise Forbidden("This key can't be used from this page.")
        cors.grant(request, origin)
    return Principal(key.client, key=key)


def _visitor_or_key(request: HttpRequest) -> Principal | None:
    """The caller with the API key and, for a public key, the visitor whom the `Visitor-Token`
    identifies; None if there is no key. Raises a 401 if the key or the token is invalid."""
    principal = _api_key(request)
    token = request.headers.get(visitor_tokens.HEADER)
    if principal is None or principal.key is None or token is None or not principal.is_public_key:
        return principal
    visitor_id = visitor_tokens.read(token, bot_id=principal.key.bot_id)
    if visitor_id is None:
        raise InvalidVisitorToken
    return replace(principal, visitor_id=visitor_id)


def _person_or(
    find_key: Callable[[HttpRequest], Principal | None],
) -> Callable[[HttpRequest], Principal | None]:
    """Return a function that finds the caller: a person by the `Authorization` header, otherwise a
    key by the `API-KEY` header, with `find_key`. Without either header, it returns None."""

    def find(request: HttpRequest) -> Principal | None:
        if "Authorization" in request.headers:
            return _person(request)
        if "API-KEY" in request.headers:
            return find_key(request)
        return None

    return find


def _any_bot_allows(origin: str) -> bool:
    return bots().any_allows(origin)


def origin_matches(origin: str, patterns: Iterable[str]) -> bool:
    """Whether the host of `origin` matches one of the patterns. A pattern that starts with `*.`
    matches every subdomain."""
    host = origin_host(origin)
    hosts = [pattern.lower().strip() for pattern in patterns]
    return host is not None and any(
        host == pattern
        or (pattern.startswith("*.") and host.endswith(pattern[1:]) and len(host) >= len(pattern))
        for pattern in hosts
    )


def origin_host(origin: str) -> str | None:
    """The host name of an `Origin` without the port; None if the origin is invalid or does not use
    https. Plain http is accepted only from the same machine, for development."""
    try:
        parts = urlsplit(origin)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return None
    if not host or parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
    return host if is_safe else None


_ADMINS = (Role.OWNER.value, Role.ADMIN.value)
_AGENTS = (*_ADMINS, Role.AGENT.value)
_VIEWER = (Role.VIEWER.value,)
_SECRET_KEY = ("secret key",)
_KEYS = (*_SECRET_KEY, "public key")

# Work on chats and customers. Viewers may only read.
BEARER = Access(("bearer",), _person, _AGENTS, _VIEWER)
# A person's own account, such as signing out.
BEARER_ANY_ROLE = Access(("bearer",), _person, _AGENTS + _VIEWER)
# To revoke a token (RFC 7009). Without an `Authorization` header, the token in the form is the
# credential.
BEARER_OR_TOKEN_IN_FORM = Access(("bearer",), _person_or_token_in_form, _AGENTS + _VIEWER)
# For streams that a browser opens: EventSource cannot send headers, so the URL has a ticket.
BEARER_OR_TICKET = Access(("bearer",), _person_or_ticket, _AGENTS + _VIEWER)
# The content and behavior of bots.
TRAINER = Access(("bearer",), _person, (*_ADMINS, "trainer"))
# Bots, functions, webhooks, keys, people and settings.
ADMIN = Access(("bearer",), _person, _ADMINS)
API_KEY = Access(("api_key",), _api_key, _KEYS, (), MissingApiKey, _any_bot_allows)
SECRET_KEY = Access(("api_key",), _api_key, _SECRET_KEY, (), MissingApiKey)
# Work on chats and customers, at the desk or by the client's own server.
BEARER_OR_SECRET_KEY = Access(
    ("bearer", "api_key"), _person_or(_api_key), _AGENTS + _SECRET_KEY, _VIEWER
)
# For MCP: people of any role and secret keys. Each tool decides what the caller may do.
ANY_ROLE_OR_SECRET_KEY = Access(
    ("bearer", "api_key"), _person_or(_api_key), _AGENTS + _VIEWER + _SECRET_KEY
)
BEARER_OR_API_KEY = Access(
    ("bearer", "api_key"),
    _person_or(_api_key),
    _AGENTS + _KEYS,
    _VIEWER,
    admits_origin=_any_bot_allows,
)
# A customer's own chats: used by a website's visitor, or by the client's server for a customer.
VISITOR_OR_SECRET_KEY = Access(
    ("api_key",), _visitor_or_key, _KEYS, (), MissingApiKey, _any_bot_allows, takes_visitor=True
)
BEARER_OR_VISITOR = Access(
    ("bearer", "api_key"),
    _person_or(_visitor_or_key),
    _AGENTS + _KEYS,
    _VIEWER,
    admits_origin=_any_bot_allows,
    takes_visitor=True,
)
