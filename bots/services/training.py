"""Training: a document is read, cut into passages, encoded and stored."""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.db.models import F, QuerySet
from django.db.models.functions import Greatest

from bots.knowledge import chunking, embedding, extract
from bots.knowledge.chunking import Piece
from bots.knowledge.extract.document import ExtractedText, ExtractError
from bots.models import Bot, Chunk, Document, DocumentSource, DocumentStatus
from bots.services import bots, documents, golden_holds
from bots.shapes.train import DocumentDto
from chatplatform import jobs, media
from webhooks.services import announce

log = logging.getLogger(__name__)

# After this time the remaining sentences of a long document get no vectors, so that the run ends
# before the worker's time limit; their passages are then searched by words.
EMBED_SECONDS = 400
# A document whose passages take longer fails: if some of its vectors were missing, the whole bot
# would fall back to word search.
PASSAGE_SECONDS = 500
PROGRESS_SECONDS = 1.0
# Progress after reading the file, and after encoding.
READ_PERCENT, ENCODED_PERCENT = 5, 95
_UNFINISHED = (DocumentStatus.QUEUED, DocumentStatus.TRAINING)


class Gone(Exception):
    """The document was deleted, queued again or trained by another run meanwhile."""


@dataclass(frozen=True)
class EncodedDocument:
    """The passages of a document with their vectors, which are empty without an encoder."""

    text: ExtractedText
    pieces: Sequence[Piece]
    vectors: Sequence[bytes]
    sentence_vectors: Sequence[bytes]


class Progress:
    """Stores the progress at most once a second; raises Gone if the document is gone."""

    def __init__(self, document_id: int) -> None:
        self._document_id = document_id
        self._written_at = time.monotonic()

    def report(self, done: int, total: int) -> None:
        if time.monotonic() - self._written_at < PROGRESS_SECONDS:
            return
        self._written_at = time.monotonic()
        percent = READ_PERCENT + (ENCODED_PERCENT - READ_PERCENT) * done // max(total, 1)
        jobs.report_progress(percent)
        # After a retry the shown progress stays until the new run has passed it.
        if not _in_training(self._document_id).update(progress=Greatest(F("progress"), percent)):
            raise Gone


def train(document_id: int) -> None:
    """Train a queued document, or mark it as failed with the reason.

    Safe to run twice: a finished document is left alone, an interrupted run starts again.
    """
    is_unfinished = Document.objects.filter(pk=document_id, status__in=_UNFINISHED).update(
        status=DocumentStatus.TRAINING, error_code="", error_message=""
    )
    rows = Document.objects.select_related("bot").filter(pk=document_id)
    document = rows.first() if is_unfinished else None
    if document is None:
        log.info("document %s is gone or trained already", document_id)
        return
    try:
        _store(document, _read_and_encode(document))
    except ExtractError as exc:
        # The file does not change: a retry cannot help.
        fail(document_id, code=exc.code, message=exc.message)
    except Gone:
        log.info("document %s went away while it was trained", document_id)


def fail(document_id: int, *, code: str, message: str) -> None:
    """Mark a document in training as failed and announce it."""
    with jobs.commit():
        # A document that was queued again meanwhile has new bytes and a run of its own.
        failed = _in_training(document_id).update(
            status=DocumentStatus.FAILED, error_code=code[:60], error_message=message[:500]
        )
        if failed:
            _announce("document.failed", document_id)


def fail_interrupted(*, document_id: int) -> None:
    """No attempt is left. Runs in the transaction that ends the job."""
    failed = Document.objects.filter(pk=document_id, status__in=_UNFINISHED).update(
        status=DocumentStatus.FAILED,
        error_code="interrupted",
        error_message="Training was interrupted too often; train the document again.",
    )
    if failed:
        _announce("document.failed", document_id)


def _in_training(document_id: int) -> QuerySet[Document]:
    return Document.objects.filter(pk=document_id, status=DocumentStatus.TRAINING)


def _read_and_encode(document: Document) -> EncodedDocument:
    """Read, cut and encode a document, outside any transaction."""
    text = _read(document)
    is_pair = document.source == DocumentSource.QUESTION_ANSWER
    pieces = chunking.whole(text) if is_pair else chunking.chunk(text)
    if not pieces:
        raise ExtractError("empty", "The file holds no text.")
    encoded = _encode(text, pieces, Progress(document.pk))
    # An answer is found by its question: "Yes, for nine euros." alone says of what to nobody.
    return replace(encoded, sentence_vectors=encoded.vectors) if is_pair else encoded


def _read(document: Document) -> ExtractedText:
    default = document.bot.default_language
    if document.source == DocumentSource.QUESTION_ANSWER:
        return extract.from_pair(document.title, document.content, default_language=default)
    if document.source == DocumentSource.TEXT:
        return extract.from_text(document.title, document.content, default_language=default)
    try:
        with media.as_path(document.file.name or "") as path:
            return extract.extract_in_child(path, file_name=document.file_name)
    except FileNotFoundError as exc:
        message = "The file is no longer there; upload it again."
        raise ExtractError("file_missing", message) from exc


def _encode(text: ExtractedText, pieces: Sequence[Piece], progress: Progress) -> EncodedDocument:
    started = time.monotonic()
    total = len(pieces) + sum(len(piece.sentences) for piece in pieces)

    def report(done: int, _: int) -> None:
        if time.monotonic() - started > PASSAGE_SECONDS:
            raise ExtractError("timeout", "Training took too long; split the document.")
        progress.report(done, total)

    vectors = embedding.embed_passages([piece.embedded for piece in pieces], report)
    if vectors is None:
        return EncodedDocument(text, pieces, [b""] * len(pieces), [b""] * len(pieces))
    done = len(pieces)
    sentence_vectors: list[bytes] = []
    for piece in pieces:
        in_time = time.monotonic() - started < EMBED_SECONDS
        sentence_vectors.append(_sentence_vectors(piece) if in_time else b"")
        done += len(piece.sentences)
        progress.report(done, total)
    return EncodedDocument(text, pieces, [vector.tobytes() for vector in vectors], sentence_vectors)


def _sentence_vectors(piece: Piece) -> bytes:
    vectors = embedding.embed_passages(piece.sentences)
    return b"" if vectors is None else vectors.tobytes()


def _store(document: Document, encoded: EncodedDocument) -> None:
    """Replace the document's passages in one transaction, so that readers see all or nothing."""
    with jobs.commit():
        # First the bot, then the document: deleting locks them in the same order.
        Bot.objects.select_for_update(no_key=True).filter(pk=document.bot_id).first()
        finished = _in_training(document.pk).update(
            status=DocumentStatus.TRAINED,
            progress=100,
            title=encoded.text.title[:300],
            language=encoded.text.language,
            chunk_count=len(encoded.pieces),
            trained_at=datetime.now(UTC),
        )
        if not finished:
            raise Gone
        if golden_holds.holds_document(document):
            golden_holds.hold_document(document)
        Chunk.objects.filter(document=document).delete()
        Chunk.objects.bulk_create(_chunks(document, encoded), batch_size=200)
        bots.bump_knowledge_version(document.bot_id)
        _announce("document.trained", document.pk)
        if document.source == DocumentSource.QUESTION_ANSWER:
            # Whoever waits for this answer: the question that it was written for is asked again.
            jobs.enqueue("chats.ask_learned", client_id=document.client_id, document_id=document.pk)


def _chunks(document: Document, encoded: EncodedDocument) -> Iterable[Chunk]:
    passages = zip(encoded.pieces, encoded.vectors, encoded.sentence_vectors, strict=True)
    for piece, vector, sentence_vectors in passages:
        yield Chunk(
            client_id=document.client_id,
            bot_id=document.bot_id,
            document=document,
            position=piece.position,
            heading=piece.heading,
            page=piece.page,
            text=piece.text,
            sentences=list(piece.sentences),
            language=encoded.text.language,
            embedding_model=embedding.MODEL_ID if vector else "",
            dimension=embedding.DIMENSION if vector else 0,
            vector=vector,
            sentence_vectors=sentence_vectors,
        )


def _announce(event: str, document_id: int) -> None:
    document = Document.objects.get(pk=document_id)
    data = DocumentDto.from_row(document).model_dump(mode="json")
    announce(document.client_id, event, {"bot_id": document.bot_id, "document": data})
    documents.enqueue_crawl_update(document)
