"""A list refuses the cursors of other lists: with them it would return an empty last page."""

from datetime import timedelta

import pytest
from django.utils import timezone

from bots.testing import make_bot
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
# Lists of the same rows in the same order accept each other's cursors.
SHARED_CURSORS = [
    {"/ai/chat/{chat}/history", "/ai/client/chat/history/{chat}"},
    {"/mesaging/conversations", "/ai/{bot}/chat-history"},
]


@pytest.fixture
def cursors(ann, server, client_a, bot):
    """The next page of every list: (caller, path as above, path, cursor)."""
    make_bot(client_a)
    chats = [make_chat(bot) for _ in range(2)]
    for seq in (1, 2):
        Message.objects.create(
            client=client_a, conversation=chats[0], seq=seq, sender_type="customer",
            content=text_content("Hello"), text="Hello",
        )  # fmt: skip
        Notification.objects.create(
            client=client_a, user=ann.user, conversation=chats[0], kind="assigned"
        )
        announce(client_a.pk, "t.t", {})
    # An export leaves out rows of the last seconds.
    for model in (Conversation, Message):
        model.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    callers = {"ann": ann, "server": server}
    pages = []
    for caller, path in LISTS:
        filled = path.format(bot=bot.pk, chat=chats[0].pk)
        reply = callers[caller].get(filled + ("&" if "?" in filled else "?") + "limit=1")
        pages.append((callers[caller], path, filled, reply.json()["next_cursor"]))
    return pages


def test_another_lists_cursor_is_refused(cursors):
    for _, origin, _, cursor in cursors:
        assert cursor, origin
        for caller, path, filled, _ in cursors:
            reply = caller.get(filled + ("&" if "?" in filled else "?") + f"cursor={cursor}")
            if origin == path or {origin, path} in SHARED_CURSORS:
                assert reply.status_code == 200, (origin, path)
                assert reply.json()["items"], (origin, path)
            else:
                assert reply.status_code == 422, (origin, path)
                assert reply.json()["detail"][0]["loc"] == ["query", "cursor"]
