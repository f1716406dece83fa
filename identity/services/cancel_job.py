"""Cancels a client's job for platform staff, and records that in the client's audit log."""

from django.db import transaction

from chatplatform.jobs import leases
from chatplatform.models import Job
from identity.models import User
from identity.services import audit


def cancel(job: Job, *, by: User) -> bool:
    """Cancel a queued or dead job. False if the job is in another state, or if it belongs to no
    client."""
    if job.client_id is None:
        return False
    with transaction.atomic():
        if not leases.cancel(job):
            return False
        audit.record(
            job.client_id, "job.cancelled", by=by, subject=f"job:{job.pk}",
            changes={"name": job.name},
        )  # fmt: skip
    return True
