"""Training: files in, passages with vectors out."""

import hashlib
import logging
import secrets
import time
import unicodedata
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

from bots.knowledge import chunking, embedding, extract
from bots.knowledge.chunking import Piece
from bots.knowledge.extract import Extracted, ExtractError
from bots.models import Bot, Chunk, Document, DocumentStatus
from bots.serializers.train import DocumentDto
from chatplatform.errors import ApiError, Invalid, NotFound, TooLarge
from chatplatform.jobs import enqueue, hold_lease, report_progress
from webhooks.services import announce

log = logging.getLogger(__name__)
File: TypeAlias = "UploadedFile[Any]"

MAX_DOCUMENTS = 500
# Sentences of a very long document that come after this time get no vector of their own (word
# cover then picks among them), so that a run ends before the worker's time limit.
EMBED_SECONDS = 400
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
        return extract.sniff(file.read(extract.SNIFF_BYTES), clean_name(file))
    except ExtractError as exc:
        raise Invalid.field("body", "files", position, msg=exc.message, type=exc.code) from exc
    finally:
        file.seek(0)


def clean_name(file: File) -> str:
    """The name alone: no folders, control characters or marks that turn the text around."""
    name = Path((file.name or "").replace("\\", "/")).name
    visible = "".join(char for char in name if unicodedata.category(char)[0] != "C")
    return visible[-255:] or "file"


def _store(file: File, mime_type: str) -> Stored:
    digest = hashlib.sha256()
    for block in file.chunks():
        digest.update(block)
    file.seek(0)
    # Nothing of the given name reaches the file system.
    name = default_storage.save(f"documents/{secrets.token_hex(16)}", file)
    return Stored(name, clean_name(file), mime_type, file.size or 0, digest.hexdigest())


def _record(bot: Bot, stored: Sequence[Stored]) -> list[Document]:
    """Rows and jobs; under the bot's lock, so that neither doubles nor the limit can be raced."""
    if not Bot.objects.select_for_update(no_key=True).filter(pk=bot.pk).exists():
        raise NotFound
    by_digest = {one.sha256: one for one in stored}
    known = _of_digests(bot, by_digest)
    new = [one for digest, one in by_digest.items() if digest not in known]
    if Document.objects.filter(bot=bot).count() + len(new) > MAX_DOCUMENTS:
        raise DocumentLimit
    for document in known.values():
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
        _enqueue(made)
    # Read again: the database set times and states.
    documents = _of_digests(bot, by_digest)
    return [documents[digest] for digest in by_digest]


def _of_digests(bot: Bot, digests: Iterable[str]) -> dict[str, Document]:
    rows = Document.objects.filter(bot=bot, sha256__in=list(digests))
    return {document.sha256: document for document in rows}


def _enqueue(document: Document) -> None:
    enqueue(
        "bots.train_document",
        client_id=document.client_id,
        # One run a document at a time.
        lane=f"document:{document.pk}",
        document_id=document.pk,
    )


def retrain(document: Document) -> bool:
    """Train a finished or failed document again; False where it is waiting or being trained."""
    with transaction.atomic():
        queued = Document.objects.filter(
            pk=document.pk, status__in=[DocumentStatus.TRAINED, DocumentStatus.FAILED]
        ).update(status=DocumentStatus.QUEUED, progress=0, error_code="", error_message="")
        if queued:
            _enqueue(document)
    return bool(queued)


def of_bot(bot: Bot) -> QuerySet[Document]:
    """The bot's documents; order and page are the caller's."""
    return Document.objects.filter(bot=bot)


def delete(bot: Bot, *, document_id: int) -> None:
    """Forget a document: its row, its passages, and after the commit its file."""
    with transaction.atomic():
        # First the bot, then the document: the order in which training locks them too.
        Bot.objects.select_for_update(no_key=True).filter(pk=bot.pk).first()
        document = Document.objects.select_for_update().filter(bot=bot, pk=document_id).first()
        if document is None:
            raise NotFound
        name = document.file.name
        document.delete()
        Bot.objects.filter(pk=bot.pk).update(knowledge_version=F("knowledge_version") + 1)
        if name:
            transaction.on_commit(lambda: default_storage.delete(name), robust=True)


# --- passages out -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """What training has made of a file; empty vectors where this machine has no encoder."""

    extracted: Extracted
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
        report_progress(percent)
        if not _running(self._document_id).update(progress=percent):
            raise Gone


def train(document_id: int) -> None:
    """Make a queued document known to its bot, or mark it as failed with the reason.

    May run twice: what is finished stays, what was cut short begins again.
    """
    begun = Document.objects.filter(
        pk=document_id, status__in=[DocumentStatus.QUEUED, DocumentStatus.TRAINING]
    ).update(status=DocumentStatus.TRAINING, progress=0, error_code="", error_message="")
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
    with transaction.atomic():
        hold_lease()
        failed = (
            Document.objects.filter(pk=document_id)
            .exclude(status=DocumentStatus.TRAINED)
            .update(status=DocumentStatus.FAILED, error_code=code[:60], error_message=message[:500])
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


def _encode(extracted: Extracted, pieces: Sequence[Piece], progress: Progress) -> Learned:
    deadline = time.monotonic() + EMBED_SECONDS
    total = len(pieces) + sum(len(piece.sentences) for piece in pieces)
    vectors = embedding.embed_passages(
        [piece.embedded for piece in pieces], lambda done, _: progress.tell(done, total)
    )
    if vectors is None:
        return Learned(extracted, pieces, [b""] * len(pieces), [b""] * len(pieces))
    done = len(pieces)
    sentence_vectors: list[bytes] = []
    for piece in pieces:
        found = _sentence_vectors(piece) if time.monotonic() < deadline else b""
        sentence_vectors.append(found)
        done += len(piece.sentences)
        progress.tell(done, total)
    return Learned(extracted, pieces, [vector.tobytes() for vector in vectors], sentence_vectors)


def _sentence_vectors(piece: Piece) -> bytes:
    vectors = embedding.embed_passages(piece.sentences)
    return b"" if vectors is None else vectors.tobytes()


def _keep(document: Document, learned: Learned) -> None:
    """Replace what the bot knew from this document, in one step that every reader sees whole."""
    with transaction.atomic():
        hold_lease()
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
        Bot.objects.filter(pk=document.bot_id).update(knowledge_version=F("knowledge_version") + 1)
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
    data = DocumentDto.of(document).model_dump(mode="json")
    announce(document.client_id, event, {"bot_id": document.bot_id, "document": data})
