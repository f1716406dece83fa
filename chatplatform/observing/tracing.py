"""Traces for an OpenTelemetry collector, if `TRACES_URL` is set. A trace's ids are derived from the
request's id, which jobs carry: everything that a request causes is in its trace."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

_tracer: Any = None
# The ids for the next trace and its first span; None: random ids.
_next_ids: ContextVar[tuple[int, int] | None] = ContextVar("next_ids", default=None)


def is_on() -> bool:
    """Whether this process sends traces."""
    return _tracer is not None


def start() -> None:
    """Send traces from now on; does nothing without `TRACES_URL`."""
    global _tracer  # noqa: PLW0603 - one per process
    if settings.TRACES_URL and _tracer is None:
        _tracer = _make_tracer()


def _make_tracer() -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator  # noqa: PLC0415
        from opentelemetry.sdk.trace.sampling import TraceIdRatioBased  # noqa: PLC0415
    except ImportError as exc:
        raise ImproperlyConfigured(
            f"TRACES_URL needs the packages of requirements-traces.txt ({exc})."
        ) from exc

    class Ids(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            ids = _next_ids.get()
            return ids[0] if ids else super().generate_trace_id()

        def generate_span_id(self) -> int:
            ids = _next_ids.get()
            return ids[1] if ids else super().generate_span_id()

    provider = TracerProvider(
        resource=Resource.create({"service.name": settings.TRACES_NAME}),
        sampler=TraceIdRatioBased(settings.TRACES_SHARE),
        id_generator=Ids(),
    )
    exporter = OTLPSpanExporter(endpoint=f"{settings.TRACES_URL.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider.get_tracer("chatplatform")


def ids_of(request_id: str) -> tuple[int, int]:
    """The ids of a request's trace and of its first span."""
    digest = hashlib.sha256(request_id.encode()).digest()
    return int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])


def record_request(request_id: str, name: str, *, started_ns: int, status: str) -> None:
    """Record a served request as the first span of its trace."""
    if _tracer is None or not request_id:
        return
    from opentelemetry.context import Context  # noqa: PLC0415
    from opentelemetry.trace import SpanKind, Status, StatusCode  # noqa: PLC0415

    token = _next_ids.set(ids_of(request_id))
    try:
        span = _tracer.start_span(
            name,
            context=Context(),
            kind=SpanKind.SERVER,
            start_time=started_ns,
            attributes={"http.response.status_code": status, "request_id": request_id},
        )
    finally:
        _next_ids.reset(token)
    if status.startswith("5"):
        span.set_status(Status(StatusCode.ERROR))
    span.end()


@contextmanager
def job_span(request_id: str, name: str) -> Iterator[None]:
    """The span of a job, in the trace of the request that enqueued it."""
    if _tracer is None:
        yield
        return
    from opentelemetry.context import Context  # noqa: PLC0415
    from opentelemetry.trace import (  # noqa: PLC0415
        NonRecordingSpan,
        SpanContext,
        TraceFlags,
        set_span_in_context,
    )

    context = Context()
    if request_id not in {"", "-"}:
        flags = TraceFlags(TraceFlags.SAMPLED)
        request = SpanContext(*ids_of(request_id), is_remote=True, trace_flags=flags)
        context = set_span_in_context(NonRecordingSpan(request), context)
    with _tracer.start_as_current_span(f"job {name}", context=context):
        yield


@contextmanager
def span(name: str, **attributes: str) -> Iterator[None]:
    """A child span of the current span, such as a job's."""
    if _tracer is None:
        yield
        return
    with _tracer.start_as_current_span(name, attributes=attributes):
        yield
