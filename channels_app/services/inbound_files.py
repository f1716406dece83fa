"""Copies customers' files to our store, since the provider's URLs expire."""

import io
import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import InMemoryUploadedFile

from channels_app.models import ChannelConnection
from channels_app.providers import PROVIDERS, events
from channels_app.providers.errors import Kind, ProviderError
from channels_app.services import provider_error_policy
from chatplatform import jobs
from chatplatform.api.errors import ApiError
from chats.services.core import attachments
from chats.shapes.message import MessageContent

log = logging.getLogger(__name__)
# The number of attempts to download a file from its provider, and the wait between them.
_MAX_DOWNLOADS, _RETRY_WAIT = 3, timedelta(seconds=2)
# The number of attempts to store a file, within three minutes. The last one stores the message
# without the file. The item has one more attempt (`inbound_queue.ATTEMPTS`), so it is not parked.
STORE_ATTEMPTS = 9
NOT_STORED = "This file couldn't be saved."
STORE_UNAVAILABLE = f"{NOT_STORED} File storage couldn't be reached."


@dataclass(frozen=True)
class Files:
    """A message's files: those in our store, and those that could not be copied, with a reason."""

    stored: Sequence[attachments.StoredFile]
    refused: Sequence[MessageContent]


def copy_to_store(
    stack: ExitStack,
    connection: ChannelConnection,
    files: Sequence[events.InboundFile],
    attempt: int,
) -> Files:
    """Copy files to our store. When `stack` closes, it deletes the copies that no message uses.

    Raises TryLater while the provider or our store is briefly unavailable.
    """
    stored, refused = list[attachments.StoredFile](), list[MessageContent]()
    for file in files[: settings.MAX_MESSAGE_FILES]:
        try:
            upload = _download(connection, file, attempt)
            stored += stack.enter_context(attachments.stored([upload]))
        except OSError as error:
            # The store is at fault, not the file: the bucket is unreachable, or the disk is full.
            if attempt < STORE_ATTEMPTS:
                raise jobs.TryLater(f"A file could not be stored: {error}") from error
            log.warning("a file from %s was not stored: %s", connection, error)
            refused.append(_refused(file, STORE_UNAVAILABLE))
        except ApiError as error:
            reason = _reason(error)
            log.info("a file from %s was not copied: %s", connection, reason)
            refused.append(_refused(file, reason))
    return Files(stored, refused)


def _download(
    connection: ChannelConnection, file: events.InboundFile, attempt: int
) -> InMemoryUploadedFile:
    provider = PROVIDERS[connection.channel]
    try:
        data = file.data or provider_error_policy.call(
            connection, lambda account: provider.fetch(account, file)
        )
    except ProviderError as error:
        if error.kind in {Kind.TEMPORARY, Kind.RATE} and attempt < _MAX_DOWNLOADS:
            raise jobs.TryLater(str(error), wait=error.wait or _RETRY_WAIT) from error
        raise
    name = file.file_name or file.kind
    return InMemoryUploadedFile(io.BytesIO(data), None, name, None, len(data), None)


def _refused(file: events.InboundFile, reason: str) -> MessageContent:
    return MessageContent.model_construct(
        type=file.kind, file_name=file.file_name or None, error=reason
    )


def _reason(error: ApiError) -> str:
    errors: Any = getattr(error, "errors", None)
    return f"{NOT_STORED} {errors[0]['msg'] if errors else error}"[:300]
