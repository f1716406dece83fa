"""Reads passages of valid documents in the form that an index needs."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from django.db.models import Q, QuerySet

from bots.language import embedding
from bots.language.embedding import Vectors
from bots.models import Chunk, Document, DocumentSource
from bots.search.hybrid_index import IndexedPassage

# Selects the passages of documents that are not held back as a whole; a document may still have a
# held-back change.
PUBLISHED = Q(document__pending_review=False) | Q(document__draft__isnull=False)


def load(
    bot_id: int, *, now: datetime, held: Sequence[int] = (), encoder_id: str = embedding.MODEL_ID
) -> list[IndexedPassage]:
    """The passages of a bot's valid documents with their vectors, in document order.

    `held`: ids of held-back documents to include. `encoder_id`: the encoder whose vectors are read.
    """
    rows = Chunk.objects.filter(valid(now, prefix="document__"), bot_id=bot_id, is_draft=False)
    rows = rows.filter(PUBLISHED | Q(document_id__in=held))
    rows = rows.exclude(document__draft__isnull=False, document_id__in=held)
    passages = [indexed(row, encoder_id=encoder_id) for row in in_order(rows).iterator(500)]
    if held:
        passages += drafts(bot_id, held, now=now, encoder_id=encoder_id)
        passages.sort(key=lambda piece: (piece.document_id, piece.position or 0))
    return passages


def drafts(
    bot_id: int, held: Sequence[int], *, now: datetime, encoder_id: str
) -> list[IndexedPassage]:
    """The passages that these documents will have once their held-back changes are published."""
    passages: list[IndexedPassage] = []
    changed = Document.objects.filter(bot_id=bot_id, pk__in=held, draft__isnull=False)
    for document in changed.defer("content"):
        drafted, draft = document.drafted(), document.draft or {}
        if draft.get("is_deleted") or not drafted.is_valid_at(now):
            continue
        rows = Chunk.objects.filter(document=document, is_draft="chunk_count" in draft)
        for row in rows.order_by("position"):
            row.document = drafted
            passages.append(indexed(row, encoder_id=encoder_id))
    return passages


def in_order(rows: QuerySet[Chunk]) -> QuerySet[Chunk]:
    """Passages in document order, with the columns of their documents that an index needs."""
    rows = rows.select_related("document").defer("document__content")
    return rows.order_by("document_id", "position")


def valid(now: datetime, *, prefix: str = "") -> Q:
    """The condition that a document is valid at `now`; `prefix`: lookup path to the document."""
    has_begun = Q(**{f"{prefix}valid_from": None}) | Q(**{f"{prefix}valid_from__lte": now})
    has_not_ended = Q(**{f"{prefix}valid_to": None}) | Q(**{f"{prefix}valid_to__gt": now})
    return has_begun & has_not_ended


def indexed(row: Chunk, words: Sequence[str] | None = None, *, encoder_id: str) -> IndexedPassage:
    """A passage in the form that an index needs; computes its words if `words` is None."""
    # Vectors of another encoder cannot be compared with the question's vector, so they are left out
    # and only the passage's words count.
    is_current = row.embedding_model == encoder_id and row.dimension > 0
    vector = row.vector if is_current else b""
    sentence_vectors = row.sentence_vectors if is_current else b""
    return IndexedPassage(
        id=row.pk,
        document_id=row.document_id,
        title=row.document.title or row.document.file_name,
        url=row.document.url or None,
        heading=row.heading,
        page=row.page,
        text=row.text,
        language=row.language,
        vector=_floats(vector),
        sentences=tuple(row.sentences),
        sentence_vectors=_floats(sentence_vectors).reshape(-1, row.dimension or 1),
        answers=row.heading if row.document.source == DocumentSource.QUESTION_ANSWER else "",
        is_important=row.document.is_important,
        dated=row.document.valid_from.date().isoformat() if row.document.valid_from else "",
        position=row.position,
        words=words,
    )


def _floats(stored: bytes | memoryview) -> Vectors:
    return np.frombuffer(bytes(stored), dtype=np.float32)
