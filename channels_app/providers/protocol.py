"""What a messaging provider is for the rest of the platform."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

from channels_app.providers.events import InboundFile, Item
from channels_app.providers.types import (
    Account,
    AccountsPage,
    Connected,
    Envelope,
    Part,
    Profile,
    Sent,
    Signal,
    SurveyRequest,
    Tokens,
)
from chatplatform.customer_channels import MessagingChannel


class Provider(Protocol):
    """A class in `providers/<name>/__init__.py`; its modules hold the work.

    Every call raises `ProviderError`, classified, and no other error of the network.
    """

    channel: MessagingChannel
    # How long after a customer's message free text is taken.
    reply_window: timedelta
    # Words that a sender may use outside of that window.
    tags: frozenset[str]
    # How long before a token's end it is renewed; None: it cannot be.
    refresh_before: timedelta | None
    has_survey: bool
    has_signals: bool

    # --- consent and accounts
    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        """Where a person consents. `challenge` (PKCE, S256) is for providers that take one."""

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        """The token of the person who consented, as long-lived as it can be."""

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        """New tokens of an account; called only if `refresh_before` is set."""

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        """A page of the accounts that the person may connect."""

    def connect(self, token: str, account_id: str) -> Connected:
        """Subscribe to the events of one of the person's accounts."""

    def disconnect(self, account: Account) -> None:
        """End the subscription to an account's events."""

    # --- callbacks
    def is_authentic(self, headers: Mapping[str, str], raw: bytes) -> bool:
        """Whether the provider has signed exactly these bytes."""

    def items(self, body: Any) -> Sequence[Item]:
        """Everything in a callback, in its order; what is not understood as `Unsupported`."""

    def profile(self, account: Account, user_id: str) -> Profile:
        """What the provider tells of a customer."""

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        """The bytes of a customer's file."""

    # --- sending
    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        """The calls that a message takes here: texts cut, what is not shown turned into text."""

    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        """Send one part. Raises `uncertain` if it may have gone out all the same."""

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        """Show that messages were read, or that somebody types; called only if `has_signals` is
        set.

        `last_message_id` is the customer's newest message, for providers that want it named.
        """

    def send_survey(self, account: Account, survey: SurveyRequest) -> None:
        """Ask the customer for a rating; called only if `has_survey` is set."""
