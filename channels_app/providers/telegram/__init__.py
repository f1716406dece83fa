"""telegram: bots at Telegram, whose customers write in private chats."""

import secrets
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from channels_app.providers.base import Provider, sent_as
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.events import InboundFile, Item
from channels_app.providers.json_values import as_dict, as_text
from channels_app.providers.telegram import client, inbound, sending
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
from chatplatform import crypto


class Telegram(Provider):
    """A person creates a bot at the provider and enters its token here. The provider has no read
    receipts and no echoes."""

    channel = "telegram"
    reply_window = None
    signals = frozenset({"typing_on"})
    has_own_tokens = True

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        """The bot of a token."""
        bot = as_dict(client.call(token, "getMe"))
        if not (bot_id := as_text(bot.get("id"))):
            raise ProviderError(Kind.TEMPORARY, "The provider's response contains no bot id.")
        name = f"{as_text(bot.get('first_name'))[:150]} (@{as_text(bot.get('username'))})"
        return AccountsPage([ListedAccount(bot_id, name)])

    def connect(self, token: str, account_id: str) -> Connected:
        """Subscribe to the bot's updates, at a URL with the bot's id, and with a new secret."""
        (bot,) = self.list_accounts(token, cursor=None, limit=1).items
        secret = secrets.token_urlsafe(32)
        url = f"{settings.PUBLIC_URL.rstrip('/')}/telegram/webhook/{bot.id}"
        wanted = {"url": url, "secret_token": secret, "allowed_updates": [*inbound.UPDATES]}
        client.call(token, "setWebhook", wanted)
        return Connected(bot.id, bot.name, Tokens(token), secret=secret)

    def disconnect(self, account: Account) -> None:
        client.call(account.token, "deleteWebhook")

    def named_account(self, callback: Callback) -> str:
        return callback.path.rpartition("/")[2]

    def is_authentic(self, callback: Callback, secret: str) -> bool:
        shown = callback.headers.get("X-Telegram-Bot-Api-Secret-Token", "")
        return bool(secret) and crypto.constant_time_equal(shown, secret)

    def items(self, callback: Callback) -> Sequence[Item]:
        return [inbound.item(as_dict(callback.json), self.named_account(callback))]

    def answer(self, callback: Callback) -> Any:
        """Confirm a tap on a button, which shows a progress bar until then; else None."""
        tap = as_text(as_dict(as_dict(callback.json).get("callback_query")).get("id"))
        return {"method": "answerCallbackQuery", "callback_query_id": tap} if tap else None

    def fetch(self, account: Account, file: InboundFile) -> bytes:
        return client.download(account.token, file.media_id)

    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        return sending.parts(content)

    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        """Send one part. If the provider refuses its file, send a stored file as a document, and a
        linked file as a link in a text."""
        try:
            sent = sending.send(account, part, envelope)
        except ProviderError as error:
            if error.kind != Kind.REQUEST or not part.file:
                raise
            plainer = sending.as_document(part) if part.file.open else sending.as_link(part)
            sent = sending.send(account, plainer, envelope)
        return sent_as(inbound.whole_id(as_dict(sent), envelope.recipient_id), pause=None)

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        """Show for five seconds that somebody is typing."""
        client.call(account.token, "sendChatAction", {"chat_id": recipient_id, "action": "typing"})
