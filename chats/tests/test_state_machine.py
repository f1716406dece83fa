"""A conversation through its API in every order of acts, against a small model of its life.

After each act: the state is the model's, it is a legal one, one owner has it at a time, and the
customer was told of each handover exactly once.
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
from chats.models import Conversation, Message
from identity.models import Role
from identity.testing import make_client, make_key, make_person
from webhooks.models import Event

GREETING, PERSON = "Hello!", "Let me talk to a human"
UNKNOWN = "Who won the chess olympiad of 1972?"
AGENTS = st.sampled_from(["Ben", "Bea"])
PEOPLE = st.sampled_from(["Ann", "Ben", "Bea"])


class Life(RuleBasedStateMachine):
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

    def begin(self):
        """Open, with the bot where it is on."""
        self.status, self.owner = "open", "queue" if self.bot.is_disabled else "bot"

    def move(self, owner):
        """Another owner, one version later; the customer is told where the bot hands over."""
        if self.owner == "bot" and owner == "queue":
            self.handovers += 1
        self.owner = owner
        self.version += 1

    def is_free_for(self, name):
        """Whether this person may move it: nobody's, one's own, or an admin's hand."""
        return self.owner in {"bot", "queue", name} or name == "Ann"

    # --- acts -----------------------------------------------------------------------------------

    @initialize()
    def open(self):
        self.begin()
        self.version, self.rated = 1, False
        self.id = self.server.post("/ai/client/chat", {}).json()["id"]

    def act(self, name, path, body=None):
        reply = self.people[name].post(f"/ai/chat/{self.id}/{path}", body)
        return reply.json().get("code", reply.status_code)

    def expect(self, got, name, *, needs_owner=True):
        """Whether the act went through; else it was refused for the reason that the model knows."""
        if self.status == "ended":
            assert got == "chat_ended"
        elif needs_owner and not self.is_free_for(name):
            assert got == "already_assigned"
        else:
            assert got in {200, 201}
            return True
        return False

    @rule(
        text=st.sampled_from([GREETING, UNKNOWN, PERSON]), late=st.booleans(), at_once=st.booleans()
    )
    def write(self, text, late, at_once):
        if late and self.status == "ended":
            Conversation.objects.update(ended_at=timezone.now() - timedelta(days=30))
        body = {"text": text, "reply": "async"}
        turn = self.server.post(f"/ai/client/chat/{self.id}", body).json()
        found = turn["message"]["conversation_id"]
        assert (found != self.id) == (late and self.status == "ended")
        if found != self.id:
            self.id, self.version = found, 1
            self.begin()
            self.pending, self.handovers, self.rated = [], 0, False
        elif self.status == "ended":
            self.begin()
            self.version += 1
        elif self.status == "snoozed":
            self.status = "open"
            self.version += 1
        if self.owner == "bot":
            assert turn["status"] == "pending"
            self.pending.append(text)
        if at_once:
            self.work()

    @rule()
    def work(self):
        run_jobs()
        for text in self.pending:
            if (self.status, self.owner) == ("open", "bot") and (
                self.bot.is_disabled or text != GREETING
            ):
                self.move("queue")
        self.pending = []

    @rule(first=AGENTS, second=AGENTS)
    def two_claim(self, first, second):
        for name in (first, second):
            got = self.act(name, "assign", {"assign_type": "agent"})
            if self.expect(got, name) and self.owner != name:
                self.move(name)

    @rule(name=PEOPLE, to=AGENTS)
    def hand_on(self, name, to):
        body = {"assign_type": "agent", "user_id": self.people[to].user.pk}
        got = self.act(name, "assign", body)
        if self.owner == to and self.status != "ended":
            assert got == 200
        elif self.expect(got, name):
            self.move(to)

    @rule(name=PEOPLE)
    def into_the_queue(self, name):
        got = self.act(name, "assign", {"assign_type": "queue"})
        if self.expect(got, name) and self.owner != "queue":
            self.move("queue")

    @rule(name=PEOPLE)
    def unassign(self, name):
        to = "queue" if self.bot.is_disabled else "bot"
        got = self.act(name, "unassign")
        if self.expect(got, name) and self.owner != to:
            self.move(to)

    @rule(name=PEOPLE)
    def answer_by_hand(self, name):
        got = self.act(name, "manual", {"text": "How can I help?"})
        if not self.expect(got, name):
            return
        if self.status == "snoozed":
            self.status = "open"
            self.version += 1
        if self.owner in {"bot", "queue"}:
            self.move(name)

    @rule(name=PEOPLE)
    def snooze(self, name):
        until = (timezone.now() + timedelta(hours=1)).isoformat()
        if self.expect(self.act(name, "snooze", {"until": until}), name):
            self.status = "snoozed"
            self.version += 1

    @rule()
    def an_hour_passes(self):
        Conversation.objects.filter(status="snoozed").update(snoozed_until=timezone.now())
        tasks.run_timers()
        if self.status == "snoozed":
            self.status = "open"
            self.version += 1

    @rule(name=PEOPLE, path=st.sampled_from(["end", "agent-end"]))
    def end(self, name, path):
        if self.expect(self.act(name, path), name, needs_owner=path == "agent-end"):
            self.status = "ended"
            self.version += 1

    @rule(rating=st.integers(1, 5))
    def rate(self, rating):
        """Once a chat, in whatever state; it moves nothing."""
        reply = self.server.post(f"/ai/chat/{self.id}/feedback", {"rating": rating})
        assert reply.json().get("code", 200) == ("feedback_given" if self.rated else 200)
        self.rated = True

    @rule()
    def switch_the_bot(self):
        self.bot.is_disabled = not self.bot.is_disabled
        self.bot.save()

    # --- what must hold -------------------------------------------------------------------------

    @invariant()
    def the_model_is_right_and_the_state_legal(self):
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
    def no_handover_is_silent_and_nothing_lost_or_doubled(self):
        rows: Any = Message.objects.filter(conversation_id=self.id).order_by("seq")
        said = list(rows.values_list("seq", "sender_type", "in_reply_to"))
        assert [seq for seq, _, _ in said] == list(range(1, len(said) + 1))
        answered = [asked for _, _, asked in said if asked]
        assert len(answered) == len(set(answered))
        rows = Event.objects.filter(conversation_id=self.id).order_by("sequence")
        events = list(rows.values_list("sequence", "type"))
        assert [number for number, _ in events] == list(range(1, len(events) + 1))
        told = [side for _, side, _ in said].count("system")
        announced = [kind for _, kind in events].count("conversation.handed_off")
        assert told == announced == self.handovers


def play(runs, **how):
    """So many lives, one after the other, in a client of their own."""
    client = make_client()
    bot = make_bot(client)
    people = {
        name: make_person(client, role, name)
        for name, role in [("Ann", Role.ADMIN), ("Ben", Role.AGENT), ("Bea", Role.AGENT)]
    }
    world = (make_key(client, "secret", bot.pk), people, bot)
    run_state_machine_as_test(
        type("Life", (Life,), {"world": world}),
        settings=settings(
            max_examples=runs,
            stateful_step_count=6,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            **how,
        ),
    )


@pytest.mark.timeout(300)
def test_every_sequence_of_moves_is_legal(db):
    play(50, derandomize=True)  # `make drill` plays two thousand
