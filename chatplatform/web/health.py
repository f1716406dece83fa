"""The health check, which shows the state of each part of the platform, and the OpenAPI
document."""

import gzip
import hashlib
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Literal

import orjson
from celery import current_app
from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.translation import gettext_noop
from drf_spectacular.generators import SchemaGenerator
from pydantic import Field

from chatplatform import replica
from chatplatform.api.errors import json_response
from chatplatform.api.openapi_postprocessing import group_of
from chatplatform.api.operation import PUBLIC, OperationViewSet, operation
from chatplatform.api.schemas import Schema
from chatplatform.jobs import infrastructure_metrics
from chatplatform.jobs.registry import Queue
from chatplatform.live import valkey
from chatplatform.observing import host
from chatplatform.sql import fetch_row

log = logging.getLogger(__name__)
# If a job waits longer than this, workers or the relay hang. Training and exports take minutes
# each, and wait for one another. The alert JobsWait has the same limits.
STUCK_SECONDS, LONG_STUCK_SECONDS = 120, 3600
LONG_QUEUES = {Queue.TRAIN, Queue.EXPORT}
MIN_FREE_BYTES = 100_000_000
LONGEST_SECONDS = 3  # for all checks together
CACHE_SECONDS = 2.0  # requests within this time get the same findings
PROCESSES = ("worker", "worker-webhook", "worker-bulk", "relay", "beat")
# Each part has one thread: while a hanging server blocks it, the part is not checked again.
_threads: dict[str, ThreadPoolExecutor] = defaultdict(lambda: ThreadPoolExecutor(1))
_latest: tuple[float, list["Part"]] | None = None
_checking = threading.Lock()


class Part(Schema):
    """One part of the platform."""

    name: str = Field(description="The part, for example `database`.")
    status: Literal["ok", "failed"] = Field(
        description="`ok` if the part works, otherwise `failed`."
    )
    detail: str = Field(description="The result of the check, in a few words.")
    duration_ms: float = Field(description="Milliseconds that the check took.")


class Health(Schema):
    """The state of the platform: 200 if every part works, otherwise 503 with the same body."""

    status: Literal["ok", "failed"] = Field(
        description="`ok` if every part works, `failed` if any part has failed."
    )
    parts: list[Part] = Field(
        description="The state of each part.",
        examples=[
            [{"name": "database", "status": "ok", "detail": "Responding", "duration_ms": 0.9}]
        ],
    )


class Alive(Schema):
    """The response of a process that serves requests."""

    status: Literal["ok"] = Field("ok", description="Always `ok`.")


class Unhealthy(Exception):
    """A part does not work; the message says why."""


class HealthViewSet(OperationViewSet):
    @operation(
        "Check Health",
        "Check Health",
        access=PUBLIC,
        returns=Health,
        also={503: Health},
        is_counted=False,
    )
    def health(self) -> HttpResponse:
        """Check whether the platform works: the database, the message broker, the background
        processes, how long jobs wait, the disks, the clock and, if there is one, the database's
        replica. The response lists each part with its status: a 200 if all parts work, otherwise a
        503. The result is up to two seconds old."""
        health = Health(status="ok", parts=latest())
        failed = [part.name for part in health.parts if part.status == "failed"]
        if not failed:
            return json_response(health, 200)
        health.status = "failed"
        log.warning("not healthy: %s", ", ".join(failed))
        response = json_response(health, 503)
        # Django would log the 503 as an error, but it is usual while the platform starts.
        response._has_been_logged = True  # type: ignore[attr-defined]  # Django checks this
        return response

    @operation("Check Health", "Live", access=PUBLIC, returns=Alive, is_counted=False)
    def live(self) -> Alive:
        """Check that this web process serves requests; the response is then a 200. Nothing else is
        checked."""
        return Alive()


def latest() -> list[Part]:
    """The state of each part, checked at most every two seconds, since anyone may ask as often as
    they like."""
    global _latest  # noqa: PLW0603 - one per process
    with _checking:
        if _latest is None or time.monotonic() - _latest[0] >= CACHE_SECONDS:
            parts = check_all()
            _latest = time.monotonic(), parts
        return _latest[1]


def check_all() -> list[Part]:
    """Check all parts; a part that does not respond in time, such as one that hangs, has failed."""
    running = [(name, _threads[name].submit(_check, name, check)) for name, check in CHECKS]
    ends_at, parts = time.monotonic() + LONGEST_SECONDS, []
    late: dict[str, Any] = {"status": "failed", "detail": f"No response in {LONGEST_SECONDS} s"}
    for name, result in running:
        try:
            parts.append(result.result(max(0, ends_at - time.monotonic())))
        except TimeoutError:
            result.cancel()
            parts.append(Part(name=name, **late, duration_ms=LONGEST_SECONDS * 1000))
    return parts


def _check(name: str, check: Callable[[], str]) -> Part:
    started = time.perf_counter()
    status: Literal["ok", "failed"] = "ok"
    try:
        detail = check()
    except Unhealthy as exc:
        status, detail = "failed", str(exc)
    except (Error, *valkey.ERRORS) as exc:
        # Only the type of the error: its text may contain host names, and this response is public.
        status, detail = "failed", f"Not reachable ({type(exc).__name__})"
    finally:
        connection.close()  # it is not needed until the next check
    duration_ms = round((time.perf_counter() - started) * 1000, 1)
    return Part(name=name, status=status, detail=detail, duration_ms=duration_ms)


def _database() -> str:
    (has_vectors,) = fetch_row("SELECT to_regclass('bots_passage') IS NOT NULL")
    # The table exists only if PostgreSQL has pgvector.
    return "Responding" if has_vectors else "Responding, no pgvector: large bots use much memory"


def _broker() -> str:
    with valkey.connect() as client:
        policy = client.config_get("maxmemory-policy").get("maxmemory-policy", "unknown")
        saving = client.info("persistence")
    if policy not in {"noeviction", "unknown"}:
        raise Unhealthy(f"Evicts keys when full ({policy}): jobs could be delayed")
    if not valkey.can_save(saving):
        raise Unhealthy("Can't write to its disk: is it full?")
    return "Responding"


def _processes() -> str:
    with valkey.connect() as client:
        beats = client.mget([f"alive:{name}" for name in PROCESSES])
    missing = [name for name, beat in zip(PROCESSES, beats, strict=True) if beat is None]
    if missing:
        raise Unhealthy(f"Not running: {', '.join(missing)}")
    return f"Running: {', '.join(PROCESSES)}"


def _jobs() -> str:
    _declare_jobs()
    with connection.cursor() as cursor:
        waiting = infrastructure_metrics.waiting(cursor)
    stuck = [
        f"{_jobs_text(count, f'{queue} ')}, the oldest for {oldest:.0f} s"
        for queue, (count, oldest) in sorted(waiting.items())
        if oldest > (LONG_STUCK_SECONDS if queue in LONG_QUEUES else STUCK_SECONDS)
    ]
    if stuck:
        raise Unhealthy("; ".join(stuck))
    return _jobs_text(sum(count for count, _ in waiting.values()))


def _jobs_text(count: int, queue: str = "") -> str:
    return f"{count} {queue}{'job' if count == 1 else 'jobs'} waiting"


@cache
def _declare_jobs() -> None:
    """Import the modules that declare jobs: a web process does not know their queues otherwise."""
    current_app.loader.import_default_modules()


def _replica() -> str:
    seconds = replica.lag_seconds()
    if seconds is None:
        return "Not responding: reports use the primary database"
    is_read = seconds <= settings.REPLICA_MAX_LAG_SECONDS
    return f"{seconds:.1f} s behind" + ("" if is_read else ": reports use the primary database")


def _disk() -> str:
    full = [
        f"Only {free // 1_000_000} MB free for {name}"
        for name, free, _ in host.disks()
        if free < MIN_FREE_BYTES
    ]
    if full:
        raise Unhealthy("; ".join(full))
    return "Enough free space"


def _clock() -> str:
    with connection.cursor() as cursor:
        skew = host.clock_skew(cursor)
    if abs(skew) > host.MAX_SKEW_SECONDS:
        direction = "behind" if skew > 0 else "ahead of"
        raise Unhealthy(f"This host is {abs(skew):.0f} s {direction} the database")
    return "In sync"


CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    (gettext_noop("database"), _database),
    ("broker", _broker),
    (gettext_noop("processes"), _processes),
    ("jobs", _jobs),
    (gettext_noop("disk"), _disk),
    ("clock", _clock),
    # Optional, and its check never fails: reports can read the primary.
    *((("replica", _replica),) if replica.is_configured() else ()),
)
# The names that people see, for parts whose name in the API is technical.
LABELS = {"broker": gettext_noop("message queue"), "clock": gettext_noop("system clock")}


def document() -> dict[str, Any]:
    """Generate the OpenAPI document of the served operations."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(  # type: ignore[no-untyped-call]
        request=None, public=True
    )
    return schema


@cache
def _document_bytes(group: str, *, zipped: bool) -> tuple[bytes, str]:
    """The stored document in docs/, or a group of it, and its ETag. It is not generated, since that
    takes some seconds. A test checks that the stored document equals the generated one."""
    stored = orjson.loads((settings.BASE_DIR / "docs" / "openapi.json").read_bytes())
    plain = orjson.dumps(group_of(stored, group) if group else stored)
    content = gzip.compress(plain, mtime=0) if zipped else plain
    return content, quote_etag(hashlib.sha256(content).hexdigest())


def openapi_json(request: HttpRequest) -> HttpResponse:
    """`GET /openapi.json`, compressed if the client accepts gzip; `?group=` limits it to a tag."""
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    group = request.GET.get("group", "")
    group = group if group in settings.API_GROUPS else ""
    content, etag = _document_bytes(group, zipped=zipped)
    response = HttpResponse(content, content_type="application/json")
    response["Vary"] = "Accept-Encoding"
    response["ETag"], response["Cache-Control"] = etag, "no-cache"
    if zipped:
        response["Content-Encoding"] = "gzip"
    return get_conditional_response(request, etag=etag, response=response) or response
