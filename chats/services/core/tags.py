"""Tags: rows that say who gave each, and the names on the chat for lists and filters."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, OuterRef, Subquery

from bots.engine.tagging import KnownTag, Suggested
from chatplatform import jobs
from chatplatform.api.errors import Invalid
from chats.models import (
    Conversation,
    LockedConversation,
    Message,
    SenderType,
    Tagging,
    TagSource,
)
from chats.services.core import conversations
from chats.shapes.insight import MAX_TAGS, Tag, Tags
from identity.models import Client, KeyScope

LISTED = 1_000
# Of each tag so many examples are read, of so many of the client's tags.
EXAMPLES = 5
KNOWN = 40


def list_for_client(client: Client) -> Tags:
    """The client's tags with the number of chats of each, the most used first."""
    counted = (
        Tagging.objects.for_client(client)
        .values("name")
        .annotate(count=Count("id"))
        .order_by("-count", "name")[:LISTED]
    )
    return Tags.model_construct(
        tags=[
            Tag.model_construct(
                name=row["name"], source=None, confidence=None, count=row["count"]
            )
            for row in counted
        ]
    )  # fmt: skip


def for_chat(chat: Conversation) -> list[Tagging]:
    """The chat's tags, in the order in which they were given."""
    return list(Tagging.objects.for_client(chat.client).filter(conversation=chat).order_by("id"))


def store_initial(chat: LockedConversation) -> None:
    """Rows for the names that a chat was opened with; in the transaction of the opening."""
    if not chat.tags:
        return
    key = chat.opened_by_key
    by_page = key is not None and key.scope == KeyScope.PUBLIC
    source = TagSource.CUSTOMER if by_page else TagSource.AGENT
    Tagging.objects.bulk_create(_rows(chat, chat.tags, source))


def add(chat: Conversation, *, names: Sequence[str]) -> list[Tagging]:
    """Give the chat tags that it does not have yet; those it has stay as they are."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        new = _unknown(names, have)
        if len(have) + len(new) > MAX_TAGS:
            raise Invalid.field("body", "tags", msg=f"A chat has at most {MAX_TAGS} tags.")
        Tagging.objects.bulk_create(_rows(locked, new, TagSource.AGENT))
        return _settle(locked, changed=bool(new))


def replace(chat: Conversation, *, names: Sequence[str]) -> list[Tagging]:
    """Give the chat these tags and no others; one that stays keeps who gave it."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        wanted = {name.casefold() for name in names}
        gone = [row.pk for row in have if row.name.casefold() not in wanted]
        Tagging.objects.filter(pk__in=gone).delete()
        new = _unknown(names, have)
        Tagging.objects.bulk_create(_rows(locked, new, TagSource.AGENT))
        return _settle(locked, changed=bool(gone or new))


def add_suggested(chat: Conversation, *, suggested: Sequence[Suggested]) -> list[Tagging]:
    """Give the chat an engine's tags, as far as there is room for more."""
    confidence = {one.name: one.confidence for one in suggested}
    with jobs.commit():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        new = _unknown(list(confidence), have)[: MAX_TAGS - len(have)]
        rows = _rows(locked, new, TagSource.AI)
        for row in rows:
            row.confidence = confidence[row.name]
        Tagging.objects.bulk_create(rows)
        return _settle(locked, changed=bool(new))


def vocabulary(chat: Conversation) -> list[KnownTag]:
    """The tags that the client uses most, with examples: what customers wrote where people gave
    them.
    """
    names = [one.name for one in list_for_client(chat.client).tags[:KNOWN] if isinstance(one, Tag)]
    first_words = Message.objects.filter(
        conversation=OuterRef("conversation"), sender_type=SenderType.CUSTOMER
    ).order_by("seq")
    given = (
        Tagging.objects.for_client(chat.client)
        .filter(source=TagSource.AGENT, name__in=names)
        .exclude(conversation=chat)
        .order_by("-id")
        .values_list("name", Subquery(first_words.values("text")[:1]))
    )
    examples: dict[str, list[str]] = {name: [] for name in names}
    for name, text in given[: KNOWN * EXAMPLES]:
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


def _settle(chat: LockedConversation, *, changed: bool) -> list[Tagging]:
    """Repeat the names on the chat and announce them, if anything changed."""
    rows = for_chat(chat)
    if changed:
        chat.tags = [row.name for row in rows]
        chat.save(update_fields=["tags"])
        said: Any = Tags.from_rows(rows).model_dump(mode="json")
        conversations.announce_change(chat, "tags.updated", **said)
    return rows
