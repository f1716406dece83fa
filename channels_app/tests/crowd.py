"""Many callbacks in disorder, and what must be true of them afterwards; of any channel."""

import random
from collections import Counter

from django.db.models.functions import Now

from channels_app.models import InboundCallback, InboundItem, Outcome
from channels_app.tests.helpers import Channel
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from identity.testing import Person
from webhooks.models import Event

# At most; more than have jobs of their own when they come in one body.
CUSTOMERS = 12


def run(
    channel: Channel, agent: Person, count: int, *, batch: int = 100, seed: int = 20261122
) -> None:
    """Have customers write, and an agent answer each; the provider tells of it in disorder.

    Bodies hold up to `batch` events where the provider batches, each event comes twice and
    shuffled, with fields that nobody knows; ticks come before and after what they are of.
    """
    chance = random.Random(seed)
    users = [f"customer{number}" for number in range(min(count, CUSTOMERS))]
    type(channel.bot).objects.filter(pk=channel.bot.pk).update(agent_reply=True)
    channel.sim.modes(hold=True, batch=batch, duplicate=1, shuffle=True, unknown_fields=True)
    written = []
    for number in range(count):
        user = users[number] if number < len(users) else chance.choice(users)
        written.append(f"{user} writes no {number}")
        channel.sim.act(channel.account, user, "text", text=written[-1])
    _bring(channel)
    for chat in Conversation.objects.all():
        body = {"text": f"Answer {chat.pk}"}
        assert agent.post(f"/ai/chat/{chat.pk}/manual", body).status_code == 201
    run_jobs()
    _bring(channel)
    check(channel, written, users)


def check(channel: Channel, written: list[str], users: list[str]) -> None:
    """Everything is counted; each message is there once; each answer went out once and was read."""
    promised = sum(InboundCallback.objects.values_list("item_count", flat=True))
    outcomes = Counter(InboundItem.objects.values_list("outcome", flat=True))
    assert outcomes.total() == promised >= 2 * len(written)
    expected = {Outcome.PROCESSED, Outcome.DUPLICATE, Outcome.UNSUPPORTED}
    assert set(outcomes) <= expected, outcomes
    assert outcomes[Outcome.DUPLICATE] >= len(written)
    texts = Message.objects.filter(sender_type="customer").values_list("text", flat=True)
    assert sorted(texts) == sorted(written)
    assert Conversation.objects.count() == len(users)
    answers = Message.objects.filter(sender_type="agent")
    assert {answer.status for answer in answers} == {"read"}
    assert answers.count() == len(users)
    assert [len(channel.replies(user)) for user in users] == [1] * len(users)
    for answer in answers:
        of_answer = Event.objects.filter(conversation_id=answer.conversation_id)
        kinds = [event.type for event in of_answer.order_by("sequence")]
        assert kinds.count("message.read") == 1
        assert "message.delivered" not in kinds[kinds.index("message.read") :]


def _bring(channel: Channel) -> None:
    """Deliver all that the simulator holds, and process it, also what is held back for a moment."""
    held_back = Job.objects.filter(name="channels_app.process_items", state=JobState.QUEUED)
    channel.sim.release()
    while channel.sim.deliver() + run_jobs() + held_back.update(due_at=Now()):
        channel.sim.release()
