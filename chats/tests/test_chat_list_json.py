"""PostgreSQL's JSON of a chat is the schema's: a list shows what the chat itself shows."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils.timezone import now
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chats.models import Attachment, Conversation, Customer
from chats.testing import make_chat, put_message

WORDS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
QUOTED = WORDS | st.sampled_from(['{"url":"attachment:', '\\"\n\x7f\x1f\u2028👋', "null"])
MOMENTS = st.datetimes(
    datetime(1970, 1, 2),  # noqa: DTZ001 - the strategy adds it
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
FREE = st.dictionaries(
    QUOTED, QUOTED | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.none(), max_size=2
)
CHATS = st.fixed_dictionaries(
    {
        "channel": st.sampled_from(["api", "web", "chatapp"]),
        "status": st.sampled_from(["open", "snoozed", "ended"]),
        "version": st.integers(1, 9),
        "handoff_reason": st.sampled_from([None, "no_answer"]),
        "language": st.sampled_from(["en", "zh-Hant-TW"]),
        "tags": st.lists(QUOTED, max_size=3),
        "sentiment": st.sampled_from([None, "neutral"]),
        "summary": st.none() | QUOTED,
        "unread_count": st.integers(0, 9),
        "message_count": st.integers(0, 9),
        "ended_by": st.sampled_from([None, "agent"]),
        "is_reachable": st.booleans(),
        "location": st.none()
        | st.fixed_dictionaries(
            {}, optional={"city": QUOTED, "latitude": st.floats(-90, 90), "region": st.none()}
        ),
        "metadata": FREE,
        "created_at": MOMENTS,
        **dict.fromkeys(
            [
                "waiting_since", "snoozed_until", "last_message_at", "first_response_at",
                "ended_at", "reply_window_expires_at",
            ],
            st.none() | MOMENTS,
        ),
    }
)  # fmt: skip
CUSTOMERS = st.fixed_dictionaries(
    {
        "external_id": st.none() | st.uuids().map(str),
        "attributes": FREE,
        **dict.fromkeys(["name", "email", "phone", "avatar_url"], QUOTED),
    }
)


@pytest.mark.full
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(made=st.tuples(CHATS, CUSTOMERS, st.booleans(), st.none() | QUOTED))
def test_a_chat_as_json_is_the_schema(ann, bot, made):
    chat, customer, has_agent, words = made
    row = make_chat(bot)
    before = make_chat(bot)
    owner = {"assign_type": "agent", "assignee_id": ann.user.pk} if has_agent else {}
    last = put_message(row, "customer", text=words, content=[{"type": "text", "text": words}]) \
        if words else None  # fmt: skip
    Customer.objects.filter(pk=row.customer_id).update(**customer)
    Conversation.objects.filter(pk=row.pk).update(
        **chat, **owner, previous_chat=before, last_message=last
    )
    of_customer = f"/ai/chat/history/customer/{row.customer_id}"
    one = ann.get(f"/ai/chat/{row.pk}").json()
    [shown] = ann.get(of_customer).json()["items"]
    assert shown == one
    assert list(shown) == list(one)
    assert list(shown["customer"]) == list(one["customer"])
    assert {name: one[name] for name in chat if name in {"tags", "summary", "metadata"}} == {
        name: chat[name] for name in ("tags", "summary", "metadata")
    }
    # The next example's customer may have the same external id.
    Customer.objects.filter(pk=row.customer_id).update(external_id=None)


@pytest.mark.parametrize(
    ("change", "can_reply"),
    [
        ({}, True),
        ({"status": "ended"}, False),
        ({"is_reachable": False}, False),
        ({"reply_window_expires_at": now() + timedelta(hours=1)}, True),
        ({"reply_window_expires_at": now() - timedelta(hours=1)}, False),
    ],
)
def test_a_list_says_whether_a_chat_can_be_replied_to(server, bot, change, can_reply):
    row = make_chat(bot)
    Conversation.objects.filter(pk=row.pk).update(**change)
    [shown] = server.get("/ai/client/chats").json()["items"]
    assert shown["can_reply"] is can_reply


def test_a_file_in_the_last_message_has_a_signed_link(server, bot):
    row = make_chat(bot)
    stored = Attachment.objects.create(
        client=row.client, conversation=row, file_name="a.png", size_bytes=1
    )
    part = {"type": "image", "attachment_id": str(stored.pk)}
    Conversation.objects.filter(pk=row.pk).update(
        last_message=put_message(row, "customer", content=[part])
    )
    [shown] = server.get("/ai/client/chats").json()["items"]
    url = shown["last_message"]["content"][0]["url"]
    assert url.startswith(f"{Attachment.url_prefix()}{stored.pk}?signature=")
