"""What a client's people see of its chats: lists, filters and search."""

from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from bots.models import Bot
from chatplatform.api.errors import NotFound
from chats.models import Conversation, Customer, Message
from chats.services.core import conversations
from chats.shapes.conversation import ChatsQuery
from identity.auth import Principal
from identity.models import Client

# Words of a search that count; more make it slower and no better.
MAX_TERMS = 10
NEWEST_ACTIVITY = ("-activity", "-id")


def chats(caller: Principal, asked: ChatsQuery) -> QuerySet[Conversation]:
    """What the caller may see, a person or a key, and every filter given matches."""
    exact = ("status", "bot_id", "channel", "assignee_id", "sentiment")
    named: dict[str, Any] = {
        name: getattr(asked, name) for name in exact if getattr(asked, name) is not None
    }
    if asked.tag is not None:
        named["tags__contains"] = [asked.tag]
    if asked.created_from:
        named["created_at__gte"] = asked.created_from
    if asked.created_to:
        named["created_at__lt"] = asked.created_to
    rows = _listed(conversations.seen_by(caller)).filter(**named)
    return rows.filter(pk__in=_found(caller.client, asked.q)) if asked.q else rows


def of_customer(client: Client, customer_id: int) -> QuerySet[Conversation]:
    """All chats of one customer; 404 for another client's."""
    if not Customer.objects.for_client(client).filter(pk=customer_id).exists():
        raise NotFound
    return _listed(Conversation.objects.for_client(client)).filter(customer_id=customer_id)


def of_bot(client: Client, bot_id: int) -> QuerySet[Conversation]:
    """All chats of one bot; 404 for another client's."""
    if not Bot.objects.for_client(client).filter(pk=bot_id).exists():
        raise NotFound
    return _listed(Conversation.objects.for_client(client)).filter(bot_id=bot_id)


def transcript(chat: Conversation) -> QuerySet[Message]:
    """Every message of a chat, internal notes too."""
    rows: QuerySet[Message] = Message.objects.for_client(chat.client)
    return rows.filter(conversation=chat)


def _listed(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Rows with all that their shape shows, so that a list costs one query."""
    return rows.select_related("customer", "assignee", "last_message").annotate(
        activity=Coalesce("last_message_at", "created_at")
    )


def _found(client: Client, q: str) -> QuerySet[Any, Any]:
    """Ids of chats that say all the words, or whose code or customer's name begins so."""
    words = " ".join(q.split()[:MAX_TERMS])
    said: QuerySet[Any, Any] = (
        Message.objects.for_client(client)
        .annotate(words=SearchVector("text", config="simple"))
        .filter(words=SearchQuery(words, config="simple"))
        .values("conversation_id")
    )
    chats = Conversation.objects.for_client(client)
    code = chats.filter(chat_code__startswith=q.strip().upper()).values("pk")
    names = Customer.objects.for_client(client).filter(name__istartswith=q.strip()).values("pk")
    return said.union(code, chats.filter(customer_id__in=names).values("pk"))
