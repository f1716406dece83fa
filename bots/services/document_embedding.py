"""Computes the vectors of a document's passages in slices and stores each slice when it is done.

Two jobs encode a long document, one from its beginning and one from its end. A job that crashes
loses only the slice in progress.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Greatest

from bots.ingest.chunking import embedded
from bots.ingest.extraction import file_types
from bots.language.embedding import PACKAGED, EncoderDown, SearchEncoder
from bots.models import Bot, Chunk, Document, DocumentSource, DocumentStage, DocumentStatus
from bots.schemas.document import DocumentDto
from bots.services import bots, document_changes, encoders, large_bots, publish_gate
from chatplatform import jobs
from webhooks.services import announce

log = logging.getLogger(__name__)
# A slice ends after this many passages or seconds.
SLICE_PASSAGES, SLICE_SECONDS = 16, 2.0
# After this time, a new job continues the work, since exports and crawls share the workers.
RUN_SECONDS = 20.0
# Documents of up to this many passages are encoded by the job that read them, others by two jobs.
SHORT_PASSAGES = 24
_ENDS = 2
# A table with more passages is searched only by words, which find names and numbers better than
# vectors do.
MAX_ENCODED_ROWS = 300
# The progress when the document has been read and nothing is encoded yet.
READ_PERCENT = 5
_MISSING = {
    DocumentStage.PASSAGES: Q(vector=b""),
    DocumentStage.SENTENCES: Q(sentence_vectors=b""),
}
# Jobs with lower numbers run first. So for each client, all documents are read before any passages
# are encoded, and all passages are encoded before any sentences.
_PRIORITIES = {DocumentStage.PASSAGES: 10**9, DocumentStage.SENTENCES: 2 * 10**9}


@dataclass(frozen=True)
class _Vectors:
    vector: bytes
    sentence_vectors: bytes


def _enqueue_ends(document: Document, stage: DocumentStage) -> None:
    """Enqueue the jobs of a stage, in the transaction that begins it.

    A short document needs none, since the job that read it also encodes it.
    """
    for end in range(_ENDS if document.chunk_count > SHORT_PASSAGES else 0):
        _enqueue_end(document, stage, end)


def _enqueue_end(document: Document, stage: DocumentStage, end: int) -> None:
    key = f"encode:{document.pk}:{end}"
    jobs.enqueue(
        "bots.encode_document",
        client_id=document.client_id,
        dedupe_key=key,
        ordering_key=key,
        priority=_priority(document, stage),
        document_id=document.pk,
        end=end,
    )


def _priority(document: Document, stage: DocumentStage) -> int:
    return _PRIORITIES[stage] + document.size_bytes


def is_long_table(document: Document) -> bool:
    """Whether a document is a table so long that its rows are found only by their words."""
    return document.mime_type in file_types.TABLES and document.chunk_count > MAX_ENCODED_ROWS


def of_long_table() -> Q:
    """A condition that selects the passages of long tables."""
    return Q(document__mime_type__in=file_types.TABLES, document__chunk_count__gt=MAX_ENCODED_ROWS)


def encode_all(document_id: int) -> None:
    """Encode all passages and sentences of a document that has been read."""
    while _encoded(document_id).exists():
        _encode_slice(document_id, end=0)


def encode(document_id: int, *, end: int) -> None:
    """Encode part of a document, from its beginning (`end=0`) or its end (`end=1`).

    The rest becomes a new job after `RUN_SECONDS`, or if another client's job or a more urgent job
    is waiting.
    """
    started = time.monotonic()
    while (document := _encode_slice(document_id, end=end)) is not None:
        stage = DocumentStage(document.stage)
        priority = _priority(document, stage)
        is_long = time.monotonic() - started > RUN_SECONDS
        if is_long or jobs.should_yield(
            jobs.Queue.TRAIN, client_id=document.client_id, priority=priority
        ):
            with jobs.commit():
                _enqueue_end(document, stage, end)
            return


def _encode_slice(document_id: int, *, end: int) -> Document | None:
    """Encode and store one slice; returns the document if this end has more to encode in the same
    stage, else None."""
    document = _encoded(document_id).select_related("bot").first()
    if document is None:
        return None
    stage = DocumentStage(document.stage)
    rows = _missing(document, stage)
    if end and rows.count() <= SLICE_PASSAGES:
        return None  # The job at the other end encodes them.
    vectors: dict[int, _Vectors] = {}
    encoder = encoders.current(document.client_id)
    started = time.monotonic()
    # If no encoder is available, the document is found by word search only.
    limit = SLICE_PASSAGES if encoder.is_available() else 0
    ordered = list(rows.order_by("-position" if end else "position")[:limit])
    try:
        for first in range(0, len(ordered), encoder.batch):
            vectors |= _encode(encoder, document, stage, ordered[first : first + encoder.batch])
            if time.monotonic() - started > SLICE_SECONDS:
                break
    except EncoderDown as error:
        log.warning("document %s is searched by words for now: %s", document_id, error)
        limit = 0
    return _store(document, stage, vectors, encoder, is_down=not limit)


def _encoded(document_id: int) -> QuerySet[Document]:
    return Document.objects.filter(
        pk=document_id, status=DocumentStatus.TRAINING, stage__in=_MISSING
    )


def _missing(document: Document, stage: DocumentStage) -> QuerySet[Chunk]:
    return Chunk.objects.filter(_MISSING[stage], document=document)


def _encode(
    encoder: SearchEncoder, document: Document, stage: DocumentStage, rows: Sequence[Chunk]
) -> dict[int, _Vectors]:
    if stage == DocumentStage.SENTENCES:
        encoded = encoders.encode(encoder, [row.sentences for row in rows])
        return {
            row.pk: _Vectors(bytes(row.vector), vectors)
            for row, vectors in zip(rows, encoded, strict=True)
        }
    encoded = encoders.encode(encoder, [[embedded(row.heading, row.text)] for row in rows])
    # A written answer is encoded with its question, not sentence by sentence: a sentence such as
    # "Yes, for nine euros." does not show its topic.
    is_pair = document.source == DocumentSource.QUESTION_ANSWER
    return {
        row.pk: _Vectors(vector, vector if is_pair else b"")
        for row, vector in zip(rows, encoded, strict=True)
    }


def _store(
    document: Document,
    stage: DocumentStage,
    vectors: dict[int, _Vectors],
    encoder: SearchEncoder,
    *,
    is_down: bool,
) -> Document | None:
    """Store a slice; returns the document if passages are left in this stage, else begins the next
    stage and returns None."""
    with jobs.commit():
        # Lock the bot, then the document, in the same order as deletions.
        Bot.objects.select_for_update(no_key=True).filter(pk=document.bot_id).first()
        locked = _encoded(document.pk).select_for_update(no_key=True)
        current = locked.filter(stage=stage).first()
        if current is None:
            return None
        for pk, encoded in vectors.items():
            # Skip passages that were replaced or encoded in the meantime.
            _missing(current, stage).filter(pk=pk).update(
                vector=encoded.vector,
                sentence_vectors=encoded.sentence_vectors,
                embedding_model=encoder.id,
                dimension=len(encoded.vector) // 4,
            )
        if not vectors or not _missing(current, stage).exists():
            advance(current, may_encode=not is_down)
            return None
        percent = _percent(current)
        jobs.report_progress(percent)
        _encoded(current.pk).update(progress=Greatest(F("progress"), percent))
    return current


def _percent(document: Document) -> int:
    """The progress in percent; sentences take about as long to encode as passages."""
    counts = Chunk.objects.filter(document=document).aggregate(
        all=Count("pk"),
        passages=Count("pk", filter=~Q(vector=b"")),
        sentences=Count("pk", filter=~Q(sentence_vectors=b"")),
    )
    done = counts["passages"] + counts["sentences"]
    return int(READ_PERCENT + (99 - READ_PERCENT) * done // (2 * max(counts["all"], 1)))


def advance(document: Document, *, may_encode: bool = True) -> None:
    """Begin the next stage that has work to do, or finish the training.

    Indexes are rebuilt with the vectors stored so far. Passages that a remote encoder could not
    encode are left to a later job. The caller has locked the bot and the document.
    """
    document = document.drafted()
    bots.bump_knowledge_version(document.bot_id)
    large_bots.enqueue_backfill(document.bot_id, client_id=document.client_id)
    encoder = encoders.current(document.client_id)
    may_encode = may_encode and encoder.is_available()
    if not may_encode and encoder is not PACKAGED:
        encoders.enqueue_reindex(document.client_id)
    stages = _MISSING if may_encode and not is_long_table(document) else ()
    for stage in stages:
        if _missing(document, stage).exists():
            Document.objects.filter(pk=document.pk).update(stage=stage)
            _enqueue_ends(document, stage)
            return
    _finish(document)


def _finish(document: Document) -> None:
    Document.objects.filter(pk=document.pk).update(
        status=DocumentStatus.TRAINED,
        stage=DocumentStage.COMPLETE,
        progress=100,
        trained_at=datetime.now(UTC),
    )
    if document.pending_review:
        publish_gate.hold_document(document)
    announce_end("document.trained", document.pk)
    if document.source == DocumentSource.QUESTION_ANSWER:
        # The unanswered questions for which this answer was written are asked again.
        jobs.enqueue("chats.ask_learned", client_id=document.client_id, document_id=document.pk)


def announce_end(event: str, document_id: int) -> None:
    """Announce the end of a document's training, and enqueue an update of its website's status."""
    document = Document.objects.get(pk=document_id)
    data = DocumentDto.from_row(document).model_dump(mode="json")
    announce(document.client_id, event, {"bot_id": document.bot_id, "document": data})
    document_changes.enqueue_crawl_update(document)
