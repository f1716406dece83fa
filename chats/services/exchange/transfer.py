"""Conversations on the move: pages of an export, and their way back in without side effects.

An import announces nothing, notifies nobody and starts no reply. It keeps the ids it is given, so
that a second run finds what the first one made: after a crash it is simply run again.

Chats may be in use while their messages come in: these are stored under the lock of their chats,
which count them at once. Numbers that the files leave out are closed by `put_in_order`, at the end.
"""

import hashlib
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import connection, models, transaction
from django.db.models import Count, F, Max, Prefetch, Q, QuerySet
from django.utils import timezone

from bots.models import Bot
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
from chats.services.core import notifications
from chats.services.core.conversations import visible_to
from chats.services.core.messages import text_of
from chats.shapes.portable import HIGHEST, ConversationEntity, MessageEntity, PortableFeedback
from identity.models import ApiKey, Client, User

# A row of a transaction that is still open has an id already and is not to be seen: an export
# that went past it would miss it. No request takes this long to commit.
SETTLED_AFTER = timedelta(seconds=5)


def conversations(key: ApiKey) -> QuerySet[Conversation]:
    """What a key may take along; those of the last seconds follow on the next page."""
    rows = visible_to(key)
    whole_chat = Prefetch(
        "feedbacks", Feedback.objects.filter(message__isnull=True), to_attr="chat_feedback"
    )
    return (
        rows.filter(created_at__lt=timezone.now() - SETTLED_AFTER)
        .select_related("customer", "assignee", "last_message")
        .prefetch_related(
            Prefetch("taggings", Tagging.objects.order_by("id")),
            Prefetch("summaries", Summary.objects.order_by("id")),
            whole_chat,
        )
    )


def messages(key: ApiKey) -> QuerySet[Message]:
    """The messages of what a key, a secret one, may take along, internal notes too."""
    rows: QuerySet[Message] = Message.objects.for_client(key.client)
    if key.bot_id:
        rows = rows.filter(conversation__bot_id=key.bot_id)
    return rows.filter(created_at__lt=timezone.now() - SETTLED_AFTER).prefetch_related(
        "feedback_set"
    )


def _nothing_yet() -> dict[str, int]:
    return {"conversations": 0, "messages": 0}


@dataclass
class Tally:
    """What an import made, what was there already, and what it could not keep."""

    made: dict[str, int] = field(default_factory=_nothing_yet)
    known: dict[str, int] = field(default_factory=_nothing_yet)
    refused: dict[str, int] = field(default_factory=_nothing_yet)
    # (kind, id there, id here)
    ids: list[tuple[str, str, str]] = field(default_factory=list)
    # The chats that the rows are about, by their ids here.
    chats: set[uuid.UUID] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)

    def refuse(self, message: MessageEntity, why: str) -> None:
        self.refused["messages"] += 1
        self.remarks.append(f"message {message.id}: {why}")


def import_conversations(
    client: Client, entities: Iterable[ConversationEntity], *, bot: Bot, tally: Tally
) -> None:
    """Store one page of conversations, all or none of it; known ones stay as they are."""
    page = list(entities)
    here = _ids_here(Conversation, client, [one.id for one in page])
    known = _known(Conversation, client, here.values())
    with transaction.atomic():
        for entity in page:
            chat_id = here[entity.id]
            tally.chats.add(chat_id)
            tally.ids.append(("conversation", entity.external_id or str(entity.id), str(chat_id)))
            if chat_id in known:
                tally.known["conversations"] += 1
                continue
            _make_conversation(client, entity, chat_id, bot=bot, tally=tally)
            known.add(chat_id)
            tally.made["conversations"] += 1


def import_messages(client: Client, entities: Iterable[MessageEntity], *, tally: Tally) -> None:
    """Store one page of messages of conversations that are there; known ones stay as they are.

    Where another message of the chat has the number or id of one, that one is refused.
    """
    page = list(entities)
    chats = _ids_here(Conversation, client, [one.conversation_id for one in page])
    here = _ids_here(Message, client, [one.id for one in page])
    with transaction.atomic():
        fresh = _fresh(client, page, here, tally)
        there = _lock(client, {chats[one.conversation_id] for one in fresh})
        made = _fitting(fresh, chats, there, tally)
        rows = [_message(client, one, here[one.id], chats[one.conversation_id]) for one in made]
        Message.objects.bulk_create(rows)
        _link(client, made, here, tally)
        Feedback.objects.bulk_create(
            _feedback(client, one.feedback, chats[one.conversation_id], here[one.id])
            for one in made
            if one.feedback
        )
        _update_counters({row.conversation_id for row in rows})
        tally.chats |= {chats[one.conversation_id] for one in page}
        tally.made["messages"] += len(rows)


def _fresh(
    client: Client, page: list[MessageEntity], here: dict[uuid.UUID, uuid.UUID], tally: Tally
) -> list[MessageEntity]:
    """The messages that are not stored yet, each once."""
    known = _known(Message, client, here.values())
    fresh = []
    for entity in page:
        message_id = here[entity.id]
        tally.ids.append(("message", entity.external_id or str(entity.id), str(message_id)))
        if message_id in known:
            tally.known["messages"] += 1
        else:
            known.add(message_id)
            fresh.append(entity)
    return fresh


def _lock(client: Client, chat_ids: Iterable[uuid.UUID], **more: Any) -> set[uuid.UUID]:
    """Those of the chats that are there, locked until the transaction ends, always in one order."""
    rows = Conversation.objects.for_client(client).filter(pk__in=list(chat_ids), **more)
    return set(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


# What no two messages of a chat have in common.
_UNIQUE = ("seq", "client_message_id", "external_id")


def _fitting(
    fresh: list[MessageEntity],
    chats: dict[uuid.UUID, uuid.UUID],
    there: set[uuid.UUID],
    tally: Tally,
) -> list[MessageEntity]:
    """The messages that fit into their chats, which are locked; the others are refused."""
    taken = _taken(fresh, there)
    fitting = []
    for entity in fresh:
        chat_id = chats[entity.conversation_id]
        own = {(name, getattr(entity, name)) for name in _UNIQUE} - {(n, None) for n in _UNIQUE}
        twice = sorted(own & taken[chat_id])
        if chat_id not in there:
            tally.refuse(entity, "its conversation is not there")
        elif twice:
            name, value = twice[0]
            tally.refuse(entity, f"another message of its chat has the {name} {value}")
        else:
            taken[chat_id] |= own
            fitting.append(entity)
    return fitting


def _taken(
    fresh: list[MessageEntity], there: set[uuid.UUID]
) -> dict[uuid.UUID, set[tuple[str, Any]]]:
    """By chat, which of the numbers and ids of the messages are another's already."""
    asked = Q()
    for name in _UNIQUE:
        asked |= Q(**{f"{name}__in": {getattr(one, name) for one in fresh} - {None}})
    taken: dict[uuid.UUID, set[tuple[str, Any]]] = defaultdict(set)
    stored = Message.objects.filter(asked, conversation__in=there)
    for chat_id, *values in stored.values_list("conversation", *_UNIQUE):
        taken[chat_id] |= set(zip(_UNIQUE, values, strict=True))
    return taken


# As `services.messages` counts a new message. What the chat's row holds is never made less: it may
# be ahead of the messages that have come so far.
_COUNT = """
UPDATE chats_conversation chat SET
    last_seq = greatest(chat.last_seq, said.last_seq),
    message_count = greatest(chat.message_count, said.shown),
    last_message_id = said.last_message_id,
    last_message_at = greatest(chat.last_message_at, said.last_message_at),
    first_response_at = coalesce(chat.first_response_at, said.first_response_at)
FROM (
    SELECT conversation_id,
        max(seq) AS last_seq,
        count(*) FILTER (WHERE NOT is_note) AS shown,
        (array_agg(id ORDER BY seq DESC) FILTER (WHERE NOT is_note))[1] AS last_message_id,
        max(created_at) FILTER (WHERE NOT is_note AND sent_at IS NULL) AS last_message_at,
        min(created_at) FILTER (
            WHERE NOT is_note AND sent_at IS NULL AND sender_type = ANY(%(answering)s)
        ) AS first_response_at
    FROM chats_message WHERE conversation_id = ANY(%(chats)s)
    GROUP BY conversation_id
) said
WHERE chat.id = said.conversation_id
"""


def _update_counters(chat_ids: Iterable[uuid.UUID]) -> None:
    """Let the chats, which are locked, count all messages that are stored of them."""
    answering = [SenderType.BOT.value, SenderType.AGENT.value]
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"chats": list(chat_ids), "answering": answering})


def put_in_order(client: Client, chat_ids: Iterable[uuid.UUID], *, tally: Tally) -> None:
    """Number the messages of these chats without gaps, once all of them have come in.

    The order stays. Where a chat has been used here, the numbers are known to others and stay, too;
    a chat without any message keeps its `last_seq`: they may come later.
    """
    with transaction.atomic():
        unsettled = {row["pk"]: row for row in _unsettled(client, chat_ids)}
        locked = _lock(client, unsettled)
        _update_counters(locked)
        unused = _lock(client, locked, last_event_seq=0)
        _close_gaps(unused)
        for row in _unsettled(client, locked - unused):
            tally.remarks.append(
                f"conversation {row['pk']}: has {row['stored']} messages, and its last one is"
                f" number {row['last_seq']}; it is in use here, so they keep their numbers"
            )


def _unsettled(client: Client, chat_ids: Iterable[uuid.UUID]) -> Iterable[dict[str, Any]]:
    """Chats with messages that they do not count, or with gaps between the numbers of these."""
    rows = Conversation.objects.for_client(client).filter(pk__in=list(chat_ids))
    counted = rows.values("pk", "last_seq").annotate(
        stored=Count("messages"),
        shown=Count("messages", filter=Q(messages__is_note=False)),
        newest=Max("messages__seq"),
    )
    settled = Q(last_seq=F("stored"), newest=F("stored"), message_count=F("shown"))
    found: Iterable[dict[str, Any]] = counted.filter(~settled, stored__gt=0)
    return found


# By way of numbers that none has: PostgreSQL looks for twins after each row.
_CLOSE_GAPS = (
    """
    UPDATE chats_conversation chat SET
        last_seq = said.stored,
        message_count = said.shown,
        read_from_seq = said.read
    FROM (
        SELECT chat.id,
            count(*) AS stored,
            count(*) FILTER (WHERE NOT is_note) AS shown,
            count(*) FILTER (WHERE seq <= chat.read_from_seq) AS read
        FROM chats_message said JOIN chats_conversation chat ON chat.id = said.conversation_id
        WHERE chat.id = ANY(%(chats)s)
        GROUP BY chat.id
    ) said
    WHERE chat.id = said.id
    """,
    """
    UPDATE chats_message said SET seq = %(highest)s + ranked.place
    FROM (
        SELECT id, row_number() OVER (PARTITION BY conversation_id ORDER BY seq) AS place
        FROM chats_message WHERE conversation_id = ANY(%(chats)s)
    ) ranked
    WHERE said.id = ranked.id
    """,
    "UPDATE chats_message SET seq = seq - %(highest)s WHERE conversation_id = ANY(%(chats)s)",
)


def _close_gaps(chat_ids: Iterable[uuid.UUID]) -> None:
    """Number the messages of the chats, which are locked, 1, 2, 3 in their order."""
    with connection.cursor() as cursor:
        for statement in _CLOSE_GAPS:
            cursor.execute(statement, {"chats": list(chat_ids), "highest": HIGHEST})


def _ids_here(
    model: type[models.Model], client: Client, given: list[uuid.UUID]
) -> dict[uuid.UUID, uuid.UUID]:
    """Each id as it is, or another that is always the same where another client has it."""
    foreign = set(
        model._default_manager.filter(pk__in=given)
        .exclude(client=client)
        .values_list("pk", flat=True)
    )
    return {one: _other_id(client, one) if one in foreign else one for one in given}


def _other_id(client: Client, given: uuid.UUID) -> uuid.UUID:
    """A UUIDv7 of the same millisecond, and the same each time."""
    rest = hashlib.sha256(f"{client.pk}:{given}".encode()).digest()[:10]
    number = (given.int >> 80 << 80) | int.from_bytes(rest)
    version, variant = 0xF << 76, 0x3 << 62
    return uuid.UUID(int=(number & ~version & ~variant) | (0x7 << 76) | (0x2 << 62))


def _known(model: type[models.Model], client: Client, ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    rows = model._default_manager.filter(client=client, pk__in=list(ids))
    return set(rows.values_list("pk", flat=True))


def _make_conversation(
    client: Client, entity: ConversationEntity, chat_id: uuid.UUID, *, bot: Bot, tally: Tally
) -> None:
    agent = _agent(client, entity, tally)
    agentless = entity.assign_type == AssignType.AGENT.value and agent is None
    taken = Conversation.objects.filter(chat_code=entity.chat_code).exists()
    chat = Conversation(
        id=chat_id,
        client=client,
        bot=bot,
        customer=_customer(client, entity),
        assignee=agent,
        assign_type=AssignType.QUEUE if agentless else entity.assign_type,
        previous_chat_id=_previous(client, entity),
        tags=[tag.name for tag in entity.taggings] or entity.tags,
        location=entity.location.model_dump() if entity.location else None,
        requester=entity.requester.model_dump() if entity.requester else None,
        responsible=entity.responsible.model_dump() if entity.responsible else None,
        imported_at=timezone.now(),
        **{name: getattr(entity, name) for name in _CARRIED},
    )
    if not taken:
        chat.chat_code = entity.chat_code
    chat.save(force_insert=True)
    Tagging.objects.bulk_create(
        Tagging(
            client=client, conversation=chat, **tag.model_dump() | {"created_at": tag.created_at}
        )
        for tag in entity.taggings
    )
    Summary.objects.bulk_create(
        Summary(client=client, conversation=chat, **dict(made)) for made in entity.summaries
    )
    if entity.feedback:
        _feedback(client, entity.feedback, chat_id, None).save()


# Fields that stand in the row as they stand in the entity.
_CARRIED = (
    "channel", "status", "version", "waiting_since", "handoff_reason", "language", "sentiment",
    "summary", "unread_count", "message_count", "last_message_at", "first_response_at", "ended_at",
    "ended_by", "metadata", "created_at", "provider", "group_id", "external_id", "snoozed_until",
    "assigned_at", "return_at", "last_seq", "read_from_seq", "reply_window_expires_at",
    "sentiment_score",
)  # fmt: skip


def _agent(client: Client, entity: ConversationEntity, tally: Tally) -> User | None:
    if entity.assign_type != AssignType.AGENT.value:
        return None
    # Who has left keeps what has ended, and nothing that others must take up.
    has_ended = entity.status == Status.ENDED.value
    people = User.objects.for_client(client) if has_ended else notifications.staff(client.pk)
    agent = people.filter(email=(entity.assignee_email or "").lower()).first()
    if agent is None:
        tally.remarks.append(
            f"conversation {entity.id}: {entity.assignee_email} is not here; it waits in the queue"
        )
    return agent


def _previous(client: Client, entity: ConversationEntity) -> uuid.UUID | None:
    if entity.previous_chat_id is None:
        return None
    here = _ids_here(Conversation, client, [entity.previous_chat_id])[entity.previous_chat_id]
    return here if _known(Conversation, client, [here]) else None


def _customer(client: Client, entity: ConversationEntity) -> Customer:
    """The customer of that external id, else the one imported under the same number before."""
    known = entity.customer.model_dump(exclude={"external_id", "attributes"}, exclude_none=True)
    found = (
        {"external_id": entity.customer.external_id}
        if entity.customer.external_id
        else {"imported_as": str(entity.customer_id)}
    )
    customer, _ = Customer.objects.get_or_create(
        client=client,
        **found,
        defaults={
            **known,
            "attributes": entity.customer.attributes,
            "created_at": entity.created_at,
        },
    )
    return customer


def _message(
    client: Client, entity: MessageEntity, message_id: uuid.UUID, chat_id: uuid.UUID
) -> Message:
    content = [piece.model_dump(mode="json", exclude_none=True) for piece in entity.content]
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
        citations=[one.model_dump(mode="json") for one in entity.citations],
        language=entity.language or "",
        **{name: getattr(entity, name) for name in _CARRIED_BY_MESSAGES},
    )


_CARRIED_BY_MESSAGES = (
    "seq", "status", "error", "is_note", "client_message_id", "provider_message_id", "receipt",
    "created_at", "delivered_at", "read_at", "external_id", "sent_at", "metadata", "translations",
    "sentiment",
)  # fmt: skip


def _link(
    client: Client,
    made: list[MessageEntity],
    here: dict[uuid.UUID, uuid.UUID],
    tally: Tally,
) -> None:
    """Say which message answers which; the answered one may have come with an earlier page."""
    asked = [one.in_reply_to for one in made if one.in_reply_to]
    ids = _ids_here(Message, client, asked)
    there = _known(Message, client, ids.values())
    answered = _answered(there)
    links = []
    for entity in made:
        asked_here = ids[entity.in_reply_to] if entity.in_reply_to else None
        if asked_here not in there:
            continue
        if entity.sender.type in _MACHINES:
            if asked_here in answered:
                tally.remarks.append(
                    f"message {entity.id}: {entity.in_reply_to} has a reply already;"
                    " it is kept, and names none that it answers"
                )
                continue
            answered.add(asked_here)
        links.append(Message(pk=here[entity.id], in_reply_to_id=asked_here))
    Message.objects.bulk_update(links, ["in_reply_to"])


# Of these a message has one reply at most.
_MACHINES = {SenderType.BOT.value, SenderType.SYSTEM.value}


def _answered(message_ids: set[uuid.UUID]) -> set[uuid.UUID | None]:
    """Those of the messages that have their one reply of a machine."""
    replies = Message.objects.filter(in_reply_to__in=message_ids, sender_type__in=_MACHINES)
    return set(replies.values_list("in_reply_to", flat=True))


def _feedback(
    client: Client, given: PortableFeedback, chat_id: uuid.UUID, message_id: uuid.UUID | None
) -> Feedback:
    return Feedback(client=client, conversation_id=chat_id, message_id=message_id, **dict(given))


def unknown_bots(client: Client, entities: Iterable[ConversationEntity]) -> set[int]:
    """Bots that the entities name and that the client does not have."""
    named = {one.bot_id for one in entities}
    there: Any = Bot.objects.for_client(client).filter(pk__in=named).values_list("pk", flat=True)
    return named - set(there)
