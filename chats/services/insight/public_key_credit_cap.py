"""The daily cap of a public key on paid work that no person has requested."""

from collections.abc import Iterator
from contextlib import contextmanager

from chatplatform import jobs
from chats.models import Conversation, Message, SenderType
from chats.services.core import conversations, messages
from identity.services.credits import CapReached, InsufficientCredits

# Replies are not in this list: if the cap prevents one, the chat is handed over.
NOTE = (
    "The credits that this website may spend in a day are used up: translations, the summary, tags"
    " or the sentiment of this conversation are missing."
)


@contextmanager
def paid_work(chat: Conversation) -> Iterator[int | None]:
    """Wrap a job's paid work; yields the key whose daily cap applies to it, or None. If the cap is
    reached, a note tells the agents and the job ends without an error; without credits it is given
    up."""
    try:
        yield chat.capped_key_id
    except CapReached:
        with jobs.commit():
            locked = conversations.lock(chat)
            notes = Message.objects.filter(conversation=locked, is_note=True, text=NOTE)
            if not notes.filter(sender_type=SenderType.SYSTEM).exists():
                messages.append_note(locked, NOTE, {"decision": "credits_used_up"})
    except InsufficientCredits as exc:
        raise jobs.GiveUp("You're out of credits.") from exc
