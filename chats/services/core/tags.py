"""The tags of conversations, each with its source, and the client's list of all tags."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_noop

from bots.engine.tagging import KnownTag, TagSuggestion
from chatplatform import jobs
from chatplatform.api.errors import ApiError, Invalid, NotFound, first_or_404, unique
from chats.models import (
    ClientTag,
    Conversation,
    LockedConversation,
    Message,
    SenderType,
    Tagging,
    TagSource,
)
from chats.schemas.tags import MAX_TAGS, ClientTagRequest, ClientTags, Tag, Tags, key_of
from chats.services.core import conversations
from identity.models import Client, User
from identity.services import audit

MAX_LISTED = 1_000
# The maximum number of chats in which one job renames a tag; then another job continues.
CHATS_PER_JOB = 100
# The maximum number of tags in `vocabulary`, and of examples for each tag.
VOCABULARY_TAGS = 40
EXAMPLES = 5


class TagExists(ApiError):
    code, status = "tag_exists", 409
    detail = gettext_noop("A tag with this name already exists. Merge the two.")


def list_for_client(client: Client) -> ClientTags:
    """The client's `MAX_LISTED` most used tags, each with its number of chats."""
    rows = _counted(ClientTag.objects.for_client(client)).order_by("-count", "name")
    return ClientTags.model_construct(tags=[_tag(row) for row in rows[:MAX_LISTED]])


def create(user: User, body: ClientTagRequest) -> Tag:
    """Create a tag that no chat has yet; 409 `tag_exists` if the client already has this tag."""
    if body.name is None:
        raise Invalid.field("body", "name", msg="Field required", type="missing")
    assert user.client
    (known,) = canonical_names(user.client.pk, [body.name])
    if known != body.name:
        raise TagExists
    row = ClientTag(client=user.client, name=body.name, colour=body.colour or "")
    _save(row, "created", by=user, changes={"name": row.name})
    return _tag(_counted(ClientTag.objects.filter(pk=row.pk)).get())


def update(user: User, tag_id: int, body: ClientTagRequest) -> Tag:
    """Change a tag's name or color; a job renames it in the chats that have it. 409 `tag_exists`
    if another tag has the name."""
    with transaction.atomic():
        row = _lock(user, tag_id)
        before = row.name
        if "colour" in body.model_fields_set:
            row.colour = body.colour or ""
        if body.name is not None and body.name != before:
            (known,) = canonical_names(row.client_id, [body.name])
            if known not in {before, body.name}:
                raise TagExists
            row.name = body.name
        _save(row, "updated", by=user, changes={"name": [before, row.name]})
        if row.name != before:
            _enqueue_rename(row.client_id, before, row.name)
    return _tag(_counted(ClientTag.objects.filter(pk=row.pk)).get())


def merge(user: User, tag_id: int, *, into: str) -> Tag:
    """Delete a tag; a job replaces it in all chats by the tag `into`."""
    with transaction.atomic():
        row = _lock(user, tag_id)
        (into,) = canonical_names(row.client_id, [into])
        others = ClientTag.objects.filter(client_id=row.client_id, name=into)
        target = _counted(others.exclude(pk=tag_id)).first()
        if target is None:
            raise Invalid.field("body", "into", msg="No other tag has this name.")
        _record(row, "merged", by=user, changes={"name": [row.name, into]})
        _enqueue_rename(row.client_id, row.name, into)
        row.delete()
    return _tag(target)


def delete(user: User, tag_id: int) -> None:
    """Delete a tag; a job removes it from the chats that have it."""
    with transaction.atomic():
        row = _lock(user, tag_id)
        _record(row, "deleted", by=user, changes={"name": row.name})
        _enqueue_rename(row.client_id, row.name, None)
        row.delete()


def rename_in_chats(client_id: int, name: str, new_name: str | None, *, up_to: int) -> None:
    """Rename a tag in the next chats that have it or, if `new_name` is None, remove it. Taggings
    that are newer than `up_to` stay."""
    rows = Tagging.objects.filter(client_id=client_id, name=name, pk__lte=up_to)
    with jobs.commit():
        chats = Conversation.objects.filter(taggings__in=rows).order_by("pk")[:CHATS_PER_JOB]
        for chat in list(chats):
            with suppress(NotFound):  # the chat was deleted
                _rename_in_chat(conversations.lock(chat), rows, new_name)
        if len(chats) == CHATS_PER_JOB:
            _enqueue_rename(client_id, name, new_name, up_to=up_to)


def for_chat(chat: Conversation) -> list[Tagging]:
    """The chat's tags, in the order in which they were added."""
    return list(Tagging.objects.for_client(chat.client).filter(conversation=chat).order_by("id"))


def store_initial(chat: LockedConversation) -> None:
    """Store a row for each tag of a new chat."""
    if chat.tags:
        _store(_rows(chat, chat.tags, TagSource.AGENT))


def add(chat: Conversation, *, names: Sequence[str]) -> list[Tagging]:
    """Add the tags that the chat does not have yet; return all of its tags. 422 if the chat would
    have more than `MAX_TAGS` tags."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        new = canonical_names(locked.client_id, _unknown(names, have))
        if len(have) + len(new) > MAX_TAGS:
            raise Invalid.field(
                "body", "tags", msg=(f"A conversation can have up to {MAX_TAGS} tags.")
            )
        _store(_rows(locked, new, TagSource.AGENT))
        return _update_names(locked, changed=bool(new))


def replace(chat: Conversation, *, names: Sequence[str]) -> list[Tagging]:
    """Replace the chat's tags with these and return them; a tag that stays keeps its source."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        requested = {key_of(name) for name in names}
        removed = [row.pk for row in have if key_of(row.name) not in requested]
        Tagging.objects.filter(pk__in=removed).delete()
        new = canonical_names(locked.client_id, _unknown(names, have))
        _store(_rows(locked, new, TagSource.AGENT))
        return _update_names(locked, changed=bool(removed or new))


def add_suggested(chat: Conversation, *, suggested: Sequence[TagSuggestion]) -> list[Tagging]:
    """Add tags that an engine suggested, until the chat has `MAX_TAGS`; return all tags of the
    chat."""
    confidence = {tag.name: tag.confidence for tag in suggested}
    with jobs.commit():
        locked = conversations.lock(chat)
        have = for_chat(locked)
        new = _unknown(list(confidence), have)[: MAX_TAGS - len(have)]
        rows = _rows(locked, canonical_names(locked.client_id, new), TagSource.AI)
        for row, name in zip(rows, new, strict=True):
            row.confidence = confidence[name]
        _store(rows)
        return _update_names(locked, changed=bool(new))


def vocabulary(chat: Conversation) -> list[KnownTag]:
    """The client's most used tags, each with examples: customers' first messages in other chats to
    which agents gave the tag."""
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


def canonical_names(client_id: int, names: Iterable[str]) -> list[str]:
    """The names in the spelling of the client's list; names that are not in it stay as they are. If
    the list has several spellings, which concurrent requests can cause, an exact match is used,
    else the oldest spelling."""
    requested = list(names)
    rows = ClientTag.objects.filter(client_id=client_id)
    exact = (
        set(rows.filter(name__in=requested).values_list("name", flat=True)) if requested else set()
    )
    if len(exact) == len(requested):
        return requested
    known = {key_of(name): name for name in rows.order_by("-pk").values_list("name", flat=True)}
    return [name if name in exact else known.get(key_of(name), name) for name in requested]


def register(client_id: int, names: Iterable[str]) -> None:
    """Add names to the client's list of tags."""
    # Sorted, because two transactions that add the same names in different orders could deadlock.
    rows = [ClientTag(client_id=client_id, name=name) for name in sorted(set(names))]
    ClientTag.objects.bulk_create(rows, ignore_conflicts=True)


def _store(rows: Sequence[Tagging]) -> None:
    if rows:
        register(rows[0].client_id, [row.name for row in rows])
        Tagging.objects.bulk_create(rows)


def _counted(rows: QuerySet[ClientTag]) -> QuerySet[Any]:
    """The tags, each annotated with the number of chats that have it, without previews."""
    taggings = Tagging.objects.filter(
        client=OuterRef("client"), name=OuterRef("name"), conversation__is_preview=False
    )
    counts = taggings.order_by().values("name").annotate(count=Count("pk")).values("count")
    return rows.annotate(count=Coalesce(Subquery(counts), 0))


def _tag(row: Any) -> Tag:
    return Tag.copy_from(row, source=None, confidence=None, colour=row.colour or None)


def _lock(user: User, tag_id: int) -> ClientTag:
    assert user.client
    rows = ClientTag.objects.for_client(user.client).filter(pk=tag_id)
    return first_or_404(rows.select_for_update(of=("self",)))


def _save(row: ClientTag, action: str, *, by: User, changes: dict[str, Any]) -> None:
    with unique("client_tag_unique", TagExists):
        row.save()
        _record(row, action, by=by, changes=changes)


def _record(row: ClientTag, action: str, *, by: User, changes: dict[str, Any]) -> None:
    audit.record(row.client_id, f"tag.{action}", by=by, subject=f"tag:{row.pk}", changes=changes)


def _enqueue_rename(
    client_id: int, name: str, new_name: str | None, *, up_to: int | None = None
) -> None:
    """Enqueue a rename, or a removal if `new_name` is None. A client's renames run one after the
    other."""
    if up_to is None:
        newest = Tagging.objects.filter(client_id=client_id, name=name).order_by("-pk").first()
        if newest is None:
            return
        up_to = newest.pk
    jobs.enqueue(
        "chats.rename_tag", client_id=client_id, ordering_key=f"tags:{client_id}",
        client=client_id, old_name=name, new_name=new_name, up_to=up_to,
    )  # fmt: skip


def _rename_in_chat(
    chat: LockedConversation, rows: QuerySet[Tagging], new_name: str | None
) -> None:
    row = rows.filter(conversation=chat).first()
    if row is None:
        return
    others = [other for other in for_chat(chat) if other.pk != row.pk]
    if new_name is None or not _unknown([new_name], others):
        row.delete()
    else:
        row.name = new_name
        row.save(update_fields=["name"])
    _update_names(chat, changed=True)


def _unknown(names: Iterable[str], have: Iterable[Tagging]) -> list[str]:
    had = {key_of(row.name) for row in have}
    return [name for name in names if key_of(name) not in had]


def _rows(chat: Conversation, names: Iterable[str], source: TagSource) -> list[Tagging]:
    return [
        Tagging(client_id=chat.client_id, conversation=chat, name=name, source=source)
        for name in names
    ]


def _update_names(chat: LockedConversation, *, changed: bool) -> list[Tagging]:
    """If `changed`, copy the tags' names to the chat and announce them; return the chat's tags."""
    rows = for_chat(chat)
    if changed:
        chat.tags = [row.name for row in rows]
        chat.save(update_fields=["tags"])
        data: Any = Tags.from_rows(rows).model_dump(mode="json")
        conversations.announce_change(chat, "tags.updated", **data)
    return rows
