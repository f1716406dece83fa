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


def found_chat(terms: Sequence[str]) -> str:
    """The SQL of a conversation's JSON with `found_message`, its newest message that has all words
    of a search; `terms` are the words' placeholders."""
    holds = " AND ".join(f"strpos(upper(text), upper({term})) > 0" for term in terms)
    found = _FOUND.format(holds=holds) if terms else "NULL"
    columns = f"{_CHAT_COLUMNS}, {found} AS found_message"
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
