"""Background jobs for reports."""

from chatplatform.jobs import Queue, job, periodic
from reports.services import exports, message_counts


@job(
    "reports.write_export",
    queue=Queue.EXPORT,
    max_attempts=3,
    on_dead=lambda export_id: exports.mark_failed(export_id),
)
def write_export(*, export_id: str) -> None:
    """Write the file of a report with many rows."""
    exports.write_file(export_id)


@job("reports.delete_exports", queue=Queue.EXPORT, max_attempts=5)
def delete_exports(*, client: int) -> None:
    """Delete a client's exports, which may contain the data of an erased customer."""
    exports.delete_all(client)


@periodic("reports.clean_up")
def clean_up() -> None:
    """Delete expired exports."""
    exports.purge_expired()


@periodic("reports.keep_figures")
def keep_figures() -> None:
    """Update the message figures of each conversation that are stored for reports."""
    message_counts.update()
