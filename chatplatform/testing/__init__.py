"""What tests of any app are written with: jobs run in this process, and races made to happen."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from celery import current_app
from django.core.cache import cache
from django.utils.module_loading import import_string

from chatplatform import jobs
from chatplatform.models import Job, JobState


def run_jobs(limit: int = 200) -> int:
    """Run due jobs here and now, as the relay and a worker would; how many ran."""
    current_app.loader.import_default_modules()
    ran = 0
    while ran < limit:
        Job.objects.filter(state=JobState.QUEUED).update(dispatched_at=None)
        due = jobs.take_due(20)
        if not due:
            break
        ran += sum(jobs.run(job_id) for job_id, _ in due)
    return ran


@contextmanager
def run_before(dotted: str, callback: Callable[[], Any]) -> Iterator[None]:
    """Run `callback` once, just before the function named `dotted` is called."""
    real = import_string(dotted)
    called: list[bool] = []

    def first_callback(*args: Any, **kwargs: Any) -> Any:
        if not called:
            called.append(True)
            callback()
        return real(*args, **kwargs)

    with mock.patch(dotted, first_callback):
        yield
    assert called, f"{dotted} was not called"


@pytest.fixture(autouse=True)
def _no_cache_between_tests() -> None:
    cache.clear()
