"""Jobs of the conversations, and what time does to them."""

from collections.abc import Sequence

from celery import shared_task

from chatplatform.jobs import Queue, job
from chats.services import assignment, replies, schedule


@job(
    "chats.generate_reply",
    queue=Queue.REPLY,
    max_attempts=5,
    on_dead=lambda message_id, earlier=(): replies.give_up(message_id, earlier=earlier),
)
def generate_reply(*, message_id: str, earlier: Sequence[str] = ()) -> None:
    replies.answer(message_id, earlier=earlier)


@job("chats.assign_waiting", queue=Queue.REPLY)
def assign_waiting(*, client: int) -> None:
    """Hand a client's waiting chats to its agents, by its strategy."""
    assignment.assign_waiting(client)


@shared_task(name="chats.keep_time")
def keep_time(**_: object) -> None:
    """Wake, give back, warn about and end what its time has come for; hand out what waits."""
    schedule.wake_snoozed()
    schedule.return_late()
    schedule.warn_unanswered()
    schedule.end_inactive()
    schedule.assign_waiting()
