"""Sends the parts of a message one after the other, each at most once.

The row of a part is written before its call, and gets the outcome afterwards. A call that failed
although the provider may have accepted it is never repeated; the provider's echo confirms it.
"""

import io
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from channels_app.models import SENDING, ChannelChat, ChannelConnection, OutboundSend, SendState
from channels_app.providers import PROVIDERS
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.types import (
    Choice,
    Envelope,
    OutgoingFile,
    OutgoingTemplate,
    Part,
    Place,
    Sent,
)
from channels_app.services import connections, provider_error_policy
from chatplatform import jobs, markdown_to_text
from chats.models import Attachment, Message, MessageStatus, SenderType
from chats.schemas.content_kinds import FILE_TYPES, kind_of
from chats.services.core import channel_updates, enqueue_translations, message_status

log = logging.getLogger(__name__)
# The waits before repeating a call that the provider did not accept: 5, 10, 20 … seconds.
_INITIAL_BACKOFF, _MAX_BACKOFF = timedelta(seconds=5), timedelta(minutes=10)
# How long to wait for an echo; an echo that arrives later still counts.
UNCERTAIN_TIMEOUT = timedelta(minutes=15)
NOT_CONNECTED = "The bot isn't connected to this channel."
NUMBER_TAKEN = "The customer's number now belongs to someone else."
NOTHING_TO_SEND = "This channel can't show anything in this message."
FILE_GONE = "The file is no longer available."
STORE_UNAVAILABLE = "File storage couldn't be reached."


def deliver(message_id: str) -> None:
    """Send the parts of a message that were not sent yet. Raises TryLater if they have to wait."""
    message = _pending(message_id)
    if message is None:
        return  # sent by an earlier run, or deleted
    found = connection_of_chat(message.conversation_id)
    if found is None:
        numberless = ChannelChat.objects.filter(
            conversation_id=message.conversation_id,
            identity__provider_user_id="",
            identity__alternate_user_id="",
        )
        error = NUMBER_TAKEN if numberless.exists() else NOT_CONNECTED
        message_status.record_failed(message, error=error)
        return
    connection, recipient_id = found
    wait_while_paused(connection)
    provider = PROVIDERS[connection.channel]
    parts = provider.parts(_parts(message, provider.marks))
    if not parts:
        message_status.record_failed(message, error=NOTHING_TO_SEND)
        return
    for send, part in zip(_reserve(message, connection, recipient_id, parts), parts, strict=True):
        if not _send(message, send, connection, part):
            return
    settle(message)


def give_up(message_id: str) -> None:
    """Mark a message as failed, with the last error, after the last attempt."""
    message = _pending(message_id)
    if message is None:
        return
    sends = OutboundSend.objects.filter(message=message)
    last = sends.exclude(error="").order_by("part").last()
    sends.filter(state=SendState.QUEUED).update(state=SendState.FAILED)
    message_status.record_failed(
        message, error=last.error if last else "The message couldn't be sent."
    )


def _pending(message_id: str) -> Message | None:
    rows = Message.objects.select_related("conversation__bot", "conversation__client")
    return rows.filter(pk=message_id, status=MessageStatus.PENDING).first()


@transaction.atomic
def settle(message: Message) -> None:
    """Mark a message as sent if all parts are, or as uncertain if a part's outcome is unknown."""
    sends = list(OutboundSend.objects.filter(message=message).order_by("part"))
    states = {send.state for send in sends}
    if states == {SendState.SENT}:
        message_status.record_sent(message, provider_message_id=sends[-1].provider_message_id or "")
    elif SendState.UNCERTAIN in states and message_status.record_uncertain(message):
        jobs.enqueue(
            "channels_app.resolve_uncertain_sends",
            client_id=message.client_id,
            wait=UNCERTAIN_TIMEOUT,
            dedupe_key=str(message.pk),
            message_id=str(message.pk),
        )


def resolve_uncertain_sends(message_id: str) -> None:
    """Mark a message as failed if no echo has confirmed it in time.

    Only a person may send it again. An echo that arrives later still counts.
    """
    message = _pending(message_id)
    uncertain = OutboundSend.objects.filter(message=message, state=SendState.UNCERTAIN)
    if message and uncertain.exists():
        message_status.record_failed(message, error=message_status.STILL_UNCERTAIN)


def wait_while_paused(connection: ChannelConnection) -> None:
    """Raise TryLater while the account is paused for the provider's rate limit."""
    now = timezone.now()
    if connection.paused_until and connection.paused_until > now:
        raise jobs.TryLater("The account is paused.", wait=connection.paused_until - now)


def connection_of_chat(chat_id: Any) -> tuple[ChannelConnection, str] | None:
    """The connection to send with in a chat, and the customer's id there; None if nothing can be
    sent."""
    link = (
        ChannelChat.objects.select_related("identity", "conversation")
        .filter(conversation_id=chat_id)
        .first()
    )
    if link is None:
        return None
    identity = link.identity
    connection = connections.find_live(identity.channel, identity.account_id)
    is_ours = connection is not None and connection.bot_id == link.conversation.bot_id
    if connection is None or not is_ours or connection.status not in SENDING:
        return None
    if not identity.address:
        return None
    return connection, identity.address


def _reserve(
    message: Message, connection: ChannelConnection, recipient_id: str, parts: Sequence[Part]
) -> list[OutboundSend]:
    """The rows of a message's parts, in order; rows from an earlier run stay as they are."""
    OutboundSend.objects.bulk_create(
        [
            OutboundSend(
                client_id=message.client_id,
                message=message,
                connection=connection,
                part=number,
                is_last=number == len(parts) - 1,
                recipient_id=recipient_id,
                text=part.text,
            )
            for number, part in enumerate(parts)
        ],
        ignore_conflicts=True,
    )
    return list(OutboundSend.objects.filter(message=message).order_by("part"))


def _send(message: Message, send: OutboundSend, connection: ChannelConnection, part: Part) -> bool:
    """Send one part unless it was sent; False if the message's other parts must not be sent."""
    if send.state in {SendState.SENT, SendState.UNCERTAIN}:
        return True
    if send.state == SendState.SENDING:
        # The process crashed during the call.
        _move(send, SendState.SENDING, state=SendState.UNCERTAIN)
        return True
    ready = _with_file_read(message, send, part)
    if ready is None:
        return False
    with jobs.commit():
        if not _move(send, SendState.QUEUED, state=SendState.SENDING, sent_at=timezone.now()):
            return False
    try:
        sent = provider_error_policy.call(
            connection, lambda account: _call(message, send, account, ready)
        )
    except ProviderError as error:
        return _refused(message, send, error)
    _move(
        send, SendState.SENDING, state=SendState.SENT, provider_message_id=sent.message_id, error=""
    )
    connections.mark_working(connection)
    if sent.pause:
        connections.pause(connection, sent.pause)
    return True


def _with_file_read(message: Message, send: OutboundSend, part: Part) -> Part | None:
    """Read the part's file into memory and return the part. If the file is gone, mark the part and
    the message as failed and return None.

    Raises TryLater if our file store fails. A read error during the call would make the part
    uncertain although nothing was sent.
    """
    if part.file is None or part.file.open is None:
        return part
    try:
        with part.file.open() as opened:
            data = opened.read()
    except FileNotFoundError:
        _move(send, SendState.QUEUED, state=SendState.FAILED, error=FILE_GONE)
        message_status.record_failed(message, error=FILE_GONE)
        return None
    except OSError as error:
        log.warning("a file of message %s could not be read: %s", message.pk, error)
        _move(send, SendState.QUEUED, error=STORE_UNAVAILABLE)
        raise jobs.TryLater(STORE_UNAVAILABLE, wait=_backoff()) from error
    return replace(part, file=replace(part.file, open=partial(io.BytesIO, data)))


def _call(message: Message, send: OutboundSend, account: Any, part: Part) -> Sent:
    answered = message.in_reply_to if message.sender_type == SenderType.AGENT else None
    envelope = Envelope(
        recipient_id=send.recipient_id,
        send_id=str(send.pk),
        reply_to=answered.provider_message_id if answered else None,
        tag=message.metadata.get("channel_tag"),
    )
    return PROVIDERS[message.conversation.channel].send(account, part, envelope)


def _refused(message: Message, send: OutboundSend, error: ProviderError) -> bool:
    advice = PROVIDERS[message.conversation.channel].window_advice
    reason = error.about_message(window_advice=advice)[:500]
    if error.kind == Kind.UNCERTAIN:
        _move(send, SendState.SENDING, state=SendState.UNCERTAIN, error=reason)
        return True
    is_last_try = error.retries is not None and send.refusals >= error.retries
    if error.kind in {Kind.TEMPORARY, Kind.RATE} and not is_last_try:
        _move(
            send, SendState.SENDING,
            state=SendState.QUEUED, error=reason, refusals=send.refusals + 1,
        )  # fmt: skip
        raise jobs.TryLater(reason, wait=error.wait or _backoff())
    _move(send, SendState.SENDING, state=SendState.FAILED, error=reason)
    if error.kind == Kind.WINDOW:
        channel_updates.close_reply_window(message.conversation)
    message_status.record_failed(message, error=reason)
    return False


def _backoff() -> timedelta:
    doubled: int = 2 ** max(jobs.current_attempt() - 1, 0)
    return min(_INITIAL_BACKOFF * doubled, _MAX_BACKOFF)


def _move(send: OutboundSend, before: SendState, **changes: Any) -> bool:
    """Update a part if it is still in the state `before`, and return whether it was. It is not if
    its echo arrived first."""
    for name, value in changes.items():
        setattr(send, name, value)
    return bool(OutboundSend.objects.filter(pk=send.pk, state=before).update(**changes))


def _parts(message: Message, marks: markdown_to_text.Marks) -> list[Part]:
    """The message's content for the provider, with the channel's markup in texts."""
    ids = [part["attachment_id"] for part in message.content if part.get("attachment_id")]
    # Filter by chat, not by message: a file may be forwarded within the chat.
    rows = Attachment.objects.filter(conversation_id=message.conversation_id, pk__in=ids)
    files = {str(row.pk): row for row in rows}
    parts = (_part(part, files) for part in _content(message))
    is_citing = bool(message.citations)
    return [
        replace(part, text=markdown_to_text.convert(part.text, marks=marks, is_citing=is_citing))
        for part in parts
        if part
    ]


def _content(message: Message) -> list[dict[str, Any]]:
    """The message's content. If there is a translation for the customer, it replaces all texts."""
    parts: list[dict[str, Any]] = message.content
    translation = enqueue_translations.for_customer(message)
    if translation is None:
        return parts
    first = next((index for index, part in enumerate(parts) if part.get("text")), None)
    return [
        {**part, "text": translation if index == first else None}
        for index, part in enumerate(parts)
    ]


def _part(stored: dict[str, Any], files: dict[str, Attachment]) -> Part | None:
    choices = [Choice(option["label"], option["value"]) for option in stored.get("options") or []]
    text = stored.get("text") or ""
    match stored["type"]:
        case "template" if template := stored.get("template"):
            # The text is not sent, because the provider has the template's text.
            sent = OutgoingTemplate(template["name"], template["language"], stored["components"])
            header = _file(stored | {"type": stored.get("header_file")}, files)
            return Part(text=text, template=sent, file=header.file if header else None)
        case "location" if place := _place(stored.get("location") or {}, text):
            return place
        case type_ if type_ in FILE_TYPES:
            return _file(stored, files)
    text = "\n".join(filter(None, [text, kind_of(stored).label(stored)]))
    return Part(text=text, choices=choices) if text or choices else None


def _place(place: dict[str, Any], text: str) -> Part | None:
    latitude, longitude = place.get("latitude"), place.get("longitude")
    if latitude is None or longitude is None:
        return None
    link = f"https://maps.google.com/?q={latitude},{longitude}"
    shown = "\n".join(filter(None, [text, link]))
    return Part(text=shown, place=Place(latitude, longitude, text))


def _file(stored: dict[str, Any], files: dict[str, Attachment]) -> Part | None:
    row = files.get(stored.get("attachment_id") or "")
    if row:
        name = row.file.name or ""
        file = OutgoingFile(
            kind=stored["type"], file_name=row.file_name, mime_type=row.mime_type,
            size_bytes=row.size_bytes, open=lambda: default_storage.open(name),
        )  # fmt: skip
    elif stored.get("url"):
        file = OutgoingFile(
            kind=stored["type"], url=stored["url"], file_name=stored.get("file_name") or ""
        )
    else:
        return None
    return Part(file=file, text=stored.get("text") or "")
