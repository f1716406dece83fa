"""The jobs of this app."""

from celery import shared_task

from bots.services import crawls, function_calls, training, web_urls
from chatplatform.jobs import Queue, job


def abandon_document(*, document_id: int, **_: object) -> None:
    """No attempt to train it is left."""
    training.abandon(document_id)


@job("bots.train_document", queue=Queue.TRAIN, max_attempts=3, on_dead=abandon_document)
def train_document(*, document_id: int, **_: object) -> None:
    """Train one document."""
    training.train(document_id)


def abandon_crawl(*, web_url_id: int, **_: object) -> None:
    """No attempt to crawl it is left."""
    crawls.abandon(web_url_id)


@job("bots.crawl_web_url", queue=Queue.TRAIN, max_attempts=3, on_dead=abandon_crawl)
def crawl_web_url(*, web_url_id: int, **_: object) -> None:
    """Fetch the pages of one address and queue them for training."""
    crawls.crawl(web_url_id)


@job("bots.settle_web_url", queue=Queue.TRAIN)
def settle_web_url(*, web_url_id: int, **_: object) -> None:
    """See whether the last page of an address is trained."""
    crawls.settle(web_url_id)


@shared_task(name="bots.crawl_due")
def crawl_due(**_: object) -> None:
    """Queue the addresses whose time to be read again has come; may run twice and at any time."""
    web_urls.refresh_due()


@shared_task(name="bots.expire_function_calls")
def expire_function_calls(**_: object) -> None:
    """Reject calls that waited a day for an approval."""
    function_calls.expire()
