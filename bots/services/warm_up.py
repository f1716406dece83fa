"""Loads what the first replies of a process need."""

from bots.engine import sentiment
from bots.language import detection, embedding, intents

_QUESTION = "How many days do I have to return an item?"


def load() -> None:
    """Load the encoder and the data of languages, intents and sentiments.

    It takes over a second of processor time. If the first jobs did it, which a new worker takes all
    at once, customers would wait for twice as long on a busy machine.
    """
    intents.asks_for_person(_QUESTION)
    detection.detect(_QUESTION, default="en")
    sentiment.analyze([_QUESTION])
    if embedding.available():
        embedding.PACKAGED.mean_question("en")
