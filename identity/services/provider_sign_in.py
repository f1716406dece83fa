"""Sign-in at a client's own OpenID provider: the way there and back (docs/decisions/0022)."""

import hmac
import logging
import secrets
import time
from collections.abc import Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import Any

from django.db import transaction
from pydantic import ValidationError

from chatplatform.api.errors import ApiError, Forbidden, TooManyRequests
from chatplatform.api.outgoing_call_limits import OUTGOING_CALLS
from identity.models import AttemptKind, ProviderAccount, Role, SignInProvider, User
from identity.services import attempts, audit, mails, openid, users
from identity.shapes.users import UserDto

log = logging.getLogger(__name__)
_FLOW = "provider_flow"
# Seconds within which a person must come back from the provider.
_FLOW_SECONDS = 600
# Concurrent calls to the provider of one client, whose link anybody may follow.
_AT_ONCE = 3


class ProviderSignInFailed(ApiError):
    code, status = "provider_sign_in_failed", 400
    detail = (
        "The sign-in failed at your company's provider. Start again from your sign-in link. If it"
        " keeps failing, contact an owner or admin of your company."
    )


class NotAdmitted(Forbidden):
    code = "not_admitted"
    detail = "There's no account here for you. Ask an owner or admin of your company."


def start(session: MutableMapping[str, Any], row: SignInProvider, *, address: str) -> str:
    """The address at which a person signs in. The answer is accepted once, in this session."""
    attempts.start(AttemptKind.PROVIDER, address=address)
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    try:
        with _bulkhead(row):
            url = openid.authorization_url(row, state=state, nonce=nonce, verifier=verifier)
    except openid.ProviderFault as exc:
        raise _failed(row, exc) from exc
    session[_FLOW] = [str(row.pk), state, nonce, verifier, time.time()]
    return url


def is_awaited(session: MutableMapping[str, Any]) -> bool:
    """Whether a sign-in that began in this session may still come back."""
    return _FLOW in session


def finish(session: MutableMapping[str, Any], answer: Mapping[str, str]) -> User:
    """The person who comes back from the provider; 400 if the sign-in did not begin in this
    session, or did so over ten minutes ago."""
    row_id, state, nonce, verifier, since = flow = session.pop(_FLOW, ("", "", "", "", 0))
    is_ours = state and hmac.compare_digest(state.encode(), answer.get("state", "").encode())
    if not is_ours or time.time() - since > _FLOW_SECONDS:
        raise ProviderSignInFailed
    row = SignInProvider.objects.select_related("client").filter(pk=row_id).first()
    if row is None:
        raise ProviderSignInFailed
    try:
        # RFC 9207: another provider's answer must not be taken for this provider's.
        if answer.get("iss", row.issuer) != row.issuer:
            raise openid.ProviderFault("the answer is another issuer's")
        if "code" not in answer:
            raise openid.ProviderFault(f"it answered {answer.get('error', 'nothing')[:100]!r}")
        with _bulkhead(row):
            token = openid.exchange(row, code=answer["code"], verifier=verifier)
            claims = openid.verify(row, token, nonce=nonce)
    except TooManyRequests:
        session[_FLOW] = flow  # nothing was sent yet, so the same page may be requested again
        raise
    except openid.ProviderFault as exc:
        raise _failed(row, exc) from exc
    return _person(row, claims)


def _bulkhead(row: SignInProvider) -> AbstractContextManager[None]:
    """Wraps calls to the provider; 429 if the client already has three at once."""
    return OUTGOING_CALLS.admit({f"sign-in:{row.client_id}": _AT_ONCE})


def _failed(row: SignInProvider, fault: openid.ProviderFault) -> ProviderSignInFailed:
    log.warning("sign-in at the provider of client %s failed: %s", row.client_id, fault)
    return ProviderSignInFailed()


def _person(row: SignInProvider, claims: dict[str, Any]) -> User:
    """The client's person with these claims: found by `sub`, the first time by verified address."""
    of_issuer = ProviderAccount.objects.for_client(row.client).filter(issuer=row.issuer)
    known = of_issuer.filter(subject=claims["sub"]).select_related("user__client").first()
    if known:
        return _admitted(row, known.user)
    email = _verified_address(row, claims)
    people = User.objects.for_client(row.client).select_related("client")
    known_here = people.filter(email=email).first()
    user = known_here or _new_agent(row, email, claims)
    _admitted(row, user)
    with transaction.atomic():
        account, is_new = ProviderAccount.objects.get_or_create(
            client=row.client, issuer=row.issuer, user=user, defaults={"subject": claims["sub"]}
        )
        if account.subject != claims["sub"]:
            # An address that changed hands must not open its previous holder's account.
            raise NotAdmitted
        if is_new:
            audit.record(row.client_id, "user.provider_linked", by=user,
                         subject=f"user:{user.pk}", changes={"issuer": row.issuer})  # fmt: skip
        if is_new and known_here and mails.is_enabled():
            # An admin who sets the provider could sign in as a colleague, who is warned by mail.
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
    """A new agent, if the client lets the provider's people join by themselves."""
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
