"""chatapp: telephone numbers of business accounts."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from channels_app.providers.chatapp import accounts, consent, inbound, sending
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


class Chatapp:
    channel: MessagingChannel = "chatapp"
    reply_window = timedelta(hours=24)
    # After the window the provider takes approved templates alone.
    tags = frozenset[str]()
    # The token of a signup does not expire.
    refresh_before: timedelta | None = None
    has_survey = False
    has_signals = True

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        raise ProviderError(Kind.REQUEST, "People sign up in the provider's own dialog.")

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        return consent.redeem(code)

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        raise ProviderError(Kind.TOKEN, "This token cannot be renewed.")

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        return accounts.list_accounts(token, cursor=cursor, limit=limit)

    def connect(self, token: str, account_id: str) -> Connected:
        return accounts.connect(token, accounts.find_number(token, account_id), pin="")

    def disconnect(self, account: Account) -> None:
        accounts.disconnect(account)

    def is_authentic(self, headers: Mapping[str, str], raw: bytes) -> bool:
        return inbound.is_authentic(headers, raw)

    def items(self, body: Any) -> Sequence[Item]:
        return inbound.items(body)

    def profile(self, account: Account, user_id: str) -> Profile:
        # The callback has told the name; there is no call for it.
        return Profile()

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        return accounts.fetch(account, file)

    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        return sending.parts(content)

    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        return sending.send(account, part, envelope)

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        sending.signal(account, signal, last_message_id)

    def send_survey(self, account: Account, survey: SurveyRequest) -> None:
        raise ProviderError(Kind.REQUEST, "This channel has no surveys.")
