"""Fair shares: clients take turns in the queues of fair jobs, however many jobs each has."""

from typing import Any

from django.db import connection

from chatplatform.jobs import leases
from chatplatform.jobs.frozen_clients import MAY_RUN
from chatplatform.jobs.registry import declared
from chatplatform.models import Job

# The fair jobs of a queue that may run now.
_RUNNABLE = f"""
FROM chatplatform_job j
LEFT JOIN chatplatform_fairshare s ON s.queue = %(queue)s AND s.client_id = j.client_id
WHERE j.name = ANY(%(names)s) AND j.state = 'queued' AND j.due_at <= statement_timestamp()
  AND {MAY_RUN} AND NOT EXISTS (SELECT FROM chatplatform_job o
                  WHERE o.ordering_key = j.ordering_key AND o.id < j.id
                    AND o.state IN ('queued', 'running'))
"""
_NEXT = f"""
SELECT j.id, j.client_id {_RUNNABLE}
ORDER BY s.served_at NULLS FIRST, j.priority, j.id LIMIT 1
"""
_RECORD_TURN = """
INSERT INTO chatplatform_fairshare (queue, client_id, served_at)
VALUES (%(queue)s, %(client)s, clock_timestamp())
ON CONFLICT (queue, client_id) DO UPDATE SET served_at = EXCLUDED.served_at
"""
_OTHERS_WAIT = f"""
SELECT EXISTS (SELECT {_RUNNABLE} AND (j.client_id <> %(client)s OR j.priority < %(priority)s))
"""


def run_next(job_id: int) -> bool:
    """Run the next fair job in the queue of `job_id`; False if none can run.

    The client that was served longest ago comes next, with its most urgent job: the one with the
    lowest `priority`. So each broker message runs one job, but often not the one that it names.
    """
    name = Job.objects.filter(pk=job_id).values_list("name", flat=True).first()
    if name is None or name not in declared:
        return False
    values = _queue_values(declared[name].queue)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_NEXT, values)
            chosen = cursor.fetchone()
            if chosen is None:
                return False
            cursor.execute(_RECORD_TURN, {"queue": values["queue"], "client": chosen[1]})
        # If another worker has just claimed this job, choose the next one.
        if leases.run(chosen[0]):
            return True


def should_yield(queue: str, *, client_id: int, priority: int) -> bool:
    """Whether another client's job is waiting, or a job of this client that is more urgent: one
    with a lower `priority`.

    A long job checks this from time to time; if true, it enqueues the remaining work as a new job
    and ends.
    """
    with connection.cursor() as cursor:
        values = {"client": client_id, "priority": priority}
        cursor.execute(_OTHERS_WAIT, _queue_values(queue) | values)
        return bool(cursor.fetchone()[0])


def _queue_values(queue: str) -> dict[str, Any]:
    names = [name for name, item in declared.items() if item.fair and item.queue == queue]
    return {"queue": queue, "names": names}
