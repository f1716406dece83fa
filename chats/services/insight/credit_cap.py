"""Work on a chat that nobody ordered: what a page's visitors cause counts for its daily cap."""

from collections.abc import Iterator
from contextlib import contextmanager

from chatplatform import jobs
from chats.models import Conversation, Message, SenderType
from chats.services.core import conversations, messages
from identity.services.credits import CapReached, InsufficientCredits

# A reply that is not written is a handover for the same reason.
NOTE = (
    "The credits are used up that this page may spend in a day: translations, summary, tags or"
    " sentiment of this chat are missing."
)


@contextmanager
def paid_work(chat: Conversation) -> Iterator[int | None]:
    """Around a job's paid work; yields the key whose daily cap holds for it, or None.

    If the cap is reached, a note tells the chat's agents, once, and the job ends: that strangers
    are many is no fault of the platform. If the client has no credits, the job is given up.
    """
    try:
        yield conversations.capped_key(chat)
    except CapReached:
        with jobs.commit():
            _tell(chat)
    except InsufficientCredits as exc:
        raise jobs.GiveUp("The credits are used up.") from exc


def _tell(chat: Conversation) -> None:
    locked = conversations.lock(chat)
    notes = Message.objects.filter(conversation=locked, is_note=True, text=NOTE)
    if not notes.filter(sender_type=SenderType.SYSTEM).exists():
        messages.append_note(locked, NOTE, {"decision": "credits_used_up"})
