"""A whole client is exported, without secrets, and erased by the operator."""

import io
import json
import zipfile

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db.utils import IntegrityError

from channels_app.models import InboundCallback, InboundItem
from chatplatform.models import Job
from chatplatform.tests.test_erasing import found
from chatplatform.tests.test_guard_site import world
from chats.models import Attachment, Conversation
from identity.models import ApiKey, AuditEvent, Client, SecondFactor, SiteSession, User
from identity.services import passwords, sign_in_providers
from identity.testing import make_key

pytestmark = pytest.mark.django_db(transaction=True)
WORD, OTHER = "quokkamarker", "wombatmarker"


@pytest.fixture
def client(settings, tmp_path):
    """One of two clients; each has a row for every page of the site, with a word of its own."""
    settings.MEDIA_ROOT = tmp_path / "media"
    rows = [filled(word) for word in (WORD, OTHER)]
    return rows[0][Client]


def filled(word):
    rows = world(word)
    own, chat, person = {"client": rows[Client]}, rows[Conversation], rows[User]
    Attachment.objects.create(
        **own, conversation=chat, file=ContentFile(word.encode(), name="x.txt"),
        file_name=f"{word}.txt", mime_type="text/plain", size_bytes=1,
    )  # fmt: skip
    SecondFactor.objects.create(
        user=person, secret=f"seed {word}", latest_step=1, recovery_hashes=["9" * 64]
    )
    SiteSession.objects.create(
        session_key=word, session_data=word, expire_date="2999-01-01T00:00:00Z", user=person
    )
    callback = InboundCallback.objects.create(channel="socialnet", body=word.encode())
    InboundItem.objects.create(
        callback=callback, position=0, channel="socialnet", account_id=word, key=word,
        outcome="processed",
    )  # fmt: skip
    passwords.request_reset(email=person.email, address="192.0.2.1")
    sign_in_providers.ask_link(email=person.email.upper(), address="192.0.2.2")
    return rows


def test_nothing_of_an_erased_client_is_found(client, capsys):
    before, others = found(WORD), found(OTHER)
    assert len(before) > 25
    with pytest.raises(CommandError, match="Disable"):
        call_command("erase_client", client.code, yes=True)
    assert found(WORD) == before
    Client.objects.filter(pk=client.pk).update(is_disabled=True)
    call_command("erase_client", client.code, yes=True)
    assert found(WORD) == set()
    assert found(OTHER) == others
    assert Job.objects.filter(client_id=None).count() == 2
    client.refresh_from_db()
    assert (client.name, client.is_disabled) == (f"Erased client {client.pk}", True)
    (kept,) = AuditEvent.objects.filter(client=client)
    assert (kept.action, kept.changes["rows"] > 30) == ("client.erased", True)
    capsys.readouterr()
    call_command("check_audit")
    assert "fit their chains" in capsys.readouterr().out
    with pytest.raises(IntegrityError, match="append-only"):
        AuditEvent.objects.filter(client=client).update(action="x")


def test_another_answer_than_the_code_erases_nothing(client, monkeypatch):
    Client.objects.filter(pk=client.pk).update(is_disabled=True)
    monkeypatch.setattr("builtins.input", lambda _: "yes")
    with pytest.raises(CommandError, match="Nothing"):
        call_command("erase_client", client.code)
    assert User.objects.filter(client=client).exists()


@pytest.mark.parametrize(
    ("command", "options"),
    [("erase_client", ["nobody"]), ("export_client", ["nobody", "nobody.zip"]),
     ("reindex", ["--client", "nobody"])],
)  # fmt: skip
def test_a_code_of_no_client_is_an_error(db, tmp_path, monkeypatch, command, options):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match="nobody"):
        call_command(command, *options)
    assert not [*tmp_path.iterdir()]


def test_an_export_holds_every_table_and_no_secret(client, tmp_path):
    secret = make_key(client)
    file = tmp_path / "client.zip"
    call_command("export_client", client.code, str(file))
    data = file.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert len([name for name, text in texts.items() if WORD in text]) > 20
    (row,) = [json.loads(line) for line in texts["identity_client.jsonl"].splitlines()]
    assert row["code"] == client.code
    assert [text for name, text in texts.items() if name.startswith("files/")] == [WORD]
    whole = "".join(texts.values())
    assert OTHER not in whole
    assert secret.key
    hidden = list(ApiKey.objects.filter(pk=secret.key.pk).values_list("secret_hash", flat=True))
    passwords = User.objects.filter(client=client).values_list("password", flat=True)
    for text in (*hidden, *filter(None, passwords), "seed ", "9" * 64):
        assert text not in whole
    with pytest.raises(FileExistsError):
        call_command("export_client", client.code, str(file))
