"""The interface of messaging providers to the rest of the platform, with defaults."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings

from channels_app.providers import http
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.errors import WAIT_A_DAY, Kind, ProviderError
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

NOT_PROVIDED = "The provider does not make this kind of content available."


class Provider(ABC):
    """The base of every provider. Calls to a provider raise `ProviderError` with a `Kind`.

    If a setting of the channel is missing, they raise `ChannelNotConfigured`.
    """

    channel: MessagingChannel
    # How long after a customer's message any text may be sent; None for no limit.
    reply_window: timedelta | None = timedelta(hours=24)
    # What one can do when the reply window is over.
    window_advice = WAIT_A_DAY
    # Tags that allow a message after the reply window.
    tags = frozenset[str]()
    # How long before its expiry a token is renewed; None if it cannot be renewed.
    refresh_before: timedelta | None = None
    has_survey = False
    # The signals that can be shown to customers, such as typing.
    signals: frozenset[Signal] = SIGNALS
    # Whether a person connects an account by entering its token instead of giving consent.
    has_own_tokens = False

    @property
    def is_offered(self) -> bool:
        """Whether accounts can be connected; most channels first need our app at the provider."""
        app_id = getattr(settings, f"{self.channel.upper()}_APP_ID", "")
        return self.has_own_tokens or bool(app_id)

    # --- consent and accounts

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        """The URL of the provider's consent page. `challenge` is the PKCE challenge (S256), which
        only some providers use."""
        raise ProviderError(Kind.REQUEST, "People sign up in the provider's own dialog.")

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        """Exchange a consent's code for the token with the longest possible lifetime."""
        raise ProviderError(Kind.REQUEST, "This channel has no consent.")

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        """Renew the tokens of an account; called only if `refresh_before` is set."""
        raise ProviderError(Kind.TOKEN, "This token cannot be renewed.")

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        """One page of the accounts that the token's owner may connect; empty if a consent is for
        one account only. For an account's own token: that account."""
        return AccountsPage([])

    @abstractmethod
    def connect(self, token: str, account_id: str) -> Connected:
        """Subscribe to the events of one of the person's accounts, and return the account."""

    def disconnect(self, account: Account) -> None:  # noqa: B027 - some have no call for that
        """End the subscription to an account's events, if the provider has a call for that."""

    # --- callbacks

    def named_account(self, callback: Callback) -> str:
        """The id of the account in a callback's URL; empty if the URL contains none."""
        return ""

    @abstractmethod
    def is_authentic(self, callback: Callback, secret: str) -> bool:
        """Whether the callback really comes from the provider.

        `secret` is the secret of the account in the callback's URL; empty if there is no such
        connected account, or it has no secret.
        """

    def is_ping(self, callback: Callback) -> bool:
        """Whether a callback only checks that our URL responds."""
        return False

    @abstractmethod
    def items(self, callback: Callback) -> Sequence[Item]:
        """The items of a callback, in order; unknown ones are `Unsupported`. Raises Unreadable if
        the body cannot be read. A callback from the database has no headers."""

    def answer(self, callback: Callback) -> Any:
        """The JSON of our response to a stored callback; None for an empty response."""
        return None

    def profile(self, account: Account, user_id: str) -> Profile:
        """A customer's profile at the provider, beyond what callbacks contain."""
        return Profile()

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        """Download a customer's file; by default from its URL, without credentials."""
        if not file.url:
            raise ProviderError(Kind.REQUEST, NOT_PROVIDED)
        hosts = getattr(settings, f"{self.channel.upper()}_MEDIA_HOSTS")
        return http.download(file.url, channel=self.channel, hosts=hosts)

    # --- sending

    # The channel's markup for bold words and code.
    marks: ClassVar[markdown_to_text.Marks] = markdown_to_text.NO_MARKS

    @abstractmethod
    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        """The parts to send, one call each. Long texts are split; choices that do not fit become
        text."""

    @abstractmethod
    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        """Send one part. Raises an `uncertain` error if the provider may have accepted it."""

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        """Show that messages were read, or that somebody has started or stopped typing.

        Called only for `signals`. `last_message_id` is the customer's newest message, for providers
        that require it.
        """
        raise ProviderError(Kind.REQUEST, "This channel has no ticks and no typing signs.")

    def send_survey(self, account: Account, survey: SurveyRequest) -> None:
        """Ask the customer for a rating; called only if `has_survey` is set."""
        raise ProviderError(Kind.REQUEST, "This channel has no surveys.")


def sent_as(message_id: Any, *, pause: timedelta | None) -> Sent:
    """The result of a send; raises an `uncertain` error if the response has no message id."""
    if not isinstance(message_id, str) or not message_id:
        raise ProviderError(Kind.UNCERTAIN, "The provider's response contains no message id.")
    return Sent(message_id, pause)
