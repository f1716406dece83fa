"""Computes a customer's sentiment with the sentence encoder and labeled examples.

A linear model of the examples' vectors (ridge regression) gives a score from -1 to 1; scores near 0
are neutral. docs/insights.md has the measurements. `python -m bots.engine.sentiment` fits the model
again and stores it, which a change of the examples or the encoder needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from bots.language import embedding
from bots.language.embedding import Vectors

# Scores nearer to 0 are neutral.
MIN_POLARITY = 0.3
# The penalty of the ridge regression.
_PENALTY = 0.5
_EXAMPLES = Path(__file__).parent / "sentiment_examples.json"
_WEIGHTS = Path(__file__).parent / "sentiment_weights.json"
_VALUES = {"negative": -1.0, "neutral": 0.0, "positive": 1.0}


@dataclass(frozen=True)
class Sentiment:
    """A sentiment, with its score from -1 (very bad) to 1 (very good)."""

    sentiment: str
    score: float


@dataclass(frozen=True)
class SentimentAnalysis:
    """The sentiment of all messages together, and of each message; None if it has no score."""

    overall: Sentiment
    by_message: tuple[Sentiment | None, ...]


def analyze(texts: Sequence[str]) -> SentimentAnalysis:
    """The sentiment of a customer's messages, given oldest first; later messages weigh more.

    The result is neutral if all messages are empty or no encoder is available.
    """
    scores = [_score(text) for text in texts]
    by_message = tuple(None if score is None else _to_sentiment(score) for score in scores)
    present = [score for score in scores if score is not None]
    if not present:
        return SentimentAnalysis(Sentiment("neutral", 0.0), by_message)
    weights = [float(position) for position in range(1, len(present) + 1)]
    return SentimentAnalysis(_to_sentiment(float(np.average(present, weights=weights))), by_message)


def _to_sentiment(score: float) -> Sentiment:
    score = round(max(-1.0, min(1.0, score)), 3)
    if abs(score) < MIN_POLARITY:
        return Sentiment("neutral", score)
    return Sentiment("positive" if score > 0 else "negative", score)


def _score(text: str) -> float | None:
    vector = embedding.embed_query(text) if text.strip() else None
    if vector is None:
        return None
    weights, offset = _model()
    return float(vector @ weights) + offset


@cache
def _model() -> tuple[Vectors, float]:
    """The stored weights of a vector's numbers, and what is added to their sum."""
    *weights, offset = orjson.loads(_WEIGHTS.read_bytes())
    return np.array(weights, dtype=np.float32), offset


def fit() -> list[float]:
    """The weights and, last, the offset, fitted to the labeled examples. Takes about a second."""
    examples: dict[str, Any] = orjson.loads(_EXAMPLES.read_bytes())
    pairs = [(text, _VALUES[label]) for label, texts in examples.items() for text in texts]
    matrix = embedding.PACKAGED.queries([text for text, _ in pairs])
    mean = matrix.mean(axis=0)
    centered = matrix - mean
    # The dual form, with one unknown for each example.
    inner = centered @ centered.T + _PENALTY * np.eye(len(pairs), dtype=np.float32)
    targets = np.array([value for _, value in pairs], dtype=np.float32)
    weights = centered.T @ np.linalg.solve(inner, targets)
    return [round(float(number), 6) for number in (*weights, -mean @ weights)]


if __name__ == "__main__":
    _WEIGHTS.write_bytes(orjson.dumps(fit(), option=orjson.OPT_APPEND_NEWLINE))
