"""Jobs are rows in PostgreSQL; Celery only carries messages that name them.

`enqueue()` writes a row in the caller's transaction. The relay dispatches due rows to Celery. A
worker claims the row by a lease, renews the lease while it works outside of any transaction, and
finishes only if it still holds the lease. A lost message or worker costs time, but no job is lost.

Apps import from here; the parts are `declaring`, `leases`, `fair_share`, `relay`, `scheduler`,
`heartbeat` and `worker_process`.
"""

from chatplatform.jobs.declaring import NO_WAIT, enqueue, job, periodic, postpone
from chatplatform.jobs.fair_share import should_yield
from chatplatform.jobs.leases import (
    GiveUp,
    LeaseLost,
    TryLater,
    commit,
    current_attempt,
    current_job,
    follows_death,
    report_progress,
)
from chatplatform.jobs.registry import Queue

__all__ = [
    "NO_WAIT",
    "GiveUp",
    "LeaseLost",
    "Queue",
    "TryLater",
    "commit",
    "current_attempt",
    "current_job",
    "enqueue",
    "follows_death",
    "job",
    "periodic",
    "postpone",
    "report_progress",
    "should_yield",
]
