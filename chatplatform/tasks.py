"""Housekeeping by schedule; each may run twice and at any time."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from chatplatform.api import idempotency
from chatplatform.models import Job, JobState

# How long a finished job is kept, for whoever asks what happened; dead ones stay until requeued.
KEPT = timedelta(days=7)


@shared_task(name="chatplatform.clean_up_jobs")
def clean_up_jobs(**_: object) -> None:
    """Forget jobs that ended well a week ago, and answers kept for repeated requests."""
    idempotency.purge_expired()
    Job.objects.filter(state=JobState.DONE, finished_at__lt=timezone.now() - KEPT).delete()
