"""Loads what the first replies of a process need."""

from bots.engine import sentiment
from bots.language import detection, embedding, intents

_QUESTION = "How many days do I have to return an item?"


def load_languages() -> None:
    """Load what recognizes a text's language, which web processes do for each message.

    It takes over a second of processor time. Without it, the first agent or customer to write after
    a start would wait for that.
    """
    detection.detect(_QUESTION, default="en")


def load() -> None:
    """Load the encoder and the data of languages, intents and sentiments.

    It takes over a second of processor time. If the first jobs did it, which a new worker takes all
    at once, customers would wait for twice as long on a busy machine.
    """
    load_languages()
    intents.asks_for_person(_QUESTION)
    sentiment.analyze([_QUESTION])
    if embedding.available():
        embedding.PACKAGED.mean_question("en")
