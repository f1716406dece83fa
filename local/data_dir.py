"""The data folder: its permissions, its lock, and the small files in it."""

import fcntl
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from local.os_processes import ServerError

_EARLIER_MODE = 0o711


def make_data_dir(path: Path) -> Path:
    """Create a folder that other accounts cannot enter, and return its resolved path.

    An existing folder keeps its mode, unless it still has the mode that earlier releases set
    (0711), which becomes 0700. Raises ServerError if the folder is not writable.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.stat().st_mode & 0o777 == _EARLIER_MODE:
            path.chmod(0o700)
        probe = path / ".write-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ServerError(f"Cannot write to {path}: {error.strerror}.") from None
    return path.resolve()


class Lock:
    """Allows one run per data folder. The kernel frees the lock when the process ends."""

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


def write_private(path: Path, text: str) -> None:
    """Atomically write a file that only this account can read."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(path)


def stored_secret(path: Path) -> str:
    if not path.exists():
        write_private(path, secrets.token_hex(24))
    return path.read_text().strip()


def write_urls(data_dir: Path, urls: Mapping[str, str]) -> None:
    """Store the URLs of the running servers, for `attach`."""
    write_private(data_dir / "urls", "".join(f"{key}={url}\n" for key, url in urls.items()))


def read_urls(data_dir: Path) -> dict[str, str]:
    try:
        lines = (data_dir / "urls").read_text().splitlines()
    except FileNotFoundError:
        raise ServerError(f"{data_dir} is being set up by another run: try again.") from None
    return dict(line.split("=", 1) for line in lines)
