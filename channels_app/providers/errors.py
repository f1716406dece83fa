"""The kinds of provider errors. Each provider translates its own error codes into them.

`services/provider_error_policy.py` defines the consequences of each kind, for all providers.
"""

import re
from datetime import timedelta
from enum import StrEnum
from typing import ClassVar

from django.utils.translation import gettext_noop

from chatplatform.api.errors import ApiError, NotConfigured


class Kind(StrEnum):
    TEMPORARY = "temporary"  # the call had no effect; the same call may succeed later
    RATE = "rate"  # too many calls for this account
    TOKEN = "token"  # the token is no longer accepted: a person must consent again
    PERMISSION = "permission"  # the person or the app may not do this
    WINDOW = "window"  # the reply window after the customer's last message is over
    RECIPIENT = "recipient"  # this customer cannot be reached
    BLOCKED = "blocked"  # the provider has stopped the account
    REQUEST = "request"  # the call itself is invalid
    UNCERTAIN = "uncertain"  # the call may have succeeded: it is never repeated
    QUOTA = "quota"  # the account's message quota is used up


# What one can do about each kind of error. The provider's own words follow in brackets.
ADVICE = {
    Kind.TEMPORARY: gettext_noop("Try again later. The provider has a problem right now."),
    Kind.RATE: gettext_noop("Try again later. This account has sent too much in a short time."),
    Kind.TOKEN: gettext_noop(
        "Reconnect this account. The provider no longer accepts its access token."
    ),
    Kind.PERMISSION: gettext_noop(
        "Reconnect this account and allow all the permissions the provider asks for."
    ),
    Kind.RECIPIENT: gettext_noop(
        "Contact the customer another way. The provider can't deliver this message to them."
    ),
    Kind.BLOCKED: gettext_noop("Ask the provider what to do. It has suspended this account."),
    Kind.QUOTA: gettext_noop(
        "Check this account's limits with the provider. It has reached its sending limit."
    ),
}
# The advice about a message that the provider found invalid, rather than another call.
CHANGE_MESSAGE = gettext_noop(
    "Change the message before you send it again. The provider rejected it."
)
# The advice when the reply window is over, by the window and by whether templates may follow it.
WAIT_A_DAY = gettext_noop("The customer wrote more than 24 hours ago. Wait until they write again.")
WAIT_A_WEEK = gettext_noop("The customer wrote more than 7 days ago. Wait until they write again.")
SEND_TEMPLATE = gettext_noop(
    "The customer wrote more than 24 hours ago. Send a template, or wait until they write."
)
_REJECTED = gettext_noop("The provider rejected the request.")
# Providers repeat the code in their words: "(#131047) Re-engagement message".
_CODE = re.compile(r"^\(#\d+\) ?")


def explained(advice: str, reason: str) -> str:
    """What one can do about an error, with the provider's words in brackets."""
    return f"{advice} ({reason})" if advice and reason else advice or reason


class ProviderError(ApiError):
    """A provider refused a call or could not be reached; the API responds with a 502."""

    code, status = "provider_refused", 502
    more: ClassVar = {
        "kind": (str, "The kind of error, such as `temporary` or `permission`."),
        "provider_code": (str | None, "The provider's error code; null if it gave none."),
        "provider_message": (str, "The provider's message."),
    }
    # Used if there is neither advice nor a message.
    detail: ClassVar[str] = _REJECTED

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        code: str = "",
        wait: timedelta | None = None,
        retries: int | None = None,
    ) -> None:
        # The provider's words, or ours if it said nothing.
        self.reason = f"{code}: {_CODE.sub('', message)}" if code else message
        is_refusal = bool(code) and kind != Kind.UNCERTAIN
        super().__init__(
            explained(ADVICE.get(kind) or (_REJECTED if is_refusal else ""), self.reason),
            kind=str(kind), provider_code=code or None, provider_message=message,
        )  # fmt: skip
        self.kind = kind
        self.provider_code = code
        # How long to wait before the next call, if the provider says so.
        self.wait = wait
        # How often a send that fails with this error is retried; None for the usual limit.
        self.retries = retries

    def about_message(self, *, window_advice: str) -> str:
        """What one can do about a message that this error concerns. `window_advice` is what the
        channel advises when the reply window is over."""
        if self.kind == Kind.WINDOW:
            return explained(window_advice, self.reason)
        if self.kind == Kind.REQUEST and self.provider_code:
            return explained(CHANGE_MESSAGE, self.reason)
        return str(self)


def kind_by_status(status: int, *, is_send: bool) -> Kind:
    """The kind of error that an HTTP status means, for responses without an error code."""
    if status == 429:
        return Kind.RATE
    if status >= 500 or status < 300:
        return Kind.UNCERTAIN if is_send else Kind.TEMPORARY
    return {401: Kind.TOKEN, 403: Kind.PERMISSION}.get(status, Kind.REQUEST)


class ChannelNotConfigured(NotConfigured):
    """A setting of the channel is missing."""

    code = "channel_not_configured"

    def __init__(self, setting: str) -> None:
        super().__init__(
            f"This channel is not set up on this platform: {setting} is not set.", setting=setting
        )
