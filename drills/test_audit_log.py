"""A running platform's processes cannot change its audit log, and a change is detected."""

import os
import subprocess
import sys

import psycopg
import pytest

from drills.platform import ROOT, Platform
from local.data_dir import read_urls
from local.postgres import DATABASE

pytestmark = pytest.mark.timeout(600)


def check_audit(url):
    command = [sys.executable, "manage.py", "check_audit"]
    environ = os.environ | {"DATABASE_URL": url}
    return subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )


def test_nobody_but_the_owner_changes_the_log_and_a_change_is_found(tmp_path):
    platform = Platform(tmp_path)
    try:
        url = read_urls(platform.data)["DATABASE_URL"]
        assert not any("DATABASE_OWNER" in name for name in read_urls(platform.data))
        with psycopg.connect(url, autocommit=True) as application:
            for statement in (
                "UPDATE identity_auditevent SET action = 'x'",
                "DELETE FROM identity_auditevent",
                "TRUNCATE identity_auditevent",
                "ALTER TABLE identity_auditevent DISABLE TRIGGER ALL",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    application.execute(statement)
        whole = check_audit(url)
        assert whole.returncode == 0, whole.stderr
        print(whole.stdout)
        password = (platform.data / "postgres.password").read_text()
        with psycopg.connect(url, user=DATABASE, password=password) as owner:
            owner.execute("SET LOCAL session_replication_role = replica")
            changed = owner.execute(
                "UPDATE identity_auditevent SET action = 'nothing.done'"
                " WHERE id = (SELECT max(id) - 1 FROM identity_auditevent) RETURNING id"
            ).fetchone()
        found = check_audit(url)
        assert (found.returncode, f"Audit row {changed[0]} " in found.stderr) == (1, True)
        print(found.stderr)
    finally:
        platform.stop()
