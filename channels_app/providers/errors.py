"""What a provider's refusal means for us. Each provider translates its codes into these kinds.

What follows from a kind is in `services/provider_error_policy.py`, the same for every provider.
"""

from datetime import timedelta
from enum import StrEnum
from typing import ClassVar

from chatplatform.api.errors import ApiError, NotConfigured


class Kind(StrEnum):
    TEMPORARY = "temporary"  # it did not happen; the same call may succeed later
    RATE = "rate"  # too many calls of this account
    TOKEN = "token"  # not accepted any more: a person must consent again
    PERMISSION = "permission"  # the person or the app may not do this
    WINDOW = "window"  # too long since the customer wrote
    RECIPIENT = "recipient"  # this customer cannot be reached
    BLOCKED = "blocked"  # the provider has stopped the account
    REQUEST = "request"  # the call is wrong in itself
    UNCERTAIN = "uncertain"  # it may have happened: never repeated
    QUOTA = "quota"  # nothing is left of what the account may send


class ProviderError(ApiError):
    """A provider refused or could not be reached; in an answer of the API it is a 502."""

    code, status = "provider_refused", 502
    more: ClassVar = {
        "kind": (str, "What the fault means, such as `temporary` or `permission`."),
        "provider_code": (str | None, "The provider's own code."),
        "provider_message": (str, "The provider's own words."),
    }
    # Shown with the provider's own words.
    detail: ClassVar[str] = "The provider refused."

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        code: str = "",
        wait: timedelta | None = None,
        retries: int | None = None,
    ) -> None:
        super().__init__(
            f"The provider refused: {message}" if code else message,
            kind=str(kind), provider_code=code or None, provider_message=message,
        )  # fmt: skip
        self.kind = kind
        self.provider_code = code
        # When the provider says so: how long not to call again.
        self.wait = wait
        # How often a send may be made again after this refusal; None: as long as it is due.
        self.retries = retries


class ChannelNotConfigured(NotConfigured):
    """This channel cannot be used."""

    code = "channel_not_configured"

    def __init__(self, setting: str) -> None:
        super().__init__(f"This channel is not set up here: {setting} is not set.", setting=setting)
