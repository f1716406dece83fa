"""`make run`: starts the whole platform on one machine, watches it and stops it in order."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from types import FrameType

from local.data_dir import Lock, make_data_dir, write_urls
from local.datastore_base import Server
from local.os_processes import STOP_SIGNALS, ServerError, exit_code, free_port, send
from local.parts import PARTS, Config, Delay, Output, Process, data_dir_of, parts
from local.postgres import Postgres
from local.valkey import Valkey
from simulator import defaults

_HELP = (
    "Starts the whole platform on this machine until Ctrl-C. It takes no arguments: settings come"
    " from the environment, such as PORT and DATA_DIR (docs/settings.md)."
)
RUN_MARK = "CHATPLATFORM_RUN"  # in the environment of all our processes, to find leftovers
TRUE = {"true", "on", "ok", "y", "yes", "1"}  # the values of DEBUG that settings.py reads as true
_TO_SIMULATOR = 1200  # the distance from the platform's port to the simulator's preferred port
LIVE_SECS = 300  # how long the first response may take on a slow machine
# How long each group of processes may take to stop if the platform has not been ready yet: nobody
# has used it.
UNREADY_PATIENCE_SECS = 2


class Stopped(Exception):
    """The platform was stopped, by Ctrl-C or SIGTERM, while it was starting."""


def read_config(environ: Mapping[str, str]) -> Config:
    # The simulator runs only in development, since the simulated providers' secrets are public.
    is_development = (environ.get("DEBUG") or "false").lower() in TRUE
    host = environ.get("HOST") or "127.0.0.1"
    if is_development and not is_loopback(host):
        _refuse_debug_on_network(environ, host)
    port = _port(environ, "PORT", "8000")
    metrics_port = _port(environ, "METRICS_PORT", "0")
    data_dir = make_data_dir(data_dir_of(environ))
    # Use the same port at each start if it is free: URLs of webhooks and functions may contain it.
    simulator_port = free_port(port + _TO_SIMULATOR) if is_development else None
    return Config(host, port, data_dir, simulator_port, metrics_port or None)


def is_loopback(host: str) -> bool:
    """Whether a host is an address that only this machine can reach, or `localhost`."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse_debug_on_network(environ: Mapping[str, str], host: str) -> None:
    if environ.get("DEBUG_ON_NETWORK", "").lower() not in TRUE:
        raise ServerError(
            f"HOST={host} would open a platform with DEBUG to the network, where anybody may"
            " register and nobody needs a second factor: leave HOST out, or set DEBUG=false; or set"
            " DEBUG_ON_NETWORK=yes, and ALLOWED_HOSTS to the names that it is called by."
        )


def _port(environ: Mapping[str, str], name: str, default: str) -> int:
    port = environ.get(name) or default
    least = 0 if default == "0" else 1
    if not port.isdigit() or not least <= int(port) < 65536:
        raise ServerError(f"{name} must be a number from {least} to 65535, not {port!r}.")
    return int(port)


def check_port(config: Config) -> None:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((config.host, config.port))
    except OSError as error:
        raise ServerError(
            f"Cannot listen on {config.host}:{config.port} ({error.strerror}): "
            "free that port, or choose another with PORT=8001 make run."
        ) from None


def kill_leftovers(data_dir: Path) -> None:
    """Kill the processes that a killed run with this folder left; their jobs will run again."""
    mark = f"{RUN_MARK}={data_dir}".encode()
    deadline = time.monotonic() + 5
    while pids := list(_marked(mark)):
        for pid in pids:
            send(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)


def _marked(mark: bytes) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes().split(b"\0") and int(path.parent.name) != os.getpid():
                yield int(path.parent.name)


class Supervisor:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.output = Output()
        self.stopping = threading.Event()
        self.servers: list[Server] = []
        self.processes: list[Process] = []
        self._delays: dict[str, Delay] = {}
        self._hurry = self._is_ready = self._is_starting_server = False
        thread_limits = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        own = {RUN_MARK: str(config.data_dir), "DATA_DIR": str(config.data_dir)}
        self.environ = dict(os.environ) | thread_limits | own | {"PORT": str(config.port)}
        # Needed only for the setup: the processes use a role that owns nothing.
        names = [name for name in self.environ if name.startswith("DATABASE_OWNER_")]
        self._owner = {name: self.environ.pop(name) for name in names}
        if config.simulator_port is not None:
            host = config.origin.removeprefix("http://").rpartition(":")[0]
            self.environ.setdefault("PUBLIC_URL", config.origin)  # the URL that is printed here
            self.environ.setdefault("ALLOWED_HOSTS", f"localhost,127.0.0.1,[::1],{host}")
            self.environ.setdefault("CREDIT_PACKS", "5000=45 EUR,20000=150 EUR")
            self.environ |= defaults.fill_unset(self.environ, config.simulator_origin)

    def on_signal(self, _signum: int, _frame: FrameType | None) -> None:
        self._hurry = self.stopping.is_set()  # the second signal stops at once
        self.stopping.set()
        if self._is_starting_server:
            # On a busy machine that takes minutes. The servers' data survives it like a crash.
            self._is_starting_server = False
            raise Stopped

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        """Print a step's name before it and its duration after it; then raise Stopped if the
        platform is to stop."""
        self.output.line(f"{name} ...")
        started_at = time.monotonic()
        yield
        self.output.line(f"{name}: {time.monotonic() - started_at:.1f} s")
        if self.stopping.is_set():
            raise Stopped

    def run(self) -> None:
        started_at = time.monotonic()
        try:
            self._start_servers()
            with self._step("setting up"):
                self._set_up()
            with self._step("starting the processes"):
                self._start_parts()
                self._wait_until_live()
            self._is_ready = True
            self._announce(time.monotonic() - started_at)
            while not self.stopping.wait(0.2):
                self._watch()
        except Stopped:
            pass
        finally:
            self.stop()

    def _start_servers(self) -> None:
        for key, kind in (("DATABASE_URL", Postgres), ("REDIS_URL", Valkey)):
            if self.environ.get(key):
                continue
            server: Server = kind(self.config.data_dir)
            self.servers.append(server)
            with self._step(f"starting {server.name}"):
                self._start_server(server)
            self.environ[key] = server.url
            if isinstance(server, Postgres):
                self.environ[key] = server.application_url
                self._owner = {"DATABASE_OWNER_URL": server.url}
            self._delays[server.name] = Delay()
        urls = {key: self.environ[key] for key in ("DATABASE_URL", "REDIS_URL")}
        write_urls(self.config.data_dir, urls)

    def _start_server(self, server: Server) -> None:
        """Start a server, unless a signal stops the platform meanwhile: then raise Stopped."""
        self._is_starting_server = True
        try:
            if self.stopping.is_set():
                raise Stopped
            server.start()
        finally:
            self._is_starting_server = False

    def _set_up(self) -> None:
        command = [sys.executable, "manage.py", "set_up"]
        process, printing = self.output.popen(command, self.environ | self._owner, "set-up")
        self._wait_for(process)
        printing.join(5)
        if process.returncode:
            raise ServerError(f"`manage.py set_up` failed with exit code {process.returncode}.")

    def _wait_for(self, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            if self.stopping.wait(0.02):
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                process.kill()
                raise Stopped

    def _start_parts(self) -> None:
        for part in parts(self.config):
            process = Process(part, self.environ, self.output)
            self.processes.append(process)
            process.start()

    def _wait_until_live(self) -> None:
        deadline = time.monotonic() + LIVE_SECS
        while not self._is_live():
            if self.stopping.wait(0.1):
                raise Stopped
            self._watch()
            if time.monotonic() > deadline:
                raise ServerError(
                    f"The web process did not answer within {LIVE_SECS} s; see its lines above."
                )

    def _is_live(self) -> bool:
        # No proxy: the machine's HTTP_PROXY is not meant for our own server.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.config.origin}/health/live", timeout=2) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    def _announce(self, secs: float) -> None:
        origin = self.config.origin
        self.output.line(f"ready after {secs:.1f} s; Ctrl-C stops everything")
        self.output.line(f"  {'data':<14} {self.config.data_dir}")
        self.output.line(f"  {'health':<14} {origin}/health/live")
        if self.config.metrics_port is not None:
            ports = f"{self.config.metrics_port} to {self.config.metrics_port + len(PARTS) - 1}"
            self.output.line(f"  {'metrics':<14} ports {ports} of 127.0.0.1: {', '.join(PARTS)}")
        if self.config.simulator_port is not None:
            self.output.line(f"  {'channels':<14} {self.config.simulator_origin}/ (simulated)")
            self.output.line(
                f"  {'demo server':<14} {self.config.simulator_origin}/server/ (takes webhooks"
                " and calls of functions)"
            )
        for name, path in (("API docs", "/docs"), ("site", "/admin/"), ("start here", "/")):
            self.output.line(f"  {name:<14} {origin}{path}")
        if (self.config.data_dir / "keys" / "demo_page_key").exists():
            self.output.line(f"  {'shop chat':<14} {origin}/demo")
        stored = self.config.data_dir / "keys" / "demo_logins"
        if self.config.simulator_port is not None and stored.exists():
            self.output.line("sign in with")
            for login in json.loads(stored.read_text()):
                self.output.line(f"  {login['role']:<14} {login['email']}  {login['password']}")

    def _watch(self) -> None:
        for server in self.servers:
            if server.is_dead():
                self._revive(server)
        for process in self.processes:
            process.watch()

    def _revive(self, server: Server) -> None:
        delay = self._delays[server.name]
        if not delay.is_over():
            return
        try:
            self._start_server(server)
            self.output.line(f"{server.name} had died and is up again")
            delay.started()
        except (ServerError, OSError) as error:
            self.output.line(f"{server.name} is down, next try in {delay.died():.1f} s: {error}")

    def stop(self) -> None:
        """Stop the processes that cause work, then the relay, the workers and the servers.

        The processes get up to 21 seconds in all (6 before the platform is ready), and each server
        3 before it is stopped by force. The relay stops after the web process, so that waiting
        requests still get replies.
        """
        self.stopping.set()
        started_at = time.monotonic()
        if self.processes:
            self.output.line("stopping: jobs end, or wait for the next start; Ctrl-C again kills")
        named = {process.part.name: process for process in self.processes}
        workers = [name for name in named if name.startswith("worker")]
        for group in (("web", "beat", "simulator"), ("relay",), workers):
            self._stop_group([named[name] for name in group if name in named])
        for server in reversed(self.servers):
            server.stop(secs=3)
        (self.config.data_dir / "urls").unlink(missing_ok=True)
        self.output.line(f"stopped ({time.monotonic() - started_at:.1f} s)")

    def _stop_group(self, group: Sequence[Process]) -> None:
        for process in group:
            process.signal(signal.SIGTERM)
        patience = max((process.part.patience for process in group), default=0)
        if not self._is_ready:
            patience = min(patience, UNREADY_PATIENCE_SECS)
        deadline = time.monotonic() + patience
        while not all(process.has_ended() for process in group):
            if self._hurry or time.monotonic() > deadline:
                break
            time.sleep(0.02)
        for process in group:
            process.signal(signal.SIGKILL)  # the process, if it still runs, and its children


def run(environ: Mapping[str, str]) -> int:
    os.umask(0o077)  # no other account of this machine may read the clients' files
    config = read_config(environ)
    lock = Lock(config.data_dir)
    try:
        kill_leftovers(config.data_dir)
        check_port(config)
        supervisor = Supervisor(config)
        for signum in STOP_SIGNALS:
            signal.signal(signum, supervisor.on_signal)
        supervisor.run()
    finally:
        lock.release()
    return 0


if __name__ == "__main__":
    if sys.argv[1:]:
        ArgumentParser(prog="python -m local.launcher", description=_HELP).parse_args()
    sys.exit(exit_code(lambda: run(os.environ), data_dir_of(os.environ)))
