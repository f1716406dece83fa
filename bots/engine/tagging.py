"""Suggests a client's tags for a conversation and ranks texts, without a language model.

A tag's examples are conversations that people have tagged with it. A tag without examples is
compared by its name only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bots.language import embedding
from bots.language.embedding import Vectors

_MAX_SUGGESTIONS = 3
# The encoder's cosines lie close together: about 0.80 for unrelated texts, 0.92 for paraphrases.
_UNRELATED, _SAME = 0.80, 0.92
# A tag's similarity is a weighted mean of cosines. The nearest example weighs 1; these are the
# weights of the mean over all examples, and of the tag's name.
_MEAN, _NAME = 0.3, 0.4
# Fitted on `bench/insights/`: the similarity at which confidence is 0.5, and how steeply it rises.
_MIDDLE, _STEEPNESS = 0.85, 50.0
# Tags with less confidence are not worth showing.
_MIN_CONFIDENCE = 0.05
# A tag may be given without review if its confidence is 0.5 or more and its similarity exceeds the
# second tag's by this much.
_CLEAR_LEAD = 0.0125


@dataclass(frozen=True)
class KnownTag:
    """A client's tag, with customers' messages from conversations that people tagged with it."""

    name: str
    examples: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class TagSuggestion:
    """A suggested tag; `confidence` 0..1 grows with similarity and is not a probability."""

    name: str
    confidence: float


def suggest(text: str, known: Sequence[KnownTag]) -> list[TagSuggestion]:
    """Up to three tags, the nearest first; none if the text cannot be compared."""
    vector = _vector(text)
    if vector is None:
        return []
    tags = [TagSuggestion(tag.name, _confidence(_similarity(vector, tag))) for tag in known]
    tags.sort(key=lambda tag: -tag.confidence)
    return [tag for tag in tags if tag.confidence >= _MIN_CONFIDENCE][:_MAX_SUGGESTIONS]


def clear_winner(tags: Sequence[TagSuggestion]) -> list[TagSuggestion]:
    """The first suggestion, if it is confident and well ahead of the second; else an empty list."""
    if not tags or tags[0].confidence < 0.5:
        return []
    second = _similarity_at(tags[1].confidence) if len(tags) > 1 else 0.0
    return [tags[0]] if _similarity_at(tags[0].confidence) - second >= _CLEAR_LEAD else []


def nearest(text: str, others: Sequence[str]) -> list[tuple[int, float]]:
    """The indexes of `others`, nearest in meaning to `text` first, each with a confidence 0..1."""
    vector = _vector(text)
    if vector is None:
        return []
    scored = [
        (index, _rescaled(float(vector @ other), _UNRELATED, _SAME))
        for index, other in enumerate(map(_vector, others))
        if other is not None
    ]
    return sorted(scored, key=lambda pair: -pair[1])


def _similarity(vector: Vectors, tag: KnownTag) -> float:
    """How similar a text is to a tag, on the scale of a cosine."""
    examples = [other for other in map(_vector, tag.examples) if other is not None]
    name = _vector(tag.name.replace("_", " ").replace("-", " "))
    by_name = float(vector @ name) if name is not None else 0.0
    if not examples:
        return by_name
    cosines = np.stack(examples) @ vector
    score = float(cosines.max()) + _MEAN * float(cosines.mean()) + _NAME * by_name
    return score / (1 + _MEAN + _NAME)


def _confidence(similarity: float) -> float:
    # Six digits, so that rounding rarely makes two confidences equal.
    return round(1 / (1 + math.exp(-_STEEPNESS * (similarity - _MIDDLE))), 6)


def _similarity_at(confidence: float) -> float:
    return _MIDDLE + math.log(confidence / (1 - confidence)) / _STEEPNESS


def _rescaled(cosine: float, low: float, high: float) -> float:
    return round(float(np.clip((cosine - low) / (high - low), 0, 1)), 3)


def _vector(text: str) -> Vectors | None:
    return embedding.embed_query(text) if text.strip() else None
