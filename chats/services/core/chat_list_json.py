"""Lists of chats as JSON that PostgreSQL builds, as `message_json` does for messages.

`AS_JSON` has a column for each field of the shape `Conversation`; a test keeps the two in step.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.expressions import RawSQL

from chatplatform.api.pagination import Page, page
from chats.models import Conversation
from chats.services.core import message_json
from chats.shapes import conversation as conversation_shapes
from chats.shapes.people import Location

_MOMENTS = (
    "waiting_since", "snoozed_until", "last_message_at", "first_response_at", "ended_at",
    "reply_window_expires_at", "created_at",
)  # fmt: skip
# The fields that are not plain columns of the chat's own row, each with its expression.
_MADE = {name: f"chats_moment(chats_conversation.{name})" for name in _MOMENTS} | {
    "tags": "to_json(chats_conversation.tags)",
    "assignee": """(SELECT json_build_object('external_id', person.id::text,
            'name', person.full_name)
        FROM identity_user person WHERE person.id = chats_conversation.assignee_id)""",
    "customer": """(SELECT row_to_json(shown) FROM (
            SELECT external_id, nullif(name, '') AS name, nullif(email, '') AS email,
                nullif(phone, '') AS phone, nullif(avatar_url, '') AS avatar_url, attributes
            FROM chats_customer WHERE id = chats_conversation.customer_id
        ) shown)""",
    "last_message": f"""(SELECT row_to_json(shown) FROM (
            SELECT {message_json.COLUMNS} FROM chats_shown_message
            WHERE id = chats_conversation.last_message_id
        ) shown)""",
    "can_reply": """chats_conversation.status <> 'ended' AND chats_conversation.is_reachable
        AND coalesce(chats_conversation.reply_window_expires_at > now(), true)""",
    "location": f"""(SELECT row_to_json(place) FROM (SELECT {
        ", ".join(
            f"chats_conversation.location->'{name}' AS {name}" for name in Location.model_fields
        )
    }) place WHERE chats_conversation.location <> '{{}}' AND
        chats_conversation.location <> 'null')""",
}
_COLUMNS = ", ".join(
    f"{_MADE.get(name, f'chats_conversation.{name}')} AS {name}"
    for name in conversation_shapes.Conversation.model_fields
)
AS_JSON = f"(SELECT row_to_json(shown)::text FROM (SELECT {_COLUMNS}) shown)"


def list_page(
    rows: QuerySet[Conversation], query: Page, *, by: str | Sequence[str]
) -> dict[str, Any]:
    """A list page of chats; `by` is an order as `pagination.page` takes it."""
    order = (by,) if isinstance(by, str) else tuple(by)
    shown = rows.annotate(as_json=RawSQL(AS_JSON, [], TextField()))
    return page(
        shown.values_list(*(name.lstrip("-") for name in order), "as_json", named=True),
        query,
        by=order,
        shape=lambda row: message_json.fragment(row.as_json),
    )
