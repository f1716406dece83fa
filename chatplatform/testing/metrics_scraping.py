"""Reads the metrics of a running process, as Prometheus does, or those of the test's own."""

import time
from collections.abc import Callable
from urllib.request import urlopen

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from chatplatform.observing import exporter
from chatplatform.observing.metrics import PREFIX, Metric


class Scrape:
    """What a group of processes said of itself at one moment."""

    def __init__(self, text: str) -> None:
        self.samples = [
            (sample.name.removeprefix(PREFIX), sample.labels, sample.value)
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        ]

    def total(self, metric: str, /, **labels: str) -> float:
        """The sum of the samples of a name whose labels include these."""
        return sum(
            value
            for found, own, value in self.samples
            if found == metric and labels.items() <= own.items()
        )

    def by(self, name: str, label: str) -> dict[str, float]:
        """The samples of a name that are not 0, by the value of one of their labels."""
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
    """This process counts during the test; call it for what was counted."""
    registry = CollectorRegistry()
    for metric in Metric.catalogue:
        monkeypatch.setattr(metric, "made", exporter.make(metric, registry))
    return lambda: Scrape(generate_latest(registry).decode())
