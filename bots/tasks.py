"""The jobs of this app."""

from celery import shared_task

from bots.services import function_calls, training
from chatplatform.jobs import Queue, job


def abandon_document(*, document_id: int, **_: object) -> None:
    """No attempt to train it is left."""
    training.abandon(document_id)


@job("bots.train_document", queue=Queue.TRAIN, max_attempts=3, on_dead=abandon_document)
def train_document(*, document_id: int, **_: object) -> None:
    """Train one document."""
    training.train(document_id)


@shared_task(name="bots.expire_function_calls")
def expire_function_calls(**_: object) -> None:
    """Reject calls that waited a day for an approval."""
    function_calls.expire()
