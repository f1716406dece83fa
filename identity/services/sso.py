"""Sign-in at a client's OpenID provider: redirects people there, and signs them in when they return
(docs/decisions/0022)."""

import hmac
import logging
import secrets
import time
from collections.abc import Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_noop
from pydantic import ValidationError

from chatplatform.api.errors import ApiError, Forbidden, TooManyRequests
from chatplatform.api.outgoing_call_limits import OUTGOING_CALLS
from identity.models import AttemptKind, ProviderAccount, Role, SignInProvider, User
from identity.schemas.users import UserDto
from identity.services import attempts, audit, mails, openid, users

log = logging.getLogger(__name__)
_FLOW = "provider_flow"
# How long a person may take at the provider, in seconds.
_FLOW_SECONDS = 600
# The maximum number of concurrent calls to a client's provider, since anyone can cause calls with
# the client's sign-in link.
_MAX_CONCURRENT_CALLS = 3


class ProviderSignInFailed(ApiError):
    code, status = "provider_sign_in_failed", 400
    detail = gettext_noop(
        "The sign-in failed at your company's provider. Start again from your sign-in link. If it"
        " keeps failing, contact an owner or admin of your company."
    )


class NotAdmitted(Forbidden):
    code = "not_admitted"
    detail = gettext_noop("You don't have an account here. Ask an owner or admin of your company.")


def start(session: MutableMapping[str, Any], row: SignInProvider, *, address: str) -> str:
    """Begin a sign-in, and return the URL at the provider where the person signs in. The provider's
    response is accepted once, in this session only."""
    attempts.start(AttemptKind.PROVIDER, address=address)
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    try:
        with _bulkhead(row):
            url = openid.authorization_url(row, state=state, nonce=nonce, verifier=verifier)
    except openid.ProviderFault as exc:
        raise _failed(row, exc) from exc
    session[_FLOW] = [str(row.pk), state, nonce, verifier, time.time()]
    return url


def is_pending(session: MutableMapping[str, Any]) -> bool:
    """Whether a sign-in has begun in this session and is not finished yet."""
    return _FLOW in session


def finish(session: MutableMapping[str, Any], response: Mapping[str, str]) -> User:
    """Finish a sign-in with the provider's response, and return the person. 400 if the response is
    invalid, or if the sign-in did not begin in this session in the last ten minutes; 403 if the
    person may not sign in here; 429 if too many calls to the provider are running."""
    row_id, state, nonce, verifier, started_at = flow = session.pop(_FLOW, ("", "", "", "", 0))
    given = response.get("state", "")
    is_same = state and hmac.compare_digest(state.encode(), given.encode())
    if not is_same or time.time() - started_at > _FLOW_SECONDS:
        raise ProviderSignInFailed
    row = SignInProvider.objects.select_related("client").filter(pk=row_id).first()
    if row is None:
        raise ProviderSignInFailed
    try:
        # RFC 9207: another provider's response must not be accepted as this provider's.
        if response.get("iss", row.issuer) != row.issuer:
            raise openid.ProviderFault("the response is from another issuer")
        if "code" not in response:
            raise openid.ProviderFault(f"it answered {response.get('error', 'nothing')[:100]!r}")
        with _bulkhead(row):
            token = openid.exchange(row, code=response["code"], verifier=verifier)
            claims = openid.verify(row, token, nonce=nonce)
    except TooManyRequests:
        session[_FLOW] = flow  # no code was sent yet, so the person may reload the page
        raise
    except openid.ProviderFault as exc:
        raise _failed(row, exc) from exc
    return _person(row, claims)


def _bulkhead(row: SignInProvider) -> AbstractContextManager[None]:
    """A context manager for calls to the provider; 429 if three such calls for the client are
    running."""
    return OUTGOING_CALLS.admit({f"sign-in:{row.client_id}": _MAX_CONCURRENT_CALLS})


def _failed(row: SignInProvider, fault: openid.ProviderFault) -> ProviderSignInFailed:
    log.warning("sign-in at the provider of client %s failed: %s", row.client_id, fault)
    return ProviderSignInFailed()


def _person(row: SignInProvider, claims: dict[str, Any]) -> User:
    """The client's person with these claims, found by `sub` or, at the first sign-in, by the
    verified address. Somebody without an account becomes an agent if the client allows it;
    otherwise 403."""
    accounts = ProviderAccount.objects.for_client(row.client).filter(issuer=row.issuer)
    known = accounts.filter(subject=claims["sub"]).select_related("user__client").first()
    if known:
        return _admitted(row, known.user)
    email = _verified_address(row, claims)
    people = User.objects.for_client(row.client).select_related("client")
    existing = people.filter(email=email).first()
    user = existing or _new_agent(row, email, claims)
    _admitted(row, user)
    with transaction.atomic():
        account, is_new = ProviderAccount.objects.get_or_create(
            client=row.client, issuer=row.issuer, user=user, defaults={"subject": claims["sub"]}
        )
        if account.subject != claims["sub"]:
            # The new owner of an email address must not get into the previous owner's account.
            raise NotAdmitted
        if is_new:
            audit.record(row.client_id, "user.provider_linked", by=user,
                         subject=f"user:{user.pk}", changes={"issuer": row.issuer})  # fmt: skip
        if is_new and existing and mails.is_enabled():
            # The admin who set up the provider could sign in as a colleague, so people are
            # notified.
            context = {"company": str(row.client), "provider": row.issuer}
            mails.send_to(user, "provider_linked", context)
    return user


def _admitted(row: SignInProvider, user: User) -> User:
    if not user.is_active or (user.role == Role.OWNER and not row.admits_owners):
        raise NotAdmitted
    return user


def _verified_address(row: SignInProvider, claims: dict[str, Any]) -> str:
    email = claims.get("email")
    if not isinstance(email, str) or claims.get("email_verified") is not True:
        raise NotAdmitted
    if email.lower().rpartition("@")[2] not in row.email_domains:
        raise NotAdmitted
    return email.lower()


def _new_agent(row: SignInProvider, email: str, claims: dict[str, Any]) -> User:
    """Create an agent; 403 unless the client allows it for people from the provider."""
    if not row.creates_agents:
        raise NotAdmitted
    name = claims.get("name")
    is_name = isinstance(name, str) and name.strip() and name.isprintable()
    try:
        person = UserDto(
            email=email, full_name=str(name)[:200] if is_name else email.partition("@")[0]
        )
        return users.create(
            row.client,
            email=person.email,
            full_name=person.full_name,
            role=Role.AGENT,
            language=row.client.default_language,
            password=None,
            by=None,
        )
    except (ValidationError, users.EmailTaken) as exc:
        raise NotAdmitted from exc
