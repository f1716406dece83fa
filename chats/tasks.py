"""The jobs and periodic tasks of conversations."""

from collections.abc import Sequence

from chatplatform.jobs import Queue, job, periodic
from chats.services.core import answer_mails, handoffs, push, tags, team_notifications
from chats.services.data_exchange import customer_transcripts, erasing, retention
from chats.services.desk import agent_actions, feed, routing, timers
from chats.services.insight import (
    agent_assist,
    chat_analysis,
    question_groups,
    summary_runs,
    taught_answers,
)
from chats.services.reply import after_approval, customer_media, pipeline, replays


@job("chats.generate_reply", queue=Queue.REPLY, max_attempts=5, on_dead=pipeline.give_up)
def generate_reply(*, message_id: str, earlier: Sequence[str] = ()) -> None:
    """Reply to a customer's message and to the `earlier` messages that share its reply."""
    pipeline.answer(message_id, earlier=earlier)


@job("chats.hand_over_without_details", queue=Queue.REPLY, max_attempts=5)
def hand_over_without_details(*, message_id: str, reason: str) -> None:
    """Hand over the chat of a customer who did not give the details that the bot asked for."""
    handoffs.hand_over_without_details(message_id, reason=reason)


@job("chats.run_after_end", queue=Queue.INSIGHT, max_attempts=5)
def run_after_end(*, conversation_id: str) -> None:
    """Ask the customer for feedback and enqueue the insights, after a conversation has ended."""
    chat_analysis.run_after_end(conversation_id)


@job("chats.compute_insight", queue=Queue.INSIGHT, max_attempts=5)
def compute_insight(*, conversation_id: str, kind: str) -> None:
    """Compute and store the summary, tags or sentiment of a conversation."""
    chat_analysis.compute(conversation_id, kind)


@job("chats.transcribe_message", queue=Queue.INSIGHT, max_attempts=3)
def transcribe_message(*, message_id: str) -> None:
    """Transcribe a customer's voice notes for the agents."""
    customer_media.transcribe_message(message_id)


@job("chats.translate_message", queue=Queue.INSIGHT, max_attempts=3)
def translate_message(*, message_id: str, to: str) -> None:
    """Translate a customer's message for the agents, or an agent's for the customer."""
    agent_assist.translate_message(message_id, to=to)


@job("chats.summarise_all", queue=Queue.INSIGHT, max_attempts=5, on_dead=summary_runs.mark_failed)
def summarize_all(*, summary_job_id: str) -> None:
    """Summarize the next conversations of a run."""
    summary_runs.summarize_next(summary_job_id)


@job(
    "chats.continue_after_approval",
    queue=Queue.REPLY,
    max_attempts=5,
    on_dead=after_approval.give_up,
)
def continue_after_approval(*, call_id: str) -> None:
    """Continue a reply that waited for an agent to approve or reject a function call."""
    after_approval.continue_reply(call_id)


# Mail servers may be as slow as webhook receivers. In the webhook queue, mails don't delay replies.
@job("chats.mail_transcript", queue=Queue.WEBHOOK, max_attempts=11)
def mail_transcript(*, conversation_id: str, email: str, timezone: str | None = None) -> None:
    """Email a transcript to the customer; retried for at least five minutes."""
    customer_transcripts.mail(conversation_id, email=email, timezone=timezone)


@job("chats.mail_answers", queue=Queue.WEBHOOK, max_attempts=11)
def mail_answers(*, conversation_id: str) -> None:
    """Email agents' messages to a visitor who has left; retried for at least five minutes."""
    answer_mails.mail(conversation_id)


@job("chats.send_push", queue=Queue.WEBHOOK, max_attempts=11)
def send_push(*, subscription_id: str, conversation_id: str, kind: str) -> None:
    """Send a push notification to one of a user's browsers; retried for at least five minutes."""
    push.send(subscription_id, conversation_id, kind)


@job("chats.notify_waiting", queue=Queue.REPLY, max_attempts=5)
def notify_waiting(*, conversation_id: str) -> None:
    """Notify the team that a conversation entered the queue."""
    team_notifications.notify_waiting(conversation_id)


@job("chats.assign_waiting", queue=Queue.REPLY)
def assign_waiting(*, client: int) -> None:
    """Assign a client's waiting conversations to its agents by its assignment strategy."""
    routing.assign_waiting(client)


@job("chats.rename_tag", queue=Queue.INSIGHT)
def rename_tag(*, client: int, old_name: str, new_name: str | None, up_to: int) -> None:
    """Rename or remove a tag in the next conversations that have it."""
    tags.rename_in_chats(client, old_name, new_name, up_to=up_to)


@job("chats.delete_expired", queue=Queue.INSIGHT)
def delete_expired(*, client: int, after: Sequence[str] | None = None) -> None:
    """Delete the next of a client's conversations whose retention period is over."""
    retention.delete_expired(client, after=after)


@job("chats.erase_customer", queue=Queue.INSIGHT, max_attempts=8, on_dead=erasing.mark_failed)
def erase_customer(*, erasure_id: str) -> None:
    """Erase a customer's next conversations, and finally the customer."""
    erasing.erase_next(erasure_id)


@job("chats.group_questions", queue=Queue.INSIGHT, max_attempts=5)
def group_questions(*, bot_id: int) -> None:
    """Group a bot's next unanswered questions."""
    question_groups.group_next(bot_id)


@job("chats.ask_learned", queue=Queue.INSIGHT, max_attempts=5)
def ask_learned(*, document_id: int) -> None:
    """Enqueue jobs that ask the bot again the questions for which a document was written."""
    taught_answers.request_after_training(document_id)


@job(
    "chats.ask_question_again",
    queue=Queue.INSIGHT,
    max_attempts=3,
    on_dead=taught_answers.fail,
)
def ask_question_again(*, group_id: int) -> None:
    """Ask an unanswered question again, and store the bot's reply."""
    taught_answers.ask_again(group_id)


@job("chats.replay_next", queue=Queue.INSIGHT, max_attempts=5, on_dead=replays.fail)
def replay_next(*, replay_id: str) -> None:
    """Regenerate the next replies of a replay."""
    replays.replay_next(replay_id)


@periodic("chats.clean_up")
def clean_up() -> None:
    """Enqueue the deletion of conversations whose retention period is over. Tidy the groups of
    unanswered questions, and delete push subscriptions whose sign-in has ended."""
    retention.enqueue_expired()
    question_groups.clean_up()
    push.clean_up()


@job("chats.release_agent", queue=Queue.REPLY)
def release_agent(*, user_id: int) -> None:
    """Return a user's conversations to the queue if the user was disabled or became a viewer."""
    agent_actions.return_chats_of_agent(user_id)


@job("chats.show_away", queue=Queue.REPLY)
def publish_away(*, user_id: int) -> None:
    """Show in the open inboxes whether a user is away. If they are available again, enqueue the
    assignment of waiting conversations."""
    feed.publish_away(user_id)


@periodic("chats.run_timers")
def run_timers() -> None:
    """Wake up snoozed conversations, return unanswered ones to the queue, warn the team of
    customers who wait too long, end inactive conversations, and assign waiting ones."""
    timers.wake_snoozed()
    timers.return_unanswered_to_queue()
    timers.warn_unanswered()
    timers.end_inactive()
    timers.assign_waiting()
