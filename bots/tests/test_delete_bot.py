"""Delete Bot."""

from pathlib import Path

import pytest
from django.apps import apps
from django.core.files.base import ContentFile

from bots.models import Bot, Document, Prompt
from bots.testing import make_bot, trained
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from identity.models import ApiKey, AuditEvent
from identity.testing import make_key

pytestmark = pytest.mark.usefixtures("own_media")


def path(bot):
    return f"/ai/bot/{bot.pk}"


def fill(bot):
    """Give the bot a prompt, a trained document and a banner; return their files."""
    Prompt.objects.create(client=bot.client, bot=bot, version=1, content="Be kind")
    document = trained(bot, "Our shop opens at nine.")
    document.file.save("x", ContentFile(b"Our shop opens at nine."))
    document.draft_file.save("z", ContentFile(b"Our shop opens at ten."))
    bot.banner.save("y.png", ContentFile(b"png"))
    stored = (document.file, document.draft_file, bot.banner)
    return [Path(file.path) for file in stored]


def chats(name):
    """A model of `chats`, which this app must not import."""
    return apps.get_model("chats", name).objects


def chat_of(bot):
    customer = chats("customer").create(client=bot.client, name="Zoe")
    return chats("conversation").create(
        client=bot.client, bot=bot, customer=customer, language="en"
    )


@pytest.mark.django_db(transaction=True)
def test_documents_files_and_keys_go_with_it(ann, bot):
    files, other = fill(bot), make_bot(ann.client)
    mine, others = (make_key(ann.client, "public", item.pk) for item in (bot, other))
    reply = ann.delete(path(bot))
    assert (reply.status_code, reply.content) == (204, b"")
    assert list(Bot.objects.all()) == [other]
    assert not Prompt.objects.exists()
    assert not Document.objects.exists()
    assert all(file.exists() for file in files), "files go after the commit, by a job"
    assert run_jobs() == 1
    assert not any(file.exists() for file in files)
    assert mine.get("/ai/bot/config").status_code == 401
    assert others.get("/ai/bot/config").status_code == 200
    written = AuditEvent.objects.get(action="bot.deleted")
    assert (written.action, written.subject, written.user) == (
        "bot.deleted", f"bot:{bot.pk}", ann.user,
    )  # fmt: skip
    assert written.changes == {"bot_name": "Helper", "keys_revoked": 1}
    assert ann.delete(path(bot)).status_code == 404


def refused(person, bot, code):
    reply = person.delete(path(bot))
    assert (reply.status_code, reply.json()["code"]) == (409, code)
    assert Bot.objects.filter(pk=bot.pk).exists()
    assert ApiKey.objects.get().revoked_at is None
    assert not Job.objects.exists()
    assert not AuditEvent.objects.filter(action="bot.deleted").exists()


def test_a_protected_bot_stays(ann):
    bot = make_bot(ann.client, delete_available=False)
    make_key(ann.client, bot_id=bot.pk)
    refused(ann, bot, "delete_not_available")
    assert Bot.objects.get(pk=bot.pk).delete_available is False


def test_a_bot_with_conversations_stays(ann, bot):
    fill(bot)
    make_key(ann.client, bot_id=bot.pk)
    chat_of(bot)
    refused(ann, bot, "bot_has_chats")
    assert Prompt.objects.exists()
    assert Document.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_conversation_created_meanwhile_is_not_lost(ann, bot):
    make_key(ann.client, bot_id=bot.pk)
    with run_before("bots.services.bots.delete", lambda: chat_of(bot)):
        refused(ann, bot, "bot_has_chats")
    assert chats("conversation").exists()


@pytest.mark.django_db(transaction=True)
def test_a_file_that_another_row_names_stays(ann, bot):
    files = fill(bot)
    name = Document.objects.get().file.name
    ann.delete(path(bot))
    other = make_bot(ann.client)
    Document.objects.create(
        client=ann.client, bot=other, file=name, file_name="a.txt", mime_type="text/plain",
        size_bytes=1, sha256="0" * 64,
    )  # fmt: skip
    run_jobs()
    assert [file.exists() for file in files] == [True, False, False]
