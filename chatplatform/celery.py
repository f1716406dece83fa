"""The Celery application. Jobs are rows in PostgreSQL; Celery carries only hints to their ids."""

import os
import signal

from celery import Celery
from celery.signals import beat_init, worker_init, worker_process_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")

app = Celery("chatplatform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add("chatplatform.beside:Beside")
app.steps["consumer"].add("chatplatform.consumer:Alive")


@worker_init.connect
def _children_end_with_it(**_: object) -> None:
    """A worker that was killed, or ended itself, leaves no child at work on what others take."""
    from chatplatform.embedded import die_with_parent  # noqa: PLC0415 - for workers only

    prepare = die_with_parent(signal.SIGKILL)
    worker_process_init.connect(lambda **_: prepare(), weak=False)


@beat_init.connect
def _beat_lives(**_: object) -> None:
    from chatplatform import heartbeat  # noqa: PLC0415 - settings are not read at import

    heartbeat.start("beat")
