"""PostgreSQL's JSON of a message is the schema's, to the letter."""

import uuid
from datetime import UTC, datetime
from typing import get_args

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chats.models import Attachment, Message
from chats.schemas import message as message_schemas
from chats.schemas.content_kinds import ContentType
from chats.schemas.visitor import VisitorMessage
from chats.services.core import fast_sql, row_json
from chats.testing import visit
from identity.auth import Principal

WORDS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=30)
QUOTED = WORDS | st.sampled_from(['"url":"attachment:', '\\"\n\x7f\x1f\u2028👋', "null", ""])
MOMENTS = st.datetimes(
    datetime(1, 1, 2),  # noqa: DTZ001 - the strategy adds it
    datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.just(UTC),
)
NUMBERS = st.integers(0, 2**53 - 1)
CITATIONS = st.lists(
    st.fixed_dictionaries(
        {"document_id": NUMBERS, "title": QUOTED, "quote": QUOTED},
        optional={"url": st.none() | QUOTED, "page": st.none() | NUMBERS},
    ),
    max_size=2,
)
PLACES = st.fixed_dictionaries({"latitude": st.floats(-90, 90), "longitude": st.just(1e-7)})
OBJECTS = st.fixed_dictionaries({"name": QUOTED})
PARTS = st.fixed_dictionaries(
    {"type": st.sampled_from(get_args(ContentType))},
    # Without a strategy of its own, a new key is an object.
    optional=dict.fromkeys(
        message_schemas.MessageContent.model_fields.keys() - {"type"}, st.none() | OBJECTS
    )
    | {
        "text": st.none() | QUOTED,
        "url": st.just("https://shop.example/a b"),
        "attachment_id": st.uuids().map(str),
        "file_name": QUOTED,
        "mime_type": QUOTED,
        "size_bytes": NUMBERS,
        "error": QUOTED,
        "location": st.none() | PLACES,
        "options": st.lists(st.fixed_dictionaries({"label": QUOTED, "value": QUOTED}), max_size=2),
        "citations": CITATIONS,
        "template": st.fixed_dictionaries({"name": QUOTED, "values": st.lists(QUOTED)}),
        "transcript": QUOTED,
        "of_an_older_version": QUOTED,
    },
)
ROWS = st.fixed_dictionaries(
    {
        "sender_type": st.sampled_from(["customer", "bot", "agent", "system"]),
        "sender_id": st.none() | QUOTED,
        "sender_name": QUOTED,
        "recipient": st.none() | st.fixed_dictionaries({"type": st.just("bot"), "id": QUOTED}),
        "content": st.lists(PARTS, max_size=3),
        "citations": CITATIONS,
        "status": st.sampled_from(["pending", "sent", "failed"]),
        "error": st.none() | QUOTED,
        "is_welcome": st.booleans(),
        "client_message_id": st.none() | QUOTED,
        "provider_message_id": st.none() | QUOTED,
        "language": st.sampled_from(["", "vi", "zh-Hant-TW"]),
        "translations": st.dictionaries(st.sampled_from(["en", "url"]), QUOTED),
        "sentiment": st.sampled_from([None, "neutral"]),
        "created_at": MOMENTS,
        "customer_reaction": st.sampled_from(["", "👍"]),
        **dict.fromkeys(
            ["delivered_at", "read_at", "edited_at", "deleted_at"], st.none() | MOMENTS
        ),
    }
)


@pytest.fixture
def asked(page, add_message):
    """A visitor's chat, and the message in it that others may answer."""
    chat = visit(page)[1]
    return chat, add_message(chat, "customer", "Hello")


@pytest.mark.full
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(values=ROWS)
def test_a_message_as_json_is_the_schema(server, page, asked, values):
    chat, answered = asked
    Message.objects.filter(conversation=chat, seq__gt=1).delete()
    row = Message.objects.create(
        client=chat.client, conversation=chat, seq=2, in_reply_to=answered, **values
    )
    row.refresh_from_db()
    shown = message_schemas.Message.from_row(row)
    visitor = Principal(page.client, key=page.key, visitor_id=chat.visitor_id)
    for caller, expected in (
        (Principal(server.client, key=server.key), shown),
        (visitor, VisitorMessage.from_message(shown)),
    ):
        text, _ = fast_sql.read_messages(caller, chat.pk, after=1, limit=5) or ("", None)
        made = row_json.fragment(text)
        assert same_links(orjson.loads(orjson.dumps(made))) == same_links(expected)
        assert list(orjson.loads(text)) == list(expected)


def same_links(shown):
    """Without the time at which its links were signed."""
    for part in shown["content"]:
        url = part["url"] or ""
        if url.startswith(Attachment.url_prefix()):
            part["url"] = url.partition("?signature=")[0]
            assert uuid.UUID(part["url"].removeprefix(Attachment.url_prefix()))
    return shown
