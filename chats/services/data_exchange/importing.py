"""Imports conversations and messages; nothing is announced, sent or answered.

Rows keep the ids that they have in the files, unless another client's row has the id; then they get
a substitute that is the same in each run. So a run after a crash finds what the first run stored.
Chats may be in use during the import, so each batch of messages is stored and counted while their
chats are locked. At the end, `close_gaps` renumbers the messages of chats that are not in use.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, models, transaction
from django.db.models import Count, F, Max, Q
from django.utils import timezone

from bots.models import Bot
from chatplatform.ids import uuid7_from
from chats.models import (
    AssignType,
    Conversation,
    Customer,
    Feedback,
    Message,
    SenderType,
    Status,
    Summary,
    Tagging,
)
from chats.schemas.content_kinds import text_of
from chats.schemas.data_exchange import (
    MAX_COUNTER,
    ConversationEntity,
    MessageEntity,
    PortableFeedback,
)
from chats.services.core import messages, report_hooks, tags, team_notifications
from identity.models import Client, User

# Maps the id of a row in the files to its id in this database.
IdMap = dict[uuid.UUID, uuid.UUID]


@dataclass
class ImportResult:
    """How many rows of each kind were created, already existed or were refused; the ids of the
    rows, and warnings."""

    created: Counter[str] = field(default_factory=Counter)
    existing: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    # For each row: its kind, its id in the source and its id in this database.
    ids: list[tuple[str, str, str]] = field(default_factory=list)
    # The ids in this database of the chats to which the rows belong.
    chat_ids: set[uuid.UUID] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    def refuse(self, message: MessageEntity, why: str) -> None:
        self.refused["messages"] += 1
        self.warnings.append(f"message {message.id}: {why}")


# --- conversations ------------------------------------------------------------------------------


def import_conversations(
    client: Client, entities: Iterable[ConversationEntity], *, bot: Bot, result: ImportResult
) -> None:
    """Store one batch of conversations, all or none of them; existing conversations stay
    unchanged."""
    batch = list(entities)
    local_ids = _local_ids(Conversation, client, [entity.id for entity in batch])
    existing = _existing_ids(Conversation, client, local_ids.values())
    with transaction.atomic():
        for entity in batch:
            chat_id = local_ids[entity.id]
            result.chat_ids.add(chat_id)
            result.ids.append(("conversation", entity.external_id or str(entity.id), str(chat_id)))
            if chat_id in existing:
                result.existing["conversations"] += 1
                continue
            _create_conversation(client, entity, chat_id, bot=bot, result=result)
            existing.add(chat_id)
            result.created["conversations"] += 1


def _create_conversation(
    client: Client,
    entity: ConversationEntity,
    chat_id: uuid.UUID,
    *,
    bot: Bot,
    result: ImportResult,
) -> None:
    agent = _agent(client, entity, result)
    previous_ids = [entity.previous_chat_id] if entity.previous_chat_id else []
    local_ids = _local_ids(Conversation, client, previous_ids).values()
    previous = next(iter(_existing_ids(Conversation, client, local_ids)), None)
    lacks_agent = entity.assign_type == AssignType.AGENT.value and agent is None
    chat = Conversation(
        id=chat_id,
        client=client,
        bot=bot,
        customer=_customer(client, entity),
        assignee=agent,
        assign_type=AssignType.QUEUE if lacks_agent else entity.assign_type,
        previous_chat_id=previous,
        tags=[tag.name for tag in entity.taggings] or entity.tags,
        location=entity.location.model_dump() if entity.location else None,
        requester=entity.requester.model_dump() if entity.requester else None,
        responsible=entity.responsible.model_dump() if entity.responsible else None,
        imported_at=timezone.now(),
        **{name: getattr(entity, name) for name in _CONVERSATION_FIELDS},
    )
    if not Conversation.objects.filter(chat_code=entity.chat_code).exists():
        chat.chat_code = entity.chat_code
    chat.save(force_insert=True)
    tags.register(client.pk, [tag.name for tag in entity.taggings])
    Tagging.objects.bulk_create(
        Tagging(
            client=client, conversation=chat, **tag.model_dump() | {"created_at": tag.created_at}
        )
        for tag in entity.taggings
    )
    Summary.objects.bulk_create(
        Summary(client=client, conversation=chat, **dict(summary)) for summary in entity.summaries
    )
    if entity.feedback:
        _feedback(client, entity.feedback, chat_id, None).save()


# Columns that have the name of an entity's field but are not copied. `last_message` and
# `is_reachable` follow from what is here; all others are set above.
_NOT_COPIED = {
    "id", "customer", "assignee", "assign_type", "tags", "location", "requester", "responsible",
    "chat_code", "last_message", "is_reachable",
}  # fmt: skip
_CONVERSATION_FIELDS = (
    {field.name for field in Conversation._meta.concrete_fields}
    & ConversationEntity.model_fields.keys()
) - _NOT_COPIED


def _agent(client: Client, entity: ConversationEntity, result: ImportResult) -> User | None:
    if entity.assign_type != AssignType.AGENT.value:
        return None
    # An ended chat keeps its agent even if the agent can no longer have chats. A chat that may
    # still need an answer gets only an agent who can have it.
    has_ended = entity.status == Status.ENDED.value
    users = User.objects.for_client(client) if has_ended else team_notifications.team(client.pk)
    agent = users.filter(email=(entity.assignee_email or "").lower()).first()
    if agent is None:
        result.warnings.append(
            f"conversation {entity.id}: nobody here who may answer has the email"
            f" {entity.assignee_email}; it waits in the queue"
        )
    return agent


def _customer(client: Client, entity: ConversationEntity) -> Customer:
    """The customer with the same external id or, if the entity has none, with the same id in the
    source; created if needed."""
    fields = entity.customer.model_dump(exclude={"external_id", "attributes"}, exclude_none=True)
    identity = (
        {"external_id": entity.customer.external_id}
        if entity.customer.external_id
        else {"import_source_id": str(entity.customer_id)}
    )
    customer, _ = Customer.objects.get_or_create(
        client=client,
        **identity,
        defaults={
            **fields,
            "attributes": entity.customer.attributes,
            "created_at": entity.created_at,
        },
    )
    return customer


# --- messages -----------------------------------------------------------------------------------


def import_messages(
    client: Client, entities: Iterable[MessageEntity], *, result: ImportResult
) -> None:
    """Store one batch of messages of existing conversations; existing messages stay unchanged.

    A message is refused if its chat does not exist, or if another message of the chat has the same
    value in a field of `_UNIQUE`.
    """
    batch = list(entities)
    chat_ids = _local_ids(Conversation, client, [entity.conversation_id for entity in batch])
    local_ids = _local_ids(Message, client, [entity.id for entity in batch])
    with transaction.atomic():
        new = _new_messages(client, batch, local_ids, result)
        locked = _lock_chats(client, {chat_ids[entity.conversation_id] for entity in new})
        accepted = _without_conflicts(new, chat_ids, locked, result)
        rows = [
            _message(client, entity, local_ids[entity.id], chat_ids[entity.conversation_id])
            for entity in accepted
        ]
        messages.store_in_bulk(rows)
        _link_replies(client, accepted, local_ids, result)
        Feedback.objects.bulk_create(
            _feedback(
                client, entity.feedback, chat_ids[entity.conversation_id], local_ids[entity.id]
            )
            for entity in accepted
            if entity.feedback
        )
        result.chat_ids |= {chat_ids[entity.conversation_id] for entity in batch}
        result.created["messages"] += len(rows)


def _new_messages(
    client: Client, batch: list[MessageEntity], local_ids: IdMap, result: ImportResult
) -> list[MessageEntity]:
    """The messages of a batch that are not stored yet, without duplicates."""
    existing = _existing_ids(Message, client, local_ids.values())
    new = []
    for entity in batch:
        message_id = local_ids[entity.id]
        result.ids.append(("message", entity.external_id or str(entity.id), str(message_id)))
        if message_id in existing:
            result.existing["messages"] += 1
        else:
            existing.add(message_id)
            new.append(entity)
    return new


# Fields whose values are unique within a chat.
_UNIQUE = ("seq", "client_message_id", "external_id")


def _without_conflicts(
    entities: list[MessageEntity], chat_ids: IdMap, locked: set[uuid.UUID], result: ImportResult
) -> list[MessageEntity]:
    """The messages whose chats exist and that do not conflict with other messages of their chats.
    All others are refused."""
    used = _used_values(entities, locked)
    accepted = []
    for entity in entities:
        chat_id = chat_ids[entity.conversation_id]
        pairs = {(name, getattr(entity, name)) for name in _UNIQUE}
        values = {(name, value) for name, value in pairs if value is not None}
        conflicts = sorted(values & used[chat_id])
        if chat_id not in locked:
            result.refuse(entity, "its conversation does not exist")
        elif conflicts:
            name, value = conflicts[0]
            result.refuse(entity, f"another message of its chat has the {name} {value}")
        else:
            used[chat_id] |= values
            accepted.append(entity)
    return accepted


def _used_values(
    entities: list[MessageEntity], chat_ids: set[uuid.UUID]
) -> dict[uuid.UUID, set[tuple[str, Any]]]:
    """By chat, the values that stored messages have in the fields of `_UNIQUE`. Only stored
    messages that share such a value with one of the entities are read."""
    has_any = Q()
    for name in _UNIQUE:
        has_any |= Q(**{f"{name}__in": {getattr(entity, name) for entity in entities} - {None}})
    used: dict[uuid.UUID, set[tuple[str, Any]]] = defaultdict(set)
    stored = Message.objects.filter(has_any, conversation__in=chat_ids)
    for chat_id, *values in stored.values_list("conversation", *_UNIQUE):
        used[chat_id] |= set(zip(_UNIQUE, values, strict=True))
    return used


def _message(
    client: Client, entity: MessageEntity, message_id: uuid.UUID, chat_id: uuid.UUID
) -> Message:
    content = [part.model_dump(mode="json", exclude_none=True) for part in entity.content]
    return Message(
        id=message_id,
        client=client,
        conversation_id=chat_id,
        sender_type=entity.sender.type,
        sender_id=entity.sender.id,
        sender_name=entity.sender.name,
        recipient=entity.recipient.model_dump() if entity.recipient else None,
        content=content,
        text=text_of(content),
        citations=[citation.model_dump(mode="json") for citation in entity.citations],
        language=entity.language or "",
        customer_reaction=entity.customer_reaction or "",
        **{name: getattr(entity, name) for name in _MESSAGE_FIELDS},
    )


# Columns that are copied from the entity's fields of the same name.
_MESSAGE_FIELDS = (
    "seq", "status", "error", "is_note", "is_welcome", "client_message_id", "provider_message_id",
    "receipt", "created_at", "delivered_at", "read_at", "edited_at", "deleted_at", "external_id",
    "sent_at", "metadata", "translations", "sentiment",
)  # fmt: skip

# A message has at most one reply by the bot or the system.
_AUTOMATIC = {SenderType.BOT.value, SenderType.SYSTEM.value}


def _link_replies(
    client: Client, entities: list[MessageEntity], local_ids: IdMap, result: ImportResult
) -> None:
    """Set `in_reply_to`. The answered message may be in this batch or an earlier batch."""
    targets = [entity.in_reply_to for entity in entities if entity.in_reply_to]
    target_ids = _local_ids(Message, client, targets)
    existing = _existing_ids(Message, client, target_ids.values())
    replies = Message.objects.filter(in_reply_to__in=existing, sender_type__in=_AUTOMATIC)
    answered = set(replies.values_list("in_reply_to", flat=True))
    links = []
    for entity in entities:
        target_id = target_ids[entity.in_reply_to] if entity.in_reply_to else None
        if target_id not in existing:
            continue
        if entity.sender.type in _AUTOMATIC:
            if target_id in answered:
                result.warnings.append(
                    f"message {entity.id}: {entity.in_reply_to} has a reply already;"
                    " it is kept without in_reply_to"
                )
                continue
            answered.add(target_id)
        links.append(Message(pk=local_ids[entity.id], in_reply_to_id=target_id))
    Message.objects.bulk_update(links, ["in_reply_to"])


# --- counters and numbers -----------------------------------------------------------------------


def close_gaps(client: Client, chat_ids: Collection[uuid.UUID], *, result: ImportResult) -> None:
    """Correct the counters of these chats once all messages are imported, and number the messages
    of each chat consecutively, in their present order. The messages of a chat in use keep their
    numbers, and a chat without messages keeps its `last_seq`."""
    with transaction.atomic():
        report_hooks.stored_figures().delete(chat_ids)
        gapped = {row["pk"]: row for row in _chats_with_gaps(client, chat_ids)}
        locked = _lock_chats(client, gapped)
        messages.count_stored(locked)
        unused = _lock_chats(client, locked, last_event_seq=0)
        with connection.cursor() as cursor:
            for statement in _RENUMBER:
                cursor.execute(statement, {"chats": list(unused), "highest": MAX_COUNTER})
        for row in _chats_with_gaps(client, locked - unused):
            result.warnings.append(
                f"conversation {row['pk']}: has {row['stored']} messages, and its last one is"
                f" number {row['last_seq']}; it is in use here, so they keep their numbers"
            )


def _chats_with_gaps(client: Client, chat_ids: Iterable[uuid.UUID]) -> Iterable[dict[str, Any]]:
    """The chats that have messages, but wrong counters or gaps between the messages' numbers."""
    rows = Conversation.objects.for_client(client).filter(pk__in=list(chat_ids))
    counted: Any = rows.values("pk", "last_seq").annotate(
        stored=Count("messages"),
        shown=Count("messages", filter=Q(messages__is_note=False, messages__is_welcome=False)),
        newest=Max("messages__seq"),
    )
    gapless = Q(last_seq=F("stored"), newest=F("stored"), message_count=F("shown"))
    gapped: Iterable[dict[str, Any]] = counted.filter(~gapless, stored__gt=0)
    return gapped


# Messages first get numbers above all existing ones, because PostgreSQL checks uniqueness row by
# row.
_RENUMBER = (
    """
    UPDATE chats_conversation chat SET
        last_seq = counted.stored,
        message_count = counted.shown,
        read_from_seq = counted.read
    FROM (
        SELECT chat.id,
            count(*) AS stored,
            count(*) FILTER (WHERE NOT (is_note OR is_welcome)) AS shown,
            count(*) FILTER (WHERE seq <= chat.read_from_seq) AS read
        FROM chats_message message JOIN chats_conversation chat
            ON chat.id = message.conversation_id
        WHERE chat.id = ANY(%(chats)s)
        GROUP BY chat.id
    ) counted
    WHERE chat.id = counted.id
    """,
    """
    UPDATE chats_message message SET seq = %(highest)s + ranked.number
    FROM (
        SELECT id, row_number() OVER (PARTITION BY conversation_id ORDER BY seq) AS number
        FROM chats_message WHERE conversation_id = ANY(%(chats)s)
    ) ranked
    WHERE message.id = ranked.id
    """,
    "UPDATE chats_message SET seq = seq - %(highest)s WHERE conversation_id = ANY(%(chats)s)",
)


# --- shared -------------------------------------------------------------------------------------


def _lock_chats(client: Client, chat_ids: Iterable[uuid.UUID], **filters: Any) -> set[uuid.UUID]:
    """Lock the chats that exist and match the filters, in the order of their ids, until the
    transaction ends; return their ids."""
    rows = Conversation.objects.for_client(client).filter(pk__in=list(chat_ids), **filters)
    return set(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


def _local_ids(model: type[models.Model], client: Client, ids: list[uuid.UUID]) -> IdMap:
    """Map each id to itself or, if another client has a row with that id, to a substitute, which is
    the same in each run."""
    rows = model._default_manager.filter(pk__in=ids).exclude(client=client)
    foreign = set(rows.values_list("pk", flat=True))
    return {
        pk: uuid7_from(pk.int >> 80, f"{client.pk}:{pk}") if pk in foreign else pk for pk in ids
    }


def _existing_ids(
    model: type[models.Model], client: Client, ids: Iterable[uuid.UUID]
) -> set[uuid.UUID]:
    rows = model._default_manager.filter(client=client, pk__in=list(ids))
    return set(rows.values_list("pk", flat=True))


def _feedback(
    client: Client, feedback: PortableFeedback, chat_id: uuid.UUID, message_id: uuid.UUID | None
) -> Feedback:
    return Feedback(client=client, conversation_id=chat_id, message_id=message_id, **dict(feedback))
