"""photoapp: professional accounts, each linked to a page that calls for it, or signed in itself."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile, Item
from channels_app.providers.photoapp import accounts, consent, direct_login, inbound, sending
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


class Photoapp:
    channel: MessagingChannel = "photoapp"
    reply_window = timedelta(hours=24)
    # An agent's own words up to seven days later, if the app was reviewed for it.
    tags = frozenset({"HUMAN_AGENT"})
    # Of a direct login, 60 days long; a page's token does not expire.
    refresh_before: timedelta | None = timedelta(days=10)
    has_survey = False
    has_signals = True

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        return consent.url(redirect_uri=redirect_uri, state=state)

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        return consent.redeem(code, redirect_uri=redirect_uri)

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        if account.details != accounts.DIRECT:
            # A page's token is of another app and another host.
            raise ProviderError(Kind.REQUEST, "The token of a page is not renewed.")
        return direct_login.refresh(account.token)

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        return accounts.list_accounts(token, cursor=cursor, limit=limit)

    def connect(self, token: str, account_id: str) -> Connected:
        return accounts.connect(token, account_id)

    def disconnect(self, account: Account) -> None:
        accounts.disconnect(account)

    def is_authentic(self, headers: Mapping[str, str], raw: bytes) -> bool:
        return inbound.is_authentic(headers, raw)

    def items(self, body: Any) -> Sequence[Item]:
        return inbound.items(body)

    def profile(self, account: Account, user_id: str) -> Profile:
        return accounts.profile(account, user_id)

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        return accounts.fetch(account, file)

    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        return sending.parts(content)

    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        return sending.send(account, part, envelope)

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        sending.signal(account, recipient_id, signal)

    def send_survey(self, account: Account, survey: SurveyRequest) -> None:
        raise ProviderError(Kind.REQUEST, "This channel has no surveys.")


class PhotoappDirect(Photoapp):
    """The same channel, with the consent to one account itself."""

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        return direct_login.url(redirect_uri=redirect_uri, state=state)

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        return direct_login.redeem(code, redirect_uri=redirect_uri)
