"""Split messages to customers into parts, and send the parts with the Bot API."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from channels_app.providers import http, text
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.telegram import client
from channels_app.providers.types import Account, Envelope, OutgoingFile, Part

MAX_TEXT, MAX_CAPTION = 4096, 1024  # UTF-16 code units
MAX_CHOICES, MAX_TITLE, MAX_PAYLOAD = 20, 60, 64
_MAX_PHOTO, _MAX_FILE = 10_000_000, 50_000_000
# The message types: for stored files by MIME type, and for linked files by kind. Stored files of
# any other MIME type are sent as documents.
_STORED = {
    "image/jpeg": "Photo", "image/png": "Photo", "image/webp": "Photo", "image/gif": "Animation",
    "video/mp4": "Video", "audio/ogg": "Voice", "audio/mpeg": "Audio", "audio/mp4": "Audio",
}  # fmt: skip
_LINKED = {"image": "Photo", "audio": "Audio", "video": "Video"}


def parts(content: Sequence[Part]) -> list[Part]:
    """Split texts at the limit. Choices follow the last piece, or become lines of the text. A text
    before a file becomes its caption. Long captions, names of places and links to documents become
    separate texts."""
    planned = list[Part]()
    joined = text.as_captions(
        content, MAX_CAPTION, has_caption=lambda _file: True, size=text.utf16_units
    )
    for part in joined:
        if part.place:
            planned += [*_texts(Part(text=part.place.name)), part]
        elif part.file and not part.file.open and part.file.kind not in _LINKED:
            planned += _texts(as_link(part))
        elif part.file and text.utf16_units(part.text) > MAX_CAPTION:
            planned += [*_texts(Part(text=part.text)), replace(part, text="")]
        else:
            planned += [part] if part.file else _texts(part)
    return planned


def as_link(part: Part) -> Part:
    """A text with the caption and the URL of a linked file."""
    return Part(text="\n".join(filter(None, [part.text, part.file.url if part.file else ""])))


def as_document(part: Part) -> Part:
    """The part with its file sent as a document, whose content the provider does not check."""
    assert part.file
    return replace(part, file=replace(part.file, mime_type="application/octet-stream"))


def send(account: Account, part: Part, envelope: Envelope) -> Any:
    """Send one part, and return the provider's data about the sent message."""
    method = "Location" if part.place else _kind_of(part.file) if part.file else "Message"
    body: dict[str, Any] = {"chat_id": envelope.recipient_id}
    if part.place:
        body |= {"latitude": part.place.latitude, "longitude": part.place.longitude}
    elif part.text:
        body["caption" if part.file else "text"] = part.text
    if part.choices:
        rows = [[{"text": item.title, "callback_data": item.payload}] for item in part.choices]
        body["reply_markup"] = {"inline_keyboard": rows}
    if envelope.reply_to:
        message_id = int(envelope.reply_to.rpartition(":")[2])
        body["reply_parameters"] = {"message_id": message_id, "allow_sending_without_reply": True}
    form = None
    if part.file and part.file.open:
        form = http.multipart(body, method.lower(), part.file)
    elif part.file:
        body[method.lower()] = part.file.url
    return client.call(account.token, f"send{method}", body, form=form, is_send=True)


def _kind_of(file: OutgoingFile) -> str:
    if file.size_bytes > _MAX_FILE:
        raise ProviderError(Kind.REQUEST, "This channel accepts files up to 50 MB.")
    kind = _STORED.get(file.mime_type, "Document") if file.open else _LINKED[file.kind]
    return "Document" if kind == "Photo" and file.size_bytes > _MAX_PHOTO else kind


def _texts(part: Part) -> list[Part]:
    fits = bool(part.text.strip()) and len(part.choices) <= MAX_CHOICES and all(
        0 < len(choice.title) <= MAX_TITLE and 0 < text.utf8_bytes(choice.payload) <= MAX_PAYLOAD
        for choice in part.choices
    )  # fmt: skip
    return text.with_choices(part, MAX_TEXT, fits=fits, size=text.utf16_units)
