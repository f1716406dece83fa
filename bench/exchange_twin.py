"""The exchange's twin: raw Starlette and asyncpg, the platform's encoder and search, and one worker
that listens for `NOTIFY`.

It stores the customer's message and the reply, each in one statement, and has no job that survives
its worker, no events, no credits and no rules: only what an exchange costs at the least.

    granian --interface asgi exchange_twin:app    stores, waits for the reply, and returns it
    python exchange_twin.py BOT_ID                answers
"""

import asyncio
import os
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import asyncpg
import orjson
from minimal_twin import KEY, MESSAGE, credentials
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

THRESHOLD = 0.77  # the platform's own
ASKED, REPLIED = "twin_asked", "twin_replied"
ASK = KEY + MESSAGE + f" SELECT pg_notify('{ASKED}', $4::text) FROM m"
REPLY = f"""WITH q AS (SELECT client_id, conversation_id FROM chats_message WHERE id = $1),
c AS (UPDATE chats_conversation SET last_seq = last_seq + 1, message_count = message_count + 1,
    last_event_seq = last_event_seq + 1, last_message_at = now() FROM q
    WHERE id = q.conversation_id RETURNING id, chats_conversation.client_id, last_seq),
m AS (INSERT INTO chats_message (id, client_id, conversation_id, seq, sender_type, sender_id,
    sender_name, content, text, citations, translations, metadata, status, is_note, is_welcome,
    language, customer_reaction, in_reply_to_id, created_at) SELECT $2, client_id, id, last_seq,
    'bot', '', 'Helper', $3, $3::jsonb->0->>'text', $4, '{{}}', '{{}}', 'sent', false, false, 'en',
    '', $1, now() FROM c)
SELECT pg_notify('{REPLIED}', $1::text)"""
STORED = "SELECT content, citations FROM chats_message WHERE in_reply_to_id = $1"


def content_of(text: str) -> str:
    return orjson.dumps([{"type": "text", "text": text}]).decode()


# --- the web process ----------------------------------------------------------------------------


async def exchange(request: Request) -> Response:
    """Store the customer's message; wait for its reply, and return it."""
    state, message = request.app.state, uuid.uuid4()
    chat = uuid.UUID(request.path_params["chat"])
    text = orjson.loads(await request.body())["text"]
    state.waiting[str(message)] = replied = asyncio.get_running_loop().create_future()
    await state.pool.fetchrow(ASK, *credentials(request), chat, message, content_of(text))
    await replied
    row = await state.pool.fetchrow(STORED, message)
    reply = {name: orjson.Fragment(row[name]) for name in ("content", "citations")}
    return Response(
        orjson.dumps({"status": "answered", "reply": reply}), media_type="application/json"
    )


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    app.state.waiting = {}

    def wake(_connection: Any, _pid: int, _channel: str, message: str) -> None:
        if replied := app.state.waiting.pop(message, None):
            replied.set_result(None)

    url = os.environ["DATABASE_URL"]
    listener = await asyncpg.connect(url)
    await listener.add_listener(REPLIED, wake)
    app.state.pool = await asyncpg.create_pool(url, min_size=16, max_size=16)
    yield
    await app.state.pool.close()
    await listener.close()


app = Starlette(
    routes=[
        Route("/exchange/{chat}", exchange, methods=["POST"]),
        Route("/health/live", lambda request: Response("ok")),
    ],
    lifespan=lifespan,
)


# --- the worker ---------------------------------------------------------------------------------


async def work(bot_id: int) -> None:
    """Answer each message that is announced."""
    from asgiref.sync import sync_to_async  # noqa: PLC0415 - after Django's set-up

    from bots.models import Bot  # noqa: PLC0415

    bot = await sync_to_async(Bot.objects.get)(pk=bot_id)
    asked = asyncio.Queue[str]()
    url = os.environ["DATABASE_URL"]
    listener, connection = await asyncpg.connect(url), await asyncpg.connect(url)
    await listener.add_listener(ASKED, lambda *notice: asked.put_nowait(notice[-1]))
    print("listening", flush=True)
    while True:
        message = uuid.UUID(await asked.get())
        text = await connection.fetchval("SELECT text FROM chats_message WHERE id = $1", message)
        quoted, citations = await sync_to_async(answer)(bot, text)
        await connection.fetchrow(
            REPLY, message, uuid.uuid4(), content_of(quoted), orjson.dumps(citations).decode()
        )


def answer(bot: Any, text: str) -> tuple[str, list[dict[str, Any]]]:
    """The quoted answer and its citations."""
    from bots.search.answer_extraction import extract_all  # noqa: PLC0415
    from bots.services import retrieval  # noqa: PLC0415

    found = retrieval.find(bot, text, language="en", topics=(), threshold=THRESHOLD)
    quoted = extract_all(found, language="en", threshold=THRESHOLD)
    assert quoted, f"no answer to {text}"
    return quoted.text, [asdict(citation) for citation in quoted.citations]


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import django  # noqa: PLC0415

    django.setup()
    asyncio.run(work(int(sys.argv[1])))


if __name__ == "__main__":
    main()
