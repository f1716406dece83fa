"""What is done all the time costs few statements, and each of them finds its rows by an index.

Numbers and plans, no times: a slower machine changes neither. The tables have enough rows that a
planner which could take an index does.
"""

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from channels_app.tests.helpers import event, post_signed
from chats.services.desk import inbox
from chats.testing import make_chat
from identity.testing import make_key

pytestmark = pytest.mark.full

# Of each operation at most so many statements (BEGIN and COMMIT are none), and how it reads the
# large tables: every index that it may take.
ONE_CHAT = {"chats_conversation_pkey", "conversation_of_bot"}  # the second by bot and id
OPERATIONS = {
    "POST message": (1, {
        "chats_conversation": ONE_CHAT,
        "chats_customer": {"chats_customer_pkey"},
        "chatplatform_job": {"job_queued_unique"},
    }),
    "page of messages": (1, {
        "chats_conversation": ONE_CHAT,
        "chats_message": {"message_seq"},
    }),
    "list of chats": (1, {
        "chats_conversation": {"conversation_activity"},
        "chats_customer": {"chats_customer_pkey"},
        "chats_message": {"chats_message_pkey"},
    }),
    # What a customer in the queue wants: the newest messages, the latest move, and the conversation
    # before.
    "inbox": (2, {
        "chats_conversation": {"conversation_activity", "conversation_of_customer"},
        "chats_customer": {"chats_customer_pkey"},
        "chats_message": {"chats_message_pkey", "message_seq"},
        "webhooks_event": {"event_sequence_in_conversation"},
    }),
    "event feed": (3, {
        "webhooks_feedentry": {"feed_entry_position"},
        "webhooks_event": {"webhooks_event_pkey"},
    }),
    "inbound callback": (5, {}),  # whose account it is, whose client is being moved, the items
}  # fmt: skip
# Two thousand chats of five messages.
_ROWS = """
INSERT INTO chats_customer (
    client_id, name, email, phone, avatar_url, attributes, self_reported_fields)
SELECT %(client)s, 'Zoe', '', '', '', '{}', '[]' FROM generate_series(1, 2000);
INSERT INTO chats_conversation SELECT made.*
FROM chats_conversation c, chats_customer p, jsonb_populate_record(c, jsonb_build_object(
    'id', gen_random_uuid(), 'chat_code', 'C' || p.id, 'customer_id', p.id, 'last_seq', 5,
    'last_message_at', now() - p.id * interval '1 minute')) made
WHERE c.id = %(chat)s AND p.client_id = %(client)s AND p.id <> c.customer_id;
INSERT INTO chats_message SELECT made.*
FROM chats_message m, chats_conversation c, generate_series(1, 5) n,
    jsonb_populate_record(m, jsonb_build_object(
        'id', gen_random_uuid(), 'conversation_id', c.id, 'seq', n)) made
WHERE m.conversation_id = %(chat)s AND m.seq = 1 AND c.id <> %(chat)s AND c.client_id = %(client)s;
UPDATE chats_conversation c SET last_message_id = m.id
FROM chats_message m WHERE m.conversation_id = c.id AND m.seq = 5;
INSERT INTO webhooks_event (id, client_id, type, conversation_id, sequence, data)
SELECT id, client_id, 'message.created', conversation_id, seq, '{}' FROM chats_message
WHERE client_id = %(client)s AND conversation_id <> %(chat)s;
INSERT INTO webhooks_feedentry (event_id, client_id, position)
SELECT id, client_id, 1000000 + row_number() OVER () FROM webhooks_event
WHERE client_id = %(client)s AND conversation_id <> %(chat)s;
INSERT INTO chatplatform_job (client_id, name, args, state, ordering_key, progress, last_error,
    trace_id) SELECT %(client)s, 'chats.generate_reply', '{}', 'done', 'chat:' || id, 0, '', ''
FROM chats_message WHERE client_id = %(client)s
"""


@pytest.fixture
def many(server, ann, client_b, bot):
    """A chat of ours between thousands of ours and of another client's."""
    from bots.testing import make_bot  # noqa: PLC0415

    other = make_bot(client_b)
    chats = [make_chat(bot), make_chat(other)]
    for chat, key in zip(chats, (server, make_key(client_b, "secret", other.pk)), strict=True):
        body = {"text": "Hello", "reply": "none"}
        assert key.post(f"/ai/client/chat/{chat.pk}", body).status_code == 200
    with connection.cursor() as cursor:
        for chat in chats:
            ids = {"client": chat.client_id, "chat": f"'{chat.pk}'"}
            for statement in _ROWS.split(";"):
                cursor.execute(statement % ids)
                cursor.execute("ANALYZE chats_customer, chats_conversation, chats_message")
        cursor.execute("ANALYZE")
    return chats[0]


def test_hot_operations(many, server, ann, nobody, bot, settings):
    settings.SOCIALNET_APP_SECRET = "secret"
    path = f"/ai/client/chat/{many.pk}"
    inbound = event({"message": {"mid": "m_1", "text": "hello"}})
    calls = {
        "POST message": lambda: server.post(path, {"text": "Hello?", "reply": "async"}),
        "page of messages": lambda: server.get(f"/ai/client/chat/history/{many.pk}"),
        "list of chats": lambda: server.get("/ai/client/chats"),
        "inbox": lambda: ann.get("/ai/chats"),
        "event feed": lambda: ann.get("/webhook/events", {"order": "asc"}),
        "inbound callback": lambda: post_signed(nobody, "/socialnet/webhook", inbound),
    }
    assert set(calls) == set(OPERATIONS)
    large = _large_tables()
    assert {"chats_conversation", "chats_message", "webhooks_event", "chatplatform_job"} <= large
    faults = []
    for name, call in calls.items():
        assert call().status_code in {200, 202}  # finds the key
        with CaptureQueriesContext(connection) as captured:
            assert call().status_code in {200, 202}, name
        sent = [item["sql"] for item in captured if re.match("SELECT|INSERT|UPDATE|WITH|DELETE",
                item["sql"].lstrip())]  # fmt: skip
        most, indexes = OPERATIONS[name]
        if len(sent) > most:
            faults.append(f"{name}: {len(sent)} statements, at most {most}: {sent}")
        for statement in sent:
            faults += [
                f"{name}: {table} is read by {how}: {statement}"
                for table, how in _reads(statement)
                if table in large and how not in indexes.get(table, set())
            ]
    assert not faults, "\n".join(faults)


def test_a_search_reads_the_messages_of_its_client_alone(many, ann):
    plan = inbox.search(ann.client, "quokka").explain()
    assert "Bitmap Index Scan on message_client_search" in plan
    conditions = re.findall(r"Index Cond: .*upper\(text\).*", plan)
    assert conditions
    assert all("client_id = " in condition for condition in conditions), plan


def test_a_plan_without_an_index_is_seen(many):
    like = "SELECT * FROM chats_message WHERE error = 'x'"
    assert ("chats_message", "no index") in list(_reads(like))


def _large_tables() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(parent.relname, own.relname) FROM pg_class own"
            " LEFT JOIN pg_inherits ON inhrelid = own.oid"
            " LEFT JOIN pg_class parent ON parent.oid = inhparent"
            " WHERE own.relkind = 'r' AND own.reltuples > 2000"
        )
        return {name for (name,) in cursor.fetchall()}


def _reads(statement: str) -> list[tuple[str, str]]:
    """Each table that the plan of a statement reads, and by which index."""
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (FORMAT JSON) " + statement)
        (found,) = cursor.fetchone()
        # A partition and its indexes count as those of its table.
        cursor.execute(
            "SELECT child.relname, parent.relname FROM pg_inherits"
            " JOIN pg_class child ON child.oid = inhrelid"
            " JOIN pg_class parent ON parent.oid = inhparent"
        )
        whole = dict(cursor.fetchall())
        # A month that has not begun is read whole: it has nothing.
        cursor.execute("SELECT relname FROM pg_class WHERE relispartition AND reltuples <= 0")
        empty = {name for (name,) in cursor.fetchall()}
    plan = found if isinstance(found, list) else json.loads(found)
    return [
        (whole.get(table, table), whole.get(how, how))
        for table, how in _scans(plan[0]["Plan"], "")
        if table not in empty
    ]


def _scans(node, table):
    table = node.get("Relation Name", table)
    if node["Node Type"] in {"Index Scan", "Index Only Scan", "Bitmap Index Scan"}:
        yield table, node["Index Name"]
    elif node["Node Type"] == "Seq Scan":
        yield table, "no index"
    for child in node.get("Plans", []):
        yield from _scans(child, table)
