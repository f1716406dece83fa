"""Ended chats are deleted once they were kept as long as their client wants."""

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
from chats.services.exchange import retention
from chats.testing import make_chat
from identity.models import AuditEvent, ClientConfig, CreditEntry
from webhooks.models import Delivery, DeliveryAttempt, Event, Payload, WebhookConfig

pytestmark = pytest.mark.django_db(transaction=True)
# What hangs on a chat, and whatever repeats its words.
OF_A_CHAT = (
    Message, Attachment, Feedback, Notification, Summary, Tagging, FunctionCall,
    Event, Payload, Delivery, DeliveryAttempt,
)  # fmt: skip


@pytest.fixture(autouse=True)
def store(settings, tmp_path):
    """An empty media store; `store()` lists what lies in it."""
    settings.MEDIA_ROOT = str(tmp_path)
    return lambda: [one for one in tmp_path.rglob("*") if one.is_file()]


def ago(**units):
    return timezone.now() - timedelta(**units)


def keep(client, days):
    ClientConfig.objects.filter(client=client).update(retention_days=days)


def ended(bot, days_ago=31, **fields):
    return make_chat(bot, status="ended", ended_at=ago(days=days_ago), **fields)


def tidy():
    tasks.clean_up()
    run_jobs()


def left():
    return set(Conversation.objects.values_list("pk", flat=True))


def audited():
    rows = AuditEvent.objects.filter(action="conversations.deleted").order_by("id")
    return [(row.client_id, row.changes["count"]) for row in rows]


def lived(server, ann, client, bot):
    """A chat with all that can hang on one, ended a month ago."""
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
    chat = lived(server, ann, client_a, bot)
    assert all(kind.objects.exists() for kind in OF_A_CHAT)
    assert len(store()) == 1
    run_jobs()
    entries = CreditEntry.objects.count()
    keep(client_a, 30)
    tidy()
    remains = {kind.__name__: kind.objects.count() for kind in OF_A_CHAT if kind.objects.exists()}
    assert (remains, store()) == ({}, [])
    assert server.get(f"/ai/client/chat/history/{chat.pk}").status_code == 404
    assert audited() == [(client_a.pk, 1)]
    assert AuditEvent.objects.get(action="conversations.deleted").user is None
    # The customer stays, and so does what was paid.
    assert Customer.objects.get().external_id == "c-7"
    assert CreditEntry.objects.count() == entries


def test_only_ended_chats_whose_time_is_over(server, ann, client_a, client_b, bot):
    others, forever = make_bot(client_b), lived(server, ann, client_a, bot)
    run_jobs()
    keep(client_a, 30)
    gone = ended(bot, 31)
    kept = [
        ended(bot, 29),
        ended(bot, 1),
        make_chat(bot, created_at=ago(days=90), last_message_at=ago(days=90)),
        make_chat(bot, status="snoozed", created_at=ago(days=90), snoozed_until=ago(days=-1)),
        # What an end left in the row does not count once the chat is open again.
        make_chat(bot, status="open", ended_at=ago(days=90)),
        ended(others, 400),
    ]
    Conversation.objects.filter(pk=forever.pk).update(ended_at=ago(days=2))
    before = {kind: kind.objects.count() for kind in OF_A_CHAT}
    tidy()
    assert left() == {forever.pk, *(chat.pk for chat in kept)}
    assert gone.pk not in left()
    assert {kind: kind.objects.count() for kind in OF_A_CHAT} == before
    assert audited() == [(client_a.pk, 1)]


def test_where_nothing_was_set_all_is_kept(client_a, bot):
    assert ClientConfig.objects.get(client=client_a).retention_days is None
    chat = ended(bot, 4000)
    tidy()
    assert left() == {chat.pk}
    assert (audited(), Job.objects.count()) == ([], 0)


def test_each_client_has_days_of_its_own(client_a, client_b, bot):
    others = make_bot(client_b)
    keep(client_a, 10)
    keep(client_b, 100)
    mine, theirs = ended(bot, 50), ended(others, 50)
    tidy()
    assert left() == {theirs.pk}
    assert mine.pk not in left()
    keep(client_b, 40)
    tidy()
    assert left() == set()
    assert audited() == [(client_a.pk, 1), (client_b.pk, 1)]


def test_a_customers_other_chats_stay(client_a, bot):
    keep(client_a, 30)
    old = ended(bot)
    new = make_chat(bot, previous_chat=old)
    Conversation.objects.filter(pk=new.pk).update(customer=old.customer)
    tidy()
    new.refresh_from_db()
    assert (left(), new.previous_chat, new.customer) == ({new.pk}, None, old.customer)


def test_moved_in_without_the_time_of_its_end(client_a, bot):
    keep(client_a, 30)
    chat = make_chat(bot, status="ended", imported_at=ago(days=29), created_at=ago(days=900))
    tidy()
    assert left() == {chat.pk}
    Conversation.objects.update(imported_at=ago(days=31))
    tidy()
    assert left() == set()


def test_opened_again_meanwhile(client_a, bot):
    """The run has chosen it; before its lock is had, the customer writes."""
    keep(client_a, 30)
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
    assert left() == {chat.pk}, "the other goes, this one is waited for by nobody"
    go_on.set()
    thread.join(10)
    tidy()
    chat.refresh_from_db()
    assert (left(), chat.status) == ({chat.pk}, "open")
    assert other.pk not in left()


def test_many_go_in_turns(client_a, client_b, bot, monkeypatch):
    monkeypatch.setattr(retention, "MAX_CHATS", 2)
    others = make_bot(client_b)
    for client, its_bot, count in ((client_a, bot, 5), (client_b, others, 1)):
        keep(client, 30)
        for _ in range(count):
            ended(its_bot)
    tidy()
    assert left() == set()
    # The second client does not wait for the end of the first.
    a, b = client_a.pk, client_b.pk
    assert audited() in ([(a, 2), (b, 1), (a, 2), (a, 1)], [(b, 1), (a, 2), (a, 2), (a, 1)])


def test_long_chats_make_short_turns(client_a, bot, monkeypatch):
    monkeypatch.setattr(retention, "MAX_MESSAGES", 10)
    keep(client_a, 30)
    for last_seq in (3, 7, 50, 1):
        ended(bot, 40, last_seq=last_seq)
    tidy()
    assert [count for _, count in audited()] == [2, 1, 1]
    assert left() == set()


def test_one_that_fails_keeps_no_other(client_a, bot, monkeypatch):
    monkeypatch.setattr(retention, "MAX_CHATS", 1)
    keep(client_a, 30)
    bad, _, _ = ended(bot, 50), ended(bot, 40), ended(bot, 35)
    real = retention.delete

    def delete(chat):
        real(chat)
        assert chat.chat_code != bad.chat_code, "broken"

    named = []
    monkeypatch.setattr(retention.log, "exception", lambda text, chat_id: named.append(chat_id))
    monkeypatch.setattr(retention, "delete", delete)
    tidy()
    assert left() == {bad.pk}
    assert [count for _, count in audited()] == [1, 1]
    assert named == [bad.pk]
    monkeypatch.setattr(retention, "delete", real)
    tidy()
    assert left() == set()


def test_killed_halfway_it_begins_where_it_was(client_a, bot):
    keep(client_a, 30)
    chat = ended(bot)

    def die():
        raise SystemExit

    tasks.clean_up()
    with run_before("identity.services.audit.record", die), pytest.raises(SystemExit):
        run_jobs()
    assert (left(), audited()) == ({chat.pk}, [])
    Job.objects.update(state="queued", lease_token=None, lease_until=None)
    run_jobs()
    assert (left(), audited()) == (set(), [(client_a.pk, 1)])


def test_twice_asked_is_once_done(client_a, bot):
    keep(client_a, 30)
    ended(bot)
    tasks.clean_up()
    tasks.clean_up()
    assert Job.objects.count() == 1
    run_jobs()
    tasks.delete_expired(client=client_a.pk)
    assert audited() == [(client_a.pk, 1)]


def test_nobody_waits_long_for_it(client_a, bot):
    """A row of the chat is held by another: it is left for the next hour."""
    keep(client_a, 30)
    chat = ended(bot)
    new = make_chat(bot, previous_chat=chat)
    held, go_on = threading.Event(), threading.Event()

    def hold():
        try:
            with transaction.atomic():
                conversations.lock(new)
                held.set()
                assert go_on.wait(10)
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(10)
    tidy()
    assert left() == {chat.pk, new.pk}
    go_on.set()
    thread.join(10)
    tidy()
    assert left() == {new.pk}
