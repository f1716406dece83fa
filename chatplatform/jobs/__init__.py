"""Jobs are rows in PostgreSQL; Celery only carries messages with their ids.

`enqueue()` writes a row in the caller's transaction. The relay dispatches due rows to Celery. A
worker claims the row with a lease, and finishes the job only while it holds the lease. Apps import
from here.
"""

from chatplatform.jobs.declaring import NO_WAIT as NO_WAIT
from chatplatform.jobs.declaring import enqueue as enqueue
from chatplatform.jobs.declaring import job as job
from chatplatform.jobs.declaring import periodic as periodic
from chatplatform.jobs.declaring import postpone as postpone
from chatplatform.jobs.fair_share import should_yield as should_yield
from chatplatform.jobs.leases import GiveUp as GiveUp
from chatplatform.jobs.leases import LeaseLost as LeaseLost
from chatplatform.jobs.leases import TryLater as TryLater
from chatplatform.jobs.leases import commit as commit
from chatplatform.jobs.leases import current_attempt as current_attempt
from chatplatform.jobs.leases import current_job as current_job
from chatplatform.jobs.leases import previous_attempt_crashed as previous_attempt_crashed
from chatplatform.jobs.leases import report_progress as report_progress
from chatplatform.jobs.registry import Queue as Queue
