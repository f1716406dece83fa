"""The interface of a messaging provider to the rest of the platform, with its usual defaults."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile, Item
from channels_app.providers.types import (
    SIGNALS,
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
from chatplatform import markdown_to_text
from chatplatform.channel_names import MessagingChannel

NOT_HANDED_OVER = "The provider does not hand this kind of content over."


class Provider(ABC):
    """The base of every provider. Calls raise only `ProviderError`, with a `Kind`."""

    channel: MessagingChannel
    # How long after a customer's message any text may be sent; None for no limit.
    reply_window: timedelta | None = timedelta(hours=24)
    # Tags that allow a message after that window.
    tags = frozenset[str]()
    # How long before its expiry a token is renewed; None if it cannot be renewed.
    refresh_before: timedelta | None = None
    has_survey = False
    # What the customer can be shown beside messages.
    signals: frozenset[Signal] = SIGNALS
    # Whether an account is connected with a token of its own, which a person brings, instead of a
    # consent.
    has_own_tokens = False

    @property
    def is_offered(self) -> bool:
        """Whether the platform has what accounts need to be connected, such as an app there."""
        app_id = getattr(settings, f"{self.channel.upper()}_APP_ID", "")
        return self.has_own_tokens or bool(app_id)

    # --- consent and accounts

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        """The provider's consent page. `challenge`: PKCE (S256), for providers that use it."""
        raise ProviderError(Kind.REQUEST, "People sign up in the provider's own dialog.")

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        """Exchange a consent's code for the token with the longest possible lifetime."""
        raise ProviderError(Kind.REQUEST, "This channel has no consent.")

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        """New tokens of an account; called only if `refresh_before` is set."""
        raise ProviderError(Kind.TOKEN, "This token cannot be renewed.")

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        """A list page of accounts that the person may connect; empty if a consent names one. An
        account's own token gives that account."""
        return AccountsPage([])

    @abstractmethod
    def connect(self, token: str, account_id: str) -> Connected:
        """Subscribe to the events of one of the person's accounts, and return the account."""

    def disconnect(self, account: Account) -> None:  # noqa: B027 - some have no call for that
        """End the subscription to an account's events, if the provider has a call for that."""

    # --- callbacks

    def named_account(self, callback: Callback) -> str:
        """The account that a callback names outside its body; empty if it names none."""
        return ""

    @abstractmethod
    def is_authentic(self, callback: Callback, secret: str) -> bool:
        """Whether the provider sent exactly this. `secret`: the named account's, if it is connected
        and has one."""

    def is_ping(self, callback: Callback) -> bool:
        """Whether a callback only checks that our address answers."""
        return False

    @abstractmethod
    def items(self, callback: Callback) -> Sequence[Item]:
        """The items of a callback, in order; unknown ones are `Unsupported`. Raises Unreadable if
        the body cannot be read. Its headers are available only until it is stored."""

    def answer(self, callback: Callback) -> Any:
        """What the answer to a stored callback tells the provider, as JSON; None for nothing."""
        return None

    def profile(self, account: Account, user_id: str) -> Profile:
        """A customer's profile at the provider, beyond what callbacks contain."""
        return Profile()

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        """Download a customer's file; its address needs no credentials."""
        if not file.url:
            raise ProviderError(Kind.REQUEST, NOT_HANDED_OVER)
        hosts = getattr(settings, f"{self.channel.upper()}_MEDIA_HOSTS")
        return http.download(file.url, channel=self.channel, hosts=hosts)

    # --- sending

    # How the channel marks bold words and code in a text.
    marks: ClassVar[markdown_to_text.Marks] = markdown_to_text.NO_MARKS

    @abstractmethod
    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        """The parts to send, one call each: long texts split, choices that do not fit as text."""

    @abstractmethod
    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        """Send one part. Raises an `uncertain` error if it may have been sent nevertheless."""

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        """Show that messages were read or that somebody types; called only for one of `signals`.

        `last_message_id` is the customer's newest message, for providers that require it.
        """
        raise ProviderError(Kind.REQUEST, "This channel has no ticks and no typing signs.")

    def send_survey(self, account: Account, survey: SurveyRequest) -> None:
        """Ask the customer for a rating; called only if `has_survey` is set."""
        raise ProviderError(Kind.REQUEST, "This channel has no surveys.")


def sent_as(message_id: Any, *, pause: timedelta | None) -> Sent:
    """The result of a send; raises an `uncertain` error if the answer has no message id."""
    if not isinstance(message_id, str) or not message_id:
        raise ProviderError(Kind.UNCERTAIN, "The provider's answer does not name the message.")
    return Sent(message_id, pause)
