"""What a messaging provider is for the rest of the platform, with what most providers share."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.errors import Kind, ProviderError
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

NOT_HANDED_OVER = "The provider does not hand this kind of content over."


class Provider(ABC):
    """The base of every provider. Calls raise `ProviderError`, classified, and nothing else."""

    channel: MessagingChannel
    # How long after a customer's message free text is accepted.
    reply_window = timedelta(hours=24)
    # Tags with which a sender may write after that window.
    tags = frozenset[str]()
    # How long before a token expires it is renewed; None: it cannot be.
    refresh_before: timedelta | None = None
    has_survey = False
    has_signals = True

    # --- consent and accounts

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        """The page where a person consents. `challenge`: PKCE (S256), for those that take one."""
        raise ProviderError(Kind.REQUEST, "People sign up in the provider's own dialog.")

    @abstractmethod
    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        """The token of the person who consented, valid as long as possible."""

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        """New tokens of an account; called only if `refresh_before` is set."""
        raise ProviderError(Kind.TOKEN, "This token cannot be renewed.")

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        """A page of the accounts that the person may connect; none if a consent is for one."""
        return AccountsPage([])

    @abstractmethod
    def connect(self, token: str, account_id: str) -> Connected:
        """Subscribe to the events of one of the person's accounts."""

    def disconnect(self, account: Account) -> None:  # noqa: B027 - some have no call for that
        """End the subscription to an account's events, if the provider has a call for that."""

    # --- callbacks

    @abstractmethod
    def is_authentic(self, headers: Mapping[str, str], raw: bytes) -> bool:
        """Whether the provider signed exactly these bytes."""

    def is_ping(self, headers: Mapping[str, str], raw: bytes) -> bool:
        """Whether a callback only checks that the address answers."""
        return False

    @abstractmethod
    def items(self, body: Any) -> Sequence[Item]:
        """Everything in a callback, in order; what is not understood is `Unsupported`."""

    def profile(self, account: Account, user_id: str) -> Profile:
        """What the provider tells about a customer beyond what callbacks say."""
        return Profile()

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        """The bytes of a customer's file. Its address is open: no credential is sent."""
        if not file.url:
            raise ProviderError(Kind.REQUEST, NOT_HANDED_OVER)
        hosts = getattr(settings, f"{self.channel.upper()}_MEDIA_HOSTS")
        return http.download(file.url, channel=self.channel, hosts=hosts)

    # --- sending

    @abstractmethod
    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        """The calls that a message takes: texts cut, what cannot be shown turned into text."""

    @abstractmethod
    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        """Send one part. Raises `uncertain` if it may have gone out anyway."""

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        """Show that messages were read or that somebody types; called only if `has_signals` is set.

        `last_message_id` is the customer's newest message, for providers that ask for it.
        """
        raise ProviderError(Kind.REQUEST, "This channel has no ticks and no typing signs.")

    def send_survey(self, account: Account, survey: SurveyRequest) -> None:
        """Ask the customer for a rating; called only if `has_survey` is set."""
        raise ProviderError(Kind.REQUEST, "This channel has no surveys.")


def sent_as(message_id: Any, *, pause: timedelta | None) -> Sent:
    """The send that an answer names; `uncertain` if it names none."""
    if not isinstance(message_id, str) or not message_id:
        raise ProviderError(Kind.UNCERTAIN, "The provider's answer does not name the message.")
    return Sent(message_id, pause)
