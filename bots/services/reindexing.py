"""Re-encodes a client's passages when its encoder changes, while its bots keep answering."""

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Length

from bots.ingest.chunking import embedded
from bots.language.embedding import EncoderDown, SearchEncoder
from bots.models import Bot, Chunk, DocumentSource, DocumentStatus, LanguageModel
from bots.search import confidence_calibration
from bots.services import bots, document_embedding, encoders, large_bots
from chatplatform import jobs

# The number of passages that are encoded and stored together.
_SLICE = 16
# After this time, a new job continues the work, since training shares the workers.
_RUN_SECONDS = 20.0
# How long a job waits if the encoder's server is down.
_PAUSE = timedelta(minutes=2)
# Swaps the vectors of the two encoders; the previous encoder's vectors are kept for switching back.
_SWAPPED: dict[str, Any] = {
    "embedding_model": F("other_model"),
    "other_model": F("embedding_model"),
    "vector": F("other_vector"),
    "other_vector": F("vector"),
    "sentence_vectors": F("other_sentence_vectors"),
    "other_sentence_vectors": F("sentence_vectors"),
    "dimension": Length("other_vector") / 4,
}


def reindex(client_id: int) -> None:
    """Encode a client's passages with its encoder; then switch the search to that encoder.

    Until then, the search uses the existing vectors.
    """
    started = time.monotonic()
    try:
        for row in encoders.own(client_id).filter(gate__isnull=True):
            fit(row)
        while True:
            encoder = encoders.current(client_id)
            missing = _missing(client_id, encoder)
            slice_ = list(missing.select_related("document").order_by("pk")[:_SLICE])
            if not slice_:
                return _switch_encoder(client_id, encoder)
            _encode_slice(client_id, encoder, slice_)
            if time.monotonic() - started > _RUN_SECONDS:
                with jobs.commit():
                    return encoders.enqueue_reindex(client_id)
    except EncoderDown as error:
        raise jobs.TryLater(str(error), wait=_PAUSE) from error


def _missing(client_id: int, encoder: SearchEncoder) -> QuerySet[Chunk]:
    is_encoded = Q(embedding_model=encoder.id) | Q(other_model=encoder.id)
    # Passages whose sentences are not encoded, for example because the encoder's server was down.
    without_sentences = Q(embedding_model=encoder.id, sentence_vectors=b"")
    without_sentences &= ~Q(document__status=DocumentStatus.TRAINING)
    rows = Chunk.objects.filter(~is_encoded | without_sentences, client_id=client_id)
    return rows.exclude(document_embedding.of_long_table())


def _encode_slice(client_id: int, encoder: SearchEncoder, rows: Sequence[Chunk]) -> None:
    passages = encoders.encode(encoder, [[embedded(row.heading, row.text)] for row in rows])
    sentences = encoders.encode(encoder, [row.sentences for row in rows])
    total = Chunk.objects.filter(client_id=client_id).count()
    percent = 100 - 100 * (_missing(client_id, encoder).count() - len(rows)) // max(total, 1)
    with jobs.commit(is_progress=True):
        for row, vector, by_sentences in zip(rows, passages, sentences, strict=True):
            is_pair = row.document.source == DocumentSource.QUESTION_ANSWER
            by_sentence = vector if is_pair else by_sentences
            passage = Chunk.objects.filter(pk=row.pk)
            if row.embedding_model == encoder.id:
                passage.update(sentence_vectors=by_sentence)
            else:
                passage.update(
                    other_model=encoder.id, other_vector=vector, other_sentence_vectors=by_sentence
                )
        jobs.report_progress(percent)
        encoders.own(client_id).update(indexed_percent=percent)


def _switch_encoder(client_id: int, encoder: SearchEncoder) -> None:
    with jobs.commit():
        # Lock the bots before the passages, in the same order as training does.
        list(Bot.objects.select_for_update(no_key=True).filter(client_id=client_id).order_by("pk"))
        changing = Chunk.objects.filter(client_id=client_id, other_model=encoder.id)
        changing = changing.exclude(embedding_model=encoder.id)
        large_bots.remove(changing)
        changing.update(**_SWAPPED)
        encoders.own(client_id).update(indexed_percent=100)
        for bot_id in Bot.objects.filter(client_id=client_id).values_list("pk", flat=True):
            large_bots.enqueue_backfill(bot_id, client_id=client_id)
        bots.rebuild_indexes(client_id)


def fit(row: LanguageModel) -> None:
    """Fit and store the confidence weights of a client's encoder. Raises EncoderDown."""
    weights = confidence_calibration.fit(encoders.of_row(row))
    with jobs.commit():
        same = encoders.own(row.client_id).filter(base_url=row.base_url, model=row.model)
        same.update(gate=weights)
        bots.rebuild_indexes(row.client_id)
