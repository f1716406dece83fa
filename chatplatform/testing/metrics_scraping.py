"""Reads the metrics of a running process as Prometheus does, or of the test's own process."""

import time
from collections.abc import Callable
from urllib.request import urlopen

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from chatplatform.observing import exporter
from chatplatform.observing.metrics import PREFIX, Metric


class Scrape:
    """The metrics of a group of processes at one time."""

    def __init__(self, text: str) -> None:
        self.samples = [
            (sample.name.removeprefix(PREFIX), sample.labels, sample.value)
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        ]

    def total(self, metric: str, /, **labels: str) -> float:
        """The sum of a metric's samples whose labels include these."""
        return sum(
            value
            for found, own, value in self.samples
            if found == metric and labels.items() <= own.items()
        )

    def by(self, name: str, label: str) -> dict[str, float]:
        """A metric's totals by the value of one label, without zeros."""
        values = sorted(
            {own[label] for found, own, value in self.samples if found == name and value}
        )
        return {value: self.total(name, **{label: value}) for value in values}


def scrape(port: int) -> Scrape:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as reply:
        return Scrape(reply.read().decode())


def scrape_until(port: int, condition: Callable[[Scrape], bool], *, seconds: float = 60) -> Scrape:
    """Scrape until the condition holds; the port may not be served yet."""
    ends_at, seen = time.monotonic() + seconds, None
    while time.monotonic() < ends_at:
        try:
            seen = scrape(port)
        except OSError:
            time.sleep(0.1)
            continue
        if condition(seen):
            return seen
        time.sleep(0.1)
    raise AssertionError(f"not in {seconds:.0f} s; last: {seen and seen.samples}")


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Scrape]:
    """Make this process count during the test; call the fixture to read the counts."""
    registry = CollectorRegistry()
    for metric in Metric.catalogue:
        monkeypatch.setattr(metric, "made", exporter.make(metric, registry))
    return lambda: Scrape(generate_latest(registry).decode())
