"""The jobs and the periodic tasks of the whole platform; each may run twice and at any time."""

from datetime import timedelta

from django.utils import timezone

from chatplatform import media, partitions
from chatplatform.api import idempotency
from chatplatform.jobs import Queue, job, periodic
from chatplatform.models import Job, JobState

# Finished jobs are kept for this long; dead jobs stay until they are requeued or cancelled.
RETENTION = timedelta(days=7)
_BATCH_SIZE = 5_000


@periodic("chatplatform.clean_up_jobs")
def clean_up_jobs() -> None:
    """Delete finished jobs and stored responses after their retention."""
    idempotency.purge_expired()
    ended = Job.objects.filter(state__in=[JobState.DONE, JobState.CANCELLED])
    old = ended.filter(finished_at__lt=timezone.now() - RETENTION).order_by("finished_at")
    while ids := list(old.values_list("pk", flat=True)[:_BATCH_SIZE]):
        Job.objects.filter(pk__in=ids).delete()


@periodic("chatplatform.create_partitions")
def create_partitions() -> None:
    """Create the partitions of the coming months."""
    partitions.create_upcoming()


@job("chatplatform.remove_files", queue=Queue.TRAIN)
def remove_files(*, names: list[str]) -> None:
    """Remove files from the media store after the deletion of their rows."""
    media.remove(names)


@periodic("chatplatform.clean_up_files")
def clean_up_files() -> None:
    """Remove unreferenced files from the media store."""
    media.clean_up()
