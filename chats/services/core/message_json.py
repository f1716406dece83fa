"""Messages as JSON that PostgreSQL builds, so that lists create no Python objects.

The view `chats_shown_message` has a column for each field of the shape `Message`; tests keep the
two in step.
"""

import re
from typing import Any

import orjson
from django.db.models import QuerySet, TextField
from django.db.models.expressions import RawSQL
from pydantic import BaseModel

from chatplatform.api.pagination import Page, page
from chats.models import Attachment, Message
from chats.shapes import message as message_shapes
from chats.shapes.visitor import VisitorMessage

# Text in a message cannot look like this: its quotation marks are escaped.
_STORED_FILE = re.compile(r'"url":"attachment:([0-9a-f-]{36})"')


def _columns(shape: type[BaseModel], **made: str) -> str:
    """The fields of a shape as a SELECT list: columns of the view, or the expressions in `made`."""
    return ", ".join(f"{made.get(name, name)} AS {name}" for name in shape.model_fields)


COLUMNS = _columns(message_shapes.Message)
VISITORS_COLUMNS = _columns(
    VisitorMessage, sender="json_build_object('type', sender->'type', 'name', sender->'name')"
)
_AS_JSON = f"""(SELECT row_to_json(shown)::text FROM (
    SELECT {COLUMNS} FROM chats_shown_message WHERE id = chats_message.id
) shown)"""


def fragment(text: str) -> orjson.Fragment:
    """JSON of messages for a response, with a new signed link to each stored file."""
    if '"url":"attachment:' in text:
        text = _STORED_FILE.sub(lambda file: f'"url":"{Attachment.link_to(file[1])}"', text)
    return orjson.Fragment(text)


def list_page(rows: QuerySet[Message], query: Page, *, by: str) -> dict[str, Any]:
    """A list page of messages, ordered by a unique column."""
    shown = rows.annotate(as_json=RawSQL(_AS_JSON, [], TextField()))
    return page(
        shown.values_list(by.lstrip("-"), "as_json", named=True),
        query,
        by=by,
        shape=lambda row: fragment(row.as_json),
    )
