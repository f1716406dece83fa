"""Sends requests to OpenID providers and checks the responses (OpenID Connect Core). Clients choose
the providers' URLs, so every request goes through `egress`."""

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
# Only algorithms that sign with a private key: with HS256, an attacker could sign a token with the
# provider's public key as the secret.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
SCOPES = "openid email profile"
LEEWAY_SECONDS = 30
_TIMEOUT_SECONDS = 10
_MAX_BYTES = 500_000
# How long metadata and keys are cached.
_CACHE_SECONDS = 3600
# The minimum time before unknown keys, or metadata that could not be read, are requested again.
_RETRY_SECONDS = 60


class ProviderFault(Exception):
    """The provider cannot be reached, or its response is not acceptable."""


class Metadata(BaseModel):
    """The fields of a provider's discovery document that the sign-in uses."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]


def authorization_url(row: SignInProvider, *, state: str, nonce: str, verifier: str) -> str:
    """The URL at the provider where a person signs in."""
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
    """Exchange a code for the person's ID token."""
    provider = metadata(row)
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_url(),
        "code_verifier": verifier,
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    if "client_secret_basic" in provider.token_endpoint_auth_methods_supported:
        # The id and the secret are encoded as in a form (RFC 6749, 2.3.1).
        pair = f"{quote(row.application_id, safe='')}:{quote(row.application_secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": row.application_id, "client_secret": row.application_secret}
    content = urlencode(form).encode()
    response = _call("POST", provider.token_endpoint, headers=headers, content=content)
    token = response.get("id_token")
    if not isinstance(token, str):
        raise ProviderFault("its response contains no ID token")
    return token


def verify(row: SignInProvider, id_token: str, *, nonce: str) -> dict[str, Any]:
    """The claims of an ID token. Raises ProviderFault unless this provider issued it for our
    application and for this sign-in."""
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
        raise ProviderFault("its ID token has no usable subject")
    return dict(claims)


def metadata(row: SignInProvider) -> Metadata:
    """The provider's discovery document, cached for an hour; a fault is cached for a minute."""
    cache_key = f"openid:{row.pk}:{row.issuer}"
    stored = cache.get(cache_key)
    if isinstance(stored, str):
        raise ProviderFault(stored)
    if stored is not None:
        return Metadata(**stored)
    try:
        discovered = _discover(row)
    except ProviderFault as fault:
        cache.set(cache_key, f"{fault}, a moment ago", _RETRY_SECONDS)
        raise
    cache.set(cache_key, discovered.model_dump(), _CACHE_SECONDS)
    return discovered


def _discover(row: SignInProvider) -> Metadata:
    url = f"{row.issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        document = Metadata(**_call("GET", url))
    except ValidationError as exc:
        raise ProviderFault("its discovery document is not complete") from exc
    if document.issuer != row.issuer:
        raise ProviderFault("its discovery document is from another issuer")
    for endpoint in (document.authorization_endpoint, document.token_endpoint, document.jwks_uri):
        _check_endpoint(endpoint)
    return document


def _keys(row: SignInProvider, id_token: str) -> KeySet:
    """The provider's public keys, from the cache unless it has none, or the token refers to an
    unknown key and the last request was over a minute ago."""
    cache_key = f"openid-keys:{row.pk}:{row.issuer}"
    requested_at, stored = cache.get(cache_key) or (0.0, None)
    key_id = extract_compact(id_token.encode()).headers().get("kid")
    known_ids = [key.get("kid") for key in stored["keys"]] if stored else []
    is_unknown = key_id is not None and key_id not in known_ids
    # Not every token with an unknown key may cause a request.
    is_recent = time.time() - requested_at < _RETRY_SECONDS
    if stored is None or (is_unknown and not is_recent):
        stored = _call("GET", metadata(row).jwks_uri)
        keys = stored.get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
            raise ProviderFault("it publishes no keys")
        cache.set(cache_key, (time.time(), stored), _CACHE_SECONDS)
    return KeySet.import_key_set(cast("Any", stored))


def _check_endpoint(url: str) -> None:
    """Raise ProviderFault unless the endpoint is safe for secrets, which usually means https: one
    endpoint receives the client secret, and people are redirected to another."""
    try:
        is_safe = urlsplit(url).scheme in {"http", "https"} and egress.keeps_secrets(
            url, purpose=PURPOSE
        )
    except (egress.EgressError, ValueError):
        is_safe = False
    if not is_safe:
        raise ProviderFault("one of its endpoints is not an https URL")


def _call(method: str, url: str, **options: Any) -> dict[str, Any]:
    """The JSON object in the provider's response; ProviderFault if there is none."""
    try:
        response = egress.request(
            method,
            url,
            timeout_seconds=_TIMEOUT_SECONDS,
            max_bytes=_MAX_BYTES,
            purpose=PURPOSE,
            **options,
        )
        body = orjson.loads(response.body) if response.status == 200 else None
    except (egress.EgressError, orjson.JSONDecodeError) as exc:
        raise ProviderFault(f"{urlsplit(url).path}: {exc}") from exc
    if not isinstance(body, dict):
        raise ProviderFault(f"{urlsplit(url).path} answered {response.status}")
    return body
