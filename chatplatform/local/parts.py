"""The processes of the platform: what each runs, and in which order they start."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CELERY_ROOT_WARNING = "You're running the worker with superuser privileges"


@dataclass(frozen=True)
class Config:
    host: str
    port: int
    data_dir: Path

    @property
    def origin(self) -> str:
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


@dataclass(frozen=True)
class Part:
    """One process of the platform. `patience` is how long it may take to stop, in seconds."""

    name: str
    command: Sequence[str]
    patience: float
    environ: Mapping[str, str] = field(default_factory=dict)


def parts(config: Config) -> list[Part]:
    """In the order of starting; for the order of stopping see `Supervisor.stop`."""
    python = sys.executable
    celery = [python, "-m", "celery", "--quiet", "-A", "chatplatform"]
    worker = [*celery, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    # Celery warns root at every start; on one's own machine root is common.
    silent = f"ignore:{CELERY_ROOT_WARNING}"
    quiet = {"PYTHONWARNINGS": os.environ.get("PYTHONWARNINGS", silent)}
    # SIGTERM then gives running tasks the soft shutdown time of settings.py.
    soft = quiet | {"REMAP_SIGTERM": "SIGQUIT"}
    # They share the cores: requests come first, the jobs that follow from them next, then training.
    later, last = ["nice", "-n", "5"], ["nice", "-n", "10"]
    quick = [*later, *worker, *_pool("worker", "threads", 16, "reply,channel,insight")]
    webhook = [*later, *worker, *_pool("worker-webhook", "threads", 4, "webhook")]
    bulk = [*last, *worker, *_pool("worker-bulk", "prefork", 2, "train,export")]
    schedule = ["--schedule", str(config.data_dir / "beat-schedule"), "--pidfile="]
    return [
        Part("web", [python, "-m", "granian", *_web(config)], 6),
        Part("worker", quick, 12, soft),
        # SIGTERM is no soft shutdown here: deliveries end or return to the queue at once.
        Part("worker-webhook", webhook, 12, quiet),
        Part("worker-bulk", bulk, 12, soft),
        Part("beat", [*later, *celery, "beat", *schedule, "--loglevel", "warning"], 2),
        Part("relay", [python, "manage.py", "relay"], 3),
    ]


def _pool(name: str, pool: str, concurrency: int, queues: str) -> list[str]:
    options = ["-n", f"{name}@%h", "--pool", pool, "--concurrency", str(concurrency), "-Q", queues]
    return [*options, "--loglevel", "warning"]


def _web(config: Config) -> list[str]:
    address = ["--host", config.host, "--port", str(config.port)]
    # A worker that waits for a slow reader must not delay the stop.
    workers = ["--workers", "2", "--respawn-failed-workers", "--workers-kill-timeout", "4"]
    app = "chatplatform.asgi:application"
    return ["--interface", "asgi", "--no-ws", *workers, *address, "--log-level", "warning", app]
