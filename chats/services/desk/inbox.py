"""Searches chats, counts the chats in each view of the desk, and reads a chat's messages, steps and
receipts."""

import uuid
from typing import Any

from django.db.models import BigIntegerField, Func, IntegerField, Q, QuerySet, Value
from django.db.models.functions import Cast
from psycopg import sql

from bots.models import Bot, Chunk
from chatplatform.api.errors import NotFound, first_or_404
from chats.models import AssignType, Conversation, Customer, Message, Status
from chats.schemas.conversation import ChatCounts
from chats.schemas.reply_explanation import ReplyReceipt, StoredReceipt
from chats.services.core import conversations, customers
from identity.auth import Principal
from identity.models import Client, User
from webhooks.models import Event

# The maximum number of words that a search uses. More words would make it slower, but not better.
MAX_TERMS = 10
# A search considers the newest MAX_MATCHES messages that match. If no index helps, it searches only
# the newest MAX_UNINDEXED messages. Because MAX_MATCHES is small, the planner may search for a
# frequent word by walking through the newest messages (bench/growth.py).
MAX_MATCHES, MAX_UNINDEXED = 2_000, 10_000
# The maximum number of customers that a search considers, and of chats of these customers.
MAX_CUSTOMERS, MAX_FOUND = 1_000, 10_000
# Counting the chats of a view stops at this number.
MAX_COUNTED = 10_000
MAX_STEPS = 200
# The types of events that are steps of a chat.
STEPS = [
    f"conversation.{what}"
    for what in (
        "assigned",
        "unassigned",
        "handed_off",
        "prioritized",
        "snoozed",
        "ended",
        "reopened",
    )
]


def terms_of(q: str | None) -> list[str]:
    """The first `MAX_TERMS` words of a search."""
    return (q or "").split()[:MAX_TERMS]


def counts(user: User) -> ChatCounts:
    """The number of chats in each view of a person's desk, counted by one statement. Previews are
    left out, and each number is at most `MAX_COUNTED`."""
    assert user.client
    rows = Conversation.objects.for_client(user.client).filter(is_preview=False)
    is_open, is_mine = Q(status=Status.OPEN), Q(assignee=user)
    is_unread = Q(unread_count__gt=0)
    views = {
        "mine": is_open & is_mine,
        "unassigned": is_open & Q(assign_type=AssignType.QUEUE),
        "all": is_open,
        "snoozed": Q(status=Status.SNOOZED),
        "ended": Q(status=Status.ENDED),
        "unread": is_open & is_unread,
        "mine_unread": is_open & is_mine & is_unread,
    }
    counted = {name: _Count(rows.filter(where).values("pk")[:MAX_COUNTED].query)
               for name, where in views.items()}  # fmt: skip
    client = Client.objects.filter(pk=user.client.pk).annotate(**counted)
    return ChatCounts.model_construct(**client.values(*views).get())


def chats_of(client: Client, owner: type[Customer | Bot], pk: int) -> QuerySet[Conversation]:
    """All chats of a customer or a bot except previews; 404 for a customer or bot of another
    client."""
    row: Any = first_or_404(owner.objects.for_client(client).filter(pk=pk))
    rows: QuerySet[Conversation] = row.conversations.filter(is_preview=False)
    return rows


def transcript(chat: Conversation) -> QuerySet[Message]:
    """Every message of a chat, including internal notes, unordered."""
    return Message.objects.for_client(chat.client).filter(conversation=chat)


def transcript_for(caller: Principal, chat_id: uuid.UUID) -> QuerySet[Message]:
    """The `transcript` of a chat that the caller may see; 404 for any other chat."""
    if not conversations.visible_to_caller(caller).filter(pk=chat_id).exists():
        raise NotFound
    return Message.objects.for_client(caller.client).filter(conversation_id=chat_id)


def steps(chat: Conversation) -> list[Event]:
    """The chat's newest events that changed its owner, status or priority, oldest first."""
    rows = Event.objects.for_client(chat.client).filter(conversation_id=chat.pk, type__in=STEPS)
    return list(rows.order_by("-sequence")[:MAX_STEPS])[::-1]


def receipt(chat: Conversation, message_id: uuid.UUID) -> ReplyReceipt:
    """The receipt of a chat's message, which explains it; 404 if the message has none."""
    rows = Message.objects.for_client(chat.client).filter(conversation=chat, receipt__isnull=False)
    message = first_or_404(rows.filter(pk=message_id))
    stored = StoredReceipt.from_row(message)
    passages = Chunk.objects.for_client(chat.client).filter(
        bot_id=chat.bot_id, pk__in=[found.id for found in stored.chunks]
    )
    return ReplyReceipt.of(message, stored, passages.select_related("document"))


class _Count(Func):
    """The number of rows of a subquery."""

    template = "(SELECT count(*) FROM %(expressions)s counted)"
    output_field = IntegerField()


class _Literal(Value):
    """A text that is written into the statement, so that the planner can estimate how rare it is.
    The planner does not know the value of a prepared statement's parameter."""

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[()]]:
        return sql.Literal(self.value).as_string().replace("%", "%%"), ()


def search(client: Client, q: str) -> QuerySet[Any, Any]:
    """The ids of chats that have all words of `q` in one message, or whose code or customer
    matches."""
    terms, whole = terms_of(q), q.strip()
    is_indexed = bool(customers.INDEXED.search(q))
    # The customers' ids are passed as values. With a subquery, the planner would not know how few
    # there are, and would read every chat.
    found_customers = customers.search(client, q).values_list("pk", flat=True)[:MAX_CUSTOMERS]
    chats = Conversation.objects.for_client(client)
    found = chats.filter(chat_code__startswith=whole.upper()).values("pk")
    of_customers = chats.filter(customer_id__in=list(found_customers))
    found = found.union(of_customers.order_by("-id").values("pk")[:MAX_FOUND])
    # Like `for_client`, but with a bigint, the only type that the index can compare. The value
    # needs its type too: a plain number is sent as an int4, which cuts ids above 2,147,483,647.
    client_id = Cast(Value(client.pk, BigIntegerField()), BigIntegerField())
    messages = Message.objects.filter(client_id=client_id, is_welcome=False)
    if not is_indexed:
        newest = messages.order_by("-id")[:MAX_UNINDEXED]
        messages = Message.objects.filter(pk__in=newest.values("pk"))
    for term in terms:
        messages = messages.filter(text__icontains=_Literal(term))
    return found.union(messages.order_by("-id")[:MAX_MATCHES].values("conversation_id"))
