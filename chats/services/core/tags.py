"""Tags: rows with the source of each, and their names on the chat for lists and filters."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, OuterRef, Subquery

from bots.engine.tagging import KnownTag, Suggested
from chatplatform import jobs
from chatplatform.api.errors import Invalid
from chats.models import Conversation, LockedConversation, Message, SenderType, Tagging, TagSource
from chats.services.core import conversations
from chats.shapes.insight import MAX_TAGS, Tag, Tags
from identity.models import Client, KeyScope

MAX_LISTED = 1_000
# The vocabulary: so many of the client's tags, with so many examples each.
VOCABULARY_TAGS = 40
EXAMPLES = 5


def list_for_client(client: Client) -> Tags:
    """The client's tags with the number of chats of each, the most used first."""
    counted = (
        Tagging.objects.for_client(client)
        .values("name")
        .annotate(count=Count("id"))
        .order_by("-count", "name")[:MAX_LISTED]
    )
    return Tags.model_construct(tags=[Tag.model_construct(**row) for row in counted])


def for_chat(chat: Conversation) -> list[Tagging]:
    """The chat's tags, in the order in which they were given."""
    return list(Tagging.objects.for_client(chat.client).filter(conversation=chat).order_by("id"))


def store_initial(chat: LockedConversation) -> None:
    """Write rows for the tags that a chat is opened with."""
    if not chat.tags:
        return
    key = chat.opened_by_key
    by_page = key is not None and key.scope == KeyScope.PUBLIC
    source = TagSource.CUSTOMER if by_page else TagSource.AGENT
    Tagging.objects.bulk_create(_rows(chat, chat.tags, source))


def add(chat: Conversation, *, names: Sequence[str]) -> list[Tagging]:
    """Add tags that the chat does not have yet."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        new = _unknown(names, have)
        if len(have) + len(new) > MAX_TAGS:
            raise Invalid.field("body", "tags", msg=f"A chat has at most {MAX_TAGS} tags.")
        Tagging.objects.bulk_create(_rows(locked, new, TagSource.AGENT))
        return _update_names(locked, changed=bool(new))


def replace(chat: Conversation, *, names: Sequence[str]) -> list[Tagging]:
    """Give the chat these tags and no others; a tag that stays keeps its source."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        kept = {name.casefold() for name in names}
        removed = [row.pk for row in have if row.name.casefold() not in kept]
        Tagging.objects.filter(pk__in=removed).delete()
        new = _unknown(names, have)
        Tagging.objects.bulk_create(_rows(locked, new, TagSource.AGENT))
        return _update_names(locked, changed=bool(removed or new))


def add_suggested(chat: Conversation, *, suggested: Sequence[Suggested]) -> list[Tagging]:
    """Add an engine's tags, up to the most that a chat may have."""
    confidence = {tag.name: tag.confidence for tag in suggested}
    with jobs.commit():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        new = _unknown(list(confidence), have)[: MAX_TAGS - len(have)]
        rows = _rows(locked, new, TagSource.AI)
        for row in rows:
            row.confidence = confidence[row.name]
        Tagging.objects.bulk_create(rows)
        return _update_names(locked, changed=bool(new))


def vocabulary(chat: Conversation) -> list[KnownTag]:
    """The client's most used tags, with examples: first messages of chats that agents tagged."""
    names = [tag.name for tag in list_for_client(chat.client).tags[:VOCABULARY_TAGS]]
    first_words = Message.objects.filter(
        conversation=OuterRef("conversation"), sender_type=SenderType.CUSTOMER
    ).order_by("seq")
    rows = (
        Tagging.objects.for_client(chat.client)
        .filter(source=TagSource.AGENT, name__in=names)
        .exclude(conversation=chat)
        .order_by("-id")
        .values_list("name", Subquery(first_words.values("text")[:1]))
    )
    examples: dict[str, list[str]] = {name: [] for name in names}
    for name, text in rows[: VOCABULARY_TAGS * EXAMPLES]:
        if text and len(examples[name]) < EXAMPLES:
            examples[name].append(text)
    return [KnownTag(name, tuple(texts)) for name, texts in examples.items()]


def _unknown(names: Iterable[str], have: Iterable[Tagging]) -> list[str]:
    had = {row.name.casefold() for row in have}
    return [name for name in names if name.casefold() not in had]


def _rows(chat: Conversation, names: Iterable[str], source: TagSource) -> list[Tagging]:
    return [
        Tagging(client_id=chat.client_id, conversation=chat, name=name, source=source)
        for name in names
    ]


def _update_names(chat: LockedConversation, *, changed: bool) -> list[Tagging]:
    """Write the names to the chat and announce them, if anything changed."""
    rows = for_chat(chat)
    if changed:
        chat.tags = [row.name for row in rows]
        chat.save(update_fields=["tags"])
        data: Any = Tags.from_rows(rows).model_dump(mode="json")
        conversations.announce_change(chat, "tags.updated", **data)
    return rows
