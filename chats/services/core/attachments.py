"""Files of messages. A file's type is detected from its bytes. Files are stored under random names,
and signed links open them."""

import logging
import uuid
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, TypeAlias

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.core.signing import BadSignature, TimestampSigner

from chatplatform import media
from chatplatform.api import rate_limits
from chatplatform.api.errors import ApiError, Forbidden, Invalid, NotFound, TooLarge, first_or_404
from chatplatform.api.rate_limits import DAY_SECONDS, Quota, counted_address, scaled
from chatplatform.api.request_context import current_address
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.ids import uuid7
from chats.models import ATTACHMENT_PATH, ATTACHMENT_SALT, Attachment, Conversation, Message
from chats.schemas.content_kinds import FILE_TYPES
from chats.schemas.message import MessageContent
from chats.services.core import customers
from identity.auth import Principal

log = logging.getLogger(__name__)
File: TypeAlias = "UploadedFile[Any]"
LINK_LIFETIME = timedelta(days=1)
# A file's type is detected from this many bytes at its beginning.
_HEAD_BYTES = 4096

_OFFICE = {
    b"word/": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    b"xl/": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    b"ppt/": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
# The accepted types, each with file extensions and signatures (offset, bytes). A file's name and
# declared type are not trusted. Browsers execute none of these types: HTML, SVG and scripts are
# left out. Operating systems open files with these extensions as the given type and never run them.
# A file with any other extension gets the type's first extension: `a.bat` becomes `a.bat.txt`.
_TYPES: dict[str, tuple[tuple[str, ...], tuple[tuple[int, bytes], ...]]] = {
    "image/png": ((".png",), ((0, b"\x89PNG\r\n\x1a\n"),)),
    "image/jpeg": ((".jpg", ".jpeg"), ((0, b"\xff\xd8\xff"),)),
    "image/gif": ((".gif",), ((0, b"GIF87a"), (0, b"GIF89a"))),
    "image/webp": ((".webp",), ((8, b"WEBP"),)),
    "application/pdf": ((".pdf",), ((0, b"%PDF-"),)),
    "audio/mpeg": ((".mp3",), ((0, b"ID3"), (0, b"\xff\xfb"))),
    "audio/ogg": ((".ogg", ".oga", ".opus"), ((0, b"OggS"),)),
    "audio/wav": ((".wav",), ((8, b"WAVE"),)),
    "audio/mp4": ((".m4a",), ((4, b"ftypM4A"),)),
    "video/mp4": ((".mp4", ".m4v", ".mov", ".heic"), ((4, b"ftyp"),)),
    "video/webm": ((".webm", ".mkv"), ((0, b"\x1aE\xdf\xa3"),)),
    _OFFICE[b"word/"]: ((".docx",), ()),
    _OFFICE[b"xl/"]: ((".xlsx",), ()),
    _OFFICE[b"ppt/"]: ((".pptx",), ()),
    "text/plain": (
        (".txt", ".text", ".md", ".csv", ".tsv", ".log", ".json", ".yaml", ".yml"),
        (),
    ),
}
MIME_TYPES = (*sorted(_TYPES.keys() - {"text/plain"}), "text/plain")
_MAX_NAME_CHARS = 255
_MARKUP = ("<!doctype", "<html", "<svg", "<?xml", "<script")


class AttachmentsOff(ApiError):
    code, status = "attachments_off", 409
    detail = "This bot doesn't accept files from customers."


@dataclass(frozen=True)
class StoredFile:
    """A file in the media store that does not belong to a message yet."""

    id: uuid.UUID
    name: str
    file_name: str
    mime_type: str
    size_bytes: int

    @property
    def content(self) -> dict[str, Any]:
        """The file as a part of a message's content."""
        family = self.mime_type.partition("/")[0]
        return {
            "type": family if family in FILE_TYPES else "file",
            "attachment_id": str(self.id),
            "file_name": self.file_name,
            "mime_type": self.mime_type,
            "size_bytes": self.size_bytes,
        }


@contextmanager
def stored(files: Sequence[File], *, by: Principal | None = None) -> Iterator[list[StoredFile]]:
    """Store files for a `with` block; when it ends, remove the files that it did not attach to a
    message. 422 or 413 if a file is not accepted, 429 if a daily limit on the bytes of visitors'
    files is reached."""
    types = [_checked_type(position, file) for position, file in enumerate(files)]
    size = sum(file.size or 0 for file in files)
    counted = _count_bytes(by, size) if by and by.is_public_key else ()
    stored_files: list[StoredFile] = []
    try:
        for file, mime_type in zip(files, types, strict=True):
            name = media.store("attachments", file)
            shown_name = inert_name(media.safe_name(file), mime_type)
            stored_files.append(StoredFile(uuid7(), name, shown_name, mime_type, file.size or 0))
        yield stored_files
    finally:
        ids = [stored_file.id for stored_file in stored_files]
        attached = set(Attachment.objects.filter(pk__in=ids).values_list("pk", flat=True))
        for stored_file in stored_files:
            if stored_file.id not in attached:
                _remove(stored_file.name)
        if not attached:
            # No bytes are counted if the message was not stored, or if an earlier request had
            # already stored it.
            rate_limits.undo_count(counted)


def _remove(name: str) -> None:
    """Remove a file that belongs to no message. If this fails, the clean-up in `media` removes the
    file later."""
    try:
        default_storage.delete(name)
    except OSError as exc:
        log.warning("%s, which no message got, could not be removed: %s", name, exc)


def _count_bytes(caller: Principal, size: int) -> Sequence[Quota]:
    """Count the bytes of a visitor's files against the daily quotas of the visitor, of their IP
    address and of the public key; return the quotas. 429 if a quota is used up."""
    assert caller.key
    factor, public_key = caller.client.rate_limit_factor, str(caller.key.pk)
    holders = (
        (str(caller), rate_limits.VISITORS_BYTES),
        (f"{public_key}:{counted_address(current_address())}", rate_limits.ADDRESS_BYTES),
        (public_key, settings.PUBLIC_KEY_UPLOAD_BYTES_PER_DAY),
    )
    quotas = [
        Quota("bytes", holder, scaled(amount, factor), DAY_SECONDS, size)
        for holder, amount in holders
    ]
    if refusal := rate_limits.count(quotas).refusal:
        raise refusal
    return quotas


def inert_name(name: str, mime_type: str) -> str:
    """The file's name, with an extension that belongs to its type, so that no system runs the
    file."""
    extensions, _ = _TYPES[mime_type]
    if name.lower().endswith(extensions):
        return name
    return f"{name[: _MAX_NAME_CHARS - len(extensions[0])]}{extensions[0]}"


def ensure_allowed(
    chat: Conversation, parts: Sequence[MessageContent], files: Sequence[object] = ()
) -> None:
    """Raise 409 `attachments_off` if a customer sends a file and the bot accepts no files, or 403
    if the customer is blocked. Files from messaging channels are always accepted, because the
    customer has already sent them."""
    customers.ensure_not_blocked(chat.customer)
    has_files = bool(files) or any(part.type in FILE_TYPES for part in parts)
    if has_files and chat.channel not in MESSAGING_CHANNELS and not chat.bot.attach_enabled:
        raise AttachmentsOff


def attach(message: Message, files: Sequence[StoredFile]) -> None:
    """Create the rows of a message's files, in the transaction that stores the message."""
    Attachment.objects.bulk_create(
        Attachment(
            id=file.id,
            client_id=message.client_id,
            conversation_id=message.conversation_id,
            message=message,
            file=file.name,
            file_name=file.file_name,
            mime_type=file.mime_type,
            size_bytes=file.size_bytes,
        )
        for file in files
    )


def remove_for_message(message: Message) -> None:
    """Remove a message's files, in the transaction that clears its content."""
    rows = Attachment.objects.filter(message=message)
    media.remove_later(message.client_id, list(rows.values_list("file", flat=True)))
    rows.delete()


def resolve_links(
    chat: Conversation, parts: Sequence[MessageContent], *, field: str = "attachments"
) -> list[dict[str, Any]]:
    """The content to store for the parts in the body's `field`. A link to a file on this host
    becomes a reference to the file; 422 if the chat has no such file."""
    rows = Attachment.objects.for_client(chat.client).filter(conversation=chat)
    content = []
    for position, part in enumerate(parts):
        resolved = part.model_dump(mode="json", exclude_none=True, exclude={"transcript"})
        url = (part.url or "").removeprefix(settings.PUBLIC_URL.rstrip("/"))
        if url.startswith("/"):
            try:
                row = rows.get(pk=uuid.UUID(url.removeprefix(ATTACHMENT_PATH).partition("?")[0]))
            except (ValueError, Attachment.DoesNotExist) as exc:
                msg = "This is not a file of this conversation."
                raise Invalid.field("body", field, position, "url", msg=msg) from exc
            stored = StoredFile(row.pk, "", row.file_name, row.mime_type, row.size_bytes)
            resolved = stored.content | {"text": part.text}
        content.append(resolved)
    return content


def open_by_link(attachment_id: uuid.UUID, *, signature: str) -> tuple[Attachment, IO[bytes]]:
    """An attachment and its open file; 403 if the link's signature is wrong or too old, 404 if the
    file no longer exists."""
    try:
        TimestampSigner(salt=ATTACHMENT_SALT).unsign(
            f"{attachment_id}:{signature}", max_age=LINK_LIFETIME
        )
    except BadSignature as exc:
        raise Forbidden("This link is invalid or has expired. Reload the message.") from exc
    row = first_or_404(Attachment.objects.filter(pk=attachment_id))
    try:
        return row, row.file.open("rb")
    except FileNotFoundError as exc:
        raise NotFound from exc


def _checked_type(position: int, file: File) -> str:
    """The file's detected type; 413 if the file is too large, 422 if its type is not accepted."""
    if (file.size or 0) > settings.MAX_UPLOAD_BYTES:
        raise TooLarge(f"Files can be up to {settings.MAX_UPLOAD_BYTES // 1_000_000} MB.")
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    mime_type = _mime_type(head)
    if mime_type is None:
        raise Invalid.field(
            "body", "files", position,
            msg="Send an image, audio, video, PDF, Office document, or plain text.",
            type="unsupported_type" if head else "empty_file",
        )  # fmt: skip
    return mime_type


def _mime_type(head: bytes) -> str | None:
    for mime_type, (_, signatures) in _TYPES.items():
        if any(head.startswith(magic, offset) for offset, magic in signatures):
            return mime_type
    if head.startswith(b"PK\x03\x04"):
        return next((mime for folder, mime in _OFFICE.items() if folder in head), None)
    return "text/plain" if _is_plain_text(head) else None


def _is_plain_text(head: bytes) -> bool:
    decoder = getincrementaldecoder("utf-8-sig")()
    try:
        # The head of a longer file may end in the middle of a character.
        text = decoder.decode(head, final=len(head) < _HEAD_BYTES)
    except UnicodeDecodeError:
        return False
    readable = all(char >= " " or char in "\t\n\r\f" for char in text)
    return bool(text) and readable and not text.lstrip().lower().startswith(_MARKUP)
