"""Every entry point stores, numbers, counts and announces messages by the same rules.

Random messages by all entry points are compared with a model of the rules in plain Python.
"""

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bots.language import detection
from chatplatform.jobs import enqueue
from chatplatform.models import Job
from chats.models import Conversation, Message, SenderType, text_content
from chats.schemas import message as message_schemas
from chats.services.core import conversations, messages
from chats.testing import make_chat, visit
from identity.models import ClientConfig
from webhooks.models import Delivery, Event, Payload, UnnumberedEvent
from webhooks.schemas import webhook as webhook_schemas

LONG_AGO = datetime(2020, 5, 1, tzinfo=UTC)
OWNERS = ("bot", "queue", "agent")
TEXTS = st.sampled_from(
    ["Where is my parcel?", "Wo ist mein Paket?", "ok", '"\\ 👋\n\x7f', "你好", "Đơn hàng ở đâu"]
)
LANGUAGES = st.sampled_from([None, "de", "pt-BR"])
# Few, so that they repeat.
SENT_IDS = st.none() | st.sampled_from(["m-1", "m-2"])

POSTED = st.fixed_dictionaries(
    {"text": TEXTS, "reply": st.sampled_from(["none", "async"])},
    optional={"client_message_id": SENT_IDS, "language": LANGUAGES},
)
APPENDED = st.fixed_dictionaries(
    {
        "author": st.sampled_from([SenderType.CUSTOMER, SenderType.BOT, SenderType.AGENT])
        | st.just(SenderType.SYSTEM),
        "text": TEXTS,
        "more": st.sampled_from(
            [{}, {}, {"is_note": True}, {"is_welcome": True}, {"sent_at": LONG_AGO}]
        ),
        "language": st.sampled_from(["", "vi"]),
    }
)
STEPS = st.lists(
    st.tuples(st.just("post"), POSTED)
    | st.tuples(st.just("append"), APPENDED)
    | st.tuples(st.just("owner"), st.sampled_from(OWNERS)),
    max_size=8,
)


@dataclass
class Model:
    """What a chat counts, and the events and jobs that its messages leave."""

    owner: str = "bot"
    has_agent_written: bool = False
    language: str = "en"
    last_seq: int = 0
    message_count: int = 0
    unread_count: int = 0
    announced: int = 0
    jobs: int = 0
    last_message_id: uuid.UUID | None = None
    last_message_at: datetime | None = None
    first_response_at: datetime | None = None
    waiting_since: datetime | None = None
    return_at: datetime | None = None
    ids: dict[str, str] = field(default_factory=dict)

    def add(self, row: Message) -> None:
        self.last_seq += 1
        is_history = row.sent_at is not None
        self.announced += not (is_history or row.is_welcome)
        self.has_agent_written |= row.sender_type == "agent" and not row.is_note
        if row.is_note or row.is_welcome:
            return
        self.message_count += 1
        if self.owner == "bot" or row.sender_type not in {"bot", "system"}:
            self.last_message_id = row.pk
        if is_history:
            return
        self.last_message_at = row.created_at
        if row.sender_type in {"bot", "agent"} and self.first_response_at is None:
            self.first_response_at = row.created_at
        if row.sender_type == "agent":
            self.unread_count, self.waiting_since, self.return_at = 0, None, None
        if row.sender_type == "customer":
            self.unread_count += 1
            self.language = row.language or self.language
            if self.owner != "bot" and self.waiting_since is None:
                self.waiting_since = row.created_at

    def is_bots(self) -> bool:
        return self.owner == "bot" or (self.owner == "queue" and not self.has_agent_written)

    def hand_to(self, owner: str) -> None:
        self.owner = owner
        self.return_at = LONG_AGO if owner == "agent" else None


@pytest.fixture
def world(client_a, bot, bea, server, make_endpoint):
    """The bot speaks German too; an endpoint takes every event, another one none of messages."""
    bot.languages = ["en", "de"]
    bot.save(update_fields=["languages"])
    make_endpoint(client_a)
    make_endpoint(client_a, event_types=["chat.ended"])
    return bot, bea.user, server


@pytest.mark.full
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_messages_of_every_door_follow_the_rules(world, steps):
    bot, agent, server = world
    chat, model = make_chat(bot), Model()
    for kind, step in steps:
        if kind == "owner":
            model.hand_to(step)
            Conversation.objects.filter(pk=chat.pk).update(
                assign_type=step,
                assignee=agent if step == "agent" else None,
                return_at=model.return_at,
            )
        elif kind == "append":
            append(chat, step, model)
        else:
            post(server, chat, step, model)
        compare(chat, model)
    compare_events(chat, model)


def append(chat, step, model):
    with transaction.atomic():
        locked = conversations.lock(chat)
        stored = messages.append(
            locked,
            author=messages.Author(step["author"], "7", "Zoe"),
            content=text_content(step["text"]),
            language=step["language"],
            **step["more"],
        )
    row = Message.objects.get(pk=stored.pk)
    model.add(row)
    # What was locked goes on with the numbers as they are stored.
    fresh = Conversation.objects.get(pk=chat.pk)
    for column in chat._meta.concrete_fields:
        assert getattr(locked, column.attname) == getattr(fresh, column.attname), column.name
        assert row.seq == stored.seq == fresh.last_seq


def post(server, chat, body, model):
    sent_id = body.get("client_message_id")
    reply = server.post(f"/ai/client/chat/{chat.pk}", body)
    shown = reply.json()["message"]
    if sent_id in model.ids:
        assert shown["id"] == model.ids[sent_id]
        return
    row = Message.objects.get(pk=shown["id"])
    if sent_id:
        model.ids[sent_id] = str(row.pk)
    assert orjson.loads(orjson.dumps(message_schemas.Message.from_row(row))) == shown
    wants = body["reply"] == "async"
    if wants and model.is_bots():
        status, code = "pending", 202
    else:
        status, code = "handed_off" if wants and model.owner == "queue" else "not_expected", 200
    assert (reply.json()["status"], reply.status_code) == (status, code)
    assert (row.sender_type, row.sender_id, row.sender_name, row.text, row.content) == (
        "customer", str(chat.customer_id), chat.customer.name, body["text"],
        text_content(body["text"]),
    )  # fmt: skip
    recipient = row.recipient and row.recipient["type"]
    assert recipient == (None if model.owner == "queue" else model.owner)
    detected = detection.detect(body["text"], default=model.language, offered=["en", "de"])
    assert row.language == (body.get("language") or detected)
    model.add(row)
    model.jobs += wants and model.is_bots()


def compare(chat, model):
    row = Conversation.objects.get(pk=chat.pk)
    for name in ("language", "last_seq", "message_count", "unread_count", "last_message_id",
                 "last_message_at", "first_response_at", "waiting_since", "return_at"):  # fmt: skip
        assert getattr(row, name) == getattr(model, name), name
    assert row.last_event_seq == model.announced
    seqs = Message.objects.filter(conversation=chat).order_by("seq").values_list("seq", flat=True)
    assert list(seqs) == list(range(1, model.last_seq + 1))
    jobs = Job.objects.filter(name="chats.generate_reply", ordering_key=f"chat:{chat.pk}")
    assert jobs.count() == model.jobs


def compare_events(chat, model):
    rows = list(Event.objects.filter(conversation_id=chat.pk).order_by("sequence"))
    assert [row.sequence for row in rows] == list(range(1, model.announced + 1))
    announced = Message.objects.filter(conversation=chat, is_welcome=False, sent_at=None)
    for row, message in zip(rows, announced.order_by("seq"), strict=True):
        expected = orjson.loads(orjson.dumps(message_schemas.Message.from_row(message)))
        assert (row.type, row.created_at) == ("message.created", message.created_at)
        assert row.data == {"message": expected}
        body = Payload.objects.get(event=row).body
        assert orjson.loads(bytes(body)) == orjson.loads(webhook_schemas.encode_body(row))
    assert UnnumberedEvent.objects.filter(event_id__in=[row.pk for row in rows]).count() == len(
        rows
    )
    assert Delivery.objects.filter(event__in=rows).count() == len(rows)


def test_the_job_of_a_reply_is_written_as_enqueue_writes_it(server, chat, client_a):
    ClientConfig.objects.filter(client=client_a).update(burst_wait_ms=1_500)
    reply = server.post(f"/ai/client/chat/{chat.pk}", {"text": "Hello?", "reply": "async"})
    with transaction.atomic():
        enqueue("chats.generate_reply", client_id=client_a.pk, ordering_key=f"chat:{chat.pk}")
    stored, other = Job.objects.order_by("pk")
    assert stored.args == {"message_id": reply.json()["message"]["id"]}
    assert stored.trace_id == reply.headers["X-Request-Id"]
    assert 1.3 < (stored.due_at - stored.created_at).total_seconds() < 10
    for column in Job._meta.concrete_fields:
        if column.name not in {"id", "args", "due_at", "trace_id", "created_at"}:
            assert getattr(stored, column.attname) == getattr(other, column.attname), column.name


def test_a_visitor_is_shown_less(page, django_assert_num_queries):
    visitor, chat = visit(page)
    path, body = f"/ai/client/chat/{chat.pk}", {"text": "Hello?", "reply": "none"}
    visitor.post(path, body)
    with django_assert_num_queries(1):
        shown = visitor.post(path, body).json()
    assert set(shown) == {"message", "reply", "status"}
    assert shown["message"]["sender"] == {"type": "customer", "name": chat.customer.name}
    assert "recipient" not in shown["message"]


def refusal(to, **more: Any) -> str | None:
    """What the database's function says of a message in the chat, and that it changes nothing."""
    values: dict[str, Any] = {
        "chat": to.pk, "client": to.client_id, "sent_id": None, "wants_reply": True,
        "credits": "unknown", **more
    }  # fmt: skip
    before = Conversation.objects.values().get(pk=to.pk)
    counts = [model.objects.count() for model in (Message, Event, Job)]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT refusal FROM chats_receive_message(%(chat)s, %(client)s, NULL, NULL, NULL,
                gen_random_uuid(), gen_random_uuid(), 'Hello', %(sent_id)s, '{}', NULL,
                %(wants_reply)s, '-', %(credits)s)
            """,
            values,
        )
        said: str | None = cursor.fetchone()[0]
    if said:
        assert Conversation.objects.values().get(pk=to.pk) == before
        assert [model.objects.count() for model in (Message, Event, Job)] == counts
    return said


def test_what_is_unusual_is_left_to_the_other_way(chat, client_b, bea):
    """Each reason by itself; and that the same is plain where the reason does not matter."""
    rows, config = Conversation.objects.filter(pk=chat.pk), ClientConfig.objects
    assert refusal(chat, client=client_b.pk) == "unknown"
    assert refusal(chat, chat=uuid.uuid4()) == "unknown"
    for status in ("ended", "snoozed"):
        rows.update(status=status)
        assert refusal(chat) == status
    rows.update(status="open", is_preview=True)
    assert refusal(chat) == "unknown"
    rows.update(is_preview=False)
    config.update(auto_translate=True)
    assert refusal(chat) == "translated"
    config.update(auto_translate=False, out_of_hours_message={"en": "Closed."})
    assert refusal(chat, wants_reply=False) is None
    rows.update(assign_type="agent", assignee=bea.user)
    assert refusal(chat) == "hours"
    config.update(out_of_hours_message={}, answer_while_waiting=True)
    assert refusal(chat) is None
    rows.update(assign_type="queue", assignee=None)
    assert refusal(chat, credits="short") is None
    assert Job.objects.count() == 1
    rows.update(handoff_reason="credits_used_up")
    assert refusal(chat) == "credits"
    assert refusal(chat, credits="short") is None
    assert Job.objects.count() == 1
    assert refusal(chat, credits="enough") is None
    assert Job.objects.count() == 2
    assert refusal(chat, wants_reply=False) is None
    config.update(answer_while_waiting=False)
    assert refusal(chat) is None
    assert Job.objects.count() == 2
    Job.objects.all().delete()
    assert refusal(chat, wants_reply=False, sent_id="m-1") is None
    assert refusal(chat, wants_reply=False, sent_id="m-1") == "repeated"
    rows.update(assign_type="bot")
    config.update(burst_wait_ms=1_000)
    assert refusal(chat) is None
    assert refusal(chat) == "burst"
    assert refusal(chat, wants_reply=False) is None


@pytest.mark.django_db(transaction=True)
def test_messages_at_once_are_numbered_without_gaps(server, chat):
    path = f"/ai/client/chat/{chat.pk}"

    def send(number):
        body = {"text": "Hello?", "reply": "none", "client_message_id": f"m-{number % 12}"}
        try:
            return server.post(path, body).json()["message"]["id"]
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        stored = list(threads.map(send, range(24)))
    assert stored[:12] == stored[12:]
    rows = list(Message.objects.filter(conversation=chat).order_by("seq"))
    assert [row.seq for row in rows] == list(range(1, 13))
    assert [row.created_at for row in rows] == sorted(row.created_at for row in rows)
    chat.refresh_from_db()
    assert (chat.message_count, chat.unread_count, chat.last_message_id) == (12, 12, rows[-1].pk)
    events = Event.objects.filter(conversation_id=chat.pk).order_by("sequence")
    assert [event.sequence for event in events] == list(range(1, chat.last_event_seq + 1))
    numbers = dict(UnnumberedEvent.objects.values_list("event_id", "number"))
    in_order = [numbers[event.pk] for event in events]
    assert in_order == sorted(in_order)
