"""Training: reads a document, splits it into passages and stores them.

The bot can immediately find stored passages by their words; `document_embedding` adds the vectors.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils.translation import gettext_noop

from bots.ingest import chunking, extraction
from bots.ingest.chunking import Piece
from bots.ingest.extraction.document import ExtractedText, ExtractError
from bots.models import Bot, Chunk, Document, DocumentSource, DocumentStage, DocumentStatus
from bots.services import document_changes, document_embedding, encoders, publish_gate
from chatplatform import jobs, media
from chatplatform.media_stores import FilesUnavailable

log = logging.getLogger(__name__)

_UNFINISHED = (DocumentStatus.QUEUED, DocumentStatus.TRAINING)
_UNREAD = (DocumentStage.WAITING, DocumentStage.READING)


class Gone(Exception):
    """While the document was read, it was deleted, queued again or read by another job."""


@dataclass(frozen=True)
class SplitDocument:
    """A document's text and the passages that it was split into."""

    text: ExtractedText
    pieces: Sequence[Piece]


def train(document_id: int) -> None:
    """Read a queued document and, if it is short, encode it; mark it as failed if it is unreadable.

    Safe to run twice: a finished document is not changed, an interrupted run is continued.
    """
    document = _begin(document_id)
    if document is None:
        log.info("document %s is deleted or was already read", document_id)
    else:
        try:
            _store(document, _split(document))
        except ExtractError as exc:
            # A retry cannot help, since the file does not change.
            fail(document_id, code=exc.code, message=exc.message)
            return
        except Gone:
            log.info("document %s was deleted or queued again while it was read", document_id)
            return
    read = Document.objects.filter(pk=document_id).first()
    if read and read.drafted().chunk_count <= document_embedding.SHORT_PASSAGES:
        document_embedding.encode_all(document_id)


def _begin(document_id: int) -> Document | None:
    """Mark a document as being read; None if it was already read or is deleted.

    The returned document includes its held-back change.
    """
    unread = Document.objects.filter(pk=document_id, status__in=_UNFINISHED, stage__in=_UNREAD)
    is_unread = unread.update(
        status=DocumentStatus.TRAINING,
        stage=DocumentStage.READING,
        started_at=datetime.now(UTC),
        error_code="",
        error_message="",
    )
    rows = Document.objects.select_related("bot").filter(pk=document_id)
    document = rows.first() if is_unread else None
    return document.drafted() if document else None


def fail(document_id: int, *, code: str, message: str) -> None:
    """Mark a document in training as failed, and announce the failure."""
    with jobs.commit():
        # A document that was queued again in the meantime has new content and another job.
        failed = _in_training(document_id).update(
            status=DocumentStatus.FAILED, error_code=code[:60], error_message=message[:500]
        )
        if failed:
            document_embedding.announce_end("document.failed", document_id)


def fail_interrupted(*, document_id: int, cause: FilesUnavailable | None = None) -> None:
    """Mark a document as failed after its job's last attempt, in the job's final transaction."""
    code, message = (
        "interrupted",
        gettext_noop("Reading was interrupted too many times. Try again."),
    )
    if cause:
        code = cause.code
        message = gettext_noop("File storage was unavailable for over an hour. Try again.")
    failed = Document.objects.filter(pk=document_id, status__in=_UNFINISHED).update(
        status=DocumentStatus.FAILED, error_code=code, error_message=message
    )
    if failed:
        document_embedding.announce_end("document.failed", document_id)


def _in_training(document_id: int) -> QuerySet[Document]:
    return Document.objects.filter(pk=document_id, status=DocumentStatus.TRAINING)


def _split(document: Document) -> SplitDocument:
    """Read a document and split it into passages; too slow to run inside a transaction."""
    text = _read(document)
    is_pair = document.source == DocumentSource.QUESTION_ANSWER
    pieces = chunking.chunk_whole_sections(text) if is_pair else chunking.chunk(text)
    if not pieces:
        raise ExtractError("empty", "The file has no text.")
    return SplitDocument(text, pieces)


def _read(document: Document) -> ExtractedText:
    default = document.bot.default_language
    if document.source == DocumentSource.QUESTION_ANSWER:
        return extraction.from_pair(document.title, document.content, default_language=default)
    if document.source == DocumentSource.TEXT:
        return extraction.from_text(document.title, document.content, default_language=default)
    try:
        with media.as_path(document.file.name or "") as path:
            return extraction.extract_in_child(
                path, file_name=document.file_name, default_language=default
            )
    except FileNotFoundError as exc:
        raise ExtractError("file_missing", "The file is missing. Upload it again.") from exc


def _store(document: Document, split: SplitDocument) -> None:
    """Replace the document's passages in one transaction, so that readers see all or none.

    Passages copy the vectors of the client's existing passages with the same content. The passages
    of a held-back text are stored next to the live passages.
    """
    with jobs.commit():
        # Lock the bot, then the document, in the same order as deletions.
        Bot.objects.select_for_update(no_key=True).filter(pk=document.bot_id).first()
        is_read = (
            _in_training(document.pk)
            .filter(stage=DocumentStage.READING)
            .update(
                # The shown progress does not decrease after a retry.
                progress=Greatest(F("progress"), document_embedding.READ_PERCENT)
            )
        )
        if not is_read:
            raise Gone
        passages = list(_passages(document, split, _with_same_content(document, split.pieces)))
        is_draft = _write_columns(document.pk, split)
        for passage in passages:
            passage.is_draft = is_draft
        Chunk.objects.filter(document=document, is_draft=is_draft).delete()
        Chunk.objects.bulk_create(passages, batch_size=200)
        document_embedding.advance(Document.objects.get(pk=document.pk))


def _write_columns(document_id: int, split: SplitDocument) -> bool:
    """Store a document's title, language and warning; returns whether its passages belong to the
    draft."""
    document = Document.objects.select_related("bot").get(pk=document_id)
    columns = {
        "title": split.text.title[:300],
        "language": split.text.language,
        "warning": split.text.warning[:500],
        "chunk_count": len(split.pieces),
    }
    hashes = [piece.content_hash for piece in split.pieces]
    live = Chunk.objects.filter(document=document, is_draft=False).order_by("position")
    is_changed = list(live.values_list("content_hash", flat=True)) != hashes
    # A document whose deletion is held back has no other change.
    is_kept = document.draft != document_changes.DELETION
    is_new_text = is_changed and is_kept and publish_gate.holds_change(document)
    if is_new_text or document_changes.has_text(document.draft):
        document_changes.hold_text(document, columns)
        return True
    is_held = publish_gate.holds_document(document)
    Document.objects.filter(pk=document_id).update(
        **columns, **({"pending_review": True} if is_held else {})
    )
    return False


def _with_same_content(document: Document, pieces: Sequence[Piece]) -> dict[str, Chunk]:
    """The client's passages with the same content and with current vectors, by content hash."""
    rows = Chunk.objects.filter(
        client_id=document.client_id,
        content_hash__in={piece.content_hash for piece in pieces},
        embedding_model=encoders.current(document.client_id).id,
    )
    rows = rows.exclude(vector=b"").only(
        "content_hash", "vector", "sentence_vectors", "embedding_model", "dimension"
    )
    # Sorted, so that a passage with sentence vectors replaces one without.
    rows_in_order = sorted(rows, key=lambda row: len(row.sentence_vectors))
    return {row.content_hash: row for row in rows_in_order}


def _passages(
    document: Document, split: SplitDocument, existing: dict[str, Chunk]
) -> Iterable[Chunk]:
    for piece in split.pieces:
        same = existing.get(piece.content_hash)
        yield Chunk(
            client_id=document.client_id,
            bot_id=document.bot_id,
            document=document,
            position=piece.position,
            heading=piece.heading,
            page=piece.page,
            text=piece.text,
            sentences=list(piece.sentences),
            language=split.text.language,
            content_hash=piece.content_hash,
            embedding_model=same.embedding_model if same else "",
            dimension=same.dimension if same else 0,
            vector=same.vector if same else b"",
            sentence_vectors=same.sentence_vectors if same else b"",
        )
