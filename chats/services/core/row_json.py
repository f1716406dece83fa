"""Messages and chats as JSON that PostgreSQL builds, so that lists create no Python objects.

The view `chats_api_message` has a column for each field of the schema `Message`, and
`_CHAT_COLUMNS` has one for each field of `Conversation`; tests check that they match.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import orjson
from django.db.models import Model, QuerySet, TextField
from django.db.models.expressions import RawSQL
from pydantic import BaseModel

from chatplatform.api.pagination import Page, page
from chats import models
from chats.schemas.conversation import Conversation
from chats.schemas.message import Message
from chats.schemas.people import Location
from chats.schemas.visitor import VisitorMessage

# The link to a stored file in a message's JSON. A message's text cannot match, because the
# quotation marks in it are escaped.
_STORED_FILE = re.compile(r'"url":"attachment:([0-9a-f-]{36})"')


def _columns(schema: type[BaseModel], table: str = "", **expressions: str) -> str:
    """The fields of a schema as a SELECT list: the table's columns, or the given expressions."""
    return ", ".join(
        f"{expressions.get(name, table + name)} AS {name}" for name in schema.model_fields
    )


COLUMNS = _columns(Message)
VISITORS_COLUMNS = _columns(
    VisitorMessage,
    sender="json_build_object('type', sender->'type', 'name', sender->'name')",
    is_seen="read_at IS NOT NULL",
)
_CHAT = "chats_conversation."
_MOMENTS = (
    "waiting_since", "snoozed_until", "last_message_at", "first_response_at", "ended_at",
    "reply_window_expires_at", "created_at",
)  # fmt: skip
# The newest message of a conversation that meets the condition `{holds}`: it has all words of a
# search.
_FOUND = f"""(SELECT row_to_json(shown) FROM (
        SELECT {COLUMNS} FROM chats_api_message WHERE id = (
            SELECT id FROM chats_message WHERE conversation_id = {_CHAT}id AND NOT is_welcome
                AND {{holds}} ORDER BY seq DESC LIMIT 1
        )
    ) shown)"""
# `QueueDetails` of a conversation in the queue, from its newest 40 messages. The latest of these
# events says whether it came from an agent; it can have only if an agent once had it.
_QUEUE_DETAILS = f"""CASE WHEN {_CHAT}assign_type = 'queue' AND {_CHAT}status <> 'ended'
    THEN (SELECT row_to_json(details) FROM (
        WITH recent AS (
            SELECT id, seq, sender_type, sender_name, is_note, text, content, translations,
                in_reply_to_id, receipt->>'handoff_reason' AS reason,
                jsonb_path_query_first(metadata, '$.lines[*] ? (@.kind == "sticker"
                    || @.kind == "live_photo" || @.kind == "video_message")') AS line
            FROM chats_message WHERE conversation_id = {_CHAT}id
                AND seq > greatest({_CHAT}last_seq - 40, {_CHAT}read_from_seq)
                AND NOT is_welcome AND deleted_at IS NULL
        ), handover AS (
            SELECT seq, in_reply_to_id, reason FROM recent
            WHERE reason IS NOT NULL ORDER BY seq DESC LIMIT 1
        ), written AS (
            SELECT *, seq < coalesce(
                    (SELECT seq FROM recent WHERE id = (SELECT in_reply_to_id FROM handover)),
                    (SELECT seq FROM handover), 0
                ) AS is_earlier,
                coalesce(id = (
                    SELECT in_reply_to_id FROM handover WHERE reason = 'customer_asked'
                ), false) AS is_request
            FROM recent WHERE sender_type = 'customer' AND text <> ALL({{buttons}})
        ), numbered AS (
            SELECT *, row_number() OVER (PARTITION BY is_earlier ORDER BY seq) AS place,
                row_number() OVER (PARTITION BY is_earlier ORDER BY seq DESC) AS place_from_end
            FROM written
        )
        SELECT (
            SELECT coalesce(json_agg(shown ORDER BY seq), '[]') FROM (
                SELECT seq, left(text, 300) AS text, (
                    SELECT coalesce(json_agg(json_build_object(
                        'type', part->'type', 'file_name', part->'file_name',
                        'line', line)), '[]')
                    FROM jsonb_array_elements(content) part
                    WHERE part->>'type' IN ('image', 'file', 'audio', 'video')
                ) AS files, (
                    SELECT coalesce(json_object_agg(key, left(value, 300)), '{{{{}}}}')
                    FROM jsonb_each_text(translations)
                ) AS translations, is_earlier, is_request
                FROM numbered
                WHERE CASE WHEN is_earlier THEN place_from_end <= 3
                    ELSE place <= 4 OR place_from_end = 1 END
            ) shown
        ) AS messages, (
            SELECT json_build_object('name', sender_name, 'text', left(text, 300))
            FROM recent WHERE is_note AND sender_type = 'agent' ORDER BY seq DESC LIMIT 1
        ) AS note, CASE WHEN {_CHAT}assigned_at IS NOT NULL THEN (
            SELECT json_build_object('name', data->'by'->>'name', 'reason', data->>'reason') FROM (
                SELECT type, data FROM webhooks_event WHERE conversation_id = {_CHAT}id
                    AND type IN (
                        'conversation.unassigned', 'conversation.handed_off',
                        'conversation.assigned', 'conversation.reopened'
                    )
                ORDER BY sequence DESC LIMIT 1
            ) latest WHERE type = 'conversation.unassigned' AND data->>'reason' IS NOT NULL
        ) END AS returned, (
            SELECT rating FROM chats_feedback WHERE message_id IS NULL AND conversation_id = (
                SELECT id FROM chats_conversation earlier
                WHERE earlier.customer_id = {_CHAT}customer_id AND earlier.id < {_CHAT}id
                ORDER BY earlier.id DESC LIMIT 1
            )
        ) AS previous_rating
    ) details) END"""
_CHAT_COLUMNS = _columns(
    Conversation,
    _CHAT,
    **{name: f"chats_timestamp({_CHAT}{name})" for name in _MOMENTS},
    tags=f"to_json({_CHAT}tags)",
    assignee=f"""(SELECT json_build_object('external_id', person.id::text,
            'name', person.full_name)
        FROM identity_user person WHERE person.id = {_CHAT}assignee_id)""",
    customer=f"""(SELECT row_to_json(shown) FROM (
            SELECT external_id, nullif(name, '') AS name, nullif(email, '') AS email,
                nullif(phone, '') AS phone, nullif(avatar_url, '') AS avatar_url, attributes,
                nullif({_CHAT}provider_user_id, '') AS provider_user_id
            FROM chats_customer WHERE id = {_CHAT}customer_id
        ) shown)""",
    last_message=f"""(SELECT row_to_json(shown) FROM (
            SELECT {COLUMNS} FROM chats_api_message WHERE id = {_CHAT}last_message_id
        ) shown)""",
    can_reply=f"""{_CHAT}status <> 'ended' AND {_CHAT}is_reachable
        AND coalesce({_CHAT}reply_window_expires_at > now(), true)""",
    location=f"""(SELECT row_to_json(place) FROM (SELECT {
        ", ".join(f"{_CHAT}location->'{name}' AS {name}" for name in Location.model_fields)
    }) place WHERE {_CHAT}location <> '{{}}' AND {_CHAT}location <> 'null')""",
)
CHAT = f"(SELECT row_to_json(shown)::text FROM (SELECT {_CHAT_COLUMNS}) shown)"
_AS_JSON: dict[type[Model], str] = {
    models.Message: f"""(SELECT row_to_json(shown)::text FROM (
        SELECT {COLUMNS} FROM chats_api_message WHERE id = chats_message.id
    ) shown)""",
    models.Conversation: CHAT,
}


def fragment(text: str) -> orjson.Fragment:
    """JSON of messages or conversations for a response, with new signed links to stored files."""
    return orjson.Fragment(_with_links(text))


def parse(text: str) -> dict[str, Any]:
    """A message from its JSON, equal to what `Message.from_row` returns for its row."""
    # orjson would turn an integer beyond 64 bits into a float.
    message: dict[str, Any] = json.loads(_with_links(text))
    return message


def _with_links(text: str) -> str:
    if '"url":"attachment:' not in text:
        return text
    return _STORED_FILE.sub(lambda file: f'"url":"{models.Attachment.signed_url(file[1])}"', text)


def listed_chat(terms: Sequence[str], *, buttons: str) -> str:
    """The SQL of a conversation's JSON with `queue_details`, and with `found_message`, its newest
    message that has all words of a search. `terms` are the words' placeholders, `buttons` the one
    of the labels of the widget's button for a person."""
    holds = " AND ".join(f"strpos(upper(text), upper({term})) > 0" for term in terms)
    found = _FOUND.format(holds=holds) if terms else "NULL"
    details = _QUEUE_DETAILS.format(buttons=buttons)
    columns = f"{_CHAT_COLUMNS}, {details} AS queue_details, {found} AS found_message"
    return f"(SELECT row_to_json(shown)::text FROM (SELECT {columns}) shown)"


def list_page(rows: QuerySet[Any], query: Page, *, by: str) -> dict[str, Any]:
    """A list page of messages or conversations, ordered by the unique column `by`."""
    shown = rows.annotate(as_json=RawSQL(_AS_JSON[rows.model], [], TextField()))
    return page(
        shown.values_list(by.lstrip("-"), "as_json", named=True),
        query,
        by=by,
        schema=lambda row: fragment(row.as_json),
    )
