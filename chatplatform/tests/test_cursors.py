"""A list refuses the cursors of other lists: with them it would return an empty last page."""

import itertools
from datetime import timedelta

import pytest
from django.utils import timezone

from bots.testing import make_bot
from chatplatform.api import pagination
from chats.models import Conversation, Message, Notification, text_content
from chats.testing import make_chat
from webhooks.services import announce

# The feed shows what is committed.
pytestmark = pytest.mark.django_db(transaction=True)
LISTS = [
    ("ann", "/ai/bot"), ("ann", "/ai/chats"), ("ann", "/ai/{bot}/chat-history"),
    ("ann", "/ai/chat/notifications"), ("ann", "/webhook/events"),
    ("ann", "/webhook/events?order=asc"), ("server", "/mesaging/conversations"),
    ("server", "/ai/client/migrate/messages"), ("ann", "/ai/chat/{chat}/history"),
    ("server", "/ai/client/migrate/conversations"), ("server", "/ai/client/chat/history/{chat}"),
]  # fmt: skip
# What may be asked of a list that gave a cursor, and what makes it another list.
SAME = [
    ("ann", "/ai/chats?q=Hello", "/ai/chats?limit=2&sort=newest&q=Hello"),
    ("server", "/mesaging/conversations?tags=a", "/mesaging/conversations/?tags=a&limit=100"),
    # These go on later, with whatever filters.
    ("ann", "/webhook/events?order=asc", "/webhook/events?order=asc&type=tags.updated"),
    ("server", "/ai/client/migrate/messages", "/ai/client/migrate/messages?limit=500"),
]  # fmt: skip
OTHERS = [
    ("ann", "/ai/chats", "/ai/chats?status=open"), ("ann", "/ai/chats", "/ai/chats?tag=a"),
    ("ann", "/ai/chats?q=Hello", "/ai/chats?q=Hi"), ("ann", "/ai/chats", "/ai/chats?bot_id={bot}"),
    ("ann", "/ai/chat/{chat}/history", "/ai/chat/{other}/history"),
    ("server", "/ai/client/chat/history/{chat}", "/ai/client/chat/history/{other}"),
    ("ann", "/ai/{bot}/train/text", "/ai/{bot}/train/document"),
    ("ann", "/webhook/events", "/webhook/events?type=tags.updated"),
]  # fmt: skip


@pytest.fixture
def cursors(ann, server, at):
    """The next page of every list: (caller, path as above, path, cursor)."""
    callers = {"ann": ann, "server": server}
    return [
        (callers[caller], path, at(path), cursor_of(callers[caller], at(path)))
        for caller, path in LISTS
    ]


def cursor_of(caller, path):
    cursor = caller.get(path + ("&" if "?" in path else "?") + "limit=1").json()["next_cursor"]
    assert cursor, path
    return cursor


@pytest.fixture
def at(ann, client_a, bot):
    """`at(path)`: the path, with the ids of a bot and two chats; each list has several pages."""
    make_bot(client_a)
    chats = [make_chat(bot, tags=["a"]) for _ in range(2)]
    for seq, chat in itertools.product((1, 2), chats):
        words = {"title": f"{seq} of {chat.pk}", "text": f"Words {seq} of {chat.pk}"}
        ann.post(f"/ai/{bot.pk}/train/text", words)
        Message.objects.create(
            client=client_a, conversation=chat, seq=seq, sender_type="customer",
            content=text_content("Hello"), text="Hello",
        )  # fmt: skip
        Notification.objects.create(
            client=client_a, user=ann.user, conversation=chat, kind="assigned"
        )
        announce(client_a.pk, "tags.updated", {})
    # An export leaves out rows of the last seconds.
    for model in (Conversation, Message):
        model.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    return lambda path: path.format(bot=bot.pk, chat=chats[0].pk, other=chats[1].pk)


@pytest.mark.full
def test_another_lists_cursor_is_refused(cursors):
    for _, origin, _, cursor in cursors:
        for caller, path, filled, _ in cursors:
            reply = caller.get(filled + ("&" if "?" in filled else "?") + f"cursor={cursor}")
            if origin == path:
                assert reply.status_code == 200, (origin, path)
                assert reply.json()["items"], (origin, path)
            else:
                assert reply.status_code == 422, (origin, path)
                assert reply.json()["detail"][0]["loc"] == ["query", "cursor"]


def test_a_cursor_is_good_for_the_same_filters_alone(ann, server, at):
    callers = {"ann": ann, "server": server}
    for pairs, status in ((SAME, 200), (OTHERS, 422)):
        for name, origin, path in pairs:
            cursor = cursor_of(callers[name], at(origin))
            reply = callers[name].get(at(path) + ("&" if "?" in path else "?") + f"cursor={cursor}")
            assert reply.status_code == status, (origin, path)
            assert status == 422 or reply.json()["items"], (origin, path)


def test_a_cursor_from_before_an_update_is_good(ann, at):
    """It names no list."""
    last = ann.get(at("/ai/chat/{chat}/history?limit=1")).json()["items"][0]
    old = pagination.encode_cursor(Message, ["seq"], [last["seq"]])
    (item,) = ann.get(at("/ai/chat/{chat}/history"), {"cursor": old}).json()["items"]
    assert item["seq"] == last["seq"] + 1
