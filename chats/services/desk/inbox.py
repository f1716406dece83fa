"""Lists of chats, with filters and search."""

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

# Words of a search that are used; more make it slower and no better.
MAX_TERMS = 10
NEWEST_ACTIVITY = ("-activity", "-id")


def chats(caller: Principal, query: ChatsQuery) -> QuerySet[Conversation]:
    """The chats that the caller may see and that match every filter of the query."""
    exact = ("status", "bot_id", "channel", "assignee_id", "sentiment")
    filters: dict[str, Any] = {
        name: getattr(query, name) for name in exact if getattr(query, name) is not None
    }
    if query.tag is not None:
        filters["tags__contains"] = [query.tag]
    if query.created_from:
        filters["created_at__gte"] = query.created_from
    if query.created_to:
        filters["created_at__lt"] = query.created_to
    rows = _with_activity(conversations.visible_to_caller(caller)).filter(**filters)
    return rows.filter(pk__in=_search(caller.client, query.q)) if query.q else rows


def chats_of_customer(client: Client, customer_id: int) -> QuerySet[Conversation]:
    """All chats of one customer; 404 for another client's."""
    if not Customer.objects.for_client(client).filter(pk=customer_id).exists():
        raise NotFound
    return _with_activity(Conversation.objects.for_client(client)).filter(customer_id=customer_id)


def chats_of_bot(client: Client, bot_id: int) -> QuerySet[Conversation]:
    """All chats of one bot; 404 for another client's."""
    if not Bot.objects.for_client(client).filter(pk=bot_id).exists():
        raise NotFound
    return _with_activity(Conversation.objects.for_client(client)).filter(bot_id=bot_id)


def transcript(chat: Conversation) -> QuerySet[Message]:
    """Every message of a chat, internal notes too."""
    rows = Message.objects.for_client(chat.client)
    return rows.filter(conversation=chat)


def _with_activity(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Rows with the time of the newest activity and all that their shape shows, in one query."""
    return rows.select_related("customer", "assignee", "last_message").annotate(
        activity=Coalesce("last_message_at", "created_at")
    )


def _search(client: Client, q: str) -> QuerySet[Any, Any]:
    """Ids of chats with all words of `q` in a message, or with a code or customer like it."""
    words = " ".join(q.split()[:MAX_TERMS])
    by_message: QuerySet[Any, Any] = (
        Message.objects.for_client(client)
        .annotate(words=SearchVector("text", config="simple"))
        .filter(words=SearchQuery(words, config="simple"))
        .values("conversation_id")
    )
    chats = Conversation.objects.for_client(client)
    by_code = chats.filter(chat_code__startswith=q.strip().upper()).values("pk")
    names = Customer.objects.for_client(client).filter(name__istartswith=q.strip()).values("pk")
    return by_message.union(by_code, chats.filter(customer_id__in=names).values("pk"))
