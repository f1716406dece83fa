"""What is in `deploy/`: alerts and panels name metrics and headings that exist."""

import json
import re
import subprocess
from shutil import which

import pytest
import yaml
from django.conf import settings

from chatplatform.local.parts import Config, parts
from chatplatform.observing.metrics import Metric

DEPLOY = settings.BASE_DIR / "deploy"
RUNBOOK = "docs/operations.md#"


def rules():
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panel_queries():
    panels = json.loads((DEPLOY / "grafana" / "chatplatform.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def anchors():
    """The anchors of the page's headings, as GitHub makes them."""
    text = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_alert_says_what_to_do():
    assert len(rules()) >= 15
    for rule in rules():
        assert rule["for"]
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"]
        runbook = rule["annotations"]["runbook"]
        assert runbook.startswith(RUNBOOK)
        assert runbook.removeprefix(RUNBOOK) in anchors(), rule["alert"]


def test_panels_and_alerts_ask_for_metrics_that_exist():
    queries = panel_queries() + [rule["expr"] for rule in rules()]
    asked = set(re.findall(r"chatplatform_\w+", " ".join(queries)))
    known = {metric.name for metric in Metric.catalogue}
    series = {name + end for name in known for end in ("", "_bucket", "_count", "_sum")}
    assert asked <= series
    shown = {re.sub("_(bucket|count|sum)$", "", name) for name in asked}
    assert known - shown == set(), "no panel shows them"


def test_the_page_of_operations_names_every_metric():
    text = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    assert [metric.name for metric in Metric.catalogue if f"`{metric.name}`" not in text] == []


def test_prometheus_scrapes_every_process_of_a_host(tmp_path):
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (scrape,) = config["scrape_configs"]
    scraped = {
        entry["labels"]["part"]: entry["targets"][0].rpartition(":")[2]
        for entry in scrape["static_configs"]
    }
    started = parts(Config("127.0.0.1", 8000, tmp_path, metrics_port=9100))
    assert scraped == {part.name: part.environ["METRICS_PORT"] for part in started}


def test_prometheus_takes_the_files():
    if which("promtool") is None:
        pytest.skip("promtool is not installed")
    folder = DEPLOY / "prometheus"
    subprocess.run(["promtool", "check", "config", "prometheus.yml"], cwd=folder, check=True)
