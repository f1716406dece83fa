"""The jobs of this app."""

from bots.services import files, training
from chatplatform.jobs import Queue, job


def abandon_document(*, document_id: int, **_: object) -> None:
    """No attempt to train it is left."""
    training.abandon(document_id)


@job("bots.train_document", queue=Queue.TRAIN, max_attempts=3, on_dead=abandon_document)
def train_document(*, document_id: int, **_: object) -> None:
    """Train one document."""
    training.train(document_id)


@job("bots.remove_files", queue=Queue.INSIGHT)
def remove_files(*, names: list[str], **_: object) -> None:
    """Take files out of the media store whose rows are gone."""
    files.remove(names)
