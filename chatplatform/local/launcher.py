"""`make run`: the whole platform on one machine, started in order, watched and stopped in order."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from chatplatform.local import servers

ROOT = Path(__file__).resolve().parents[2]
RUN_MARK = "CHATPLATFORM_RUN"  # in the environment of every process of ours: finds leftovers
FIRST_DELAY_SECS, LONGEST_DELAY_SECS, STABLE_SECS = 0.2, 10.0, 30.0
LIVE_SECS = 60  # how long the first answer may take on a slow machine
COLOURS = {
    "web": 32,
    "worker": 36,
    "worker-webhook": 31,
    "worker-bulk": 34,
    "beat": 35,
    "relay": 33,
}
CELERY_ROOT_WARNING = "You're running the worker with superuser privileges"
STATIC_SOURCES = ("*.css", "*.js", "*.svg", "*.png", "*.woff2", "*.ico", "*.html")


class Stopped(Exception):
    """Ctrl-C or SIGTERM came while the platform was starting."""


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


def read_config(environ: Mapping[str, str]) -> Config:
    port = environ.get("PORT") or "8000"
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise servers.ServerError(f"PORT must be a number from 1 to 65535, not {port!r}.")
    data_dir = servers.make_data_dir(Path(environ.get("DATA_DIR") or ROOT / "var"))
    return Config(environ.get("HOST") or "127.0.0.1", int(port), data_dir)


def parts(config: Config) -> list[Part]:
    """In the order of starting; for that of stopping see `Supervisor.stop`."""
    python = sys.executable
    celery = [python, "-m", "celery", "--quiet", "-A", "chatplatform"]
    worker = [*celery, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    # SIGTERM then gives running tasks the soft shutdown time that settings.py grants them.
    # Root is said to be unwise at every start; on a machine of one's own it is what there is.
    silent = f"ignore:{CELERY_ROOT_WARNING}"
    quiet = {"PYTHONWARNINGS": os.environ.get("PYTHONWARNINGS", silent)}
    soft = quiet | {"REMAP_SIGTERM": "SIGQUIT"}
    # They share the cores: a request goes before what follows from it, training comes last.
    later, last = ["nice", "-n", "5"], ["nice", "-n", "10"]
    quick = [*later, *worker, *_pool("worker", "threads", 16, "reply,channel,insight")]
    webhook = [*later, *worker, *_pool("worker-webhook", "threads", 4, "webhook")]
    bulk = [*last, *worker, *_pool("worker-bulk", "prefork", 2, "train,export")]
    schedule = ["--schedule", str(config.data_dir / "beat-schedule"), "--pidfile="]
    return [
        Part("worker", quick, 12, soft),
        # SIGTERM is no soft shutdown here: threads cannot be cut short, and what is being delivered
        # is ended or handed back at once.
        Part("worker-webhook", webhook, 12, quiet),
        Part("worker-bulk", bulk, 12, soft),
        Part("web", [python, "-m", "granian", *_web(config)], 6),
        Part("beat", [*celery, "beat", *schedule, "--loglevel", "warning"], 2),
        Part("relay", [python, "manage.py", "relay"], 3),
    ]


def _pool(name: str, pool: str, concurrency: int, queues: str) -> list[str]:
    options = ["-n", f"{name}@%h", "--pool", pool, "--concurrency", str(concurrency), "-Q", queues]
    return [*options, "--loglevel", "warning"]


def _web(config: Config) -> list[str]:
    address = ["--host", config.host, "--port", str(config.port)]
    # A worker that waits for a slow reader is not let hold up the stop.
    workers = ["--workers", "2", "--respawn-failed-workers", "--workers-kill-timeout", "4"]
    app = "chatplatform.asgi:application"
    return ["--interface", "asgi", "--no-ws", *workers, *address, "--log-level", "warning", app]


def check_port(config: Config) -> None:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((config.host, config.port))
    except OSError as error:
        raise servers.ServerError(
            f"Cannot listen on {config.host}:{config.port} ({error.strerror}): "
            "free that port, or choose another with PORT=8001 make run."
        ) from None


def kill_leftovers(data_dir: Path) -> None:
    """Processes of a killed run on this folder; work that they held is taken up again."""
    mark = f"{RUN_MARK}={data_dir}".encode()
    deadline = time.monotonic() + 5
    while found := list(_marked(mark)):
        for pid in found:
            servers.send(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)


def _marked(mark: bytes) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes().split(b"\0") and int(path.parent.name) != os.getpid():
                yield int(path.parent.name)


class Output:
    """Lines of all processes, one at a time, each with the name of its process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_tty = sys.stdout.isatty()

    def line(self, text: str, *, name: str = "run") -> None:
        label = f"{name:<14} | "
        if self._is_tty:
            label = f"\033[{COLOURS.get(name, 1)}m{label}\033[0m"
        # A reader that went away (`make run | head`) must not take the supervisor with it.
        with self._lock, suppress(BrokenPipeError):
            sys.stdout.write(f"{label}{text}\n")
            sys.stdout.flush()


class Process:
    """A part that is kept alive: restarted with a growing delay, stopped with its whole group."""

    def __init__(self, part: Part, environ: Mapping[str, str], output: Output) -> None:
        self.part = part
        self._environ = dict(environ) | dict(part.environ)
        self._output = output
        self._popen: subprocess.Popen[bytes] | None = None
        self._delay = Delay()

    def start(self) -> None:
        self._popen = subprocess.Popen(
            self.part.command,
            cwd=ROOT,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=servers.die_with_parent(signal.SIGTERM),
        )
        self._delay.started()
        threading.Thread(target=self._pump, args=(self._popen,), daemon=True).start()

    def _pump(self, popen: subprocess.Popen[bytes]) -> None:
        assert popen.stdout is not None
        with popen.stdout as lines:
            for line in lines:
                self._output.line(line.decode(errors="replace").rstrip(), name=self.part.name)

    def watch(self) -> None:
        """Start it again when it died, and when its delay is over."""
        if self._popen is not None and self._popen.poll() is not None:
            self.signal(signal.SIGKILL)  # children that outlived it would hold its port
            delay = self._delay.died()
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
                    # To the leader alone: it stops its children in its own order.
                    os.kill(self._popen.pid, signum)

    def has_ended(self) -> bool:
        return self._popen is None or self._popen.poll() is not None


class Delay:
    """0.2 s, doubling to 10 s; back to 0.2 s after 30 s of life."""

    def __init__(self) -> None:
        self._secs = FIRST_DELAY_SECS
        self._started_at = self._due_at = time.monotonic()

    def started(self) -> None:
        self._started_at = time.monotonic()

    def died(self) -> float:
        now = time.monotonic()
        if now - self._started_at > STABLE_SECS:
            self._secs = FIRST_DELAY_SECS
        delay, self._secs = self._secs, min(self._secs * 2, LONGEST_DELAY_SECS)
        self._due_at = now + delay
        return delay

    def is_over(self) -> bool:
        return time.monotonic() >= self._due_at


class Supervisor:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.output = Output()
        self.stopping = threading.Event()
        self.servers: list[servers.Server] = []
        self.processes: list[Process] = []
        self._delays: dict[str, Delay] = {}
        self._hurry = False
        thread_limits = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        own = {RUN_MARK: str(config.data_dir), "DATA_DIR": str(config.data_dir)}
        self.environ = dict(os.environ) | thread_limits | own | {"PORT": str(config.port)}

    def on_signal(self, _signum: int, _frame: FrameType | None) -> None:
        self._hurry = self.stopping.is_set()  # the second time is meant
        self.stopping.set()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.output.line(f"{name} ({time.monotonic() - began:.1f} s)")
        if self.stopping.is_set():
            raise Stopped

    def run(self) -> None:
        began = time.monotonic()
        try:
            self._start_servers()
            self._set_up()
            self._start_parts()
            self._announce(time.monotonic() - began)
            while not self.stopping.wait(0.2):
                self._watch()
        except Stopped:
            pass
        finally:
            self.stop()

    def _start_servers(self) -> None:
        for key, kind in (("DATABASE_URL", servers.Postgres), ("REDIS_URL", servers.Valkey)):
            if self.environ.get(key):
                continue
            server: servers.Server = kind(self.config.data_dir)
            self.servers.append(server)
            with self.step(f"{server.name} is up"):
                server.start()
            self.environ[key] = server.url
            self._delays[server.name] = Delay()
        urls = {key: self.environ[key] for key in ("DATABASE_URL", "REDIS_URL")}
        servers.write_urls(self.config.data_dir, urls)

    def _set_up(self) -> None:
        with self.step("database migrated"):
            self._manage("migrate", "--noinput")
        stamp, current = self.config.data_dir / "static.stamp", static_fingerprint()
        if not stamp.exists() or stamp.read_text() != current:
            with self.step("static files collected"):
                self._manage("collectstatic", "--noinput")
                stamp.write_text(current)
        with self.step("demo data is there"):
            self._manage("seed", shows_output=True)

    def _manage(self, *arguments: str, shows_output: bool = False) -> None:
        """A management command; its output is shown when asked for, or when it failed."""
        with tempfile.TemporaryFile() as held:
            process = subprocess.Popen(
                [sys.executable, "manage.py", *arguments],
                cwd=ROOT,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=held,
                stderr=subprocess.STDOUT,
                process_group=0,
                preexec_fn=servers.die_with_parent(signal.SIGTERM),
            )
            self._wait(lambda: process.poll() is not None, process)
            held.seek(0)
            lines = held.read().decode(errors="replace").splitlines()
        if shows_output or process.returncode:
            for line in lines:
                self.output.line(line, name=arguments[0])
        if process.returncode:
            raise servers.ServerError(
                f"`manage.py {arguments[0]}` failed with exit code {process.returncode}."
            )

    def _wait(self, done: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
        while not done():
            if self.stopping.wait(0.02):
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                raise Stopped

    def _start_parts(self) -> None:
        with self.step("processes started"):
            for part in parts(self.config):
                process = Process(part, self.environ, self.output)
                self.processes.append(process)
                process.start()
        with self.step("health answers"):
            deadline = time.monotonic() + LIVE_SECS
            while not self._is_live():
                if self.stopping.wait(0.1):
                    raise Stopped
                self._watch()
                if time.monotonic() > deadline:
                    raise servers.ServerError(
                        f"The web process did not answer within {LIVE_SECS} s; see its lines above."
                    )

    def _is_live(self) -> bool:
        # No proxy: an HTTP_PROXY of the machine is not for ourselves.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.config.origin}/health/live", timeout=2) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    def _announce(self, secs: float) -> None:
        origin = self.config.origin
        self.output.line(f"ready after {secs:.1f} s; Ctrl-C stops everything")
        for name, path in (("admin", "/admin/"), ("API docs", "/docs"), ("health", "/health/live")):
            self.output.line(f"  {name:<9} {origin}{path}")
        self.output.line(f"  {'data':<9} {self.config.data_dir}")

    def _watch(self) -> None:
        for server in self.servers:
            if server.is_dead():
                self._revive(server)
        for process in self.processes:
            process.watch()

    def _revive(self, server: servers.Server) -> None:
        delay = self._delays[server.name]
        if not delay.is_over():
            return
        try:
            server.start()
            self.output.line(f"{server.name} had died and is up again")
            delay.started()
        except (servers.ServerError, OSError) as error:
            self.output.line(f"{server.name} is down, next try in {delay.died():.1f} s: {error}")

    def stop(self) -> None:
        """Who makes work first, who does it next, who keeps it last: at most 28 seconds.

        The relay goes after the web, so that whoever waits for a reply may still get it.
        """
        self.stopping.set()
        began = time.monotonic()
        named = {process.part.name: process for process in self.processes}
        workers = ("worker", "worker-webhook", "worker-bulk")
        for group in (("web", "beat"), ("relay",), workers):
            self._stop_group([named[name] for name in group if name in named])
        for server in reversed(self.servers):
            server.stop(secs=3)
        (self.config.data_dir / "urls").unlink(missing_ok=True)
        self.output.line(f"stopped ({time.monotonic() - began:.1f} s)")

    def _stop_group(self, group: Sequence[Process]) -> None:
        for process in group:
            process.signal(signal.SIGTERM)
        deadline = time.monotonic() + max((one.part.patience for one in group), default=0)
        while not all(process.has_ended() for process in group):
            if self._hurry or time.monotonic() > deadline:
                break
            time.sleep(0.02)
        for process in group:
            process.signal(signal.SIGKILL)  # the leader if it did not obey, and what it left


def static_fingerprint() -> str:
    """Changes when a static file, its settings or an installed package may have changed."""
    digest = hashlib.sha256()
    files = [ROOT / "requirements.txt", ROOT / "chatplatform" / "settings.py"]
    for pattern in STATIC_SOURCES:
        files += ROOT.glob(f"*/static/**/{pattern}")
    for path in sorted(set(files)):
        found = path.stat()
        digest.update(f"{path}\0{found.st_mtime_ns}\0{found.st_size}\n".encode())
    return digest.hexdigest()


def run(environ: Mapping[str, str]) -> None:
    config = read_config(environ)
    lock = servers.Lock(config.data_dir)
    try:
        kill_leftovers(config.data_dir)
        check_port(config)
        supervisor = Supervisor(config)
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, supervisor.on_signal)
        supervisor.run()
    finally:
        lock.release()


def main() -> int:
    try:
        run(os.environ)
    except servers.ServerError as error:
        servers.say(str(error))
        return 1
    except OSError as error:
        servers.say(servers.explain(error, os.environ.get("DATA_DIR") or ROOT / "var"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
