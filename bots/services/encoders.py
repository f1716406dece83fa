"""Chooses the encoder for a client's search, and encodes texts with it."""

from collections.abc import Sequence

import orjson
from django.conf import settings
from django.db.models import Count, QuerySet

from bots.engine.remote_encoder import RemoteEncoder
from bots.language.embedding import PACKAGED, ConfidenceWeights, SearchEncoder, Weights
from bots.models import Bot, Chunk, LanguageModel, ModelPurpose
from chatplatform import jobs


def current(client_id: int) -> SearchEncoder:
    """The encoder for new vectors: the client's own encoder, else the encoder in the platform's
    settings, else the packaged encoder.

    An encoder whose confidence weights have not been fitted is not used.
    """
    row = own(client_id).filter(gate__isnull=False).first()
    if row:
        return of_row(row)
    platform_encoder = of_operator()
    return platform_encoder if platform_encoder and settings.EMBEDDING_GATE else PACKAGED


def own(client_id: int) -> QuerySet[LanguageModel]:
    """The encoder that a client has connected: at most one row."""
    return LanguageModel.objects.filter(client_id=client_id, purpose=ModelPurpose.EMBEDDINGS)


def of_row(row: LanguageModel) -> RemoteEncoder:
    """The encoder that a client connected; it may not reach private addresses."""
    weights = _confidence_weights(row.gate) if row.gate else PACKAGED.confidence_weights
    return RemoteEncoder(row.base_url, row.api_key, row.model, weights)


def of_operator() -> RemoteEncoder | None:
    """The encoder in the platform's settings; None if there is none."""
    if not settings.EMBEDDING_BASE_URL:
        return None
    stored = settings.EMBEDDING_GATE
    return RemoteEncoder(
        settings.EMBEDDING_BASE_URL,
        settings.EMBEDDING_API_KEY,
        settings.EMBEDDING_MODEL,
        _confidence_weights(orjson.loads(stored)) if stored else PACKAGED.confidence_weights,
        is_operator_url=True,
    )


def _confidence_weights(stored: Sequence[Sequence[float]]) -> ConfidenceWeights:
    return ConfidenceWeights(*(Weights(*weights) for weights in stored))


def in_use(bot_id: int) -> SearchEncoder:
    """The encoder that a bot's search uses: the client's current encoder, or the packaged encoder
    while more of the bot's passages have vectors from the packaged encoder than from the current.

    Passages without vectors from the encoder in use are found only by their words.
    """
    client_id = Bot.objects.filter(pk=bot_id).values_list("client_id", flat=True).first()
    encoder = current(client_id or 0)
    if encoder is PACKAGED:
        return encoder
    counted = Chunk.objects.filter(bot_id=bot_id).values_list("embedding_model")
    counts: dict[str, int] = dict(counted.annotate(Count("pk")))
    return PACKAGED if counts.get(PACKAGED.id, 0) > counts.get(encoder.id, 0) else encoder


def encode(encoder: SearchEncoder, texts: Sequence[Sequence[str]]) -> list[bytes]:
    """The joined vectors of each list of texts, as bytes. All texts are encoded in one call.

    Raises EncoderDown.
    """
    vectors = iter(encoder.passages([text for row in texts for text in row]))
    return [b"".join(next(vectors).tobytes() for _ in row) for row in texts]


def enqueue_reindex(client_id: int) -> None:
    """Enqueue the encoding of a client's passages that lack vectors from its encoder."""
    jobs.enqueue("bots.reindex", client_id=client_id, dedupe_key=str(client_id), of=client_id)
