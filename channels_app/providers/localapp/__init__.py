"""localapp: Official Accounts, whose customers write in the provider's own messenger."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.base import Provider, sent_as
from channels_app.providers.callback_parsing import Callback, parse
from channels_app.providers.errors import WAIT_A_WEEK, Kind, ProviderError
from channels_app.providers.events import Item
from channels_app.providers.json_values import as_dict, as_text, dicts_in
from channels_app.providers.localapp import client, errors, inbound, payloads
from channels_app.providers.text import as_lines
from channels_app.providers.types import Account, Connected, Envelope, Part, Profile, Sent, Tokens
from chatplatform import crypto

SIGNATURE = "X-ZEvent-Signature"


class Localapp(Provider):
    """A person consents for one account (OAuth with PKCE).

    The provider has no calls for read receipts or the typing indicator. The events to receive can
    be chosen only in the provider's console.
    """

    channel = "localapp"
    reply_window, window_advice = timedelta(days=7), WAIT_A_WEEK
    # A token lasts 25 hours.
    refresh_before = timedelta(hours=5)
    signals = frozenset()

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        """The provider's consent page, which redirects to our own callback.

        The URL of the callback contains the state, too, since the provider may not return it.
        """
        back = f"{settings.PUBLIC_URL.rstrip('/')}/localapp/callback?{urlencode({'state': state})}"
        query = {
            "app_id": http.setting("LOCALAPP_APP_ID"),
            "redirect_uri": back,
            "code_challenge": challenge,
            "state": state,
        }
        return f"{client.oauth_url()}/v4/oa/permission?{urlencode(query)}"

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        """Exchange a code for the tokens of the account that the person chose."""
        values = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
        return client.tokens(values)

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        """Get a new pair of tokens. The old pair becomes invalid at once, so a lost response is an
        `uncertain` error."""
        return client.tokens({"grant_type": "refresh_token", "refresh_token": refresh_token})

    def connect(self, token: str, account_id: str) -> Connected:
        """The account of a token. Its events need no subscription."""
        found = client.call("GET", "v2.0/oa/getoa", token=token).data
        # The provider uses both spellings.
        own_id = str(found.get("oa_id") or found.get("oaid") or "")
        if not own_id:
            raise ProviderError(Kind.TEMPORARY, "The provider's response contains no account id.")
        return Connected(own_id, str(found.get("name") or "")[:200], Tokens(token))

    def is_ping(self, callback: Callback) -> bool:
        """Whether a callback has neither a signature nor an event."""
        if callback.headers.get(SIGNATURE):
            return False
        body = parse(callback.body) if callback.body else {}
        return isinstance(body, dict) and not body.get("event_name")

    def is_authentic(self, callback: Callback, secret: str) -> bool:
        headers, raw = callback.headers, callback.body
        app_id, key = http.setting("LOCALAPP_APP_ID"), http.setting("LOCALAPP_OA_SECRET_KEY")
        first = next(iter(dicts_in(parse(raw))), {})
        if as_text(first.get("app_id")) != app_id:
            return False
        signature = headers.get(SIGNATURE, "").removeprefix("mac=").lower()
        # The signature uses the body's time, or in some deliveries the header's.
        times = [as_text(first.get("timestamp")), headers.get("X-ZEvent-Timestamp", "")]
        return any(
            crypto.constant_time_equal(signature, _signature(app_id, raw, time, key))
            for time in times
            if time
        )

    def items(self, callback: Callback) -> Sequence[Item]:
        return inbound.items(callback.json)

    def profile(self, account: Account, user_id: str) -> Profile:
        """The customer's name and picture, and the phone number if it was shared."""
        found = client.call(
            "GET", "v3.0/oa/user/detail", token=account.token, data={"user_id": user_id}
        ).data
        return Profile(
            name=str(found.get("display_name") or ""),
            avatar_url=str(found.get("avatar") or ""),
            phone=str(as_dict(found.get("shared_info")).get("phone") or ""),
        )

    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        return payloads.parts(content)

    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        """Send one part. If the upload has expired, upload the file again; if the provider refuses
        buttons, send the choices as lines."""
        try:
            return _send(account, payloads.message(account, part), envelope)
        except ProviderError as error:
            code = error.provider_code
            if code == errors.UPLOAD_EXPIRED and part.file:
                return _send(account, payloads.message(account, part), envelope)
            if code == errors.KIND_NOT_SUPPORTED and part.choices:
                # The provider does not document whether it still accepts buttons.
                return _send(account, {"text": as_lines(part.text, part.choices)}, envelope)
            raise


def _send(account: Account, message: dict[str, Any], envelope: Envelope) -> Sent:
    if envelope.reply_to and "text" in message:
        message = message | {"quote_message_id": envelope.reply_to}
    answer = client.call(
        "POST", "v3.0/oa/message/cs", token=account.token, is_send=True,
        json={"recipient": {"user_id": envelope.recipient_id}, "message": message},
    )  # fmt: skip
    return sent_as(answer.data.get("message_id"), pause=answer.pause)


def _signature(app_id: str, raw: bytes, time: str, key: str) -> str:
    signed = app_id.encode() + raw + time.encode("utf-8", "replace") + key.encode()
    return hashlib.sha256(signed).hexdigest()
