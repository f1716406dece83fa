"""Tags for a conversation without a model: the client's own, by the nearest example of each.

Conversations that people have tagged are the examples; a tag without any is judged by its name.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bots.knowledge import embedding
from bots.knowledge.embedding import Vectors

SUGGESTED = 3
# Cosines of this encoder lie close together: unrelated texts at about 0.80, paraphrases at 0.92.
_UNRELATED, _SAME = 0.80, 0.92
# A name of one or two words lies farther from a sentence than an example does.
_NAME_UNRELATED, _NAME_SAME = 0.78, 0.88

# What may be given without a person looking: see `clear`.
_CLEAR_FROM, _CLEAR_LEAD = 0.45, 0.15


@dataclass(frozen=True)
class KnownTag:
    """A tag of the client, with customers' messages of chats that people gave it to."""

    name: str
    examples: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Suggested:
    """`confidence` 0..1: the nearness of the nearest example; not a probability."""

    name: str
    confidence: float


def suggest(text: str, known: Sequence[KnownTag]) -> list[Suggested]:
    """The three nearest tags, nearest first; none if the text cannot be compared."""
    vector = _vector(text)
    if vector is None:
        return []
    tags = [Suggested(tag.name, _confidence(vector, tag)) for tag in known]
    tags.sort(key=lambda tag: -tag.confidence)
    return [tag for tag in tags if tag.confidence > 0][:SUGGESTED]


def clear(tags: Sequence[Suggested]) -> list[Suggested]:
    """The first of the suggestions if it is near and well ahead of the second; else none."""
    if not tags or tags[0].confidence < _CLEAR_FROM:
        return []
    second = tags[1].confidence if len(tags) > 1 else 0.0
    return [tags[0]] if tags[0].confidence - second >= _CLEAR_LEAD else []


def nearest(text: str, others: Sequence[str]) -> list[tuple[int, float]]:
    """Places of `others` by nearness in meaning to `text`, with their 0..1 confidence."""
    vector = _vector(text)
    if vector is None:
        return []
    scored = [
        (place, _between(float(vector @ other), _UNRELATED, _SAME))
        for place, other in enumerate(map(_vector, others))
        if other is not None
    ]
    return sorted(scored, key=lambda pair: -pair[1])


def _confidence(vector: Vectors, tag: KnownTag) -> float:
    examples = [other for other in map(_vector, tag.examples) if other is not None]
    by_example = max((float(vector @ other) for other in examples), default=0.0)
    name = _vector(tag.name.replace("_", " ").replace("-", " "))
    by_name = float(vector @ name) if name is not None else 0.0
    return max(
        _between(by_example, _UNRELATED, _SAME), _between(by_name, _NAME_UNRELATED, _NAME_SAME)
    )


def _between(cosine: float, low: float, high: float) -> float:
    return round(float(np.clip((cosine - low) / (high - low), 0, 1)), 3)


@functools.lru_cache(maxsize=4_000)  # some 6 MB: the same examples are compared again and again
def _vector(text: str) -> Vectors | None:
    return embedding.embed_query(text) if text.strip() else None
