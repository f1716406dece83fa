"""localapp: Official Accounts, whose customers write by the provider's own messenger."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile, Item
from channels_app.providers.localapp import client, consent, inbound, sending
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


class Localapp:
    channel: MessagingChannel = "localapp"
    reply_window = timedelta(days=7)
    # Nothing is taken after the window.
    tags = frozenset[str]()
    # A token lasts 25 hours.
    refresh_before: timedelta | None = timedelta(hours=5)
    has_survey = False
    has_signals = False

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        return consent.url(state=state, challenge=challenge)

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        return consent.redeem(code, verifier=verifier)

    def refresh(self, account: Account, refresh_token: str) -> Tokens:
        return consent.refresh(refresh_token)

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        return client.list_accounts(token)

    def connect(self, token: str, account_id: str) -> Connected:
        return client.connect(token)

    def disconnect(self, account: Account) -> None:
        """Nothing: which events come is set in the provider's console alone."""

    def is_authentic(self, headers: Mapping[str, str], raw: bytes) -> bool:
        return inbound.is_authentic(headers, raw)

    def items(self, body: Any) -> Sequence[Item]:
        return inbound.items(body)

    def profile(self, account: Account, user_id: str) -> Profile:
        return client.profile(account, user_id)

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        return client.fetch(file)

    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        return sending.parts(content)

    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        return sending.send(account, part, envelope)

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        raise ProviderError(Kind.REQUEST, "This channel has no ticks and no typing hand.")

    def send_survey(self, account: Account, survey: SurveyRequest) -> None:
        raise ProviderError(Kind.REQUEST, "This channel has no survey.")
