"""Limits what is logged while the broker, the database or its replica is unavailable: one line a
minute, and one line when it responds again.

Otherwise every loop of every process would log the outage again and again, and libraries would log
a traceback each time.
"""

import logging
import time
from collections.abc import Iterator

log = logging.getLogger(__name__)
LOG_INTERVAL_SECONDS = 60.0
_BROKER_ERRORS = {
    "redis.exceptions.ConnectionError", "redis.exceptions.TimeoutError",
    "kombu.exceptions.OperationalError",
}  # fmt: skip
_DATABASE_ERRORS = {
    "django.db.utils.OperationalError", "django.db.utils.InterfaceError",
    "psycopg.OperationalError", "psycopg.InterfaceError",
}  # fmt: skip
# Loggers of code that connects only to the broker. Jobs also connect to other servers; their errors
# have other loggers.
_BROKER_LOGGERS = (
    "celery.beat", "celery.worker", "kombu", "chatplatform.jobs.heartbeat",
    "chatplatform.jobs.relay", "chatplatform.jobs.scheduler", "chatplatform.jobs.worker_process",
    "chatplatform.live",
)  # fmt: skip
# SQLSTATEs of a database that stops, starts or has no connection left. An unreachable database
# sends no SQLSTATE.
_OUTAGE_STATES = ("08", "57P", "53300")
# When each outage was last logged, and when it began.
_logged_at: dict[str, float] = {}
_began: dict[str, float] = {}


class OncePerMinute(logging.Filter):
    """Passes one line a minute about each outage, and each critical line about it, without the
    traceback. All other lines pass unchanged."""

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
    """Log that the `broker`, `database` or `replica` responds again, if it was unavailable."""
    began = _began.pop(kind, None)
    if began is not None:
        _logged_at.pop(kind, None)
        log.warning("the %s responds again, after %.0f s", kind, time.monotonic() - began)


def _errors(record: logging.LogRecord) -> Iterator[BaseException]:
    if record.exc_info and record.exc_info[1]:
        yield record.exc_info[1]
    args = record.args if isinstance(record.args, tuple) else ()
    yield from (arg for arg in args if isinstance(arg, BaseException))


def _failed_server(exc: BaseException, logger: str) -> str | None:
    """`broker`, `database` or `replica` if this error shows that it is down; None for any other
    error."""
    # Errors are compared by name, so that logging does not load these libraries.
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(exc).__mro__}
    is_cut_off = isinstance(exc, ConnectionError | TimeoutError)
    if names & _BROKER_ERRORS or (is_cut_off and logger.startswith(_BROKER_LOGGERS)):
        return "broker"
    if names & _DATABASE_ERRORS:
        state = getattr(exc.__cause__ or exc, "sqlstate", None)
        if state is None or state.startswith(_OUTAGE_STATES):
            return "replica" if logger == "chatplatform.replica" else "database"
    return None
