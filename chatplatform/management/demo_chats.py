"""A month of a shop's chats for the demo client: the same each time but for its dates.

Written as rows: nobody is told of what never happened, so there are no events, jobs or mails.
"""

import json
import random
import uuid
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from bots.models import Bot, Document
from chats.models import (
    AssignType,
    Channel,
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
from chats.shapes.people import Location
from identity.models import Role, User

SEED, DAYS = 20, 30
AGENTS = [("amy@demo.example", "Amy Agent"), ("bao@demo.example", "Bảo Nguyễn")]
# What is said: by topic and language, with the words of the documents that answer it.
SCRIPT: dict[str, Any] = json.loads(
    (Path(__file__).parent / "samples" / "chats.json").read_text(encoding="utf-8")
)
# How many chats begin on a day from Monday to Sunday, and in an hour of it from 00:00 on.
PER_WEEKDAY = (14, 13, 12, 12, 12, 5, 4)
PER_HOUR = (0, 0, 0, 0, 0, 0, 1, 2, 5, 9, 11, 10, 6, 8, 11, 10, 8, 5, 3, 3, 2, 2, 1, 0)
ENDS = {"customer": 30, "inactivity": 34, "bot": 10, "api": 8}
SCORES = {"positive": 0.62, "neutral": 0.0, "negative": -0.58}


@dataclass
class Rows:
    """What is made, in the order in which it must be stored."""

    customers: list[Customer] = field(default_factory=list)
    chats: list[Conversation] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    taggings: list[Tagging] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    feedbacks: list[Feedback] = field(default_factory=list)
    notifications: list[Notification] = field(default_factory=list)

    def store(self) -> None:
        Customer.objects.bulk_create(self.customers)
        Conversation.objects.bulk_create(self.chats)
        Message.objects.bulk_create(self.messages)
        Tagging.objects.bulk_create(self.taggings)
        Summary.objects.bulk_create(self.summaries)
        Feedback.objects.bulk_create(self.feedbacks)
        Notification.objects.bulk_create(self.notifications)


def make(bot: Bot, *, password: str) -> int:
    """The demo's two agents and a month of chats with the bot; how many chats were made.

    0 where the agents are there: it was done before.
    """
    if User.objects.filter(email=AGENTS[0][0]).exists():
        return 0
    with transaction.atomic():
        agents = [
            User.objects.create_user(
                email, password, client=bot.client, full_name=name, role=Role.AGENT
            )
            for email, name in AGENTS
        ]
        month = Month(bot, agents, now=timezone.now())
        month.play()
        month.rows.store()
    return len(month.rows.chats)


class Month:
    """One month of one bot, told by a chance that is always the same."""

    def __init__(self, bot: Bot, agents: list[User], *, now: datetime) -> None:
        self.bot, self.agents, self.now = bot, agents, now
        self.chance = random.Random(SEED)
        self.rows = Rows()
        self.documents = {
            "vi" if row.file_name.startswith("huong-dan") else "en": row
            for row in Document.objects.filter(bot=bot).order_by("-id")
        }

    def play(self) -> None:
        for name in SCRIPT["customers"]:
            self._meet(name)
        for day in range(DAYS, -1, -1):
            for begins_at in sorted(self._times((self.now - timedelta(days=day)).date())):
                if begins_at < self.now - timedelta(hours=3):
                    self._past_chat(begins_at)
        for minutes, state in enumerate(SCRIPT["now"]):
            Chat(self, self.now - timedelta(minutes=150 - 12 * minutes)).stays(state)

    def _times(self, day: Any) -> list[datetime]:
        hours = self.chance.choices(range(24), PER_HOUR, k=PER_WEEKDAY[day.weekday()])
        at = datetime.combine(day, time(), tzinfo=self.now.tzinfo)
        return [at + timedelta(hours=hour, seconds=self.chance.randrange(3600)) for hour in hours]

    def _past_chat(self, begins_at: datetime) -> None:
        plot = self.chance.choices(("answered", "unknown", "person"), (68, 20, 12))[0]
        chat = Chat(self, begins_at)
        if plot == "answered":
            chat.is_answered(self.chance.choice((1, 1, 1, 2, 2, 3)))
            chat.ends(by=self.chance.choices(list(ENDS), list(ENDS.values()))[0])
        else:
            chat.is_handed_over("no_answer" if plot == "unknown" else "customer_asked")
            chat.is_taken(by=self.chance.choice(self.agents))
            chat.ends(by="agent")
        chat.is_looked_back_on()

    def _meet(self, name: str) -> None:
        number = len(self.rows.customers) + 1
        self.rows.customers.append(
            Customer(
                client_id=self.bot.client_id,
                external_id=f"shop-{1000 + number}",
                name=name,
                email=f"customer{number}@mail.example",
                attributes={"orders": self.chance.randrange(1, 12)},
                created_at=self.now - timedelta(days=DAYS + 1, minutes=number),
            )
        )

    def id_of(self, at: datetime) -> uuid.UUID:
        """A UUIDv7 of that time: what is listed by id comes in the order of the month."""
        rest = self.chance.getrandbits(74)
        head = int(at.timestamp() * 1000) << 80 | 0x7 << 76 | 0b10 << 62
        return uuid.UUID(int=head | (rest >> 62) << 64 | rest & (1 << 62) - 1)


class Chat:
    """One chat as it goes on; each step moves its clock."""

    def __init__(self, month: Month, begins_at: datetime) -> None:
        self.month, self.chance, self.rows = month, month.chance, month.rows
        self.at = begins_at
        customer = self.chance.choice(self.rows.customers)
        # Who writes Vietnamese does so from Vietnam, and every time.
        self.language = "vi" if customer.name in SCRIPT["vietnamese"] else "en"
        country = "VN" if self.language == "vi" else self.chance.choice(SCRIPT["countries"])
        self.topic: dict[str, Any] = self.chance.choice(SCRIPT["topics"])
        self.row = Conversation(
            id=month.id_of(begins_at),
            client_id=month.bot.client_id,
            bot=month.bot,
            customer=customer,
            channel=self.chance.choices((Channel.WEB, Channel.API), (7, 3))[0],
            language=self.language,
            location=Location(country=country).model_dump(),
            metadata={"page": "/help"} if self.chance.random() < 0.5 else {},
            created_at=begins_at,
        )
        self.said: list[Message] = []
        self.rows.chats.append(self.row)

    # --- what happens in it ---------------------------------------------------------------------

    def is_answered(self, questions: int) -> None:
        """The bot answers from the documents, and sometimes the customer says thank you."""
        for topic in [self.topic, *self.chance.sample(SCRIPT["topics"], questions - 1)]:
            words = topic[self.language]
            asked = self._customer(self.chance.choice(words["questions"]))
            self._bot(asked, words["answer"])
        if self.chance.random() < 0.4:
            thanks = self._customer(self._any("thanks"))
            self._bot(thanks, self._any("welcome"), small_talk=True)

    def is_handed_over(self, reason: str) -> None:
        """The bot does not know, or the customer wants a person: the chat waits in the queue."""
        if reason == "customer_asked":
            self.is_answered(1)
        line = "unknown" if reason == "no_answer" else "person"
        asked = self._customer(self._any(line))
        self._say(
            SenderType.SYSTEM,
            self._any(reason),
            after=2,
            in_reply_to=asked,
            receipt={"decision": reason, "handoff_reason": reason, "credits": 0},
        )
        self.row.assign_type, self.row.handoff_reason = AssignType.QUEUE, reason
        self.row.waiting_since = self.at
        self.row.version += 1

    def is_taken(self, *, by: User) -> None:
        """An agent takes it and answers, with a note for the colleagues now and then."""
        self._passes(60, 900)
        self.row.assign_type, self.row.assignee, self.row.assigned_at = "agent", by, self.at
        self.row.version += 1
        if self.chance.random() < 0.35:
            self._agent(by, self.chance.choice(SCRIPT["notes"]), is_note=True)
        self._agent(by, self._any("agent"))
        if self.chance.random() < 0.7:
            self._customer(self._any("thanks"))
            self._agent(by, self._any("bye"))

    def ends(self, *, by: str) -> None:
        self._passes(*((86_400, 86_460) if by == "inactivity" else (20, 400)))
        self.row.status, self.row.ended_by = Status.ENDED, by
        # One that would still run out is ended by its customer instead.
        if self.at > self.month.now:
            self.at, self.row.ended_by = self.month.now - timedelta(minutes=5), "customer"
        self.row.ended_at, self.row.waiting_since = self.at, None
        self.row.version += 1

    def stays(self, state: str) -> None:
        """One of the chats that are not over: with the bot, in the queue, or with an agent."""
        if state == "bot":
            self.is_answered(1)
            return
        self.is_handed_over("no_answer")
        if state == "queue":
            self._warn()
            return
        self.is_taken(by=self.chance.choice(self.month.agents))
        if state == "snoozed":
            self.row.status = Status.SNOOZED
            self.row.snoozed_until = self.month.now + timedelta(days=2)
            self.row.version += 1

    def is_looked_back_on(self) -> None:
        """Tags, sentiment, a summary and the customer's rating; not for every chat."""
        mood = self.chance.choices(list(SCORES), (40, 45, 15))[0]
        if self.chance.random() < 0.8:
            self.row.sentiment = mood
            self.row.sentiment_score = SCORES[mood]
        self._tag()
        if self.chance.random() < 0.5:
            self._summarise()
        if self.chance.random() < 0.35:
            self._rate(mood)

    # --- how it is written down -----------------------------------------------------------------

    def _any(self, line: str) -> str:
        return str(self.chance.choice(SCRIPT["lines"][line][self.language]))

    def _passes(self, least: float, most: float) -> None:
        self.at += timedelta(seconds=self.chance.uniform(least, most))

    def _customer(self, text: str) -> Message:
        author = self.row.customer
        made = self._say(
            SenderType.CUSTOMER, text, after=self.chance.uniform(15, 120), name=author.name
        )
        self.row.unread_count += 1
        if self.row.assign_type != AssignType.BOT:
            self.row.waiting_since = self.row.waiting_since or self.at
        return made

    def _bot(self, asked: Message, text: str, *, small_talk: bool = False) -> None:
        gate = round(self.chance.uniform(0.82, 0.99), 4)
        receipt: dict[str, Any] = {"decision": "small_talk", "credits": 0}
        citations: list[dict[str, Any]] = []
        if not small_talk:
            engine = {"engine": "embedded", "model": "extractive", "credits": 1}
            receipt = {"decision": "answered", "gate": gate, "threshold": 0.77, **engine}
            citations = self._citations(text)
        self._say(
            SenderType.BOT,
            text,
            after=self.chance.uniform(0.2, 2.5),
            id=str(self.month.bot.pk),
            name=self.month.bot.bot_name,
            in_reply_to=asked,
            citations=citations,
            receipt=receipt,
        )
        self._is_answered_now()

    def _citations(self, quote: str) -> list[dict[str, Any]]:
        document = self.month.documents.get(self.language)
        if document is None:
            return []
        title = document.title or document.file_name
        where = {"document_id": document.pk, "title": title, "url": None, "page": None}
        return [where | {"quote": quote}]

    def _agent(self, by: User, text: str, *, is_note: bool = False) -> None:
        self._say(
            SenderType.AGENT, text, after=self.chance.uniform(20, 240), id=str(by.pk),
            name=by.full_name, is_note=is_note,
        )  # fmt: skip
        if not is_note:
            self._is_answered_now()
            self.row.unread_count, self.row.waiting_since = 0, None

    def _is_answered_now(self) -> None:
        self.row.first_response_at = self.row.first_response_at or self.at

    def _say(
        self, side: SenderType, text: str, *, after: float, id: str | None = None, name: str = "",
        **fields: Any,
    ) -> Message:  # fmt: skip
        self.at += timedelta(seconds=after)
        self.row.last_seq += 1
        made = Message(
            id=self.month.id_of(self.at),
            client_id=self.row.client_id,
            conversation=self.row,
            seq=self.row.last_seq,
            sender_type=side,
            sender_id=id,
            sender_name=name,
            content=text_content(text),
            text=text,
            language=self.language,
            created_at=self.at,
            **fields,
        )
        self.said.append(made)
        self.rows.messages.append(made)
        if not made.is_note:
            self.row.message_count += 1
            self.row.last_message, self.row.last_message_at = made, self.at
        return made

    def _warn(self) -> None:
        """The agents know that it waits: the schedule has nobody to tell."""
        self.rows.notifications += [
            Notification(
                client_id=self.row.client_id,
                user=agent,
                conversation=self.row,
                kind=NotificationKind.UNANSWERED,
                created_at=self.at + timedelta(minutes=5),
            )
            for agent in self.month.agents
        ]

    def _tag(self) -> None:
        names = {self.topic["tag"]: TagSource.AI}
        if self.row.assignee:
            names[self.chance.choice(SCRIPT["agent_tags"])] = TagSource.AGENT
        for name, source in names.items():
            if self.chance.random() < 0.75:
                self.row.tags.append(name)
                sure = round(self.chance.uniform(0.62, 0.97), 3) if source == TagSource.AI else None
                self.rows.taggings.append(
                    Tagging(
                        client_id=self.row.client_id,
                        conversation=self.row,
                        name=name,
                        source=source,
                        confidence=sure,
                        created_at=self.at,
                    )  # fmt: skip
                )

    def _summarise(self) -> None:
        words = SCRIPT["summaries"][self.language]
        asked, name = self.said[0].text, self.row.customer.name
        how = words["agent" if self.row.assignee else "bot"]
        self.row.summary = f"{words['asked'].replace('{name}', name)} {asked} {how}"
        self.rows.summaries.append(
            Summary(
                client_id=self.row.client_id,
                conversation=self.row,
                summary=self.row.summary,
                language=self.language,
                key_points=[asked, how],
                customer_intent=asked,
                resolution=how,
                message_count=self.row.message_count,
                engine="embedded",
                created_at=self.at + timedelta(seconds=8),
            )
        )

    def _rate(self, mood: str) -> None:
        stars = {"positive": (4, 5), "neutral": (3, 4), "negative": (1, 2)}[mood]
        comments = SCRIPT["comments"][mood]
        answers = [one for one in self.said if one.citations]
        rated = self.chance.choice(answers) if answers and self.chance.random() < 0.3 else None
        self.rows.feedbacks.append(
            Feedback(
                client_id=self.row.client_id,
                conversation=self.row,
                message=rated,
                rating=self.chance.choice(stars),
                resolved=None if rated else mood != "negative",
                comment=self.chance.choice(comments),
                created_at=self.at + timedelta(seconds=30),
            )
        )
