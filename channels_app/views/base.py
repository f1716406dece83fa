"""What the views of all channels share."""

from collections.abc import Mapping
from typing import ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from bots.models import Bot
from bots.services import bots
from channels_app.providers import PROVIDERS, Provider
from channels_app.services import callbacks
from chatplatform.api.errors import NotFound, TooLarge
from chatplatform.api.operation import Bare, OperationViewSet
from chatplatform.customer_channels import MessagingChannel
from identity.auth import TenantViewSet
from identity.models import Client

CHALLENGE = Bare(("text/plain",), "The challenge, as it was sent.")
RECEIVED = Bare(("text/plain",), "Received: `OK`.")


class ChannelViewSet(TenantViewSet):
    """The base of a channel's operations for people."""

    channel: ClassVar[MessagingChannel]

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.channel]

    def own_client(self, client_id: int) -> Client:
        """The caller's client; 404 if the path names another."""
        if client_id != self.client.pk:
            raise NotFound
        return self.client

    def bot(self, client_id: int, bot_id: int) -> Bot:
        """One of the caller's bots; 404 for any other, and for another client's path."""
        return bots.get(self.own_client(client_id), bot_id)


class CallbackViewSet(OperationViewSet):
    """The base of a channel's operations for its provider."""

    channel: ClassVar[MessagingChannel]

    def accept(self, request: HttpRequest) -> HttpResponse:
        """Store a signed callback, and answer before anything is done with it."""
        # By read(): a batch may be larger than the API's own bodies.
        raw = request.read(settings.MAX_CALLBACK_BYTES + 1)
        if len(raw) > settings.MAX_CALLBACK_BYTES:
            raise TooLarge
        if not self.is_probe(request.headers, raw):
            callbacks.receive(PROVIDERS[self.channel], request.headers, raw)
        return HttpResponse("OK", content_type="text/plain")

    def is_probe(self, headers: Mapping[str, str], raw: bytes) -> bool:
        """Whether a call only asks if somebody is there; such a one is answered, and no more."""
        return False
