"""Questions without an answer are put into groups by a job (`insight.question_groups`)."""

from datetime import timedelta

from bots.models import Bot
from chatplatform import jobs


def enqueue_grouping(bot: Bot, *, wait: timedelta = timedelta(seconds=5)) -> None:
    """Have a bot's new questions grouped; requests meanwhile share the job, and two jobs of a bot
    never run at once: they would make a group twice.
    """
    key = f"group-questions:{bot.pk}"
    jobs.enqueue(
        "chats.group_questions",
        client_id=bot.client_id,
        dedupe_key=key,
        ordering_key=key,
        wait=wait,
        bot_id=bot.pk,
    )
