"""Run Debian's Prometheus on the metrics of a running platform."""

import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx2
import yaml

from drills.platform import ROOT, free_port, wait_until
from local.parts import PARTS

DEPLOY = ROOT / "deploy"


def free_ports(count: int) -> int:
    """The first of `count` consecutive free ports."""
    while True:
        first = free_port()
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first


def quickened(rules: dict[str, Any], *, window: str) -> dict[str, Any]:
    """The alerts with shorter windows and waits, otherwise unchanged."""
    for group in rules["groups"]:
        for rule in group["rules"]:
            for minutes in ("5m", "10m", "15m"):
                rule["expr"] = rule["expr"].replace(f"[{minutes}]", f"[{window}]")
            rule["for"] = "0s"
    return rules


class Prometheus:
    """A server with its own folder that scrapes one host every two seconds."""

    def __init__(self, folder: Path, *, metrics_port: int, window: str = "20s") -> None:
        folder.mkdir()
        config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
        config["global"] = {
            "scrape_interval": "2s", "evaluation_interval": "1s", "scrape_timeout": "2s",
        }  # fmt: skip
        for entry in config["scrape_configs"][0]["static_configs"]:
            port = metrics_port + PARTS.index(entry["labels"]["part"])
            entry["targets"] = [f"127.0.0.1:{port}"]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())
        rules = quickened(rules, window=window)
        (folder / "alerts.yml").write_text(yaml.safe_dump(rules))
        self.alerts = [rule["alert"] for group in rules["groups"] for rule in group["rules"]]
        self.port, self.log = free_port(), (folder / "log").open("w")
        self.process = subprocess.Popen(
            [
                "prometheus", f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=self.log, stderr=self.log,
        )  # fmt: skip
        self.client = httpx2.Client(base_url=f"http://127.0.0.1:{self.port}/api/v1", timeout=30)
        wait_until(lambda: self.ask("/rules")["groups"], what="the rules of Prometheus")

    def ask(self, path: str, **query: Any) -> Any:
        reply = self.client.get(path, params=query)
        body = reply.json()
        assert body["status"] == "success", (path, query, body)
        return body["data"]

    def value(self, query: str) -> float:
        """The first value of a query; 0 if there is none."""
        rows = self.ask("/query", query=query)["result"]
        return float(rows[0]["value"][1]) if rows else 0.0

    def series(self, query: str, *, seconds: float, step: float = 1) -> list[Any]:
        """The values of the last `seconds`, as a panel requests them."""
        now = time.time()
        data = self.ask("/query_range", query=query, start=now - seconds, end=now, step=step)
        return list(data["result"])

    def firing(self) -> set[str]:
        """The names of the alerts that fire now."""
        alerts = self.ask("/alerts")["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

    def stop(self) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(20)
        self.log.close()
