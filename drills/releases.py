"""Other releases of this project: their files, and the Python with the packages that they lock."""

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from local.parts import ROOT

LOCKS = ("requirements.txt", "requirements-s3.txt", "requirements-local.txt")


def newest_migration() -> str | None:
    """The commit that added the newest migration. None if a database from before the commit cannot
    be migrated: if there are only initial migrations, or if older migrations were edited later."""
    later = [
        str(path.relative_to(ROOT))
        for path in ROOT.glob("*/migrations/0*.py")
        if "initial = True" not in path.read_text()
    ]
    if not later:
        return None
    added = ("--diff-filter=A", "--format=%H", "--", *later)
    newest = _git("log", "-1", "--first-parent", "-m", *added)
    edited = ("--diff-filter=MD", f"{newest}~1", "HEAD", "--", "*/migrations/*")
    return None if _git("diff", "--name-only", *edited) else newest


def version_before_a_migration(folder: Path) -> Path:
    """The project as it was before its newest migration, or at the commit DRILL_OLD_VERSION."""
    newest = newest_migration()
    parent = os.environ.get("DRILL_OLD_VERSION") or (newest and f"{newest}~1")
    if not parent:
        pytest.skip("no older version has a database that can be migrated")
    return checkout(parent, folder)


def migrations(root: Path) -> set[Path]:
    """The migrations of a checkout, by their paths in it."""
    return {path.relative_to(root) for path in root.glob("*/migrations/0*.py")}


def checkout(commit: str, folder: Path) -> Path:
    """The project's files at a commit."""
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "cat-file", "-e", commit], capture_output=True).returncode:
        pytest.skip(f"{commit} is not in this checkout's history")
    folder.mkdir()
    archive = subprocess.run([*git, "archive", commit], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def _git(*arguments: str) -> str:
    git = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


@functools.cache
def python_of(root: Path) -> str:
    """The Python for a checkout: this process's, or one with the packages that the checkout locks.

    As with images, a release runs on its own packages. Its environment is made once for each state
    of the locks, in a folder of temporary files.
    """
    locks, own = _locks(root), _locks(ROOT)
    if list(locks.values()) == list(own.values()):
        return sys.executable
    digest = hashlib.sha256(b"".join([sys.version.encode(), *locks.values()])).hexdigest()
    cache = Path(tempfile.gettempdir()) / f"chatplatform-releases-{os.geteuid()}"
    cache.mkdir(mode=0o700, exist_ok=True)
    made = cache / digest[:16]
    if not made.exists():
        building = cache / f"{made.name}.{os.getpid()}"
        shutil.rmtree(building, ignore_errors=True)
        _make_environment(building, list(locks))
        building.rename(made)
    return str(made / "bin" / "python")


def _locks(root: Path) -> dict[Path, bytes]:
    paths = [root / name for name in LOCKS]
    return {path: path.read_bytes() for path in paths if path.exists()}


def _make_environment(folder: Path, locks: list[Path]) -> None:
    print(f"installing the packages of {locks[0].parent}")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    wanted = [word for path in locks for word in ("--requirement", str(path))]
    quiet = ["--quiet", "--disable-pip-version-check", "--require-hashes"]
    subprocess.run([*pip, *quiet, *wanted], check=True)
