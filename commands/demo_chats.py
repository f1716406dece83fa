"""A month of chats for the demo client, a shop: the same each time except for the dates.

No service can act in the past, so the chats and their charges are written as rows with past times,
without events, jobs or mails. The bot's replies come from its rules and its extractive engine with
the current documents, so a replay of one of these days shows only what has changed since then.
`demo_activity` adds what happens today.
"""

import json
import random
import uuid
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from bots.engine.extractive import ExtractiveEngine
from bots.models import Bot
from bots.search import question_splitting
from bots.services import answer_preview, fallback_suggestions
from bots.services.answers import Unanswered
from chats.models import (
    NO_ANSWER,
    AssignType,
    Conversation,
    Customer,
    Feedback,
    Message,
    Notification,
    NotificationKind,
    SenderType,
    Status,
    Summary,
    Tagging,
    TagSource,
    text_content,
)
from chats.schemas.people import Location
from chats.services.core import messages
from chats.services.reply import decide, gather, pipeline, publishing
from chats.services.reply.decide import Answer, AskEngine, Decision, HandOver, KnowledgeGap, NoReply
from identity.models import CreditEntry, EntryKind, Role, Subscription, User
from identity.services import credits

SEED, DAYS = 20, 30
AGENTS = [("amy@demo.example", "Amy Agent"), ("bao@demo.example", "Bảo Nguyễn")]
# What customers and agents write, by topic and language; also numbers, such as the chats that begin
# on each weekday from Monday and the weight of each hour from 00:00.
SCRIPT: dict[str, Any] = json.loads(
    (Path(__file__).parent / "samples" / "chats.json").read_text(encoding="utf-8")
)
# Earlier questions that a short one may follow up, as in `messages.answered_before`.
TOPICS = 3
# Models in the order in which their rows must be stored.
STORED = (Customer, Conversation, Message, Tagging, Summary, Feedback, Notification)


def create(bot: Bot, *, password: str) -> int:
    """Create the demo's agents and a month of chats with the bot; return the number of chats.

    The bot's documents must be trained. Does nothing if the agents already exist.
    """
    if User.objects.filter(email=AGENTS[0][0]).exists():
        return 0
    account = {"client": bot.client, "role": Role.AGENT}
    with transaction.atomic():
        agents = [
            User.objects.create_user(email, password, full_name=name, **account)
            for email, name in AGENTS
        ]
        month = Month(bot, agents, now=timezone.now())
        month.create_chats()
        for model, rows in month.rows.items():
            store = messages.store_in_bulk if model is Message else model._base_manager.bulk_create
            store(rows)
        _charge(bot, month)
    return len(month.rows[Conversation])


def _charge(bot: Bot, month: "Month") -> None:
    """Write the month's ledger: the client's grants, then two entries for each paid answer."""
    account = Subscription.objects.select_for_update(no_key=True).get(client=bot.client)
    began_at = month.now - timedelta(days=DAYS + 1)
    CreditEntry.objects.filter(client=bot.client).update(created_at=began_at)
    paid = [row for row in month.rows[Message] if row.receipt and row.receipt["credits"]]
    entries, left = [], account.credits_left
    for message in sorted(paid, key=lambda row: row.created_at):
        cost = message.receipt["credits"]
        left -= cost
        for kind, amount in ((EntryKind.RESERVE, -cost), (EntryKind.SETTLE, 0)):
            entries.append(
                CreditEntry(
                    client=bot.client,
                    kind=kind,
                    amount=amount,
                    balance_after=left,
                    reference=f"reply:{message.in_reply_to_id}",
                    created_at=message.created_at,
                )
            )
    CreditEntry.objects.bulk_create(entries)
    account.credits_used += account.credits_left - left
    account.credits_left, account.period_start = left, began_at
    account.save(update_fields=["credits_left", "credits_used", "period_start"])


class Month:
    """The rows of one month of one bot. The random numbers are the same each time."""

    def __init__(self, bot: Bot, agents: list[User], *, now: datetime) -> None:
        self.bot, self.agents, self.now = bot, agents, now
        self.chance = random.Random(SEED)
        self.rows: dict[type[models.Model], list[Any]] = {model: [] for model in STORED}
        self.decisions: dict[tuple[Any, ...], Decision] = {}

    def create_chats(self) -> None:
        for number, name in enumerate(SCRIPT["customers"], 1):
            self._add_customer(number, name)
        for day in range(DAYS, -1, -1):
            for begins_at in sorted(self._start_times((self.now - timedelta(days=day)).date())):
                if begins_at < self.now - timedelta(hours=3):
                    self._add_ended_chat(begins_at)
        for number, state in enumerate(SCRIPT["now"]):
            DemoChat(self, self.now - timedelta(minutes=150 - 12 * number)).leave_open(state)

    def choose(self, weights: dict[str, float]) -> str:
        """One of the names, by weight."""
        return self.chance.choices(list(weights), list(weights.values()))[0]

    def id_at(self, at: datetime) -> uuid.UUID:
        """A UUIDv7 of that time, so that lists by id are in chronological order."""
        rest = self.chance.getrandbits(74)
        head = int(at.timestamp() * 1000) << 80 | 0x7 << 76 | 0b10 << 62
        return uuid.UUID(int=head | (rest >> 62) << 64 | rest & (1 << 62) - 1)

    def decide(
        self, message: Message, answered: Sequence[str], *, has_knowledge_gap: bool
    ) -> Decision:
        """What the bot does about a message: as in `reply.pipeline`, but free of charge and with
        the extractive engine.

        `answered`: earlier questions of the chat that got an answer, latest first;
        `has_knowledge_gap`: whether an earlier question got none.
        """
        may_go_on = question_splitting.may_follow_up(message.text)
        topics = tuple(answered[:TOPICS]) if may_go_on else ()
        known = (
            message.text,
            message.language,
            message.conversation.channel,
            topics,
            has_knowledge_gap,
        )
        if known not in self.decisions:
            self.decisions[known] = self._decide(
                message, topics, has_knowledge_gap=has_knowledge_gap
            )
        return self.decisions[known]

    def _decide(
        self, message: Message, topics: tuple[str, ...], *, has_knowledge_gap: bool
    ) -> Decision:
        facts = gather.facts_for(message, ())
        decision = decide.from_facts(facts)
        if not isinstance(decision, AskEngine):
            return decision
        request = pipeline.request_for(message, decision, facts, before_seq=message.seq)
        request = replace(request, engine=ExtractiveEngine(), topics=topics)
        outcome, gap = answer_preview.ask(self.bot, request, reference=""), KnowledgeGap()
        if (
            isinstance(outcome, Unanswered)
            and facts.handoff_policy.asks_again
            and not has_knowledge_gap
        ):
            gap = KnowledgeGap(True, fallback_suggestions.nearest(self.bot, request, outcome.trace))
        return decide.from_outcome(outcome, facts, gap=gap)

    def _start_times(self, day: date) -> list[datetime]:
        count = SCRIPT["chats_per_weekday"][day.weekday()]
        hours = self.chance.choices(range(24), SCRIPT["hour_weights"], k=count)
        midnight = datetime.combine(day, time(), tzinfo=self.now.tzinfo)
        return [
            midnight + timedelta(hours=hour, seconds=self.chance.randrange(3600)) for hour in hours
        ]

    def _add_ended_chat(self, begins_at: datetime) -> None:
        outcome = self.choose(SCRIPT["outcomes"])
        chat = DemoChat(self, begins_at)
        if outcome == "answered" and chat.ask(questions=self.chance.choice((1, 1, 1, 2, 2, 3))):
            chat.end(by=self.choose(SCRIPT["answered_chats_ended_by"]))
        else:
            chat.hand_over(outcome)
            chat.assign(self.chance.choice(self.agents))
            chat.end(by="agent")
        chat.add_insights()

    def _add_customer(self, number: int, name: str) -> None:
        customer = Customer(
            client_id=self.bot.client_id,
            external_id=f"shop-{1000 + number}",
            name=name,
            email=f"customer{number}@mail.example",
            attributes={"orders": self.chance.randrange(1, 12)},
            created_at=self.now - timedelta(days=DAYS + 1, minutes=number),
        )
        self.rows[Customer].append(customer)


class DemoChat:
    """One chat; each step moves its clock `at` forward."""

    def __init__(self, month: Month, begins_at: datetime) -> None:
        self.month, self.chance, self.at = month, month.chance, begins_at
        customer = self.chance.choice(month.rows[Customer])
        # A customer with a Vietnamese name always writes Vietnamese, from Vietnam.
        self.language = "vi" if customer.name in SCRIPT["vietnamese"] else "en"
        country = "VN" if self.language == "vi" else self.chance.choice(SCRIPT["countries"])
        self.topic: dict[str, Any] = self.chance.choice(SCRIPT["topics"])
        self.row = Conversation(
            id=month.id_at(begins_at),
            client=month.bot.client,
            bot=month.bot,
            customer=customer,
            channel=month.choose({"web": 7, "api": 3}),
            language=self.language,
            location=Location(country=country).model_dump(),
            metadata={"page": "/help"} if self.chance.random() < 0.5 else {},
            created_at=begins_at,
        )
        self.messages: list[Message] = []
        # Questions that got an answer, latest first, and whether one got none.
        self.answered: list[str] = []
        self.has_knowledge_gap = False
        month.rows[Conversation].append(self.row)

    def ask(self, *, questions: int) -> bool:
        """The customer asks about the documents' topics until the bot has no answer.

        Sometimes they say thanks at the end. Returns whether all questions were answered.
        """
        for topic in [self.topic, *self.chance.sample(SCRIPT["topics"], questions - 1)]:
            if not self._write(self.chance.choice(topic[self.language]["questions"])):
                return False
        if self.chance.random() < 0.4:
            self._write(self._random_line("thanks"))
        return True

    def hand_over(self, outcome: str) -> None:
        """The customer asks unknown things, or for a person, until the chat waits in the queue."""
        if outcome == "customer_asked":
            self.ask(questions=1)
        lines = SCRIPT["lines"]["unknown"][self.language] + SCRIPT["not_yet_known"][self.language]
        unknown = self.chance.sample(lines, 2) if outcome == "no_answer" else []
        for line in [*unknown, self._random_line("person")]:
            if self.row.assign_type == AssignType.BOT:
                self._write(line)

    def assign(self, agent: User) -> None:
        """An agent takes the chat and answers, sometimes with an internal note."""
        self._wait(60, 900)
        self.row.assign_type, self.row.assignee, self.row.assigned_at = "agent", agent, self.at
        self.row.version += 1
        if self.chance.random() < 0.35:
            self._add_agent_message(agent, self.chance.choice(SCRIPT["notes"]), is_note=True)
        self._add_agent_message(agent, self._random_line("agent"))
        if self.chance.random() < 0.7:
            self._add_customer_message(self._random_line("thanks"))
            self._add_agent_message(agent, self._random_line("bye"))

    def end(self, *, by: str) -> None:
        self._wait(*((86_400, 86_460) if by == "inactivity" else (20, 400)))
        self.row.status, self.row.ended_by = Status.ENDED, by
        # If the end by inactivity would be in the future, the customer ends the chat instead.
        if self.at > self.month.now:
            self.at, self.row.ended_by = self.month.now - timedelta(minutes=5), "customer"
        self.row.ended_at, self.row.waiting_since = self.at, None
        self.row.version += 1

    def leave_open(self, state: str) -> None:
        """Leave the chat open with the bot, in the queue or with an agent, or snoozed."""
        if state == "bot":
            self.ask(questions=1)
            return
        self.hand_over("no_answer")
        if state == "queue":
            # The timer would send these for a waiting chat.
            for agent in self.month.agents:
                self._add(Notification, after=300, user=agent, kind=NotificationKind.UNANSWERED)
            return
        self.assign(self.chance.choice(self.month.agents))
        if state == "snoozed":
            self.row.status = Status.SNOOZED
            self.row.snoozed_until = self.month.now + timedelta(days=2)
            self.row.version += 1

    def add_insights(self) -> None:
        """Tags, sentiment, a summary and the customer's rating; not for every chat."""
        sentiments = SCRIPT["sentiments"]
        name = self.month.choose({name: row["weight"] for name, row in sentiments.items()})
        if self.chance.random() < 0.8:
            self.row.sentiment, self.row.sentiment_score = name, sentiments[name]["score"]
        self._add_tags()
        if self.chance.random() < 0.5:
            self._add_summary()
        if self.chance.random() < 0.35:
            self._add_feedback(name)

    def _random_line(self, line: str) -> str:
        return str(self.chance.choice(SCRIPT["lines"][line][self.language]))

    def _wait(self, least: float, most: float) -> None:
        self.at += timedelta(seconds=self.chance.uniform(least, most))

    def _add_customer_message(self, text: str) -> Message:
        if self.messages:  # the first one opens the chat
            self._wait(15, 120)
        name = self.row.customer.name
        message = self._add_message(SenderType.CUSTOMER, text, sender_name=name)
        self.row.unread_count += 1
        if self.row.assign_type != AssignType.BOT:
            self.row.waiting_since = self.row.waiting_since or self.at
        return message

    def _write(self, text: str) -> bool:
        """The customer writes and the bot answers, asks back or hands over.

        Returns whether it was an answer.
        """
        question = self._add_customer_message(text)
        decision = self.month.decide(
            question, self.answered, has_knowledge_gap=self.has_knowledge_gap
        )
        assert not isinstance(decision, NoReply), "the bot has the chat"
        self._wait(0.2, 2.5)
        self._reply(question, decision)
        is_answer = isinstance(decision, Answer)
        if is_answer:
            self.answered.insert(0, text)
        self.has_knowledge_gap = self.has_knowledge_gap or decision.receipt.decision in NO_ANSWER
        return is_answer

    def _reply(self, question: Message, decision: publishing.ReplyDecision) -> None:
        paid = credits.EXTRACTIVE_TASK if isinstance(decision, Answer) else 0
        receipt = replace(decision.receipt, credits=paid).to_json()
        reply = publishing.render(question, decision)
        common = {"in_reply_to": question, "content": reply.content, "language": reply.language}
        if isinstance(decision, HandOver):
            receipt["handoff_reason"] = decision.reason
            self._add_message(SenderType.SYSTEM, reply.text, receipt=receipt, **common)
            self.row.assign_type, self.row.handoff_reason = AssignType.QUEUE, decision.reason
            self.row.handed_off_at = self.row.waiting_since = self.at
            self.row.version += 1
            return
        citations = decision.citations if isinstance(decision, Answer) else ()
        bot = self.month.bot
        self._add_message(
            SenderType.BOT,
            reply.text,
            sender_id=str(bot.pk),
            sender_name=bot.bot_name,
            citations=[asdict(citation) for citation in citations],
            receipt=receipt,
            **common,
        )

    def _add_agent_message(self, agent: User, text: str, *, is_note: bool = False) -> None:
        self._wait(20, 240)
        sender = {"sender_id": str(agent.pk), "sender_name": agent.full_name}
        self._add_message(SenderType.AGENT, text, is_note=is_note, **sender)
        if not is_note:
            self.row.unread_count, self.row.waiting_since = 0, None

    def _add_message(self, sender_type: SenderType, text: str, **fields: Any) -> Message:
        self.row.last_seq += 1
        message: Message = self._add(
            Message,
            id=self.month.id_at(self.at),
            seq=self.row.last_seq,
            sender_type=sender_type,
            text=text,
            **{"content": text_content(text), "language": self.language} | fields,
        )
        self.messages.append(message)
        return message

    def _add(self, model: type[models.Model], *, after: float = 0, **fields: Any) -> Any:
        """Add a row of this chat, dated `after` seconds after its clock."""
        created_at = self.at + timedelta(seconds=after)
        of_chat = {"client_id": self.row.client_id, "conversation": self.row}
        row = model(**of_chat, created_at=created_at, **fields)
        self.month.rows[model].append(row)
        return row

    def _add_tags(self) -> None:
        names = {self.topic["tag"]: TagSource.AI}
        if self.row.assignee:
            names[self.chance.choice(SCRIPT["agent_tags"])] = TagSource.AGENT
        for name, source in names.items():
            if self.chance.random() < 0.75:
                self.row.tags.append(name)
                is_ai = source == TagSource.AI
                confidence = round(self.chance.uniform(0.62, 0.97), 3) if is_ai else None
                self._add(Tagging, name=name, source=source, confidence=confidence)

    def _add_summary(self) -> None:
        texts = SCRIPT["summaries"][self.language]
        question, name = self.messages[0].text, self.row.customer.name
        resolution = texts["agent" if self.row.assignee else "bot"]
        self.row.summary = f"{texts['asked'].replace('{name}', name)} {question} {resolution}"
        self._add(
            Summary,
            after=8,
            summary=self.row.summary,
            language=self.language,
            key_points=[question, resolution],
            customer_intent=question,
            resolution=resolution,
            message_count=sum(not message.is_note for message in self.messages),
            engine="extractive",
        )

    def _add_feedback(self, sentiment: str) -> None:
        answers = [message for message in self.messages if message.citations]
        rated = self.chance.choice(answers) if answers and self.chance.random() < 0.3 else None
        self._add(
            Feedback,
            after=30,
            message=rated,
            rating=self.chance.choice(SCRIPT["sentiments"][sentiment]["stars"]),
            resolved=None if rated else sentiment != "negative",
            comment=self.chance.choice(SCRIPT["sentiments"][sentiment]["comments"]),
        )
