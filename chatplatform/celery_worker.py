"""Celery's worker with a time limit for its shutdown. Celery imports it before Django is set up."""

import faulthandler

from celery.apps import worker

# How long the rest of a shutdown may take, after the time that running jobs have to end.
STOP_SECONDS = 3.0


class Worker(worker.Worker):
    def wait_for_soft_shutdown(self) -> bool:
        """Start the time limit when the worker is told to stop."""
        # Celery stops in a signal handler, which can wait forever for a lock that the interrupted
        # code holds, or for a thread whose job has just begun. At the limit, the process ends and
        # logs the stacks of its threads; the leases of its jobs then run out.
        limit = self.app.conf.worker_soft_shutdown_timeout + STOP_SECONDS
        # 2: standard error, as Celery's own `sys.stderr` is not a file.
        faulthandler.dump_traceback_later(limit, exit=True, file=2)
        return super().wait_for_soft_shutdown()
