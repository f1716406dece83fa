"""Jobs of the conversations."""

from chatplatform.jobs import Queue, job
from chats.services import approvals, replies


@job(
    "chats.generate_reply",
    queue=Queue.REPLY,
    max_attempts=5,
    on_dead=lambda message_id: replies.give_up(message_id),
)
def generate_reply(*, message_id: str) -> None:
    replies.answer(message_id)


@job(
    "chats.continue_after_approval",
    queue=Queue.REPLY,
    max_attempts=5,
    on_dead=lambda call_id: approvals.give_up(call_id),
)
def continue_after_approval(*, call_id: str) -> None:
    approvals.continue_(call_id)
