"""Random sequences of API calls on a conversation, compared with a small model of its states.

After each call the state equals the model's and is legal, the chat has one owner, and the customer
has one message about each handover.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from bots.testing import make_bot
from chatplatform.testing import run_jobs
from chats import tasks
from chats.models import Conversation, Feedback, Message
from identity.models import Role
from identity.testing import make_client, make_key, make_person
from webhooks.models import Event

GREETING, PERSON = "Hello!", "Let me talk to a human"
UNKNOWN = "Who won the chess olympiad of 1972?"
AGENTS = st.sampled_from(["Ben", "Bea"])
PEOPLE = st.sampled_from(["Ann", "Ben", "Bea"])


class ConversationMachine(RuleBasedStateMachine):
    """One customer, one bot, two agents and their admin; each run is rolled back."""

    world: Any = None
    server: Any
    people: Any
    bot: Any

    def __init__(self):
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.server, self.people, self.bot = self.world
        self.bot.refresh_from_db()
        self.pending, self.handovers = [], 0

    def teardown(self):
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    # --- the model ------------------------------------------------------------------------------

    def model_open(self):
        """An open chat with the bot, or in the queue if the bot is off."""
        self.status, self.owner = "open", "queue" if self.bot.is_disabled else "bot"

    def model_move(self, owner):
        """Another owner and the next version; the customer reads of a handover by the bot."""
        if self.owner == "bot" and owner == "queue":
            self.handovers += 1
        self.owner = owner
        self.version += 1

    def is_free_for(self, name):
        """Whether this person may move it: no agent has it, they have it, or they are an admin."""
        return self.owner in {"bot", "queue", name} or name == "Ann"

    # --- calls ----------------------------------------------------------------------------------

    @initialize()
    def open(self):
        self.model_open()
        self.version = 1
        self.id = self.server.post("/ai/client/chat", {}).json()["id"]

    def call(self, name, path, body=None):
        reply = self.people[name].post(f"/ai/chat/{self.id}/{path}", body)
        return reply.json().get("code", reply.status_code)

    def is_done(self, result, name):
        """Whether the call succeeded; else it was refused for the reason that the model expects."""
        if self.status == "ended":
            assert result == "chat_ended"
        elif not self.is_free_for(name):
            assert result == "already_assigned"
        else:
            assert result in {200, 201}
            return True
        return False

    @rule(
        text=st.sampled_from([GREETING, UNKNOWN, PERSON]), late=st.booleans(), at_once=st.booleans()
    )
    def send_message(self, text, late, at_once):
        if late and self.status == "ended":
            Conversation.objects.update(ended_at=timezone.now() - timedelta(days=30))
        body = {"text": text, "reply": "async"}
        turn = self.server.post(f"/ai/client/chat/{self.id}", body).json()
        chat_id = turn["message"]["conversation_id"]
        assert (chat_id != self.id) == (late and self.status == "ended")
        if chat_id != self.id:
            self.id, self.version = chat_id, 1
            self.model_open()
            self.pending, self.handovers = [], 0
        elif self.status == "ended":
            self.model_open()
            self.version += 1
        elif self.status == "snoozed":
            self.status = "open"
            self.version += 1
        if self.owner == "bot":
            assert turn["status"] == "pending"
            self.pending.append(text)
        if at_once:
            self.run_jobs()

    @rule()
    def run_jobs(self):
        run_jobs()
        for text in self.pending:
            if (self.status, self.owner) == ("open", "bot") and (
                self.bot.is_disabled or text != GREETING
            ):
                self.model_move("queue")
        self.pending = []

    @rule(first=AGENTS, second=AGENTS)
    def claim_twice(self, first, second):
        for name in (first, second):
            result = self.call(name, "assign", {"assign_type": "agent"})
            if self.is_done(result, name) and self.owner != name:
                self.model_move(name)

    @rule(name=PEOPLE, to=AGENTS)
    def reassign(self, name, to):
        body = {"assign_type": "agent", "user_id": self.people[to].user.pk}
        result = self.call(name, "assign", body)
        if self.owner == to and self.status != "ended":
            assert result == 200
        elif self.is_done(result, name):
            self.model_move(to)

    @rule(name=PEOPLE)
    def move_to_queue(self, name):
        result = self.call(name, "assign", {"assign_type": "queue"})
        if self.is_done(result, name) and self.owner != "queue":
            self.model_move("queue")

    @rule(name=PEOPLE)
    def unassign(self, name):
        to = "queue" if self.bot.is_disabled else "bot"
        result = self.call(name, "unassign")
        if self.is_done(result, name) and self.owner != to:
            self.model_move(to)

    @rule(name=PEOPLE)
    def answer(self, name):
        result = self.call(name, "manual", {"text": "How can I help?"})
        if not self.is_done(result, name):
            return
        if self.status == "snoozed":
            self.status = "open"
            self.version += 1
        if self.owner in {"bot", "queue"}:
            self.model_move(name)

    @rule(name=PEOPLE)
    def snooze(self, name):
        until = (timezone.now() + timedelta(hours=1)).isoformat()
        if self.is_done(self.call(name, "snooze", {"until": until}), name):
            self.status = "snoozed"
            self.version += 1

    @rule()
    def wake(self):
        Conversation.objects.filter(status="snoozed").update(snoozed_until=timezone.now())
        tasks.run_timers()
        if self.status == "snoozed":
            self.status = "open"
            self.version += 1

    @rule(name=PEOPLE)
    def reopen(self, name):
        result = self.call(name, "reopen")
        if self.status == "ended":
            assert result == 200
            self.status = "open"
            self.model_move(name)
        elif self.status == "snoozed" and self.is_done(result, name):
            self.status = "open"
            self.version += 1

    @rule(name=PEOPLE, path=st.sampled_from(["end", "agent-end"]))
    def end(self, name, path):
        if self.is_done(self.call(name, path), name):
            self.status = "ended"
            self.version += 1

    @rule(rating=st.integers(1, 5))
    def rate(self, rating):
        """One rating a chat, in any state, corrected by the next; the state does not change."""
        reply = self.server.post(f"/ai/chat/{self.id}/feedback", {"rating": rating})
        assert (reply.status_code, reply.json()["rating"]) == (200, rating)
        stored = Feedback.objects.filter(conversation_id=self.id)
        assert [row.rating for row in stored] == [rating]

    @rule()
    def switch_bot(self):
        self.bot.is_disabled = not self.bot.is_disabled
        self.bot.save()

    # --- invariants -----------------------------------------------------------------------------

    @invariant()
    def state_is_legal_and_equals_the_model(self):
        chat = Conversation.objects.select_related("assignee").get(pk=self.id)
        owner = chat.assignee.full_name if chat.assignee else chat.assign_type
        assert (chat.status, owner, chat.version) == (self.status, self.owner, self.version)
        assert (chat.assign_type == "agent") == (chat.assignee_id is not None)
        assert (chat.status == "ended") == (chat.ended_at is not None)
        assert (chat.status == "ended") == (chat.ended_by is not None)
        assert (chat.status == "snoozed") == (chat.snoozed_until is not None)
        if (chat.status, chat.assign_type) == ("open", "queue"):
            assert chat.waiting_since is not None
            assert chat.handoff_reason is not None

    @invariant()
    def handovers_are_announced_and_numbers_have_no_gaps(self):
        rows: Any = Message.objects.filter(conversation_id=self.id).order_by("seq")
        stored = list(rows.values_list("seq", "sender_type", "in_reply_to"))
        assert [seq for seq, _, _ in stored] == list(range(1, len(stored) + 1))
        answered = [message_id for _, _, message_id in stored if message_id]
        assert len(answered) == len(set(answered))
        rows = Event.objects.filter(conversation_id=self.id).order_by("sequence")
        events = list(rows.values_list("sequence", "type"))
        assert [number for number, _ in events] == list(range(1, len(events) + 1))
        # The question how the chat was is none of a handover.
        said = Message.objects.filter(conversation_id=self.id, sender_type="system")
        notices = sum(row.content[0]["type"] != "feedback" for row in said)
        announced = [event_type for _, event_type in events].count("conversation.handed_off")
        assert notices == announced == self.handovers


def run_machine(runs, **options):
    """Run so many sequences, one after the other, in a client of their own."""
    client = make_client()
    bot = make_bot(client)
    people = {
        name: make_person(client, role, name)
        for name, role in [("Ann", Role.ADMIN), ("Ben", Role.AGENT), ("Bea", Role.AGENT)]
    }
    world = (make_key(client, "secret", bot.pk), people, bot)
    run_state_machine_as_test(
        type("ConversationMachine", (ConversationMachine,), {"world": world}),
        settings=settings(
            max_examples=runs,
            stateful_step_count=6,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            **options,
        ),
    )


@pytest.mark.full
@pytest.mark.timeout(300)
def test_every_sequence_of_calls_is_legal(db):
    run_machine(20, derandomize=True)  # `make drill` runs two thousand
