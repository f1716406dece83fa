"""Training: files in, passages with vectors out."""

import hashlib
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest

from bots.knowledge import chunking, embedding, extract
from bots.knowledge.chunking import Piece
from bots.knowledge.extract import ExtractedText, ExtractError
from bots.models import Bot, Chunk, Document, DocumentStatus, WebPage, WebUrl
from bots.services import bots
from bots.shapes.train import DocumentDto, ImportantDocumentDto, SkippedFile
from chatplatform import jobs, media
from chatplatform.api.errors import ApiError, Invalid, NotFound, TooLarge
from identity.models import ApiKey, User
from identity.services import audit
from webhooks.services import announce

log = logging.getLogger(__name__)
File: TypeAlias = "UploadedFile[Any]"

MAX_DOCUMENTS = 500
# Sentences of a very long document that come after this time get no vector of their own (word
# cover then picks among them), so that a run ends before the worker's time limit.
EMBED_SECONDS = 400
# A document whose passages take longer than this fails: one without all its vectors would leave
# its whole bot to word search.
PASSAGE_SECONDS = 500
PROGRESS_SECONDS = 1.0
# Shares of the progress: reading the file, then encoding up to here, then storing.
READ_PERCENT, ENCODED_PERCENT = 5, 95


class DocumentLimit(ApiError):
    code, status = "document_limit", 409
    detail = f"A bot has at most {MAX_DOCUMENTS} documents; delete some first."


class Gone(Exception):
    """The document was deleted, or trained by another run, while this one worked."""


# --- files in -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stored:
    """An upload in the media store, before it is a document."""

    name: str
    file_name: str
    mime_type: str
    size_bytes: int
    sha256: str


def upload(bot: Bot, *, files: Sequence[File]) -> list[Document]:
    """Documents of these files, queued for training; all of them or none.

    Bytes that the bot already has give the document that it has; one that failed is tried again.
    """
    types = [_checked_type(position, file) for position, file in enumerate(files)]
    stored: list[Stored] = []
    kept: set[str] = set()
    try:
        for file, mime_type in zip(files, types, strict=True):
            stored.append(_store(file, mime_type))
        with transaction.atomic():
            documents = _record(bot, stored)
        kept = {document.file.name or "" for document in documents}
    finally:
        # Doubles, and everything where the rows did not come to be.
        for one in stored:
            if one.name not in kept:
                default_storage.delete(one.name)
    return documents


def _checked_type(position: int, file: File) -> str:
    if (file.size or 0) > settings.MAX_UPLOAD_BYTES:
        raise TooLarge(f"A file has at most {settings.MAX_UPLOAD_BYTES:,} bytes.")
    try:
        return extract.sniff(file.read(extract.SNIFF_BYTES), media.safe_name(file))
    except ExtractError as exc:
        raise Invalid.field("body", "files", position, msg=exc.message, type=exc.code) from exc
    finally:
        file.seek(0)


def _store(file: File, mime_type: str) -> Stored:
    digest = hashlib.sha256()
    for block in file.chunks():
        digest.update(block)
    file.seek(0)
    name = media.store("documents", file)
    return Stored(name, media.safe_name(file), mime_type, file.size or 0, digest.hexdigest())


def _record(bot: Bot, stored: Sequence[Stored]) -> list[Document]:
    """Rows and jobs; under the bot's lock, so that neither doubles nor the limit can be raced."""
    bots.lock(bot)
    by_digest = {one.sha256: one for one in stored}
    known = _of_digests(bot, by_digest)
    new = [one for digest, one in by_digest.items() if digest not in known]
    if _uploads(bot).count() + len(new) > MAX_DOCUMENTS:
        raise DocumentLimit
    for digest, document in known.items():
        if not _has_file(document):
            # The media store has lost the bytes: these are the same.
            Document.objects.filter(pk=document.pk).update(file=by_digest[digest].name)
        if document.status == DocumentStatus.FAILED:
            retrain(document)
    for one in new:
        made = Document.objects.create(
            client_id=bot.client_id,
            bot=bot,
            file=one.name,
            file_name=one.file_name,
            mime_type=one.mime_type,
            size_bytes=one.size_bytes,
            sha256=one.sha256,
        )
        enqueue_training(made)
    # Read again: the database set times and states.
    documents = _of_digests(bot, by_digest)
    return [documents[digest] for digest in by_digest]


def _uploads(bot: Bot) -> QuerySet[Document]:
    """Pages of the web have a life and a limit of their own."""
    return Document.objects.filter(bot=bot, web_url=None)


def _of_digests(bot: Bot, digests: Iterable[str]) -> dict[str, Document]:
    rows = _uploads(bot).filter(sha256__in=list(digests))
    return {document.sha256: document for document in rows}


def enqueue_training(document: Document) -> None:
    """Have a worker train a queued document; in the transaction that queued it."""
    jobs.enqueue(
        "bots.train_document",
        client_id=document.client_id,
        # One run a document at a time.
        ordering_key=f"document:{document.pk}",
        document_id=document.pk,
    )


def retrain(document: Document) -> bool:
    """Train a finished or failed document again; False where it is waiting or being trained."""
    with transaction.atomic():
        queued = Document.objects.filter(
            pk=document.pk, status__in=[DocumentStatus.TRAINED, DocumentStatus.FAILED]
        ).update(status=DocumentStatus.QUEUED, progress=0, error_code="", error_message="")
        if queued:
            enqueue_training(document)
    return bool(queued)


def reupload(bot: Bot, *, document_ids: Sequence[int]) -> tuple[list[int], list[SkippedFile]]:
    """Train files again: which were queued, and which were not and why."""
    rows = Document.objects.filter(bot=bot, pk__in=document_ids)
    found = {document.pk: document for document in rows}
    queued: list[int] = []
    skipped: list[SkippedFile] = []
    for document_id in dict.fromkeys(document_ids):
        reason = _again(found.get(document_id))
        if reason is None:
            queued.append(document_id)
        else:
            skipped.append(SkippedFile(id=document_id, reason=reason))
    return queued, skipped


def _again(document: Document | None) -> str | None:
    """Train one file again; else the reason why not."""
    if document is None:
        return "not_found"
    if document.web_url_id is not None:
        return "web_page"
    if not _has_file(document):
        return "file_missing"
    return None if retrain(document) else "in_training"


def _has_file(document: Document) -> bool:
    name = document.file.name
    return bool(name and default_storage.exists(name))


def uploaded_documents(bot: Bot) -> QuerySet[Document]:
    """The files that were uploaded for the bot; order and page are the caller's."""
    return _uploads(bot)


def set_importance(
    bot: Bot, *, document_id: int, given: ImportantDocumentDto, by: User
) -> Document:
    """Say whether a document ranks first, and from when until when its text holds."""
    changes = {name: getattr(given, name) for name in ("is_important", "valid_from", "valid_to")}
    with transaction.atomic():
        # First the bot, then the document, as everywhere.
        bots.lock(bot)
        document = Document.objects.select_for_update().filter(bot=bot, pk=document_id).first()
        if document is None:
            raise NotFound
        before = {name: getattr(document, name) for name in changes}
        if changes != before:
            Document.objects.filter(pk=document.pk).update(**changes)
            bots.bump_knowledge_version(bot.pk)
            audit.record(
                bot.client_id,
                "document.importance_changed",
                by=by,
                subject=f"document:{document.pk}",
                changes=given.model_dump(mode="json"),
            )
    # Read again: the times come back as the database keeps them.
    return Document.objects.get(pk=document.pk)


def delete(bot: Bot, *, document_id: int, by: User) -> None:
    """Forget a document: its row, its passages, and after the commit its file."""
    with transaction.atomic():
        # First the bot, then the document: the order in which training locks them too.
        bots.lock(bot)
        document = Document.objects.select_for_update().filter(bot=bot, pk=document_id).first()
        if document is None:
            raise NotFound
        name, subject = document.file.name, f"document:{document.pk}"
        WebPage.objects.filter(document=document).delete()
        document.delete()
        _tell_web_url(document)
        bots.bump_knowledge_version(bot.pk)
        audit.record(
            bot.client_id,
            "document.deleted",
            by=by,
            subject=subject,
            changes={"file_name": document.file_name},
        )
        media.remove_later(bot.client_id, [name])


def delete_all(bot: Bot, *, by: User | ApiKey) -> int:
    """Forget every document of the bot, in whatever state, web pages too; how many there were.

    The addresses that pages came from stay: a later crawl reads them anew.
    """
    with transaction.atomic():
        bots.lock(bot)
        rows = Document.objects.filter(bot=bot)
        names = list(rows.values_list("file", flat=True))
        if not names:
            return 0
        # What a crawl remembers of a page would make it believe that the page is still known.
        WebPage.objects.filter(web_url__bot=bot).delete()
        WebUrl.objects.filter(bot=bot).update(page_count=0)
        rows.delete()
        bots.bump_knowledge_version(bot.pk)
        audit.record(
            bot.client_id,
            "documents.deleted",
            by=by,
            subject=f"bot:{bot.pk}",
            changes={"count": len(names)},
        )
        media.remove_later(bot.client_id, names)
    return len(names)


# --- passages out -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """What training has made of a file; empty vectors where this machine has no encoder."""

    extracted: ExtractedText
    pieces: Sequence[Piece]
    vectors: Sequence[bytes]
    sentence_vectors: Sequence[bytes]


class Progress:
    """Writes the progress at most once a second, and stops the work that nobody wants any more."""

    def __init__(self, document_id: int) -> None:
        self._document_id = document_id
        self._written = time.monotonic()

    def tell(self, done: int, total: int) -> None:
        if time.monotonic() - self._written < PROGRESS_SECONDS:
            return
        self._written = time.monotonic()
        percent = READ_PERCENT + (ENCODED_PERCENT - READ_PERCENT) * done // max(total, 1)
        jobs.report_progress(percent)
        # A run that begins again after a cut stays at what was shown until it has passed it.
        shown = Greatest(F("progress"), percent)
        if not _running(self._document_id).update(progress=shown):
            raise Gone


def train(document_id: int) -> None:
    """Make a queued document known to its bot, or mark it as failed with the reason.

    May run twice: what is finished stays, what was cut short begins again.
    """
    begun = Document.objects.filter(
        pk=document_id, status__in=[DocumentStatus.QUEUED, DocumentStatus.TRAINING]
    ).update(status=DocumentStatus.TRAINING, error_code="", error_message="")
    document = Document.objects.filter(pk=document_id).first() if begun else None
    if document is None:
        log.info("document %s is gone or trained already", document_id)
        return
    try:
        _keep(document, _learn(document))
    except ExtractError as exc:
        # The file will not get better: no retry.
        fail(document_id, code=exc.code, message=exc.message)
    except Gone:
        log.info("document %s went away while it was trained", document_id)


def fail(document_id: int, *, code: str, message: str) -> None:
    """Mark an unfinished document as failed and announce it."""
    with jobs.commit():
        # One that is queued anew meanwhile has new bytes, and another run.
        failed = _running(document_id).update(
            status=DocumentStatus.FAILED, error_code=code[:60], error_message=message[:500]
        )
        if failed:
            _announce("document.failed", document_id)


def abandon(document_id: int) -> None:
    """No attempt is left: say so where people look. Runs in the transaction that ends the job."""
    marked = Document.objects.filter(
        pk=document_id, status__in=[DocumentStatus.QUEUED, DocumentStatus.TRAINING]
    ).update(
        status=DocumentStatus.FAILED,
        error_code="interrupted",
        error_message="Training was interrupted too often; train the document again.",
    )
    if marked:
        _announce("document.failed", document_id)


def _running(document_id: int) -> QuerySet[Document]:
    return Document.objects.filter(pk=document_id, status=DocumentStatus.TRAINING)


def _learn(document: Document) -> Learned:
    """Read, cut and encode; no transaction is open meanwhile."""
    path = Path(document.file.path)
    if not path.is_file():
        raise ExtractError("file_missing", "The file is no longer there; upload it again.")
    extracted = extract.extract_in_child(path, file_name=document.file_name)
    pieces = chunking.chunk(extracted)
    if not pieces:
        raise ExtractError("empty", "The file holds no text.")
    return _encode(extracted, pieces, Progress(document.pk))


def _encode(extracted: ExtractedText, pieces: Sequence[Piece], progress: Progress) -> Learned:
    begun = time.monotonic()
    total = len(pieces) + sum(len(piece.sentences) for piece in pieces)

    def tell(done: int, _: int) -> None:
        if time.monotonic() - begun > PASSAGE_SECONDS:
            raise ExtractError("timeout", "Learning it took too long; split the document.")
        progress.tell(done, total)

    vectors = embedding.embed_passages([piece.embedded for piece in pieces], tell)
    if vectors is None:
        return Learned(extracted, pieces, [b""] * len(pieces), [b""] * len(pieces))
    done = len(pieces)
    sentence_vectors: list[bytes] = []
    for piece in pieces:
        in_time = time.monotonic() - begun < EMBED_SECONDS
        found = _sentence_vectors(piece) if in_time else b""
        sentence_vectors.append(found)
        done += len(piece.sentences)
        progress.tell(done, total)
    return Learned(extracted, pieces, [vector.tobytes() for vector in vectors], sentence_vectors)


def _sentence_vectors(piece: Piece) -> bytes:
    vectors = embedding.embed_passages(piece.sentences)
    return b"" if vectors is None else vectors.tobytes()


def _keep(document: Document, learned: Learned) -> None:
    """Replace what the bot knew from this document, in one step that every reader sees whole."""
    with jobs.commit():
        # First the bot, then the document: the order in which deleting locks them too.
        Bot.objects.select_for_update(no_key=True).filter(pk=document.bot_id).first()
        finished = _running(document.pk).update(
            status=DocumentStatus.TRAINED,
            progress=100,
            title=learned.extracted.title[:300],
            language=learned.extracted.language,
            chunk_count=len(learned.pieces),
            trained_at=datetime.now(UTC),
        )
        if not finished:
            raise Gone
        Chunk.objects.filter(document=document).delete()
        Chunk.objects.bulk_create(_chunks(document, learned), batch_size=200)
        bots.bump_knowledge_version(document.bot_id)
        _announce("document.trained", document.pk)


def _chunks(document: Document, learned: Learned) -> Iterable[Chunk]:
    made = zip(learned.pieces, learned.vectors, learned.sentence_vectors, strict=True)
    for piece, vector, sentence_vectors in made:
        yield Chunk(
            client_id=document.client_id,
            bot_id=document.bot_id,
            document=document,
            position=piece.position,
            heading=piece.heading,
            page=piece.page,
            text=piece.text,
            sentences=list(piece.sentences),
            language=learned.extracted.language,
            embedding_model=embedding.MODEL_ID if vector else "",
            dimension=embedding.DIMENSION if vector else 0,
            vector=vector,
            sentence_vectors=sentence_vectors,
        )


def _announce(event: str, document_id: int) -> None:
    document = Document.objects.get(pk=document_id)
    data = DocumentDto.from_row(document).model_dump(mode="json")
    announce(document.client_id, event, {"bot_id": document.bot_id, "document": data})
    _tell_web_url(document)


def _tell_web_url(document: Document) -> None:
    """One page less is awaited: its crawl may be complete now."""
    if document.web_url_id:
        jobs.enqueue(
            "bots.settle_web_url", client_id=document.client_id, web_url_id=document.web_url_id
        )
