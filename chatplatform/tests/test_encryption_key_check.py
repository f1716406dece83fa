"""A process without a key that secrets are stored with does not start, and says why in one line."""

import base64
import os
import subprocess
import sys
from pathlib import Path
from threading import Event
from unittest import mock

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate as django_migrate
from django.db import OperationalError, connection
from django.test import override_settings

from bots.testing import make_bot
from chatplatform import crypto, encryption_key_check, environment
from chatplatform.models import EncryptionKey, IdempotentResponse
from chatplatform.testing import run_before
from chatplatform.testing.web_process import database_url, free_port

ROOT = Path(__file__).resolve().parents[2]
OLD, NEW, OTHER = ("", b"1" * 32), ("", b"2" * 32), ("", b"3" * 32)
CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "chatplatform"]
COMMANDS = {
    "web": [sys.executable, "-m", "chatplatform.web.serve", "--workers", "1",
            "chatplatform.asgi:application"],
    "worker": [*CELERY, "worker", "--pool", "threads", "-Q", "reply"],
}  # fmt: skip
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


def in_use():
    return {item.pk for item in EncryptionKey.objects.all()}


def fingerprint(key):
    with override_settings(FIELD_KEYS=[key]):
        return crypto.fingerprints()[0]


@pytest.fixture(autouse=True)
def _keys(settings, transactional_db):
    EncryptionKey.objects.all().delete()
    settings.FIELD_KEYS = [OLD]


def started(name, folder, *keys, **environ):
    command = list(COMMANDS[name])
    if name == "web":
        command[3:3] = ["--port", str(free_port())]
    environ = os.environ | {
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings", "DATABASE_URL": database_url(),
        "DATA_DIR": str(folder), "SECRET_KEY": "x" * 50, "DEBUG": "false",
        "ALLOWED_HOSTS": "a.test", "PUBLIC_URL": "https://a.test",
        "FIELD_KEYS": ",".join(base64.b64encode(key).decode() for _, key in keys),
        "EMAIL_URL": "smtp://127.0.0.1", **environ,
    }  # fmt: skip
    return subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=120
    )


# Beat and the relay ask as the worker does.
@pytest.mark.parametrize("name", ["web", "worker"])
def test_a_process_without_a_key_in_use_does_not_start(name, tmp_path):
    encryption_key_check.check("default")
    done = started(name, tmp_path, OTHER)
    output = done.stdout + done.stderr
    assert done.returncode == 1
    assert "Traceback" not in output
    for word in (fingerprint(OLD), "FIELD_KEYS", "SECRET_KEY"):
        assert word in output, word
    assert len([line for line in output.splitlines() if "FIELD_KEYS" in line]) == 1
    assert in_use() == {fingerprint(OLD)}


def test_nothing_is_migrated_without_a_key_in_use():
    encryption_key_check.check("default")
    with (
        override_settings(FIELD_KEYS=[OTHER]),
        pytest.raises(CommandError, match=f"{fingerprint(OLD)} .*FIELD_KEYS"),
        mock.patch.object(django_migrate.Command, "handle", side_effect=AssertionError),
    ):
        call_command("migrate", verbosity=0)


def test_a_first_start_enters_its_keys_and_a_later_one_its_newest():
    encryption_key_check.check("default")
    with override_settings(FIELD_KEYS=[NEW, OLD]):
        encryption_key_check.check("default")
    assert in_use() == {fingerprint(OLD), fingerprint(NEW)}
    # Back to what was: what was stored with the newer one meanwhile would not open.
    with pytest.raises(encryption_key_check.KeysMissing, match=fingerprint(NEW)):
        encryption_key_check.check("default")


def test_a_renewal_ends_the_use_of_the_older_key():
    encryption_key_check.check("default")
    with override_settings(FIELD_KEYS=[NEW, OLD]):
        call_command("rotate_keys")
    with override_settings(FIELD_KEYS=[NEW]):
        encryption_key_check.check("default")
    assert in_use() == {fingerprint(NEW)}
    with pytest.raises(encryption_key_check.KeysMissing):
        encryption_key_check.check("default")


def test_where_no_key_is_entered_yet_the_keys_must_open_what_is_stored(ann):
    """After an upgrade, or with an older backup."""
    lost = make_bot(ann.client)
    IdempotentResponse.objects.create(client_id=1, key_hash="a", response="opens")
    with override_settings(FIELD_KEYS=[OTHER]), pytest.raises(encryption_key_check.KeysMissing):
        encryption_key_check.check("default")
    assert in_use() == set()
    # One that was lost long ago, of a table in which others open, keeps nobody from starting.
    with override_settings(FIELD_KEYS=[NEW]):
        lost.save()
    encryption_key_check.check("default")
    assert in_use() == {fingerprint(OLD)}


def test_of_two_first_starts_with_different_keys_one_is_refused():
    def start_other():
        with override_settings(FIELD_KEYS=[OTHER]):
            encryption_key_check.check("default")

    # Both have found that no key is in use.
    with (
        run_before("django.db.transaction.atomic", start_other),
        pytest.raises(encryption_key_check.KeysMissing, match=fingerprint(OTHER)),
    ):
        encryption_key_check.check("default")
    assert in_use() == {fingerprint(OTHER)}


def test_who_may_not_write_starts_with_the_right_keys_alone():
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        encryption_key_check.check("default")
        assert in_use() == set()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")


def test_while_the_database_is_away_a_process_starts_and_asks_later(monkeypatch):
    ended = Event()
    answers = [
        OperationalError("away"),
        OperationalError("away"),
        encryption_key_check.KeysMissing(),
    ]
    monkeypatch.setattr(encryption_key_check, "check", mock.Mock(side_effect=answers))
    monkeypatch.setattr(environment, "end", lambda reason: ended.set())
    monkeypatch.setattr(encryption_key_check, "_PAUSE_SECONDS", 0.01)
    encryption_key_check.require()
    assert ended.wait(10)


def test_check_names_the_missing_key():
    encryption_key_check.check("default")
    ids = lambda: {found.id for found in run_checks(databases=["default"])}  # noqa: E731
    assert "chatplatform.E005" not in ids()
    with override_settings(FIELD_KEYS=[NEW]):
        assert "chatplatform.E005" in ids()


@pytest.mark.parametrize("keys", ["k1:{0},k1:{1}", "k 1:{0}", "k1:", "k1:short"])
def test_wrong_keys_are_one_line(keys, tmp_path):
    written = keys.format(*(base64.b64encode(key).decode() for _, key in (OLD, NEW)))
    environ = os.environ | {
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings", "DATABASE_URL": database_url(),
        "DATA_DIR": str(tmp_path), "SECRET_KEY": "x" * 50, "DEBUG": "true", "FIELD_KEYS": written,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--noinput"],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if "FIELD_KEYS" in line]
    assert (done.returncode, len(lines)) == (1, 1)
    assert "Traceback" not in done.stderr
