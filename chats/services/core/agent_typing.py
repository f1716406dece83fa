"""Which agent is typing in a chat: kept in Valkey for a few seconds, and polled by the widget.

The desk learns it from the live feed, which visitors do not have.
"""

from chatplatform.live import valkey
from chats.models import Conversation
from identity.models import User

SECONDS = 10
_best_effort = valkey.BestEffort("nobody is shown to write")


def note(chat: Conversation, *, by: User, is_typing: bool) -> None:
    """Record that the agent is typing, for the next ten seconds, or has stopped. Never raises."""
    if is_typing:
        _best_effort(lambda client: client.set(_key(chat), by.pk, ex=SECONDS), default=None)
    else:
        _best_effort(lambda client: client.delete(_key(chat)), default=None)


def is_agent_typing(chat: Conversation) -> bool:
    """Whether the agent who has the chat is typing in it."""
    if chat.assignee_id is None:
        return False
    typist = _best_effort(lambda client: client.get(_key(chat)), default=None)
    return typist == str(chat.assignee_id).encode()


def _key(chat: Conversation) -> str:
    return f"typing:{chat.pk}"
