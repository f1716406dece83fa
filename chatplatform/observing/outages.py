"""What the log says of a broker or database that is away: a line a minute, and one when it is back.

Every loop of every process meets the outage again and again, and libraries log a traceback each
time.
"""

import logging
import time
from collections.abc import Iterator

log = logging.getLogger(__name__)
LOG_INTERVAL_SECONDS = 60.0
_BROKER = {
    "redis.exceptions.ConnectionError", "redis.exceptions.TimeoutError",
    "kombu.exceptions.OperationalError",
}  # fmt: skip
_DATABASE = {
    "django.db.utils.OperationalError", "django.db.utils.InterfaceError",
    "psycopg.OperationalError", "psycopg.InterfaceError",
}  # fmt: skip
# Loggers of code that connects only to the broker. Jobs, whose faults are logged elsewhere, also
# connect to other servers.
_OF_BROKER = (
    "celery.beat", "celery.worker", "kombu", "chatplatform.jobs.heartbeat",
    "chatplatform.jobs.relay", "chatplatform.jobs.scheduler", "chatplatform.jobs.worker_process",
    "chatplatform.live",
)  # fmt: skip
# A database that ends, starts or has no connection left says so; one that is gone says nothing.
_STATES = ("08", "57P", "53300")
# When each outage was last logged, and when it began.
_logged_at: dict[str, float] = {}
_began: dict[str, float] = {}


class OncePerMinute(logging.Filter):
    """Passes one line a minute on each outage, without its traceback; all other lines as they
    are."""

    def filter(self, record: logging.LogRecord) -> bool:
        server = next(
            (kind for exc in _errors(record) if (kind := _failed_server(exc, record.name))), None
        )
        if server is None:
            return True
        now = time.monotonic()
        _began.setdefault(server, now)
        is_due = now - _logged_at.get(server, -LOG_INTERVAL_SECONDS) >= LOG_INTERVAL_SECONDS
        if not is_due and record.levelno < logging.CRITICAL:
            return False
        _logged_at[server] = now
        record.msg, record.args = record.getMessage().partition("\n")[0], ()
        record.exc_info = record.exc_text = None
        return True


def report_recovery(kind: str) -> None:
    """Log that the `broker` or the `database` answers again, if it was away."""
    began = _began.pop(kind, None)
    if began is not None:
        _logged_at.pop(kind, None)
        log.warning("the %s answers again, after %.0f s", kind, time.monotonic() - began)


def _errors(record: logging.LogRecord) -> Iterator[BaseException]:
    if record.exc_info and record.exc_info[1]:
        yield record.exc_info[1]
    args = record.args if isinstance(record.args, tuple) else ()
    yield from (arg for arg in args if isinstance(arg, BaseException))


def _failed_server(exc: BaseException, logger: str) -> str | None:
    """The server that this error shows to be down; None if it is another fault."""
    # By name: most processes need none of these libraries for their log.
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(exc).__mro__}
    is_cut_off = isinstance(exc, ConnectionError | TimeoutError)
    if names & _BROKER or (is_cut_off and logger.startswith(_OF_BROKER)):
        return "broker"
    if names & _DATABASE:
        state = getattr(exc.__cause__ or exc, "sqlstate", None)
        return "database" if state is None or state.startswith(_STATES) else None
    return None
