"""Conversations on the move: pages of an export, and their way back in without side effects.

An import announces nothing, notifies nobody and starts no reply. It keeps the ids it is given, so
that a second run finds what the first one made: after a crash it is simply run again.
"""

import hashlib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import models, transaction
from django.db.models import OuterRef, Prefetch, QuerySet, Subquery
from django.utils import timezone

from bots.models import Bot
from chats.models import (
    AssignType,
    Conversation,
    Customer,
    Feedback,
    Message,
    Status,
    Summary,
    Tagging,
)
from chats.serializers.portable import ConversationEntity, MessageEntity, PortableFeedback
from chats.services import notifications
from chats.services.conversations import visible_to
from chats.services.messages import text_of
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
    rows: QuerySet[Message] = Message.objects.of(key.client)
    if key.bot_id:
        rows = rows.filter(conversation__bot_id=key.bot_id)
    return rows.filter(created_at__lt=timezone.now() - SETTLED_AFTER).prefetch_related(
        "feedback_set"
    )


@dataclass
class Tally:
    """What an import made, what was there already, and what it could not keep."""

    made: dict[str, int] = field(default_factory=lambda: {"conversations": 0, "messages": 0})
    known: dict[str, int] = field(default_factory=lambda: {"conversations": 0, "messages": 0})
    # (kind, id there, id here)
    ids: list[tuple[str, str, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


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
            tally.ids.append(("conversation", entity.external_id or str(entity.id), str(chat_id)))
            if chat_id in known:
                tally.known["conversations"] += 1
                continue
            _make_conversation(client, entity, chat_id, bot=bot, tally=tally)
            tally.made["conversations"] += 1


def import_messages(client: Client, entities: Iterable[MessageEntity], *, tally: Tally) -> None:
    """Store one page of messages of conversations that are there; known ones stay as they are."""
    page = list(entities)
    chats = _ids_here(Conversation, client, [one.conversation_id for one in page])
    there = _known(Conversation, client, chats.values())
    here = _ids_here(Message, client, [one.id for one in page])
    known = _known(Message, client, here.values())
    with transaction.atomic():
        made = []
        for entity in page:
            message_id, chat_id = here[entity.id], chats[entity.conversation_id]
            tally.ids.append(("message", entity.external_id or str(entity.id), str(message_id)))
            if message_id in known:
                tally.known["messages"] += 1
            elif chat_id not in there:
                tally.remarks.append(f"message {entity.id}: its conversation is not there")
            else:
                made.append(entity)
        rows = [_message(client, one, here[one.id], chats[one.conversation_id]) for one in made]
        Message.objects.bulk_create(rows)
        _link(client, made, here, known={row.pk for row in rows})
        Feedback.objects.bulk_create(
            _feedback(client, one.feedback, chats[one.conversation_id], here[one.id])
            for one in made
            if one.feedback
        )
        _show_newest({row.conversation_id for row in rows})
        tally.made["messages"] += len(rows)


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
    people = User.objects.of(client) if has_ended else notifications.staff(client.pk)
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
    *,
    known: set[uuid.UUID],
) -> None:
    """Say which message answers which; the answered one may have come with an earlier page."""
    asked = [one.in_reply_to for one in made if one.in_reply_to]
    ids = _ids_here(Message, client, asked)
    there = known | _known(Message, client, ids.values())
    links = [
        Message(pk=here[one.id], in_reply_to_id=ids[one.in_reply_to])
        for one in made
        if one.in_reply_to and ids[one.in_reply_to] in there
    ]
    Message.objects.bulk_update(links, ["in_reply_to"])


def _show_newest(chat_ids: set[uuid.UUID]) -> None:
    """Name the newest message that the customer may see, among all that have come in."""
    seen = Message.objects.filter(conversation=OuterRef("pk"), is_note=False).order_by("-seq")
    Conversation.objects.filter(pk__in=chat_ids).update(
        last_message=Subquery(seen.values("pk")[:1])
    )


def _feedback(
    client: Client, given: PortableFeedback, chat_id: uuid.UUID, message_id: uuid.UUID | None
) -> Feedback:
    return Feedback(client=client, conversation_id=chat_id, message_id=message_id, **dict(given))


def unknown_bots(client: Client, entities: Iterable[ConversationEntity]) -> set[int]:
    """Bots that the entities name and that the client does not have."""
    named = {one.bot_id for one in entities}
    there: Any = Bot.objects.of(client).filter(pk__in=named).values_list("pk", flat=True)
    return named - set(there)
