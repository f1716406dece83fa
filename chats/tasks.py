"""Jobs of the conversations."""

from chatplatform.jobs import Queue, job
from chats.services import replies


@job(
    "chats.generate_reply",
    queue=Queue.REPLY,
    max_attempts=5,
    on_dead=lambda message_id: replies.give_up(message_id),
)
def generate_reply(*, message_id: str) -> None:
    replies.answer(message_id)
