"""How near sentences are in what they mean, as the encoder tells."""

from collections.abc import Iterable

from bots.knowledge import embedding


def is_near(sentence: str, texts: Iterable[str], least: float) -> bool:
    """Whether a sentence means about the same as one of the texts, as far as is known.

    The encoder takes some 20 ms for a text that it did not read lately; True without it.
    """
    vector = embedding.embed_query(sentence)
    if vector is None:
        return True
    others = map(embedding.embed_query, texts)
    return any(other is not None and float(vector @ other) >= least for other in others)
