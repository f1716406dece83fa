"""Ended chats are deleted after the number of days that their client has set."""

import threading
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.utils import timezone

from bots.models import FunctionCall
from bots.testing import make_bot
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from chats import tasks
from chats.models import (
    Attachment,
    Conversation,
    Customer,
    Feedback,
    Message,
    Notification,
    Summary,
    Tagging,
)
from chats.services.core import conversations, lifecycle
from chats.services.data_exchange import retention
from chats.testing import make_chat
from identity.models import AuditEvent, ClientConfig, CreditEntry
from webhooks.models import Delivery, DeliveryAttempt, Event, Payload, WebhookConfig

pytestmark = pytest.mark.django_db(transaction=True)
# Rows that belong to a chat or repeat its content.
MODELS_OF_A_CHAT = (
    Message, Attachment, Feedback, Notification, Summary, Tagging, FunctionCall,
    Event, Payload, Delivery, DeliveryAttempt,
)  # fmt: skip


@pytest.fixture(autouse=True)
def store(settings, tmp_path):
    """An empty media store; `store()` lists its files."""
    settings.MEDIA_ROOT = str(tmp_path)
    return lambda: [path for path in tmp_path.rglob("*") if path.is_file()]


def ago(**units):
    return timezone.now() - timedelta(**units)


def set_retention(client, days):
    ClientConfig.objects.filter(client=client).update(retention_days=days)


def ended(bot, days_ago=31, **fields):
    return make_chat(bot, status="ended", ended_at=ago(days=days_ago), **fields)


def run_clean_up():
    tasks.clean_up()
    run_jobs()


def remaining():
    return set(Conversation.objects.values_list("pk", flat=True))


def audited():
    rows = AuditEvent.objects.filter(action="conversations.deleted").order_by("id")
    return [(row.client_id, row.changes["count"]) for row in rows]


def make_full_chat(server, ann, client, bot):
    """A chat with a row of every kind, ended a month ago."""
    opened = {"customer": {"external_id": "c-7"}, "message": "Where is my order?", "tags": ["late"]}
    chat = Conversation.objects.get(pk=server.post("/ai/client/chat", opened).json()["id"])
    file = SimpleUploadedFile("a.png", b"\x89PNG\r\n\x1a\n" + bytes(32))
    sent = server.upload(f"/ai/client/chat/files/{chat.pk}", files=file, reply="none")
    assert sent.status_code == 200, sent.content
    ann.post(f"/ai/chat/{chat.pk}/end")
    rated = server.post(f"/ai/chat/{chat.pk}/feedback", {"rating": 5, "comment": "Fine"})
    assert rated.status_code in {200, 201}, rated.content
    Notification.objects.create(client=client, user=ann.user, conversation=chat, kind="handoff")
    Summary.objects.create(
        client=client, conversation=chat, summary="-", language="en", message_count=1, engine="x"
    )
    FunctionCall.objects.create(
        client=client, bot=bot, conversation_id=chat.pk, function_name="f", status="succeeded",
        result_excerpt="Zoe",
    )  # fmt: skip
    for delivery in Delivery.objects.all():
        DeliveryAttempt.objects.create(client=client, delivery=delivery, number=1)
    Conversation.objects.filter(pk=chat.pk).update(ended_at=ago(days=31))
    return chat


def test_nothing_is_left_of_a_chat(server, ann, client_a, bot, store):
    WebhookConfig.objects.create(client=client_a, url="https://a.example/", secret="s")
    chat = make_full_chat(server, ann, client_a, bot)
    assert all(kind.objects.exists() for kind in MODELS_OF_A_CHAT)
    assert len(store()) == 1
    run_jobs()
    entries = CreditEntry.objects.count()
    set_retention(client_a, 30)
    run_clean_up()
    remains = {
        kind.__name__: kind.objects.count() for kind in MODELS_OF_A_CHAT if kind.objects.exists()
    }
    assert (remains, store()) == ({}, [])
    assert server.get(f"/ai/client/chat/history/{chat.pk}").status_code == 404
    assert audited() == [(client_a.pk, 1)]
    assert AuditEvent.objects.get(action="conversations.deleted").user is None
    # The customer and the ledger stay.
    assert Customer.objects.get().external_id == "c-7"
    assert CreditEntry.objects.count() == entries


def test_only_expired_chats_are_deleted(server, ann, client_a, client_b, bot):
    others, forever = make_bot(client_b), make_full_chat(server, ann, client_a, bot)
    run_jobs()
    set_retention(client_a, 30)
    gone = ended(bot, 31)
    kept = [
        ended(bot, 29),
        ended(bot, 1),
        make_chat(bot, created_at=ago(days=90), last_message_at=ago(days=90)),
        make_chat(bot, status="snoozed", created_at=ago(days=90), snoozed_until=ago(days=-1)),
        # The end of a chat that is open again does not count.
        make_chat(bot, status="open", ended_at=ago(days=90)),
        ended(others, 400),
    ]
    Conversation.objects.filter(pk=forever.pk).update(ended_at=ago(days=2))
    before = {kind: kind.objects.count() for kind in MODELS_OF_A_CHAT}
    run_clean_up()
    assert remaining() == {forever.pk, *(chat.pk for chat in kept)}
    assert gone.pk not in remaining()
    assert {kind: kind.objects.count() for kind in MODELS_OF_A_CHAT} == before
    assert audited() == [(client_a.pk, 1)]


def test_without_a_setting_nothing_is_deleted(client_a, bot):
    assert ClientConfig.objects.get(client=client_a).retention_days is None
    chat = ended(bot, 4000)
    run_clean_up()
    assert remaining() == {chat.pk}
    assert (audited(), Job.objects.count()) == ([], 0)


def test_each_client_has_days_of_its_own(client_a, client_b, bot):
    others = make_bot(client_b)
    set_retention(client_a, 10)
    set_retention(client_b, 100)
    mine, theirs = ended(bot, 50), ended(others, 50)
    run_clean_up()
    assert remaining() == {theirs.pk}
    assert mine.pk not in remaining()
    set_retention(client_b, 40)
    run_clean_up()
    assert remaining() == set()
    assert audited() == [(client_a.pk, 1), (client_b.pk, 1)]


def test_a_customers_other_chats_stay(client_a, bot):
    set_retention(client_a, 30)
    old = ended(bot)
    new = make_chat(bot, previous_chat=old)
    Conversation.objects.filter(pk=new.pk).update(customer=old.customer)
    run_clean_up()
    new.refresh_from_db()
    assert (remaining(), new.previous_chat, new.customer) == ({new.pk}, None, old.customer)


def test_an_imported_chat_without_the_time_of_its_end(client_a, bot):
    set_retention(client_a, 30)
    chat = make_chat(bot, status="ended", imported_at=ago(days=29), created_at=ago(days=900))
    run_clean_up()
    assert remaining() == {chat.pk}
    Conversation.objects.update(imported_at=ago(days=31))
    run_clean_up()
    assert remaining() == set()


def test_a_chat_that_is_reopened_meanwhile_stays(client_a, bot):
    """The customer writes before the job has the chat's lock."""
    set_retention(client_a, 30)
    chat, other = ended(bot), ended(bot)
    locked, go_on = threading.Event(), threading.Event()

    def reopen():
        try:
            with transaction.atomic():
                lifecycle.reopen(conversations.lock(chat))
                locked.set()
                assert go_on.wait(10)
        finally:
            connection.close()

    thread = threading.Thread(target=reopen)
    thread.start()
    assert locked.wait(10)
    retention.delete_expired(client_a.pk)
    assert remaining() == {chat.pk}, "the other chat is deleted, the locked one is skipped"
    go_on.set()
    thread.join(10)
    run_clean_up()
    chat.refresh_from_db()
    assert (remaining(), chat.status) == ({chat.pk}, "open")
    assert other.pk not in remaining()


def test_clients_take_turns(client_a, client_b, bot, monkeypatch):
    monkeypatch.setattr(retention, "MAX_CHATS", 2)
    others = make_bot(client_b)
    for client, its_bot, count in ((client_a, bot, 5), (client_b, others, 1)):
        set_retention(client, 30)
        for _ in range(count):
            ended(its_bot)
    run_clean_up()
    assert remaining() == set()
    # The second client does not wait until the first is done.
    a, b = client_a.pk, client_b.pk
    assert audited() in ([(a, 2), (b, 1), (a, 2), (a, 1)], [(b, 1), (a, 2), (a, 2), (a, 1)])


def test_long_chats_make_small_batches(client_a, bot, monkeypatch):
    monkeypatch.setattr(retention, "MAX_MESSAGES", 10)
    set_retention(client_a, 30)
    for last_seq in (3, 7, 50, 1):
        ended(bot, 40, last_seq=last_seq)
    run_clean_up()
    assert [count for _, count in audited()] == [2, 1, 1]
    assert remaining() == set()


def test_a_chat_that_fails_does_not_keep_the_others(client_a, bot, monkeypatch):
    monkeypatch.setattr(retention, "MAX_CHATS", 1)
    set_retention(client_a, 30)
    bad, _, _ = ended(bot, 50), ended(bot, 40), ended(bot, 35)
    real = retention.delete

    def delete(chat):
        real(chat)
        assert chat.chat_code != bad.chat_code, "broken"

    logged = []
    monkeypatch.setattr(retention.log, "exception", lambda text, chat_id: logged.append(chat_id))
    monkeypatch.setattr(retention, "delete", delete)
    run_clean_up()
    assert remaining() == {bad.pk}
    assert [count for _, count in audited()] == [1, 1]
    assert logged == [bad.pk]
    monkeypatch.setattr(retention, "delete", real)
    run_clean_up()
    assert remaining() == set()


def test_a_job_that_was_killed_is_repeated(client_a, bot):
    set_retention(client_a, 30)
    chat = ended(bot)

    def die():
        raise SystemExit

    tasks.clean_up()
    with run_before("identity.services.audit.record", die), pytest.raises(SystemExit):
        run_jobs()
    assert (remaining(), audited()) == ({chat.pk}, [])
    Job.objects.update(state="queued", lease_token=None, lease_until=None)
    run_jobs()
    assert (remaining(), audited()) == (set(), [(client_a.pk, 1)])


def test_a_repeated_job_deletes_nothing_more(client_a, bot):
    set_retention(client_a, 30)
    ended(bot)
    tasks.clean_up()
    tasks.clean_up()
    assert Job.objects.count() == 1
    run_jobs()
    tasks.delete_expired(client=client_a.pk)
    assert audited() == [(client_a.pk, 1)]


def test_a_locked_chat_is_left_for_the_next_run(client_a, bot):
    """A row of the chat is locked by another transaction: the chat is skipped."""
    set_retention(client_a, 30)
    chat = ended(bot)
    new = make_chat(bot, previous_chat=chat)
    locked, go_on = threading.Event(), threading.Event()

    def lock_new():
        try:
            with transaction.atomic():
                conversations.lock(new)
                locked.set()
                assert go_on.wait(10)
        finally:
            connection.close()

    thread = threading.Thread(target=lock_new)
    thread.start()
    assert locked.wait(10)
    run_clean_up()
    assert remaining() == {chat.pk, new.pk}
    go_on.set()
    thread.join(10)
    run_clean_up()
    assert remaining() == {new.pk}
