"""The daily credit cap of a public key, applied to paid work that no user requested."""

from collections.abc import Iterator
from contextlib import contextmanager

from chatplatform import jobs
from chats.models import Conversation, Message, SenderType
from chats.services.core import conversations, messages
from identity.services.credits import CapReached, InsufficientCredits

# Replies are not listed: if the cap prevents a reply, the chat is handed over.
NOTE = (
    "This website has used up its daily credits, so translations, the summary, tags or the"
    " sentiment of this conversation may be missing."
)


@contextmanager
def paid_work(chat: Conversation) -> Iterator[int | None]:
    """Wrap the paid work of a job; yields the id of the public key whose cap applies, or None.

    If the cap is reached, a note tells the agents, and the job ends without an error. If the client
    is out of credits, the job is given up.
    """
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
