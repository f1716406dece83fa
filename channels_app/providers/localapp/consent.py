"""A person consents for one account (OAuth with PKCE); its tokens are renewed, each once."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.localapp import errors
from channels_app.providers.localapp.client import CHANNEL
from channels_app.providers.types import Tokens


def url(*, state: str, challenge: str) -> str:
    """The provider's page on which the person agrees. It sends them back to our own callback.

    Whether the provider returns the state is not certain, so it is in our address too.
    """
    back = f"{settings.PUBLIC_URL.rstrip('/')}/localapp/callback?{urlencode({'state': state})}"
    query = {
        "app_id": http.setting("LOCALAPP_APP_ID"),
        "redirect_uri": back,
        "code_challenge": challenge,
        "state": state,
    }
    return f"{_base()}/v4/oa/permission?{urlencode(query)}"


def redeem(code: str, *, verifier: str) -> Tokens:
    """The tokens of the account that was agreed on."""
    return _tokens({"grant_type": "authorization_code", "code": code, "code_verifier": verifier})


def refresh(refresh_token: str) -> Tokens:
    """A new pair. The old one ends at once, so that an answer that is lost is `uncertain`."""
    return _tokens({"grant_type": "refresh_token", "refresh_token": refresh_token})


def _tokens(values: dict[str, str]) -> Tokens:
    form = urlencode({"app_id": http.setting("LOCALAPP_APP_ID"), **values}).encode()
    headers = {
        "secret_key": http.setting("LOCALAPP_APP_SECRET"),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    reply = http.call(
        "POST", f"{_base()}/v4/oa/access_token", channel=CHANNEL, headers=headers, content=form,
        is_send=True,
    )  # fmt: skip
    body = http.parse(reply)
    if reply.status != 200 or not isinstance(body, dict) or not body.get("access_token"):
        # A server's fault of a 5xx has changed nothing; half an answer was one.
        wait = http.retry_after(reply.headers)
        secrets = [values.get(name) for name in ("code", "code_verifier", "refresh_token")]
        shown = http.parse(reply, without=secrets)
        raise errors.error_from(shown, reply.status, is_send=reply.status == 200, wait=wait)
    return _pair(body)


def _pair(body: dict[str, Any]) -> Tokens:
    lasts = str(body.get("expires_in") or "")
    seconds = int(lasts) if lasts.isascii() and lasts.isdigit() else 0
    return Tokens(
        str(body["access_token"]),
        # As long as it usually is, if the answer does not say.
        timedelta(seconds=min(seconds, 10**8) or 25 * 3600),
        refresh_token=str(body.get("refresh_token") or ""),
    )


def _base() -> str:
    return str(settings.LOCALAPP_OAUTH_URL).rstrip("/")
