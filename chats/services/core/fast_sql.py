"""The most frequent statements in plain SQL, and calls of database functions.

Two database functions store messages: `chats_store_message`, which is defined in
`chats/migrations/0001_store_message.sql`, and `chats_receive_message`, in
`0001_receive_message.sql`. docs/decisions/0038 gives the reasons.
"""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection

from bots.engine.types import Line
from bots.language import detection
from bots.models import Bot
from chatplatform.api.request_context import REQUEST_ID
from chatplatform.ids import uuid7
from chatplatform.jobs import registry
from chatplatform.live import pubsub
from chatplatform.sql import Columns, fetch_row, fetch_rows
from chats.models import (
    Conversation,
    Customer,
    LockedConversation,
    Message,
    ReplyScope,
    SenderType,
    Status,
)
from chats.schemas.message import ConvMessage
from chats.services.core import row_json
from identity.auth import Principal
from identity.models import Client, ClientConfig

_MESSAGE = Columns(Message)
# The tables that are loaded with a chat, by alias; statements select their columns in this order.
_OF_CHAT: dict[str, Columns[Any]] = {
    "chat": Columns(Conversation),
    "customer": Columns(Customer),
    "bot": Columns(Bot, without={"identity_secret"}),
    "client": Columns(Client),
    "config": Columns(ClientConfig),
}
_CHAT_COLUMNS = ", ".join(columns.column_list(alias) for alias, columns in _OF_CHAT.items())
_CHAT_TABLES = """chats_conversation chat
    JOIN chats_customer customer ON customer.id = chat.customer_id
    JOIN bots_bot bot ON bot.id = chat.bot_id
    JOIN identity_client client ON client.id = chat.client_id
    JOIN identity_clientconfig config ON config.client_id = chat.client_id"""
_LOCK = f"SELECT {_CHAT_COLUMNS} FROM {_CHAT_TABLES} WHERE chat.id = %s FOR NO KEY UPDATE OF chat"
_LOCK_FOR_REPLY = f"""
SELECT is_answered, scope, {_OF_CHAT["chat"].column_list("(chat)")}
FROM chats_lock_for_reply(%s)
"""
_LOAD = f"""
SELECT EXISTS (
    SELECT FROM chats_message WHERE in_reply_to_id = message.id AND sender_type IN ('bot', 'system')
), chats_bot_may_reply(chat), EXISTS (
    SELECT FROM bots_functioncall
    WHERE conversation_id = chat.id AND requires_approval = 'customer'
), {_MESSAGE.column_list("message")}, {_CHAT_COLUMNS}
FROM {_CHAT_TABLES} JOIN chats_message message ON message.conversation_id = chat.id
WHERE message.id = %s
"""
# A single statement reads a single snapshot: if the job has ended, the job's reply is visible.
_OUTCOME = f"""
SELECT chat.status, chat.assign_type, chat.handoff_reason, EXISTS (
    SELECT FROM chatplatform_job
    WHERE ordering_key = %(key)s AND name = 'chats.generate_reply'
        AND state IN ('queued', 'running')
        AND (args->>'message_id' = %(text_id)s OR args->'earlier' ? %(text_id)s)
), reply.sender_type, coalesce(reply.receipt->'asked_again' = 'true', false),
    reply.receipt->>'handoff_reason', reply.shown
FROM chats_conversation chat LEFT JOIN LATERAL (
    SELECT sender_type, receipt, (
        SELECT row_to_json(message)::text
        FROM (SELECT {row_json.COLUMNS} FROM chats_api_message WHERE id = found.id) message
    ) AS shown
    FROM chats_message found
    -- A reply to a burst has the last message in `in_reply_to` and all of them in its receipt.
    WHERE conversation_id = chat.id AND seq > %(seq)s AND sender_type IN ('bot', 'system')
        AND (in_reply_to_id = %(message)s OR receipt->'answers' ? %(text_id)s)
    ORDER BY seq LIMIT 1
) reply ON true
WHERE chat.id = %(chat)s
"""
_HISTORY_LINES = 6
_LINES = """
SELECT sender_type, text FROM chats_message
WHERE conversation_id = %s AND NOT is_note AND seq > %s AND seq < %s ORDER BY seq DESC LIMIT %s
"""

_VISIBLE = """chat.id = %(chat)s
    AND chats_may_see(chat, %(client)s, %(bot)s, %(public_key)s, %(visitor)s)"""

# The columns of a conversation that a new message changes; `chats_store_message` returns them.
COUNTERS = (
    "last_seq", "last_event_seq", "message_count", "last_message_id", "last_message_at",
    "first_response_at", "unread_count", "waiting_since", "return_at", "language",
)  # fmt: skip

_STORE = f"""
SELECT (message).seq, (message).recipient, (message).created_at, channels,
    {", ".join(f"(chat).{name}" for name in COUNTERS)}
FROM chats_store_message(
    jsonb_populate_record(NULL::chats_message, %s::jsonb), %s::uuid, %s::jsonb)
"""

_RECEIVE = """
SELECT refusal, shown, seq, owner, handoff_reason, channels, has_job
FROM chats_receive_message(%(chat)s, %(client)s, %(bot)s, %(public_key)s, %(visitor)s,
    %(message)s, %(event)s, %(words)s, %(sent_id)s, %(candidates)s, %(guess)s, %(wants_reply)s,
    %(trace)s, %(credits)s)
"""

_FIND = f"""
SELECT {_MESSAGE.column_list("message")} FROM chats_message message
WHERE message.conversation_id = %s AND message.client_message_id = %s AND message.id >= %s
"""
_LATEST_OF_OURS = f"""
SELECT {_MESSAGE.column_list("message")} FROM chats_message message
WHERE message.conversation_id = %s AND NOT message.is_note AND message.seq < %s
    AND message.sender_type <> 'customer'
ORDER BY message.seq DESC LIMIT 1
"""

# Returns no row if the caller may not see the chat. One message more than the limit is read, to
# know whether there is a next page.
_READ, _READ_BY_VISITOR = (
    f"""
SELECT page.shown, page.last_seq, page.has_next FROM chats_conversation chat
CROSS JOIN LATERAL (
    SELECT string_agg(as_json, ',' ORDER BY seq) FILTER (WHERE number <= %(limit)s) AS shown,
        max(seq) FILTER (WHERE number <= %(limit)s) AS last_seq, count(*) > %(limit)s AS has_next
    FROM (
        SELECT seq, row_to_json(message)::text AS as_json,
            row_number() OVER (ORDER BY seq) AS number
        FROM (
            SELECT {columns} FROM chats_api_message
            WHERE conversation_id = chat.id AND NOT is_note AND seq > %(after)s
            ORDER BY seq LIMIT %(limit)s + 1
        ) message
    ) numbered
) page
WHERE {_VISIBLE}
"""
    for columns in (row_json.COLUMNS, row_json.VISITORS_COLUMNS)
)


class LoadedMessage(NamedTuple):
    """A message with its chat. The chat is not locked; its related rows are loaded as in
    `lock_chat`."""

    message: Message
    # Whether the bot or the platform has replied to it.
    is_answered: bool
    # What the bot may reply; None if nothing.
    reply_scope: ReplyScope | None
    # Whether the chat has a function call that its customer had to confirm.
    has_asked_for_call: bool


class TurnState(NamedTuple):
    """The current state of the reply to a customer's message."""

    # The status and the owner of the chat.
    status: str
    assign_type: str
    handoff_reason: str | None
    is_reply_coming: bool
    # The next four are about the reply by the bot or the system: None or False if there is none.
    replied_by: str | None
    asks_again: bool
    handed_over_for: str | None
    # The reply's JSON, for `row_json.parse`.
    reply: str | None


@dataclass(frozen=True)
class PlainMessage:
    """A customer's message as `receive_message` stored it, with the owner of its chat."""

    pk: uuid.UUID
    client_id: int
    conversation_id: uuid.UUID
    seq: int
    # The message's JSON.
    shown: str
    # The owner of the chat, and the reason if it waits for an agent.
    assign_type: str
    handoff_reason: str | None
    is_reply_coming: bool
    status: str = Status.OPEN


def lock_chat(chat_id: uuid.UUID) -> Conversation | None:
    """Lock a chat and load it with its customer, bot, client and config; None if the chat does not
    exist.

    If the statement waits for the lock, the joined rows may be out of date; they rarely change.
    """
    values = fetch_row(_LOCK, [chat_id])
    return _chat_of(values) if values else None


def load_message(message_id: str) -> LoadedMessage | None:
    """Load a message with the facts that decide whether a reply begins; None if there is no such
    message."""
    values = fetch_row(_LOAD, [message_id])
    if values is None:
        return None
    is_answered, scope, has_asked, *columns = values
    message = _MESSAGE.row(columns[: len(_MESSAGE)])
    message.conversation = _chat_of(columns[len(_MESSAGE) :])
    return LoadedMessage(message, is_answered, ReplyScope(scope) if scope else None, has_asked)


def lock_for_reply(message: Message) -> tuple[Conversation, bool, ReplyScope | None] | None:
    """Lock the chat of a message; return the chat, whether the bot or the platform has replied to
    the message, and what the bot may reply. None if the chat was deleted.

    The customer, bot and client that were loaded with the message are kept, unless the chat now has
    a different one. These rows rarely change.
    """
    is_answered, scope, *values = fetch_row(_LOCK_FOR_REPLY, [message.pk])
    if values[0] is None:
        return None
    chat, loaded = _OF_CHAT["chat"].row(values), message.conversation
    for name in ("customer", "bot", "client"):
        if getattr(chat, f"{name}_id") == getattr(loaded, f"{name}_id"):
            setattr(chat, name, getattr(loaded, name))
    return chat, is_answered, ReplyScope(scope) if scope else None


def turn_state(message: Message | PlainMessage, *, ordering_key: str) -> TurnState:
    """The current state of the reply to a customer's message. `ordering_key` is the key of the
    chat's reply jobs."""
    values: dict[str, Any] = {"message": message.pk, "text_id": str(message.pk)}
    values |= {"seq": message.seq, "key": ordering_key, "chat": message.conversation_id}
    row = fetch_row(_OUTCOME, values)
    if row is None:
        raise Conversation.DoesNotExist
    return TurnState(*row)


def latest_lines(chat: Conversation, *, before: int) -> tuple[Line, ...]:
    """The last `_HISTORY_LINES` messages with a seq below `before`, as a model gets them: oldest
    first, without notes, and none from before the chat was last reopened."""
    rows = fetch_rows(_LINES, [chat.pk, chat.read_from_seq, before, _HISTORY_LINES])
    return tuple(
        Line("customer" if sender == SenderType.CUSTOMER else "assistant", text)
        for sender, text in reversed(rows)
    )


def _chat_of(values: Sequence[Any]) -> Conversation:
    """The chat, with its related rows, from the values of `_CHAT_COLUMNS`."""
    rows, first = {}, 0
    for alias, columns in _OF_CHAT.items():
        rows[alias] = columns.row(values[first : first + len(columns)])
        first += len(columns)
    chat: Conversation = rows["chat"]
    chat.customer, chat.bot, chat.client = rows["customer"], rows["bot"], rows["client"]
    chat.client.config = rows["config"]
    return chat


def find_message(chat: Conversation, client_message_id: str) -> Message | None:
    """The chat's message with this `client_message_id`; None if there is none."""
    return _message(_FIND, [chat.pk, client_message_id, chat.pk])


def latest_outgoing(chat: Conversation, *, before_seq: int) -> Message | None:
    """The chat's latest message before `before_seq` that is neither the customer's nor a note; None
    if there is none."""
    return _message(_LATEST_OF_OURS, [chat.pk, before_seq])


def _message(statement: str, values: Sequence[Any]) -> Message | None:
    row = fetch_row(statement, values)
    return _MESSAGE.row(row) if row else None


def store_message(
    chat: LockedConversation, message: Message, *, is_announced: bool, links: Mapping[str, str]
) -> None:
    """Append a message to its conversation, update the conversation's counters, and announce the
    message if `is_announced`.

    `links` are the signed links to the message's stored files, by attachment id. The `seq`, time
    and recipient of `message` are set from the stored row.
    """
    event = uuid7() if is_announced else None
    message.seq, recipient, message.created_at, channels, *counters = fetch_row(
        _STORE, [_MESSAGE.to_json(message), event, json.dumps(links)]
    )
    message.recipient = recipient and json.loads(recipient)
    message._state.adding = False
    for name, value in zip(COUNTERS, counters, strict=True):
        setattr(chat, name, value)
    if chat.last_message_id == message.pk:
        chat.last_message = message
    if channels:
        pubsub.signal_on_commit(*channels)


def receive_message(
    caller: Principal,
    chat_id: uuid.UUID,
    body: ConvMessage,
    language: detection.Guess,
    *,
    lacks_credits: Callable[[], bool],
) -> PlainMessage | None:
    """Store a customer's message in a chat that the caller may see, and enqueue its reply.

    Returns None and changes nothing if the message needs more than the database function can do.
    `lacks_credits` is called only if the chat waits for an agent because credits were lacking, to
    see whether they still are.
    """
    values = _parameters(caller, chat_id) | {
        "message": uuid7(),
        "event": uuid7(),
        "words": body.text,
        "sent_id": body.client_message_id,
        "candidates": list(language.candidates),
        "guess": language.otherwise,
        "wants_reply": body.reply != "none",
        "trace": REQUEST_ID.get(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_RECEIVE, values | {"credits": "unknown"})
        row = cursor.fetchone()
        if row[0] == "credits":
            cursor.execute(_RECEIVE, values | {"credits": "short" if lacks_credits() else "enough"})
            row = cursor.fetchone()
    refusal, shown, seq, owner, reason, channels, has_job = row
    if refusal:
        return None
    pubsub.signal_on_commit(*channels, *([registry.CHANNEL] if has_job else []))
    client_id = caller.client_id
    return PlainMessage(values["message"], client_id, chat_id, seq, shown, owner, reason, has_job)


def read_messages(
    caller: Principal, chat_id: uuid.UUID, *, after: int, limit: int
) -> tuple[str, int | None] | None:
    """Return up to `limit` messages after a seq, and the seq of the last of them if more follow,
    else None. Return only None if the caller may not see the chat.

    The messages are comma-separated JSON objects, oldest first and without notes, of the schema
    `VisitorMessage` for a public key, else `Message`.
    """
    statement = _READ_BY_VISITOR if caller.is_public_key else _READ
    row = fetch_row(statement, _parameters(caller, chat_id) | {"after": after, "limit": limit})
    if row is None:
        return None
    shown, last_seq, has_next = row
    return shown or "", last_seq if has_next else None


def _parameters(caller: Principal, chat_id: uuid.UUID) -> dict[str, Any]:
    assert caller.key
    return {
        "chat": chat_id,
        "client": caller.client_id,
        "bot": caller.key.bot_id,
        "public_key": caller.key.pk if caller.is_public_key else None,
        "visitor": caller.visitor_id,
    }
