"""Jobs of the reports."""

from chatplatform.jobs import Queue, job, periodic
from reports.services import chat_rollup, exports


@job(
    "reports.write_export",
    queue=Queue.EXPORT,
    max_attempts=3,
    on_dead=lambda export_id: exports.mark_failed(export_id),
)
def write_export(*, export_id: str) -> None:
    """The file of a report with many rows."""
    exports.write_file(export_id)


@job("reports.delete_exports", queue=Queue.EXPORT, max_attempts=5)
def delete_exports(*, client: int) -> None:
    """Reports as files that may name a customer who was erased."""
    exports.delete_all(client)


@periodic("reports.clean_up")
def clean_up() -> None:
    """Delete exports whose time is over."""
    exports.purge_expired()


@periodic("reports.keep_figures")
def keep_figures() -> None:
    """Count what was said in the chats, ahead of the reports."""
    chat_rollup.keep()
