"""Check Health: asks each part how it is, and says so in a line each."""

import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Literal

import orjson
import redis
from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from drf_spectacular.generators import SchemaGenerator
from pydantic import Field
from rest_framework.request import Request

from chatplatform.api.access import PUBLIC
from chatplatform.api.errors import json_response
from chatplatform.api.operation import OperationViewSet, operation
from chatplatform.api.shapes import Shape

# Beyond this many seconds a due job that nobody took means that workers or relay stand still.
STUCK_SECONDS = 120
MIN_FREE_BYTES = 100_000_000
LONGEST_SECONDS = 3  # for all the answers together
PROCESSES = ("worker", "worker-webhook", "worker-bulk", "relay", "beat")


# A thread for each part: one that a frozen server holds is not asked again until it is back.
_threads: dict[str, ThreadPoolExecutor] = defaultdict(lambda: ThreadPoolExecutor(1))


class Part(Shape):
    """One part of the platform."""

    name: str = Field(description="Which part, for example `database`.")
    status: Literal["ok", "failed"] = Field(description="Whether it works.")
    detail: str = Field(description="What was found, in a few words.")
    duration_ms: float = Field(description="How long the question took, in milliseconds.")


class Health(Shape):
    """How the platform is: 200 where every part works, 503 where one does not."""

    status: Literal["ok", "failed"] = Field(description="`failed` where any part is.")
    parts: list[Part] = Field(description="Each part.")


class Alive(Shape):
    """This process answers."""

    status: Literal["ok"] = Field("ok", description="Always `ok`.")


class Unwell(Exception):
    """A part does not work; the message says how."""


class HealthViewSet(OperationViewSet):
    @operation("Check Health", "Check Health", access=PUBLIC, returns=Health, also={503: Health})
    def health(self, request: Request) -> HttpResponse:
        """Asks the database, the broker, the processes, the job queue and the disk."""
        found = Health(status="ok", parts=_ask_all())
        if any(part.status == "failed" for part in found.parts):
            found.status = "failed"
        return json_response(found.model_dump(), 200 if found.status == "ok" else 503)

    @operation("Check Health", "Live", access=PUBLIC, returns=Alive)
    def live(self, request: Request) -> Alive:
        """Answers 200 as long as this process serves requests; asks nothing else."""
        return Alive()


def _ask_all() -> list[Part]:
    """Each part's answer; one that is frozen neither answers nor fails, and is not waited for."""
    asked = [(name, _threads[name].submit(_ask, name, check)) for name, check in CHECKS]
    ends_at, parts = time.monotonic() + LONGEST_SECONDS, []
    for name, answer in asked:
        try:
            parts.append(answer.result(max(0, ends_at - time.monotonic())))
        except TimeoutError:
            answer.cancel()
            parts.append(
                Part(
                    name=name,
                    status="failed",
                    detail=f"no answer in {LONGEST_SECONDS} s",
                    duration_ms=LONGEST_SECONDS * 1000,
                )
            )
    return parts


def _ask(name: str, check: Callable[[], str]) -> Part:
    begun = time.perf_counter()
    status: Literal["ok", "failed"] = "ok"
    try:
        detail = check()
    except Unwell as exc:
        status, detail = "failed", str(exc)
    except (Error, redis.RedisError, OSError) as exc:
        # The kind of fault, not its text: that may name hosts, and this answer is public.
        status, detail = "failed", f"not reachable ({type(exc).__name__})"
    finally:
        connection.close()  # this thread's own
    taken = round((time.perf_counter() - begun) * 1000, 1)
    return Part(name=name, status=status, detail=detail, duration_ms=taken)


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return "answers"


def _broker_client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)


def _broker() -> str:
    with _broker_client() as client:
        policy = client.config_get("maxmemory-policy").get("maxmemory-policy", "unknown")
    if policy not in {"noeviction", "unknown"}:
        raise Unwell(f"evicts keys when full ({policy}): jobs could be delayed")
    return "answers"


def _processes() -> str:
    with _broker_client() as client:
        beats = client.mget([f"alive:{name}" for name in PROCESSES])
    missing = [name for name, beat in zip(PROCESSES, beats, strict=True) if beat is None]
    if missing:
        raise Unwell(f"no sign of life from {', '.join(missing)}")
    return f"{', '.join(PROCESSES)} are alive"


def _jobs() -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), coalesce(extract(epoch FROM now() - min(due_at)), 0)::float"
            " FROM chatplatform_job WHERE state = 'queued' AND due_at <= now()"
        )
        waiting, oldest = cursor.fetchone()
    if oldest > STUCK_SECONDS:
        raise Unwell(f"{waiting} jobs wait, the oldest for {oldest:.0f} s")
    return f"{waiting} jobs wait"


def _disk() -> str:
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free < MIN_FREE_BYTES:
        raise Unwell(f"only {free // 1_000_000} MB free")
    return "has room"


CHECKS = (
    ("database", _database),
    ("broker", _broker),
    ("processes", _processes),
    ("jobs", _jobs),
    ("disk", _disk),
)


def document() -> dict[str, Any]:
    """The OpenAPI document of what is served."""
    found: dict[str, Any] = SchemaGenerator().get_schema(  # type: ignore[no-untyped-call]
        request=None, public=True
    )
    return found


@cache
def _document_bytes() -> bytes:
    return orjson.dumps(document())


def openapi_json(request: HttpRequest) -> HttpResponse:
    """`GET /openapi.json`; the code cannot change while it runs, so it is built once."""
    return HttpResponse(_document_bytes(), content_type="application/json")
