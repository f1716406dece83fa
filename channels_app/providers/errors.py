"""The kinds of provider errors. Each provider translates its own error codes into them.

`services/provider_error_policy.py` defines the consequences of each kind, for all providers.
"""

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


# What an owner can do about an error; the provider's own message follows behind a colon.
ADVICE = {
    Kind.TOKEN: gettext_noop(
        "Reconnect this account. The provider no longer accepts its access token"
    ),
    Kind.PERMISSION: gettext_noop(
        "Reconnect this account and allow all the permissions the provider asks for"
    ),
    Kind.BLOCKED: gettext_noop("Ask the provider what to do. It has suspended this account"),
    Kind.QUOTA: gettext_noop(
        "Check this account's limits with the provider. It has reached its sending limit"
    ),
}
_REJECTED = gettext_noop("The provider rejected the request")


class ProviderError(ApiError):
    """A provider refused a call or could not be reached; the API responds with a 502."""

    code, status = "provider_refused", 502
    more: ClassVar = {
        "kind": (str, "The kind of error, such as `temporary` or `permission`."),
        "provider_code": (str | None, "The provider's error code."),
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
        # The detail without the advice.
        self.reason = f"{_REJECTED}: {message}" if code else message
        super().__init__(
            ": ".join(filter(None, [ADVICE.get(kind), self.reason])),
            kind=str(kind), provider_code=code or None, provider_message=message,
        )  # fmt: skip
        self.kind = kind
        self.provider_code = code
        # How long to wait before the next call, if the provider says so.
        self.wait = wait
        # How often a send that fails with this error is retried; None for the usual limit.
        self.retries = retries


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
