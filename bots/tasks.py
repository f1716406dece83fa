"""The background jobs of this app."""

from bots.services import (
    crawls,
    document_embedding,
    function_call_approvals,
    golden_runs,
    hours_source,
    large_bots,
    reindexing,
    training,
    web_urls,
)
from chatplatform.jobs import Queue, job, periodic


@job(
    "bots.train_document",
    queue=Queue.TRAIN,
    max_attempts=3,
    on_dead=training.fail_interrupted,
    fair=True,
)
def train_document(*, document_id: int) -> None:
    """Read one document and, if it is short, encode it."""
    training.train(document_id)


@job(
    "bots.encode_document",
    queue=Queue.TRAIN,
    max_attempts=3,
    on_dead=training.fail_interrupted,
    fair=True,
)
def encode_document(*, document_id: int, end: int) -> None:
    """Encode part of a long document, from its beginning (`end=0`) or its end (`end=1`)."""
    document_embedding.encode(document_id, end=end)


@job("bots.backfill_search_table", queue=Queue.TRAIN, max_attempts=3)
def backfill_search_table(*, bot_id: int) -> None:
    """Copy a large bot's new passages into the database's search table."""
    large_bots.backfill(bot_id)


@job("bots.update_hours_texts", queue=Queue.TRAIN, max_attempts=3)
def update_hours_texts(*, of: int, bot_id: int | None = None) -> None:
    """Bring the texts about the business hours up to date, for all bots of the client `of` or for
    one of them."""
    hours_source.update_for_client(of, bot_id=bot_id)


@job("bots.reindex", queue=Queue.TRAIN, max_attempts=1_000)
def reindex(*, of: int) -> None:
    """Encode a client's passages with its current encoder, then switch the search to it."""
    reindexing.reindex(of)


@job("bots.crawl_web_url", queue=Queue.TRAIN, max_attempts=3, on_dead=crawls.fail_interrupted)
def crawl_web_url(*, web_url_id: int) -> None:
    """Fetch the pages of one website and queue them for training."""
    crawls.crawl(web_url_id)


@job("bots.update_crawl_status", queue=Queue.TRAIN)
def update_crawl_status(*, web_url_id: int) -> None:
    """Update a website's status after one of its pages was trained or deleted."""
    crawls.update_status(web_url_id)


@job(
    "bots.ask_golden",
    queue=Queue.INSIGHT,
    max_attempts=3,
    on_dead=lambda run_id: golden_runs.fail(run_id),
)
def ask_golden(*, run_id: str) -> None:
    """Ask the next golden questions of a run."""
    golden_runs.ask_next(run_id)


@periodic("bots.crawl_due")
def crawl_due() -> None:
    """Queue the websites whose next crawl is due; safe to run twice."""
    web_urls.crawl_due()


@periodic("bots.expire_function_calls")
def expire_function_calls() -> None:
    """Reject calls that nobody approved within 24 hours."""
    function_call_approvals.expire()


@periodic("bots.backfill_large_bots")
def backfill_large_bots() -> None:
    """Enqueue a backfill for each large bot whose passages are not all in the search table; safe to
    run twice."""
    large_bots.enqueue_missing()
