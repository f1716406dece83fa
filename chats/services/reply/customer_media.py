"""Gives a customer's pictures and voice notes to the model, if it can read them and the client
allows it (`read_attachments`).

A transcript is stored with its voice note, for the bot, the agents and searches.
"""

import logging
from collections.abc import Container, Mapping, Sequence
from typing import Any

from bots.engine import Capability
from bots.engine.types import Recording
from bots.ingest.image_reencoding import ImageError, Picture, reencode
from bots.language import detection
from bots.services import engines
from chatplatform import jobs
from chatplatform.api.errors import ApiError
from chats.models import Attachment, Conversation, LockedConversation, Message, SenderType
from chats.schemas.content_kinds import text_of
from chats.services.core import enqueue_translations, message_status

log = logging.getLogger(__name__)
# The maximum number of pictures that the model gets for one reply: the latest ones.
MAX_PICTURES = 4
# The maximum size, in bytes, of a file that the model gets.
MAX_BYTES = 10_000_000
# The maximum width and height of a picture, in pixels. Models scale down larger pictures anyway.
LARGEST_SIDE = 1_536
_PICTURES = {"image/png", "image/jpeg", "image/webp"}
# The file name to send for a voice note of each type; model servers tell the type by the extension.
_VOICE_NOTES = {
    "audio/ogg": "voice.ogg", "audio/mpeg": "voice.mp3", "audio/wav": "voice.wav",
    "audio/mp4": "voice.m4a",
}  # fmt: skip
# A minute of speech at 32 kbit/s. 1,000 tokens are reserved for each minute.
_BYTES_PER_MINUTE = 240_000


def picture_ids(chat: Conversation, burst: Sequence[Message]) -> tuple[str, ...]:
    """The ids of the latest pictures in these messages, if the bot's model may look at them."""
    ids = [part["attachment_id"] for row in burst for part in _stored(row, _PICTURES)]
    is_allowed = ids and _may_use(chat, Capability.READ_PICTURES)
    return tuple(ids[-MAX_PICTURES:]) if is_allowed else ()


def pictures(chat: Conversation, ids: Sequence[str]) -> tuple[Picture, ...]:
    """The pictures for the model, scaled down and without metadata such as the location; unreadable
    pictures are left out."""
    reencoded = []
    for row in Attachment.objects.filter(conversation=chat, pk__in=ids).order_by("id"):
        try:
            with row.file.open("rb") as file:
                reencoded.append(reencode(file.read(), largest_side=LARGEST_SIDE))
        except (ImageError, OSError) as error:
            log.warning("picture %s cannot be shown to the model: %s", row.pk, error)
    return tuple(reencoded)


def enqueue_transcription(chat: LockedConversation, message: Message) -> None:
    """Enqueue the transcription of voice notes, if the message is a customer's and has any new."""
    if message.sender_type == SenderType.CUSTOMER and _untranscribed(message):
        jobs.enqueue(
            "chats.transcribe_message", client_id=chat.client_id, message_id=str(message.pk)
        )


def transcribe_message(message_id: str) -> None:
    """Transcribe the voice notes of a message, unless it has been deleted."""
    rows = Message.objects.select_related("conversation__client__config", "conversation__bot")
    message = rows.filter(pk=message_id).first()
    if message:
        transcribe(message.conversation, [message])


def transcribe(chat: Conversation, burst: Sequence[Message]) -> bool:
    """Transcribe the voice notes of these messages; return whether there is a new transcript.

    A voice note that cannot be transcribed stays as it is, for agents to listen to.
    """
    notes = [(row, part) for row in burst for part in _untranscribed(row)]
    if not notes or not _may_use(chat, Capability.TRANSCRIBE):
        return False
    has_transcribed = False
    for row, part in notes:
        try:
            _transcribe(chat, row, part)
            has_transcribed = True
        except (ApiError, OSError, Attachment.DoesNotExist) as error:
            log.warning("a voice note of %s is not transcribed: %r", row.pk, error)
    return has_transcribed


def _transcribe(chat: Conversation, message: Message, part: Mapping[str, Any]) -> None:
    row = Attachment.objects.get(pk=part["attachment_id"], conversation=chat)
    with row.file.open("rb") as file:
        data = file.read()
    # Use the language of the customer's previous text, because the chat's language may be a guess.
    earlier = Message.objects.filter(
        conversation=chat, sender_type=SenderType.CUSTOMER, seq__lt=message.seq
    )
    languages = earlier.exclude(text="").order_by("-seq").values_list("language", flat=True)
    recording = Recording(
        data,
        _VOICE_NOTES[part["mime_type"]],
        part["mime_type"],
        language=(languages.first() or "").partition("-")[0],
    )
    with engines.paid_work(
        chat.client,
        bot=chat.bot,
        purpose="transcript",
        characters=1_000 * (1 + len(data) // _BYTES_PER_MINUTE),
        key_id=chat.capped_key_id,
    ) as work:
        _store(message, part["attachment_id"], work.transcribe(recording))


def _store(message: Message, attachment_id: str, transcript: str) -> None:
    """Store a transcript with its voice note, if the message still has it, and update the message's
    text and language."""
    with jobs.commit():
        chat, row = message_status.lock(message)
        row.conversation = chat
        content = [dict(part) for part in row.content]
        for part in content:
            if part.get("attachment_id") == attachment_id:
                part["transcript"] = transcript
        text = text_of(content)
        language = detection.detect(text, default=chat.language, offered=chat.bot.languages)
        message_status.write(row, content=content, text=text, language=language)
        if not chat.is_preview:
            message_status.announce_message(chat, "message.updated", row)
            enqueue_translations.enqueue_for_agents(chat, row)


def _untranscribed(message: Message) -> list[dict[str, Any]]:
    return [part for part in _stored(message, _VOICE_NOTES) if not part.get("transcript")]


def _stored(message: Message, types: Container[str]) -> list[dict[str, Any]]:
    """The parts of a message that are stored files of these MIME types, of at most `MAX_BYTES`."""
    return [
        part
        for part in message.content
        if part.get("attachment_id")
        and part.get("mime_type") in types
        and (part.get("size_bytes") or 0) <= MAX_BYTES
    ]


def _may_use(chat: Conversation, capability: Capability) -> bool:
    """Whether the client lets the model read files and the bot's model has the capability."""
    is_allowed = chat.client.config.read_attachments
    return is_allowed and capability in engines.engine_for(chat.client, chat.bot).capabilities
