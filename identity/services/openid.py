"""Requests to OpenID providers, and the checks of their answers (OpenID Connect Core). Clients
choose the provider's address, so every request goes through `egress`."""

import base64
import logging
import time
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

import orjson
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from django.core.cache import cache
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact
from pydantic import BaseModel, ValidationError

from chatplatform import egress
from identity.models import SignInProvider
from identity.services.sign_in_providers import PURPOSE, redirect_url

log = logging.getLogger(__name__)
# Only signatures by a private key: with HS256 the public key could be used as the secret.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
SCOPES = "openid email profile"
LEEWAY_SECONDS = 30
_TIMEOUT_SECONDS = 10
_MAX_BYTES = 500_000
# Seconds for which metadata and keys are cached; and the shortest pause between two requests for
# keys, or between two to a provider that failed.
_KEPT_SECONDS, _PAUSE_SECONDS = 3600, 60


class ProviderFault(Exception):
    """The provider cannot be reached, or its answer is not acceptable."""


class Metadata(BaseModel):
    """The fields of a provider's discovery document that the sign-in uses."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]


def authorization_url(row: SignInProvider, *, state: str, nonce: str, verifier: str) -> str:
    """The provider's address at which a person signs in."""
    return str(
        prepare_grant_uri(
            metadata(row).authorization_endpoint,
            row.application_id,
            "code",
            redirect_uri=redirect_url(),
            scope=SCOPES,
            state=state,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
        )
    )


def exchange(row: SignInProvider, *, code: str, verifier: str) -> str:
    """The ID token for a code."""
    found = metadata(row)
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_url(),
        "code_verifier": verifier,
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    if "client_secret_basic" in found.token_endpoint_auth_methods_supported:
        # RFC 6749, 2.3.1: both are encoded as in a form.
        pair = f"{quote(row.application_id, safe='')}:{quote(row.application_secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": row.application_id, "client_secret": row.application_secret}
    answer = _call("POST", found.token_endpoint, headers=headers, content=urlencode(form).encode())
    token = answer.get("id_token")
    if not isinstance(token, str):
        raise ProviderFault("its answer holds no ID token")
    return token


def verify(row: SignInProvider, id_token: str, *, nonce: str) -> dict[str, Any]:
    """The claims of an ID token, if this provider issued it for us and for this sign-in."""
    try:
        decoded = jwt.decode(id_token, _keys(row, id_token), algorithms=ALGORITHMS)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            options={
                "iss": {"essential": True, "value": row.issuer},
                "aud": {"essential": True, "value": row.application_id},
            },
            params={"nonce": nonce, "client_id": row.application_id},
        )
        claims.validate(now=int(time.time()), leeway=LEEWAY_SECONDS)
    except (JoseError, ValueError, TypeError, KeyError) as exc:
        raise ProviderFault(f"its ID token is refused: {type(exc).__name__} {exc}") from exc
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
        raise ProviderFault("its ID token names nobody")
    return dict(claims)


def metadata(row: SignInProvider) -> Metadata:
    """The provider's discovery document, cached for an hour; a fault is cached for a minute."""
    name = f"openid:{row.pk}:{row.issuer}"
    stored = cache.get(name)
    if isinstance(stored, str):
        raise ProviderFault(stored)
    if stored is not None:
        return Metadata(**stored)
    try:
        found = _discovered(row)
    except ProviderFault as fault:
        cache.set(name, f"{fault}, a moment ago", _PAUSE_SECONDS)
        raise
    cache.set(name, found.model_dump(), _KEPT_SECONDS)
    return found


def _discovered(row: SignInProvider) -> Metadata:
    address = f"{row.issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        found = Metadata(**_call("GET", address))
    except ValidationError as exc:
        raise ProviderFault("its discovery document is not complete") from exc
    if found.issuer != row.issuer:
        raise ProviderFault("its discovery document is another issuer's")
    for url in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
        _check(url)
    return found


def _keys(row: SignInProvider, id_token: str) -> KeySet:
    """The provider's keys; requested again if the token names an unknown key."""
    name = f"openid-keys:{row.pk}:{row.issuer}"
    asked_at, stored = cache.get(name) or (0.0, None)
    wanted = extract_compact(id_token.encode()).headers().get("kid")
    kids = [key.get("kid") for key in stored["keys"]] if stored else []
    # Tokens that name unknown keys must not cause a request each.
    is_recent = time.time() - asked_at < _PAUSE_SECONDS
    if stored is None or (wanted is not None and wanted not in kids and not is_recent):
        stored = _call("GET", metadata(row).jwks_uri)
        keys = stored.get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
            raise ProviderFault("it shows no keys")
        cache.set(name, (time.time(), stored), _KEPT_SECONDS)
    return KeySet.import_key_set(cast("Any", stored))


def _check(url: str) -> None:
    """Endpoints must be https like the issuer: one receives the secret, another the person."""
    try:
        is_safe = urlsplit(url).scheme in {"http", "https"} and egress.keeps_secrets(
            url, purpose=PURPOSE
        )
    except (egress.EgressError, ValueError):
        is_safe = False
    if not is_safe:
        raise ProviderFault("one of its endpoints is no https address")


def _call(method: str, url: str, **more: Any) -> dict[str, Any]:
    try:
        answer = egress.request(
            method,
            url,
            timeout_seconds=_TIMEOUT_SECONDS,
            max_bytes=_MAX_BYTES,
            purpose=PURPOSE,
            **more,
        )
        body = orjson.loads(answer.body) if answer.status == 200 else None
    except (egress.EgressError, orjson.JSONDecodeError) as exc:
        raise ProviderFault(f"{urlsplit(url).path}: {exc}") from exc
    if not isinstance(body, dict):
        raise ProviderFault(f"{urlsplit(url).path} answered {answer.status}")
    return body
