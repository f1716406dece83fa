"""A client moves to another cell by its archive: here out of this database, and into it again."""

import re
import zipfile
from collections import Counter
from datetime import timedelta

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.utils import timezone

from bots.models import Bot, Chunk
from bots.testing import make_bot, trained
from channels_app.models import InboundCallback, InboundItem
from chatplatform import encryption_key_check, media
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chatplatform.tests.test_erasing import file, found
from chatplatform.tests.test_guard_site import world
from chats.models import Attachment, Conversation, Message
from commands import client_ids, client_rows
from identity.models import AuditAnchor, AuditEvent, Client, SavedView, SecondFactor, User
from identity.services import api_keys, move_freeze
from identity.testing import PASSWORD, make_key, make_person
from webhooks.models import Delivery, Event, FeedEntry, Payload, WebhookConfig
from webhooks.services import events

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
WORD, OTHER = "quokkamarker", "wombatmarker"
PASSPHRASE = "a passphrase of both cells"
CHAT = "/ai/client/chat"
# Numbers of the old cell are recognized wherever they stand.
OLD, NEW = 7_700_000_000, 8_800_000_000
OLD_NUMBER = re.compile(r"77000\d{5}")


def count_from(number):
    """Let every table of counted rows go on from a number of its own."""
    counted = [
        model for model in apps.get_models() if isinstance(model._meta.pk, models.BigAutoField)
    ]
    assert len(counted) > 20
    with connection.cursor() as cursor:
        for place, model in enumerate(counted):
            sequence = f"pg_get_serial_sequence('\"{model._meta.db_table}\"', 'id')"
            cursor.execute(f"SELECT setval({sequence}, {number + 1_000 * place})")


@pytest.fixture
def moving(settings, tmp_path, monkeypatch):
    """A client with a row of each kind, by the API and by hand, and another client beside it."""
    settings.INSTANCE_ID = "old"
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setenv("TRANSFER_KEY", PASSPHRASE)
    count_from(OLD)
    world(OTHER)
    rows = world(WORD)
    client = rows[Client]
    live(client)
    by_hand(rows)
    run_jobs()
    wait(client)
    return client


def live(client):
    """What people, servers and bots leave behind in a day."""
    ann, ben = make_person(client, "owner", WORD), make_person(client, "agent", "Ben")
    assert ann.user
    assert ben.user
    bot = make_bot(client, is_visible=True)
    trained(bot, "An item can be returned within 30 days. Shipping takes two days.")
    server = make_key(client, "secret")
    WebhookConfig.objects.create(
        client=client, url="https://x.example/", secret="whsec_" + "A" * 44
    )
    chat = server.post(CHAT, {"bot_id": bot.pk, "customer": {"external_id": "z", "name": "Zoe"}})
    path = f"{CHAT}/{chat.json()['id']}"
    server.post(path, {"text": "How long can an item be returned?", "reply": "async"})
    run_jobs()
    server.upload(f"{CHAT}/files/{chat.json()['id']}", files=file(WORD), reply="none")
    desk = f"/ai/chat/{chat.json()['id']}"
    assert (
        ann.post(f"{desk}/assign", {"assign_type": "agent", "user_id": ben.user.pk}).status_code
        == 200
    )
    assert ben.post(f"{desk}/manual", {"text": "Hello"}).status_code < 300
    page = make_key(client, "public", bot.pk)
    assert page.post(CHAT, {}).status_code == 201
    SavedView.objects.create(
        user=ann.user, list_name="chats.conversation", name=WORD,
        query=f"bot__id__exact={bot.pk}&assignee={ben.user.pk}&bot_ids={bot.pk}",
    )  # fmt: skip


def by_hand(rows):
    person, own = rows[User], {"client": rows[Client]}
    SecondFactor.objects.create(
        user=person, secret=f"seed {WORD}", latest_step=1, recovery_hashes=["9" * 64]
    )
    callback = InboundCallback.objects.create(channel="socialnet", body=b"{}")
    InboundItem.objects.create(
        callback=callback, position=0, channel="socialnet", account_id=WORD, key=WORD,
        outcome="processed",
    )  # fmt: skip
    AuditEvent.objects.create(
        **own, action="x.made", subject=f"bot:{rows[Bot].pk}", changes={"bot_id": rows[Bot].pk},
        created_at=timezone.now() - timedelta(days=1_500), user_id=OLD + 999_999,
    )  # fmt: skip


def wait(client):
    """Jobs that wait, when the client is frozen."""
    bot = Bot.objects.filter(client=client).earliest("pk")
    key = f"group-questions:{bot.pk}"
    Job.objects.create(
        client_id=client.pk, name="chats.group_questions", args={"bot_id": bot.pk},
        ordering_key=key, dedupe_key=key,
    )  # fmt: skip
    Job.objects.create(
        client_id=client.pk, name="chats.delete_expired", args={"client": client.pk},
        dedupe_key=str(client.pk),
    )  # fmt: skip


def freeze(client):
    move_freeze.freeze(client, by=None)
    Client.objects.filter(pk=client.pk).update(frozen_at=timezone.now() - timedelta(seconds=5))


def exported(client, path):
    freeze(client)
    call_command("freeze_client", client.code)
    call_command("export_client", client.code, str(path), move=True)
    settings.INSTANCE_ID = "new"
    return path


def counts(client):
    return {model._meta.label: rows.count() for model, rows in client_rows.carried(client)}


def test_a_client_goes_and_comes_with_all_it_has(moving, tmp_path, capsys):
    archive, others = exported(moving, tmp_path / "client.zip"), found(OTHER)
    before, places = counts(moving), found(WORD)
    feed = list(FeedEntry.objects.filter(client=moving).order_by("position").values_list("pk"))
    assert len(feed) > 5
    vectors = set(Chunk.objects.filter(client=moving).values_list("vector", flat=True))
    with pytest.raises(CommandError, match="already"):
        call_command("import_client", str(archive))
    call_command("erase_client", moving.code, yes=True, moved=archive)
    assert found(WORD) == set()
    old = rows_with_old_numbers()
    count_from(NEW)

    call_command("import_client", str(archive))

    told = capsys.readouterr().out
    assert "To be entered again: identity_secondfactor.recovery_hashes, 1 rows." in told
    assert told.count("To be entered again") == 1
    came = Client.objects.get(code=moving.code)
    assert came.pk > NEW
    assert came.frozen_at
    after = counts(came)
    assert after.pop("identity.AuditEvent") == before.pop("identity.AuditEvent") + 1
    assert after == before
    assert found(WORD) >= places - {"django_session", "identity_sitesession"}
    assert found(OTHER) >= others
    order = FeedEntry.objects.filter(client=came).order_by("position")
    assert list(order.values_list("pk")) == feed
    assert set(Chunk.objects.filter(client=came).values_list("vector", flat=True)) == vectors
    call_command("check_audit")
    assert "fit their chains" in capsys.readouterr().out
    assert rows_with_old_numbers() - old == Counter(), "no number of the old cell stays"


def rows_with_old_numbers():
    """Each old number with its surroundings; in bodies of webhooks too."""
    places = Counter[tuple[str, str]]()
    tables = connection.introspection.table_names()
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t WHERE t::text LIKE %s', ["%77000%"])
            texts = [row[0] for row in cursor.fetchall()]
            for text in texts:
                for number in OLD_NUMBER.finditer(text):
                    places[table, text[max(0, number.start() - 60) : number.end()]] += 1
    for body in Payload.objects.values_list("body", flat=True):
        for number in OLD_NUMBER.findall(bytes(body).decode()):
            places["webhooks_payload", number] += 1
    return places


def moved(client, tmp_path):
    archive = exported(client, tmp_path / "client.zip")
    call_command("erase_client", client.code, yes=True)
    count_from(NEW)
    call_command("import_client", str(archive))
    came = Client.objects.get(code=client.code)
    call_command("freeze_client", came.code, undo=True)
    # Another cell is another process.
    api_keys._cache.clear()
    return came


def test_keys_passwords_secrets_files_and_chats_work_on(moving, tmp_path):
    server = make_key(moving, "secret")
    person = make_person(moving, "owner", "Dora")
    assert person.user
    hook = WebhookConfig.objects.filter(client=moving).latest("created_at")
    secret = hook.secret
    attachment = Attachment.objects.filter(client=moving).get()
    customers = server.get("/ai/customers").json()["items"]
    cursor = server.get("/ai/customers", {"limit": 1}).json()["next_cursor"]
    assert cursor
    chat = Conversation.objects.filter(client=moving, message_count__gte=2).latest("created_at")
    came = moved(moving, tmp_path)
    names = [customer["name"] for customer in server.get("/ai/customers").json()["items"]]
    assert names == [customer["name"] for customer in customers]
    assert person.get("/ai/bot").status_code == 401, "people sign in again"
    form = {"grant_type": "password", "username": person.user.email, "password": PASSWORD}
    assert person.browser.post("/identity/token2", form).status_code == 200
    assert WebhookConfig.objects.get(pk=hook.pk).secret == secret
    assert SecondFactor.objects.get().secret == f"seed {WORD}"
    with Attachment.objects.get(pk=attachment.pk).file.open() as stored:
        assert WORD.encode() in stored.read()
    media.clean_up()
    assert default_storage.exists(str(attachment.file.name))
    (job,) = Job.objects.filter(client_id=came.pk, name="chats.group_questions")
    bot = Bot.objects.get(pk=job.args["bot_id"], client=came)
    assert (job.ordering_key, job.state) == (f"group-questions:{bot.pk}", "queued")
    run_jobs()
    job.refresh_from_db()
    assert job.state == "done"
    chats_go_on(server, chat)


def chats_go_on(server, chat):
    """From the number of the last event before the move."""
    shown = server.get(f"{CHAT}/history/{chat.pk}").json()["items"]
    assert [item["seq"] for item in shown] == list(range(1, len(shown) + 1))
    assert {item["sender"]["type"] for item in shown} == {"customer", "bot", "agent"}
    people = {str(pk) for pk in User.objects.values_list("pk", flat=True)}
    assert (
        next(item for item in shown if item["sender"]["type"] == "agent")["sender"]["id"] in people
    )
    assert server.post(f"{CHAT}/{chat.pk}", {"text": "Thanks", "reply": "none"}).status_code == 200
    row = Event.objects.filter(conversation_id=chat.pk).latest("sequence")
    assert row.sequence == chat.last_event_seq + 1
    assert Delivery.objects.filter(event=row).exists()
    place = server_feed(row.client)
    assert place[-1] == row.pk


def server_feed(client):
    return [entry.event_id for entry in events.read_feed(client, 0, 1_000)]


def test_removed_months_of_the_audit_log_stay_signed(
    client_a, tmp_path, monkeypatch, settings, capsys
):
    settings.INSTANCE_ID = "old"
    monkeypatch.setenv("TRANSFER_KEY", PASSPHRASE)
    for days in (1_500, 1_400, 1):
        moment = timezone.now() - timedelta(days=days)
        AuditEvent.objects.create(client=client_a, action="x.made", created_at=moment)
    call_command("purge_audit", verbosity=0)
    anchors = AuditAnchor.objects.order_by("pk")
    before = list(anchors.values_list("month", "rows", "hash"))
    assert len(before) == 2
    moved(client_a, tmp_path)
    assert list(anchors.values_list("month", "rows", "hash")) == before
    capsys.readouterr()
    call_command("check_audit")
    assert "fit their chains" in capsys.readouterr().out


def test_without_a_passphrase_secrets_are_entered_again(moving, tmp_path, monkeypatch, capsys):
    server = make_key(moving, "secret")
    monkeypatch.delenv("TRANSFER_KEY")
    archive = exported(moving, tmp_path / "client.zip")
    assert "no secrets" in capsys.readouterr().out
    with zipfile.ZipFile(archive) as opened:
        whole = b"".join(opened.read(name) for name in opened.namelist())
    assert b"seed " not in whole
    assert b"sealed" not in whole
    call_command("erase_client", moving.code, yes=True)
    call_command("import_client", str(archive))
    told = capsys.readouterr().out
    for place in (
        "identity_user.password",
        "identity_apikey.secret_hash",
        "webhooks_webhookconfig.secret",
        "channels_app_channelconnection.access_token",
    ):
        assert f"To be entered again: {place}" in told
    came = Client.objects.get(code=moving.code)
    call_command("freeze_client", came.code, undo=True)
    assert server.get("/ai/customers").status_code == 401
    assert not WebhookConfig.objects.filter(client=came, is_active=True).exists()
    assert not User.objects.filter(client=came)[0].has_usable_password()
    call_command("check_audit")


def test_a_wrong_passphrase_another_release_and_a_broken_archive(moving, tmp_path, monkeypatch):
    archive = exported(moving, tmp_path / "client.zip")
    Message.objects.filter(client=moving, text="Hello").update(text="Hello again")
    with pytest.raises(CommandError, match="1 rows of chats_message are not in"):
        call_command("erase_client", moving.code, yes=True, moved=archive)
    assert Message.objects.filter(client=moving).exists()
    call_command("erase_client", moving.code, yes=True)
    encryption_key_check.check("default")
    before = state()

    def refused(path, words):
        with pytest.raises(CommandError, match=words):
            call_command("import_client", str(path))
        assert state() == before
        assert not list((tmp_path / "media").rglob("*.txt"))

    monkeypatch.setenv("TRANSFER_KEY", "another passphrase than that")
    refused(archive, "another one")
    monkeypatch.setenv("TRANSFER_KEY", PASSPHRASE)
    data = archive.read_bytes()
    half = tmp_path / "half.zip"
    half.write_bytes(data[: len(data) // 2])
    refused(half, "not a whole archive")
    refused(changed(archive, "manifest.json", b'"webhooks":"', b'"webhooks":"9'), "release")
    refused(changed(archive, "chats_message.jsonl", b"Hello", b"Jello"), "chats_message")
    refused(changed(archive, "identity_client.jsonl", None, None), "damaged")
    for setting, words in (("SECRET_KEY", "SECRET_KEY"), ("INSTANCE_ID", "INSTANCE_ID")):
        with monkeypatch.context() as context:
            context.setattr(settings, setting, "old")
            refused(archive, words)
    # A failure halfway leaves nothing.
    monkeypatch.setattr("commands.client_archive.Reader.store_file", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call_command("import_client", str(archive))
    assert state() == before


def state():
    """All that is stored in the database."""
    rows = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT t::text FROM "{table}" t ORDER BY 1')
            rows[table] = cursor.fetchall()
    return rows


def changed(archive, name, old, new):
    """A copy of an archive with other bytes in an entry, or without it."""
    made = archive.with_name(f"{name}.zip")
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(made, "w") as copy:
        for entry in source.namelist():
            data = source.read(entry)
            if entry == name and old is not None:
                assert old in data
                data = data.replace(old, new)
            if entry != name or old is not None:
                copy.writestr(entry, data)
    return made


def test_an_export_to_move_needs_a_quiet_client(moving, tmp_path):
    path = tmp_path / "client.zip"
    with pytest.raises(CommandError, match="Freeze"):
        call_command("export_client", moving.code, str(path), move=True)
    job = Job.objects.filter(client_id=moving.pk, state="queued").earliest("pk")
    Job.objects.filter(pk=job.pk).update(
        state="running", lease_until=timezone.now() + timedelta(hours=1)
    )
    freeze(moving)
    with pytest.raises(CommandError, match="not quiet yet: 1 running jobs"):
        call_command("freeze_client", moving.code, wait=0)
    with pytest.raises(CommandError, match="1 running jobs"):
        call_command("export_client", moving.code, str(path), move=True)
    assert not path.exists()
    call_command("export_client", moving.code, str(path))
    with pytest.raises(CommandError, match="not made by"):
        call_command("import_client", str(path))


def test_every_table_is_a_clients_or_named_with_a_reason():
    client = Client(pk=1)
    of_client = {model._meta.label for model, _ in client_rows.of_client(client)}
    carried = {model._meta.label for model, _ in client_rows.carried(client)}
    every = {
        model._meta.label
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed
    }
    assert every == of_client | carried | set(client_rows.INSTALLATION_MODELS)
    assert not (of_client | carried) & set(client_rows.INSTALLATION_MODELS)
    assert carried == (every - set(client_rows.INSTALLATION_MODELS)) - set(
        client_rows.EXCLUDED_MODELS
    )
    assert set(client_rows.EXCLUDED_MODELS) <= of_client


# JSON and arrays without an id of ours, or with UUIDs alone.
NO_IDS = {
    "bots.Bot.business_hours", "bots.Bot.custom_hours", "bots.Bot.customer_info_fields",
    "bots.Bot.engaging_message", "bots.Bot.holidays", "bots.Bot.procedures",
    "bots.Bot.setup_overrides", "bots.Bot.style", "bots.Bot.terms", "bots.Document.draft",
    "bots.Bot.welcome_message", "bots.Chunk.sentences", "bots.Function.headers",
    "bots.Function.parameters", "bots.FunctionCall.arguments", "bots.GoldenRun.better",
    "bots.GoldenRun.broke", "bots.GoldenQuestion.turns", "bots.LanguageModel.gate",
    "bots.McpServer.tools",
    "channels_app.ChannelConnection.details",
    "chats.Conversation.location", "chats.Conversation.metadata", "chats.Conversation.requester",
    "chats.Customer.attributes", "chats.Customer.self_reported_fields", "chats.Message.metadata",
    "chats.Message.translations", "chats.SavedReply.texts", "chats.Summary.key_points",
    "identity.ClientConfig.business_hours", "identity.ClientConfig.custom_hours",
    "identity.ClientConfig.handoff_message",
    "identity.ClientConfig.holidays", "identity.ClientConfig.out_of_hours_message",
    "identity.ClientConfig.message_prices", "identity.ClientConfig.silent_channels",
    "identity.ClientConfig.automatic_messages",
}  # fmt: skip


def test_every_column_that_may_hold_ids_is_named():
    client = Client(pk=1)
    named = set(client_ids.NUMBERS) | client_ids.TREES | set(client_ids.OWN_FORMS)
    for model, _ in client_rows.carried(client):
        for field in model._meta.concrete_fields:
            place = f"{model._meta.label}.{field.attname}"
            base = field.base_field if isinstance(field, ArrayField) else field
            is_number = isinstance(base, models.BigIntegerField) and field.attname.endswith(
                ("_id", "_ids")
            )
            if isinstance(field, models.JSONField):
                assert (place in named) != (place in NO_IDS), place
            elif is_number and not field.is_relation:
                assert place in named, f"say in client_ids.NUMBERS whose number {place} is"
    every = {
        f"{model._meta.label}.{field.attname}"
        for model in apps.get_models()
        for field in model._meta.concrete_fields
    }
    assert named | NO_IDS <= every
