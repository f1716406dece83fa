"""Upload, list, prioritize, replace, retrain and delete a bot's documents."""

import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import IO, Any, TypeAlias

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import QuerySet
from django.http import FileResponse
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from bots.ingest.extraction import file_types
from bots.ingest.extraction.document import ExtractError
from bots.models import (
    Bot,
    Document,
    DocumentSource,
    DocumentStage,
    DocumentStatus,
    WebPage,
    WebUrl,
)
from bots.schemas.document import ImportantDocumentDto, RefusedFile, SkippedFile
from bots.services import bots, document_changes, publish_gate
from chatplatform import jobs, media
from chatplatform.api.errors import ApiError, Invalid, NotFound, TooLarge, first_or_404
from identity.models import ApiKey, User
from identity.services import audit

File: TypeAlias = "UploadedFile[Any]"

MAX_DOCUMENTS = 500
# Sources with text that the client wrote; they have no stored file.
WRITTEN = frozenset({DocumentSource.TEXT, DocumentSource.QUESTION_ANSWER})
# Column values that queue a document for training.
QUEUED: dict[str, Any] = {
    "status": DocumentStatus.QUEUED,
    "stage": DocumentStage.WAITING,
    "progress": 0,
    "error_code": "",
    "error_message": "",
}


class DocumentLimit(ApiError):
    code, status = "document_limit", 409
    detail = format_lazy(
        gettext_lazy("A bot can have up to {count} documents. Delete some first."),
        count=MAX_DOCUMENTS,
    )


@dataclass(frozen=True)
class StoredFile:
    """An uploaded file in the media store that no row references yet."""

    file: str  # its name in the store
    file_name: str
    mime_type: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class Uploaded:
    """The result of an upload: the documents, and the refused files with the reason for each."""

    documents: list[Document]
    refused: list[RefusedFile]


def upload(bot: Bot, *, files: Sequence[File], by: User | None) -> Uploaded:
    """Store files as documents and queue their training.

    If the bot already has a file, the existing document is returned, and trained again if its
    training had failed. If no file is accepted, raises DocumentLimit or an error that lists the
    files.
    """
    accepted: list[tuple[int, File, str]] = []
    refused: list[RefusedFile] = []
    for position, file in enumerate(files):
        try:
            accepted.append((position, file, _checked_type(position, file)))
        except ApiError as exc:
            refused.append(_refused(position, file, exc))
    if not accepted:
        raise _none_accepted(refused)
    stored: list[StoredFile] = []
    referenced: set[str] = set()
    try:
        stored.extend(_store(file, mime_type) for _, file, mime_type in accepted)
        with transaction.atomic():
            documents, over_limit = _create_documents(bot, stored, by=by)
        referenced = {document.file.name or "" for document in documents}
    finally:
        # Delete duplicates and files over the limit, and all files if the transaction failed.
        for stored_file in stored:
            if stored_file.file not in referenced:
                default_storage.delete(stored_file.file)
    for (position, file, _), stored_file in zip(accepted, stored, strict=True):
        if stored_file.sha256 in over_limit:
            refused.append(_refused(position, file, DocumentLimit()))
    return Uploaded(documents, sorted(refused, key=lambda item: item.position))


def _refused(position: int, file: File, exc: ApiError) -> RefusedFile:
    """A refused file with the code and message of its error."""
    code, message = exc.code, str(exc)
    if isinstance(exc, Invalid):
        code, message = exc.errors[0]["type"], exc.errors[0]["msg"]
    return RefusedFile(
        position=position, file_name=media.safe_name(file), code=code, message=message
    )


def _none_accepted(refused: Sequence[RefusedFile]) -> ApiError:
    """The error for an upload whose files are all refused."""
    texts = {item.position: f"{item.file_name}: {item.message}" for item in refused}
    if any(item.code == TooLarge.code for item in refused):
        return TooLarge(" ".join(texts.values()))
    return Invalid(
        [
            {
                "loc": ["body", "files", item.position],
                "msg": texts[item.position],
                "type": item.code,
            }
            for item in refused
        ]
    )


def _checked_type(position: int, file: File) -> str:
    if (file.size or 0) > settings.MAX_UPLOAD_BYTES:
        text = gettext("Files can be up to %(count)s MB.")
        raise TooLarge(text % {"count": settings.MAX_UPLOAD_BYTES // 1_000_000})
    try:
        return file_types.sniff(file.read(file_types.SNIFF_BYTES), media.safe_name(file))
    except ExtractError as exc:
        raise Invalid.field("body", "files", position, msg=exc.message, type=exc.code) from exc
    finally:
        file.seek(0)


def _store(file: File, mime_type: str) -> StoredFile:
    digest = hashlib.sha256()
    for block in file.chunks():
        digest.update(block)
    file.seek(0)
    name = media.store("documents", file)
    return StoredFile(name, media.safe_name(file), mime_type, file.size or 0, digest.hexdigest())


def _create_documents(
    bot: Bot, stored: Sequence[StoredFile], *, by: User | None
) -> tuple[list[Document], set[str]]:
    """Create documents and queue their training; the bot's lock prevents duplicates and enforces
    the limit.

    Returns the documents, and the digests of the files that exceed the limit.
    """
    bots.lock(bot)
    by_digest = {stored_file.sha256: stored_file for stored_file in stored}
    existing = _find_by_digest(bot, by_digest)
    new = [file for digest, file in by_digest.items() if digest not in existing]
    free_slots = max(0, MAX_DOCUMENTS - uploaded_documents(bot).count())
    new, over_limit = new[:free_slots], {file.sha256 for file in new[free_slots:]}
    if not new and not existing:
        raise DocumentLimit
    for digest, document in existing.items():
        if not _has_file(document):
            # The media store has lost the file; the upload replaces it.
            Document.objects.filter(pk=document.pk).update(file=by_digest[digest].file)
        if document.status == DocumentStatus.FAILED:
            retrain(document)
    for stored_file in new:
        document = Document.objects.create(client_id=bot.client_id, bot=bot, **asdict(stored_file))
        enqueue_training(document)
        record(document, "created", by=by)
    # Read again for the columns that the database sets.
    documents = _find_by_digest(bot, by_digest)
    return [documents[digest] for digest in by_digest if digest in documents], over_limit


def _find_by_digest(bot: Bot, digests: Iterable[str]) -> dict[str, Document]:
    rows = uploaded_documents(bot).filter(sha256__in=list(digests))
    return {document.sha256: document for document in rows}


class FileMissing(ApiError):
    code, status = "file_missing", 404
    detail = gettext_noop("The stored file is missing. Upload it again.")


def get(bot: Bot, document_id: int) -> Document:
    """One document of the bot; 404 if there is none."""
    return first_or_404(Document.objects.filter(bot=bot, pk=document_id))


def as_file(source: DocumentSource, *, title: str, content: str) -> bytes:
    """A written text, or a question with its answer, as the bytes of a text file."""
    is_pair = source == DocumentSource.QUESTION_ANSWER
    return (f"{title}\n\n{content}" if is_pair else content).encode()


def open_original(document: Document) -> IO[bytes]:
    """A document's original file; 404 `file_missing` if the media store has lost it."""
    source = DocumentSource(document.source)
    if source in WRITTEN:
        return io.BytesIO(as_file(source, title=document.title, content=document.content))
    try:
        return document.file.open()
    except (FileNotFoundError, ValueError) as exc:
        raise FileMissing from exc


def original_response(document: Document) -> FileResponse:
    """A download of a document's original file."""
    return media.file_response(
        open_original(document),
        mime_type=document.mime_type,
        cache_control="private, no-cache",
        download_as=document.file_name,
    )


def uploaded_documents(bot: Bot, *, status: DocumentStatus | None = None) -> QuerySet[Document]:
    """The bot's uploaded files, unordered; only those with this `status`, if it is given."""
    rows = Document.objects.filter(bot=bot, source=DocumentSource.FILE, web_url=None)
    return rows.filter(status=status) if status else rows


def replace(bot: Bot, *, document_id: int, file: File, by: User) -> Document:
    """Replace the file of an uploaded document and train it again; its other settings are kept.

    The bot uses the old version until the new version is trained, and longer if the change is held
    back. 422 if another document has this file, 409 `deletion_held` if the document's deletion is
    held back.
    """
    if not uploaded_documents(bot).filter(pk=document_id).exists():
        raise NotFound
    stored = _store(file, _checked_type(0, file))
    try:
        with transaction.atomic():
            document = _lock_with_bot(bot, document_id)
            duplicates = uploaded_documents(bot).filter(sha256=stored.sha256)
            if duplicates.exclude(pk=document.pk).exists():
                raise Invalid.field(
                    "body", "files", 0, msg=gettext_noop("The bot already has this file.")
                )
            # A running training of the old version finds the document queued and stores nothing.
            document_changes.change(
                document, asdict(stored), **QUEUED, updated_at=datetime.now(UTC)
            )
            document = Document.objects.get(pk=document.pk)
            enqueue_training(document)
            record(document.drafted(), "changed", by=by)
    except BaseException:
        default_storage.delete(stored.file)
        raise
    return document


def enqueue_training(document: Document) -> None:
    """Enqueue the training of a queued document, in the transaction that queued it."""
    jobs.enqueue(
        "bots.train_document",
        client_id=document.client_id,
        # Only one worker at a time may read a document.
        ordering_key=f"document:{document.pk}",
        # Each client's smallest files are read first.
        priority=document.size_bytes,
        document_id=document.pk,
    )


def record(document: Document, action: str, *, by: User | None) -> None:
    """Write an audit entry for a document, in the transaction that changes it."""
    audit.record(
        document.client_id,
        f"document.{action}",
        by=by,
        subject=f"document:{document.pk}",
        changes={"file_name": document.file_name},
    )


def retrain(document: Document) -> bool:
    """Queue a trained or failed document for training; False if it is queued or in training."""
    with transaction.atomic():
        queued = Document.objects.filter(
            pk=document.pk, status__in=[DocumentStatus.TRAINED, DocumentStatus.FAILED]
        ).update(**QUEUED)
        if queued:
            enqueue_training(document)
    return bool(queued)


def reupload(bot: Bot, *, document_ids: Sequence[int]) -> tuple[list[int], list[SkippedFile]]:
    """Train documents again; returns the queued ids, and the skipped ids with their reasons."""
    rows = Document.objects.filter(bot=bot, pk__in=document_ids)
    documents = {document.pk: document for document in rows}
    queued: list[int] = []
    skipped: list[SkippedFile] = []
    for document_id in dict.fromkeys(document_ids):
        reason = _retrain_file(documents.get(document_id))
        if reason is None:
            queued.append(document_id)
        else:
            skipped.append(SkippedFile(id=document_id, reason=reason))
    return queued, skipped


def _retrain_file(document: Document | None) -> str | None:
    """Queue an uploaded or written document for training; returns None, or the reason if the
    document cannot be trained."""
    if document is None:
        return "not_found"
    if document.web_url_id is not None:
        return "web_page"
    if document.source not in WRITTEN and not _has_file(document):
        return "file_missing"
    return None if retrain(document) else "in_training"


def _has_file(document: Document) -> bool:
    name = document.file.name
    return bool(name and default_storage.exists(name))


def set_importance(bot: Bot, *, document_id: int, body: ImportantDocumentDto, by: User) -> Document:
    """Set whether a document takes precedence, and the period in which its text is used.

    Fields left out of the request are kept; 422 if the period would not end after it begins,
    409 `deletion_held` if the document's deletion is held back.
    """
    changes = {name: getattr(body, name) for name in body.model_fields_set}
    with transaction.atomic():
        document = _lock_with_bot(bot, document_id)
        drafted = document.drafted()
        before = {name: getattr(drafted, name) for name in changes}
        begins = changes.get("valid_from", drafted.valid_from)
        ends = changes.get("valid_to", drafted.valid_to)
        if begins and ends and begins >= ends:
            raise Invalid.field(
                "body", "valid_to", msg=gettext_noop("The end date must be after the start date.")
            )
        if changes != before:
            document_changes.change(document, changes)
            bots.bump_knowledge_version(bot.pk)
            audit.record(
                bot.client_id,
                "document.importance_changed",
                by=by,
                subject=f"document:{document.pk}",
                changes=body.model_dump(mode="json", exclude_unset=True),
            )
    # Read again, since the database rounds the times.
    return Document.objects.get(pk=document.pk)


def delete(bot: Bot, *, document_id: int, by: User) -> bool:
    """Delete a document with its passages; returns False if the deletion is held back instead."""
    with transaction.atomic():
        document = _lock_with_bot(bot, document_id)
        is_held = publish_gate.holds_change(document)
        if document.draft != document_changes.DELETION:
            record(document, "deleted", by=by)
        if is_held and document.draft != document_changes.DELETION:
            document_changes.hold_deletion(document)
        elif not is_held:
            document_changes.remove(document)
    return not is_held


def discard_change(document: Document, *, by: User | None) -> None:
    """Discard a document's draft. A document without a draft is held back as a whole and is
    deleted.

    The caller holds the bot's lock.
    """
    record(document, "change_discarded", by=by)
    if document.draft is None:
        document_changes.remove(document)
        return
    document_changes.drop(document)
    if document_changes.has_text(document.draft) and document.status != DocumentStatus.TRAINED:
        # The latest training was for the discarded text, so train the live text again.
        Document.objects.filter(pk=document.pk).update(**QUEUED)
        enqueue_training(document)
    elif document.source == DocumentSource.QUESTION_ANSWER:
        # The unanswered questions that waited for the change are asked again.
        jobs.enqueue("chats.ask_learned", client_id=document.client_id, document_id=document.pk)


def discard(bot: Bot, *, document_id: int, by: User) -> Document:
    """Discard a document's held-back change; 409 `not_held` if there is none.

    The change may be a new file or text that could not be read; no golden run tests such a change.
    """
    with transaction.atomic():
        document = _lock_with_bot(bot, document_id)
        if document.draft is None:
            raise publish_gate.NotHeld
        discard_change(document, by=by)
    return get(bot, document_id)


def _lock_with_bot(bot: Bot, document_id: int) -> Document:
    """Lock the bot, then the document, in the same order as training."""
    bots.lock(bot)
    return first_or_404(Document.objects.select_for_update().filter(bot=bot, pk=document_id))


def delete_all(bot: Bot, *, by: User | ApiKey) -> int:
    """Delete all documents of the bot, including crawled pages; returns their number. The text
    that the platform writes from the business hours is kept.

    The bot's websites are kept, and their next crawl reads the pages again.
    """
    with transaction.atomic():
        bots.lock(bot)
        rows = Document.objects.filter(bot=bot, from_business_hours=False)
        count, names = rows.count(), bots.file_names(rows)
        if not count:
            return 0
        # If these rows stayed, the websites would still show the pages as read.
        WebPage.objects.filter(web_url__bot=bot).delete()
        WebUrl.objects.filter(bot=bot).update(page_count=0)
        rows.delete()
        bots.bump_knowledge_version(bot.pk)
        bots.record(bot, "documents.deleted", by=by, count=count)
        media.remove_later(bot.client_id, names)
    return count
