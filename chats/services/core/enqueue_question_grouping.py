"""Enqueues the job that groups unanswered questions (`insight.question_groups`)."""

from datetime import timedelta

from bots.models import Bot
from chatplatform import jobs


def enqueue_grouping(bot: Bot, *, wait: timedelta = timedelta(seconds=5)) -> None:
    """Enqueue a job that groups a bot's new unanswered questions, unless such a job is already
    waiting. Two jobs for a bot never run at once, because both could create the same group."""
    key = f"group-questions:{bot.pk}"
    jobs.enqueue(
        "chats.group_questions",
        client_id=bot.client_id,
        dedupe_key=key,
        ordering_key=key,
        wait=wait,
        bot_id=bot.pk,
    )
