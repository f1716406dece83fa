"""An encoder that calls the `/embeddings` endpoint of any OpenAI-compatible server."""

import hashlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import orjson

from bots.language.embedding import (
    GENERIC,
    MAX_PASSAGE_CHARACTERS,
    MAX_QUESTION_CHARACTERS,
    ConfidenceWeights,
    EncoderDown,
    SearchEncoder,
    Vectors,
)
from chatplatform import egress

log = logging.getLogger(__name__)
# Timeouts in seconds. Customers wait for the vector of their question and, once per process, for
# the vectors of the generic questions. If either times out, the search uses words only.
_QUESTION_SECONDS, _GENERIC_SECONDS, _PASSAGES_SECONDS = 3.0, 8.0, 60.0
# For this many seconds after a failure, no vectors of questions are requested.
_PAUSE_SECONDS = 10.0
_TEXTS_PER_REQUEST, _MAX_BYTES, _MAX_DIMENSION = 64, 20_000_000, 4_096
_failed_at: dict[str, float] = {}


@dataclass(frozen=True)
class RemoteEncoder(SearchEncoder):
    """An encoder at `base_url`.

    `is_operator_url`: the operator has set the URL, so its host may have a private address.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    confidence_weights: ConfidenceWeights = field(compare=False)
    is_operator_url: bool = False
    batch = 16

    @property
    def id(self) -> str:  # type: ignore[override]
        """The key under which its vectors are stored."""
        digest = hashlib.sha256(f"{self.base_url}\n{self.model}".encode()).hexdigest()[:16]
        return f"{self.model[:60]}@{digest}"

    def is_available(self) -> bool:
        return time.monotonic() - _failed_at.get(self.id, -_PAUSE_SECONDS) >= _PAUSE_SECONDS

    def query(self, text: str) -> Vectors | None:
        try:
            if not self.is_available():
                return None
            _means(self)  # a failure is handled here, but would not be in `mean_question`
            return _query(self, text[:MAX_QUESTION_CHARACTERS])
        except EncoderDown as error:
            _failed_at[self.id] = time.monotonic()
            log.warning("encoder unavailable, searching by words only: %s", error)
            return None

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed_all(texts, _GENERIC_SECONDS)

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed_all(texts, _PASSAGES_SECONDS)

    def mean_question(self, language: str) -> Vectors:
        return _means(self)[language if language in GENERIC else ""]

    def _embed_all(self, texts: Sequence[str], seconds: float) -> Vectors:
        starts = range(0, len(texts), _TEXTS_PER_REQUEST)
        parts = [self._embed(texts[at : at + _TEXTS_PER_REQUEST], seconds) for at in starts]
        return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def _embed(self, texts: Sequence[str], seconds: float) -> Vectors:
        """The unit vectors of some texts, from one request. Raises EncoderDown."""
        # Many servers refuse an empty text.
        cut = [text[:MAX_PASSAGE_CHARACTERS].strip() or "-" for text in texts]
        try:
            reply = egress.request(
                "POST",
                f"{self.base_url.rstrip('/')}/embeddings",
                headers={"Authorization": f"Bearer {self.api_key}"} if self.api_key else {},
                json={"model": self.model, "input": cut, "encoding_format": "float"},
                timeout_seconds=seconds,
                max_bytes=_MAX_BYTES,
                purpose="model",
                allow={egress.host_port(self.base_url)} if self.is_operator_url else (),
            )
        except egress.EgressError as error:
            raise EncoderDown(f"The encoder's server: {error}") from error
        if reply.status != 200:
            raise EncoderDown(f"The encoder's server answered {reply.status}.")
        return _parse(reply.body, len(cut))


def _parse(body: bytes, count: int) -> Vectors:
    try:
        rows: list[Any] = sorted(orjson.loads(body)["data"], key=lambda row: row["index"])
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
    except (ValueError, TypeError, LookupError) as error:
        raise EncoderDown("The encoder's response is invalid.") from error
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    is_usable = vectors.ndim == 2 and len(vectors) == count and vectors.shape[1] <= _MAX_DIMENSION
    if not is_usable or not np.isfinite(lengths).all() or not lengths.all():
        raise EncoderDown("The encoder's response doesn't contain a valid vector for each text.")
    unit: Vectors = vectors / lengths
    return unit


@lru_cache(maxsize=5_000)
def _query(encoder: RemoteEncoder, text: str) -> Vectors:
    vector: Vectors = encoder._embed([text], _QUESTION_SECONDS)[0]
    vector.flags.writeable = False
    return vector


@lru_cache(maxsize=50)
def _means(encoder: RemoteEncoder) -> dict[str, Vectors]:
    """The mean vector of generic questions by language; for "", the mean of all languages."""
    vectors = iter(encoder.queries([text for texts in GENERIC.values() for text in texts]))
    means = {
        language: np.stack([next(vectors) for _ in texts]).mean(axis=0)
        for language, texts in GENERIC.items()
    }
    return means | {"": np.stack([*means.values()]).mean(axis=0)}
