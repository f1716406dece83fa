"""How near sentences are in what they mean, as the encoder tells."""

from collections.abc import Iterable

from bots.engine.sentences import sentences
from bots.knowledge import embedding

# Shorter sentences, in bytes, are near to any other, such as headings.
_MIN_CLAIM = 20


def claims(texts: Iterable[str]) -> list[str]:
    """The sentences of texts; a short one alone is near to any, and stands behind the one before.

    So are a title and a heading, which come first: they are left out.
    """
    found = [""]
    for sentence in (one.strip() for text in texts for one in sentences(text)):
        if len(sentence.encode()) < _MIN_CLAIM:
            found[-1] = f"{found[-1]} {sentence}".strip()
        elif len(found[-1].encode()) < _MIN_CLAIM:
            found[-1] = sentence
        else:
            found.append(sentence)
    return found


def is_near(sentence: str, texts: Iterable[str], least: float) -> bool:
    """Whether a sentence means about the same as one of the texts, as far as is known.

    The encoder takes some 20 ms for a text that it did not read lately; True without it.
    """
    vector = embedding.embed_query(sentence)
    if vector is None:
        return True
    others = map(embedding.embed_query, texts)
    return any(other is not None and float(vector @ other) >= least for other in others)


def nearest(sentence: str, texts: Iterable[str], least: float) -> tuple[float, str]:
    """The text that means most nearly what a sentence does, and how near; empty if none is near."""
    vector = embedding.embed_query(sentence)
    read = ((embedding.embed_query(text), text) for text in texts)
    near = (
        []
        if vector is None
        else [(float(vector @ other), text) for other, text in read if other is not None]
    )
    nearness, text = max(near, default=(-1.0, ""))
    return (nearness, text) if nearness >= least else (-1.0, "")
