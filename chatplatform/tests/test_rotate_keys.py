"""`manage.py rotate_keys`: stored secrets get the newest key, whatever happens meanwhile."""

import base64
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import override_settings

from bots.testing import make_bot
from chatplatform import crypto, encryption_key_check
from chatplatform.models import EncryptionKey, IdempotentResponse
from chatplatform.signatures import new_secret
from chatplatform.testing import run_before
from chatplatform.testing.web_process import database_url
from commands.management.commands import rotate_keys
from identity.models import AuditAnchor
from webhooks.models import WebhookConfig

OLD, NEW = ("k1", b"1" * 32), ("k2", b"2" * 32)
ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _keys(settings):
    settings.FIELD_KEYS = [OLD]


def fingerprint(key):
    with override_settings(FIELD_KEYS=[key]):
        return crypto.fingerprints()[0]


def keys_of(model, column):
    """Which key has encrypted each value of a column, in the order of the rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT split_part({column}, ':', 2) FROM {model._meta.db_table} ORDER BY id"
        )
        return [key for (key,) in cursor.fetchall()]


def test_nothing_else_encrypts_than_the_fields_that_it_finds(db):
    assert len(list(encryption_key_check.encrypted_columns())) >= 9
    encrypting = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("[a-z]*/**/*.py")
        if "tests" not in path.parts and "crypto.encrypt(" in path.read_text()
    ]
    # Both go by the fields of the models.
    assert set(encrypting) == {
        "commands/client_import.py",
        "commands/management/commands/rotate_keys.py",
    }


@pytest.mark.full
def test_it_goes_on_after_a_kill(ann, settings, capsys):
    answers = [
        IdempotentResponse(client_id=1, key_hash=str(n), response=f"a{n}") for n in range(1_200)
    ]
    IdempotentResponse.objects.bulk_create(answers)
    command = [sys.executable, "manage.py", "rotate_keys"]
    pairs = [f"{name}:{base64.b64encode(key).decode()}" for name, key in (NEW, OLD)]
    environ = os.environ | {
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings", "DATABASE_URL": database_url(),
        "SECRET_KEY": django_settings.SECRET_KEY, "FIELD_KEYS": ",".join(pairs),
    }  # fmt: skip
    with transaction.atomic():
        # It waits for this row, in the second of its steps.
        last = IdempotentResponse.objects.select_for_update().order_by("-pk").first()
        assert last
        running = subprocess.Popen(
            command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True
        )
        assert running.stdout
        told = next(line for line in running.stdout if "1,000 of 1,200 rows" in line)
        running.kill()
        running.wait(10)
        running.stdout.close()
    assert told.strip() == "chatplatform_idempotentresponse: 1,000 of 1,200 rows"
    assert keys_of(IdempotentResponse, "response") == ["k2"] * 1_000 + ["k1"] * 200
    settings.FIELD_KEYS = [NEW, OLD]
    call_command("rotate_keys")
    told = capsys.readouterr().out
    assert "chatplatform_idempotentresponse (response): 200 rows were encrypted anew." in told
    assert f"You may remove from FIELD_KEYS: {fingerprint(OLD)}," in told
    settings.FIELD_KEYS = [NEW]
    assert [row.response for row in IdempotentResponse.objects.order_by("pk")] == [
        f"a{n}" for n in range(1_200)
    ]


def test_a_row_that_somebody_saves_meanwhile_keeps_what_they_wrote(ann, settings, capsys):
    config = WebhookConfig.objects.create(
        client=ann.client, url="https://93.184.215.14/", secret=new_secret()
    )
    settings.FIELD_KEYS = [NEW, OLD]

    def renew():
        config.secret = "whsec_new"
        config.save(update_fields=["secret"])

    with run_before("chatplatform.crypto.encrypt", renew):
        call_command("rotate_keys")
    assert "webhooks_webhookconfig (secret, previous_secret): 1 rows" in capsys.readouterr().out
    settings.FIELD_KEYS = [NEW]
    config.refresh_from_db()
    assert (config.secret, config.previous_secret) == ("whsec_new", "")


def test_anchors_of_the_audit_log_are_sealed_anew(ann, settings, capsys):
    anchor = AuditAnchor(client=ann.client, month="2024-10-01", rows=3, hash="a" * 64)
    anchor.seal = anchor.statement("")
    anchor.save()
    settings.FIELD_KEYS = [NEW, OLD]
    call_command("rotate_keys")
    settings.FIELD_KEYS = [NEW]
    call_command("check_audit")
    assert "3 older ones have 1 anchors." in capsys.readouterr().out


def test_what_cannot_be_decrypted_is_named_and_no_key_may_go(ann, settings, capsys):
    bot, other = make_bot(ann.client), make_bot(ann.client)
    settings.FIELD_KEYS = [("lost", b"9" * 32)]
    other.identity_secret = "wordmarker"
    other.save()
    settings.FIELD_KEYS = [NEW, OLD]
    for key in (OLD, ("lost", b"9" * 32)):
        EncryptionKey.objects.create(fingerprint=fingerprint(key))
    with pytest.raises(CommandError, match="Keep every key .* 1 values could not be opened"):
        call_command("rotate_keys")
    assert EncryptionKey.objects.count() == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"bots_bot.identity_secret, row {other.pk}: FIELD_KEYS does not")
    assert "wordmarker" not in told.err + told.out
    assert "may remove" not in told.out
    assert keys_of(type(bot), "identity_secret") == ["k2", "lost"]
    # Nothing of it goes, also if nobody has the key any more.
    call_command("rotate_keys", keys_are_lost=True)
    assert keys_of(type(bot), "identity_secret") == ["k2", "lost"]
    assert [item.pk for item in EncryptionKey.objects.all()] == [fingerprint(NEW)]


def test_a_value_of_another_key_with_the_newest_ones_name_is_encrypted_anew(ann, settings, capsys):
    bot = make_bot(ann.client)
    bot.identity_secret = "wordmarker"
    bot.save()
    settings.FIELD_KEYS = [("k1", NEW[1]), ("before", OLD[1])]
    call_command("rotate_keys")
    assert f"You may remove from FIELD_KEYS: {fingerprint(OLD)}," in capsys.readouterr().out
    settings.FIELD_KEYS = [NEW]
    bot.refresh_from_db()
    assert bot.identity_secret == "wordmarker"


def test_what_is_stored_with_an_older_key_meanwhile_keeps_every_key(ann, settings):
    settings.FIELD_KEYS = [NEW, OLD]
    bot = make_bot(ann.client)

    look_again = rotate_keys.Command._rotate_again

    def renew(*args):
        # A process that was not started anew.
        with override_settings(FIELD_KEYS=[OLD]):
            bot.save()
        return look_again(*args)

    with (
        mock.patch.object(rotate_keys.Command, "_rotate_again", renew),
        pytest.raises(CommandError, match="Restart all processes"),
    ):
        call_command("rotate_keys")
