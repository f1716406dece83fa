"""A customer is exported, and erased: a search of every table, file and key for a word of theirs
finds it before, and nothing after."""

import io
import json
import zipfile
from pathlib import Path
from unittest import mock

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connection
from django.urls import reverse

from bots.models import FunctionCall
from channels_app.models import CustomerIdentity, InboundCallback
from chatplatform.live import valkey
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation, Customer, Summary
from chats.services.data_exchange import retention
from identity.models import AuditEvent
from identity.testing import make_key, signed_in
from reports.models import Export
from webhooks.models import Delivery, DeliveryAttempt, Event, WebhookConfig

pytestmark = pytest.mark.django_db(transaction=True)
WORD, OTHER = "Quokkamarkerword", "Wombatmarkerword"
CHAT = "/ai/client/chat"


def found(word):
    """Where a word stands: tables, stored files, and keys of the broker."""
    places = set()
    tables = connection.introspection.table_names()
    assert len(tables) > 50
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(
                f'SELECT count(*) FROM "{table}" t WHERE t::text ILIKE %s OR t::text LIKE %s',
                [f"%{word}%", f"%{word.encode().hex()}%"],
            )
            if cursor.fetchone()[0]:
                places.add(table)
    for path in Path(settings.MEDIA_ROOT).rglob("*"):
        if path.is_file() and word.encode() in path.read_bytes():
            places.add(path.parent.name)
    broker = valkey.shared()
    places |= {key for key in broker.scan_iter() if word.encode() in (broker.dump(key) or b"")}
    return places


def write(server, word):
    """A customer who leaves the word wherever a customer, an agent or a bot may leave it."""
    info = {"external_id": f"id-{word}", "name": word, "email": f"{word}@example.com".lower(),
            "attributes": {"city": word}}  # fmt: skip
    chat = server.post(CHAT, {"customer": info, "metadata": {"x": word}}).json()
    path = f"{CHAT}/{chat['id']}"
    server.post(path, {"text": f"My name is {word}.", "reply": "none"})
    server.upload(f"{CHAT}/files/{chat['id']}", files=file(word), reply="none")
    server.post(f"{CHAT}/customer/{chat['id']}", {"phone": "+4912345678", "name": f"{word} Fox"})
    server.post(f"/ai/chat/{chat['id']}/feedback", {"rating": 1, "comment": word})
    server.post(f"{path}/transcript/mail", {"email": f"{word}@example.org".lower()})
    return chat


def file(word):
    content = io.BytesIO(f"A file of {word}".encode())
    content.name = f"{word}.txt"
    return content


def remember(chat, word):
    """What workers, providers and clients' servers leave behind."""
    row = Conversation.objects.get(pk=chat["id"])
    own = {"client": row.client}
    Summary.objects.create(
        **own, conversation=row, summary=word, language="en", message_count=1, engine="x"
    )
    FunctionCall.objects.create(
        **own, bot=row.bot, conversation_id=row.pk, function_name="x", arguments={"a": word},
        status="succeeded",
    )  # fmt: skip
    former, current = word, f"{word}.2"
    identity = CustomerIdentity.objects.create(
        **own, customer=row.customer, channel="socialnet", account_id="1", provider_user_id=current
    )
    identity.former_ids.create(**own, provider_user_id=former, until="2026-01-01T00:00:00Z")
    for user_id in (former, current):
        body = json.dumps({"from": user_id}).encode()
        InboundCallback.objects.create(channel="socialnet", body=body)
    config = WebhookConfig.objects.create(**own, url="https://x.example/", secret="whsec_x")
    for event in Event.objects.filter(client=row.client, data__customer__id=row.customer_id):
        sent, _ = Delivery.objects.get_or_create(event=event, config=config, defaults=own)
        DeliveryAttempt.objects.create(**own, delivery=sent, number=1, response_excerpt=word)
    Export.objects.create(
        **own, created_by=row.client.users.all()[0], param={}, rows=1, status="done",
        file=ContentFile(word.encode(), name=f"{row.pk}.csv"), file_name="x.csv",
        expires_at="2999-01-01T00:00:00Z",
    )  # fmt: skip


def keep(ann, word):
    """What the client's people keep under a name, as they searched for it."""
    browser = signed_in(ann.user)
    view = {"page": "chats.customer", "name": f"{word}s", "is_shared": "on"}
    browser.post("/admin/views/save/", view | {"query": f"?q={word}%40example.com".lower()})
    asked = {"name": f"Of {word}", "q": word.lower(), "group_by": "day"}
    browser.post(f"{reverse('reports_adhoc')}save/", asked)


@pytest.fixture
def two(ann, bot, settings, tmp_path):
    """Two customers of one client, each with a word of their own."""
    settings.MEDIA_ROOT = tmp_path
    bot.export_enabled = True
    bot.save()
    server = make_key(ann.client, "secret", bot.pk)
    chats = [write(server, word) for word in (WORD, OTHER)]
    remember(chats[0], WORD)
    remember(chats[1], OTHER)
    keep(ann, WORD)
    keep(ann, OTHER)
    run_jobs()
    return chats


def number_of(chat):
    return Conversation.objects.get(pk=chat["id"]).customer_id


def erased(ann, number):
    asked = ann.post(f"/ai/customers/{number}/erasure")
    assert asked.status_code == 202, asked.content
    run_jobs()
    return ann.get(f"/ai/customers/erasures/{asked.json()['id']}").json()


def test_nothing_of_an_erased_customer_is_found(ann, two):
    number = number_of(two[0])
    before, others = found(WORD), found(OTHER)
    assert {
        "attachments", "bots_functioncall", "channels_app_customeridentity",
        "channels_app_formerid", "channels_app_inboundcallback", "chatplatform_job",
        "chats_attachment", "chats_conversation", "chats_customer", "chats_feedback",
        "chats_message", "chats_summary",
        "identity_savedview", "reports",
        "webhooks_deliveryattempt", "webhooks_event",
    } <= before  # fmt: skip
    shown = erased(ann, number)
    assert (shown["status"], shown["chats_total"], shown["chats_erased"]) == ("done", 1, 1)
    assert found(WORD) == set()
    assert ann.get(f"/ai/customers/{number}").status_code == 404
    # Another customer keeps all but the client's report files.
    assert found(OTHER) == others - {"reports"}
    actions = AuditEvent.objects.filter(subject=f"customer:{number}").order_by("pk")
    assert [(row.action, row.user_id) for row in actions if "erasure" in row.action] == [
        ("customer.erasure_asked", ann.user.pk)
    ]
    last = actions[len(actions) - 1]
    assert (last.user_id, last.changes) == (ann.user.pk, {"conversations_deleted": 1})


def test_a_customer_who_became_part_of_another_goes_too(ann, two):
    gone, kept = (number_of(chat) for chat in two)
    assert ann.post(f"/ai/customers/{kept}/merge/{gone}").status_code == 200
    assert erased(ann, kept)["chats_erased"] == 2
    assert found(WORD) | found(OTHER) == set()


def test_it_goes_on_by_several_jobs_and_with_chats_that_began_since(ann, two, bot, monkeypatch):
    monkeypatch.setattr(retention, "MAX_CHATS", 1)
    customer = Customer.objects.get(pk=number_of(two[0]))

    def begin():
        chat = {"client": bot.client, "bot": bot, "customer": customer, "language": "en"}
        Conversation.objects.create(**chat)

    with run_before("chats.services.data_exchange.retention.delete", begin):
        shown = erased(ann, customer.pk)
    assert (shown["status"], shown["chats_total"], shown["chats_erased"]) == ("done", 1, 2)
    assert not Customer.objects.filter(pk=customer.pk).exists()


def test_one_that_failed_can_be_requested_again(ann, two):
    number = number_of(two[0])
    first = ann.post(f"/ai/customers/{number}/erasure").json()["id"]
    Job.objects.filter(name="chats.erase_customer").update(max_attempts=1)
    with mock.patch("chats.services.data_exchange.erasing.erase_next", side_effect=OSError):
        run_jobs()
    assert ann.get(f"/ai/customers/erasures/{first}").json()["status"] == "failed"
    assert Customer.objects.filter(pk=number).exists()
    assert erased(ann, number)["status"] == "done"
    assert not Customer.objects.filter(pk=number).exists()


def test_asked_twice_it_is_one_erasure(ann, two):
    path = f"/ai/customers/{number_of(two[0])}/erasure"
    assert ann.post(path).json() == ann.post(path).json()
    assert Job.objects.filter(name="chats.erase_customer").count() == 1
    assert AuditEvent.objects.filter(action="customer.erasure_asked").count() == 1


def test_a_customer_takes_all_along_and_nothing_of_others(ann, two):
    number = number_of(two[0])
    data = b"".join(ann.get(f"/ai/customers/{number}/export").streaming_content)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        texts = {name: archive.read(name).decode() for name in names}
    assert sorted(name.partition("/")[0] for name in names) == [
        "conversations.jsonl", "customer.json", "files", "messages.jsonl",
    ]  # fmt: skip
    assert json.loads(texts["customer.json"])["name"] == f"{WORD} Fox"
    chats = [json.loads(line) for line in texts["conversations.jsonl"].splitlines()]
    exported = [json.loads(line) for line in texts["messages.jsonl"].splitlines()]
    assert [chat["id"] for chat in chats] == [two[0]["id"]]
    assert chats[0]["feedback"]["comment"] == WORD
    assert f"My name is {WORD}." in str(exported[0]["content"])
    assert texts[next(name for name in names if WORD in name)] == f"A file of {WORD}"
    assert not any(OTHER in text for text in texts.values())
