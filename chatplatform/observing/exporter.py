"""Serves the metrics of a group of processes to Prometheus, on a separate port. The process that
gets the port adds up the counts that all processes write to files."""

import errno
import logging
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import import_string

from chatplatform.observing import host, metrics
from chatplatform.observing.metrics import Metric, Reading
from chatplatform.observing.process_slots import Slots

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

log = logging.getLogger(__name__)
# The pause between two attempts to get the port while another process of the group has it.
PORT_PAUSE_SECONDS = 1.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_lock = threading.Lock()
_slots: Slots | None = None


def start(*, readers: bool = False) -> None:
    """Start to count, and to serve the metrics of this process's group; do nothing without
    METRICS_PORT. A forked process calls this again. `readers`: also serve `METRIC_READERS`."""
    global _slots  # noqa: PLW0603 - one per process
    if not settings.METRICS_PORT:
        return
    with _lock:
        if _slots is not None:
            _slots.current()
            return
        _slots = _make_metrics(_folder(settings.METRICS_PORT))
    collectors: list[Any] = [_Processes(_slots), _Readers([host.read])]
    if readers:
        collectors.append(_Readers([import_string(name) for name in settings.METRIC_READERS]))
    threading.Thread(
        target=_serve, args=(_registry(collectors),), daemon=True, name="metrics"
    ).start()


def _folder(port: int) -> Path:
    """The folder of the group; there is one for each host, user and port."""
    folder = Path(tempfile.gettempdir()) / f"chatplatform-metrics-{os.geteuid()}-{port}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    return folder


def _make_metrics(folder: Path) -> Slots:
    """Load the client library and create its objects."""
    # The library reads this variable whenever it opens a file.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    # A process that serves no metrics does not load the library.
    from prometheus_client import values  # noqa: PLC0415
    from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415

    slots = Slots(folder, lambda number: mark_process_dead(number, str(folder)))
    slots.current()
    values.ValueClass = values.MultiProcessValue(slots.current)
    for metric in Metric.catalogue:
        metric.made = make(metric)
    return slots


def make(metric: Metric, registry: "CollectorRegistry | None" = None) -> Any:
    """The client library's object for a metric; None if the metric is read on demand."""
    import prometheus_client  # noqa: PLC0415

    options: dict[str, Any] = {"registry": registry}
    match metric.kind:
        case "counter":
            kind: Any = prometheus_client.Counter
        case "gauge":
            kind, options["multiprocess_mode"] = prometheus_client.Gauge, "livesum"
        case "histogram":
            kind, options["buckets"] = prometheus_client.Histogram, metric.buckets
        case _:
            return None
    instance = kind(metric.name, metric.meaning, metric.labels, **options)
    for value in metric.values:
        instance.labels(value)
    return instance


def _registry(collectors: list[Any]) -> "CollectorRegistry":
    from prometheus_client import CollectorRegistry, multiprocess  # noqa: PLC0415

    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    multiprocess.MultiProcessCollector(registry)
    return registry


def _serve(registry: "CollectorRegistry") -> None:
    from wsgiref.simple_server import make_server  # noqa: PLC0415

    from prometheus_client import make_wsgi_app  # noqa: PLC0415
    from prometheus_client.exposition import ThreadingWSGIServer, _SilentHandler  # noqa: PLC0415

    address = (settings.METRICS_HOST, settings.METRICS_PORT)
    app: Any = make_wsgi_app(registry)
    while True:
        try:
            server = make_server(*address, app, ThreadingWSGIServer, _SilentHandler)
        except OSError as exc:
            if exc.errno != errno.EADDRINUSE:
                log.exception("the metrics cannot be served at %s:%s", *address)
                return
            time.sleep(PORT_PAUSE_SECONDS)
            continue
        server.serve_forever()


class _Processes:
    """The CPU time and memory of each process of the group, from the kernel."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots

    def collect(self) -> Iterator[Any]:
        readings = []
        for slot, pid in self._slots.running():
            try:
                stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue  # the process has just ended
            seconds, pages = (int(stat[11]) + int(stat[12])) / _TICKS, int(stat[21])
            readings.append(Reading(metrics.PROCESS_CPU, seconds, (str(slot),)))
            readings.append(Reading(metrics.PROCESS_MEMORY, pages * _PAGE, (str(slot),)))
        yield from _families(readings)


class _Readers:
    """Serves the metrics of the readers. Only one scrape reads at a time, so that scrapes do not
    pile up behind a database that hangs."""

    def __init__(self, readers: list[Any]) -> None:
        self._readers = readers
        self._lock = threading.Lock()

    def collect(self) -> Iterator[Any]:
        if not self._lock.acquire(blocking=False):
            log.warning("another scrape still reads the platform's metrics: they are left out")
            return
        try:
            readings = [reading for read in self._readers for reading in read()]
        finally:
            self._lock.release()
        yield from _families(readings)


def _families(readings: list[Reading]) -> Iterator[Any]:
    from prometheus_client import core  # noqa: PLC0415

    families: dict[str, Any] = {}
    for metric, value, labels in readings:
        is_counter = metric.name.endswith("_total")
        kind: Any = core.CounterMetricFamily if is_counter else core.GaugeMetricFamily
        if metric.name not in families:
            families[metric.name] = kind(metric.name, metric.meaning, labels=metric.labels)
        families[metric.name].add_metric(labels, value)
    yield from families.values()
