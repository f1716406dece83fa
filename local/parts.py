"""The processes of the platform: their commands, how they are kept running, and their output."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from local.os_processes import die_with_parent

ROOT = Path(__file__).resolve().parents[1]
# The parts of the platform, in the order of their metrics ports. `make run` starts a second
# worker, which shares the first worker's port: either of them serves the metrics of both.
PARTS = ("web", "worker", "worker-webhook", "worker-bulk", "beat", "relay")
FIRST_DELAY_SECS, LONGEST_DELAY_SECS, STABLE_SECS = 0.2, 10.0, 30.0
COLOURS = {
    "web": 32,
    "worker": 36,
    "worker-2": 36,
    "worker-webhook": 31,
    "worker-bulk": 34,
    "beat": 35,
    "relay": 33,
    "simulator": 37,
}
# Celery's lines about stopping begin like this. They are omitted: the launcher prints its own.
CELERY_WORDS = ("worker: ", "Waiting gracefully for cold shutdown")
CELERY_ROOT_WARNING = "You're running the worker with superuser privileges"


def data_dir_of(environ: Mapping[str, str]) -> Path:
    """The folder in DATA_DIR, by default `var` in the repository."""
    return Path(environ.get("DATA_DIR") or ROOT / "var")


@dataclass(frozen=True)
class Config:
    host: str
    port: int
    data_dir: Path
    # The port of the simulated messaging providers; None if they do not run.
    simulator_port: int | None = None
    # The metrics port of the first of `PARTS`; the next ports serve the others. None: no metrics.
    metrics_port: int | None = None

    @property
    def simulator_origin(self) -> str:
        return f"http://127.0.0.1:{self.simulator_port}"

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
    """All parts, in the order in which they start. `Supervisor.stop` uses another order."""
    python = sys.executable
    celery = [python, "-m", "celery", "--quiet", "-A", "chatplatform"]
    worker = [*celery, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    # Celery warns at every start as root, which is common on a developer's machine.
    silent = f"ignore:{CELERY_ROOT_WARNING}"
    quiet = {"PYTHONWARNINGS": os.environ.get("PYTHONWARNINGS", silent)}
    # Makes SIGTERM give running tasks the time for a soft shutdown that settings.py sets.
    soft = quiet | {"REMAP_SIGTERM": "SIGQUIT"}
    # All share the CPU. People wait for web responses and for replies, so other jobs come later.
    later, last = ["nice", "-n", "15"], ["nice", "-n", "19"]
    quick, spare = (
        [*worker, *_pool(name, "threads", 16, "reply,channel,insight")]
        for name in ("worker", "worker-2")
    )
    webhook = [*later, *worker, *_pool("worker-webhook", "threads", 4, "webhook")]
    bulk = [*last, *worker, *_pool("worker-bulk", "prefork", 2, "train,export")]
    schedule = ["--schedule", str(config.data_dir / "beat-schedule"), "--pidfile="]
    simulator = ["--port", str(config.simulator_port), "--callback-base", config.origin]
    workers = {"REPLY_WORKERS": "2"}
    platform = [
        Part("web", [python, "-m", "chatplatform.web.serve", *_web(config)], 6),
        Part("worker", quick, 12, soft | workers),
        # No soft shutdown: on SIGTERM, deliveries end or are due again at once.
        Part("worker-webhook", webhook, 12, quiet),
        Part("worker-bulk", bulk, 12, soft),
        Part("beat", [*later, *celery, "beat", *schedule, "--loglevel", "warning"], 2),
        Part("relay", [python, "manage.py", "relay"], 3, workers),
        # This worker replies to customers while the first one restarts, which takes seconds.
        Part("worker-2", spare, 12, soft | workers),
    ]
    platform = [_observed(part, config) for part in platform]
    if config.simulator_port is None:
        return platform
    command = [*last, python, "-m", "simulator", *simulator]
    return [*platform, Part("simulator", command, 2)]


def _observed(part: Part, config: Config) -> Part:
    """The part with its metrics port and the name of its traces in the environment."""
    number = PARTS.index(part.name.removesuffix("-2"))
    port = 0 if config.metrics_port is None else config.metrics_port + number
    own = {"METRICS_PORT": str(port), "TRACES_NAME": f"chatplatform-{part.name}"}
    return replace(part, environ=dict(part.environ) | own)


def _pool(name: str, pool: str, concurrency: int, queues: str) -> list[str]:
    options = ["-n", f"{name}@%h", "--pool", pool, "--concurrency", str(concurrency), "-Q", queues]
    return [*options, "--loglevel", "warning"]


def _web(config: Config) -> list[str]:
    address = ["--host", config.host, "--port", str(config.port)]
    # A web worker that waits for a slow client must not delay stopping.
    return ["chatplatform.asgi:application", *address, "--workers-kill-timeout", "4"]


class Output:
    """Prints the lines of all processes, each with the name of its process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_tty = sys.stdout.isatty()

    def line(self, text: str, *, name: str = "run") -> None:
        label = f"{name:<14} | "
        if self._is_tty:
            label = f"\033[{COLOURS.get(name, 1)}m{label}\033[0m"
        # A closed pipe (`make run | head`) or a full disk must not end the supervisor.
        with self._lock, suppress(OSError):
            sys.stdout.write(f"{label}{text}\n")
            sys.stdout.flush()

    def popen(
        self, command: Sequence[str], environ: Mapping[str, str], name: str
    ) -> tuple[subprocess.Popen[bytes], threading.Thread]:
        """Start a process, and a thread that prints its lines."""
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )
        thread = threading.Thread(target=self._copy, args=(process, name), daemon=True)
        thread.start()
        return process, thread

    def _copy(self, popen: subprocess.Popen[bytes], name: str) -> None:
        """Print the lines of a process until it closes its output."""
        assert popen.stdout is not None
        with popen.stdout as lines:
            for line in lines:
                text = line.decode(errors="replace").rstrip()
                if text and not text.startswith(CELERY_WORDS):
                    self.line(text, name=name)


class Delay:
    """The delay before a restart: 0.2 s, doubled each time up to 10 s, and reset if the process ran
    for 30 s.

    It is also reset if a signal ended the process: a process that cannot start exits by itself.
    """

    def __init__(self) -> None:
        self._secs = FIRST_DELAY_SECS
        self._started_at = self._due_at = time.monotonic()

    def started(self) -> None:
        self._started_at = time.monotonic()

    def died(self, *, by_signal: bool = False) -> float:
        now = time.monotonic()
        if by_signal or now - self._started_at > STABLE_SECS:
            self._secs = FIRST_DELAY_SECS
        delay, self._secs = self._secs, min(self._secs * 2, LONGEST_DELAY_SECS)
        self._due_at = now + delay
        return delay

    def is_over(self) -> bool:
        return time.monotonic() >= self._due_at


class Process:
    """A part that is kept running: it is restarted after a delay, and stopped with its children."""

    def __init__(self, part: Part, environ: Mapping[str, str], output: Output) -> None:
        self.part = part
        self._environ = dict(environ) | dict(part.environ)
        self._output = output
        self._popen: subprocess.Popen[bytes] | None = None
        self._delay = Delay()

    def start(self) -> None:
        self._popen, _ = self._output.popen(self.part.command, self._environ, self.part.name)
        self._delay.started()

    def watch(self) -> None:
        """Restart the process if it has ended and its delay is over."""
        if self._popen is not None and self._popen.poll() is not None:
            self.signal(signal.SIGKILL)  # surviving children would keep its port
            delay = self._delay.died(by_signal=self._popen.returncode < 0)
            ended = f"ended with {self._popen.returncode}"
            self._output.line(f"{self.part.name} {ended}: starting it again in {delay:.1f} s")
            self._popen = None
        if self._popen is None and self._delay.is_over():
            self.start()

    def signal(self, signum: signal.Signals) -> None:
        if self._popen is not None:
            with suppress(ProcessLookupError, PermissionError):
                if signum == signal.SIGKILL:
                    os.killpg(self._popen.pid, signum)
                elif self._popen.poll() is None:
                    # Only to the process itself, which stops its children in the right order.
                    os.kill(self._popen.pid, signum)

    def has_ended(self) -> bool:
        return self._popen is None or self._popen.poll() is not None
