"""The minimal twin: the same stored results with Starlette, asyncpg and orjson only.

It is written only for speed: one statement per operation, which also looks up the key. It has no
validation beyond JSON, no tenancy beyond the key, no languages and no request ids.
"""

import hashlib
import hmac
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PEPPER = hmac.digest(os.environ["SECRET_KEY"].encode(), b"chatplatform.hash_secret", "sha256")
POOL = 16

KEY = """WITH k AS (SELECT client_id FROM identity_apikey
    WHERE prefix = $1 AND secret_hash = $2 AND revoked_at IS NULL)"""
MESSAGE = """, c AS (UPDATE chats_conversation SET last_seq = last_seq + 1,
    message_count = message_count + 1, last_event_seq = last_event_seq + 1,
    unread_count = unread_count + 1, last_message_at = now()
    WHERE id = $3 AND client_id = (SELECT client_id FROM k) AND status = 'open'
    RETURNING client_id, id, last_seq, last_event_seq, customer_id),
m AS (INSERT INTO chats_message (id, client_id, conversation_id, seq, sender_type, sender_id,
    sender_name, content, text, citations, translations, metadata, status, is_note, is_welcome,
    language, customer_reaction, created_at) SELECT $4, client_id, id, last_seq, 'customer',
    customer_id::text, '', $5, $5::jsonb->0->>'text', '[]', '{}', '{}', 'sent', false, false,
    'en', '', now() FROM c
    RETURNING seq, created_at)"""
EVENT = """, e AS (INSERT INTO webhooks_event
    (id, client_id, type, conversation_id, sequence, data) SELECT $6, client_id,
    'message.created', id, last_event_seq, $5 FROM c),
u AS (INSERT INTO webhooks_unnumberedevent (client_id, event_id) SELECT client_id, $6 FROM c)"""
JOB = """, j AS (INSERT INTO chatplatform_job (client_id, name, args, ordering_key, state, progress,
    last_error, trace_id)
    SELECT client_id, 'chats.generate_reply', jsonb_build_object('message_id', $4::uuid),
    'chat:' || id, 'queued', 0, '', '' FROM c)"""
STORED = " SELECT seq, created_at FROM m"
LEAN = KEY + MESSAGE + STORED
NONE = KEY + MESSAGE + EVENT + STORED
ASYNC = KEY + MESSAGE + EVENT + JOB + STORED
LIST = (
    KEY
    + """ SELECT m.id, m.conversation_id, m.seq, m.sender_type, m.sender_id, m.sender_name,
    m.content, m.citations, m.status, m.error, m.in_reply_to_id, m.is_note, m.client_message_id,
    m.provider_message_id, m.language, m.created_at, m.delivered_at, m.read_at
    FROM chats_message m JOIN k ON k.client_id = m.client_id
    WHERE m.conversation_id = $3 AND NOT m.is_note AND m.seq > $4 ORDER BY m.seq LIMIT 51"""
)
CHATS = (
    KEY
    + """ SELECT c.id, c.chat_code, c.bot_id, c.channel, c.status, c.assign_type, c.version,
    c.language, c.tags, c.message_count, c.unread_count, c.last_message_at, c.created_at,
    p.external_id, p.name, p.email, p.phone, p.avatar_url, p.attributes,
    m.id AS message_id, m.seq, m.sender_type, m.sender_id, m.sender_name, m.content, m.citations,
    m.status AS message_status, m.created_at AS message_created_at
    FROM chats_conversation c JOIN k ON k.client_id = c.client_id
    JOIN chats_customer p ON p.id = c.customer_id
    LEFT JOIN chats_message m ON m.id = c.last_message_id
    WHERE NOT c.is_preview
    ORDER BY COALESCE(c.last_message_at, c.created_at) DESC, c.id DESC LIMIT 51"""
)


def credentials(request: Request) -> tuple[str, str]:
    prefix, _, secret = request.headers["api-key"].partition(".")
    return prefix, hmac.new(PEPPER, secret.encode(), hashlib.sha256).hexdigest()


async def post(request: Request) -> Response:
    body = orjson.loads(await request.body())
    statement = request.path_params["kind"]
    content = orjson.dumps([{"type": "text", "text": body["text"]}]).decode()
    chat, message = uuid.UUID(request.path_params["chat"]), uuid.uuid4()
    arguments: list[Any] = [*credentials(request), chat, message, content]
    if statement != "lean":
        arguments.append(uuid.uuid4())
    sql = {"lean": LEAN, "none": NONE, "async": ASYNC}[statement]
    row = await request.app.state.pool.fetchrow(sql, *arguments)
    if row is None:
        return Response(status_code=404)
    stored = {"id": message, "conversation_id": chat, "seq": row[0], "created_at": row[1]}
    return Response(orjson.dumps(stored), media_type="application/json")


async def history(request: Request) -> Response:
    chat = uuid.UUID(request.path_params["chat"])
    rows = await request.app.state.pool.fetch(LIST, *credentials(request), chat, 0)
    return Response(
        orjson.dumps(
            {"items": [shape(row) for row in rows[:50]], "more": len(rows) > 50},
            default=str,  # asyncpg's own UUIDs
        ),
        media_type="application/json",
    )


async def chats(request: Request) -> Response:
    rows = await request.app.state.pool.fetch(CHATS, *credentials(request))
    shown = {"items": [chat_shape(row) for row in rows[:50]], "more": len(rows) > 50}
    return Response(orjson.dumps(shown, default=str), media_type="application/json")


def chat_shape(row: asyncpg.Record) -> dict[str, Any]:
    chat = dict(row)
    chat["customer"] = {
        name: chat.pop(name) for name in ("external_id", "name", "email", "phone", "avatar_url")
    } | {"attributes": orjson.Fragment(chat.pop("attributes"))}
    own = ("seq", "sender_type", "sender_id", "sender_name", "message_status")
    message = {name: chat.pop(name) for name in ("message_id", "message_created_at", *own)}
    for name in ("content", "citations"):
        message[name] = orjson.Fragment(chat.pop(name) or "null")
    chat["last_message"] = message if message["message_id"] else None
    return chat


def shape(row: asyncpg.Record) -> dict[str, Any]:
    message = dict(row)
    message["content"] = orjson.Fragment(message["content"])
    message["citations"] = orjson.Fragment(message["citations"])
    message["sender"] = {
        "type": message.pop("sender_type"),
        "id": message.pop("sender_id"),
        "name": message.pop("sender_name"),
    }
    return message


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    url = os.environ["DATABASE_URL"]
    app.state.pool = await asyncpg.create_pool(url, min_size=POOL, max_size=POOL)
    yield
    await app.state.pool.close()


routes = [
    Route("/post/{kind}/{chat}", post, methods=["POST"]),
    Route("/list/{chat}", history),
    Route("/chats", chats),
    Route("/health/live", lambda request: Response("ok")),
]
app = Starlette(routes=routes, lifespan=lifespan)
