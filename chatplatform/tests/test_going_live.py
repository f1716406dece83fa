"""What a real site is set up with: `.env`, passwords of any characters, the API's pages hidden."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from local import write_env_file

ROOT = Path(__file__).resolve().parents[2]
# Without `django.setup()`, which takes seconds.
READ = """
import json
from django.conf import settings
from chatplatform import crypto
print(json.dumps([settings.DATABASES, settings.REDIS_URL, settings.ALLOWED_HOSTS,
    crypto.fingerprints()], default=str))
"""
CHECK = """
import json, django
django.setup()
from chatplatform import checks
print(json.dumps([m.id for m in checks.deployment()]))
"""


def read_settings(folder, environ, script=READ):
    """What a process of a real site reads from its environment."""
    own = {"PATH": os.environ["PATH"], "DATA_DIR": str(folder)}
    own["DJANGO_SETTINGS_MODULE"] = "chatplatform.settings"
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=ROOT, env=own | environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assignments(path):
    return dict(re.findall(r"^([A-Z_]+)=(.*)$", path.read_text(), re.MULTILINE))


@pytest.mark.full
def test_a_made_env_file_is_all_that_a_site_needs(tmp_path, capsys):
    (tmp_path / ".env.example").write_text((ROOT / ".env.example").read_text())
    assert write_env_file.main(tmp_path) == 0
    path = tmp_path / ".env"
    made, text = assignments(path), path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    names = ("SECRET_KEY", "DATABASE_OWNER_PASSWORD", "DATABASE_PASSWORD", "REDIS_PASSWORD")
    assert len({made[name] for name in names}) == 4
    assert "(" not in "".join(made.values())
    databases, broker, hosts, keys = read_settings(tmp_path, made)
    logins = {name: (item["USER"], item["PASSWORD"]) for name, item in databases.items()}
    assert logins == {
        "default": ("chatplatform_app", made["DATABASE_PASSWORD"]),
        "owner": ("chatplatform", made["DATABASE_OWNER_PASSWORD"]),
    }
    processes = made | {"DATABASE_OWNER_PASSWORD": ""}  # as the compose file gives it to them
    assert list(read_settings(tmp_path, processes)[0]) == ["default"]
    assert made["REDIS_PASSWORD"] in broker
    assert (hosts, len(keys)) == (["chat.example"], 1)
    # Another one has other keys, and says so.
    assert keys != read_settings(tmp_path, made | {"FIELD_KEYS": ""})[3]
    found = read_settings(tmp_path, made, CHECK)
    assert found == ["chatplatform.W004"], "only the mail server is for its owner to name"
    assert write_env_file.main(tmp_path) == 1
    assert path.read_text() == text, "a second time would lose the secrets that are in use"
    assert "in use" in capsys.readouterr().err


@pytest.mark.full
def test_a_bad_key_is_named_by_its_setting(tmp_path):
    environ = {"PATH": os.environ["PATH"], "SECRET_KEY": "x" * 50}
    for keys in ("k1:AAAA", "not base64!", "k1:"):
        done = subprocess.run(
            [sys.executable, "-c", "from chatplatform import settings"],
            cwd=ROOT, env=environ | {"FIELD_KEYS": keys}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert "FIELD_KEYS: " in done.stderr.splitlines()[-1]


@pytest.mark.full
def test_the_key_that_was_made_of_secret_key_may_follow_another_one(tmp_path):
    before = {"SECRET_KEY": "x" * 50}
    (derived,) = read_settings(tmp_path, before)[3]
    given = {"FIELD_KEYS": base64.b64encode(b"1" * 32).decode() + ",SECRET_KEY"}
    assert read_settings(tmp_path, before | given)[3][1:] == [derived]


def test_every_variable_of_the_containers_is_in_the_example():
    used = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", (ROOT / "docker-compose.yml").read_text()))
    passwords = {"DATABASE_OWNER_PASSWORD", "DATABASE_PASSWORD", "REDIS_PASSWORD"}
    images = {"IMAGE", "POSTGRES_IMAGE", "VALKEY_IMAGE"}
    assert used == passwords | images | {"PUBLISH", "PUBLISH_SECOND", "SUBNET"}
    example = (ROOT / ".env.example").read_text()
    assert used - images <= set(assignments(ROOT / ".env.example"))
    assert images <= set(re.findall("^# ([A-Z_]+)=", example, re.MULTILINE))


def test_no_health_check_starts_the_platform():
    checks = re.findall(r"test: ?(.*(?:\n +- .*)*)", (ROOT / "docker-compose.yml").read_text())
    assert len(checks) == 4
    assert not [check for check in checks if "manage.py" in check or "celery" in check]


def test_a_password_may_hold_any_character(tmp_path):
    password = "a/b?c#d%e:f@g&h i'\"\\é"
    parts = {"DATABASE_HOST": "postgres", "DATABASE_PASSWORD": password}
    parts |= {"REDIS_HOST": "valkey", "REDIS_PASSWORD": password, "SECRET_KEY": "x" * 50}
    databases, broker, *_ = read_settings(tmp_path, parts)
    database = databases["default"]
    assert (database["HOST"], database["PORT"], database["USER"], database["NAME"]) == (
        "postgres", 5432, "chatplatform", "chatplatform",
    )  # fmt: skip
    assert database["PASSWORD"] == password
    given = redis.Redis.from_url(broker).connection_pool.connection_kwargs
    assert (given["host"], given["password"], given["db"]) == ("valkey", password, 0)


@pytest.mark.parametrize("is_served", [True, False])
def test_the_api_may_be_described_to_nobody(nobody, db, settings, is_served):
    settings.API_DOCS = is_served
    status = 200 if is_served else 404
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert nobody.get(path).status_code == status, path
    assert (b'href="/docs"' in nobody.get("/").content) == is_served
