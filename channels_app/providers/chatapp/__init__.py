"""chatapp: phone numbers of business accounts."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.utils import timezone

from channels_app.providers import http
from channels_app.providers.base import NOT_PROVIDED, sent_as
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.chatapp import accounts, inbound, payloads
from channels_app.providers.chatapp.accounts import APP, Number
from channels_app.providers.errors import SEND_TEMPLATE, Kind, ProviderError
from channels_app.providers.events import InboundFile, Item
from channels_app.providers.graph import consent
from channels_app.providers.graph.provider import GraphProvider
from channels_app.providers.json_values import as_list, dicts_in
from channels_app.providers.types import (
    Account,
    AccountsPage,
    Connected,
    Envelope,
    ListedAccount,
    Part,
    Sent,
    Signal,
    Tokens,
)
from chatplatform import markdown_to_text

_SCOPES = (
    "whatsapp_business_management", "whatsapp_business_messaging", "business_management",
)  # fmt: skip
# The permissions without which nothing is received or sent.
_NEEDED = ("whatsapp_business_management", "whatsapp_business_messaging")


class Chatapp(GraphProvider):
    """The provider's tokens usually do not expire. Customers' names come only in callbacks.

    After the reply window the provider accepts only approved templates.
    """

    channel = "chatapp"
    window_advice = SEND_TEMPLATE
    app = APP
    marks = markdown_to_text.Marks(bold="*", code="```")

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        """The URL of the signup dialog, with the login configuration of our app if it has one."""
        url = consent.url(
            APP, settings.SOCIALNET_DIALOG_URL,
            scopes=_SCOPES, redirect_uri=redirect_uri, state=state,
        )  # fmt: skip
        # A configuration with products opens version 4 of the dialog.
        config_id = settings.CHATAPP_CONFIG_ID
        return f"{url}&{urlencode({'config_id': config_id})}" if config_id else url

    def redeem_code(self, code: str, *, redirect_uri: str = "", verifier: str = "") -> Tokens:
        """Exchange a code from the signup dialog for a token. If the dialog was opened as a window,
        there is no `redirect_uri`."""
        back = {"redirect_uri": redirect_uri} if redirect_uri else {}
        return consent.token(APP, {"code": code, **back})

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        """One page of the numbers of the token's business accounts, one business account at a time.

        The cursor holds the business account and the provider's cursor within it.
        """
        business_ids = accounts.business_accounts(accounts.inspect(token))
        business_id, _, after = (cursor or "").partition(":")
        if business_id in business_ids:
            business_ids = business_ids[business_ids.index(business_id) :]
        elif cursor:
            return AccountsPage([])
        if not business_ids:
            return AccountsPage([])
        numbers, following = accounts.list_numbers(
            token, business_ids[0], after=after or None, limit=limit
        )
        if following:
            next_cursor: str | None = f"{business_ids[0]}:{following}"
        else:
            next_cursor = f"{business_ids[1]}:" if len(business_ids) > 1 else None
        return AccountsPage(
            [ListedAccount(number.id, number.name) for number in numbers], next_cursor
        )

    def connect(self, token: str, account_id: str) -> Connected:
        return self.connect_number(token, accounts.find_number(token, account_id), pin="")

    def connect_number(self, token: str, number: Number, *, pin: str) -> Connected:
        """Register the number if needed, and subscribe to its business account's events."""
        if not number.is_registered:
            APP.call(
                "POST", f"{http.path_segment(number.id)}/register", token=token,
                json={"messaging_product": "whatsapp", "pin": pin},
            )  # fmt: skip
        APP.call("POST", _subscription(number.business_account_id), token=token, json={})
        inspected = accounts.inspect(token)
        ends_at = inspected.get("expires_at")
        lasts = None
        if isinstance(ends_at, int) and 0 < ends_at < 10**10:
            lasts = datetime.fromtimestamp(ends_at, UTC) - timezone.now()
        details = {"business_account_id": number.business_account_id}
        return Connected(
            number.id, number.name, Tokens(token, lasts), details,
            missing_permissions=consent.missing(inspected, _NEEDED),
            quality=number.quality, sending_limit=number.sending_limit,
        )  # fmt: skip

    def disconnect(self, account: Account) -> None:
        """End the subscription to the business account's events. The number stays registered."""
        business_id = str(account.details["business_account_id"])
        APP.call("DELETE", _subscription(business_id), token=account.token)

    def items(self, callback: Callback) -> Sequence[Item]:
        return inbound.items(callback.json)

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        """Request a file's URL, which is valid for five minutes and needs our token, and download
        the file."""
        if not file.media_id:
            raise ProviderError(Kind.REQUEST, NOT_PROVIDED)
        found = APP.call(
            "GET", http.path_segment(file.media_id), token=account.token,
            params={"phone_number_id": account.id},
        ).body  # fmt: skip
        return http.download(
            str(found.get("url") or ""), channel=self.channel, hosts=settings.CHATAPP_MEDIA_HOSTS,
            headers={"Authorization": f"Bearer {account.token}"},
        )  # fmt: skip

    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        return payloads.parts(content)

    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        """Send one part with the id of our send, which the provider returns with each status."""
        recipient = "to" if envelope.recipient_id.isdigit() else "recipient"
        body = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            # A number, or the id of a customer who hides the number.
            recipient: envelope.recipient_id,
            **payloads.content(account, part),
            "biz_opaque_callback_data": envelope.send_id,
        }
        if envelope.reply_to:
            body["context"] = {"message_id": envelope.reply_to}
        answer = APP.call("POST", _messages(account), token=account.token, json=body, is_send=True)
        sent = dicts_in(as_list(answer.body.get("messages"))[:1])
        return sent_as(sent[0].get("id") if sent else None, pause=answer.pause)

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        """Mark the newest message as read, and with `typing_on` show typing for 25 seconds.

        There is no call to end typing: it ends by itself or with the next message.
        """
        if signal == "typing_off" or not last_message_id:
            return
        body: dict[str, Any] = {
            "messaging_product": "whatsapp", "status": "read", "message_id": last_message_id,
        }  # fmt: skip
        if signal == "typing_on":
            body["typing_indicator"] = {"type": "text"}
        APP.call("POST", _messages(account), token=account.token, json=body)


def _subscription(business_id: str) -> str:
    return f"{http.path_segment(business_id)}/subscribed_apps"


def _messages(account: Account) -> str:
    return f"{http.path_segment(account.id)}/messages"
