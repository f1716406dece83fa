"""The Celery application. Jobs are rows in PostgreSQL; Celery carries only their ids."""

import os
import sys
from functools import cached_property
from typing import Any

from celery import Celery
from celery.signals import beat_init, task_prerun, worker_init, worker_process_init
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")


class _Celery(Celery):
    @cached_property
    def Worker(self) -> Any:  # noqa: N802 - Celery's name
        from chatplatform.celery_worker import Worker  # noqa: PLC0415 - other processes need none

        return self.subclass_with_self(Worker)


app = _Celery("chatplatform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add("chatplatform.jobs.worker_process:WarmUp")
app.steps["worker"].add("chatplatform.jobs.worker_process:WorkerLoops")


@task_prerun.connect
def _close_broken_connections(**_: object) -> None:
    """Close database connections that no longer work, as Django does before each request."""
    close_old_connections()


@worker_init.connect
@beat_init.connect
def _check_settings(**_: object) -> None:
    from chatplatform import checks, encryption_key_check  # noqa: PLC0415 - they need the apps

    checks.require()
    encryption_key_check.require()


@worker_init.connect
def _shorten_switch_interval(**_: object) -> None:
    # A computing thread may keep the interpreter for this many seconds (by default 0.005) while
    # other threads wait. The thread of a reply may wait this long after each SQL statement.
    sys.setswitchinterval(0.001)


@worker_init.connect
def _hold_lock(**_: object) -> None:
    from chatplatform.jobs import worker_locks  # noqa: PLC0415 - Django is not set up at import

    worker_locks.enable()


@worker_init.connect
@worker_process_init.connect
@beat_init.connect
def _start_observing(**_: object) -> None:
    from chatplatform.observing import exporter, tracing  # noqa: PLC0415 - settings are not read at import

    exporter.start()
    tracing.start()
