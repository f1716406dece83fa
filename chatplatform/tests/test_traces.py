"""Traces: a request and what follows from it are one trace, at a collector that takes OTLP."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from chatplatform import jobs
from chatplatform.api.request_context import serving
from chatplatform.observing import tracing
from chatplatform.testing import run_jobs
from chatplatform.testing.web_process import wait_until_idle, web
from chatplatform.tests.job_work import NAME
from local.os_processes import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


class Collector(ThreadingHTTPServer):
    """Keeps the spans that it gets."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans = []
        threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def wait_for(self, count):
        assert wait_until(lambda: len(self.spans) >= count, secs=60), self.spans
        return {span.name: span for span in self.spans}


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def log_message(self, format, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        sent = ExportTraceServiceRequest.FromString(body)
        assert self.path == "/v1/traces"
        self.server.spans += [
            span
            for resource in sent.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def collector(monkeypatch):
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")  # milliseconds
    server = Collector()
    yield server
    server.shutdown()
    server.server_close()


def test_a_request_is_the_first_span_of_its_trace(collector):
    with web(TRACES_URL=collector.url) as port:
        request = Request(
            f"http://127.0.0.1:{port}/health/live", headers={"X-Request-ID": "order-17"}
        )
        with urlopen(request, timeout=30) as reply:
            assert reply.headers["X-Request-ID"] == "order-17"
        span = collector.wait_for(1)["GET health/live"]
        wait_until_idle(port)
    trace, first = tracing.ids_of("order-17")
    assert int.from_bytes(span.trace_id) == trace
    assert (int.from_bytes(span.span_id), span.parent_span_id) == (first, b"")
    assert 0 < span.end_time_unix_nano - span.start_time_unix_nano < 60e9


def test_a_job_and_the_jobs_that_follow_are_in_the_trace_of_the_request(
    collector, work, settings, monkeypatch
):
    settings.TRACES_URL = collector.url
    monkeypatch.setattr(tracing, "_tracer", None)
    tracing.start()

    def act(*, again):
        with tracing.span("model"):
            if again:
                jobs.enqueue(NAME, client_id=None, again=False)

    work.act = act
    with serving(request_id="order-18", address=""):
        jobs.enqueue(NAME, client_id=None, again=True)
    run_jobs()
    spans = collector.wait_for(4)
    trace, first = tracing.ids_of("order-18")
    assert {int.from_bytes(span.trace_id) for span in collector.spans} == {trace}
    assert int.from_bytes(spans[f"job {NAME}"].parent_span_id) == first
    parents = {span.parent_span_id for span in collector.spans if span.name == "model"}
    assert parents == {span.span_id for span in collector.spans if span.name == f"job {NAME}"}


def test_jobs_are_the_same_without_a_collector(work):
    jobs.enqueue(NAME, client_id=None, again=True)
    run_jobs()
    assert work.calls == [{"again": True}]
