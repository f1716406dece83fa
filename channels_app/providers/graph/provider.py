"""The base classes of all Graph providers, and of socialnet and photoapp."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from django.conf import settings

from channels_app.providers import http, text
from channels_app.providers.base import Provider, sent_as
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.errors import ChannelNotConfigured, ProviderError
from channels_app.providers.events import Item
from channels_app.providers.graph import consent, inbound, pages
from channels_app.providers.graph.client import Answer, GraphApp
from channels_app.providers.types import Account, Envelope, OutgoingFile, Part, Sent, Signal, Tokens

MAX_CHOICES, MAX_TITLE, MAX_PAYLOAD = 13, 20, 1000
_ACTIONS: dict[Signal, str] = {
    "seen": "mark_seen", "typing_on": "typing_on", "typing_off": "typing_off",
}  # fmt: skip


class GraphProvider(Provider):
    """The base of all Graph providers, which sign callbacks with the secret of our app."""

    app: GraphApp

    def secrets(self) -> Sequence[str]:
        """The secrets with which callbacks may be signed."""
        return [self.app.setting("APP_SECRET")]

    def is_authentic(self, callback: Callback, secret: str) -> bool:
        return inbound.is_signed(callback.headers, callback.body, self.secrets())


class Messenger(GraphProvider):
    """The base of socialnet and photoapp, which have nearly the same calls and events."""

    # Allows an agent's message up to seven days after the customer's, if the provider has approved
    # our app for it.
    tags = frozenset({"HUMAN_AGENT"})
    # The permissions that a person consents to.
    scopes: Sequence[str]
    # The permissions without which nothing can be received or sent.
    needed: Sequence[str]
    # The maximum size of a text, and the function that measures it.
    max_text: int
    text_size: Callable[[str], int] = staticmethod(len)
    # Additional fields for a file that is sent by its URL, and for the upload of a file.
    file_fields: Mapping[str, Any] = {}
    upload_fields: Mapping[str, str] = {}

    def app_of(self, account: Account) -> GraphApp:
        """Our app through which an account was connected."""
        return self.app

    def node_of(self, account: Account) -> str:
        """The id that identifies an account in the path of calls."""
        return account.id

    @abstractmethod
    def app_ids(self) -> set[str]:
        """The ids of our apps, by which echoes of our own messages are recognized."""

    def consent_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        """The URL of the consent page, which asks again for permissions that were refused."""
        dialog = settings.SOCIALNET_DIALOG_URL
        url = consent.url(
            self.app, dialog, scopes=self.scopes, redirect_uri=redirect_uri, state=state
        )
        return f"{url}&auth_type=rerequest"

    def redeem_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        return consent.redeem(self.app, code, redirect_uri=redirect_uri)

    def missing_permissions(self, token: str) -> Sequence[str]:
        """The needed permissions that the person did not grant; empty if they cannot be read, for
        example because the token was issued to another app."""
        try:
            return consent.missing(consent.inspect(self.app, token), self.needed)
        except (ProviderError, ChannelNotConfigured):
            return ()

    def disconnect(self, account: Account) -> None:
        pages.unsubscribe(self.app_of(account), self.node_of(account), account.token)

    def items(self, callback: Callback) -> Sequence[Item]:
        return list(inbound.items(callback.json, app_ids=self.app_ids()))

    def parts(self, content: Sequence[Part]) -> Sequence[Part]:
        """Split texts at the limit; choices follow the last piece, or become lines of the text."""
        planned = []
        for part in content:
            if part.file:
                planned.append(part)
                continue
            fits = len(part.choices) <= MAX_CHOICES and all(
                len(choice.title) <= MAX_TITLE and len(choice.payload) <= MAX_PAYLOAD
                for choice in part.choices
            )
            planned += text.with_choices(part, self.max_text, fits=fits, size=self.text_size)
        return planned

    def send(self, account: Account, part: Part, envelope: Envelope) -> Sent:
        body = self.send_body(self._message(account, part), envelope)
        answer = self._call(account, "messages", json=body, is_send=True)
        return sent_as(answer.body.get("message_id"), pause=answer.pause)

    def send_body(self, message: dict[str, Any], envelope: Envelope) -> dict[str, Any]:
        """The body of the call that sends a message."""
        tag = {"messaging_type": "MESSAGE_TAG", "tag": envelope.tag} if envelope.tag else {}
        return {"recipient": {"id": envelope.recipient_id}, **tag, "message": message}

    def signal(
        self, account: Account, recipient_id: str, signal: Signal, *, last_message_id: str
    ) -> None:
        body = {"recipient": {"id": recipient_id}, "sender_action": _ACTIONS[signal]}
        self._call(account, "messages", json=body)

    def _call(self, account: Account, edge: str, **call: Any) -> Answer:
        path = f"{http.path_segment(self.node_of(account))}/{edge}"
        return self.app_of(account).call("POST", path, token=account.token, **call)

    def _message(self, account: Account, part: Part) -> dict[str, Any]:
        if part.file:
            payload = self._payload(account, part.file)
            return {"attachment": {"type": part.file.kind, "payload": payload}}
        message: dict[str, Any] = {"text": part.text}
        if part.choices:
            message["quick_replies"] = [
                {"content_type": "text", "title": choice.title, "payload": choice.payload}
                for choice in part.choices
            ]
        return message

    def _payload(self, account: Account, file: OutgoingFile) -> dict[str, Any]:
        """The payload for a file: its URL, or the id of its upload if the file is in our store."""
        if not file.open:
            return {"url": file.url, **self.file_fields}
        attachment = {"attachment": {"type": file.kind, "payload": {"is_reusable": True}}}
        fields = {**self.upload_fields, "message": orjson.dumps(attachment).decode()}
        form = http.multipart(fields, "filedata", file)
        body = self._call(account, "message_attachments", form=form).body
        return {"attachment_id": str(body.get("attachment_id") or "")}
